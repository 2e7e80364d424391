package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/render/plots"
	"github.com/benchreport/benchreport/templates"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// FuzzReport writes runs with hostile names in every form, and reads back what
// was written: the same cells, the same sentences, and nothing else than the
// report itself has in it.
func FuzzReport(f *testing.F) {
	for i, s := range nasty {
		f.Add(s, "org/model", "flag", s, "output_throughput", 100.0)
		f.Add("a", s, "flag", "x", s, 0.5)
		f.Add(s+s, s, nasty[(i+1)%len(nasty)], nasty[(i+7)%len(nasty)], "x_"+s, 1e-3*float64(i))
	}
	f.Fuzz(func(t *testing.T, label, model, key, value, metric string, x float64) {
		for _, s := range []*string{&label, &model, &key, &value, &metric} {
			if *s = asRead(*s); len(*s) > 400 {
				return
			}
		}
		if label == "" || key == "" || metric == "" || !(x > -1e12 && x < 1e12) {
			return // the reader gives a name to everything
		}
		checkReport(t, func() []*bench.Run { return hostileRuns(label, model, key, value, metric, x) })
	})
}

// asRead is what the reader makes of a name.
func asRead(s string) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) || c == '\u00a0' || c == '\u3000' {
			return c
		}
		return -1
	}, strings.ToValidUTF8(s, "\ufffd")))
}

func hostileRuns(label, model, key, value, metric string, x float64) []*bench.Run {
	var runs []*bench.Run
	for i := range 4 {
		n := 64
		r := &bench.Run{Input: []string{"a", label}[i/2], Source: bench.Source{File: value + ".log", Line: 1 + i, EndLine: 9, Tool: "vllm-serve", Format: "text"}, Completed: &n}
		r.Label = []string{"a", "a", label, r.Input + " " + key}[i] // the first two differ by a setting alone
		for _, s := range [][2]string{{"model", model}, {key, value + strconv.Itoa(i%2)}, {"flag", value}} {
			r.Config.Add(s[0], s[1], bench.FromCommand)
		}
		r.Config.Sort()
		r.Add(bench.Metric{Name: "output_throughput", Value: 100 + float64(i), Decimals: 2})
		r.Add(bench.Metric{Name: "mean_ttft_ms", Value: 20 - float64(i), Decimals: 2})
		r.Add(bench.Metric{Name: metric, Value: x + float64(i), Decimals: -1})
		r.Findings = append(r.Findings, bench.Finding{Code: "zero-means-missing", Severity: bench.Note, Message: value + model})
		if i == 1 {
			r.Findings = append(r.Findings, bench.Finding{Code: "partial", Severity: bench.Warning, Message: value})
		}
		runs = append(runs, r)
	}
	bench.AssignIDs(runs)
	return runs
}

func checkReport(t *testing.T, runs func() []*bench.Run) {
	t.Helper()
	var out bytes.Buffer
	plainRuns := runs()
	names := ""
	for _, r := range plainRuns {
		names += fmt.Sprint(r.Label, r.Source, r.Config, r.Metrics)
	}
	broken := func(b []byte) bool { return bytes.ContainsRune(b, utf8.RuneError) }
	check := func(err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		b := bytes.Clone(out.Bytes())
		out.Reset()
		if !utf8.Valid(b) || broken(b) && !broken([]byte(names)) {
			t.Fatalf("a character was broken: %s", b)
		}
		return b
	}

	checkRunsCSV(t, check(RunsCSV(&out, plainRuns)), plainRuns)
	md := check(RunsMarkdown(&out, plainRuns))
	_, keys := analyze.Differing(plainRuns)
	checkTables(t, md, tablesOfMarkdown(t, md), []*table{runTable(plainRuns, keys)})

	rep, err := analyze.Compare(runs(), analyze.Options{})
	if err != nil {
		t.Fatal(err)
	}
	document := compareDocument(rep, CompareStyle{Title: rep.Runs[0].Label})
	checkMarkdown(t, check(document.markdown(&out)), document)
	checkHTML(t, check(document.html(&out)), document)
	checkCompareCSV(t, check(CompareCSV(&out, rep)), rep)
	if j := check(CompareJSON(&out, rep, nil)); !json.Valid(j) {
		t.Fatalf("no JSON: %s", j)
	}
	comment := check(CompareComment(&out, rep, analyze.Options{}, "benchreport compare x", 1<<20))
	checkKinds(t, comment)
	page := check(ReportHTML(&out, rep, nil, ReportInfo{Title: rep.Runs[0].Label, Files: []string{rep.Runs[0].Source.File}, Command: "benchreport report"}))
	checkPage(t, page, rep)
	for _, figures := range plots.Of(rep) {
		for _, f := range figures {
			checkSVG(t, check(plots.SVG(&out, &f)))
		}
	}

	all := runs()
	gate, err := analyze.RunGate(all[:2], all[2:], analyze.GateOptions{Options: analyze.Options{Noise: 0.01}})
	if err != nil {
		return // nothing to gate
	}
	whole := gateDocument(gate, gateStyle{sparks: true, command: "benchreport gate", failing: len(gate.Results)})
	checkMarkdown(t, check(GateComment(&out, gate, "benchreport gate", 1<<20)), whole)
	// Even one that holds all it may fits.
	small := check(GateComment(&out, gate, "benchreport gate", 4000))
	if len(small) > 4000 && len(small) >= len(check(GateComment(&out, gate, "benchreport gate", 1<<20))) {
		t.Fatalf("a comment of %d bytes was not made shorter", len(small))
	}
	checkKinds(t, small)
}

