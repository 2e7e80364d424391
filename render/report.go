package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html"
	htmltemplate "html/template"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	texttemplate "text/template"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/render/plots"
	"github.com/benchreport/benchreport/templates"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// A ReportInfo is what a report says about itself.
type ReportInfo struct {
	Title    string
	Command  string   // that makes it again
	Files    []string // that it was made from
	PlotDir  string   // where its pictures lie, as seen from it
	Template string   // instead of ours
}

// reportData is what a template gets. A text is Markdown for the one template
// and HTML for the other, escaped in both; docs/templates.md describes it.
type reportData struct {
	Title, Summary, Findings, Command any
	Sections                          []sectionData
	Runs                              []runData
	MoreRuns                          int // that are not listed
	Files                             []any

	Style, Script, ScriptHash any // of the page
}

// sectionData is a table of the report and what belongs to it.
type sectionData struct {
	Tool                                    string
	Title, Headline, Table, Change, Figures any
}

// runData is a run as a report lists it.
type runData struct {
	ID, Tool     string
	Label, Where any
	Config       []settingData
	Metrics      []metricData
	Findings     []findingData
}

type settingData struct{ Key, Value, From any }
type metricData struct{ Name, Value, Unit any }
type findingData struct{ Code, Message any }

// ReportMarkdown writes the README of a report folder, with its pictures.
func ReportMarkdown(w io.Writer, rep *analyze.Report, figures map[*analyze.Section][]plots.Figure, info ReportInfo) error {
	text := info.Template
	if text == "" {
		text = templates.Readme
	}
	t, err := texttemplate.New("template").Parse(text)
	if err != nil {
		return err
	}
	data, err := newReportData(rep, figures, info, func(d *document) (any, error) {
		var b strings.Builder
		err := d.markdown(&b)
		return strings.TrimRight(b.String(), "\n"), err
	}, func(s string) any { return escapeMarkdown(s) })
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, data); err != nil {
		return err
	}
	// Parts that are empty leave their empty lines behind.
	md := blankLines().ReplaceAll(bytes.TrimSpace(out.Bytes()), []byte("\n\n"))
	_, err = w.Write(append(md, '\n'))
	return err
}

// CheckTemplate tells what is wrong with the syntax of a template, before the
// long work.
func CheckTemplate(name, text string) error {
	_, err := texttemplate.New(name).Parse(text)
	return err
}

var blankLines = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\n{3,}`) })

// ReportHTML writes a report as one page that needs nothing else: pictures,
// style and script are inside, and what stands in a log is text.
func ReportHTML(w io.Writer, rep *analyze.Report, figures map[*analyze.Section][]plots.Figure, info ReportInfo) error {
	text := info.Template
	if text == "" {
		text = templates.Page
	}
	t, err := htmltemplate.New("template").Parse(text)
	if err != nil {
		return err
	}
	data, err := newReportData(rep, figures, info, func(d *document) (any, error) {
		var b strings.Builder
		for _, block := range d.blocks {
			if err := block.page(&b); err != nil {
				return nil, err
			}
		}
		return htmltemplate.HTML(b.String()), nil
	}, func(s string) any { return s })
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(templates.Script))
	data.Style, data.Script = htmltemplate.CSS(templates.Style), htmltemplate.JS(templates.Script)
	data.ScriptHash = htmltemplate.HTMLAttr("sha256-" + base64.StdEncoding.EncodeToString(hash[:]))
	return t.Execute(w, data)
}

// newReportData gathers what is said in a report, in the form of a template:
// write is for documents, plain for names.
func newReportData(rep *analyze.Report, figures map[*analyze.Section][]plots.Figure, info ReportInfo, write func(*document) (any, error), plain func(string) any) (*reportData, error) {
	var failed error
	text := func(d *document) any {
		out, err := write(d)
		if err != nil && failed == nil {
			failed = err
		}
		return out
	}
	code := &document{}
	code.blocks = append(code.blocks, block{code: info.Command})
	data := &reportData{Title: plain(info.Title), Summary: text(summaryOf(rep, info)), Findings: text(findingsOf(rep)), Command: text(code)}
	for _, f := range info.Files {
		data.Files = append(data.Files, plain(f))
	}
	for _, s := range rep.Sections {
		p := partsOf(s, CompareStyle{Figures: figures, PlotDir: info.PlotDir})
		section := sectionData{Tool: s.Tool, Headline: text(p.headline), Table: text(p.table), Change: text(p.change), Figures: text(p.figures)}
		if len(rep.Sections) > 1 {
			section.Title = plain(sectionTitle(s))
		}
		data.Sections = append(data.Sections, section)
	}
	const most = 500
	for i, r := range rep.Runs {
		if i == most {
			data.MoreRuns = len(rep.Runs) - most
			break
		}
		data.Runs = append(data.Runs, newRunData(r, plain))
	}
	return data, failed
}

// summaryOf says what was compared and from which files.
func summaryOf(rep *analyze.Report, info ReportInfo) *document {
	var tools []string
	for _, r := range rep.Runs {
		if !slices.Contains(tools, r.Source.Tool) {
			tools = append(tools, r.Source.Tool)
		}
	}
	d := &document{}
	from := ":"
	if len(info.Files) == 1 {
		from = " " + info.Files[0] + "."
	}
	d.paragraph(plainText("%s of %s, from%s", count(len(rep.Runs), "run"), strings.Join(tools, ", "), from))
	if len(info.Files) > 1 {
		var items [][]span
		for _, f := range info.Files {
			items = append(items, []span{plainText("%s", f)})
		}
		d.list(items...)
	}
	return d
}

func newRunData(r *bench.Run, plain func(string) any) runData {
	out := runData{ID: r.ID, Tool: r.Source.Tool, Label: plain(r.Label),
		Where: plain(path.Base(r.Source.File) + ":" + strconv.Itoa(r.Source.Line) + "–" + strconv.Itoa(r.Source.EndLine))}
	for _, c := range r.Config {
		out.Config = append(out.Config, settingData{plain(c.Key), plain(c.Value), plain(c.From.String())})
	}
	for _, m := range r.Metrics {
		out.Metrics = append(out.Metrics, metricData{plain(m.Name), plain(m.Text()), plain(bench.Lookup(m.Name).Unit)})
	}
	for _, f := range r.Findings {
		out.Findings = append(out.Findings, findingData{plain(f.Code), plain(f.Message)})
	}
	return out
}

// page writes a block as part of a page.
func (b block) page(w io.Writer) error {
	switch {
	case b.figure != nil:
		if _, err := io.WriteString(w, "<figure>\n"); err != nil {
			return err
		}
		if err := plots.SVG(w, b.figure); err != nil {
			return err
		}
		_, err := io.WriteString(w, "</figure>\n")
		return err
	case b.table != nil:
		// The script opens a row to the runs that are listed at the end.
		var rows []string
		for _, ids := range b.table.runs {
			rows = append(rows, strings.Join(ids, " "))
		}
		if _, err := fmt.Fprintf(w, "<div class=\"table\" data-runs=\"%s\">\n", html.EscapeString(strings.Join(rows, ","))); err != nil {
			return err
		}
		if err := b.rendered(w); err != nil {
			return err
		}
		_, err := io.WriteString(w, "</div>\n")
		return err
	}
	return b.rendered(w)
}

func (b block) rendered(w io.Writer) error {
	var md bytes.Buffer
	if err := (&document{blocks: []block{b}}).markdown(&md); err != nil {
		return err
	}
	return goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(md.Bytes(), w)
}
