package parse

import (
	"path"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// inferencePerf reads the lifecycle reports of inference-perf: a file for each
// stage of load, and one over all of them.
var inferencePerf = Format{
	Tool:    "inference-perf",
	Reads:   "JSON (stage_N_lifecycle_metrics.json, summary_lifecycle_metrics.json, and those of adapters)",
	Since:   "v0.1 (2025)",
	Example: `{"load_summary": {"count": 480, "requested_rate": 8.0, …}, "successes": {"count": 480, "latency": {…}, …}, "failures": {"count": 0, …}}`,
	Derives: "input and output tokens: mean lengths × requests, where the file has no totals",
	Limits: "times are in seconds whatever the project's documentation says; the summary has stage=all, so it is no repeat of a stage; with a concurrency " +
		"the requested rate is only how the stage was queued, and is not read; reports of Prometheus, sessions and single requests, and the printed tables, are not read",
	Keys:   []string{"load_summary"},
	Object: lifecycleObject,
}

// lifecycleLatencies are the distributions of a report, in seconds.
var lifecycleLatencies = [...]struct{ key, family string }{
	{"request_latency", "e2el_ms"},
	{"time_to_first_token", "ttft_ms"},
	{"time_per_output_token", "tpot_ms"},
	{"inter_token_latency", "itl_ms"},
	{"normalized_time_per_output_token", "latency_per_token_ms"}, // the first token included
}

var lifecycleRates = map[string]string{
	"requests_per_sec": "request_throughput", "input_tokens_per_sec": "input_throughput", "output_tokens_per_sec": "output_throughput",
	"total_tokens_per_sec": "total_token_throughput",
}

func lifecycleObject(d *document, o *object) bool {
	load, successes := o.child("load_summary"), o.child("successes")
	if load == nil || successes == nil {
		return false
	}
	if successes.get("latency") == nil || successes.get("throughput") == nil {
		// The same frame around what Prometheus scraped from the server.
		d.guess = "is a Prometheus report of inference-perf; its lifecycle reports hold the results"
		return true
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "inference-perf", Format: "json"}}
	number := func(of *object, key, name string) {
		if m := of.get(key); m != nil {
			d.jsonMetric(r, m, name)
		}
	}
	number(successes, "count", "completed")
	number(o.child("failures"), "count", "failed")
	number(o, "benchmark_time_seconds", "duration")
	throughput := successes.child("throughput")
	for _, key := range [...]string{"requests_per_sec", "input_tokens_per_sec", "output_tokens_per_sec", "total_tokens_per_sec"} {
		number(throughput, key, lifecycleRates[key])
	}
	for _, l := range lifecycleLatencies {
		d.jsonStatistics(r, successes.child("latency"), l.key, l.family, 1000)
	}
	for _, of := range [...][3]string{{"prompt_len", "prompt_tokens", "input"}, {"output_len", "output_tokens", "output"}} {
		number(successes.child(of[0]), "mean", "mean_"+of[2]+"_tokens")
		if total := successes.child(of[1]).get("total"); total != nil && total.kind == jsonNumber {
			d.jsonMetric(r, total, "total_"+of[2]+"_tokens")
		}
	}
	if good := successes.child("goodput_metrics"); good != nil {
		number(good, "request_goodput", "request_goodput")
		number(good, "token_goodput", "token_goodput")
		if m := good.get("goodput_percentage"); m != nil {
			if metric, ok := d.jsonNumber(m, "goodput_rate"); ok {
				r.Add(metric.Percent())
			}
		}
	}
	number(load, "achieved_rate", "achieved_rate")
	number(load, "send_duration", "send_duration")
	d.jsonStatistics(r, load, "schedule_delay", "schedule_delay_ms", 1000)
	if len(r.Metrics) == 0 {
		return true // told by then
	}
	lifecycleLoad(d, r, load)
	counts(r)
	if m := load.get("count"); m != nil {
		if n, ok := d.jsonNumber(m, ""); ok && n.Value >= 0 && n.Value < 1<<40 {
			sent := int(n.Value)
			r.Attempted = &sent
		}
	}
	totals(r)
	notMeasured(r)
	d.emit(r)
	return true
}

// lifecycleLoad adds the load point: the rate or the concurrency that was asked
// for, and the stage, which only the name of the file tells.
func lifecycleLoad(d *document, r *bench.Run, load *object) {
	rate := load.get("requested_rate")
	if c := load.scalar("concurrency"); c != "" && fitsKey("concurrency", c) {
		r.Config.Add("concurrency", tidyValue("concurrency", c), bench.FromJSON)
	} else if rate != nil {
		if x, ok := d.jsonNumber(rate, ""); ok {
			r.Config.Add("request_rate", formatNumber(x.Value), bench.FromJSON)
		}
	}
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(d.file, "\\", "/")), ".gz")
	name, named := strings.CutSuffix(strings.TrimSuffix(name, ".zst"), "_lifecycle_metrics.json")
	if i := strings.LastIndex(name, "stage_"); named && i >= 0 && allDigits(name[i+len("stage_"):]) {
		r.Config.Add("stage", name[i+len("stage_"):], bench.FromFile)
		name = strings.TrimSuffix(name[:i], "_")
	} else if rate == nil {
		r.Config.Add("stage", "all", bench.FromDerived)
	}
	if adapter, ok := strings.CutPrefix(name, "adapter_"); named && ok {
		r.Config.Add("lora", redact("", adapter), bench.FromFile)
	}
}
