package render

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// A CompareStyle is how a comparison is written.
type CompareStyle struct {
	Title  string
	Colour bool // for text on a terminal
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
		d.paragraph(headlineOf(s)...)
		if line := sameSentence(s.Same); line != "" {
			d.paragraph(plainText("%s", line))
		}
		d.add(compareTable(s))
		for _, note := range footnotes(s) {
			d.paragraph(plainText("%s", note))
		}
		if !s.Across && len(s.Changes) > 0 {
			d.paragraph(strong("Against " + baseNames(s)))
			d.add(changeTable(s))
		}
	}
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

// headlineMetrics are those that the first sentence is about: the first one
// present of each group.
var headlineMetrics = [][]string{
	{"output_throughput", "total_token_throughput", "request_throughput", "generation_throughput", "draft_acceptance_rate", "accuracy"},
	{"mean_ttft_ms", "mean_e2el_ms", "avg_latency"},
}

// headlineOf says in a sentence who leads.
func headlineOf(s *analyze.Section) []span {
	if s.Across || len(s.Rows) < 2 {
		return nil
	}
	anyBest := slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c analyze.Cell) bool { return c.Best })
	})
	var out []span
	switch {
	case !anyBest && s.Groups:
		out = []span{plainText("These are different workloads: nothing is compared, so nothing is bold.")}
	case !anyBest:
		out = []span{plainText("Nothing here can be compared, so nothing is bold.")}
	case s.Groups:
		out = []span{plainText("Rows of different workloads stand beside each other: bold is the best among rows of the same.")}
	default:
		out = leaders(s)
	}
	if !slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return len(r.Runs) > 1 }) && s.Tool != "lm-eval" && anyBest {
		out = append(out, plainText(" One run each: differences are not tested."))
	}
	return out
}

