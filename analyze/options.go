package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// Options are what a user asks of a comparison. The zero Options compare all
// there is against the first input.
type Options struct {
	By             []string // a table for each value of these keys
	Rows           []string // what names a row; nil for the keys that differ
	Metrics        []string // columns; nil for those people use
	Sort           string   // the metric by which rows are sorted, best first
	Baseline       string   // a label or input; "" for the first
	IncludePartial bool     // partial runs may win
	GPUPrice       float64  // per GPU and hour, for costs

	Alpha      float64            // of the tests; 0 for 0.05
	Noise      float64            // declared run-to-run noise, for single runs
	Thresholds map[string]float64 // smallest change that matters, by metric; "" for all
	Holm       bool               // adjust for a gate rather than for a table
	NoProcess  bool               // repetitions inside one process are no evidence
}

func (o *Options) alpha() float64 {
	if o.Alpha == 0 {
		return 0.05
	}
	return o.Alpha
}

// threshold is the smallest change of a metric that matters.
func (o *Options) threshold(metric string) float64 {
	if t, ok := o.Thresholds[metric]; ok {
		return t
	}
	if t, ok := o.Thresholds[""]; ok {
		return t
	}
	return defaultThreshold(metric)
}

// check reports keys and metrics that no run has.
func (o *Options) check(runs []*bench.Run) error {
	for _, list := range []struct {
		flag string
		keys []string
	}{{"--by", o.By}, {"--rows", o.Rows}} {
		for _, k := range list.keys {
			if err := checkKey(list.flag, k, runs); err != nil {
				return err
			}
		}
	}
	if o.Sort != "" {
		if err := checkMetric("--sort", o.Sort, runs, o.GPUPrice); err != nil {
			return err
		}
	}
	for _, m := range o.Metrics {
		if err := checkMetric("--metrics", m, runs, o.GPUPrice); err != nil {
			return err
		}
	}
	if o.Baseline != "" && !slices.ContainsFunc(runs, func(r *bench.Run) bool {
		return r.Input == o.Baseline || r.Label == o.Baseline || isVariant(r, o.Baseline)
	}) {
		var names []string
		for _, r := range runs {
			names = append(names, r.Input, r.Label)
		}
		if s := Suggest(o.Baseline, names); s != "" {
			return fmt.Errorf("--baseline: no input or run is called %q (did you mean %s?)", o.Baseline, s)
		}
		return fmt.Errorf("--baseline: no input or run is called %q", o.Baseline)
	}
	return nil
}

// isVariant reports whether a name is that of a column made of a setting of r.
func isVariant(r *bench.Run, name string) bool {
	return name == "base" || slices.ContainsFunc(r.Config, func(s bench.Setting) bool { return variantName(s.Key, s.Value) == name })
}

func checkMetric(flag, name string, runs []*bench.Run, price float64) error {
	var known []string
	for _, r := range runs {
		for _, m := range r.Metrics {
			if m.Name == name {
				return nil
			}
			known = append(known, m.Name)
		}
	}
	for _, d := range derivedMetrics {
		if d.name == name {
			if d.price && price == 0 {
				return fmt.Errorf("%s: %s needs --gpu-price", flag, name)
			}
			return nil
		}
		known = append(known, d.name)
	}
	if s := Suggest(name, known); s != "" {
		return fmt.Errorf("%s: no run has a metric %q (did you mean %s?)", flag, name, s)
	}
	return fmt.Errorf("%s: no run has a metric %q", flag, name)
}

// toolMetrics are the columns that people use, by tool.
var toolMetrics = map[string][]string{
	"":                {"duration", "request_throughput", "output_throughput", "total_token_throughput", "mean_ttft_ms", "mean_tpot_ms"},
	"llama-bench":     {"avg_ts"},
	"vllm-latency":    {"avg_latency", "p50_latency", "p90_latency", "p99_latency"},
	"vllm-throughput": {"duration", "request_throughput", "output_throughput", "total_token_throughput"},
	"vllm-engine":     {"prompt_throughput", "generation_throughput", "max_generation_throughput", "intervals"},
	"spec-decode":     {"draft_acceptance_rate", "mean_acceptance_length", "system_efficiency", "num_draft_tokens"},
	"locust":          {"request_throughput", "mean_e2el_ms", "median_e2el_ms", "p95_e2el_ms", "p99_e2el_ms"},
	"fw-ai":           {"request_throughput", "output_throughput", "mean_ttft_ms", "mean_tpot_ms", "mean_e2el_ms"},
	"nm-offline":      {"duration", "request_throughput", "input_throughput", "output_throughput"},
	"lm-eval":         {"accuracy"},
	"tgi-bench":       {"mean_prefill_ms", "mean_tpot_ms", "decode_throughput"},
	"llmperf":         {"request_throughput", "output_throughput", "mean_ttft_ms", "mean_latency_per_token_ms", "mean_e2el_ms"},
	"inferencemax":    {"tput_per_gpu", "output_tput_per_gpu", "input_tput_per_gpu", "median_ttft_ms", "median_tpot_ms", "median_e2el_ms", "median_intvty"},

	"llama-batched-bench": {"speed_pp", "speed_tg", "speed"},
	"llama-server":        {"prompt_tok_s_per_request", "generation_tok_s_per_request", "draft_acceptance_rate"},
	"llama-perplexity":    {"perplexity", "mean_kld", "same_top_p"},
	"llama-benchy":        {"avg_ts", "peak_ts", "ttfr_ms", "e2e_ttft_ms"},
}

// columns are the metrics that a table of these runs shows.
func (o *Options) columns(runs []*bench.Run) []string {
	has := func(m string) bool { return slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Has(m) }) }
	if o.Metrics != nil {
		return slices.DeleteFunc(slices.Clone(o.Metrics), func(m string) bool { return !has(m) })
	}
	if len(distinct(runs, definitionsOf)) > 1 {
		return sharedColumns(runs)
	}
	want, ok := toolMetrics[runs[0].Source.Tool]
	if !ok {
		want = toolMetrics[""]
	}
	var out []string
	for _, m := range want {
		if has(m) {
			out = append(out, m)
		} else if rest, ok := strings.CutPrefix(m, "mean_"); ok && has("median_"+rest) {
			out = append(out, "median_"+rest) // a console that prints no mean
		}
	}
	if has("input_throughput") && !has("total_token_throughput") && !slices.Contains(out, "input_throughput") {
		out = append(out, "input_throughput") // versions before v0.6
	}
	if !has("mean_ttft_ms") && has("mean_e2el_ms") && !slices.Contains(out, "mean_e2el_ms") {
		out = append(out, "mean_e2el_ms") // embeddings
	}
	// A run that has none of them shows what it has.
	for _, r := range runs {
		if !slices.ContainsFunc(out, r.Has) {
			for _, m := range r.Metrics {
				if bench.Lookup(m.Name).Better != bench.Neither && !slices.Contains(out, m.Name) {
					out = append(out, m.Name)
					break
				}
			}
		}
	}
	return out
}
