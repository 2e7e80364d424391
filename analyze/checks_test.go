package analyze

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// newRun makes a run. Settings and metrics are words KEY=VALUE; a metric keeps
// the decimals it is written with, and may have a spread: avg_ts=33.28±0.01.
// completed and attempted count requests.
func newRun(tool, input, config, metrics string) *bench.Run {
	r := &bench.Run{ID: input, Label: input, Input: input, Source: bench.Source{File: input + ".log", Line: 1, Tool: tool, Format: "text"}}
	for w := range strings.FieldsSeq(config) {
		key, value, _ := strings.Cut(w, "=")
		r.Config.Add(key, value, bench.FromCommand)
	}
	return with(r, metrics)
}

// with sets metrics of a run, written as for newRun.
func with(r *bench.Run, metrics string) *bench.Run {
	for w := range strings.FieldsSeq(metrics) {
		name, text, _ := strings.Cut(w, "=")
		text, spread, hasStd := strings.Cut(text, "±")
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic(w)
		}
		if n := int(x); name == "attempted" {
			r.Attempted = &n
			continue
		} else if name == "completed" {
			r.Completed = &n
		}
		m := bench.Metric{Name: name, Value: x, HasStd: hasStd}
		if hasStd {
			if m.Std, err = strconv.ParseFloat(spread, 64); err != nil {
				panic(w)
			}
		}
		if _, digits, ok := strings.Cut(text, "."); ok {
			m.Decimals = len(digits)
		}
		m.Raw = m.Value
		if i := slices.IndexFunc(r.Metrics, func(m bench.Metric) bool { return m.Name == name }); i >= 0 {
			r.Metrics[i] = m
			continue
		}
		r.Add(m)
	}
	r.Findings = slices.DeleteFunc(r.Findings, func(f bench.Finding) bool { return f.Code == "partial" })
	if r.Completed != nil && r.Attempted != nil && *r.Completed < *r.Attempted {
		// As the readers tell it.
		r.Findings = append(r.Findings, bench.Finding{Code: "partial", Severity: bench.Warning, Message: fmt.Sprintf("%d of %d requests completed", *r.Completed, *r.Attempted)})
	}
	return r
}

// without drops metrics of a run.
func without(r *bench.Run, names ...string) *bench.Run {
	r.Drop(func(m bench.Metric) bool { return slices.Contains(names, m.Name) })
	return r
}

// set sets settings of a run, written as for newRun.
func set(r *bench.Run, config string) *bench.Run {
	for w := range strings.FieldsSeq(config) {
		key, value, _ := strings.Cut(w, "=")
		r.Config.Set(key, value, bench.FromCommand)
	}
	return r
}

// labelled names a run otherwise than its input.
func labelled(r *bench.Run, label string) *bench.Run {
	r.ID, r.Label = r.Input+"/"+label, label
	return r
}

// replicated makes a run stand for n replicas.
func replicated(r *bench.Run, n int) *bench.Run {
	r.Replicas = n
	r.Config.Set("replicas", strconv.Itoa(n), bench.FromUser)
	Normalize([]*bench.Run{r})
	return r
}

// serve makes a run of the figures of a vLLM block, in the order in which it
// prints them: completed/attempted, duration, input and output tokens, req/s,
// output and total tok/s, then mean, median and P99 of TTFT, TPOT, ITL and E2EL.
func serve(input, config, figures string) *bench.Run {
	names := []string{"", "duration", "total_input_tokens", "total_output_tokens", "request_throughput", "output_throughput", "total_token_throughput",
		"mean_ttft_ms", "median_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "p99_tpot_ms", "mean_itl_ms", "median_itl_ms", "p99_itl_ms",
		"mean_e2el_ms", "median_e2el_ms", "p99_e2el_ms"}
	words := strings.Fields(figures)
	completed, attempted, _ := strings.Cut(words[0], "/")
	metrics := "completed=" + completed + " attempted=" + attempted
	for i, w := range words[1:] {
		metrics += " " + names[i+1] + "=" + w
	}
	return newRun("vllm-serve", input, config, metrics)
}

// The blocks of the seeds, as printed there.
const (
	// seed 000, Llama-3.1-70B on 8 MI300X
	tp8    = "1024/1024 63.81 220902 191043 16.05 2993.85 6455.63 564.63 363.05 2301.28 36.10 36.02 73.00 35.30 21.43 276.44"
	tp2pp4 = "1024/1024 393.36 220902 191625 2.60 487.14 1048.72 2011.53 2473.93 3957.14 271.65 237.66 794.14 2620.64 2629.03 4034.65"
	tp2x4  = "1024/1024 286.06 220902 192103 3.58 671.54 1443.76 420.74 383.36 1625.62 42.82 43.05 58.85 43.94 33.32 256.37"
	sd1Bk5 = "1024/1024 116.32 220902 192104 8.80 1651.57 3550.73 447.49 229.31 2581.31 84.12 77.14 227.50 263.58 188.09 929.71"
	// k = 10
	sd1Bk10 = "1024/1024 141.94 220902 191876 7.21 1351.84 2908.18 507.09 349.68 2440.07 107.29 95.27 307.86 401.02 336.03 1050.55"
	sd8B    = "1024/1024 117.36 220902 191582 8.73 1632.46 3514.76 591.40 259.36 2951.28 81.17 76.20 195.45 306.46 220.89 774.41"

	// seed 001, Llama-2-7B on Strix Halo
	vllmC1   = "64/64 1295.40 17809 11150 0.05 8.61 22.36 121.23 120.41 129.47 115.88 115.68 118.66 116.15 115.69 121.45"
	vllmC8   = "64/64 225.80 17809 11157 0.28 49.41 128.28 536.74 484.12 1420.17 135.23 135.23 156.51 135.60 129.41 431.69"
	vllmC16  = "64/64 155.97 17809 11256 0.41 72.17 186.35 871.62 593.93 2771.88 162.64 159.98 254.94 158.53 146.81 671.18"
	w8a8C16  = "64/64 407.27 17809 11671 0.16 28.66 72.38 2213.22 1386.26 6955.75 361.97 351.24 610.30 349.49 320.35 1538.99"
	gptqC16  = "64/64 85.72 17809 12765 0.75 148.91 356.67 787.02 462.31 2622.98 90.31 86.06 219.29 83.50 71.74 608.18"
	llamaC1  = "36/64 412.23 1339 5256 0.09 12.75 16.00 200.52 178.87 418.39 76.32 77.69 80.92 77.38 78.71 82.60"
	llamaC16 = "36/64 79.95 1339 5345 0.45 66.85 83.60 497.90 389.52 800.17 175.86 177.96 202.39 175.29 174.34 308.21"
	q8C1     = "36/64 237.27 1339 5870 0.15 24.74 30.38 146.13 86.05 613.21 39.16 39.57 40.81 39.69 39.49 42.24"
	q8C16    = "36/64 35.48 1339 5724 1.01 161.34 199.08 395.97 299.71 937.76 71.05 69.53 114.77 70.61 63.51 368.20"
	q4C1     = "36/64 237.19 1339 5870 0.15 24.75 30.39 145.18 88.03 617.56 39.09 39.35 41.09 39.68 40.23 42.31"
	q4C16    = "36/64 32.85 1339 5870 1.10 178.68 219.44 381.53 294.11 909.76 64.94 62.65 109.95 64.65 57.15 352.53"

	// seed 002
	shareGPT = "200/200 8.63 42659 26776 23.18 3103.24 8047.27 1441.22 2112.70 2134.04 9.74 9.70 15.87 9.49 9.38 16.01 2297.19 3386.84 8546.65"
	random   = "1000/1000 215.83 1000000 882429 4.63 4088.47 8721.66 31811.46 34969.71 57809.12 1852.87 152.41 67678.21 168.57 66.04 1008.59 165852.29 178415.97 210843.04"

	// Invented: 64 waves of 16; 256 tokens in and 128 out a request; the
	// throughputs are 1024/100, 131072/100 and 393216/100.
	clean = "1024/1024 100.00 262144 131072 10.24 1310.72 3932.16 200.00 190.00 400.00 10.73 10.70 12.00 10.75 10.60 14.00"
)

