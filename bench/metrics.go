package bench

import (
	"slices"
	"strings"
)

// Better is the direction in which a metric improves.
type Better string

// The directions. A metric without one has no winner.
const (
	Higher  Better = "higher"
	Lower   Better = "lower"
	Neither Better = ""
)

// Scale tells what N replicas do to a metric that was measured on one.
type Scale int

// The scales.
const (
	Fixed  Scale = iota // as it is: latencies, ratios, counts
	Times               // × N: throughputs
	Divide              // ÷ N: the duration
)

// MetricInfo describes a metric.
type MetricInfo struct {
	Name   string
	Title  string // column header, with its unit
	Unit   string
	Better Better
	Scale  Scale
}

// known is the one table of metrics. Latency statistics (mean_ttft_ms,
// p99.9_itl_ms, …) follow from their parts in Lookup.
var known = []MetricInfo{
	{"duration", "Duration (s)", "s", Lower, Divide},
	{"completed", "Completed", "requests", Neither, Fixed},
	{"failed", "Failed", "requests", Lower, Fixed},
	{"total_input_tokens", "Input tokens", "tok", Neither, Fixed},
	{"total_output_tokens", "Output tokens", "tok", Neither, Fixed},
	{"request_throughput", "Req/s", "req/s", Higher, Times},
	{"request_goodput", "Goodput (req/s)", "req/s", Higher, Times},
	{"input_throughput", "Input tok/s", "tok/s", Higher, Times},
	{"output_throughput", "Output tok/s", "tok/s", Higher, Times},
	{"total_token_throughput", "Total tok/s", "tok/s", Higher, Times},
	{"input_sequence_throughput", "Inputs/s", "inputs/s", Higher, Times},
	{"max_output_tokens_per_s", "Peak output tok/s", "tok/s", Higher, Times},
	{"max_concurrent_requests", "Peak concurrency", "requests", Neither, Fixed},
	{"rtfx", "RTFx", "×", Higher, Times},

	{"avg_ts", "t/s", "tok/s", Higher, Times},

	{"draft_acceptance_rate", "Acceptance", "", Higher, Fixed},
	{"system_efficiency", "Efficiency", "", Higher, Fixed},
	{"mean_acceptance_length", "Acceptance length", "tok", Higher, Fixed},
	{"num_accepted_tokens", "Accepted tokens", "tok", Neither, Fixed},
	{"num_draft_tokens", "Draft tokens", "tok", Neither, Fixed},
	{"num_emitted_tokens", "Emitted tokens", "tok", Neither, Fixed},
	{"num_drafts", "Drafts", "", Neither, Fixed},
	{"average_time_per_proposal_tok_ms", "Proposal time (ms/tok)", "ms", Lower, Fixed},
	{"scoring_time_ms", "Scoring time (ms)", "ms", Lower, Fixed},
	{"verification_time_ms", "Verification time (ms)", "ms", Lower, Fixed},

	{"prompt_throughput", "Prompt tok/s", "tok/s", Higher, Times},
	{"generation_throughput", "Generation tok/s", "tok/s", Higher, Times},
	{"max_prompt_throughput", "Max prompt tok/s", "tok/s", Higher, Times},
	{"max_generation_throughput", "Max generation tok/s", "tok/s", Higher, Times},
	{"intervals", "Intervals", "", Neither, Fixed},
	{"active_intervals", "Active intervals", "", Neither, Fixed},
	{"max_running_requests", "Max running", "requests", Neither, Fixed},
	{"max_waiting_requests", "Max waiting", "requests", Neither, Fixed},
	{"max_kv_cache_usage", "Max KV cache", "", Neither, Fixed},
	{"prefix_cache_hit_rate", "Prefix cache hits", "", Neither, Fixed},

	{"avg_latency", "Avg latency (s)", "s", Lower, Fixed},
	{"avg_latency_per_token", "Latency per token (s)", "s", Lower, Fixed},
	{"avg_latency_per_output_token", "Latency per output token (s)", "s", Lower, Fixed},

	{"accuracy", "Accuracy", "", Higher, Fixed},
	{"acc_norm", "acc_norm", "", Higher, Fixed},
	{"f1", "F1", "", Higher, Fixed},
	{"mcc", "MCC", "", Higher, Fixed},
	{"bleu", "BLEU", "", Higher, Fixed},
	{"rouge1", "ROUGE-1", "", Higher, Fixed},
	{"rouge2", "ROUGE-2", "", Higher, Fixed},
	{"rougeL", "ROUGE-L", "", Higher, Fixed},
	{"ppl", "Perplexity", "", Lower, Fixed},
	{"perplexity", "Perplexity", "", Lower, Fixed},
	{"word_perplexity", "Word perplexity", "", Lower, Fixed},
	{"byte_perplexity", "Byte perplexity", "", Lower, Fixed},
	{"bits_per_byte", "Bits per byte", "", Lower, Fixed},
	{"brier_score", "Brier score", "", Lower, Fixed},
	{"ter", "TER", "", Lower, Fixed},

	{"mean_input_tokens", "Mean input tokens", "tok", Neither, Fixed},
	{"mean_output_tokens", "Mean output tokens", "tok", Neither, Fixed},
	{"failures_per_s", "Failures/s", "1/s", Lower, Times},
	{"overall_latency_per_token_ms", "Latency per token, TTFT included (ms)", "ms", Lower, Fixed},
	{"latency_per_char_ms", "Latency per character (ms)", "ms", Lower, Fixed},

	{"incomplete", "Incomplete", "requests", Neither, Fixed},
	{"output_token_throughput_per_user", "Output tok/s per user", "tok/s", Higher, Fixed},
	{"prefill_throughput_per_user", "Prefill tok/s per user", "tok/s", Higher, Fixed},
	{"first_token_throughput", "First tok/s of the batch", "tok/s", Higher, Times},
	{"decode_throughput", "Decode tok/s of the batch", "tok/s", Higher, Times},

	{"output_throughput_per_gpu", "Output tok/s per GPU", "tok/s", Higher, Fixed},
	{"total_throughput_per_gpu", "Total tok/s per GPU", "tok/s", Higher, Fixed},
	{"tok_s_per_user", "tok/s per user", "tok/s", Higher, Fixed},
	{"ms_per_output_token", "ms per output token", "ms", Lower, Fixed},
	{"cost_per_million_output_tokens", "Cost per M output tok", "", Lower, Fixed},
	{"cost_per_million_tokens", "Cost per M tok", "", Lower, Fixed},

	// What published tables leave open: of which tokens, of which statistic.
	{"throughput_tok_s", "tok/s (of which tokens is not said)", "tok/s", Higher, Times},
	{"throughput_tok_s_per_gpu", "tok/s per GPU (of which tokens is not said)", "tok/s", Higher, Fixed},
	{"ttft_ms", "TTFT (ms, statistic not said)", "ms", Lower, Fixed},
	{"tpot_ms", "TPOT (ms, statistic not said)", "ms", Lower, Fixed},
	{"itl_ms", "ITL (ms, statistic not said)", "ms", Lower, Fixed},
	{"e2el_ms", "E2EL (ms, statistic not said)", "ms", Lower, Fixed},
	{"speed_pp", "S_PP t/s", "tok/s", Higher, Times},
	{"speed_tg", "S_TG t/s", "tok/s", Higher, Times},
	{"speed", "S t/s", "tok/s", Higher, Times},
	{"t_pp", "T_PP (s)", "s", Lower, Fixed},
	{"t_tg", "T_TG (s)", "s", Lower, Fixed},
	{"t", "T (s)", "s", Lower, Fixed},
	{"prompt_tok_s_per_request", "Prompt tok/s per request", "tok/s", Higher, Fixed},
	{"generation_tok_s_per_request", "Generation tok/s per request", "tok/s", Higher, Fixed},
	{"prompt_tokens_evaluated", "Prompt tokens evaluated", "tok", Neither, Fixed},
	{"tokens_generated", "Tokens generated", "tok", Neither, Fixed},
	{"mean_prompt_eval_ms", "Mean prompt eval (ms)", "ms", Lower, Fixed},
	{"timed_requests", "Timed requests", "requests", Neither, Fixed},
	{"load_ms", "Load time (ms)", "ms", Lower, Fixed},
	{"base_perplexity", "Perplexity of the base", "", Neither, Fixed},
	{"perplexity_ratio", "Perplexity by that of the base", "", Lower, Fixed},
	{"mean_kld", "Mean KLD", "", Lower, Fixed},
	{"median_kld", "Median KLD", "", Lower, Fixed},
	{"p99_kld", "P99 KLD", "", Lower, Fixed},
	{"p99.9_kld", "P99.9 KLD", "", Lower, Fixed},
	{"max_kld", "Max KLD", "", Lower, Fixed},
	{"mean_delta_p", "Mean Δp", "", Neither, Fixed},
	{"rms_delta_p", "RMS Δp", "", Lower, Fixed},
	{"same_top_p", "Same top p", "", Higher, Fixed},
	{"avg_ts_per_request", "t/s per request", "tok/s", Higher, Fixed},
	{"peak_ts", "Peak t/s", "tok/s", Higher, Times},
	{"peak_ts_per_request", "Peak t/s per request", "tok/s", Higher, Fixed},
	{"ttfr_ms", "TTFR (ms)", "ms", Lower, Fixed},
	{"est_ppt_ms", "Est. PPT (ms)", "ms", Lower, Fixed},
	{"e2e_ttft_ms", "E2E TTFT (ms)", "ms", Lower, Fixed},
	{"total_output_tokens_retokenized", "Output tokens, retokenized", "tok", Neither, Fixed},
	{"total_input_text_tokens", "Input text tokens", "tok", Neither, Fixed},
	{"total_input_vision_tokens", "Input vision tokens", "tok", Neither, Fixed},
	{"mean_concurrency", "Mean concurrency", "requests", Neither, Times},
	{"total_prompt_tokens", "Prompt tokens", "tok", Neither, Fixed},
	{"total_cached_tokens", "Cached tokens", "tok", Neither, Fixed},
	{"device_cached_tokens", "Cached tokens on device", "tok", Neither, Fixed},
	{"host_cached_tokens", "Cached tokens on host", "tok", Neither, Fixed},
	{"storage_cached_tokens", "Cached tokens in storage", "tok", Neither, Fixed},
	{"cache_hit_rate", "Cache hits", "", Neither, Fixed},
	{"correct_rate", "Correct answers", "", Higher, Fixed},
	{"last_gen_throughput", "Last generation tok/s", "tok/s", Higher, Times},
	{"prefill_latency", "Prefill latency (s)", "s", Lower, Fixed},
	{"prefill_throughput", "Prefill tok/s", "tok/s", Higher, Times},
	{"median_decode_latency", "Median decode step (s)", "s", Lower, Fixed},
	{"median_decode_throughput", "Median decode tok/s", "tok/s", Higher, Times},
	{"avg_decode_latency", "Avg decode step (s)", "s", Lower, Fixed},
	{"avg_decode_throughput", "Avg decode tok/s", "tok/s", Higher, Times},
	{"batch_latency", "Batch latency (s)", "s", Lower, Fixed},
	{"last_ttft", "TTFT of the last (s)", "s", Lower, Fixed},
	{"overall_throughput", "Input and output tok/s of a batch", "tok/s", Higher, Times},
	{"output_throughput_after_ttft", "Output tok/s after TTFT", "tok/s", Higher, Times},
	{"prefill_batches", "Prefill batches", "", Neither, Fixed},
	{"accept_rate", "Accept rate", "", Higher, Fixed},
	{"mean_input_turns", "Mean turns", "", Neither, Fixed},
	{"mean_output_chunks", "Mean output chunks", "", Neither, Fixed},
	{"total_tokens", "Tokens", "tok", Neither, Fixed},

	{"probe_completed", "Probes completed", "requests", Neither, Fixed},
	{"probe_failed", "Probes failed", "requests", Lower, Fixed},
	{"diffusion_committed_throughput", "Committed tok/s", "tok/s", Higher, Times},
	{"diffusion_steps_per_canvas", "Steps per canvas", "", Lower, Fixed},
	{"diffusion_committed_per_step", "Committed per step", "tok", Higher, Fixed},
	{"diffusion_committed_tokens", "Committed tokens", "tok", Neither, Fixed},
	{"diffusion_denoising_steps", "Denoising steps", "", Neither, Fixed},
	{"diffusion_canvas_positions", "Canvas positions", "", Neither, Fixed},

	{"draft_tokens_per_request", "Draft tokens per request", "tok", Neither, Fixed},
	{"accepted_tokens_per_request", "Accepted tokens per request", "tok", Neither, Fixed},
	{"total_energy_j", "Energy (J)", "J", Lower, Fixed},
	{"average_gpu_power", "GPU power (W)", "W", Lower, Fixed},
	{"output_tps_per_w", "Output tok/s per W", "tok/s/W", Higher, Fixed},
	{"tput_per_gpu", "TPUT per GPU (tok/s)", "tok/s", Higher, Fixed},
	{"output_tput_per_gpu", "Output TPUT per GPU (tok/s)", "tok/s", Higher, Fixed},
	{"input_tput_per_gpu", "Input TPUT per GPU (tok/s)", "tok/s", Higher, Fixed},
	{"avg_power_w", "GPU power (W)", "W", Lower, Fixed},
	{"joules_per_input_token", "J per input token", "J/tok", Lower, Fixed},
	{"joules_per_output_token", "J per output token", "J/tok", Lower, Fixed},
	{"joules_per_total_token", "J per token", "J/tok", Lower, Fixed},
	{"achieved_rate", "Sent req/s", "req/s", Neither, Times},
	{"send_duration", "Sending (s)", "s", Neither, Fixed},
	{"goodput_rate", "Goodput share", "", Higher, Fixed},
	{"token_goodput", "Goodput (tok/s)", "tok/s", Higher, Times},
}

