package analyze

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// report compares runs and must succeed.
func report(t *testing.T, runs []*bench.Run, o Options) *Report {
	t.Helper()
	rep, err := Compare(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// column is the place of a metric in a section.
func column(t *testing.T, s *Section, metric string) int {
	t.Helper()
	for i, c := range s.Columns {
		if c.Metric == metric {
			return i
		}
	}
	t.Fatalf("no column %s in %v", metric, s.Columns)
	return 0
}

// bold lists the labels of the rows that are best in a metric.
func bold(t *testing.T, s *Section, metric string) string {
	t.Helper()
	i := column(t, s, metric)
	var names []string
	for _, r := range s.Rows {
		if r.Cells[i].Best {
			names = append(names, r.Label)
		}
	}
	return strings.Join(names, " ")
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }

func TestBold(t *testing.T) {
	v := func(input, config, metrics string) *bench.Run { return newRun("vllm-serve", input, config, metrics) }
	score := func(input, score string) *bench.Run { return newRun("lm-eval", input, "task=x", "accuracy="+score) }
	for _, c := range []struct {
		name    string
		runs    []*bench.Run
		options Options
		metric  string
		want    string
	}{
		{name: "higher", runs: one(v("a", "", "output_throughput=100.00"), v("b", "", "output_throughput=90.00")), metric: "output_throughput", want: "a"},
		{name: "lower", runs: one(v("a", "", "mean_ttft_ms=100.00"), v("b", "", "mean_ttft_ms=90.00")), metric: "mean_ttft_ms", want: "b"},
		{name: "duration", runs: one(v("a", "", "duration=63.81"), v("b", "", "duration=393.36")), metric: "duration", want: "a"},
		{name: "the second of three", runs: one(v("a", "", "output_throughput=1.00"), v("b", "", "output_throughput=3.00"), v("c", "", "output_throughput=2.00")), metric: "output_throughput", want: "b"},
		{name: "numbers, not text", runs: one(v("a", "", "output_throughput=99.00"), v("b", "", "output_throughput=100.00")), metric: "output_throughput", want: "b"},

		// Seed 001, l. 95: 0.15 is a tie at the shown precision, 24.74 and 24.75 is none.
		{name: "tie", runs: one(v("a", "", "request_throughput=0.15"), v("b", "", "request_throughput=0.15"), v("c", "", "request_throughput=0.09")), metric: "request_throughput", want: "a b"},
		{name: "no tie", runs: one(v("a", "", "output_throughput=24.74"), v("b", "", "output_throughput=24.75")), metric: "output_throughput", want: "b"},
		{name: "all tie", runs: one(v("a", "", "mean_ttft_ms=5.00"), v("b", "", "mean_ttft_ms=5.00"), v("c", "", "mean_ttft_ms=5.00")), metric: "mean_ttft_ms", want: "a b c"},
		{name: "tie of losers", runs: one(v("a", "", "mean_ttft_ms=5.00"), v("b", "", "mean_ttft_ms=6.00"), v("c", "", "mean_ttft_ms=6.00")), metric: "mean_ttft_ms", want: "a"},
		// 1000/400 = 2.5 and 1000/400.1 = 2.4994 both read 2.50.
		{name: "tie of derived figures", runs: one(v("a", "", "mean_tpot_ms=400.0"), v("b", "", "mean_tpot_ms=400.1")), options: Options{Metrics: []string{"tok_s_per_user", "mean_tpot_ms"}}, metric: "tok_s_per_user", want: "a b"},

		{name: "partial never wins", runs: one(v("a", "", "completed=64 attempted=64 output_throughput=72.17"), v("b", "", "completed=64 attempted=64 output_throughput=70.00"), v("c", "", "completed=36 attempted=64 output_throughput=80.00")), metric: "output_throughput", want: "a"},
		{name: "one rival, partial", runs: one(v("a", "", "completed=64 attempted=64 output_throughput=72.17"), v("b", "", "completed=36 attempted=64 output_throughput=66.85")), metric: "output_throughput", want: ""},
		{name: "partial included", runs: one(v("a", "", "completed=64 attempted=64 output_throughput=72.17"), v("b", "", "completed=36 attempted=64 output_throughput=80.00")), options: Options{IncludePartial: true}, metric: "output_throughput", want: "b"},
		// Seed 001, c=16 FP16: vLLM's TPOT 162.64 is below 175.86.
		{name: "partial included, seed 001", runs: one(serve("vllm", "concurrency=16", vllmC16), serve("llama", "concurrency=16", llamaC16)), options: Options{IncludePartial: true}, metric: "mean_tpot_ms", want: "vllm"},
		{name: "partial, seed 001", runs: one(serve("vllm", "concurrency=16", vllmC16), serve("llama", "concurrency=16", llamaC16)), metric: "mean_tpot_ms", want: ""},
		{name: "all partial", runs: one(serve("q8", "", q8C1), serve("q4", "", q4C1)), metric: "duration", want: ""},
		{name: "all partial, included", runs: one(serve("q8", "", q8C1), serve("q4", "", q4C1)), options: Options{IncludePartial: true}, metric: "duration", want: "q4"},

		{name: "no direction", runs: one(serve("a", "", clean), serve("b", "", clean)), options: Options{Metrics: []string{"total_output_tokens", "duration"}}, metric: "total_output_tokens", want: ""},
		{name: "unknown metric", runs: one(v("a", "", "oddity=1 duration=90.00"), v("b", "", "oddity=2 duration=91.00")), options: Options{Metrics: []string{"oddity"}}, metric: "oddity", want: ""},
		{name: "single row", runs: one(serve("a", "", clean)), metric: "output_throughput", want: ""},
		{name: "repeats of one thing", runs: one(serve("a", "", clean), serve("a", "", clean)), metric: "output_throughput", want: ""},
		{name: "one has it", runs: one(v("a", "", "duration=9.00 mean_ttft_ms=5.00"), v("b", "", "duration=9.00")), metric: "mean_ttft_ms", want: ""},

		{name: "one sweep", runs: one(labelled(serve("a", "concurrency=1", vllmC1), "c1"), labelled(serve("a", "concurrency=8", vllmC8), "c8"), labelled(serve("a", "concurrency=16", vllmC16), "c16")), metric: "output_throughput", want: ""},
		{name: "two at 16", runs: one(labelled(v("a", "concurrency=1", "output_throughput=8.61"), "a1"), labelled(v("a", "concurrency=16", "output_throughput=72.17"), "a16"), labelled(v("b", "concurrency=16", "output_throughput=178.68"), "b16")), metric: "output_throughput", want: "b16"},
		{name: "two sweeps", runs: one(labelled(v("a", "concurrency=1", "output_throughput=8.61"), "a1"), labelled(v("a", "concurrency=16", "output_throughput=200.00"), "a16"), labelled(v("b", "concurrency=1", "output_throughput=24.75"), "b1"), labelled(v("b", "concurrency=16", "output_throughput=178.68"), "b16")), metric: "output_throughput", want: "a16 b1"},
		{name: "unlike datasets", runs: one(v("a", "dataset=random", "output_throughput=8.61"), v("b", "dataset=sharegpt", "output_throughput=72.17")), metric: "output_throughput", want: ""},
		{name: "num_prompts and duration", runs: one(v("a", "concurrency=8 num_prompts=64", "duration=100.00"), v("b", "concurrency=8 num_prompts=128", "duration=200.00")), metric: "duration", want: ""},
		{name: "num_prompts and throughput", runs: one(v("a", "concurrency=8 num_prompts=64", "output_throughput=100.00"), v("b", "concurrency=8 num_prompts=128", "output_throughput=200.00")), metric: "output_throughput", want: "b"},

		// 278 and 37 input tokens a request
		{name: "unlike prompts, tok/s", runs: one(serve("a", "", vllmC16), with(serve("b", "", vllmC16), "total_input_tokens=2380 output_throughput=80.00")), metric: "output_throughput", want: ""},
		{name: "unlike prompts, TTFT", runs: one(serve("a", "", vllmC16), with(serve("b", "", vllmC16), "total_input_tokens=2380 mean_ttft_ms=497.90")), metric: "mean_ttft_ms", want: ""},
		// The best has no fair rival: a worse one in bold would be a riddle.
		{name: "unlike prompts, a third", runs: one(serve("a", "", vllmC16), with(serve("b", "", vllmC16), "total_input_tokens=2380 mean_ttft_ms=497.90"), with(serve("c", "", vllmC16), "mean_ttft_ms=800.00")), metric: "mean_ttft_ms", want: ""},
		{name: "unlike prompts, not the best", runs: one(serve("a", "", vllmC16), with(serve("b", "", vllmC16), "total_input_tokens=2380 mean_ttft_ms=900.00"), with(serve("c", "", vllmC16), "mean_ttft_ms=800.00")), metric: "mean_ttft_ms", want: "c"},
		// 262144·1.05 = 275251
		{name: "5 % of input, TTFT", runs: one(serve("a", "", clean), with(serve("b", "", clean), "total_input_tokens=275251 mean_ttft_ms=180.00")), metric: "mean_ttft_ms", want: ""},
		{name: "5 % of input, tok/s", runs: one(serve("a", "", clean), with(serve("b", "", clean), "total_input_tokens=275251 output_throughput=1400.00")), metric: "output_throughput", want: "b"},

		// Seed 001: GPTQ generated 12765 tokens in 85.72 s, FP16 11256 in 155.97 s.
		{name: "more and faster", runs: one(serve("fp16", "", vllmC16), serve("gptq", "", gptqC16)), metric: "duration", want: "gptq"},
		{name: "more and more req/s", runs: one(serve("fp16", "", vllmC16), serve("gptq", "", gptqC16)), metric: "request_throughput", want: "gptq"},
		{name: "less and faster", runs: one(serve("fp16", "", vllmC16), with(serve("gptq", "", gptqC16), "total_output_tokens=9000")), metric: "duration", want: ""},
		{name: "less and faster, tok/s", runs: one(serve("fp16", "", vllmC16), with(serve("gptq", "", gptqC16), "total_output_tokens=9000")), metric: "output_throughput", want: "gptq"},
		// +3.7 % is like for like: FP16 wins with the fewer tokens.
		{name: "w8a8", runs: one(serve("fp16", "", vllmC16), serve("w8a8", "", w8a8C16)), metric: "duration", want: "fp16"},

		{name: "zero latency", runs: one(v("a", "", "completed=9 mean_tpot_ms=0.00"), v("b", "", "completed=9 mean_tpot_ms=5.00"), v("c", "", "completed=9 mean_tpot_ms=6.00")), metric: "mean_tpot_ms", want: "b"},
		{name: "zero and one rival", runs: one(v("a", "", "completed=9 mean_tpot_ms=0.00"), v("b", "", "completed=9 mean_tpot_ms=5.00")), metric: "mean_tpot_ms", want: ""},

		// Seed 003: 0.0014 apart, 1.96·√(0.0135² + 0.0134²) = 0.0373.
		{name: "scores alike", runs: one(score("fp16", "0.8466±0.0135"), score("fp8", "0.848±0.0134")), metric: "accuracy", want: "fp16 fp8"},
		// 1.96·√2·0.01 = 0.02772
		{name: "scores 0.027 apart", runs: one(score("a", "0.800±0.010"), score("b", "0.827±0.010")), metric: "accuracy", want: "a b"},
		{name: "scores 0.028 apart", runs: one(score("a", "0.800±0.010"), score("b", "0.828±0.010")), metric: "accuracy", want: "b"},
		{name: "scores without error", runs: one(score("a", "0.8466"), score("b", "0.8480")), metric: "accuracy", want: "b"},

		// Seed 000: 671.54·4 = 2686.16 against 2993.85; TTFT 420.74 against 564.63.
		{name: "extrapolated, tok/s", runs: one(serve("tp8", "concurrency=128", tp8), replicated(serve("tp2x4", "concurrency=32", tp2x4), 4)), metric: "output_throughput", want: "tp8"},
		{name: "extrapolated, TTFT", runs: one(serve("tp8", "concurrency=128", tp8), replicated(serve("tp2x4", "concurrency=32", tp2x4), 4)), metric: "mean_ttft_ms", want: "tp2x4"},
		{name: "extrapolated wins tok/s", runs: one(serve("tp8", "concurrency=160", tp8), replicated(serve("tp2x5", "concurrency=32", tp2x4), 5)), metric: "output_throughput", want: "tp2x5"}, // 3357.70

		{name: "ITL per chunk", runs: one(serve("tp8", "", tp8), serve("pp4", "", tp2pp4)), options: Options{Metrics: []string{"mean_itl_ms"}}, metric: "mean_itl_ms", want: ""},
		{name: "median ITL per chunk", runs: one(serve("a", "", sd1Bk5), serve("b", "", sd8B)), options: Options{Metrics: []string{"median_itl_ms"}}, metric: "median_itl_ms", want: ""},
		{name: "TPOT beside chunks", runs: one(serve("tp8", "", tp8), serve("pp4", "", tp2pp4)), metric: "mean_tpot_ms", want: "tp8"},
		{name: "ITL per token beside chunks", runs: one(serve("tp8", "", tp8), serve("pp4", "", tp2pp4), serve("tp2", "", tp2x4)), options: Options{Metrics: []string{"mean_itl_ms"}}, metric: "mean_itl_ms", want: "tp8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := report(t, c.runs, c.options)
			if len(rep.Sections) != 1 {
				t.Fatalf("%d tables, want 1", len(rep.Sections))
			}
			if got := bold(t, rep.Sections[0], c.metric); got != c.want {
				t.Errorf("best is %q, want %q", got, c.want)
			}
		})
	}
}

// With repeats all that cannot be told apart from the best is bold.
func TestBoldRepeats(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		want string
	}{
		// Means about 100 and 100.2, sample sd 10 each: Welch's t is 0.03.
		{"alike", []float64{90, 100, 110}, []float64{90.2, 100.2, 110.2}, "a b"},
		// 10 % apart, sample sd 0.5: Welch's t is over 20.
		{"unlike", []float64{99.5, 100, 100.5}, []float64{109.5, 110, 110.5}, "b"},
	} {
		var runs []*bench.Run
		for i := range c.a {
			a := newRun("vllm-serve", "a", "", fmt.Sprintf("output_throughput=%.2f", c.a[i]))
			b := newRun("vllm-serve", "b", "", fmt.Sprintf("output_throughput=%.2f", c.b[i]))
			a.Source.Line, b.Source.Line = i+1, i+1
			runs = append(runs, a, b)
		}
		if got := bold(t, report(t, runs, Options{}).Sections[0], "output_throughput"); got != c.want {
			t.Errorf("%s: best is %q, want %q", c.name, got, c.want)
		}
	}
}

