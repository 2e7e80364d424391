package render

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/render/plots"
)

// A CompareStyle is how a comparison is written.
type CompareStyle struct {
	Title   string
	Colour  bool // for text on a terminal
	Figures map[*analyze.Section][]plots.Figure
	PlotDir string // where their pictures lie, as seen from the report
}

// CompareMarkdown writes a comparison as Markdown.
func CompareMarkdown(w io.Writer, rep *analyze.Report, style CompareStyle) error {
	return compareDocument(rep, style).markdown(w)
}

// CompareText writes a comparison for a terminal.
func CompareText(w io.Writer, rep *analyze.Report, style CompareStyle) error {
	return compareDocument(rep, style).plain(w, style.Colour)
}

// CompareHTML writes a comparison as an HTML fragment.
func CompareHTML(w io.Writer, rep *analyze.Report, style CompareStyle) error {
	return compareDocument(rep, style).html(w)
}

// compareDocument says what a comparison found.
func compareDocument(rep *analyze.Report, style CompareStyle) *document {
	d := &document{}
	if style.Title != "" {
		d.heading(1, plainText("%s", style.Title))
	}
	for _, s := range rep.Sections {
		if len(rep.Sections) > 1 {
			d.heading(3, plainText("%s", sectionTitle(s)))
		}
		parts := partsOf(s, style)
		d.append(parts.headline, parts.table, parts.change, parts.figures)
	}
	d.append(findingsOf(rep))
	return d
}

// sectionParts is what is said of a section, in the order in which it is read.
type sectionParts struct {
	headline, table, change, figures *document
}

func partsOf(s *analyze.Section, style CompareStyle) sectionParts {
	p := sectionParts{&document{}, &document{}, &document{}, &document{}}
	p.headline.paragraph(headlineOf(s)...)
	if line := sameSentence(s.Same); line != "" {
		p.table.paragraph(plainText("%s", line))
	}
	p.table.add(compareTable(s))
	for _, note := range footnotes(s) {
		p.table.paragraph(plainText("%s", note))
	}
	if !s.Across && len(s.Changes) > 0 {
		p.change.paragraph(strong("Against " + baseNames(s)))
		p.change.add(changeTable(s))
	}
	for _, f := range style.Figures[s] {
		p.figures.blocks = append(p.figures.blocks, block{figure: &f, path: path.Join(style.PlotDir, f.Name+".png")})
	}
	return p
}

// findingsOf is what a reader must know before believing the tables.
func findingsOf(rep *analyze.Report) *document {
	d := &document{}
	if items := findingItems(rep); len(items) > 0 {
		d.paragraph(strong("Read with care"))
		d.list(items...)
	}
	if items := otherItems(rep); len(items) > 0 {
		d.paragraph(strong("What else differs"))
		d.list(items...)
	}
	return d
}

func sectionTitle(s *analyze.Section) string {
	parts := []string{s.Tool}
	for _, by := range s.By {
		value := by.Value
		if value == "" {
			value = "not given"
		}
		parts = append(parts, strings.ToLower(keyTitle(by.Key))+" "+value)
	}
	return strings.Join(parts, ", ")
}

// sameSentence writes what all rows share, as people write it above a table.
func sameSentence(same []bench.Setting) string {
	var parts []string
	if i := slices.IndexFunc(same, func(s bench.Setting) bool { return s.Key == "model" }); i > 0 {
		same = slices.Concat(same[i:i+1], same[:i], same[i+1:])
	}
	for _, s := range same {
		v := shownSetting(s.Key, s.Value)
		switch s.Key {
		case "model", "engine", "dataset", "device", "quant", "test":
			parts = append(parts, v)
		case "num_prompts":
			parts = append(parts, v+" prompts")
		case "gpus":
			parts = append(parts, v+" GPU"+map[bool]string{true: "", false: "s"}[v == "1"])
		case "concurrency", "build", "task", "tp", "pp", "ngl", "fa", "depth", "threads", "batch", "ubatch":
			parts = append(parts, s.Key+" "+v)
		case "request_rate":
			parts = append(parts, "request rate "+v)
		case "input_len":
			parts = append(parts, v+" input tokens")
		case "output_len":
			parts = append(parts, v+" output tokens")
		default:
			parts = append(parts, strings.TrimPrefix(s.Key, "env.")+"="+v)
		}
	}
	return strings.Join(parts, " · ")
}

