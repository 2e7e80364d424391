package parse

import (
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// vLLM's performance suite collects the results of its tests in tables, as
// Markdown and as JSON records whose keys are the titles of the columns. Its
// rows are of three tools, told by their columns.

// A titled is a value of such a row under its title.
type titled struct {
	title, value string
	line         int
}

// ciTitles are the titles that mean the same in all tables, and ciTables those
// that do not.
var (
	ciTitles = map[string]string{
		"Tput (req/s)": "request_throughput", "Total Token Tput (tok/s)": "total_token_throughput", "Output Tput (tok/s)": "output_throughput",
		"Total input tokens": "total_input_tokens", "Total output tokens": "total_output_tokens", "Successful req.": "completed",
		"Total # of tokens": "total_tokens", "Elapsed time (s)": "duration", "Tput (tok/s)": "total_token_throughput",
		"Mean latency (ms)": "avg_latency", "Median latency (ms)": "p50_latency", "P99 latency (ms)": "p99_latency", "Average latency (s)": "avg_latency",
	}
	ciTables = map[string]map[string]string{
		"vllm-serve":      {"# of req.": "completed", "Median": "median_tpot_ms", "P99": "p99_tpot_ms"},
		"vllm-throughput": {},
		"vllm-latency": {
			"Median": "p50_latency", "P99": "p99_latency",
			"P10 (s)": "p10_latency", "P25 (s)": "p25_latency", "P50 (s)": "p50_latency", "P75 (s)": "p75_latency", "P90 (s)": "p90_latency", "P99 (s)": "p99_latency",
		},
	}
	ciSettings = map[string]string{
		"Model": "model", "Dataset Name": "dataset", "Input Len": "input_len", "Output Len": "output_len", "TP Size": "tp", "PP Size": "pp", "dtype": "dtype",
		"qps": "request_rate", "# of max concurrency.": "concurrency",
	}
)

// ciTool tells whose results a row holds, "" if those of none. Several numbers
// stand under the same titles.
func ciTool(has func(title string) bool) string {
	switch {
	case !has("Test name"):
		return ""
	case has("Mean latency (ms)") || has("Average latency (s)"):
		return "vllm-latency"
	case has("Tput (req/s)") && (has("Mean TTFT (ms)") || has("Median TTFT (ms)")):
		return "vllm-serve"
	case has("Tput (req/s)") && (has("GPU") || has("Tput (tok/s)")):
		return "vllm-throughput"
	}
	return ""
}

// ciRun makes a run of a row.
func (d *document) ciRun(tool string, row []titled, source bench.Source) {
	source.Tool = tool
	r := &bench.Run{Source: source}
	from := bench.FromJSON
	if source.Format == "md" {
		from = bench.FromLog
	}
	set := func(key, value string) {
		if plausible(key, value) && !isNothing(value) || key == "request_rate" && value == "inf" {
			r.Config.Add(key, redact(key, tidyValue(key, value)), from)
		}
	}
	engine := "vllm"
	for _, c := range row {
		name, ok := ciTables[tool][c.title]
		if !ok {
			name, ok = ciTitles[c.title]
		}
		if !ok && tool == "vllm-serve" {
			name = latencyLabel(strings.ToLower(c.title), false)
			ok = name != ""
		}
		switch {
		case ok:
			if m, ok := d.metric(name, c.value, c.line, c.title); ok {
				if tool == "vllm-latency" && !strings.HasSuffix(c.title, "(s)") {
					m.Value /= 1000 // ms
					if m.Decimals >= 0 {
						m.Decimals += 3
					}
				}
				r.Add(m)
			}
		case c.title == "Test name":
			r.Label = redact("", c.value)
			set("test", c.value)
		case c.title == "GPU":
			// 8xH100 is what the machine has, not what the test used.
			if n, device, ok := strings.Cut(c.value, "x"); ok && plainNumber([]byte(n)) {
				set("device", device)
			}
		case c.title == "Engine":
			engine = engineIn(c.value)
		case c.title == "# of req.":
			set("num_prompts", c.value)
		default:
			if key, ok := ciSettings[c.title]; ok {
				set(key, c.value)
			}
		}
	}
	if len(r.Metrics) == 0 {
		return
	}
	// Old tables have the settings in the name of the test only.
	for _, s := range fileFacts(r.Config.Get("test")) {
		r.Config.Add(s.Key, s.Value, from)
	}
	r.Config.Add("engine", engine, bench.FromDerived)
	counts(r)
	notMeasured(r)
	d.emit(r)
}

// ciObject reads a record of benchmark_results.json. The JSON inside
// benchmark_results.md says the same as its tables, column by column, and is
// not read.
func ciObject(d *document, o *object) bool {
	tool := ciTool(func(title string) bool {
		m := o.get(title)
		return m != nil && m.kind != jsonObject
	})
	if tool == "" {
		return false
	}
	var row []titled
	for i := range o.members {
		m := &o.members[i]
		switch m.kind {
		case jsonNumber, jsonString:
			row = append(row, titled{m.key, string(m.text), m.line})
		case jsonNull:
		default:
			d.errorf(m.line, "%s: expected a number or a string, found %s", printable(clip(m.key)), kindName(m.kind))
		}
	}
	d.ciRun(tool, row, bench.Source{Line: o.line, EndLine: o.end, Format: "json"})
	return true
}

// A ciTable is a table of benchmark_results.md.
type ciTable struct {
	tool    string
	columns []string
}

func startCITable(d *document, l line) bool {
	t := &ciTable{}
	for _, c := range tableCells(string(l.msg)) {
		t.columns = append(t.columns, strings.TrimSpace(c))
	}
	if t.tool = ciTool(func(title string) bool { return slices.Contains(t.columns, title) }); t.tool == "" {
		return false
	}
	d.open(t)
	return true
}

func (t *ciTable) line(d *document, l line) verdict {
	cells, end := d.tableRow(l, len(t.columns))
	if cells == nil {
		return end
	}
	row := make([]titled, len(cells))
	for i, c := range cells {
		row[i] = titled{t.columns[i], strings.TrimSpace(c), l.number}
	}
	d.ciRun(t.tool, row, bench.Source{Line: l.number, EndLine: l.number, Format: "md"})
	return taken
}

func (t *ciTable) close(d *document) { d.ctx.settle() }