// What DESIGN.md asks of bold cells that the code does not do.
func TestBoldWanted(t *testing.T) {
	t.Run("a latency of no request", func(t *testing.T) {
		runs := one(newRun("vllm-serve", "a", "", "completed=64 attempted=64 mean_ttft_ms=100.00"), newRun("vllm-serve", "b", "", "completed=0 attempted=64 mean_ttft_ms=0.00"))
		if got := bold(t, report(t, runs, Options{IncludePartial: true}).Sections[0], "mean_ttft_ms"); got != "" {
			t.Errorf("best is %q, want none", got)
		}
	})
}

// llama makes a row of llama-bench.
func llama(input, config, ts string) *bench.Run {
	return newRun("llama-bench", input, config, "avg_ts="+ts)
}

// table writes a section: the keys of a row, then its cells, the best with a star.
func table(s *Section) string {
	var b strings.Builder
	for _, c := range s.Columns {
		b.WriteString(" " + c.Metric + ":" + c.Variant)
	}
	for _, r := range s.Rows {
		b.WriteString("\n" + strings.Join(r.Keys, " "))
		for _, c := range r.Cells {
			b.WriteString(" | ")
			if len(c.Runs) > 0 {
				b.WriteString(c.Text())
			}
			if c.Best {
				b.WriteString("*")
			}
		}
	}
	return b.String()
}