// compareTable is the main table.
func compareTable(s *analyze.Section) *table {
	t := &table{}
	named := showsRun(s)
	if named {
		t.column("Run", false)
	}
	for i, k := range s.Keys {
		t.column(keyTitle(k), numericColumn(s, i))
	}
	partial := !s.Across && slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { _, _, p := r.Partial(); return p })
	if partial {
		t.column("Requests", true)
	}
	counted := !s.Across && repeated(s)
	if counted {
		t.column("Runs", true)
	}
	for i, c := range s.Columns {
		title := bench.Lookup(c.Metric).Title
		if s.Across {
			title += " " + shorten(c.Variant, 40)
			if extrapolatedColumn(s, i) {
				title += " †"
			}
		}
		t.column(title, true)
	}
	var heads []string
	if s.Across {
		heads = acrossHeads(s)
		for _, c := range heads {
			title := "Change against " + shorten(acrossBase(s), 30)
			if len(s.Columns) > 2 {
				title = shorten(c, 30) + " against " + shorten(acrossBase(s), 30)
			}
			t.column(title, true)
		}
		t.column("Verdict", false)
	}
	several := severalInputs(s)
	for n, row := range s.Rows {
		cells := make([]string, 0, len(t.header))
		if named {
			cells = append(cells, runCell(row, several))
		}
		for i, k := range row.Keys {
			cells = append(cells, shorten(shownSetting(s.Keys[i], k), 44))
		}
		if partial {
			cells = append(cells, requestsCell(row))
		}
		if counted {
			cells = append(cells, strconv.Itoa(len(row.Runs)))
		}
		first := len(cells)
		for _, c := range row.Cells {
			cells = append(cells, cellText(s, &c))
		}
		if s.Across {
			cells = append(cells, acrossCells(s.Changes[n].By, heads)...)
		}
		t.rows = append(t.rows, cells)
		t.runs = append(t.runs, runIDs(row))
		for i, c := range row.Cells {
			if c.Best {
				t.bold(first + i)
			}
		}
	}
	return t
}

// runIDs are the runs that a row stands for.
func runIDs(row *analyze.Row) []string {
	var ids []string
	for _, r := range row.Runs {
		ids = append(ids, r.ID)
	}
	return ids
}

// showsRun reports whether the rows have names worth a column.
func showsRun(s *analyze.Section) bool {
	if s.Across {
		return false
	}
	if len(s.Keys) == 0 {
		return true
	}
	return slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return r.Label != s.Rows[0].Label || r.Input != s.Rows[0].Input || r.Extrapolated()
	})
}

// severalInputs reports whether the rows are not all of one input.
func severalInputs(s *analyze.Section) bool {
	return slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return r.Input != s.Rows[0].Input })
}

func runCell(row *analyze.Row, several bool) string {
	name := row.Label
	if row.Input != row.Label && several {
		name = row.Input + ": " + row.Label
	}
	name = shorten(name, 52)
	if row.Extrapolated() {
		name += " †"
	}
	return name
}

func requestsCell(row *analyze.Row) string {
	n, of, partial := row.Partial()
	r := row.Runs[0]
	switch {
	case partial && of > 0:
		return fmt.Sprintf("⚠ %d/%d", n, of)
	case partial:
		return "⚠"
	case r.Completed != nil && r.Attempted != nil:
		return fmt.Sprintf("%d/%d", *r.Completed, *r.Attempted)
	case r.Completed != nil:
		return strconv.Itoa(*r.Completed)
	}
	return ""
}

func cellText(s *analyze.Section, c *analyze.Cell) string {
	if len(c.Runs) == 0 {
		return ""
	}
	if c.HasStd && (s.Across || s.Tool == "lm-eval" || s.Tool == "llama-bench" || s.Tool == "llama-perplexity" || len(c.Runs) > 1) {
		return withSpread(c.Metric)
	}
	return c.Text()
}

func numericColumn(s *analyze.Section, i int) bool {
	for _, r := range s.Rows {
		if _, err := strconv.ParseFloat(r.Keys[i], 64); r.Keys[i] != "" && err != nil {
			return false
		}
	}
	return true
}

// repeated reports whether a row stands for several runs.
func repeated(s *analyze.Section) bool {
	return slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c analyze.Cell) bool { return len(c.Runs) > 1 })
	})
}

func extrapolatedColumn(s *analyze.Section, i int) bool {
	return slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return len(r.Cells[i].Runs) > 0 && analyze.IsExtrapolated(r.Cells[i].Runs[0])
	})
}

// acrossBase is the variant that the others are held against.
func acrossBase(s *analyze.Section) string {
	for _, c := range s.Changes {
		for _, by := range c.By {
			return by.Base
		}
	}
	return s.Columns[0].Variant
}

// acrossHeads are the variants that are compared with the first.
func acrossHeads(s *analyze.Section) []string {
	var heads []string
	for _, c := range s.Changes {
		for i := range c.By {
			if head := c.By[i].Head; !slices.Contains(heads, head) {
				heads = append(heads, head)
			}
		}
	}
	return heads
}