// A parsedBlock is a block of a document that was read back.
type parsedBlock struct {
	kind  string // heading, paragraph, list, table, details, code
	texts []string
	cells [][]string
}

// wantBlocks is what a document should read as.
func wantBlocks(d *document) []parsedBlock {
	var out []parsedBlock
	for _, b := range d.blocks {
		switch {
		case b.code != "":
			out = append(out, parsedBlock{kind: "code"})
		case b.inner != nil:
			out = append(out, parsedBlock{kind: "details"})
			out = append(out, wantBlocks(b.inner)...)
			out = append(out, parsedBlock{kind: "details"})
		case b.table != nil:
			out = append(out, parsedBlock{kind: "table", cells: cellsOf(b.table)})
		case b.items != nil:
			list := parsedBlock{kind: "list"}
			for _, item := range b.items {
				list.texts = append(list.texts, shown(textSpans(item, false)))
			}
			if n := len(out); n > 0 && out[n-1].kind == "list" { // Markdown makes them one
				out[n-1].texts = append(out[n-1].texts, list.texts...)
				continue
			}
			out = append(out, list)
		case b.level > 0:
			out = append(out, parsedBlock{kind: "heading", texts: []string{shown(textSpans(b.text, false))}})
		default:
			out = append(out, parsedBlock{kind: "paragraph", texts: []string{shown(textSpans(b.text, false))}})
		}
	}
	return out
}

func cellsOf(t *table) [][]string {
	rows := [][]string{nil}
	for _, c := range t.header {
		rows[0] = append(rows[0], shown(c))
	}
	for _, row := range t.rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, shown(c))
		}
		rows = append(rows, cells)
	}
	return rows
}

// readMarkdown reads a report back, block by block.
func readMarkdown(t *testing.T, source []byte) []parsedBlock {
	t.Helper()
	var out []parsedBlock
	root := gfm.Parser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			out = append(out, parsedBlock{kind: "heading", texts: []string{inlineText(t, n, source)}})
		case *ast.Paragraph:
			out = append(out, parsedBlock{kind: "paragraph", texts: []string{inlineText(t, n, source)}})
		case *ast.List:
			b := parsedBlock{kind: "list"}
			for item := n.FirstChild(); item != nil; item = item.NextSibling() {
				if item.ChildCount() != 1 {
					t.Fatalf("a list item of %d blocks\n%s", item.ChildCount(), source)
				}
				b.texts = append(b.texts, inlineText(t, item.FirstChild(), source))
			}
			out = append(out, b)
		case *east.Table:
			b := parsedBlock{kind: "table"}
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				var cells []string
				for c := row.FirstChild(); c != nil; c = c.NextSibling() {
					cells = append(cells, inlineText(t, c, source))
				}
				b.cells = append(b.cells, cells)
			}
			out = append(out, b)
		case *ast.HTMLBlock:
			if html := string(n.Lines().Value(source)); !strings.HasPrefix(html, "<details><summary>") && html != "</details>\n" {
				t.Fatalf("HTML that is not ours: %q\n%s", html, source)
			}
			out = append(out, parsedBlock{kind: "details"})
		case *ast.CodeBlock:
			out = append(out, parsedBlock{kind: "code"})
		default:
			t.Fatalf("a block that is not ours: %s\n%s", n.Kind(), source)
		}
	}
	return out
}

