package parse

import (
	"bytes"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// llmPerf reads the summary of llmperf's token benchmark, printed and saved.
var llmPerf = Format{
	Tool:     "llmperf",
	Programs: []program{{name: "token_benchmark_ray.py"}},
	Flags: map[string]string{"mean-input-tokens": "input_len", "mean-output-tokens": "output_len", "num-concurrent-requests": "concurrency",
		"max-num-completed-requests": "num_prompts", "results-dir": "", "timeout": ""},
	Reads:   "text, summary JSON (flat, or nested as its library returns it)",
	Since:   "2023-11",
	Example: `\Results for token benchmark for meta-llama/Llama-2-70b-chat-hf queried with the openai api.`,
	Derives: "duration: completed ÷ completed per minute; input and output tokens: mean lengths × completed",
	Limits: "its inter-token latency counts the wait for the first token in, and is named latency_per_token; tokens are those of a Llama tokenizer " +
		"whatever the model; the file of individual responses is no run",
	Lines: []Start{
		{Prefix: `\Results for token benchmark for `, Read: startLLMPerf},
		{Prefix: "Results for token benchmark for ", Read: startLLMPerf},
	},
	Keys:   []string{"results_num_completed_requests", "num_concurrent_requests", "request_output_throughput_token_per_s"},
	Object: llmPerfObject,
}

// llmPerfFamilies are the measurements that come as statistics: under which
// name, and how often our unit goes into theirs.
var llmPerfFamilies = map[string]struct {
	family string
	factor float64
}{
	"ttft_s":                                {"ttft_ms", 1000},
	"end_to_end_latency_s":                  {"e2el_ms", 1000},
	"inter_token_latency_s":                 {"latency_per_token_ms", 1000},
	"request_output_throughput_token_per_s": {"request_output_throughput", 1},
}

// llmPerfScalars are the single figures, by the keys of the JSON and by the
// labels of the text.
var llmPerfScalars = map[string]string{
	"mean_output_throughput_token_per_s": "output_throughput", // over the whole time, despite its name
	"num_completed_requests":             "completed",
	"num_completed_requests_per_min":     "request_throughput",
	"number_errors":                      "failed",
	"number_input_tokens_mean":           "mean_input_tokens",
	"number_output_tokens_mean":          "mean_output_tokens",
	"Overall Output Throughput":          "output_throughput",
	"Number Of Completed Requests":       "completed",
	"Completed Requests Per Minute":      "request_throughput",
	"Number Of Errored Requests":         "failed",
}

// llmPerfMetric gives the metric of a figure: of ttft_s_quantiles_p99 it is
// p99_ttft_ms. It is "" for what is not read: percentiles of lengths, counts of
// error codes.
func llmPerfMetric(key string) (name string, factor float64) {
	if name := llmPerfScalars[key]; name != "" {
		if name == "request_throughput" {
			return name, 1.0 / 60
		}
		return name, 1
	}
	i := strings.LastIndexByte(key, '_')
	if i < 0 {
		return "", 0
	}
	f, ok := llmPerfFamilies[strings.TrimSuffix(key[:i], "_quantiles")]
	stat, ok2 := statistic(key[i+1:])
	if !ok || !ok2 {
		return "", 0
	}
	return stat + "_" + f.family, f.factor
}

// An llmPerfBlock is a printed summary while it is read.
type llmPerfBlock struct {
	run    *bench.Run
	family string // the measurement whose statistics follow
	gap    int
}

func startLLMPerf(d *document, l line) bool {
	_, rest, _ := strings.Cut(string(l.msg), "Results for token benchmark for ")
	model, _, ok := strings.Cut(rest, " queried with the ")
	if !ok || len(model) > 300 || strings.ContainsAny(model, "{}") {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "llmperf", Format: "text"}}
	r.Config.Add("model", redact("", model), bench.FromLog)
	d.open(&llmPerfBlock{run: r})
	return true
}

