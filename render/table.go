package render

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A table is what a report shows, before it is text or Markdown. Cells are
// plain text; escaping is the work of the form they are written in.
type table struct {
	header []string
	right  []bool // columns of numbers
	rows   [][]string
	runs   [][]string      // the IDs of the runs of each row, if any
	best   map[[2]int]bool // cells that are bold, by row and column
}

// bold marks a cell of the last row.
func (t *table) bold(column int) {
	if t.best == nil {
		t.best = map[[2]int]bool{}
	}
	t.best[[2]int{len(t.rows) - 1, column}] = true
}

func (t *table) column(title string, right bool) {
	t.header = append(t.header, title)
	t.right = append(t.right, right)
}

// text writes the table for a terminal. Where there is no colour, the best has
// a star.
func (t *table) text(w io.Writer, colour bool) error {
	best := func(s string) string { return s + "*" }
	if colour {
		best = func(s string) string { return "\x1b[1m" + s + "\x1b[0m" }
	}
	return t.write(w, func(s string) string { return s }, best, renderer.NewBlueprint(tw.Rendition{
		Borders:  tw.BorderNone,
		Settings: tw.Settings{Separators: tw.Separators{BetweenColumns: tw.Off}, Lines: tw.Lines{ShowHeaderLine: tw.On}},
	}))
}

// markdown writes the table for a note.
func (t *table) markdown(w io.Writer) error {
	return t.write(w, escapeMarkdown, func(s string) string { return "**" + s + "**" }, renderer.NewMarkdown())
}

func (t *table) write(w io.Writer, escape, best func(string) string, r tw.Renderer) error {
	align := make(tw.Alignment, len(t.right))
	for i, right := range t.right {
		align[i] = tw.AlignLeft
		if right {
			align[i] = tw.AlignRight
		}
	}
	out := tablewriter.NewTable(&trimmer{w: w},
		tablewriter.WithRenderer(r),
		tablewriter.WithHeaderAutoFormat(tw.Off), tablewriter.WithHeaderAutoWrap(tw.WrapNone), tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithAlignment(align), tablewriter.WithHeaderAlignmentConfig(tw.CellAlignment{PerColumn: align}))
	out.Header(escaped(t.header, escape))
	for i, row := range t.rows {
		cells := escaped(row, escape)
		for k := range cells {
			if t.best[[2]int{i, k}] {
				cells[k] = best(cells[k])
			}
		}
		if err := out.Append(cells); err != nil {
			return err
		}
	}
	return out.Render()
}

func escaped(cells []string, escape func(string) string) []string {
	out := make([]string, len(cells))
	for i, c := range cells {
		out[i] = escape(c)
	}
	return out
}

// trimmer cuts blanks at line ends, which some editors cut and diffs then show.
type trimmer struct {
	w    io.Writer
	held []byte
}

func (t *trimmer) Write(p []byte) (int, error) {
	t.held = append(t.held, p...)
	for {
		i := strings.IndexByte(string(t.held), '\n')
		if i < 0 {
			return len(p), nil
		}
		line := strings.TrimRight(string(t.held[:i]), " ") + "\n"
		if _, err := io.WriteString(t.w, line); err != nil {
			return 0, err
		}
		t.held = t.held[i+1:]
	}
}

// escapeMarkdown makes text from a log plain text in Markdown: it cannot break
// a table, open a tag, make a link, an emphasis, a mention or a reference.
// Forges find mentions, issue numbers and addresses in the finished text, where
// a backslash does not help: an invisible joiner parts those.
func escapeMarkdown(s string) string {
	const joiner = "\u2060"
	var b strings.Builder
	prev := rune(' ')
	interval := -1 // the end of an interval such as [−9.1, −5.6], which no link looks like
	for i, c := range s {
		if i <= interval {
			b.WriteRune(c)
			prev = c
			continue
		}
		_, size := utf8.DecodeRuneInString(s[i:]) // not RuneLen(c): a broken byte has one
		next, _ := utf8.DecodeRuneInString(s[i+size:])
		if c == '[' {
			if n := intervalLen(s[i:]); n > 0 {
				interval = i + n - 1
				b.WriteByte('[')
				continue
			}
		}
		switch c {
		case '\\', '|', '`', '*', '[', ']', '~', '$', '{', '}':
			b.WriteByte('\\')
			b.WriteRune(c)
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '_':
			// Inside a word it is only a letter.
			if !isWord(prev) || !isWord(next) {
				b.WriteByte('\\')
			}
			b.WriteByte('_')
		case '@':
			b.WriteString("@" + joiner)
		case '#':
			b.WriteString(`\#` + joiner)
		case ':':
			b.WriteByte(':')
			if next == '/' {
				b.WriteString(joiner)
			}
		case '.':
			b.WriteByte('.')
			if strings.HasSuffix(strings.ToLower(s[:i]), "www") {
				b.WriteString(joiner)
			}
		case '!':
			b.WriteString(`\!`)
			if unicode.IsDigit(next) { // a merge request
				b.WriteString(joiner)
			}
		case '\n', '\r', '\t':
			b.WriteByte(' ')
		default:
			if unicode.IsControl(c) {
				continue
			}
			b.WriteRune(c)
		}
		prev = c
	}
	out := b.String()
	// At the start of a line these begin a list or a heading.
	if len(out) > 0 && strings.IndexByte("-+=", out[0]) >= 0 && (len(out) == 1 || out[1] == ' ' || out[1] == out[0]) {
		out = `\` + out
	}
	digits := len(out) - len(strings.TrimLeft(out, "0123456789"))
	if rest := out[digits:]; digits > 0 && rest != "" && strings.IndexByte(".)", rest[0]) >= 0 && (len(rest) == 1 || rest[1] == ' ') {
		out = out[:digits] + `\` + rest
	}
	return out
}

// intervalLen is the length of an interval of numbers in brackets at the start
// of s, 0 if there is none or it could be the text of a link.
func intervalLen(s string) int {
	end := strings.IndexByte(s, ']')
	if end < 0 || strings.Trim(s[1:end], "0123456789.,+−- ") != "" || !strings.Contains(s[1:end], ", ") {
		return 0
	}
	if rest := s[end+1:]; rest != "" && strings.IndexByte("([:", rest[0]) >= 0 {
		return 0
	}
	return end + 1
}

func isWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) }