// acrossCells are the changes of a row, a cell a head, and the verdict on them.
func acrossCells(by []analyze.Comparison, heads []string) []string {
	cells := make([]string, 0, len(heads)+1)
	for _, head := range heads {
		cell := ""
		for i := range by {
			if by[i].Head == head {
				cell = changeCell(by[i])
			}
		}
		cells = append(cells, cell)
	}
	return append(cells, verdictText(by))
}

// footnotes explain the marks of a table.
func footnotes(s *analyze.Section) []string {
	var out []string
	if len(s.Missing) > 0 {
		note := "Not shown, as no run here has it or what it is made of: " + strings.Join(s.Missing, ", ") + "."
		if slices.ContainsFunc(s.Missing, func(m string) bool { return strings.HasSuffix(m, "_per_gpu") || strings.HasPrefix(m, "cost_") }) {
			note += " The number of GPUs may be told by a line \"# benchreport: gpus=8\" above a result."
		}
		out = append(out, note)
	}
	for _, row := range s.Rows {
		for _, c := range row.Cells {
			if len(c.Runs) > 0 && analyze.IsExtrapolated(c.Runs[0]) {
				if note := replicaNote(c.Runs[0]); !slices.Contains(out, note) && len(out) < 4 {
					out = append(out, note)
				}
			}
		}
	}
	byText := map[string][]string{}
	var order []string
	for _, row := range s.Rows {
		if n, of, partial := row.Partial(); partial {
			text := "part of the work"
			if of > 0 {
				text = fmt.Sprintf("%d of %d requests completed", n, of)
			}
			if byText[text] == nil {
				order = append(order, text)
			}
			byText[text] = append(byText[text], shorten(s.Name(row), 60))
		}
	}
	for _, text := range order {
		out = append(out, "⚠ Partial, "+text+": "+strings.Join(byText[text], ", ")+".")
	}
	if s.Groups && slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c analyze.Cell) bool { return c.Best })
	}) {
		out = append(out, "Bold is the best among rows of the same workload.")
	}
	for _, m := range s.Means {
		out = append(out, fmt.Sprintf("Geomean of %s over %d rows, more is better: %s %s.", shorten(m.Head, 40), m.Rows, percent(100*(m.Ratio-1)), lowerFirst(bench.Lookup(m.Metric).Title)))
	}
	for _, c := range s.Columns {
		if note := metricNotes[c.Metric]; note != "" && !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	switch {
	case repeated(s):
		out = append(out, "Several runs in a row: the value is their geometric mean, ± the standard deviation from run to run.")
	case s.Tool == "llama-bench" && slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return r.Runs[0].Metrics[0].HasStd && r.Runs[0].Metrics[0].N == 0
	}):
		out = append(out, "± is the spread of repetitions inside one process (5 by default, and 5 are assumed: the log does not say how many), not of repeated runs.")
	case s.Tool == "llama-bench":
		out = append(out, "± is the spread of repetitions inside one process, not of repeated runs.")
	case s.Tool == "lm-eval" || s.Tool == "llama-perplexity":
		out = append(out, "± is the standard error that the tool gives.")
	}
	return append(out, methodNote(s)...)
}

// methodNote says how the verdicts of a section were found.
func methodNote(s *analyze.Section) []string {
	var thresholds []string
	evidence := map[string]bool{}
	for _, ch := range s.Changes {
		for _, c := range ch.By {
			if !c.Tested {
				continue
			}
			evidence[c.Evidence] = true
			title, _, _ := strings.Cut(bench.Lookup(c.Metric).Title, " (")
			if t := fmt.Sprintf("%.3g %% %s", 100*c.Threshold, title); !slices.Contains(thresholds, t) {
				thresholds = append(thresholds, t)
			}
		}
	}
	if thresholds == nil {
		return nil
	}
	note := "Brackets are 95 % intervals unless another α is given; a change counts from " + strings.Join(thresholds, ", ") + " on."
	if evidence[analyze.EvidenceDeclared] {
		note += " Single runs are tested under the run-to-run noise that was declared, not measured."
	}
	return []string{note}
}

// metricNotes define what people define differently.
var metricNotes = map[string]string{
	"tok_s_per_user":                 "tok/s per user is 1000 ÷ mean TPOT, or what llama-server measured itself: what one stream sees, without queueing and first token.",
	"ms_per_output_token":            "ms per output token is the duration ÷ all output tokens.",
	"output_throughput_per_gpu":      "Per GPU: throughput ÷ (tp × pp × replicas).",
	"total_throughput_per_gpu":       "Per GPU: throughput ÷ (tp × pp × replicas).",
	"cost_per_million_output_tokens": "Cost: price per GPU and hour × GPUs ÷ (3600 × tok/s), for a million tokens.",
	"cost_per_million_tokens":        "Cost: price per GPU and hour × GPUs ÷ (3600 × tok/s), for a million tokens.",
}