// A findingCase is runs in a comparison, and what a check must say of them.
type findingCase struct {
	name     string
	runs     []*bench.Run
	options  Options
	severity bench.Severity // "" where the check must be silent
	parts    []string       // of the message
	not      string         // what the message must not claim
	about    string         // the ids it names
}

func one(r ...*bench.Run) []*bench.Run { return r }

// checkCases are cases for every check. Figures are of the seeds unless a
// comment says otherwise; rules are C1 to C24 of validity.md.
func checkCases() map[string][]findingCase {
	serving := func(input, config string) *bench.Run { return serve(input, config, clean) }
	bare := func(metrics string) []*bench.Run { return one(newRun("vllm-serve", "a", "", metrics)) }
	repeats := func(ttft ...string) (runs []*bench.Run) {
		for i, x := range ttft {
			r := with(serving("a", "engine=vllm concurrency=16"), "mean_ttft_ms="+x)
			r.ID, r.Source.Line = "a"+strconv.Itoa(i+1), 10*i+1
			runs = append(runs, r)
		}
		return runs
	}
	const steps = "engine=vllm model=Llama-3.1-70B-Instruct tp=8 gpus=8 concurrency=128 max_num_seqs=2048"
	gguf := func(file, concurrency, figures string) *bench.Run {
		return serve(file, "model="+file+" quant="+file+" concurrency="+concurrency, figures)
	}
	// tg makes a llama-bench row of a file.
	tg := func(file, test, ts string) *bench.Run {
		return newRun("llama-bench", "bench", "model=llama_7B model_filename=/models/"+file+" test="+test, "avg_ts="+ts)
	}
	const q4, q8, f16 = "llama-2-7b.Q4_K_M.gguf", "llama-2-7b.Q8_0.gguf", "Llama-2-7b-chat.F16.gguf"

	return map[string][]findingCase{
		"inconsistent-arithmetic": {
			// 191043 / 63.81 = 2993.9
			{name: "output", runs: one(with(serve("a", "", tp8), "output_throughput=2693.85")), severity: bench.Error, parts: []string{"a: output_throughput", "2694", "2994"}, about: "a"},
			// 1024 / 63.81 = 16.05
			{name: "requests", runs: one(with(serve("a", "", tp8), "request_throughput=15.47")), severity: bench.Error, parts: []string{"request_throughput", "15.5", "16.0"}},
			// (220902 + 191043) / 63.81 = 6455.8
			{name: "total", runs: one(with(serve("a", "", tp8), "total_token_throughput=6555.63")), severity: bench.Error, parts: []string{"total_token_throughput", "6556", "6456"}},
			// 220902 / 63.81 = 3461.9
			{name: "input", runs: one(with(serve("a", "", tp8), "input_throughput=3361.87")), severity: bench.Error, parts: []string{"input_throughput", "3362", "3462"}},
			// A duration of 2.00 is 1.995 to 2.005 s: 100 requests are 49.88 to 50.13 a second.
			{name: "beyond rounding", runs: bare("completed=100 duration=2.00 request_throughput=50.20"), severity: bench.Error, parts: []string{"50.2", "50.0"}},
			{name: "the coarsest rounding", runs: bare("completed=100 duration=2.00 request_throughput=50.12")},
			{name: "sglang", runs: one(newRun("sglang-serve", "a", "", "completed=100 duration=20.00 request_throughput=6.00")), severity: bench.Error, parts: []string{"6", "5"}},
			{name: "tp8", runs: one(serve("a", "", tp8))},
			{name: "short run", runs: one(serve("a", "", shareGPT))},
			{name: "one digit", runs: one(serve("a", "", vllmC1))},
			{name: "four replicas", runs: one(replicated(serve("a", "concurrency=32", tp2x4), 4))},
			{name: "no counts", runs: bare("duration=63.81 request_throughput=15.05 output_throughput=1.00")},
			{name: "no duration", runs: bare("completed=1024 request_throughput=15.05")},
			// Its rates are means between the first and the last event of each kind.
			{name: "guidellm", runs: one(newRun("guidellm", "a", "", "completed=60 duration=60.0 request_throughput=1.1 input_throughput=52.4 output_throughput=49.7 total_token_throughput=101.1"))},
		},
		"statistics-order": {
			{name: "mean above p99", runs: bare("mean_ttft_ms=300.00 median_ttft_ms=200.00 p99_ttft_ms=250.00"), severity: bench.Error, parts: []string{"mean_ttft_ms 300.0", "p99_ttft_ms 250.0"}},
			{name: "median above p99", runs: bare("mean_tpot_ms=20.00 median_tpot_ms=60.00 p99_tpot_ms=50.00"), severity: bench.Error, parts: []string{"median_tpot_ms 60.0", "p99_tpot_ms 50.0"}},
			{name: "p90 above p95", runs: bare("p90_itl_ms=30.00 p95_itl_ms=20.00 p99_itl_ms=50.00"), severity: bench.Error, parts: []string{"p90_itl_ms 30.0", "p95_itl_ms 20.0"}},
			{name: "p99.9 above max", runs: bare("p99.9_e2el_ms=900.00 max_e2el_ms=800.00"), severity: bench.Error, parts: []string{"p99.9_e2el_ms 900.0", "max_e2el_ms 800.0"}},
			{name: "min above median", runs: bare("min_ttft_ms=30.00 median_ttft_ms=20.00"), severity: bench.Error, parts: []string{"min_ttft_ms 30.0", "median_ttft_ms 20.0"}},
			{name: "in any order", runs: bare("p99_ttft_ms=250.00 p50_ttft_ms=260.00"), severity: bench.Error, parts: []string{"p50_ttft_ms 260.0", "p99_ttft_ms 250.0"}},
			// Seed 002: mean 572.23, P50 to P99.9 570, Max 574; locust rounds.
			{name: "locust", runs: one(newRun("locust", "a", "", "mean_e2el_ms=572.23 median_e2el_ms=570 p99_e2el_ms=570 p99.9_e2el_ms=570 max_e2el_ms=574")), severity: bench.Note, parts: []string{"mean_e2el_ms 572.2", "570"}},
			{name: "not locust", runs: bare("mean_e2el_ms=572.23 median_e2el_ms=570 p99_e2el_ms=570 p99.9_e2el_ms=570 max_e2el_ms=574"), severity: bench.Error, parts: []string{"572.2", "570"}},
			// Seed 002: Max 9 but P99.9 10: both may be 9.5.
			{name: "one unit of whole numbers", runs: one(newRun("locust", "a", "", "p99.9_e2el_ms=10 max_e2el_ms=9"))},
			{name: "mean within rounding", runs: bare("mean_e2el_ms=570.4 p99_e2el_ms=570")},
			{name: "median above mean", runs: one(serve("a", "", shareGPT))},
			{name: "mean above p90", runs: bare("mean_ttft_ms=300.00 median_ttft_ms=10.00 p90_ttft_ms=20.00")},
			{name: "mean above median", runs: one(serve("a", "", random))},
			{name: "all equal", runs: bare("min_ttft_ms=5.00 mean_ttft_ms=5.00 median_ttft_ms=5.00 p99_ttft_ms=5.00 max_ttft_ms=5.00")},
			{name: "spread", runs: bare("mean_ttft_ms=5.00 std_ttft_ms=90.00 p99_ttft_ms=20.00 max_ttft_ms=30.00")},
			{name: "zero p99", runs: bare("mean_ttft_ms=5.00 p99_ttft_ms=0.00")},
			{name: "peak above mean", runs: one(with(serving("a", ""), "max_output_tokens_per_s=1400.00"))},
			// Chunks are counted, so the peak of speculative decoding is too low.
			{name: "peak of chunks", runs: one(with(serving("a", "draft_model=x"), "max_output_tokens_per_s=500.00"))},
		},
		"mean-outlier": {
			// 1852.87 / 152.41 = 12.16
			{name: "tpot", runs: one(serve("a", "", random)), severity: bench.Warning, parts: []string{"mean TPOT 1853 ms", "12.2×", "152.4 ms", "median"}},
			{name: "ttft and e2el", runs: bare("mean_ttft_ms=310.00 median_ttft_ms=100.00 mean_e2el_ms=4000.00 median_e2el_ms=1000.00"), severity: bench.Warning, parts: []string{"TTFT 310.0 ms is 3.1×", "E2EL 4000 ms is 4.0×"}},
			{name: "three times", runs: bare("mean_ttft_ms=300.00 median_ttft_ms=100.00")},
			{name: "twice", runs: bare("mean_tpot_ms=20.00 median_tpot_ms=10.00")},
			{name: "sd 8b", runs: one(serve("a", "", sd8B))}, // TTFT 591.40 / 259.36 = 2.28
			{name: "no median", runs: bare("mean_ttft_ms=300.00 p99_ttft_ms=900.00")},
			{name: "zero median", runs: bare("mean_ttft_ms=300.00 median_ttft_ms=0.00")},
			{name: "median a little above", runs: bare("mean_ttft_ms=100.00 median_ttft_ms=129.00")},
			{name: "chunks", runs: bare("mean_itl_ms=300.00 median_itl_ms=1.00")},
		},
		"itl-per-chunk": {
			// Mean ITL / mean TPOT: 9.65, 3.13, 3.74, 3.78
			{name: "pp4", runs: one(serve("a", "", tp2pp4)), severity: bench.Warning, parts: []string{"9.6 tokens"}},
			{name: "1B k=5", runs: one(serve("a", "", sd1Bk5)), severity: bench.Warning, parts: []string{"3.1 tokens"}},
			{name: "1B k=10", runs: one(serve("a", "", sd1Bk10)), severity: bench.Warning, parts: []string{"3.7 tokens"}},
			{name: "8B", runs: one(serve("a", "", sd8B)), severity: bench.Warning, parts: []string{"3.8 tokens"}},
			// With E2EL: 26576·9.49 / (200·855.97) = 1.47 although ITL/TPOT = 0.97.
			{name: "from e2el", runs: one(serve("a", "", shareGPT)), severity: bench.Warning, parts: []string{"1.5 tokens"}},
			{name: "random, 1.11", runs: one(serve("a", "", random))},
			{name: "tp8, 0.98", runs: one(serve("a", "", tp8))},
			{name: "tp2, 1.03", runs: one(serve("a", "", tp2x4))},
			{name: "1.2", runs: bare("mean_itl_ms=12.00 mean_tpot_ms=10.00")},
			{name: "no tpot", runs: bare("mean_itl_ms=12.00")},
			{name: "no itl", runs: bare("mean_tpot_ms=10.00")},
		},
		"too-few-waves": {
			{name: "64/16", runs: one(serve("a", "concurrency=16", vllmC16)), severity: bench.Warning, parts: []string{"64 requests at concurrency 16 are 4 waves"}},
			{name: "no concurrency", runs: bare("completed=63 attempted=63 duration=100.00")},
			{name: "7.9 waves", runs: one(newRun("vllm-serve", "a", "concurrency=8", "completed=63 attempted=63 duration=100.00")), severity: bench.Warning, parts: []string{"63 requests", "7.88 waves"}},
			// 8546.65 ms of 8.63 s are 99.0 %.
			{name: "tail-bound and short", runs: one(serve("a", "", shareGPT)), severity: bench.Warning, parts: []string{"99 % of the duration", "lasted 8.63 s"}},
			// 210843.04 ms of 215.83 s are 97.7 %.
			{name: "tail-bound", runs: one(serve("a", "", random)), severity: bench.Warning, parts: []string{"98 % of the duration"}},
			{name: "29.99 s", runs: bare("completed=9 duration=29.99"), severity: bench.Warning, parts: []string{"30.0 s"}},
			{name: "30 s", runs: bare("completed=9 duration=30.00")},
			{name: "8 waves", runs: one(newRun("vllm-serve", "a", "concurrency=16", "completed=128 attempted=128 duration=100.00"))},
			{name: "one by one", runs: one(serve("a", "concurrency=1", vllmC1))},
			{name: "half the duration", runs: bare("duration=40.00 p99_e2el_ms=20000.00")},
			// 200 requests to one replica at 16 are 12.5 waves, not 200/64.
			{name: "per replica", runs: one(replicated(newRun("vllm-serve", "a", "concurrency=16", "completed=200 attempted=200 duration=100.00"), 4))},
			{name: "per replica, few", runs: one(replicated(newRun("vllm-serve", "a", "concurrency=32", "completed=200 attempted=200 duration=100.00"), 4)), severity: bench.Warning, parts: []string{"200 requests at concurrency 32 are 6.25 waves"}},
			// 60 s measured on one of 4 replicas stay 60 s.
			{name: "duration of a replica", runs: one(replicated(newRun("vllm-serve", "a", "", "completed=200 duration=60.00"), 4))},
			{name: "offline", runs: one(newRun("vllm-throughput", "a", "", "duration=5.00"))},
		},
		"saturated": {
			// 1000 / 215.83 = 4.633
			{name: "250 req/s", runs: one(serve("a", "request_rate=250", random)), severity: bench.Warning, parts: []string{"250 req/s were offered", "4.63 served"}},
			// Seed 004: 1.0 offered, 0.90 served.
			{name: "seed 004", runs: one(newRun("vllm-serve", "a", "request_rate=1.0", "request_throughput=0.90"))},
			{name: "1.5 times", runs: one(newRun("vllm-serve", "a", "request_rate=15", "completed=1000 duration=100.00 request_throughput=10.00"))},
			{name: "1.6 times", runs: one(newRun("vllm-serve", "a", "request_rate=16", "completed=1000 duration=100.00 request_throughput=10.00")), severity: bench.Warning, parts: []string{"16 req/s", "10.0 served"}},
			{name: "inf", runs: one(serve("a", "request_rate=inf", random))},
			{name: "no rate", runs: one(serve("a", "", random))},
		},
		"spec-counters": {
			{name: "k=10", runs: one(with(serve("a", "", sd1Bk10), "num_emitted_tokens=193355")), severity: bench.Warning, parts: []string{"emitted 193355", "counted 191876"}},
			{name: "far below", runs: one(with(serve("a", "", sd1Bk5), "num_emitted_tokens=171000")), severity: bench.Warning, parts: []string{"171000", "192104"}},
			{name: "k=5", runs: one(with(serve("a", "", sd1Bk5), "num_emitted_tokens=190541"))},
			{name: "8B", runs: one(with(serve("a", "", sd8B), "num_emitted_tokens=190301"))},
			{name: "equal", runs: one(with(serve("a", "", sd8B), "num_emitted_tokens=191582"))},
			// 0.9·(192104 − 1024) = 171972
			{name: "a tenth below", runs: one(with(serve("a", "", sd1Bk5), "num_emitted_tokens=172000"))},
			// V0 counts acceptance after the first rejection, too.
			{name: "accepted above emitted", runs: one(with(serve("a", "", sd1Bk5), "num_emitted_tokens=190541 num_accepted_tokens=197711"))},
			{name: "no client", runs: one(newRun("spec-decode", "a", "", "num_emitted_tokens=193355 draft_acceptance_rate=0.786"))},
		},
		"zero-means-missing": {
			{name: "tpot and itl", runs: bare("completed=10 mean_ttft_ms=5.00 mean_tpot_ms=0.00 p99_itl_ms=0.00"), severity: bench.Warning, parts: []string{"0 for mean_tpot_ms, p99_itl_ms"}},
			{name: "many", runs: bare("completed=10 mean_ttft_ms=0.00 median_ttft_ms=0.00 p99_ttft_ms=0.00 mean_tpot_ms=0.00 median_tpot_ms=0.00"), severity: bench.Warning, parts: []string{"mean_ttft_ms, median_ttft_ms, p99_ttft_ms, 2 more"}},
			{name: "rate", runs: bare("completed=10 output_throughput=0.00"), severity: bench.Warning, parts: []string{"output_throughput"}},
			{name: "llama-bench", runs: one(newRun("llama-bench", "a", "test=pp512", "avg_ts=0.00")), severity: bench.Warning, parts: []string{"avg_ts"}},
			{name: "spread and minimum", runs: bare("completed=10 mean_ttft_ms=5.00 std_ttft_ms=0.00 min_ttft_ms=0.00")},
			{name: "no failure", runs: bare("completed=10 failed=0 mean_ttft_ms=5.00")},
			{name: "embeddings", runs: bare("completed=10 total_output_tokens=0 mean_e2el_ms=5.00")},
			{name: "accuracy", runs: one(newRun("lm-eval", "a", "task=x", "accuracy=0.0000"))},
			{name: "all there", runs: one(serve("a", "", tp8))},
		},
		"unlike-workload": {
			// 1339/36 = 37.19 and 17809/64 = 278.27 tokens
			{name: "input tokens", runs: one(serve("vllm", "concurrency=16", vllmC16), serve("llama", "concurrency=16", llamaC16)), severity: bench.Error, parts: []string{"llama had 37.2 input tokens", "vllm had 278.3"}, about: "llama vllm"},
			{name: "3 % of input", runs: one(serving("a", ""), with(serving("b", ""), "total_input_tokens=270009")), severity: bench.Error, parts: []string{"263.7", "256.0"}},
			// 12765/64 = 199.45 and 11256/64 = 175.88: +13.4 %
			{name: "output tokens", runs: one(serve("fp16", "concurrency=16", vllmC16), serve("gptq", "concurrency=16", gptqC16)), severity: bench.Warning, parts: []string{"gptq generated 199.5 tokens", "fp16 175.9"}, about: "gptq fp16"},
			{name: "concurrency", runs: one(serving("a", "concurrency=16"), serving("b", "concurrency=32")), severity: bench.Error, parts: []string{"a and b", "concurrency 16 and 32"}},
			{name: "dataset", runs: one(serving("a", "dataset=sharegpt"), serving("b", "dataset=random")), severity: bench.Error, parts: []string{"dataset sharegpt and random"}},
			{name: "request rate", runs: one(serving("a", "request_rate=10"), serving("b", "request_rate=inf")), severity: bench.Error, parts: []string{"request_rate 10 and inf"}},
			{name: "replicas, C14", runs: one(serve("a", "concurrency=64", tp8), replicated(serve("b", "concurrency=32", tp2x4), 4)), severity: bench.Error, parts: []string{"concurrency 64 and 128"}},
			{name: "replicas, as many", runs: one(serve("a", "concurrency=128", tp8), replicated(serve("b", "concurrency=32", tp2x4), 4))},
			// 11671 / 11256 = 1.037
			{name: "3.7 % of output", runs: one(serve("fp16", "concurrency=16", vllmC16), serve("w8a8", "concurrency=16", w8a8C16))},
			{name: "1.9 % of input", runs: one(serving("a", ""), with(serving("b", ""), "total_input_tokens=267124"))},
			{name: "one does not tell", runs: one(serving("a", "concurrency=16 dataset=random"), serving("b", ""))},
			{name: "a sweep", runs: one(serve("a", "concurrency=1", vllmC1), serve("a", "concurrency=8", vllmC8), serve("a", "concurrency=16", vllmC16))},
			{name: "two sweeps", runs: one(serve("a", "concurrency=1", vllmC1), serve("a", "concurrency=16", vllmC16), serve("b", "concurrency=16", vllmC16), serve("b", "concurrency=1", vllmC1))},
			{name: "half as many requests", runs: one(serving("a", "num_prompts=1024 concurrency=16"), serve("b", "num_prompts=512 concurrency=16", "512/512 50.00 131072 65536 10.24 1310.72 3932.16"))},
		},
		"survivor-bias": {
			{name: "seed 001", runs: one(serve("vllm", "concurrency=16", vllmC16), serve("llama", "concurrency=16", llamaC16)), severity: bench.Error, parts: []string{"llama completed 36 of 64", "37.2 input tokens", "278.3"}, about: "llama vllm"},
			{name: "partial first", runs: one(serve("llama", "concurrency=1", llamaC1), serve("vllm", "concurrency=1", vllmC1)), severity: bench.Error, parts: []string{"36 of 64", "37.2", "278.3"}, about: "llama vllm"},
			{name: "all completed", runs: one(serve("a", "", vllmC16), with(serve("b", "", vllmC16), "total_input_tokens=2380"))},
			// 131072/512 = 256 tokens, as the others
			{name: "failures of any length", runs: one(serving("a", ""), with(serving("b", ""), "completed=512 total_input_tokens=131072"))},
			{name: "85 % of the length", runs: one(serving("a", ""), with(serving("b", ""), "completed=512 total_input_tokens=111411"))},
			{name: "no complete run", runs: one(gguf(q8, "1", q8C1), with(gguf(q4, "1", q4C1), "total_input_tokens=500"))},
			{name: "another workload", runs: one(serve("vllm", "concurrency=16", vllmC16), serve("llama", "concurrency=1", llamaC1))},
		},
		"same-server-suspect": {
			// Farthest mean: TTFT 146.13/145.18 = 1.0065; farthest of all: median
			// TTFT 88.03/86.05 = 1.0230. 4 rates and 9 latencies.
			{name: "Q8_0 and Q4_K_M", runs: one(gguf(q8, "1", q8C1), gguf(q4, "1", q4C1)), severity: bench.Warning, parts: []string{q8, q4, "1339 in, 5870 out", "means within 0.7 %", "all 13 figures within 2.3 %"}, about: q8 + " " + q4},
			{name: "with others between", runs: one(gguf(q8, "1", q8C1), gguf(f16, "1", llamaC1), gguf(q4, "1", q4C1)), severity: bench.Warning, parts: []string{"5870 out"}, about: q8 + " " + q4},
			{name: "c=16, 5724 and 5870", runs: one(gguf(q8, "16", q8C16), gguf(q4, "16", q4C16))},
			{name: "the same model", runs: one(serve("a", "model="+q8, q8C1), serve("b", "model="+q8, q4C1))},
			{name: "one token more", runs: one(gguf(q8, "1", q8C1), with(gguf(q4, "1", q4C1), "total_output_tokens=5871"))},
			// 39.09·0.97 = 37.92
			{name: "a mean 3 % off", runs: one(gguf(q8, "1", q8C1), with(gguf(q4, "1", q4C1), "mean_tpot_ms=37.92"))},
			{name: "a percentile 10 % off", runs: one(gguf(q8, "1", q8C1), with(gguf(q4, "1", q4C1), "p99_ttft_ms=674.53"))},
			{name: "other concurrency", runs: one(gguf(q8, "1", q8C1), gguf(q4, "2", q4C1))},
			{name: "three figures", runs: one(newRun("vllm-serve", "a", "model=x", "total_input_tokens=9 total_output_tokens=9 duration=50.00 mean_ttft_ms=5.00 mean_tpot_ms=5.00"),
				newRun("vllm-serve", "b", "model=y", "total_input_tokens=9 total_output_tokens=9 duration=50.00 mean_ttft_ms=5.00 mean_tpot_ms=5.00"))},
		},
		"confounded": {
			{name: "sd without multi-step", runs: one(serve("tp8", steps+" num_scheduler_steps=12", tp8), serve("sd", steps+" draft_model=Llama-3.2-1B spec_tokens=5", sd1Bk5)), severity: bench.Warning,
				parts: []string{"tp8 and sd differ in", "speculative decoding", "num_scheduler_steps (12, none)"}, about: "tp8 sd"},
			{name: "two flags", runs: one(serving("a", "engine=vllm max_num_seqs=256 block_size=16"), serving("b", "engine=vllm max_num_seqs=512 block_size=32")), severity: bench.Warning,
				parts: []string{"max_num_seqs (256, 512)", "block_size (16, 32)"}},
			{name: "flag and variable", runs: one(serving("a", "engine=vllm env.X=0 block_size=16"), serving("b", "engine=vllm env.X=1 block_size=32")), severity: bench.Warning, parts: []string{"env.X (0, 1)", "block_size (16, 32)"}},
			{name: "two alike", runs: one(serve("tp8", steps+" num_scheduler_steps=12", tp8), serve("k5", steps+" draft_model=x spec_tokens=5", sd1Bk5), serve("k10", steps+" draft_model=x spec_tokens=10", sd1Bk10)),
				severity: bench.Warning, parts: []string{"tp8 and k5, k10 differ in"}, about: "tp8 k5 k10"},
			// Repeats that differ by 300/100, and by 300/210 = 1.43
			{name: "hardly repeats", runs: repeats("300.00", "100.00"), severity: bench.Warning, parts: []string{"a: 2 runs", "factor of 3.0 in mean_ttft_ms (100.0 to 300.0)"}, about: "a1 a2"},
			{name: "repeats", runs: repeats("300.00", "210.00")},
			{name: "one flag", runs: one(serving("a", "engine=vllm max_num_seqs=256"), serving("b", "engine=vllm max_num_seqs=512"))},
			{name: "parallelism is one thing", runs: one(serving("a", "engine=vllm tp=8 gpus=8"), serving("b", "engine=vllm tp=2 pp=4 gpus=8"))},
			{name: "a draft model and its tokens", runs: one(serving("a", "engine=vllm"), serving("b", "engine=vllm draft_model=x spec_tokens=5 spec_method=draft"))},
			{name: "two engines", runs: one(serving("a", "engine=vllm max_num_seqs=256 block_size=16"), serving("b", "engine=llama.cpp ngl=99 fa=1"))},
			{name: "the client", runs: one(serving("a", "engine=vllm ignore_eos=True burstiness=1.0 seed=0"), serving("b", "engine=vllm ignore_eos=False burstiness=0.5 seed=1"))},
			{name: "the workload", runs: one(serving("a", "engine=vllm concurrency=1 num_prompts=64"), serving("b", "engine=vllm concurrency=8 num_prompts=128"))},
			{name: "servers unknown", runs: one(derivedEngine(serving("a", "max_num_seqs=256 block_size=16")), derivedEngine(serving("b", "max_num_seqs=512 block_size=32")))},
		},
		"model-mismatch": {
			{name: "seed 001", runs: one(serve("a", "model=meta-llama/Llama-2-7b-chat-hf", vllmC16), serve("b", "model="+q8, q8C16)), severity: bench.Warning, parts: []string{q8 + " is a base model", "meta-llama/Llama-2-7b-chat-hf its chat version"}, about: "b a"},
			{name: "instruct", runs: one(serving("a", "model=meta-llama/Llama-3.1-8B"), serving("b", "model=meta-llama/Llama-3.1-8B-Instruct")), severity: bench.Warning, parts: []string{"base", "chat"}},
			{name: "quantized chat", runs: one(serving("a", "model=meta-llama/Llama-2-7b-chat-hf"), serving("b", "model=Llama-2-7b-chat.F16.gguf"), serving("c", "model=TheBloke/Llama-2-7B-Chat-GPTQ"), serving("d", "model=Llama-2-7b-chat-hf-quantized.w8a8"))},
			{name: "both base", runs: one(serving("a", "model="+q8), serving("b", "model="+q4))},
			{name: "two sizes", runs: one(serving("a", "model=Llama-3.1-8B"), serving("b", "model=Llama-3.1-70B-Instruct"))},
			{name: "two families", runs: one(serving("a", "model=Qwen2.5-7B"), serving("b", "model=Mistral-7B-Instruct-v0.3"))},
			{name: "another workload", runs: one(serving("a", "model=Llama-3.1-8B concurrency=1"), serving("b", "model=Llama-3.1-8B-Instruct concurrency=8"))},
		},
		"client-mismatch": {
			{name: "two scripts", runs: one(serve("a", "client=vllm-bench concurrency=1", vllmC1), serve("a", "client=benchmark_serving.py concurrency=8", vllmC8), serve("a", "client=vllm-bench concurrency=16", vllmC16)), severity: bench.Note,
				parts: []string{"vllm-bench", "and 1 more", "benchmark_serving.py"}},
			{name: "one script", runs: one(serving("a", "client=vllm-bench"), serving("b", "client=vllm-bench"))},
			{name: "one does not tell", runs: one(serving("a", "client=vllm-bench"), serving("b", ""))},
		},
		"warm-cache-suspect": {
			{name: "falling", runs: repeats("300.00", "250.00", "200.00"), severity: bench.Warning, parts: []string{"300.0 to 200.0 ms over 3 runs"}, about: "a1 a2 a3"},
			{name: "falling by a quarter", runs: repeats("300.00", "250.00", "225.00")},
			{name: "rising", runs: repeats("200.00", "250.00", "300.00")},
			{name: "up and down", runs: repeats("300.00", "310.00", "200.00")},
			{name: "two runs", runs: repeats("300.00", "100.00")},
			{name: "three inputs", runs: one(with(serving("a", ""), "mean_ttft_ms=300.00"), with(serving("b", ""), "mean_ttft_ms=250.00"), with(serving("c", ""), "mean_ttft_ms=200.00"))},
		},
		"coarse-rounding": {
			{name: "0.05 and 0.28", runs: one(serve("a", "concurrency=1", vllmC1), serve("a", "concurrency=8", vllmC8)), severity: bench.Note, parts: []string{"0.05, 0.28"}},
			{name: "many", runs: one(serve("a", "", vllmC1), serve("b", "", vllmC8), serve("c", "", vllmC16), serve("d", "", w8a8C16), serve("e", "", gptqC16)), severity: bench.Note, parts: []string{"0.05, 0.28, 0.41, …"}},
			{name: "0.99", runs: one(with(serving("a", ""), "request_throughput=0.99"), serving("b", "")), severity: bench.Note, parts: []string{"0.99"}},
			{name: "1.01 and 1.10", runs: one(gguf(q8, "16", q8C16), gguf(q4, "16", q4C16))},
			{name: "1.00", runs: one(with(serving("a", ""), "request_throughput=1.00"), serving("b", ""))},
			{name: "full precision", runs: one(precisely(with(serving("a", ""), "request_throughput=0.05"), "request_throughput"), serving("b", ""))},
			{name: "16.05 and 8.80", runs: one(serve("a", "", tp8), serve("b", "", sd1Bk5))},
			{name: "nothing to compare", runs: one(serve("a", "", vllmC1))},
		},
		"p99-is-max": {
			{name: "64 requests", runs: one(serve("a", "", vllmC16), serve("b", "", tp8)), options: Options{Metrics: []string{"p99_ttft_ms"}}, severity: bench.Note, parts: []string{"(64)"}, about: "a"},
			{name: "the fewest", runs: one(serve("a", "", vllmC16), serve("b", "", llamaC16)), options: Options{Metrics: []string{"duration", "p99_tpot_ms"}}, severity: bench.Note, parts: []string{"(36)"}, about: "a b"},
			{name: "not shown", runs: one(serve("a", "", vllmC16))},
			{name: "100 requests", runs: one(with(serving("a", ""), "completed=100 attempted=100")), options: Options{Metrics: []string{"p99_ttft_ms"}}},
			{name: "1024 requests", runs: one(serve("a", "", tp8)), options: Options{Metrics: []string{"p99_ttft_ms"}}},
		},
		"no-spread": {
			{name: "what cannot be compared", runs: one(serve("a", "", vllmC16), serve("b", "", tp8)), options: Options{Metrics: []string{"mean_tpot_ms"}}},
			{name: "one fair run a side", runs: one(serving("a", "model=x"), serving("b", "model=y")), severity: bench.Note, parts: []string{"one run a side"}, about: "b"},
			{name: "declared noise", runs: one(serving("a", "model=x"), serving("b", "model=y")), options: Options{Noise: 0.03}},
			{name: "nothing to compare", runs: one(serving("a", "model=x"))},
		},
		"label-vs-physics": {
			// 1000/33.28 = 30.05 ms; 39.09/30.05 = 1.30
			{name: "Q4_K_M", runs: one(gguf(q4, "1", q4C1), tg(q4, "tg128", "33.28")), severity: bench.Warning, parts: []string{q4, "39.1 ms", "33.3 t/s", "30.0 ms"}, about: q4},
			{name: "too fast", runs: one(with(gguf(q4, "1", q4C1), "mean_tpot_ms=20.00"), tg(q4, "tg128", "33.28")), severity: bench.Warning, parts: []string{"20.0 ms", "30.0 ms"}},
			{name: "Q4_K_M among all", runs: one(gguf(q4, "1", q4C1), gguf(q8, "1", q8C1), gguf(f16, "1", llamaC1), tg(q4, "tg128", "33.28"), tg(q8, "tg128", "25.25"), tg(f16, "tg128", "13.91")), severity: bench.Warning, parts: []string{q4}, about: q4},
			{name: "Q8_0", runs: one(gguf(q8, "1", q8C1), tg(q8, "tg128", "25.25"))},     // 39.60 ms: 1 %
			{name: "F16", runs: one(gguf(f16, "1", llamaC1), tg(f16, "tg128", "13.91"))}, // 71.89 ms: 6 %
			{name: "c=16", runs: one(gguf(q4, "16", q4C16), tg(q4, "tg128", "33.28"))},
			{name: "another file", runs: one(gguf(q4, "1", q4C1), tg("llama-2-7b.Q4_0.gguf", "tg128", "39.33"))},
			{name: "prompt processing", runs: one(gguf(q4, "1", q4C1), tg(q4, "pp512", "800.00"))},
			{name: "at a depth", runs: one(gguf(q4, "1", q4C1), set(tg(q4, "tg128", "33.28"), "depth=4096"))},
			{name: "speculative", runs: one(set(gguf(q4, "1", q4C1), "draft_model=x"), tg(q4, "tg128", "33.28"))},
			{name: "one of two speeds", runs: one(gguf(q4, "1", q4C1), tg(q4, "tg128", "33.28"), set(tg(q4, "tg128", "25.25"), "env.X=1"))},
			{name: "no file", runs: one(serve("a", "concurrency=1", q4C1), newRun("llama-bench", "bench", "test=tg128", "avg_ts=33.28"))},
		},
	}
}