func TestPivot(t *testing.T) {
	const hip = "env.ROCBLAS_USE_HIPBLASLT"
	for _, c := range []struct {
		name   string
		runs   []*bench.Run
		want   string
		varies string
	}{
		// With a spread 2.7 % are a difference, 0.25 % are none that matters.
		{name: "by input", varies: "input", want: " avg_ts:old avg_ts:new\npp512 | 878.20 | 902.10*\ntg128 | 39.33* | 39.23*",
			runs: one(llama("old", "model=m test=pp512", "878.20±1.70"), llama("old", "model=m test=tg128", "39.33±0.00"), llama("new", "model=m test=pp512", "902.10±2.00"), llama("new", "model=m test=tg128", "39.23±0.06"))},
		{name: "by input, other order", varies: "input", want: " avg_ts:old avg_ts:new\npp512 | 878.20 | 902.10*\ntg128 | 39.33* | 39.23",
			runs: one(llama("old", "model=m test=pp512", "878.20"), llama("new", "model=m test=tg128", "39.23"), llama("old", "model=m test=tg128", "39.33"), llama("new", "model=m test=pp512", "902.10"))},
		{name: "a build for each input", varies: "input", want: " avg_ts:old avg_ts:new\npp512 | 878.20 | 902.10*\ntg128 | 39.33 | 40.00*",
			runs: one(llama("old", "test=pp512 build=5740", "878.20"), llama("old", "test=tg128 build=5740", "39.33"), llama("new", "test=pp512 build=5800", "902.10"), llama("new", "test=tg128 build=5800", "40.00"))},
		{name: "a test of one input", varies: "input", want: " avg_ts:old avg_ts:new\npp512 | 878.20 | 902.10*\ntg128 | 39.33 | ",
			runs: one(llama("old", "test=pp512", "878.20"), llama("old", "test=tg128", "39.33"), llama("new", "test=pp512", "902.10"))},
		{name: "depths", varies: "input", want: " avg_ts:a avg_ts:b\n | 39.33* | 39.23\n4096 | 30.00 | 31.00*",
			runs: one(llama("a", "test=tg128", "39.33"), llama("a", "test=tg128 depth=4096", "30.00"), llama("b", "test=tg128", "39.23"), llama("b", "test=tg128 depth=4096", "31.00"))},
		{name: "tie", varies: "input", want: " avg_ts:a avg_ts:b\n | 39.33* | 39.33*",
			runs: one(llama("a", "test=tg128 model=m", "39.33±0.01"), llama("b", "test=tg128 model=m", "39.33±0.02"))},
		// Seed 001 runs llama-bench with and without hipBLASLt; tg there is 39.33
		// and 39.23.
		{name: "by variable", varies: hip, want: " avg_ts:base avg_ts:ROCBLAS_USE_HIPBLASLT=1\npp512 | 800.00 | 878.20*\ntg128 | 39.33* | 39.23",
			runs: one(llama("a", "test=pp512", "800.00"), llama("a", "test=tg128", "39.33"), llama("a", "test=pp512 "+hip+"=1", "878.20"), llama("a", "test=tg128 "+hip+"=1", "39.23"))},
		{name: "by fa", varies: "fa", want: " avg_ts:fa=0 avg_ts:fa=1\n | 800.00 | 878.20*",
			runs: one(llama("a", "test=pp512 fa=0", "800.00"), llama("a", "test=pp512 fa=1", "878.20"))},
		{name: "nothing to pivot", want: " avg_ts:\npp512 | 878.20\ntg128 | 39.33",
			runs: one(llama("a", "test=pp512", "878.20"), llama("a", "test=tg128", "39.33"))},
		{name: "models are rows", want: " avg_ts:\nq4 | 33.28*\nq8 | 25.25",
			runs: one(llama("a", "test=tg128 model=q4", "33.28"), llama("a", "test=tg128 model=q8", "25.25"))},
		{name: "a variable for one test only", want: " avg_ts:\npp512  | 800.00\npp512 1 | 878.20*\ntg128  | 39.33",
			runs: one(llama("a", "test=pp512", "800.00"), llama("a", "test=pp512 "+hip+"=1", "878.20"), llama("a", "test=tg128", "39.33"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := report(t, c.runs, Options{}).Sections[0]
			got := table(s)
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if s.Varies != c.varies || s.Across != (c.varies != "") {
				t.Errorf("varies in %q (%v), want %q", s.Varies, s.Across, c.varies)
			}
		})
	}
}

func TestPivotComparisons(t *testing.T) {
	runs := one(llama("old", "model=m test=pp512", "800.00±1.70"), llama("old", "model=m test=tg128", "40.00±0.10"), llama("new", "model=m test=pp512", "880.00±2.00"), llama("new", "model=m test=tg128", "39.00±0.06"))
	for _, c := range []struct {
		baseline, base, head string
		deltas               []float64
	}{
		{"", "old", "new", []float64{10, -2.5}},                             // 880/800, 39/40
		{"new", "new", "old", []float64{-100. / 11, 100 * (40.0/39.0 - 1)}}, // 800/880 = 10/11
	} {
		rep := report(t, runs, Options{Baseline: c.baseline})
		if len(rep.Comparisons) != 2 {
			t.Fatalf("%d comparisons, want 2", len(rep.Comparisons))
		}
		for i, got := range rep.Comparisons {
			if got.Base != c.base || got.Head != c.head || !near(got.DeltaPct, c.deltas[i]) {
				t.Errorf("%s to %s %v %%, want %s to %s %v %%", got.Base, got.Head, got.DeltaPct, c.base, c.head, c.deltas[i])
			}
			if got.Evidence != EvidenceProcess {
				t.Errorf("evidence %s, want %s", got.Evidence, EvidenceProcess)
			}
			if test := [...]string{"pp512", "tg128"}[i]; len(got.Key) == 0 || got.Key[len(got.Key)-1] != (bench.Setting{Key: "test", Value: test}) {
				t.Errorf("key %v, want test %s", got.Key, test)
			}
		}
	}
}

// Rows that differ in a setting outside MainKeys are not repeats: llama-bench
// -mmp 0,1 measures two things.
func TestPivotKeepsSettingsApart(t *testing.T) {
	rep := report(t, one(llama("a", "test=tg128 mmap=0", "40.00"), llama("a", "test=tg128 mmap=1", "20.00"), llama("b", "test=tg128 mmap=0", "41.00"), llama("b", "test=tg128 mmap=1", "21.00")), Options{})
	for _, row := range rep.Sections[0].Rows {
		for _, c := range row.Cells {
			if len(c.Runs) > 1 {
				t.Errorf("%s is the mean of %d settings", c.Text(), len(c.Runs))
			}
		}
	}
}

func TestBaseline(t *testing.T) {
	a, b, c := labelled(serve("a", "tp=1", clean), "first"), serve("b", "tp=1", faster), serve("c", "tp=1", faster)
	for _, x := range []struct{ baseline, want, heads string }{
		{"", "a", "b c"}, {"a", "a", "b c"}, {"b", "b", "a c"}, {"c", "c", "a b"}, {"first", "a", "b c"},
	} {
		rep := report(t, one(a, b, c), Options{Baseline: x.baseline, Metrics: []string{"duration"}})
		var heads []string
		for _, cmp := range rep.Comparisons {
			heads = append(heads, cmp.Head)
			if cmp.Base != x.want {
				t.Errorf("--baseline %q: against %s, want %s", x.baseline, cmp.Base, x.want)
			}
		}
		if got := strings.Join(heads, " "); got != x.heads {
			t.Errorf("--baseline %q: of %s, want %s", x.baseline, got, x.heads)
		}
	}
	if rep := report(t, one(a, b), Options{}); rep.Baseline != "a" {
		t.Errorf("baseline %q, want a", rep.Baseline)
	}
	// Of one input the first is the baseline.
	rep := report(t, one(labelled(serve("a", "tp=8", tp8), "tp8"), labelled(serve("a", "tp=2 pp=4", tp2pp4), "pp4")), Options{Metrics: []string{"duration"}})
	if len(rep.Comparisons) != 1 || rep.Comparisons[0].Base != "tp8" || rep.Comparisons[0].Head != "pp4" {
		t.Errorf("%v, want pp4 against tp8", rep.Comparisons)
	}
}

// The first input stays the baseline when rows are sorted.
func TestBaselineSurvivesSort(t *testing.T) {
	rep := report(t, one(serve("a", "", clean), serve("b", "", faster)), Options{Sort: "output_throughput"})
	for _, c := range rep.Comparisons {
		if c.Base != "a" || c.Head != "b" {
			t.Errorf("%s of %s against %s, want b against a", c.Metric, c.Head, c.Base)
		}
	}
}

// Two sweeps are compared point by point, in whatever order they stand. The
// values of a are those of seed 001; b is twice as fast.
func TestPartners(t *testing.T) {
	v := func(input, c, out string) *bench.Run {
		return newRun("vllm-serve", input, "model=m concurrency="+c, "output_throughput="+out)
	}
	rep := report(t, one(v("a", "1", "8.61"), v("a", "8", "49.41"), v("a", "16", "72.17"), v("b", "16", "144.34"), v("b", "1", "17.22"), v("b", "8", "98.82")), Options{})
	want := map[string][2]float64{"1": {8.61, 17.22}, "8": {49.41, 98.82}, "16": {72.17, 144.34}}
	if len(rep.Comparisons) != 3 {
		t.Fatalf("%d comparisons, want 3", len(rep.Comparisons))
	}
	for _, c := range rep.Comparisons {
		if len(c.Key) != 1 || c.Key[0].Key != "concurrency" {
			t.Errorf("key %v, want the concurrency", c.Key)
			continue
		}
		w := want[c.Key[0].Value]
		delete(want, c.Key[0].Value)
		if c.BaseValue != w[0] || c.HeadValue != w[1] || !near(c.DeltaPct, 100) || c.Verdict != Inconclusive {
			t.Errorf("at %s %v to %v, %v %%, %s; want %v, 100 %%, inconclusive", c.Key[0].Value, c.BaseValue, c.HeadValue, c.DeltaPct, c.Verdict, w)
		}
	}
	if !rep.Sections[0].Groups {
		t.Error("the table is not of several workloads")
	}

	// Partners are told by their settings, too.
	rep = report(t, one(set(v("a", "16", "10.00"), "tp=8"), set(v("a", "16", "20.00"), "tp=2"), set(v("b", "16", "30.00"), "tp=2"), set(v("b", "16", "40.00"), "tp=8")), Options{})
	if len(rep.Comparisons) != 2 || rep.Comparisons[0].BaseValue != 20 || rep.Comparisons[1].BaseValue != 10 {
		t.Errorf("%+v, want 30 against 20 and 40 against 10", rep.Comparisons)
	}

	// The workload counts before the settings.
	rep = report(t, one(set(v("a", "1", "10.00"), "tp=8 quant=q"), set(v("a", "16", "20.00"), "tp=2"), set(v("b", "16", "30.00"), "tp=8 quant=q")), Options{})
	if len(rep.Comparisons) != 1 || rep.Comparisons[0].BaseValue != 20 {
		t.Errorf("%+v, want 30 against 20", rep.Comparisons)
	}

	// What has no partner is incomparable, and the reason says why.
	rep = report(t, one(v("a", "1", "8.61"), v("a", "8", "49.41"), v("b", "8", "98.82"), v("b", "32", "150.00")), Options{})
	if len(rep.Comparisons) != 2 || rep.Comparisons[0].Verdict != Inconclusive || rep.Comparisons[1].Verdict != Incomparable || !strings.Contains(rep.Comparisons[1].Reason, "concurrency") || rep.Passed() {
		t.Errorf("%+v, want the second incomparable", rep.Comparisons)
	}
}

// base and head are inputs; what tells the points of a sweep apart is the key.
func TestComparisonNames(t *testing.T) {
	rep := report(t, one(serve("a", "concurrency=8", vllmC8), serve("a", "concurrency=16", vllmC16), serve("b", "concurrency=8", vllmC8), serve("b", "concurrency=16", vllmC16)), Options{})
	for _, c := range rep.Comparisons {
		if c.Base != "a" || c.Head != "b" {
			t.Errorf("%q to %q, want a to b", c.Base, c.Head)
		}
	}
}

// Deltas are of the figures behind the printed ones.
func TestDelta(t *testing.T) {
	v := func(input, metrics string) *bench.Run { return newRun("vllm-serve", input, "", metrics) }
	slow := v("a", "completed=64 duration=1295.40 request_throughput=0.05") // 0.0494056
	for _, c := range []struct {
		name       string
		base, head *bench.Run
		metric     string
		want       [3]float64 // base, head, delta
	}{
		// 64/810 = 0.0790123; 1295.40/810 = 1.5992593. The cells give +60 %.
		{"0.05 to 0.08", slow, v("b", "completed=64 duration=810.00 request_throughput=0.08"), "request_throughput", [3]float64{64 / 1295.4, 0.0790123457, 59.9259259}},
		// 64/864 = 0.0740741; 1295.40/864 = 1.4993056. The cells give +40 %.
		{"0.05 to 0.07", slow, v("b", "completed=64 duration=864.00 request_throughput=0.07"), "request_throughput", [3]float64{64 / 1295.4, 0.0740740741, 49.9305556}},
		// 64/810 is not 0.07: the printed figure stands. 0.07/0.0494056 = 1.4168438
		{"0.07 in doubt", slow, v("b", "completed=64 duration=810.00 request_throughput=0.07"), "request_throughput", [3]float64{64 / 1295.4, 0.07, 41.6843750}},
		// 0.07/0.05
		{"no counts", v("a", "request_throughput=0.05"), v("b", "request_throughput=0.07"), "request_throughput", [3]float64{0.05, 0.07, 40}},
		// 2993.85 has six digits, 63.81 four: the printed figure is the better one.
		{"printed is better", serve("a", "", tp2pp4), serve("b", "", tp8), "output_throughput", [3]float64{487.14, 2993.85, 514.5769183}},
		// 3.58·4: 1024/286.06·4 = 14.3186744; 16.05 is 1024/63.81 = 16.0476414.
		{"replicas", serve("a", "concurrency=128", tp8), replicated(serve("b", "concurrency=32", tp2x4), 4), "request_throughput", [3]float64{16.0476414, 14.3186744, -10.7739634}},
		{"latency", v("a", "mean_ttft_ms=200.00"), v("b", "mean_ttft_ms=150.00"), "mean_ttft_ms", [3]float64{200, 150, -25}},
		{"equal", v("a", "mean_ttft_ms=200.00"), v("b", "mean_ttft_ms=200.00"), "mean_ttft_ms", [3]float64{200, 200, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := report(t, one(c.base, c.head), Options{Metrics: []string{c.metric}})
			if len(rep.Comparisons) != 1 {
				t.Fatalf("%d comparisons, want 1", len(rep.Comparisons))
			}
			got := rep.Comparisons[0]
			for i, x := range [3]float64{got.BaseValue, got.HeadValue, got.DeltaPct} {
				if math.Abs(x-c.want[i]) > 2e-6*math.Max(1, math.Abs(c.want[i])) {
					t.Errorf("%v, want %v", x, c.want[i])
				}
			}
			if got.Evidence != EvidenceSingle || got.Verdict != Inconclusive || got.N != [2]int{1, 1} || got.Metric != c.metric || got.Base != "a" || got.Head != "b" {
				t.Errorf("%+v, want single and inconclusive of a and b", got)
			}
		})
	}
}

func TestIncomparable(t *testing.T) {
	slots := func(input, metrics string) *bench.Run {
		return newRun("llama-server", input, "program=llama-server", metrics)
	}
	benchy := func(input, config string) *bench.Run {
		return newRun("llama-benchy", input, "test=tg128 "+config, "avg_ts=50.00")
	}
	batched := func(input, config string) *bench.Run {
		return newRun("llama-batched-bench", input, "input_len=512 "+config, "speed_pp=50.00")
	}
	ppl := func(input, config string) *bench.Run {
		return newRun("llama-perplexity", input, config, "perplexity=6.12")
	}
	for _, c := range []struct {
		name   string
		a, b   *bench.Run
		o      Options
		metric string
		want   string // in the reason; "" where it can be compared
	}{
		{"partial", serve("a", "", vllmC16), serve("b", "", llamaC16), Options{}, "mean_tpot_ms", "36 of 64"},
		{"partial included", serve("a", "", vllmC16), serve("b", "", llamaC16), Options{IncludePartial: true}, "mean_tpot_ms", ""},
		{"concurrency", serve("a", "concurrency=8", vllmC8), serve("b", "concurrency=16", vllmC16), Options{}, "mean_tpot_ms", "concurrency 8 and 16"},
		{"input tokens", serve("a", "", clean), with(serve("b", "", faster), "total_input_tokens=524288"), Options{}, "mean_ttft_ms", "256.0 and 512.0 input tokens"},
		{"fewer tokens", serve("a", "", clean), with(serve("b", "", faster), "total_output_tokens=104857"), Options{}, "duration", "128.0 and 102.4 output tokens"},
		{"fewer tokens, tok/s", serve("a", "", clean), with(serve("b", "", faster), "total_output_tokens=104857"), Options{}, "output_throughput", ""},
		{"more tokens and faster", serve("a", "", clean), with(serve("b", "", faster), "total_output_tokens=150000"), Options{}, "duration", ""},
		{"num_prompts", serve("a", "concurrency=8 num_prompts=10", clean), serve("b", "concurrency=8 num_prompts=20", faster), Options{}, "duration", "10 and 20"},
		{"num_prompts, tok/s", serve("a", "concurrency=8 num_prompts=10", clean), serve("b", "concurrency=8 num_prompts=20", faster), Options{}, "output_throughput", ""},
		// All requests at once: their number is the load.
		{"all at once", serve("a", "request_rate=inf num_prompts=10", clean), serve("b", "request_rate=inf num_prompts=20", faster), Options{}, "output_throughput", "10 and 20"},
		{"seed", serve("a", "seed=0", clean), serve("b", "seed=1", faster), Options{}, "duration", ""},
		// A log of llama-server tells its load by what it counts.
		{"as many requests", slots("a", "generation_tok_s_per_request=50.00 timed_requests=20 prompt_tokens_evaluated=1000 tokens_generated=2000"), slots("b", "generation_tok_s_per_request=60.00 timed_requests=20 prompt_tokens_evaluated=1000 tokens_generated=2010"), Options{}, "generation_tok_s_per_request", ""},
		{"more requests", slots("a", "generation_tok_s_per_request=50.00 timed_requests=20 tokens_generated=2000"), slots("b", "generation_tok_s_per_request=60.00 timed_requests=21 tokens_generated=2000"), Options{}, "generation_tok_s_per_request", "the load behind a server log"},
		{"longer prompts", slots("a", "generation_tok_s_per_request=50.00 timed_requests=20 prompt_tokens_evaluated=1000"), slots("b", "generation_tok_s_per_request=60.00 timed_requests=20 prompt_tokens_evaluated=2000"), Options{}, "generation_tok_s_per_request", "the load behind a server log"},
		{"depth of llama-benchy", benchy("a", ""), benchy("b", "depth=4096"), Options{}, "avg_ts", "depth none and 4096"},
		{"prompt of llama-benchy", benchy("a", "input_len=512"), benchy("b", "input_len=8192"), Options{}, "avg_ts", "input_len 512 and 8192"},
		{"shared prompt", batched("a", "is_pp_shared=0"), batched("b", "is_pp_shared=1"), Options{}, "speed_pp", "is_pp_shared 0 and 1"},
		{"chunks of a text", ppl("a", "chunks=16"), ppl("b", "chunks=655"), Options{}, "perplexity", "chunks 16 and 655"},
		{"context of a text", ppl("a", "n_ctx=512"), ppl("b", "n_ctx=4096"), Options{}, "perplexity", "n_ctx 512 and 4096"},
		{"chunks", serve("a", "", tp8), serve("b", "", tp2pp4), Options{}, "mean_itl_ms", "9.6 tokens"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.o.Metrics = []string{c.metric}
			rep := report(t, one(c.a, c.b), c.o)
			if len(rep.Comparisons) != 1 {
				t.Fatalf("%d comparisons, want 1", len(rep.Comparisons))
			}
			got := rep.Comparisons[0]
			if (got.Verdict == Incomparable) != (c.want != "") || !strings.Contains(got.Reason, c.want) {
				t.Errorf("%s: %s, want %q", got.Verdict, got.Reason, c.want)
			}
			if rep.Passed() != (c.want == "") {
				t.Errorf("passed %v", rep.Passed())
			}
		})
	}
	// A metric without direction is not compared at all.
	if rep := report(t, one(serve("a", "", clean), serve("b", "", clean)), Options{Metrics: []string{"total_output_tokens"}}); len(rep.Comparisons) != 0 {
		t.Errorf("%v, want none", rep.Comparisons)
	}
}