// order is the place of each known metric, and of each latency family behind them.
var order = func() map[string]int {
	m := make(map[string]int, len(known))
	for i, k := range known {
		m[k.Name] = i
	}
	return m
}()

// families are the latencies that come as statistics over requests.
var families = []string{"ttft", "tpot", "itl", "e2el", "latency_per_token", "generation_latency", "ttst", "ttfot", "time_per_output_token", "prefill", "decode"}

// familyTitles are the families whose title is not their name.
var familyTitles = map[string]string{"ttst": "time to second token", "ttfot": "time to first output token", "time_per_output_token": "decode time per output token", "prefill": "prefill", "decode": "decode"}

// rateFamilies are the speeds of single requests that come as statistics over
// them, and their titles: higher is better, and replicas do not change them.
var rateFamilies = []struct{ name, title string }{
	{"intvty", "interactivity"},                               // 1000 ÷ the statistic of TPOT: p99 is the slow tail
	{"gtps", "generation speed"},                              // of the tokens behind the first: p99 is the fast tail
	{"request_output_throughput", "output speed per request"}, // output tokens ÷ the whole latency
}

// statistics in the order in which people read them.
var statistics = []string{"mean", "median", "std", "min", "max"}

// Lookup describes the metric of that name. A name outside the table has no
// title of its own, no unit unless the name says one, and no direction.
func Lookup(name string) MetricInfo {
	if i, ok := order[name]; ok {
		return known[i]
	}
	if stat, family, ok := SplitLatency(name); ok {
		title := strings.ToUpper(family)
		if probe, ok := strings.CutPrefix(family, "probe_"); ok {
			title = "probe " + strings.ToUpper(probe)
		} else if t, ok := familyTitles[family]; ok {
			title = t
		} else if strings.Contains(family, "_") {
			title = strings.ReplaceAll(family, "_", " ")
		}
		return MetricInfo{Name: name, Title: statTitle(stat) + " " + title + " (ms)", Unit: "ms", Better: Lower}
	}
	if stat, ok := strings.CutSuffix(name, "_latency"); ok && isPercentile(stat) {
		return MetricInfo{Name: name, Title: statTitle(stat) + " latency (s)", Unit: "s", Better: Lower}
	}
	for _, f := range rateFamilies {
		if stat, ok := strings.CutSuffix(name, "_"+f.name); ok && isStatistic(stat) {
			info := MetricInfo{Name: name, Title: statTitle(stat) + " " + f.title + " (tok/s)", Unit: "tok/s", Better: Higher}
			if stat == "std" {
				info.Better = Neither
			}
			return info
		}
	}
	info := MetricInfo{Name: name, Title: name}
	if strings.HasSuffix(name, "_ms") {
		info.Unit = "ms"
	}
	return info
}