// replicaNote tells the arithmetic behind an extrapolated row.
func replicaNote(r *bench.Run) string {
	n := r.Replicas
	note := fmt.Sprintf("† Extrapolated: one of %d replicas was measured", n)
	if c := r.Config.Get("concurrency_per_replica"); c != "" {
		note += " at concurrency " + c
	}
	note += fmt.Sprintf(". Throughput × %d", n)
	for _, name := range [...]string{"output_throughput", "total_token_throughput", "avg_ts", "request_throughput"} {
		if m, ok := r.Metric(name); ok {
			note += fmt.Sprintf(" (%s → %s %s)", bench.FormatDecimals(m.Raw, m.Decimals), m.Text(), lowerFirst(bench.Lookup(name).Title))
			break
		}
	}
	if m, ok := r.Metric("duration"); ok {
		note += fmt.Sprintf(", duration ÷ %d (%s → %s s)", n, bench.FormatDecimals(m.Raw, m.Decimals), m.Text())
	}
	return note + ", latencies as measured."
}

// findingItems lists the findings, worst first, those of one kind together.
func findingItems(rep *analyze.Report) [][]span {
	var items [][]span
	for _, severity := range [...]bench.Severity{bench.Error, bench.Warning, bench.Note} {
		byCode := map[string][]string{}
		var order []string
		for _, f := range allFindings(rep) {
			if f.Severity != severity || f.Code == "no-spread" { // the headline and the verdicts say it
				continue
			}
			if byCode[f.Code] == nil {
				order = append(order, f.Code)
			}
			byCode[f.Code] = append(byCode[f.Code], f.Message)
		}
		for _, code := range order {
			messages := slices.Compact(byCode[code])
			most := 3
			if severity == bench.Note {
				most = 1
			}
			if len(messages) <= most {
				for _, m := range messages {
					items = append(items, []span{em(code), plainText(": %s", m)})
				}
				continue
			}
			items = append(items, []span{em(code), plainText(": %s. And %d more like it.", messages[0], len(messages)-1)})
		}
	}
	return items
}

// allFindings are those of the comparison and those of the reader, but for what
// footnotes tell already.
func allFindings(rep *analyze.Report) []bench.Finding {
	out := slices.Clone(rep.Findings)
	for _, r := range rep.Runs {
		for _, f := range r.Findings {
			if f.Code != "partial" && f.Code != "extrapolated" {
				f.Message = r.Label + ": " + f.Message
				out = append(out, f)
			}
		}
	}
	return out
}

// otherItems lists what differs between the runs beside what is compared.
func otherItems(rep *analyze.Report) [][]span {
	var items [][]span
	const most = 12
	for _, s := range rep.Sections {
		for _, o := range s.Others {
			if len(items) == most {
				return append(items, []span{plainText("and more (see --format json)")})
			}
			items = append(items, []span{em(o.Key), plainText(": %s", shorten(strings.Join(o.Values, "; "), 200))})
		}
	}
	return items
}

// CompareCSV writes a comparison as tidy data: a row a run and metric.
func CompareCSV(w io.Writer, rep *analyze.Report) error {
	out := newCSV(w)
	header := []string{"tool", "input", "label", "id", "file", "line", "completed", "attempted", "replicas"}
	_, keys := analyze.Differing(rep.Runs)
	header = append(header, keys...)
	header = append(header, "metric", "value", "raw", "unit", "better", "std", "n", "best")
	if err := out.Write(header); err != nil {
		return err
	}
	for _, s := range rep.Sections {
		for _, row := range s.Rows {
			for i, cell := range row.Cells {
				for _, r := range cell.Runs {
					m, _ := r.Metric(s.Columns[i].Metric)
					info := bench.Lookup(m.Name)
					line := []string{s.Tool, r.Input, r.Label, r.ID, r.Source.File, strconv.Itoa(r.Source.Line), optionalInt(r.Completed), optionalInt(r.Attempted), strconv.Itoa(max(r.Replicas, 1))}
					for _, k := range keys {
						line = append(line, r.Config.Get(k))
					}
					std, n := "", ""
					if m.HasStd {
						std = strconv.FormatFloat(m.Std, 'f', -1, 64)
					}
					if m.N > 0 {
						n = strconv.Itoa(m.N)
					}
					line = append(line, m.Name, strconv.FormatFloat(m.Value, 'f', -1, 64), strconv.FormatFloat(m.Raw, 'f', -1, 64), info.Unit, string(info.Better), std, n, strconv.FormatBool(cell.Best))
					if err := out.Write(line); err != nil {
						return err
					}
				}
			}
		}
	}
	out.Flush()
	return out.Error()
}