func TestRepeats(t *testing.T) {
	v := func(input, config, metrics string) *bench.Run { return newRun("vllm-serve", input, config, metrics) }
	rep := report(t, one(v("a", "seed=0", "output_throughput=10.00"), v("a", "seed=1", "output_throughput=12.00"), v("a", "seed=2", "output_throughput=14.00"),
		v("b", "", "output_throughput=20.0"), v("b", "", "output_throughput=22.00")), Options{})
	s := rep.Sections[0]
	if len(s.Rows) != 2 {
		t.Fatalf("%d rows, want 2", len(s.Rows))
	}
	// Changes are ratios, so means are geometric (statistics.md, 2.1): ∛(10·12·14) =
	// ∛1680 = 11.8878439. Squares of deviations from 12: 4 + 0 + 4, over n − 1 = 2: sd 2.
	if c := s.Rows[0].Cells[0]; !near(c.Value, 11.8878439) || c.Std != 2 || !c.HasStd || c.N != 3 || len(c.Samples) != 3 || c.Text() != "11.89" {
		t.Errorf("%+v, want 11.89 ± 2, n 3", c.Metric)
	}
	// √(20·22) = 20.9761770; deviations 1 and 1 from 21, over 1: sd √2. The finer
	// digits are shown.
	if c := s.Rows[1].Cells[0]; !near(c.Value, 20.9761770) || !near(c.Std, math.Sqrt2) || c.N != 2 || c.Text() != "20.98" {
		t.Errorf("%+v, want 20.98 ± 1.414, n 2", c.Metric)
	}
	// 20.9761770/11.8878439 = 1.7645064
	if c := rep.Comparisons[0]; c.N != [2]int{3, 2} || c.Evidence != EvidenceRepeats || !near(c.BaseValue, 11.8878439) || !near(c.HeadValue, 20.9761770) || !near(c.DeltaPct, 76.45064) {
		t.Errorf("%+v, want 11.89 to 20.98, +76.45 %%, n 3 and 2", c)
	}
}

