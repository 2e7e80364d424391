// Package notes reads the tables that people write into Markdown notes: what a
// reader sees in each cell, which cells are marked as winners, and what a
// header means. It keeps the place of every cell, so that a table can be mended
// without touching anything else of the file.
package notes

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// MaxSize is the largest note that is read: a note is read as a whole.
const MaxSize = 64 << 20

// longLine is the length from which a line is no prose and no table: the
// argument line or the progress bar of a log, which only costs time.
const longLine = 16 << 10

// deepLine is how many marks of quotes and lists and blanks may begin a line.
const deepLine = 128

// A table is read up to so many rows, and a paragraph up to so many lines: time
// grows with the square of their number.
const (
	maxRows  = 5000
	maxLines = 250
)

// A Note is a Markdown file.
type Note struct {
	Source []byte
	Tables []*Table
	Prose  []Prose  // paragraphs and list items, in order
	Links  []string // destinations of links, in order, each once
}

// A Table is a table of a note.
type Table struct {
	Number  int    // in the file, from 1
	Line    int    // of its header
	EndLine int    // of its last row
	Heading string // the one above it
	Section int    // counts headings: a table belongs to the prose of its section
	Header  []Cell
	Rows    []Row
	right   []bool // columns that are aligned to the right
}

// A Row is a line of a table. It has as many cells as the header.
type Row struct {
	Line  int
	Cells []Cell
}

// A Cell is a cell of a table.
type Cell struct {
	Text   string // as a reader sees it: without marks, footnotes and escapes
	Marked bool   // bold, or with a sign that says it is best
	Noted  bool   // with a footnote or a sign that something is to be said of it
	Start  int    // place of its content in the source, without the blanks around it
	End    int
}

// Prose is a paragraph or list item.
type Prose struct {
	Line    int
	Section int
	Text    string
}

// winnerSigns mark a cell as best, as bold does.
var winnerSigns = []string{"✅", "🏆", "🥇", "⭐", "👑"}

// noteSigns say that there is something to be said of a cell.
var noteSigns = []string{"⚠", "†", "‡", "*", "§"}

// Read finds the tables of a note.
func Read(source []byte) (*Note, error) {
	if len(source) > MaxSize {
		return nil, fmt.Errorf("a note larger than %d MB: not read", MaxSize>>20)
	}
	note := &Note{Source: source}
	visible := maskLines(source)
	root := newParser().Parse(text.NewReader(visible))
	r := reader{note: note, source: visible}
	r.indexLines()
	seen := map[string]bool{}
	heading := ""
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			heading = r.plain(n)
			r.section++
		case *extast.Table:
			r.table(n, heading)
		case *ast.Paragraph, *ast.TextBlock:
			if lines := n.Lines(); lines != nil && lines.Len() > 0 {
				note.Prose = append(note.Prose, Prose{Line: r.lineOf(lines.At(0).Start), Section: r.section, Text: r.plain(n)})
			}
		case *ast.Link:
			if to := string(n.Destination); !seen[to] && len(note.Links) < maxLinks {
				seen[to] = true
				note.Links = append(note.Links, to)
			}
		}
		return ast.WalkContinue, nil
	})
	return note, err
}

// maxLinks is how many links of a note are kept.
const maxLinks = 256

// newParser reads CommonMark with tables. It does not look for definitions of
// links: finding many of them takes time that grows with their square.
func newParser() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(parser.DefaultInlineParsers()...),
		parser.WithParagraphTransformers(util.Prioritized(extension.NewTableParagraphTransformer(), 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
}

// maskLines replaces what stands in long lines, in lines that are nested deeper
// than anybody reads, and in every so many lines of a paragraph without end, by
// blanks. Places stay.
func maskLines(source []byte) []byte {
	out := source
	inRow := 0 // lines of the paragraph
	for start := 0; start < len(source); {
		end := len(source)
		if i := bytes.IndexByte(source[start:], '\n'); i >= 0 {
			end = start + i
		}
		line := source[start:end]
		switch {
		case len(bytes.TrimSpace(line)) == 0:
			inRow = 0
		case bytes.IndexByte(line, '|') >= 0:
			inRow++
		default:
			inRow += maxRows / maxLines
		}
		if inRow >= maxRows || len(line) > longLine || len(line)-len(bytes.TrimLeft(line, " \t>-*+")) > deepLine {
			if &out[0] == &source[0] {
				out = slices.Clone(source)
			}
			for i := start; i < end; i++ {
				out[i] = ' '
			}
			inRow = 0
		}
		start = end + 1
	}
	return out
}

type reader struct {
	note    *Note
	source  []byte
	starts  []int // of the lines
	section int
}

func (r *reader) indexLines() {
	r.starts = append(r.starts, 0)
	for i, c := range r.source {
		if c == '\n' {
			r.starts = append(r.starts, i+1)
		}
	}
}

func (r *reader) lineOf(offset int) int {
	i, found := slices.BinarySearch(r.starts, offset)
	if found {
		return i + 1
	}
	return i
}

func (r *reader) table(n *extast.Table, heading string) {
	t := &Table{Number: len(r.note.Tables) + 1, Heading: heading, Section: r.section}
	for _, align := range n.Alignments {
		t.right = append(t.right, align == extast.AlignRight)
	}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []Cell
		line := 0
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			cell := r.cell(c)
			if cell.Start > 0 && line == 0 {
				line = r.lineOf(cell.Start)
			}
			cells = append(cells, cell)
		}
		if line == 0 {
			line = r.lineOf(max(row.Pos(), 0))
		}
		t.EndLine = line
		if row.Kind() == extast.KindTableHeader {
			t.Line, t.Header = line, cells
			continue
		}
		t.Rows = append(t.Rows, Row{line, cells})
	}
	r.note.Tables = append(r.note.Tables, t)
}

