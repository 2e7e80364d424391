package parse

import (
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// serveKeys rename the keys of a saved serving result: typos of old versions,
// and counters that have a name of ours.
var serveKeys = map[string]string{
	"request_inthroughput":          "request_throughput",
	"request_goodput:":              "request_goodput",
	"spec_decode_acceptance_rate":   "draft_acceptance_rate", // percent
	"spec_decode_acceptance_length": "mean_acceptance_length",
	"spec_decode_num_drafts":        "num_drafts",
	"spec_decode_draft_tokens":      "num_draft_tokens",
	"spec_decode_accepted_tokens":   "num_accepted_tokens",
	"accuracy_rate":                 "accuracy",     // percent, of a patched client
	"correct_rate(%)":               "correct_rate", // of structured output
}

// percentKeys are the keys whose values are percent.
var percentKeys = map[string]bool{"spec_decode_acceptance_rate": true, "accuracy_rate": true, "correct_rate(%)": true, "cache_hit_rate_pct": true}

// serveObject reads a saved result of vLLM's or SGLang's serving benchmark.
func serveObject(d *document, o *object) bool {
	if o.get("completed") == nil || o.get("duration") == nil {
		return false
	}
	if isSglang(o) {
		return sglangObject(d, o)
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "vllm-serve", Format: "json"}}
	d.serveMembers(r, o)
	perRequest(r, o)
	notMeasured(r)
	d.pending = pending{}
	d.emit(r)
	return true
}

// serveMembers reads the members of a saved result: measurements and settings.
func (d *document) serveMembers(r *bench.Run, o *object) {
	args := d.room.args.all[:0]
	for i := range o.members {
		m := &o.members[i]
		name := m.key
		if n, ok := serveKeys[name]; ok {
			name = n
		}
		if o.get("request_inthroughput") != nil {
			// v0.3: the whole latency over all tokens, as in its text.
			name = strings.Replace(name, "_tpot_ms", "_latency_per_token_ms", 1)
		}
		if r.Source.Tool == "sglang-serve" {
			name = sglangName(name)
		}
		if isServeMetric(name) {
			d.jsonMetric(r, m, name)
			continue
		}
		if m.kind == jsonString || m.kind == jsonNumber || m.kind == jsonBool {
			args.Add(m.key, boolWord(string(m.text)), bench.FromJSON)
		} else if m.key == "request_rate" && string(m.text) == "Infinity" {
			args.Add(m.key, "inf", bench.FromJSON)
		}
	}
	d.room.args.all = args
	r.Config = d.room.args.settings(args, bench.FromJSON)
	if l := o.scalar("label"); l != "" {
		r.Label = redact("", l)
	}
	for i, x := range o.numbers("spec_decode_per_position_acceptance_rates") {
		r.Add(bench.Metric{Name: "acceptance_rate_pos" + strconv.Itoa(i), Value: x, Decimals: -1})
	}
	counts(r)
}

// boolWord writes a JSON boolean as argparse's Namespace would.
func boolWord(s string) string {
	if s == "false" {
		return "False"
	}
	return s
}

// jsonMetric adds a member as a metric. Null is not measured; a wrong type
// loses the metric with a message, not the run.
func (d *document) jsonMetric(r *bench.Run, m *member, name string) {
	metric, ok := d.jsonNumber(m, name)
	if !ok || name == "rtfx" && metric.Value == 0 {
		return
	}
	if percentKeys[m.key] {
		metric = metric.Percent()
	}
	r.Add(metric)
}

// jsonNumber reads a member as a metric.
func (d *document) jsonNumber(m *member, name string) (bench.Metric, bool) {
	switch m.kind {
	case jsonNumber:
		metric, ok := d.metric(name, string(m.text), m.line, m.key)
		metric.Decimals = -1
		return metric, ok
	case jsonNull:
	case jsonString:
		if !isNothing(string(m.text)) {
			d.errorf(m.line, "%s: expected a number, found %q", printable(clip(m.key)), printable(clip(m.text)))
		}
	default:
		d.errorf(m.line, "%s: expected a number, found %s", printable(clip(m.key)), kindName(m.kind))
	}
	return bench.Metric{}, false
}

func kindName(k jsonKind) string {
	return [...]string{"null", "a boolean", "a number", "a string", "an object", "a list"}[k]
}

// isServeMetric reports whether a key is a measurement rather than a setting.
func isServeMetric(name string) bool {
	if _, _, ok := bench.SplitLatency(name); ok {
		return true
	}
	return bench.IsKnown(name)
}