func TestWhatAreRepeats(t *testing.T) {
	base := func() *bench.Run { return serve("a", "model=m concurrency=16 max_num_seqs=256", clean) }
	for _, c := range []struct {
		name string
		a, b *bench.Run
		rows int
	}{
		{name: "the same again", a: base(), b: base(), rows: 1},
		{name: "other figures", a: base(), b: with(base(), "duration=90.00 mean_ttft_ms=180.00"), rows: 1},
		{name: "another seed", a: set(base(), "seed=0"), b: set(base(), "seed=1"), rows: 1},
		{name: "another file", a: base(), b: func() *bench.Run { r := base(); r.Source.File = "z.log"; return r }(), rows: 1},
		{name: "a token more", a: base(), b: with(base(), "total_output_tokens=131073 total_input_tokens=262145"), rows: 1},
		{name: "another input", a: base(), b: serve("b", "model=m concurrency=16 max_num_seqs=256", clean), rows: 2},
		{name: "another label", a: base(), b: labelled(base(), "x"), rows: 2},
		{name: "another concurrency", a: base(), b: set(base(), "concurrency=8"), rows: 2},
		{name: "another flag", a: base(), b: set(base(), "max_num_seqs=512"), rows: 2},
		{name: "other requests", a: base(), b: with(base(), "completed=512 attempted=512"), rows: 2},
		{name: "a partial one", a: base(), b: with(base(), "completed=1000"), rows: 1}, // asked for the same
		{name: "other prompts", a: base(), b: with(base(), "total_input_tokens=524288"), rows: 2},
		{name: "another score", a: newRun("lm-eval", "a", "task=x", "accuracy=0.5"), b: newRun("lm-eval", "a", "task=x", "f1=0.5"), rows: 2},
		// 16889/64 = 263.9 and 16903/64 = 264.1: 0.08 % apart.
		{name: "prompts 0.08 % apart", rows: 1,
			a: with(base(), "completed=64 attempted=64 total_input_tokens=16889"), b: with(base(), "completed=64 attempted=64 total_input_tokens=16903")},
		// 9 and 22 tokens a request
		{name: "short prompts", rows: 2,
			a: with(base(), "total_input_tokens=9216"), b: with(base(), "total_input_tokens=22528")},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := len(report(t, one(c.a, c.b), Options{}).Sections[0].Rows); got != c.rows {
				t.Errorf("%d rows, want %d", got, c.rows)
			}
		})
	}
}

