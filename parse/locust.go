package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// locust reads the console tables and the _stats.csv of locust. The tables
// repeat every two seconds; the last one counts.
var locust = Format{
	Tool:     "locust",
	Programs: []program{{name: "locust"}},
	Flags: map[string]string{"u": "concurrency", "users": "concurrency", "t": "run_time", "p": "input_len", "o": "output_len", "r": "spawn_rate",
		"prompt-tokens": "input_len", "max-tokens": "output_len", "H": "", "host": "", "f": "", "qps": "request_rate", "m": "model",
		"provider": "provider", "summary-file": "", "headless": ""},
	Reads:   "console tables (the last of repeated ones), _stats.csv",
	Since:   "0.8 (2017)",
	Example: "POST     /v1/completions        119     0(0.00%) |      8       6       9      8 |    1.01        0.00",
	Derives: "completed = requests − failures",
	Limits:  "times in the console are whole milliseconds, cut off; _stats_history.csv, the JSON output and headers before 1.0 are not read",
	Lines: []Start{
		{Prefix: "Type ", Read: startLocust},
		{Prefix: "Name ", Read: startLocust},
	},
	Columns: []string{"Request Count", "Failure Count", "Requests/s", "Name"},
	Row:     locustRow,
}

// locustState is the last statistics table that was read.
type locustState struct {
	rows        []locustEntry
	first, last int
}

// A locustEntry is one row: a request, or a metric that is reported as one.
type locustEntry struct {
	kind, name string
	metrics    []bench.Metric // named without their family: mean, p99, …
	reqs       float64
	fails      float64
	rate       float64
	failRate   float64
	hasFails   bool // old versions have no failure rate
	decimals   int
}

// A locustTable is a console table while it is read.
type locustTable struct {
	percentiles []string // columns of a percentile table, nil for a statistics table
	first       bool     // # reqs stands in front of the percentiles (old versions)
	rows        int
}

func startLocust(d *document, l line) bool {
	s := string(l.msg)
	if !strings.Contains(s, "# reqs") {
		return false
	}
	t := &locustTable{}
	if strings.Contains(s, "50%") {
		fields := strings.Fields(s)
		for _, f := range fields {
			if p, ok := strings.CutSuffix(f, "%"); ok && plainNumber([]byte(p)) {
				t.percentiles = append(t.percentiles, p)
			}
		}
		t.first = strings.Index(s, "# reqs") < strings.Index(s, "50%")
	} else {
		if !strings.Contains(s, "# fails") {
			return false
		}
		d.locust = locustState{first: l.number}
	}
	d.open(t)
	return true
}

func (t *locustTable) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		return ended
	}
	if bytes.HasPrefix(bytes.TrimSpace(l.msg), []byte("---")) {
		return taken
	}
	var ok bool
	if t.percentiles == nil {
		ok = d.locust.stats(string(l.msg))
	} else {
		ok = t.percentile(d, string(l.msg))
	}
	if !ok {
		if t.rows == 0 {
			return passed
		}
		return ended
	}
	t.rows++
	d.locust.last = l.number
	return taken
}

// stats reads a row of the statistics table from the right: failures/s, req/s,
// four times, fails, reqs; the rest is the name.
func (s *locustState) stats(row string) bool {
	fields := strings.Fields(strings.ReplaceAll(row, "|", " "))
	i := slices.IndexFunc(fields, func(f string) bool { return strings.Contains(f, "(") && strings.HasSuffix(f, "%)") })
	if i < 1 {
		return false
	}
	before := i - 1 // the number of requests
	failText, _, _ := strings.Cut(fields[i], "(")
	if failText == "" { // `0 (0.00%)`
		failText = fields[i-1]
		before--
	}
	rest := fields[i+1:]
	if before < 0 || len(rest) < 5 {
		return false
	}
	e := locustEntry{}
	values := make([]float64, 0, 6)
	for _, f := range append([]string{fields[before], failText}, rest...) {
		x, _, ok := readNumber(f)
		if !ok {
			return false
		}
		values = append(values, x)
	}
	e.reqs, e.fails = values[0], values[1]
	for k, name := range [...]string{"mean", "min", "max", "median"} {
		e.metrics = append(e.metrics, bench.Metric{Name: name, Value: values[2+k]})
	}
	e.rate, e.decimals = values[6], 2
	if len(values) > 7 {
		e.failRate, e.hasFails = values[7], true
	}
	e.setName(fields[:before])
	s.add(e)
	return true
}

