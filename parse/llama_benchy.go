package parse

import (
	"math"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// llamaBenchy reads llama-benchy: the tests of llama-bench, sent by a client to
// any server. Its table is that of llama-bench with more columns.
var llamaBenchy = Format{
	Tool:     "llama-benchy",
	Programs: []program{{name: "llama-benchy"}},
	Flags:    map[string]string{"pp": "", "tg": "", "depth": "", "concurrency": "", "post-run-cmd": "", "book-url": "", "save-result": "", "format": "", "tokenizer": ""},
	Reads:    "Markdown, console log, JSON, CSV",
	Since:    "0.1 (2026-01)",
	Example:  "| org/model-7B | pp2048 (c4) | 4096.00 ± 12.50 | 1310.40 ± 402.10 | | | 1562.50 ± 310.20 | 1512.50 ± 310.20 | 1562.50 ± 310.20 |",
	Derives:  "quant, depth, concurrency, input_len of a tg row from the pp row above it; from JSON the sample standard deviation and samples",
	Limits: "a row is a run, of JSON each of the two phases; avg_ts is t/s or t/s (total); the spread of the tables is that of a population (divided by n), and at a concurrency above 1 the one of " +
		"times and of figures per request is over requests, not runs; times keep their own names (ttfr_ms, est_ppt_ms, e2e_ttft_ms): est_ppt_ms is an estimate, and e2e_ttft_ms waits for content where TTFT of other " +
		"tools does not; the engine behind the endpoint is not told",
	Lines: []Start{
		{Prefix: "| model", Read: startBenchyTable},
		{Prefix: "|model", Read: startBenchyTable},
		{Prefix: "llama-benchy (", Read: readBenchyVersion},
		{Prefix: "date: ", Read: readBenchyMode},
		{Prefix: "Run 1/", Read: readBenchyRuns},
	},
	Keys:    []string{"prefix_caching_enabled"},
	Object:  benchyObject,
	Columns: []string{"t_s_mean", "model", "test_name"},
	Row:     benchyCSVRow,
}

// benchyState is what a console log says around its table.
type benchyState struct {
	version string
	runs    int
	rows    []*bench.Run // that wait for the lines below the table
	prompt  string       // of the pp row above
}

// benchyColumns are the figures of a row by their headers in the table and in
// the CSV.
var benchyColumns = []struct{ name, header, csv string }{
	{"avg_ts", "t/s", "t_s"},
	{"avg_ts", "t/s (total)", ""},
	{"avg_ts_per_request", "t/s (req)", "t_s_req"},
	{"peak_ts", "peak t/s", "peak_ts"},
	{"peak_ts_per_request", "peak t/s (req)", "peak_ts_req"},
	{"ttfr_ms", "ttfr (ms)", "ttfr"},
	{"est_ppt_ms", "est_ppt (ms)", "est_ppt"},
	{"e2e_ttft_ms", "e2e_ttft (ms)", "e2e_ttft"},
}

func startBenchyTable(d *document, l line) bool {
	t := &llamaTable{tool: "llama-benchy", header: tableCells(string(l.msg)), line0: l.number}
	t.test, t.ts = -1, -1
	first := false
	for i, h := range t.header {
		switch h {
		case "test":
			t.test = i
		case "t/s", "t/s (total)":
			t.ts = i
		case "ttfr (ms)":
			first = true
		}
	}
	if t.test < 0 || t.ts < 0 || !first || t.header[0] != "model" {
		return false
	}
	d.benchy.rows, d.benchy.prompt = nil, ""
	d.open(t)
	return true
}

// benchyRow reads a row of the Markdown table.
func (t *llamaTable) benchyRow(d *document, cells []string, number int) {
	r := &bench.Run{Source: bench.Source{Line: number, EndLine: number, Tool: "llama-benchy", Format: "md"}}
	for _, c := range benchyColumns {
		for i, h := range t.header {
			if h != c.header || cells[i] == "" {
				continue
			}
			mean, spread, ok := meanAndSpread(cells[i])
			if !ok {
				d.errorf(number, "%s: expected a number ± a number, found %q", h, printable(clip(cells[i])))
				continue
			}
			m := bench.Metric{Name: c.name, Value: mean.Value, Decimals: mean.Decimals}
			if spread != nil {
				m.Std, m.HasStd = spread.Value, true
			}
			r.Add(m)
		}
	}
	if t.header[t.ts] == "t/s" { // the column is called so where nothing ran at once
		defer r.Config.Add("concurrency", "1", bench.FromDerived)
	}
	if !d.benchyTest(r, cells[t.test], bench.FromLog) || !r.Has("avg_ts") {
		return
	}
	r.Config.Add("model", redact("", strings.Trim(cells[0], "*` ")), bench.FromLog)
	r.Config.Add("client_version", d.benchy.version, bench.FromLog)
	t.rows++
	t.made = append(t.made, r)
	d.emit(r)
	d.benchyRepeats(r)
	d.benchy.rows = append(d.benchy.rows, r)
}

// benchyRepeats tells the number of runs where the log or the command does.
func (d *document) benchyRepeats(r *bench.Run) {
	n := d.benchy.runs
	if n == 0 {
		n, _ = strconv.Atoi(r.Config.Get("runs"))
	}
	if n > 0 {
		r.Metrics[0].N = n
	}
}

// benchyTest reads the name of a test: pp2048, tg32 @ d4096, pp2048 @ d4096 (c4),
// ctx_pp @ d4096.
func (d *document) benchyTest(r *bench.Run, s string, from bench.From) bool {
	name := strings.Trim(s, "*` ")
	if test, c, ok := strings.Cut(name, " (c"); ok {
		if c, ok = strings.CutSuffix(c, ")"); ok && allDigits(c) {
			r.Config.Add("concurrency", c, from)
			name = test
		}
	}
	if phase, depth, _ := strings.Cut(name, " @ d"); phase == "ctx_pp" || phase == "ctx_tg" {
		r.Config.Add("test", phase, from)
		if allDigits(depth) {
			r.Config.Add("depth", depth, from)
		}
		return true
	}
	if !setTest(r, name) {
		d.errorf(r.Source.Line, "test: expected a name like pp2048 or tg32, found %q", printable(clip(s)))
		return false
	}
	// A tg row is about the prompt of the pp row above it: tg32 behind pp512 and
	// behind pp8192 are two tests.
	if prompt, ok := strings.CutPrefix(r.Config.Get("test"), "pp"); ok {
		d.benchy.prompt = prompt
	} else {
		r.Config.Add("input_len", d.benchy.prompt, bench.FromDerived)
	}
	return true
}

// readBenchyVersion reads `llama-benchy (0.4.0)`, above the table in a console
// log and below it.
func readBenchyVersion(d *document, l line) bool {
	version := strings.TrimPrefix(strings.Trim(string(l.msg[len("llama-benchy"):]), " ()"), "build: ")
	if version == "" || len(version) > 40 || strings.ContainsAny(version, " :") {
		return false
	}
	if len(d.benchy.rows) == 0 {
		d.benchy = benchyState{version: redact("", version)}
	}
	for _, r := range d.benchy.rows {
		r.Config.Add("client_version", redact("", version), bench.FromLog)
	}
	d.closeBlock()
	return true
}

// readBenchyMode reads the line below: `date: … | latency mode: generation`.
func readBenchyMode(d *document, l line) bool {
	_, mode, ok := strings.Cut(string(l.msg), " | latency mode: ")
	if !ok || len(d.benchy.rows) == 0 {
		return false
	}
	for _, r := range d.benchy.rows {
		r.Config.Add("latency_mode", redact("", strings.TrimSpace(mode)), bench.FromLog)
	}
	d.benchy = benchyState{}
	return true
}

// readBenchyRuns reads `Run 1/3 (batch size 4)...`.
func readBenchyRuns(d *document, l line) bool {
	n, rest, _ := strings.Cut(string(l.msg[len("Run 1/"):]), " ")
	if !allDigits(n) || !strings.HasPrefix(rest, "(batch size ") {
		return false
	}
	d.benchy.runs, _ = strconv.Atoi(n)
	return true
}

// benchyCSVRow reads a row of the CSV output.
func benchyCSVRow(d *document, t *csvTable, row csvRow) {
	r := &bench.Run{Source: bench.Source{Line: row.line, EndLine: row.end, Tool: "llama-benchy", Format: "csv"}}
	for _, c := range benchyColumns {
		if c.csv == "" {
			continue
		}
		m, ok := d.metric(c.name, t.get(row, c.csv+"_mean"), row.line, c.csv+"_mean")
		if !ok {
			continue
		}
		m.Decimals = -1
		if std, ok := d.metric("", t.get(row, c.csv+"_std"), row.line, c.csv+"_std"); ok {
			m.Std, m.HasStd = std.Value, true
		}
		r.Add(m)
	}
	if !d.benchyTest(r, t.get(row, "test_name"), bench.FromLog) || !r.Has("avg_ts") {
		return
	}
	r.Config.Add("model", redact("", t.get(row, "model")), bench.FromLog)
	d.emit(r)
	d.benchyRepeats(r)
}

// benchyObject reads the JSON output. Each of its benchmarks has two phases, and
// each is a run, as it is a row of the table.
func benchyObject(d *document, o *object) bool {
	list := o.get("benchmarks")
	if list == nil || list.list == nil || o.get("latency_mode") == nil {
		return false
	}
	for _, b := range list.list.objects {
		for _, phase := range [...]string{"pp", "tg"} {
			d.benchyPhase(o, b, phase)
		}
	}
	return true
}

func (d *document) benchyPhase(report, b *object, phase string) {
	speed := b.get(phase + "_throughput")
	if speed == nil || speed.kind == jsonNull {
		return // not measured
	}
	r := &bench.Run{Source: bench.Source{Line: b.line, EndLine: b.end, Tool: "llama-benchy", Format: "json"}}
	alone := b.scalar("concurrency") == "1"
	d.benchyMetric(r, b, phase+"_throughput", "avg_ts", true)
	d.benchyMetric(r, b, phase+"_req_throughput", "avg_ts_per_request", alone)
	if phase == "tg" {
		d.benchyMetric(r, b, "peak_throughput", "peak_ts", true)
		d.benchyMetric(r, b, "peak_req_throughput", "peak_ts_per_request", alone)
	} else {
		for _, name := range [...]string{"ttfr", "est_ppt", "e2e_ttft"} {
			d.benchyMetric(r, b, name, name+"_ms", alone)
		}
	}
	if !r.Has("avg_ts") {
		return // told by then
	}
	test, size := phase, b.scalar(map[string]string{"pp": "prompt_size", "tg": "response_size"}[phase])
	if b.scalar("is_context_prefill_phase") == "true" {
		test, size = "ctx_"+phase, ""
	}
	r.Config.Add("test", test+size, bench.FromJSON)
	if test == "tg" {
		r.Config.Add("input_len", b.scalar("prompt_size"), bench.FromJSON)
	}
	if depth := b.scalar("context_size"); depth != "0" {
		r.Config.Add("depth", depth, bench.FromJSON)
	}
	r.Config.Add("concurrency", b.scalar("concurrency"), bench.FromJSON)
	for key, name := range map[string]string{"model": "model", "version": "client_version", "latency_mode": "latency_mode", "prompt_source": "dataset"} {
		r.Config.Add(name, redact("", report.scalar(key)), bench.FromJSON)
	}
	d.emit(r)
}

// benchyMetric reads {"mean": …, "std": …, "values": […]}. The values are those
// of the runs, or, where perRun is false, of requests: those are no samples.
func (d *document) benchyMetric(r *bench.Run, b *object, key, name string, perRun bool) {
	m := b.get(key)
	if m == nil || m.kind == jsonNull {
		return
	}
	if m.object == nil {
		d.errorf(m.line, "%s: expected an object with mean and std, found %s", key, kindName(m.kind))
		return
	}
	mean, ok := d.numberAt(m.object, "mean")
	if !ok {
		if m.object.get("mean") == nil {
			d.errorf(m.line, "%s: expected a mean, found none", key)
		}
		return
	}
	metric := bench.Metric{Name: name, Value: mean, Decimals: -1}
	if std, ok := d.numberAt(m.object, "std"); ok {
		metric.Std, metric.HasStd = std, true
	}
	if values := m.object.numbers("values"); perRun && len(values) > 0 {
		metric.N, metric.Samples = len(values), values
		if n := float64(len(values)); n > 1 {
			metric.Std *= math.Sqrt(n / (n - 1)) // of a sample, as everywhere else
		}
	}
	r.Add(metric)
}
