package bench

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

func TestLookup(t *testing.T) {
	for name, want := range map[string]MetricInfo{
		"output_throughput":         {"output_throughput", "Output tok/s", "tok/s", Higher, Times},
		"duration":                  {"duration", "Duration (s)", "s", Lower, Divide},
		"mean_ttft_ms":              {"mean_ttft_ms", "Mean TTFT (ms)", "ms", Lower, Fixed},
		"p99.9_itl_ms":              {"p99.9_itl_ms", "P99.9 ITL (ms)", "ms", Lower, Fixed},
		"p10_latency":               {"p10_latency", "P10 latency (s)", "s", Lower, Fixed},
		"completed":                 {"completed", "Completed", "requests", Neither, Fixed},
		"ppl":                       {"ppl", "Perplexity", "", Lower, Fixed},
		"pct_stereotype":            {"pct_stereotype", "pct_stereotype", "", Neither, Fixed},
		"median_intvty":             {"median_intvty", "Median interactivity (tok/s)", "tok/s", Higher, Fixed},
		"std_gtps":                  {"std_gtps", "Std generation speed (tok/s)", "tok/s", Neither, Fixed},
		"odd_intvty":                {"odd_intvty", "odd_intvty", "", Neither, Fixed},
		"max_generation_latency_ms": {"max_generation_latency_ms", "Max generation latency (ms)", "ms", Lower, Fixed},
		"p_ttft_ms":                 {"p_ttft_ms", "p_ttft_ms", "ms", Neither, Fixed},
	} {
		if got := Lookup(name); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// A name may stand once in the table.
func TestKnownOnce(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range known {
		if seen[k.Name] {
			t.Errorf("%s stands twice", k.Name)
		}
		seen[k.Name] = true
	}
}

func TestSplitLatency(t *testing.T) {
	for name, want := range map[string][2]string{
		"mean_ttft_ms": {"mean", "ttft"}, "p99.9_e2el_ms": {"p99.9", "e2el"}, "probe_max_e2el_ms": {"max", "probe_e2el"},
		"std_itl_ms": {"std", "itl"}, "median_latency_per_token_ms": {"median", "latency_per_token"},
	} {
		stat, family, ok := SplitLatency(name)
		if !ok || stat != want[0] || family != want[1] {
			t.Errorf("%s: %s %s %v", name, stat, family, ok)
		}
	}
	for _, name := range []string{"ttft_ms", "mean_ttft", "foo_ttft_ms", "p_ttft_ms", "p99._ttft_ms", "scoring_time_ms", ""} {
		if stat, family, ok := SplitLatency(name); ok {
			t.Errorf("%s: %s %s", name, stat, family)
		}
	}
}

func TestConfigOrder(t *testing.T) {
	var c Config
	c.Add("model", "a", FromArgs)
	c.Add("model", "b", FromCommand) // less trusted
	c.Add("tp", "", FromCommand)     // nothing
	if c.Get("model") != "a" || c.From("model") != FromArgs || c.Has("tp") || len(c) != 1 {
		t.Errorf("%v", c)
	}
}

// Ids tell runs apart, count equal ones, and do not depend on where a log lies.
func TestAssignIDs(t *testing.T) {
	mk := func(file string, v float64) *Run {
		return &Run{Source: Source{File: file, Line: len(file), Tool: "vllm-serve"}, Metrics: []Metric{{Name: "duration", Raw: v, Value: v}}}
	}
	runs := []*Run{mk("a", 1), mk("b/c", 2), mk("d", 1)}
	AssignIDs(runs)
	if runs[0].ID == runs[1].ID || runs[2].ID != runs[0].ID+"-2" {
		t.Errorf("%s %s %s", runs[0].ID, runs[1].ID, runs[2].ID)
	}
	moved := []*Run{mk("elsewhere", 2)}
	AssignIDs(moved)
	if moved[0].ID != runs[1].ID {
		t.Error("an id changes with the file")
	}
}

func TestFormatDecimals(t *testing.T) {
	for _, tc := range []struct {
		x        float64
		decimals int
		want     string
	}{
		{2993.85, 2, "2993.85"}, {36.1, 2, "36.10"}, {71.515, 2, "71.52"}, {64, 0, "64"}, {57.354352397496925, -1, "57.35"}, {0.8480, 4, "0.8480"},
		{118, -1, "118"}, {0.012345, -1, "0.0123"}, {0.00001234, -1, "0.0000123"}, {math.NaN(), 2, ""}, {71.52, 0, "72"},
	} {
		if got := FormatDecimals(tc.x, tc.decimals); got != tc.want {
			t.Errorf("%v with %d decimals: %s, want %s", tc.x, tc.decimals, got, tc.want)
		}
	}
}

// AppendExact writes what strconv writes.
func TestAppendExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	check := func(x float64) {
		t.Helper()
		if got, want := string(AppendExact(nil, x)), strconv.FormatFloat(x, 'f', -1, 64); got != want {
			t.Fatalf("%v is written %s, want %s", x, got, want)
		}
	}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 0.01, 0.29, 1.005, 1.15, 4.35, 100, 1e13, 9999999999999.99, 1e15, 1e21, 1e300, 5e-324, 1.1e-7, math.MaxFloat64} {
		check(x)
		check(-x)
	}
	for range 20000 {
		hundredths := float64(random.Int64N(1 << random.IntN(60)))
		check(hundredths / 100)
		check(math.Nextafter(hundredths/100, 0))
		check(hundredths / 1000)
		check(math.Float64frombits(random.Uint64() &^ (1 << 62)))
	}
}