func TestSort(t *testing.T) {
	v := func(input, metrics string) *bench.Run { return newRun("vllm-serve", input, "", metrics) }
	runs := one(v("a", "duration=30.00 output_throughput=2.00"), v("b", "duration=9.00"), v("c", "duration=200.00 output_throughput=3.00"), v("d", "duration=9.00 output_throughput=10.00"))
	for _, c := range []struct{ sort, want string }{
		{"", "a b c d"}, {"output_throughput", "d c a b"}, {"duration", "b d a c"},
	} {
		var got []string
		for _, r := range report(t, runs, Options{Sort: c.sort}).Sections[0].Rows {
			got = append(got, r.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("--sort %q: %s, want %s", c.sort, s, c.want)
		}
	}
}

func TestSortPivoted(t *testing.T) {
	s := report(t, one(llama("a", "test=tg128", "39.33"), llama("a", "test=pp512", "878.20"), llama("b", "test=tg128", "39.23"), llama("b", "test=pp512", "902.10")), Options{Sort: "avg_ts"}).Sections[0]
	if s.Rows[0].Keys[0] != "pp512" {
		t.Errorf("%s first, want pp512", s.Rows[0].Keys[0])
	}
}

func TestColumns(t *testing.T) {
	for _, c := range []struct {
		name    string
		run     *bench.Run
		metrics []string
		want    string
	}{
		{"serving", serve("a", "", tp8), nil, "duration request_throughput output_throughput total_token_throughput mean_ttft_ms mean_tpot_ms"},
		{"as asked", serve("a", "", tp8), []string{"p99_itl_ms", "duration", "total_input_tokens"}, "p99_itl_ms duration total_input_tokens"},
		{"what there is", newRun("vllm-serve", "a", "", "mean_tpot_ms=5.00 duration=1.00"), nil, "duration mean_tpot_ms"},
		{"old versions", newRun("vllm-serve", "a", "", "duration=1.00 input_throughput=5.00 output_throughput=5.00"), nil, "duration output_throughput input_throughput"},
		{"scores", newRun("lm-eval", "a", "", "f1=0.5 accuracy=0.4"), nil, "accuracy"},
		{"another score", newRun("lm-eval", "a", "", "f1=0.5"), nil, "f1"},
		{"llama-bench", llama("a", "test=pp512", "5.00"), nil, "avg_ts"},
	} {
		var got []string
		for _, x := range report(t, one(c.run), Options{Metrics: c.metrics}).Sections[0].Columns {
			got = append(got, x.Metric)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.name, s, c.want)
		}
	}
}