// IsKnown reports whether a name stands in the table of known metrics.
func IsKnown(name string) bool {
	_, ok := order[name]
	return ok
}

// Names are the metrics of the table, and the latencies that most logs have.
func Names() []string {
	var names []string
	for _, k := range known {
		names = append(names, k.Name)
	}
	for _, f := range []string{"ttft", "tpot", "itl", "e2el"} {
		for _, stat := range []string{"mean", "median", "p90", "p95", "p99"} {
			names = append(names, stat+"_"+f+"_ms")
		}
	}
	return names
}

// SplitLatency cuts a name like p99_ttft_ms into p99 and ttft. Spread is not a
// latency of its own, so std has no better direction to be wrong about: it is
// still lower-is-better, as less jitter is.
func SplitLatency(name string) (stat, family string, ok bool) {
	rest, ok := strings.CutSuffix(name, "_ms")
	if !ok {
		return "", "", false
	}
	prefix := ""
	if r, ok := strings.CutPrefix(rest, "probe_"); ok {
		rest, prefix = r, "probe_"
	}
	stat, family, ok = strings.Cut(rest, "_")
	if !ok {
		return "", "", false
	}
	for _, f := range families {
		if f == family {
			return stat, prefix + family, isStatistic(stat)
		}
	}
	return "", "", false
}

// isStatistic reports whether s names a statistic: mean, max, p99 …
func isStatistic(s string) bool { return slices.Contains(statistics, s) || isPercentile(s) }

// isPercentile reports whether s is a p and a number, such as p99 or p99.9.
func isPercentile(s string) bool {
	if len(s) < 2 || s[0] != 'p' {
		return false
	}
	dots := 0
	for _, c := range s[1:] {
		switch {
		case c == '.':
			dots++
		case c < '0' || c > '9':
			return false
		}
	}
	return dots <= 1 && s[1] != '.' && s[len(s)-1] != '.'
}

func statTitle(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// Rank orders metrics for display: known ones by the table, latencies behind
// the throughputs, the rest last.
func Rank(name string) int {
	if i, ok := order[name]; ok {
		return i
	}
	if stat, family, ok := SplitLatency(name); ok {
		r := len(known)
		for i, f := range families {
			if f == family {
				r += 100 * i
			}
		}
		for i, s := range statistics {
			if s == stat {
				return r + i
			}
		}
		return r + 50
	}
	return 1 << 20
}
