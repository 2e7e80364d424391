package parse

import (
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// A multiTurn is what benchmark_serving_multi_turn.py prints: its parameters,
// then for each share of warm-up samples a summary and a table of statistics.
//
//	Statistics summary (assuming 10% warmup samples):
//	runtime_sec = 215.810
//	requests_per_sec = 0.769
//	----------------------------------------------------------------
//	                   count     mean     std      min      25%  …
//	ttft_ms            166.0    78.22   67.63    45.91    59.94  …
type multiTurn struct {
	params  bench.Config
	run     *bench.Run
	columns []string
	gap     int
}

func startMultiTurn(d *document, l line) bool {
	if s := string(l.msg); s != "Parameters:" && !isTurnSummary(s) {
		return false
	}
	m := &multiTurn{}
	m.line(d, l)
	d.open(m)
	return true
}

func isTurnSummary(s string) bool {
	return s == "Statistics summary:" || strings.HasPrefix(s, "Statistics summary (assuming ")
}

// turnParams are the parameters that tell what was measured.
var turnParams = map[string]string{
	"model": "model", "num_clients": "concurrency", "num_conversations": "num_conversations", "active_conversations": "active_conversations", "seed": "seed",
	"min_tokens": "min_tokens", "max_tokens": "max_tokens", "input_num_turns": "input_num_turns", "input_common_prefix_num_tokens": "input_common_prefix_num_tokens",
	"input_prefix_num_tokens": "input_prefix_num_tokens", "input_num_tokens": "input_num_tokens", "output_num_tokens": "output_num_tokens",
}

// turnRows are the rows whose statistics are kept, as a family of latencies or
// as the mean under a name.
var (
	turnLatencies = map[string]string{"ttft_ms": "ttft", "tpot_ms": "tpot", "latency_ms": "e2el"}
	turnMeans     = map[string]string{
		"input_num_tokens": "mean_input_tokens", "output_num_tokens": "mean_output_tokens", "input_num_turns": "mean_input_turns",
		"output_num_chunks": "mean_output_chunks",
	}
)

func (t *multiTurn) line(d *document, l line) verdict {
	s := string(l.msg)
	if s == "" || isRule(l.msg, '-') {
		return taken
	}
	switch {
	case s == "Parameters:":
		if t.run != nil {
			return ended
		}
	case s == "Conversations Generation Parameters:":
	case isTurnSummary(s):
		t.emit(d)
		t.start(l.number, s)
	case t.statistic(d, s, l.number), t.setting(s):
	default:
		if t.gap++; t.gap > 3 {
			return ended
		}
		return passed
	}
	t.gap = 0
	if t.run != nil {
		t.run.Source.EndLine = l.number
	}
	return taken
}

func (t *multiTurn) start(number int, title string) {
	t.columns = nil
	t.run = &bench.Run{Source: bench.Source{Line: number, EndLine: number, Tool: "vllm-serve", Format: "text"}}
	t.run.Config.Add("test", "multi-turn", bench.FromLog)
	if _, share, ok := strings.Cut(title, "(assuming "); ok {
		share, _, _ = strings.Cut(share, "%")
		if plainNumber([]byte(share)) && share != "0" {
			// The same requests without the first of them: another test.
			t.run.Config.Set("test", "multi-turn without the first "+share+"%", bench.FromLog)
		}
	}
	t.run.Config.Merge(t.params)
}

// setting reads `num_clients=2`.
func (t *multiTurn) setting(s string) bool {
	key, value, ok := strings.Cut(s, "=")
	name := turnParams[key]
	if !ok || name == "" || t.run != nil {
		return false
	}
	if value != "None" && plausible(name, value) {
		t.params.Add(name, redact(name, tidyValue(name, value)), bench.FromLog)
	}
	return true
}

// statistic reads a line of the summary or of the table. A table that is too
// wide for the screen goes on below with the rest of its columns.
func (t *multiTurn) statistic(d *document, s string, number int) bool {
	if t.run == nil {
		return false
	}
	if label, value, ok := strings.Cut(s, " = "); ok {
		switch label {
		case "runtime_sec", "requests_per_sec":
			name := map[string]string{"runtime_sec": "duration", "requests_per_sec": "request_throughput"}[label]
			if m, ok := d.metric(name, value, number, label); ok {
				t.run.Add(m)
			}
			return true
		case "warmup_runtime_sec", "total_runtime_incl_warmup_sec":
			return true
		}
		return false
	}
	fields := strings.Fields(strings.TrimSuffix(s, "\\"))
	if columns := turnColumns(fields); columns != nil {
		t.columns = columns
		return true
	}
	if len(fields) == 0 || len(fields) != len(t.columns)+1 {
		return false
	}
	row := fields[0]
	family, mean := turnLatencies[row], turnMeans[row]
	for i, stat := range t.columns {
		name := ""
		switch {
		case stat == "count" && row == "ttft_ms":
			name = "completed"
		case family != "" && stat != "count":
			name = stat + "_" + family + "_ms"
		case stat == "mean":
			name = mean
		}
		if name == "" {
			continue
		}
		if m, ok := d.metric(name, fields[i+1], number, row+" "+stat); ok {
			t.run.Add(m)
		}
	}
	return true
}

// turnColumns reads the header of a table: count mean std min 25% 50% … max. It
// returns nil for anything else.
func turnColumns(fields []string) []string {
	var columns []string
	for _, f := range fields {
		p, percentile := strings.CutSuffix(f, "%")
		switch {
		case f == "50%":
			f = "median"
		case percentile && plainNumber([]byte(p)):
			f = "p" + p
		case f != "count" && f != "mean" && f != "std" && f != "min" && f != "max":
			return nil
		}
		columns = append(columns, f)
	}
	return columns
}

func (t *multiTurn) emit(d *document) {
	if r := t.run; r != nil && r.Has("mean_ttft_ms") {
		counts(r)
		d.take(r)
		d.emit(r)
	}
	t.run = nil
}

func (t *multiTurn) close(d *document) { t.emit(d) }

// turnStats are the requests of --stats-json-output, a record each.
type turnStats struct {
	ttft, tpot, latency    samples
	first, last            int // lines
	start, lastStart, end  float64
	input, output, turns   float64
	clients, conversations map[string]bool
}

// turnObject reads a record of one request. They are one run together.
func turnObject(d *document, o *object) bool {
	var x [7]float64
	for i, key := range [...]string{"ttft_ms", "tpot_ms", "latency_ms", "start_time_ms", "input_num_tokens", "output_num_tokens", "input_num_turns"} {
		m := o.get(key)
		if m == nil {
			return false
		}
		metric, ok := d.metric(key, string(m.text), m.line, key)
		if !ok || m.kind != jsonNumber {
			return true // told, if it is no number
		}
		x[i] = metric.Value
	}
	t := d.turns
	if t == nil {
		t = &turnStats{first: o.line, start: x[3], lastStart: x[3], clients: map[string]bool{}, conversations: map[string]bool{}}
		d.turns = t
	}
	t.last = o.end
	t.ttft.add(x[0])
	if x[5] > 1 { // one token has no time per token
		t.tpot.add(x[1])
	}
	t.latency.add(x[2])
	t.start = min(t.start, x[3])
	if x[3] >= t.lastStart {
		t.lastStart, t.end = x[3], x[3]+x[2]
	}
	t.input, t.output, t.turns = t.input+x[4], t.output+x[5], t.turns+x[6]
	for _, set := range [...]struct {
		key string
		in  map[string]bool
	}{{"client_id", t.clients}, {"conversation_id", t.conversations}} {
		if v := o.scalar(set.key); v != "" && len(set.in) < 1<<16 {
			set.in[v] = true
		}
	}
	return true
}

// flushTurns makes a run of the requests read.
func (d *document) flushTurns() {
	t := d.turns
	if d.turns = nil; t == nil {
		return
	}
	r := &bench.Run{Source: bench.Source{Line: t.first, EndLine: t.last, Tool: "vllm-serve", Format: "json"}}
	r.Config.Add("test", "multi-turn", bench.FromLog)
	r.Config.Add("concurrency", strconv.Itoa(len(t.clients)), bench.FromDerived)
	r.Config.Add("num_conversations", strconv.Itoa(len(t.conversations)), bench.FromDerived)
	add := func(name string, x float64) {
		r.Add(bench.Metric{Name: name, Value: x, Decimals: -1, Derived: true})
	}
	n := float64(t.latency.n)
	add("completed", n)
	add("total_input_tokens", t.input)
	add("total_output_tokens", t.output)
	add("mean_input_turns", t.turns/n)
	if seconds := (t.end - t.start) / 1000; seconds > 0 {
		add("duration", seconds)
		add("request_throughput", n/seconds)
		add("output_throughput", t.output/seconds)
		add("total_token_throughput", (t.input+t.output)/seconds)
	}
	t.ttft.statistics(r, "ttft", 1)
	t.tpot.statistics(r, "tpot", 1)
	t.latency.statistics(r, "e2el", 1)
	counts(r)
	d.emit(r)
}