// derivedEngine makes the engine of a run a guess: its server's command is unknown.
func derivedEngine(r *bench.Run) *bench.Run {
	r.Config.Set("engine", "vllm", bench.FromDerived)
	return r
}

// precisely makes a metric one of full precision, as a saved JSON has it.
func precisely(r *bench.Run, name string) *bench.Run {
	for i := range r.Metrics {
		if r.Metrics[i].Name == name {
			r.Metrics[i].Decimals = -1
		}
	}
	return r
}

// found compares runs and returns the findings of a code.
func found(t *testing.T, runs []*bench.Run, o Options, code string) []bench.Finding {
	t.Helper()
	rep, err := Compare(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(rep.Findings, func(f bench.Finding) bool { return f.Code != code })
}

func TestChecks(t *testing.T) {
	for code, cases := range checkCases() {
		for _, c := range cases {
			t.Run(code+"/"+c.name, func(t *testing.T) { c.check(t, code) })
		}
	}
}

func (c findingCase) check(t *testing.T, code string) {
	t.Helper()
	got := found(t, c.runs, c.options, code)
	if c.severity == "" {
		if len(got) > 0 {
			t.Errorf("%v, want none", got)
		}
		return
	}
	if len(got) != 1 {
		t.Fatalf("%d findings %v, want 1", len(got), got)
	}
	f := got[0]
	if f.Severity != c.severity {
		t.Errorf("severity %s, want %s", f.Severity, c.severity)
	}
	for _, p := range c.parts {
		if !strings.Contains(f.Message, p) {
			t.Errorf("%q, want %q in it", f.Message, p)
		}
	}
	if c.not != "" && strings.Contains(f.Message, c.not) {
		t.Errorf("%q, want no %q in it", f.Message, c.not)
	}
	if ids := strings.Join(f.Runs, " "); c.about != "" && ids != c.about {
		t.Errorf("about %q, want %q", ids, c.about)
	}
	if strings.Contains(f.Message, "%!") {
		t.Errorf("%q is badly formatted", f.Message)
	}
}

// Every check has a case that makes it speak and two that do not.
func TestEveryCheckHasCases(t *testing.T) {
	codes := []string{"label-vs-physics"}
	for _, c := range runChecks {
		codes = append(codes, c.code)
	}
	for _, c := range sectionChecks {
		codes = append(codes, c.code)
	}
	cases := checkCases()
	for _, code := range codes {
		fires, silent := 0, 0
		for _, c := range cases[code] {
			if c.severity == "" {
				silent++
			} else {
				fires++
			}
		}
		if fires < 1 || silent < 2 {
			t.Errorf("%s: %d cases that fire and %d that do not, want 1 and 2", code, fires, silent)
		}
	}
}

// A finding about a run of repeats tells which of them.
func TestFindingNamesTheRepeat(t *testing.T) {
	a, b := serve("a", "concurrency=16", clean), serve("a", "concurrency=16", clean)
	b.Source.Line = 77
	with(b, "output_throughput=1410.72")
	got := found(t, one(a, b), Options{}, "inconsistent-arithmetic")
	if len(got) != 1 || !strings.HasPrefix(got[0].Message, "a (a.log:77): ") {
		t.Errorf("%v, want one about a.log:77", got)
	}
}

// Checks that validity.md asks for beyond those in TestChecks.
func TestChecksWanted(t *testing.T) {
	for _, c := range []struct {
		code string
		findingCase
	}{
		{"statistics-order",
			findingCase{name: "peak below mean", runs: one(with(serve("a", "", clean), "max_output_tokens_per_s=900.00")), severity: bench.Error, parts: []string{"900.0", "1311"}}},
		// Seed 002: median TTFT 2112.70, mean 1441.22: 1.47 times.
		{"mean-outlier",
			findingCase{name: "bimodal", runs: one(serve("a", "", shareGPT)), severity: bench.Warning, parts: []string{"2113", "1441"}}},
		// 100 + 50 are not 200.
		{"inconsistent-arithmetic",
			findingCase{name: "parts", runs: one(newRun("vllm-serve", "a", "", "input_throughput=100.00 output_throughput=50.00 total_token_throughput=200.00")), severity: bench.Error, parts: []string{"200"}}},
		// 10 offered to one of 4 replicas, which served 4.63; all would serve 18.5.
		{"saturated",
			findingCase{name: "one of 4 replicas", runs: one(replicated(newRun("vllm-serve", "a", "request_rate=10", "completed=1000 duration=215.83 request_throughput=4.63"), 4)), severity: bench.Warning, parts: []string{"10 req/s", "4.63 served"}}},
		{"unlike-workload",
			findingCase{name: "ignore_eos", runs: one(serve("a", "ignore_eos=True", clean), serve("b", "ignore_eos=False", clean)), severity: bench.Warning, parts: []string{"ignore_eos"}}},
		{"confounded",
			findingCase{name: "tp and quantization", runs: one(serve("a", "engine=vllm tp=8", clean), serve("b", "engine=vllm tp=4 quantization=fp8", clean)), severity: bench.Warning, parts: []string{"parallelism", "the model"}}},
		{"confounded",
			findingCase{name: "percent in a label", runs: one(serve("90% mem", "engine=vllm max_num_seqs=256 block_size=16", clean), serve("b", "engine=vllm max_num_seqs=512 block_size=32", clean)), severity: bench.Warning, parts: []string{"90% mem and b differ in"}}},
		// Llama 3 is not the base of Llama 3.1.
		{"model-mismatch",
			findingCase{name: "two versions", runs: one(serve("a", "model=meta-llama/Meta-Llama-3-8B", clean), serve("b", "model=meta-llama/Meta-Llama-3.1-8B-Instruct", clean))}},
		{"coarse-rounding",
			findingCase{name: "locust", runs: one(newRun("locust", "a", "", "request_throughput=0.15 mean_e2el_ms=570"), newRun("locust", "b", "", "request_throughput=0.17 mean_e2el_ms=580")), severity: bench.Note, parts: []string{"0.15"}, not: "computed from completed ÷ duration"}},
		{"statistics-order",
			findingCase{name: "p50 beside median", runs: one(newRun("vllm-serve", "a", "", "p50_ttft_ms=20.00 median_ttft_ms=10.00 p99_ttft_ms=15.00")), severity: bench.Error, parts: []string{"p50_ttft_ms 20.0", "p99_ttft_ms 15.0"}}},
	} {
		t.Run(c.code+"/"+c.name, func(t *testing.T) {
			c.check(t, c.code)
		})
	}
}