// perRequest computes the statistics that a result does not give from the
// per-request lists of --save-detailed, as vLLM computes them: only over
// requests without an error (a failed one may have streamed a part), TPOT
// without the first token, percentiles with linear interpolation, the standard
// deviation of the population.
func perRequest(r *bench.Run, o *object) {
	ttfts, itls, outputs := o.numbers("ttfts"), o.get("itls"), o.numbers("output_lens")
	if len(ttfts) == 0 || len(outputs) != len(ttfts) {
		return
	}
	var ttft, tpot, e2el samples
	haveITL := itls != nil && itls.list != nil && len(itls.list.rows) == len(ttfts)
	completed := func(i int) bool { return outputs[i] > 0 }
	if e := o.get("errors"); e != nil && e.list != nil && len(e.list.filled) == len(ttfts) {
		completed = func(i int) bool { return !e.list.filled[i] }
	}
	for i, first := range ttfts {
		if !completed(i) {
			continue
		}
		ttft.add(1000 * first)
		if haveITL {
			sum := itls.list.rows[i].sum
			e2el.add(1000 * (first + sum))
			if outputs[i] > 1 {
				tpot.add(1000 * sum / (outputs[i] - 1))
			}
		}
	}
	ttft.statistics(r, "ttft", 1)
	tpot.statistics(r, "tpot", 1)
	if haveITL {
		all := samples{itls.list.nums}
		if failed := itls.list.without(completed); failed != nil {
			all = samples{*failed}
		}
		all.statistics(r, "itl", 1000)
	}
	e2el.statistics(r, "e2el", 1)
}

// without returns the numbers of a nested list but for those rows that are not
// to be kept, nil if all of them are.
func (l *list) without(keep func(i int) bool) *floats {
	drop := false
	for i, r := range l.rows {
		drop = drop || r.n > 0 && !keep(i)
	}
	if !drop {
		return nil
	}
	var out floats
	row, left := -1, 0
	for _, b := range l.nums.blocks {
		for _, x := range b {
			for left == 0 {
				row++
				left = l.rows[row].n
			}
			left--
			if keep(row) {
				out.add(x)
			}
		}
	}
	return &out
}

// numbers returns a list of numbers, nil if the key has none.
func (o *object) numbers(key string) []float64 {
	m := o.get(key)
	if m == nil || m.list == nil || len(m.list.rows) > 0 {
		return nil
	}
	return m.list.nums.slice()
}

// serveRow reads a row of a CSV file whose columns are the keys of the JSON.
func serveRow(d *document, t *csvTable, row csvRow) {
	r := &bench.Run{Source: bench.Source{Line: row.line, EndLine: row.end, Tool: "vllm-serve", Format: "csv"}}
	var args bench.Config
	for i, key := range t.header {
		value := strings.TrimSpace(row.cells[i])
		name := key
		if n, ok := serveKeys[name]; ok {
			name = n
		}
		if isServeMetric(name) {
			if m, ok := d.metric(name, value, row.line, key); ok {
				m.Decimals = -1
				if percentKeys[key] {
					m = m.Percent()
				}
				r.Add(m)
			}
		} else if list, ok := strings.CutPrefix(value, "["); ok && key == "spec_decode_per_position_acceptance_rates" {
			for k, x := range strings.Split(strings.TrimSuffix(list, "]"), ", ") {
				if m, ok := d.metric("acceptance_rate_pos"+strconv.Itoa(k), x, row.line, key); ok {
					m.Decimals = -1
					r.Add(m)
				}
			}
		} else if key != "" && key != "source_file" && !strings.HasPrefix(value, "[") {
			args.Add(key, value, bench.FromJSON)
		}
	}
	if len(r.Metrics) == 0 {
		return
	}
	r.Config = d.room.args.settings(args, bench.FromJSON)
	counts(r)
	notMeasured(r)
	d.emit(r)
}

// pytorchObject reads the part of a record of *.pytorch.json that holds a
// metric. Each record repeats the rest of the result, which is read as a run by
// then: the metrics of equal ones are those of one run.
func pytorchObject(d *document, o *object) bool {
	name, values := o.scalar("name"), o.numbers("benchmark_values")
	n := len(d.runs)
	if len(values) != 1 || !isServeMetric(name) || n == 0 || d.runs[n-1].Source.Line < o.line || d.runs[n-1].Source.Tool != "vllm-serve" {
		return false
	}
	r := d.runs[n-1]
	if f := figures(r); d.records.run != nil && f == d.records.figures {
		d.runs, r = d.runs[:n-1], d.records.run
	} else {
		d.records = pytorchRecords{r, f}
	}
	r.Source.EndLine = max(r.Source.EndLine, o.end)
	r.Add(bench.Metric{Name: name, Value: values[0], Decimals: -1})
	return true
}

// pytorchRecords is the run whose records are read, and what they all repeat.
type pytorchRecords struct {
	run     *bench.Run
	figures string
}