func (e *locustEntry) setName(words []string) {
	if len(words) > 1 {
		e.kind, e.name = words[0], strings.Join(words[1:], " ")
	} else if len(words) == 1 {
		e.name = words[0]
	}
}

func (s *locustState) add(e locustEntry) {
	if len(s.rows) < 1000 {
		s.rows = append(s.rows, e)
	}
}

// percentile reads a row of the percentile table, which belongs to the
// statistics table above it.
func (t *locustTable) percentile(d *document, row string) bool {
	fields := strings.Fields(row)
	n := len(t.percentiles) + 1 // and # reqs
	if len(fields) < n+1 {
		return false
	}
	values := fields[len(fields)-n:]
	if t.first {
		values = values[1:]
	}
	var e locustEntry
	e.setName(fields[:len(fields)-n])
	i := slices.IndexFunc(d.locust.rows, func(x locustEntry) bool { return x.kind == e.kind && x.name == e.name })
	if i < 0 {
		return true
	}
	for k, p := range t.percentiles {
		x, _, ok := readNumber(values[k])
		if !ok {
			continue
		}
		if p != "100" {
			d.locust.rows[i].metrics = append(d.locust.rows[i].metrics, bench.Metric{Name: "p" + p, Value: x})
		}
	}
	return true
}

// close emits the run of a table: at once behind its percentiles, which are
// printed at the end only. A statistics table waits, since it may repeat.
func (t *locustTable) close(d *document) {
	if t.percentiles != nil && t.rows > 0 && !d.locust.hasMetrics() {
		d.flushLocust()
	}
}

// hasMetrics reports whether the table holds METRIC rows, as fw-ai's do.
func (s *locustState) hasMetrics() bool {
	return slices.ContainsFunc(s.rows, func(e locustEntry) bool { return e.kind == "METRIC" })
}

// flushLocust emits the last table read, if it has not been emitted.
func (d *document) flushLocust() {
	s := d.locust
	d.locust = locustState{}
	if len(s.rows) == 0 {
		return
	}
	r := &bench.Run{Source: bench.Source{Line: s.first, EndLine: s.last, Tool: "locust", Format: "text"}}
	s.fill(r)
	if r.Completed == nil && len(r.Metrics) == 0 {
		return
	}
	d.emit(r)
}

// locustMetrics are the pseudo requests of fw-ai and the families they are.
var locustMetrics = map[string]string{
	"time_to_first_token": "ttft", "total_latency": "e2el", "latency_per_token": "tpot",
}

// fill makes a run of a table. The total mixes requests and pseudo requests
// where there are METRIC rows, so it counts only where there are none.
func (s *locustState) fill(r *bench.Run) {
	if s.hasMetrics() {
		r.Source.Tool = "fw-ai"
		for _, e := range s.rows {
			if e.kind == "METRIC" {
				e.metric(r)
			}
		}
		s.requests(r)
		return
	}
	for _, e := range s.rows {
		if e.name != "Aggregated" && e.name != "Total" && len(s.rows) > 2 {
			continue
		}
		if e.kind != "" {
			r.Config.Add("endpoint", redact("", e.kind+" "+e.name), bench.FromLog)
		}
		e.request(r)
	}
}

// metric adds a METRIC row. One without requests was not measured.
func (e *locustEntry) metric(r *bench.Run) {
	if e.reqs == 0 {
		return
	}
	if e.name == "total_latency" {
		n := int(e.reqs)
		r.Completed = &n
		r.Add(bench.Metric{Name: "completed", Value: e.reqs})
		r.Add(bench.Metric{Name: "request_throughput", Value: e.rate, Decimals: e.decimals})
	}
	if family, ok := locustMetrics[e.name]; ok {
		e.latencies(r, family)
		return
	}
	switch e.name {
	case "num_tokens", "completion_tokens", "generation_tokens":
		r.Add(bench.Metric{Name: "mean_output_tokens", Value: e.metrics[0].Value})
	case "prompt_tokens":
		r.Add(bench.Metric{Name: "mean_input_tokens", Value: e.metrics[0].Value})
	}
}

