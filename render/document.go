package render

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/benchreport/benchreport/render/plots"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// A document is what a report says, before it is Markdown, text or HTML.
type document struct {
	blocks []block
}

// A block is a heading, a paragraph, a list or a table.
type block struct {
	level int    // of a heading
	text  []span // of a heading or paragraph
	items [][]span
	table *table
	inner *document // of a part that is folded

	figure *plots.Figure
	path   string // of the picture of the figure
	code   string // a command to paste
}

// A span is a piece of text. Its text is plain: the form escapes it.
type span struct {
	text   string
	strong bool
	em     bool
}

func plainText(format string, args ...any) span { return span{text: fmt.Sprintf(format, args...)} }
func strong(s string) span                      { return span{text: s, strong: true} }
func em(s string) span                          { return span{text: s, em: true} }

func (d *document) heading(level int, spans ...span) {
	d.blocks = append(d.blocks, block{level: level, text: spans})
}

func (d *document) paragraph(spans ...span) {
	if len(spans) > 0 {
		d.blocks = append(d.blocks, block{text: spans})
	}
}

func (d *document) list(items ...[]span) {
	if len(items) > 0 {
		d.blocks = append(d.blocks, block{items: items})
	}
}

// append adds other documents behind this one.
func (d *document) append(others ...*document) {
	for _, o := range others {
		d.blocks = append(d.blocks, o.blocks...)
	}
}

// details folds a part under a line that tells what it is.
func (d *document) details(summary string, inner *document) {
	d.blocks = append(d.blocks, block{text: []span{plainText("%s", summary)}, inner: inner})
}

func (d *document) add(t *table) { d.blocks = append(d.blocks, block{table: t}) }

// markdown writes the document as Markdown that forges render.
func (d *document) markdown(w io.Writer) error {
	for i, b := range d.blocks {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		var err error
		switch {
		case b.figure != nil:
			_, err = fmt.Fprintf(w, "![%s](%s)\n", escapeMarkdown(b.figure.Title+". "+b.figure.Alt), b.path)
		case b.code != "":
			_, err = fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(b.code, "\n", " "))
		case b.inner != nil:
			if _, err = fmt.Fprintf(w, "<details><summary>%s</summary>\n\n", html.EscapeString(textSpans(b.text, false))); err != nil {
				return err
			}
			if err = b.inner.markdown(w); err != nil {
				return err
			}
			_, err = fmt.Fprintf(w, "\n</details>\n")
		case b.table != nil:
			err = b.table.markdown(w)
		case b.level > 0:
			_, err = fmt.Fprintf(w, "%s %s\n", strings.Repeat("#", b.level), markdownSpans(b.text))
		case b.items != nil:
			for _, item := range b.items {
				if _, err = fmt.Fprintf(w, "- %s\n", markdownSpans(item)); err != nil {
					return err
				}
			}
		default:
			_, err = fmt.Fprintln(w, markdownSpans(b.text))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func markdownSpans(spans []span) string {
	var b strings.Builder
	for _, s := range spans {
		text := escapeMarkdown(s.text)
		switch {
		case s.text == "":
		case s.strong:
			text = "**" + text + "**"
		case s.em:
			text = "*" + text + "*"
		}
		b.WriteString(text)
	}
	return b.String()
}

// plain writes the document for a terminal.
func (d *document) plain(w io.Writer, colour bool) error {
	for i, b := range d.blocks {
		if i > 0 {
			fmt.Fprintln(w)
		}
		var err error
		switch {
		case b.figure != nil:
			_, err = fmt.Fprintf(w, "%s: %s\n", b.path, b.figure.Title)
		case b.code != "":
			_, err = fmt.Fprintf(w, "    %s\n", b.code)
		case b.inner != nil:
			fmt.Fprintf(w, "%s\n\n", textSpans(b.text, colour))
			err = b.inner.plain(w, colour)
		case b.table != nil:
			err = b.table.text(w, colour)
		case b.items != nil:
			for _, item := range b.items {
				_, err = fmt.Fprintf(w, "- %s\n", textSpans(item, colour))
			}
		default:
			_, err = fmt.Fprintln(w, textSpans(b.text, colour && b.level == 0))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func textSpans(spans []span, colour bool) string {
	var b strings.Builder
	for _, s := range spans {
		if s.strong && colour {
			b.WriteString("\x1b[1m" + s.text + "\x1b[0m")
			continue
		}
		b.WriteString(s.text)
	}
	return b.String()
}

// html writes the document as a fragment for a page. It is the Markdown,
// rendered without raw HTML, so nothing in a name can be more than text.
func (d *document) html(w io.Writer) error {
	var md bytes.Buffer
	if err := d.markdown(&md); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "<div class=\"benchreport\">\n"); err != nil {
		return err
	}
	if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(md.Bytes(), w); err != nil {
		return err
	}
	_, err := io.WriteString(w, "</div>\n")
	return err
}