func TestDerivedMetrics(t *testing.T) {
	for _, c := range []struct {
		metric string
		run    *bench.Run
		want   float64 // 0 where it cannot be told
	}{
		// Seed 000: 2993.85/8 and 671.54·4/8; validity.md has 374 and 336.
		{"output_throughput_per_gpu", serve("a", "gpus=8", tp8), 374.23125},
		{"output_throughput_per_gpu", replicated(serve("a", "gpus=8 concurrency=32", tp2x4), 4), 335.77},
		{"total_throughput_per_gpu", serve("a", "gpus=8", tp8), 806.95375},                              // 6455.63/8
		{"total_throughput_per_gpu", replicated(serve("a", "gpus=8 concurrency=32", tp2x4), 4), 721.88}, // 5775.04/8
		{"output_throughput_per_gpu", serve("a", "", tp8), 0},
		{"tok_s_per_user", serve("a", "", tp8), 27.70083102}, // 1000/36.10
		{"tok_s_per_user", newRun("vllm-serve", "a", "", "mean_tpot_ms=0.00 duration=1.00"), 0},
		// Seed 001: 155.97 s / 11256 and 79.95 s / 5345; validity.md has 13.86 and 14.96.
		{"ms_per_output_token", serve("a", "", vllmC16), 13.85660980},
		{"ms_per_output_token", serve("a", "", llamaC16), 14.95790458},
		{"ms_per_output_token", newRun("vllm-serve", "a", "", "duration=1.00 total_output_tokens=0"), 0},
		// 10⁶ · 2.50 · 8 / (3600 · 2993.85), and over 6455.63
		{"cost_per_million_output_tokens", serve("a", "gpus=8", tp8), 1.85565594},
		{"cost_per_million_tokens", serve("a", "gpus=8", tp8), 0.86057527},
		// 10⁶ · 2.50 · 8 / (3600 · 2686.16) = 2.0682147
		{"cost_per_million_output_tokens", replicated(serve("a", "gpus=8 concurrency=32", tp2x4), 4), 2.06821468},
		{"cost_per_million_output_tokens", serve("a", "", tp8), 0},
	} {
		s := report(t, one(c.run), Options{Metrics: []string{"duration", c.metric}, GPUPrice: 2.5}).Sections[0]
		if c.want == 0 {
			if len(s.Columns) != 1 {
				t.Errorf("%s: %v, want none", c.metric, s.Rows[0].Cells[1].Value)
			}
			continue
		}
		if got := s.Rows[0].Cells[column(t, s, c.metric)]; math.Abs(got.Value-c.want) > 1e-7*c.want || !got.Derived {
			t.Errorf("%s: %v, want %v", c.metric, got.Value, c.want)
		}
	}
	// The cheaper one wins; the price is that of a GPU.
	s := report(t, one(serve("tp8", "gpus=8 concurrency=128", tp8), replicated(serve("tp2x4", "gpus=8 concurrency=32", tp2x4), 4)), Options{Metrics: []string{"cost_per_million_output_tokens"}, GPUPrice: 2.5}).Sections[0]
	if got := bold(t, s, "cost_per_million_output_tokens"); got != "tp8" {
		t.Errorf("best is %q, want tp8", got)
	}
	// They can be sorted by without being shown.
	s = report(t, one(serve("a", "", clean), serve("b", "", faster)), Options{Sort: "tok_s_per_user"}).Sections[0]
	if s.Rows[0].Label != "b" {
		t.Errorf("%s first, want b", s.Rows[0].Label)
	}
}