// inlineText is the text of a block. It must be text, and what is strong or
// stressed by us.
func inlineText(t *testing.T, n ast.Node, source []byte) string {
	t.Helper()
	var b bytes.Buffer
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || c == n {
			return ast.WalkContinue, nil
		}
		switch c := c.(type) {
		case *ast.Text:
			if c.SoftLineBreak() || c.HardLineBreak() {
				t.Fatalf("a line break in %q\n%s", c.Segment.Value(source), source)
			}
			b.Write(c.Segment.Value(source))
		case *ast.String:
			b.Write(c.Value)
		case *ast.Emphasis:
		default:
			t.Fatalf("more than text: %s\n%s", c.Kind(), source)
		}
		return ast.WalkContinue, nil
	})
	return plain(b.String())
}

func checkMarkdown(t *testing.T, source []byte, d *document) {
	t.Helper()
	got, want := readMarkdown(t, source), wantBlocks(d)
	if len(got) != len(want) {
		t.Fatalf("%d blocks, want %d\n%s", len(got), len(want), source)
	}
	for i, g := range got {
		w := want[i]
		if g.kind != w.kind || !slices.Equal(g.texts, w.texts) || !slices.EqualFunc(g.cells, w.cells, slices.Equal) {
			t.Fatalf("block %d is\n%+q\nwant\n%+q\n%s", i, g, w, source)
		}
	}
}

// checkKinds asks only that nothing in a Markdown text is more than ours.
func checkKinds(t *testing.T, source []byte) {
	t.Helper()
	readMarkdown(t, source)
}

func tablesOfMarkdown(t *testing.T, source []byte) [][][]string {
	t.Helper()
	var out [][][]string
	for _, b := range readMarkdown(t, source) {
		if b.kind == "table" {
			out = append(out, b.cells)
		}
	}
	return out
}

func checkTables(t *testing.T, source []byte, got [][][]string, want []*table) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d tables, want %d\n%s", len(got), len(want), source)
	}
	for i := range want {
		if w := cellsOf(want[i]); !slices.EqualFunc(got[i], w, slices.Equal) {
			t.Fatalf("table %d is\n%q\nwant\n%q\n%s", i+1, got[i], w, source)
		}
	}
}

// A page is HTML that was read back.
type parsedPage struct {
	tables [][][]string
	lines  []string // texts of headings, paragraphs and list items
}

// ourTags are the elements that a report may hold.
var ourTags = strings.Fields("html head meta title style body a main section h1 h2 h3 p strong em table thead tbody tr th td ul li div details summary span script pre code")

// readHTML reads a page back with a parser that knows nothing of ours.
func readHTML(t *testing.T, source []byte) parsedPage {
	t.Helper()
	var page parsedPage
	dec := xml.NewDecoder(bytes.NewReader(source))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var line strings.Builder
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return page
		}
		if err != nil {
			t.Fatalf("no HTML: %v\n%s", err, source)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			if !slices.Contains(ourTags, name) {
				t.Fatalf("an element <%s>\n%s", name, source)
			}
			for _, a := range token.Attr {
				if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "href" && a.Value != "#report" {
					t.Fatalf("an attribute %s=%q\n%s", a.Name.Local, a.Value, source)
				}
			}
			switch name {
			case "table":
				page.tables = append(page.tables, nil)
			case "tr":
				last := len(page.tables) - 1
				page.tables[last] = append(page.tables[last], nil)
			}
			if name != "strong" && name != "em" && name != "span" {
				line.Reset()
			}
		case xml.EndElement:
			s := strings.TrimSpace(strings.ReplaceAll(line.String(), "\u2060", ""))
			switch token.Name.Local {
			case "td", "th":
				rows := page.tables[len(page.tables)-1]
				rows[len(rows)-1] = append(rows[len(rows)-1], s)
			case "h1", "h2", "h3", "p", "li", "summary":
				page.lines = append(page.lines, s)
			}
		case xml.CharData:
			line.Write(token)
		case xml.Comment:
			t.Fatalf("a comment %q\n%s", token, source)
		}
	}
}

func checkHTML(t *testing.T, source []byte, d *document) {
	t.Helper()
	page := readHTML(t, source)
	var lines []string
	var tables []*table
	for _, b := range d.blocks {
		if b.table != nil {
			tables = append(tables, b.table)
		}
	}
	for _, b := range wantBlocks(d) {
		lines = append(lines, b.texts...)
	}
	checkTables(t, source, page.tables, tables)
	if !slices.Equal(page.lines, lines) {
		t.Fatalf("the page says\n%q\nwant\n%q\n%s", page.lines, lines, source)
	}
}

