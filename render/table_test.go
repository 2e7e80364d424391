package render

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// gfm reads Markdown as forges do.
var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

// tableCellsOf parses Markdown and returns the cells of its tables, and what
// else than text stands in them.
func tableCellsOf(source []byte) (rows [][]string, others []string) {
	doc := gfm.Parser().Parse(text.NewReader(source))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *east.TableHeader, *east.TableRow:
			rows = append(rows, nil)
		case *east.TableCell:
			var b bytes.Buffer
			_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
				if !entering {
					return ast.WalkContinue, nil
				}
				switch c := c.(type) {
				case *ast.Text:
					b.Write(c.Segment.Value(source))
				case *ast.String:
					b.Write(c.Value)
				case *east.TableCell:
				default:
					others = append(others, c.Kind().String())
				}
				return ast.WalkContinue, nil
			})
			rows[len(rows)-1] = append(rows[len(rows)-1], plain(b.String()))
		}
		return ast.WalkContinue, nil
	})
	return rows, others
}

// plain undoes what stands in source text for a character: escapes, entities
// and joiners.
func plain(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("\\|`*[]~${}_#!-+=.)", s[i+1]) >= 0 {
			i++
		}
		b.WriteByte(s[i])
	}
	return strings.TrimSpace(strings.NewReplacer("\u2060", "", "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(b.String()))
}

// shown is what a cell is meant to show: one line without control characters.
func shown(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\r' || c == '\t':
			return ' '
		case unicode.IsControl(c) || c == '\u2060':
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.TrimSpace(s)
}

func checkCells(t *testing.T, a, b string) {
	t.Helper()
	tb := &table{rows: [][]string{{a, b}, {"x", a}}}
	tb.column("First", false)
	tb.column("Second", true)
	var out bytes.Buffer
	if err := tb.markdown(&out); err != nil {
		t.Fatal(err)
	}
	rows, others := tableCellsOf(out.Bytes())
	if len(others) > 0 {
		t.Fatalf("%q, %q: more than text: %v\n%s", a, b, others, out.String())
	}
	if len(rows) != 3 || len(rows[1]) != 2 || len(rows[2]) != 2 {
		t.Fatalf("%q, %q: %d rows: %q\n%s", a, b, len(rows), rows, out.String())
	}
	for _, c := range [][2]string{{rows[1][0], a}, {rows[1][1], b}, {rows[2][1], a}} {
		if c[0] != shown(c[1]) {
			t.Fatalf("cell %q, want %q\n%s", c[0], shown(c[1]), out.String())
		}
	}
}

var nasty = []string{
	"a|b", `a\|b`, "`code`", "<script>alert(1)</script>", "[a](http://e)", "**bold**", "~~gone~~", "@octocat", "#1", "GH-12", "http://example.com/x", "www.example.com",
	"a_b_c", "_em_", "* item", "- item", "+ x", "1. x", "# head", "> quote", "\\", "a\\", "&amp;", "&#35;", "![x](y)", "a\nb", "日本語", "🙂", "$x$", "{{x}}", "a@b.example", "!5",
	"\u202eevil", "\x00", " ", "", "|", "---", ":--:", "ftp://x", "mailto:a@b.example", "xmpp:a@b", "a  b", "_", "__", "*", "x_", "<!-- c -->", "[ ]", "=", "==", "[^1]", "[x]: y", "ü", "1) x",
}

func TestMarkdownCells(t *testing.T) {
	for _, a := range nasty {
		for _, b := range nasty {
			checkCells(t, a, b)
		}
	}
}

// What a forge would turn into a mention, an issue or a link is parted.
func TestMarkdownMentions(t *testing.T) {
	for s, bad := range map[string]string{"@octocat": "@octocat", "#12": "#12", "http://e.x": "http://", "www.e.x": "www.e", "see !7": "!7"} {
		if got := escapeMarkdown(s); strings.Contains(got, bad) {
			t.Errorf("%s: %q", s, got)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range nasty {
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) || len(a) > 1000 || len(b) > 1000 {
			return // the reader makes names valid
		}
		for _, s := range []string{a, b} {
			for _, c := range s {
				if !unicode.IsPrint(c) { // the reader removes these
					return
				}
			}
		}
		checkCells(t, a, b)
	})
}

// A model file is shown without its folder, whichever system it was on.
func TestShownSetting(t *testing.T) {
	for _, tc := range [][3]string{
		{"model", "/models/a.gguf", "a.gguf"},
		{"model", `C:\models\a.gguf`, "a.gguf"},
		{"draft_model", "D:/models/a.gguf", "a.gguf"},
		{"model", "meta-llama/Llama-2-7b", "meta-llama/Llama-2-7b"},
		{"dataset", "/data/sharegpt.json", "/data/sharegpt.json"},
	} {
		if got := shownSetting(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s=%s: got %s, want %s", tc[0], tc[1], got, tc[2])
		}
	}
}

// The columns of a Markdown table stand in line where it is read as text, signs
// of no width and of two counted as they are shown.
func TestMarkdownColumns(t *testing.T) {
	tab := &table{}
	tab.column("Run", false)
	tab.column("Value", true)
	for _, name := range []string{"plain", "one #1", "a@b", "日本語", "é"} {
		tab.rows = append(tab.rows, []string{name, "1.25"})
	}
	var out bytes.Buffer
	if err := tab.markdown(&out); err != nil {
		t.Fatal(err)
	}
	width := func(line string) int {
		n := utf8.RuneCountInString(line) - strings.Count(line, "\u2060")
		for _, c := range line {
			if unicode.Is(unicode.Han, c) {
				n++
			}
		}
		return n
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for _, line := range lines {
		if width(line) != width(lines[0]) {
			t.Fatalf("a row is %d wide, the header %d:\n%s", width(line), width(lines[0]), out.String())
		}
	}
}