// A second comparison of the same runs has its own price.
func TestCostAgain(t *testing.T) {
	r := serve("a", "gpus=8", tp8)
	for _, price := range []float64{2.5, 5} {
		s := report(t, one(r), Options{Metrics: []string{"cost_per_million_output_tokens"}, GPUPrice: price}).Sections[0]
		if got, want := s.Rows[0].Cells[0].Value, 1.85565594*price/2.5; !near(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	runs := one(set(serve("vllm", "model=m concurrency=16", clean), "max_num_seqs=256"))
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{By: []string{"concurency"}}, `--by: no run has a key "concurency" (did you mean concurrency?)`},
		{Options{Rows: []string{"max_num_seq"}}, `--rows: no run has a key "max_num_seq" (did you mean max_num_seqs?)`},
		{Options{By: []string{"zzzzzzzzzzzz"}}, `--by: no run has a key "zzzzzzzzzzzz"`},
		{Options{Metrics: []string{"output_thoughput"}}, `--metrics: no run has a metric "output_thoughput" (did you mean output_throughput?)`},
		{Options{Metrics: []string{"tok_s_per_usr"}}, `--metrics: no run has a metric "tok_s_per_usr" (did you mean tok_s_per_user?)`},
		{Options{Sort: "mean_tftt_ms"}, `--sort: no run has a metric "mean_tftt_ms" (did you mean mean_ttft_ms?)`},
		{Options{Sort: "zzzzzzzzzzzz"}, `--sort: no run has a metric "zzzzzzzzzzzz"`},
		{Options{Metrics: []string{"cost_per_million_tokens"}}, `--metrics: cost_per_million_tokens needs --gpu-price`},
		{Options{Baseline: "vlm"}, `--baseline: no input or run is called "vlm" (did you mean vllm?)`},
		{Options{Baseline: "something else"}, `--baseline: no input or run is called "something else"`},
	} {
		if _, err := Compare(runs, c.o); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for _, o := range []Options{{By: []string{"quant"}}, {Rows: []string{"label", "file"}}, {By: []string{"seed"}}, {Metrics: []string{"tok_s_per_user"}}, {Metrics: []string{"cost_per_million_tokens"}, GPUPrice: 1}} {
		if _, err := Compare(runs, o); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// Tables are parted by tool and by the keys of --by, in the order of numbers.
func TestSections(t *testing.T) {
	var runs []*bench.Run
	for _, c := range []int{16, 1, 8} {
		runs = append(runs, serve("a", "concurrency="+strconv.Itoa(c), clean), serve("b", "concurrency="+strconv.Itoa(c), faster))
	}
	runs = append(runs, llama("bench", "test=tg128", "39.33"))
	rep := report(t, runs, Options{By: []string{"concurrency"}})
	var got []string
	for _, s := range rep.Sections {
		got = append(got, s.Tool+" "+s.By[0].Value+" "+strconv.Itoa(len(s.Rows)))
	}
	if s, want := strings.Join(got, ", "), "vllm-serve 1 2, vllm-serve 8 2, vllm-serve 16 2, llama-bench  1"; s != want {
		t.Errorf("%s, want %s", s, want)
	}
	for _, s := range rep.Sections[:3] {
		if got := bold(t, s, "duration"); got != "b" {
			t.Errorf("best is %q, want b", got)
		}
	}
	// 90/100 = −10 % in each of the tables.
	for _, c := range rep.Comparisons {
		if c.Metric == "duration" && (!near(c.DeltaPct, -10) || len(c.Key) != 1 || c.Key[0].Key != "concurrency") {
			t.Errorf("%+v, want −10 %% at a concurrency", c)
		}
	}
}

// Tools of one kind share a table, with the columns that two of them have. The
// log of a llama-server has one figure in common with what clients measure, and
// is held against none of them: its load is not known.
func TestToolsShareATable(t *testing.T) {
	sglang := serve("sglang", "engine=sglang concurrency=16", faster)
	sglang.Source.Tool = "sglang-serve"
	server := newRun("llama-server", "llama", "engine=llama.cpp", "prompt_tok_s_per_request=400.00 generation_tok_s_per_request=500.00 timed_requests=20")
	rep := report(t, one(serve("vllm", "engine=vllm concurrency=16", clean), sglang, server), Options{})
	if len(rep.Sections) != 1 || len(rep.Sections[0].Rows) != 3 {
		t.Fatalf("%d sections, want one of 3 rows", len(rep.Sections))
	}
	s := rep.Sections[0]
	if got := bold(t, s, "duration"); got != "sglang" {
		t.Errorf("best is %q, want sglang", got)
	}
	if got := bold(t, s, "tok_s_per_user"); got != "" {
		t.Errorf("best of tok_s_per_user is %q: the server's own 500 has no fair rival", got)
	}
	for i, c := range s.Columns {
		if has := len(s.Rows[2].Cells[i].Runs) > 0; has != (c.Metric == "tok_s_per_user") {
			t.Errorf("%s of the server: %v", c.Metric, has)
		}
	}
}

// A note that holds the results of two tools keeps them apart, unless they
// measure by the same definitions.
func TestToolsOfOneInput(t *testing.T) {
	for tool, want := range map[string]int{"sglang-serve": 1, "fw-ai": 2} {
		other := serve("note", "engine=sglang concurrency=16", faster)
		other.Source.Tool = tool
		if rep := report(t, one(serve("note", "engine=vllm concurrency=16", clean), other), Options{}); len(rep.Sections) != want {
			t.Errorf("vllm-serve and %s: %d sections, want %d", tool, len(rep.Sections), want)
		}
	}
}

// What names a row is what differs; --rows says it otherwise.
func TestRowKeys(t *testing.T) {
	runs := one(serve("a", "engine=vllm model=m tp=8 concurrency=16", clean), serve("b", "engine=vllm model=m tp=4 concurrency=16 env.X=1", faster))
	s := report(t, runs, Options{}).Sections[0]
	if got, want := strings.Join(s.Keys, " "), "tp env.X"; got != want {
		t.Errorf("keys %q, want %q", got, want)
	}
	if got, want := strings.Join(s.Rows[1].Keys, " "), "4 1"; got != want {
		t.Errorf("row %q, want %q", got, want)
	}
	var same []string
	for _, x := range s.Same {
		same = append(same, x.Key+"="+x.Value)
	}
	if got, want := strings.Join(same, " "), "engine=vllm model=m concurrency=16"; got != want {
		t.Errorf("same %q, want %q", got, want)
	}
	if s := report(t, runs, Options{Rows: []string{"input", "tp"}}).Sections[0]; strings.Join(s.Rows[1].Keys, " ") != "b 4" {
		t.Errorf("row %q, want b 4", s.Rows[1].Keys)
	}
}

// What else differs is told, with who has which value.
func TestOthers(t *testing.T) {
	s := report(t, one(serve("a", "engine=vllm tp=8 max_num_seqs=256 seed=0", clean), serve("b", "engine=vllm tp=4 seed=1", faster), serve("c", "engine=vllm tp=2 max_num_seqs=256 seed=2", faster)), Options{}).Sections[0]
	if len(s.Others) != 1 || s.Others[0].Key != "max_num_seqs" {
		t.Fatalf("%v, want max_num_seqs", s.Others)
	}
	if got, want := strings.Join(s.Others[0].Values, "; "), "256 (a, c); none (b)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestCheckLabels(t *testing.T) {
	r := func(input, file, tool, model string) *bench.Run {
		x := newRun(tool, input, "", "")
		x.Source.File = file
		x.Config.Add("model", model, bench.FromLog)
		return x
	}
	const two = "a a"
	for _, c := range []struct {
		name   string
		labels string // as given, once for each input
		runs   []*bench.Run
		want   string // the error
	}{
		{"two models", two, one(r("a", "1.log", "vllm-serve", "x"), r("a", "2.log", "vllm-serve", "y")), "the label a names two things: x in 1.log and y in 2.log; give each its own with LABEL=PATH"},
		{"a third file", "a a a", one(r("a", "1.log", "vllm-serve", "x"), r("a", "2.log", "vllm-serve", "x"), r("a", "3.log", "vllm-serve", "y")), "the label a names two things: x in 1.log and y in 3.log; give each its own with LABEL=PATH"},
		{"one model", two, one(r("a", "1.log", "vllm-serve", "x"), r("a", "2.log", "vllm-serve", "x")), ""},
		{"a folder", "a", one(r("a", "1.log", "vllm-serve", "x"), r("a", "2.log", "vllm-serve", "y")), ""},
		{"two labels", "a b", one(r("a", "1.log", "vllm-serve", "x"), r("b", "2.log", "vllm-serve", "y")), ""},
		{"one file", two, one(r("a", "1.log", "vllm-serve", "x"), r("a", "1.log", "vllm-serve", "y")), ""},
		{"the same two in both", two, one(r("a", "1.log", "vllm-serve", "x"), r("a", "1.log", "vllm-serve", "y"), r("a", "2.log", "vllm-serve", "x"), r("a", "2.log", "vllm-serve", "y")), ""},
		{"one does not tell", two, one(r("a", "1.log", "vllm-serve", "x"), r("a", "2.log", "vllm-serve", "")), ""},
		{"none", "", nil, ""},
	} {
		got := ""
		if err := CheckLabels(c.runs, strings.Fields(c.labels)); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Labels that take turns on the command line are checked as well.
func TestCheckLabelsInTurn(t *testing.T) {
	var runs []*bench.Run
	for _, x := range [...][3]string{{"a", "1.log", "x"}, {"b", "2.log", "z"}, {"a", "3.log", "y"}, {"b", "4.log", "z"}} {
		r := newRun("vllm-serve", x[0], "model="+x[2], "")
		r.Source.File = x[1]
		runs = append(runs, r)
	}
	if err := CheckLabels(runs, []string{"a", "b", "a", "b"}); err == nil {
		t.Error("a is x and y, want an error")
	}
}

// A row of repeats is partial where one of them is.
func TestPartialRepeat(t *testing.T) {
	v := func(input, n string) *bench.Run {
		return newRun("locust", input, "", "completed="+n+" attempted=100 mean_e2el_ms=5.00")
	}
	rep := report(t, one(v("a", "100"), v("a", "60"), v("b", "100"), v("b", "100")), Options{})
	for _, c := range rep.Comparisons {
		if c.N[0] > 1 && c.Verdict != Incomparable {
			t.Errorf("%s over %d runs, one of them partial: %s, want incomparable", c.Metric, c.N[0], c.Verdict)
		}
	}
}

// A console that prints medians only is compared by them.
func TestMedianColumns(t *testing.T) {
	a := newRun("guidellm", "a", "", "request_throughput=1.0 median_ttft_ms=61.3 median_tpot_ms=15.4")
	b := newRun("guidellm", "b", "", "request_throughput=1.0 median_ttft_ms=71.3 median_tpot_ms=14.4")
	var got []string
	for _, c := range report(t, one(a, b), Options{}).Sections[0].Columns {
		got = append(got, c.Metric)
	}
	if want := []string{"request_throughput", "median_ttft_ms", "median_tpot_ms"}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
	g, err := RunGate([]*bench.Run{a}, []*bench.Run{b}, GateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, r := range g.Results {
		got = append(got, r.Metric)
	}
	if !slices.Contains(got, "median_ttft_ms") {
		t.Errorf("the gate looks at %v, want the medians among them", got)
	}
}

// One token more a prompt is the one that begins a sequence; two are other prompts.
func TestSamePrompts(t *testing.T) {
	for _, tc := range []struct {
		a, b float64
		want bool
	}{{48, 47, true}, {48, 46, false}, {1000, 1019, true}, {1000, 1021, false}, {2, 1, true}} {
		if got := samePrompts(tc.a, tc.b); got != tc.want {
			t.Errorf("%v and %v: %v", tc.a, tc.b, got)
		}
	}
}