// requests adds the failures of the real requests.
func (s *locustState) requests(r *bench.Run) {
	failed, sent := 0.0, 0.0
	for _, e := range s.rows {
		if e.kind != "METRIC" && e.kind != "" {
			failed += e.fails
			sent += e.reqs
		}
	}
	if sent > 0 {
		r.Add(bench.Metric{Name: "failed", Value: failed})
	}
}

// request adds a row of real requests.
func (e *locustEntry) request(r *bench.Run) {
	if r.Completed != nil || e.reqs < e.fails || e.reqs > 1e12 {
		return
	}
	done, sent := int(e.reqs-e.fails), int(e.reqs)
	r.Completed, r.Attempted = &done, &sent
	r.Add(bench.Metric{Name: "completed", Value: e.reqs - e.fails})
	r.Add(bench.Metric{Name: "failed", Value: e.fails})
	if e.reqs == 0 {
		return
	}
	r.Add(bench.Metric{Name: "request_throughput", Value: e.rate, Decimals: e.decimals})
	if e.hasFails {
		r.Add(bench.Metric{Name: "failures_per_s", Value: e.failRate, Decimals: e.decimals})
	}
	e.latencies(r, "e2el")
}

func (e *locustEntry) latencies(r *bench.Run, family string) {
	for _, m := range e.metrics {
		m.Name += "_" + family + "_ms"
		if m.Value == 0 && e.decimals == 2 {
			continue // below a millisecond, and cut off
		}
		r.Add(m)
	}
}

// into gives the summary of fw-ai what only the tables above it tell.
func (s *locustState) into(r *bench.Run) {
	if s.hasMetrics() {
		s.requests(r)
		for _, e := range s.rows {
			if family, ok := locustMetrics[e.name]; ok && e.kind == "METRIC" && e.reqs > 0 {
				e.latencies(r, family)
			}
		}
		r.Source.Line = min(r.Source.Line, s.first)
	}
	*s = locustState{}
}

// locustRow reads a row of _stats.csv. The file ends with its total.
func locustRow(d *document, t *csvTable, row csvRow) {
	if len(d.locust.rows) == 0 {
		d.locust.first = row.line
	}
	d.locust.last = row.end
	e := locustEntry{kind: t.get(row, "Type"), name: t.get(row, "Name"), decimals: -1, hasFails: true}
	read := func(column string) float64 {
		m, _ := d.metric(column, t.get(row, column), row.line, column)
		return m.Value
	}
	e.reqs, e.fails, e.rate, e.failRate = read("Request Count"), read("Failure Count"), read("Requests/s"), read("Failures/s")
	for _, c := range [...]struct{ column, name string }{
		{"Average Response Time", "mean"}, {"Median Response Time", "median"}, {"Min Response Time", "min"}, {"Max Response Time", "max"},
	} {
		if m, ok := d.metric(c.name, t.get(row, c.column), row.line, c.column); ok {
			m.Decimals = -1
			e.metrics = append(e.metrics, m)
		}
	}
	for i, h := range t.header {
		if p, ok := strings.CutSuffix(h, "%"); ok && p != "100" && plainNumber([]byte(p)) {
			if m, ok := d.metric("p"+p, strings.TrimSpace(row.cells[i]), row.line, h); ok {
				e.metrics = append(e.metrics, m)
			}
		}
	}
	d.locust.add(e)
	if e.name != "Aggregated" && e.name != "Total" {
		return
	}
	s := d.locust
	d.locust = locustState{}
	r := &bench.Run{Source: bench.Source{Line: s.first, EndLine: s.last, Tool: "locust", Format: "csv"}}
	s.fill(r)
	d.emit(r)
}
