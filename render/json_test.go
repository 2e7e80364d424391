package render

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

func TestRunsJSON(t *testing.T) {
	n := 36
	r := &bench.Run{ID: "abc", Label: "a\"b<c>\u2028\xff", Completed: &n, Source: bench.Source{File: "a.log", Line: 3, Tool: "vllm-serve"}}
	r.Config.Add("model", "x\\y\n", bench.FromArgs)
	r.Metrics = []bench.Metric{
		{Name: "output_throughput", Value: 66.85, Raw: 66.85},
		{Name: "duration", Value: math.NaN(), Raw: math.Inf(1)},
		{Name: "avg_ts", Value: 1e-9, Raw: 1e300, Std: 4.11, HasStd: true, N: 5, Samples: []float64{1, 2.5}},
	}
	var out bytes.Buffer
	if err := RunsJSON(&out, []*bench.Run{r}, []bench.Problem{{File: "x", Line: 2, Message: "m"}}); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Schema string
		Runs   []struct {
			Label     string
			Config    map[string]string
			Completed *int
			Attempted *int
			Replicas  int
			Metrics   map[string]struct {
				Value, Raw, Std *float64
				Better          *string
				N               *int
				Samples         []float64
			}
		}
		Errors []struct {
			File string
			Line int
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	run := got.Runs[0]
	if got.Schema != "benchreport/v1" || run.Label != "a\"b<c>\u2028\ufffd" || run.Config["model"] != "x\\y\n" || *run.Completed != 36 || run.Attempted != nil || run.Replicas != 1 {
		t.Errorf("%+v", got)
	}
	m := run.Metrics
	if *m["output_throughput"].Value != 66.85 || *m["output_throughput"].Better != "higher" || m["duration"].Value != nil || m["duration"].Raw != nil {
		t.Errorf("%+v", m)
	}
	if a := m["avg_ts"]; *a.Value != 1e-9 || *a.Raw != 1e300 || *a.Std != 4.11 || *a.N != 5 || len(a.Samples) != 2 {
		t.Errorf("%+v", a)
	}
	if got.Errors[0].Line != 2 || strings.Contains(out.String(), "<") {
		t.Errorf("%s", out.String())
	}
}

// Ten signs, the ellipsis, ten signs.
func TestShorten(t *testing.T) {
	for s, want := range map[string]string{
		"short": "short", "meta-llama/Llama-2-7b-chat-hf": "meta-llama…7b-chat-hf", "日本語日本語日本語日本語日本語日本語日本語日本": "日本語日本語日本語日…本語日本語日本語日本",
	} {
		if got := shorten(s, 21); got != want {
			t.Errorf("%s: %s, want %s", s, got, want)
		}
	}
}
