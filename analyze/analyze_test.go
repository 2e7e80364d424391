package analyze

import (
	"math"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// The tp2 x 4 run of the MI300X notes: 286.06 s, 3.58 req/s, 671.54 and 1443.76
// tok/s on one replica at concurrency 32; its author worked out 71.515, 14.32,
// 2686.16 and 5775.04 by hand.
func TestNormalize(t *testing.T) {
	r := &bench.Run{Replicas: 4}
	for name, v := range map[string]float64{
		"duration": 286.06, "request_throughput": 3.58, "output_throughput": 671.54, "total_token_throughput": 1443.76, "mean_ttft_ms": 420.74, "total_output_tokens": 192103,
	} {
		r.Add(bench.Metric{Name: name, Value: v})
	}
	r.Config.Add("concurrency", "32", bench.FromComment)
	Normalize([]*bench.Run{r})
	for name, want := range map[string]float64{
		"duration": 71.515, "request_throughput": 14.32, "output_throughput": 2686.16, "total_token_throughput": 5775.04, "mean_ttft_ms": 420.74, "total_output_tokens": 192103,
	} {
		m, _ := r.Metric(name)
		if math.Abs(m.Value-want) > 1e-9 {
			t.Errorf("%s = %v, want %v", name, m.Value, want)
		}
	}
	if m, _ := r.Metric("output_throughput"); m.Raw != 671.54 {
		t.Errorf("raw %v", m.Raw)
	}
	if c := r.Config.Get("concurrency"); c != "128" {
		t.Errorf("concurrency %s", c)
	}
	if len(r.Findings) != 1 || r.Findings[0].Code != "extrapolated" || !strings.Contains(r.Findings[0].Message, "671.54 → 2686.16") {
		t.Errorf("%v", r.Findings)
	}
}

func TestWhere(t *testing.T) {
	r := &bench.Run{Source: bench.Source{Tool: "vllm-serve"}, Label: "x"}
	r.Config.Add("model", "a/Q4,b", bench.FromLog)
	r.Config.Add("concurrency", "16", bench.FromLog)
	for expr, want := range map[string]bool{
		"concurrency=16": true, "concurrency=8": false, "concurrency!=8": true, "concurrency!=16": false, "tool=vllm-serve,concurrency=16": true,
		"tool=llama-bench,concurrency=16": false, "model~Q[0-9]": true, "model~^Q": false, "model=a/Q4,b": true, "model~Q{1,2},concurrency=16": true,
		"quant=": true, "quant!=": false, "label=x": true,
	} {
		w, err := ParseWhere([]string{expr})
		if err != nil {
			t.Errorf("%s: %v", expr, err)
			continue
		}
		if got := len(w.Filter([]*bench.Run{r})) == 1; got != want {
			t.Errorf("%s: %v, want %v", expr, got, want)
		}
	}
	for _, expr := range []string{"model", "=x", "model~(", "a!b", ""} {
		if _, err := ParseWhere([]string{expr}); err == nil {
			t.Errorf("%q is taken", expr)
		}
	}
}
