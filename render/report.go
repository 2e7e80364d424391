package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"io"
	"path"
	"strconv"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/render/plots"
	"github.com/benchreport/benchreport/templates"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

// A ReportInfo is what a report says about itself.
type ReportInfo struct {
	Title   string
	Command string   // that makes it again
	Files   []string // that it was made from
	PlotDir string   // where its pictures lie, as seen from it
}

// ReportMarkdown writes the README of a report folder, with its pictures.
func ReportMarkdown(w io.Writer, rep *analyze.Report, figures map[*analyze.Section][]plots.Figure, info ReportInfo) error {
	return reportDocument(rep, figures, info).markdown(w)
}

// reportDocument is a comparison with its figures, where it came from and how
// to make it again.
func reportDocument(rep *analyze.Report, figures map[*analyze.Section][]plots.Figure, info ReportInfo) *document {
	d := compareDocument(rep, CompareStyle{Title: info.Title, Figures: figures, PlotDir: info.PlotDir})
	d.heading(3, plainText("How to make this again"))
	d.paragraph(plainText("%s from", count(len(rep.Runs), "run")))
	var files [][]span
	for _, f := range info.Files {
		files = append(files, []span{plainText("%s", f)})
	}
	d.list(files...)
	if info.Command != "" {
		d.blocks = append(d.blocks, block{code: info.Command})
	}
	return d
}

// ReportHTML writes a report as one page that needs nothing else: pictures,
// style and script are inside, and what stands in a log is text.
func ReportHTML(w io.Writer, rep *analyze.Report, figures map[*analyze.Section][]plots.Figure, info ReportInfo) error {
	info.PlotDir = ""
	title := info.Title
	info.Title = ""
	doc := reportDocument(rep, figures, info)
	var body bytes.Buffer
	for _, b := range doc.blocks {
		if err := b.page(&body); err != nil {
			return err
		}
	}
	hash := sha256.Sum256([]byte(templates.Script))
	page, err := template.New("page").Parse(templates.Page)
	if err != nil {
		return err
	}
	return page.Execute(w, map[string]any{
		"Title": title, "Body": template.HTML(body.String()), "Style": template.CSS(templates.Style), "Script": template.JS(templates.Script),
		"ScriptHash": template.HTMLAttr("sha256-" + base64.StdEncoding.EncodeToString(hash[:])), "Runs": pageRuns(rep),
	})
}

// page writes a block as part of a page.
func (b block) page(w io.Writer) error {
	if b.figure != nil {
		if _, err := io.WriteString(w, "<figure>\n"); err != nil {
			return err
		}
		if err := plots.SVG(w, b.figure); err != nil {
			return err
		}
		_, err := io.WriteString(w, "</figure>\n")
		return err
	}
	var md bytes.Buffer
	if err := (&document{blocks: []block{b}}).markdown(&md); err != nil {
		return err
	}
	if b.table != nil {
		if _, err := io.WriteString(w, "<div class=\"table\">\n"); err != nil {
			return err
		}
		defer io.WriteString(w, "</div>\n") //nolint:errcheck // the next write tells
	}
	return goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(md.Bytes(), w)
}

// A pageRun is a run as the page lists it.
type pageRun struct {
	ID, Label, Where string
	Config           []bench.Setting
	Metrics          []struct{ Name, Value, Unit string }
	Findings         []bench.Finding
}

func pageRuns(rep *analyze.Report) []pageRun {
	var out []pageRun
	const most = 500
	for i, r := range rep.Runs {
		if i == most {
			break
		}
		p := pageRun{ID: r.ID, Label: r.Label, Where: path.Base(r.Source.File) + ":" + strconv.Itoa(r.Source.Line) + "–" + strconv.Itoa(r.Source.EndLine), Config: r.Config, Findings: r.Findings}
		for _, m := range r.Metrics {
			p.Metrics = append(p.Metrics, struct{ Name, Value, Unit string }{m.Name, m.Text(), bench.Lookup(m.Name).Unit})
		}
		out = append(out, p)
	}
	return out
}