// leaders names the best of the headline metrics.
func leaders(s *analyze.Section) []span {
	var out []span
	var before []*analyze.Row
	for g, group := range headlineMetrics {
		i := -1
		for _, m := range group {
			if i = slices.IndexFunc(s.Columns, func(c analyze.Column) bool { return c.Metric == m }); i >= 0 {
				break
			}
		}
		if i < 0 {
			continue
		}
		var best []*analyze.Row
		var values []string
		for _, r := range s.Rows {
			if r.Cells[i].Best {
				best = append(best, r)
				if v := r.Cells[i].Text(); !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
		if len(best) == 0 {
			continue
		}
		if slices.Equal(best, before) {
			out = append(out, plainText(" and"))
		} else {
			if len(out) > 0 {
				out = append(out, plainText("; "))
			}
			out = append(out, rowNames(s, best)...)
		}
		before = best
		verb := "leads on"
		if g == 1 {
			verb = "has the lowest"
		}
		if len(best) > 1 {
			verb = "cannot be told apart on"
		}
		out = append(out, plainText(" %s %s (%s%s)", verb, headlineTitle(s.Columns[i].Metric, g), strings.Join(values, ", "), headlineUnit(s.Columns[i].Metric, g)))
	}
	if out == nil {
		return nil
	}
	return append(out, plainText("."))
}

// rowNames lists rows in bold.
func rowNames(s *analyze.Section, rows []*analyze.Row) []span {
	var out []span
	for k, r := range rows {
		if k == 4 {
			return append(out, plainText(" and %d more", len(rows)-k))
		}
		if k > 0 {
			out = append(out, plainText(" and "))
		}
		out = append(out, strong(shorten(s.Name(r), 60)))
		if r.Extrapolated() {
			out = append(out, plainText(" †"))
		}
	}
	return out
}

// headlineTitle and headlineUnit write a metric in a sentence: throughput (2993.85
// output tok/s), mean TTFT (420.74 ms).
func headlineTitle(metric string, group int) string {
	info := bench.Lookup(metric)
	title, _, _ := strings.Cut(info.Title, " (")
	if group == 0 && info.Unit != "" {
		return "throughput"
	}
	return lowerFirst(title)
}

func headlineUnit(metric string, group int) string {
	info := bench.Lookup(metric)
	if info.Unit == "" {
		return ""
	}
	if group == 0 {
		return " " + lowerFirst(info.Title)
	}
	return " " + info.Unit
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' { // TTFT
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
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
	partial := slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { _, _, p := r.Partial(); return p })
	if partial && !s.Across {
		t.column("Requests", true)
	}
	for _, c := range s.Columns {
		title := bench.Lookup(c.Metric).Title
		if s.Across {
			title += " " + c.Variant
		}
		t.column(title, true)
	}
	if s.Across {
		for _, c := range acrossHeads(s) {
			title := "Change"
			if len(s.Columns) > 2 {
				title += " " + c
			}
			t.column(title, true)
		}
		t.column("Verdict", false)
	}
	for n, row := range s.Rows {
		var cells []string
		if named {
			cells = append(cells, runCell(s, row))
		}
		for i, k := range row.Keys {
			cells = append(cells, shorten(shownSetting(s.Keys[i], k), 44))
		}
		if partial && !s.Across {
			cells = append(cells, requestsCell(row))
		}
		first := len(cells)
		for _, c := range row.Cells {
			cells = append(cells, cellText(s, c))
		}
		if s.Across {
			cells = append(cells, acrossCells(s, n)...)
		}
		t.rows = append(t.rows, cells)
		for i, c := range row.Cells {
			if c.Best {
				t.bold(first + i)
			}
		}
	}
	return t
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

func runCell(s *analyze.Section, row *analyze.Row) string {
	name := row.Label
	if row.Input != row.Label && slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return r.Input != row.Input }) {
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

func cellText(s *analyze.Section, c analyze.Cell) string {
	if len(c.Runs) == 0 {
		return ""
	}
	if c.HasStd && (s.Across || s.Tool == "lm-eval" || s.Tool == "llama-bench") {
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

// acrossHeads are the variants that are compared with the first.
func acrossHeads(s *analyze.Section) []string {
	var heads []string
	for _, c := range s.Changes {
		for _, by := range c.By {
			if !slices.Contains(heads, by.Head) {
				heads = append(heads, by.Head)
			}
		}
	}
	return heads
}

func acrossCells(s *analyze.Section, row int) []string {
	var cells []string
	by := s.Changes[row].By
	for _, head := range acrossHeads(s) {
		cell := ""
		for _, c := range by {
			if c.Head == head {
				cell = changeCell(c)
			}
		}
		cells = append(cells, cell)
	}
	return append(cells, verdictText(by))
}

// footnotes explain the marks of a table.
func footnotes(s *analyze.Section) []string {
	var out []string
	for _, row := range s.Rows {
		if !row.Extrapolated() || s.Across {
			continue
		}
		if note := replicaNote(row.Runs[0]); !slices.Contains(out, note) {
			out = append(out, note)
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
	for _, c := range s.Columns {
		if note := metricNotes[c.Metric]; note != "" && !slices.Contains(out, note) {
			out = append(out, note)
		}
	}
	if s.Tool == "llama-bench" && slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return r.Runs[0].Metrics[0].HasStd && len(r.Runs[0].Metrics[0].Samples) == 0
	}) {
		out = append(out, "± is the spread of repetitions inside one process (5 by default; the log does not say how many), not of repeated runs.")
	} else if s.Tool == "llama-bench" {
		out = append(out, "± is the spread of repetitions inside one process, not of repeated runs.")
	}
	return out
}

// metricNotes define what people define differently.
var metricNotes = map[string]string{
	"tok_s_per_user":                 "tok/s per user is 1000 ÷ mean TPOT: what one stream sees, without queueing and first token.",
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

// baseNames names the rows that the others are held against.
func baseNames(s *analyze.Section) string {
	var names []string
	for _, c := range s.Changes {
		if n := shorten(s.Name(c.Base), 60); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) > 1 {
		return "the baseline of each workload"
	}
	return names[0]
}

// changeTable is the table of changes against the baseline.
func changeTable(s *analyze.Section) *table {
	t := &table{}
	t.column("Run", false)
	several := slices.ContainsFunc(s.Changes, func(c analyze.Change) bool { return c.Base != s.Changes[0].Base })
	if several {
		t.column("Against", false)
	}
	var metrics []string
	for _, c := range s.Columns {
		if bench.Lookup(c.Metric).Better != bench.Neither {
			metrics = append(metrics, c.Metric)
			title, _, _ := strings.Cut(bench.Lookup(c.Metric).Title, " (")
			t.column(title, true)
		}
	}
	t.column("Verdict", false)
	for _, ch := range s.Changes {
		name := shorten(s.Name(ch.Row), 52)
		if ch.Row.Extrapolated() {
			name += " †"
		}
		row := []string{name}
		if several {
			row = append(row, shorten(s.Name(ch.Base), 44))
		}
		for _, m := range metrics {
			cell := ""
			for _, c := range ch.By {
				if c.Metric == m {
					cell = changeCell(c)
				}
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, append(row, verdictText(ch.By)))
	}
	return t
}

// changeCell writes a change; what cannot be compared has none.
func changeCell(c analyze.Comparison) string {
	if c.Verdict == analyze.Incomparable {
		return "–"
	}
	return percent(c.DeltaPct)
}

// percent writes a change with its sign, as typographers do.
func percent(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	switch {
	case s == "0.0" || s == "-0.0":
		return "0.0 %"
	case strings.HasPrefix(s, "-"):
		return "−" + s[1:] + " %"
	}
	return "+" + s + " %"
}

// verdictText sums up the verdicts of one row.
func verdictText(by []analyze.Comparison) string {
	type part struct {
		text    string
		metrics []string
	}
	var parts []*part
	for _, c := range by {
		text := c.Verdict
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		i := slices.IndexFunc(parts, func(p *part) bool { return p.text == text })
		if i < 0 {
			i = len(parts)
			parts = append(parts, &part{text: text})
		}
		title, _, _ := strings.Cut(bench.Lookup(c.Metric).Title, " (")
		parts[i].metrics = append(parts[i].metrics, title)
	}
	if len(parts) == 1 {
		return parts[0].text
	}
	var out []string
	for _, p := range parts {
		out = append(out, strings.Join(p.metrics, ", ")+" "+p.text)
	}
	return strings.Join(out, "; ")
}

// findingItems lists the findings, worst first, those of one kind together.
func findingItems(rep *analyze.Report) [][]span {
	var items [][]span
	for _, severity := range [...]bench.Severity{bench.Error, bench.Warning, bench.Note} {
		byCode := map[string][]string{}
		var order []string
		for _, f := range allFindings(rep) {
			if f.Severity != severity {
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
	out := csv.NewWriter(w)
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