// checkPage looks at a whole page: in it stand the tables of the report, and
// two for each run.
func checkPage(t *testing.T, source []byte, rep *analyze.Report) {
	t.Helper()
	for _, ours := range []string{templates.Style, templates.Script, "<!doctype html>"} {
		if bytes.Count(source, []byte(ours)) != 1 {
			t.Fatalf("not once in the page: %.40q", ours)
		}
		source = bytes.Replace(source, []byte(ours), nil, 1)
	}
	page := readHTML(t, source)
	var want [][][]string
	for _, s := range rep.Sections {
		p := partsOf(s, CompareStyle{})
		for _, d := range []*document{p.table, p.change} {
			for _, b := range d.blocks {
				if b.table != nil {
					want = append(want, cellsOf(b.table))
				}
			}
		}
	}
	for _, r := range rep.Runs {
		settings := [][]string{{"Setting", "Value", "Read from"}}
		for _, c := range r.Config {
			settings = append(settings, []string{shown(c.Key), shown(c.Value), c.From.String()})
		}
		metrics := [][]string{{"Metric", "Value", "Unit"}}
		for _, m := range r.Metrics {
			metrics = append(metrics, []string{shown(m.Name), m.Text(), bench.Lookup(m.Name).Unit})
		}
		want = append(want, settings, metrics)
	}
	if !slices.EqualFunc(page.tables, want, func(a, b [][]string) bool { return slices.EqualFunc(a, b, slices.Equal) }) {
		t.Fatalf("the tables of the page are\n%q\nwant\n%q", page.tables, want)
	}
}

// svgTags are the elements of our pictures.
var svgTags = strings.Fields("svg g path text title rect circle")

// checkSVG asks that names in a picture are text, whatever they hold.
func checkSVG(t *testing.T, source []byte) {
	t.Helper()
	for dec := xml.NewDecoder(bytes.NewReader(source)); ; {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("no XML: %v\n%s", err, source)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if !slices.Contains(svgTags, start.Name.Local) {
			t.Fatalf("an element <%s>\n%s", start.Name.Local, source)
		}
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
				t.Fatalf("an attribute %s=%q\n%s", a.Name.Local, a.Value, source)
			}
		}
	}
}

func readCSV(t *testing.T, source []byte) []map[string]string {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(source)).ReadAll()
	if err != nil {
		t.Fatalf("no CSV: %v\n%s", err, source)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, cell := range row {
			m[rows[0][i]] = cell
		}
		out = append(out, m)
	}
	return out
}

func checkRunsCSV(t *testing.T, source []byte, runs []*bench.Run) {
	t.Helper()
	rows := readCSV(t, source)
	if len(rows) != len(runs) {
		t.Fatalf("%d rows of %d runs\n%s", len(rows), len(runs), source)
	}
	for i, r := range runs {
		want := map[string]string{"id": r.ID, "label": r.Label, "input": r.Input, "file": r.Source.File}
		for _, c := range r.Config {
			want["config."+c.Key] = c.Value
		}
		for _, m := range r.Metrics {
			if _, taken := want[m.Name]; !taken {
				want[m.Name] = strconv.FormatFloat(m.Value, 'f', -1, 64)
			}
		}
		for k, v := range want {
			if got := rows[i][defused(k)]; got != v && got != defused(v) {
				t.Fatalf("%s is %q, want %q\n%s", k, got, v, source)
			}
		}
	}
}

func checkCompareCSV(t *testing.T, source []byte, rep *analyze.Report) {
	t.Helper()
	byID := map[string]*bench.Run{}
	for _, r := range rep.Runs {
		byID[r.ID] = r
	}
	for _, row := range readCSV(t, source) {
		r := byID[row["id"]]
		if r == nil || row["label"] != defused(r.Label) || row["input"] != defused(r.Input) || row["file"] != defused(r.Source.File) {
			t.Fatalf("a row of no run: %q\n%s", row, source)
		}
		if m, ok := metricNamed(r, row["metric"]); !ok || row["value"] != strconv.FormatFloat(m.Value, 'f', -1, 64) {
			t.Fatalf("%s is %s, want %v\n%s", row["metric"], row["value"], m.Value, source)
		}
	}
}

// metricNamed is the metric that a cell of a CSV names.
func metricNamed(r *bench.Run, cell string) (bench.Metric, bool) {
	for _, m := range r.Metrics {
		if defused(m.Name) == cell {
			return m, true
		}
	}
	return bench.Metric{}, false
}