// cell reads a cell. A cell that is missing at the end of a row has no place.
func (r *reader) cell(n ast.Node) Cell {
	var c Cell
	if n.Lines().Len() > 0 {
		s := n.Lines().At(0)
		c.Start, c.End = s.Start, s.Stop
	}
	w := cellWriter{source: r.source}
	w.inline(n, false)
	c.Text = w.text.String()
	c.Marked = w.marked
	c.Noted = w.noted
	for _, sign := range winnerSigns {
		if strings.Contains(c.Text, sign) {
			c.Marked = true
			c.Text = strings.ReplaceAll(c.Text, sign, "")
		}
	}
	c.Text = strings.ReplaceAll(c.Text, "\ufe0f", "") // asks for an emoji in colour
	for _, sign := range noteSigns {
		if strings.Contains(c.Text, sign) {
			c.Noted = true
			if sign != "*" || !strings.ContainsAny(strings.TrimRight(c.Text, "*"), "*") {
				c.Text = strings.ReplaceAll(c.Text, sign, "")
			}
		}
	}
	for { // [^1], which is a footnote only where it is defined
		i := strings.Index(c.Text, "[^")
		if i < 0 {
			break
		}
		j := strings.IndexByte(c.Text[i:], ']')
		if j < 0 {
			break
		}
		c.Text, c.Noted = c.Text[:i]+c.Text[i+j+1:], true
	}
	if s := strings.TrimRight(c.Text, "⁰¹²³⁴⁵⁶⁷⁸⁹"); s != c.Text {
		c.Text, c.Noted = s, true
	}
	c.Text = strings.Join(strings.Fields(strings.ToValidUTF8(c.Text, "")), " ")
	return c
}

// plain is the text of a block.
func (r *reader) plain(n ast.Node) string {
	w := cellWriter{source: r.source}
	w.inline(n, false)
	return strings.Join(strings.Fields(strings.ToValidUTF8(w.text.String(), "")), " ")
}

// A cellWriter collects what a reader sees of inline nodes.
type cellWriter struct {
	source []byte
	text   strings.Builder
	bold   int // open <b>
	raised int // open <sup>
	marked bool
	noted  bool
}

func (w *cellWriter) inline(n ast.Node, bold bool) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			w.write(string(unescape(c.Segment.Value(w.source))), bold)
			if c.SoftLineBreak() || c.HardLineBreak() {
				w.text.WriteByte(' ')
			}
		case *ast.String:
			w.write(string(c.Value), bold)
		case *ast.Emphasis:
			w.inline(c, bold || c.Level >= 2)
		case *ast.RawHTML:
			w.tag(c)
		case *ast.AutoLink:
			w.write(string(c.Label(w.source)), bold)
		default:
			w.inline(c, bold)
		}
	}
}

func (w *cellWriter) write(s string, bold bool) {
	if w.raised > 0 {
		w.noted = w.noted || strings.TrimSpace(s) != ""
		return
	}
	w.text.WriteString(s)
	if (bold || w.bold > 0) && strings.TrimSpace(s) != "" {
		w.marked = true
	}
}

// tag follows the HTML that people use in cells.
func (w *cellWriter) tag(n *ast.RawHTML) {
	var raw []byte
	for i := range n.Segments.Len() {
		s := n.Segments.At(i)
		raw = append(raw, s.Value(w.source)...)
	}
	name := strings.ToLower(strings.Trim(string(raw), "<>/ "))
	name, _, _ = strings.Cut(name, " ")
	step := 1
	if bytes.HasPrefix(raw, []byte("</")) {
		step = -1
	}
	switch name {
	case "b", "strong":
		w.bold = max(0, w.bold+step)
	case "sup":
		w.raised = max(0, w.raised+step)
	case "br":
		w.text.WriteByte(' ')
	}
}

// unescape removes the backslash of escaped punctuation.
func unescape(b []byte) []byte {
	if bytes.IndexByte(b, '\\') < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) && b[i+1] < utf8.RuneSelf && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", b[i+1]) >= 0 {
			i++
		}
		out = append(out, b[i])
	}
	return out
}