func (b *llmPerfBlock) line(d *document, l line) verdict {
	text := string(bytes.TrimSpace(l.msg))
	key, value, ok := strings.Cut(text, " = ")
	label, after, labelled := strings.Cut(text, ": ")
	switch {
	case text == "":
		return passed
	case llmPerfFamilies[text].family != "" || text == "number_input_tokens" || text == "number_output_tokens":
		b.family = text
	case ok && b.family != "":
		if _, known := statistic(key); !known {
			return b.stray()
		}
		b.add(d, b.family+"_"+key, value, l.number)
	case labelled && llmPerfScalars[label] != "":
		b.add(d, label, after, l.number)
		if label == "Completed Requests Per Minute" {
			b.run.Source.EndLine = l.number
			return takenLast
		}
	default:
		return b.stray()
	}
	b.gap = 0
	b.run.Source.EndLine = l.number
	return taken
}

// stray counts lines that are not ours: those of Ray, and the error codes.
func (b *llmPerfBlock) stray() verdict {
	if b.gap++; b.gap > 20 {
		return ended
	}
	return passed
}

func (b *llmPerfBlock) add(d *document, key, value string, number int) {
	name, factor := llmPerfMetric(key)
	if name == "" || len(b.run.Metrics) >= maxStatistics {
		return
	}
	if m, ok := d.metric(name, value, number, key); ok {
		m.Decimals = -1 // all digits that Python has
		b.run.Add(scaled(m, factor))
	}
}

func (b *llmPerfBlock) close(d *document) {
	d.pending = pending{} // its progress bar was that of this run
	llmPerfEmit(d, b.run)
}

func llmPerfEmit(d *document, r *bench.Run) {
	if len(r.Metrics) < 3 {
		return // a title without its result
	}
	counts(r)
	rate, ok := r.Metric("request_throughput")
	if ok && rate.Value > 0 && r.Completed != nil && *r.Completed > 0 {
		if s := float64(*r.Completed) / rate.Value; finite(s) {
			r.Add(bench.Metric{Name: "duration", Value: s, Decimals: -1, Derived: true})
		}
	}
	totals(r)
	notMeasured(r)
	d.emit(r)
}

// llmPerfSettings rename the settings of a summary; "" drops them.
var llmPerfSettings = map[string]string{
	"mean_input_tokens": "input_len", "mean_output_tokens": "output_len", "num_concurrent_requests": "concurrency", "name": "", "timestamp": "",
}

// llmPerfObject reads a summary. Its file is flat: nested keys are joined by
// underscores. The library returns the same with the keys nested.
func llmPerfObject(d *document, o *object) bool {
	if o.get("results_num_completed_requests") == nil && o.child("results").get("num_completed_requests") == nil {
		if m := o.get("end_to_end_latency_s"); m != nil && m.kind == jsonNumber && o.get("number_output_tokens") != nil {
			d.guess = "holds single requests of llmperf; its run is in the file that ends in _summary.json"
			return true
		}
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "llmperf", Format: "json"}}
	started := ""
	eachScalar(o, "", 0, func(key string, m *member) {
		result, ok := strings.CutPrefix(key, "results_")
		if !ok {
			llmPerfSetting(r, key, m)
			return
		}
		if result == "num_requests_started" {
			started = m.scalar()
		}
		if name, factor := llmPerfMetric(result); name != "" && len(r.Metrics) < maxStatistics {
			if metric, ok := d.jsonNumber(m, name); ok {
				r.Add(scaled(metric, factor))
			}
		}
	})
	if n, _, ok := readNumber(started); ok && n >= 0 && n < 1<<40 {
		sent := int(n)
		r.Attempted = &sent
	}
	llmPerfEmit(d, r)
	return true
}

func llmPerfSetting(r *bench.Run, key string, m *member) {
	if renamed, ok := llmPerfSettings[key]; ok {
		key = renamed
	} else {
		key = canonicalKey(key)
	}
	value := m.scalar()
	if key != "" && value != "" && len(value) <= 300 && !dullKeys[key] && fitsKey(key, value) && len(r.Config) < maxStatistics {
		r.Config.Add(key, redact(key, tidyValue(key, value)), bench.FromJSON)
	}
}

// eachScalar gives the scalars of an object and of those inside it, with the keys
// that lead to them joined by underscores.
func eachScalar(o *object, prefix string, depth int, yield func(key string, m *member)) {
	for i := range o.members {
		m := &o.members[i]
		switch {
		case m.object != nil && depth < 4:
			eachScalar(m.object, prefix+m.key+"_", depth+1, yield)
		case m.object == nil:
			yield(prefix+m.key, m)
		}
	}
}
