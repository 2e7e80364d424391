package render

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"
	"unicode"

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

// Every byte, alone and beside others, is read back as it was, a broken one as
// the sign for that; nothing is left that HTML or a terminal would act on.
func TestJSONString(t *testing.T) {
	for _, s := range []string{"", "plain", "naïve – 日本語", "\u2027\u2028\u2029\u202a", "\ufffd\xff\xc3", `C:\"x"\`} {
		for c := range 256 {
			for _, text := range []string{s + string([]byte{byte(c)}) + s, string([]byte{byte(c), byte(c)})} {
				w := jsonWriter{}
				w.string(text)
				var got string
				if err := json.Unmarshal(w.b, &got); err != nil || got != string([]rune(text)) {
					t.Errorf("%q is written as %s, read as %q: %v", text, w.b, got, err)
				}
				if bytes.ContainsAny(w.b, "<>&\x7f\u2028\u2029") || bytes.ContainsFunc(w.b, unicode.IsControl) {
					t.Errorf("%q is written as %s", text, w.b)
				}
			}
		}
	}
}

// Where settings were read is told for each run.
func TestJSONOrigins(t *testing.T) {
	all := []bench.Config{
		{},
		{{Key: "a", Value: "1", From: bench.FromLog}, {Key: "b", Value: "2", From: bench.FromArgs}},
		{{Key: "a", Value: "3", From: bench.FromLog}, {Key: "b", Value: "4", From: bench.FromArgs}},
		{{Key: "a", Value: "3", From: bench.FromLog}, {Key: "b", Value: "4", From: bench.FromLog}},
		{{Key: "a", Value: "3", From: bench.FromLog}, {Key: "c", Value: "4", From: bench.FromLog}},
		{{Key: "a", Value: "3", From: bench.FromLog}},
		{},
		{},
	}
	var runs []*bench.Run
	for _, c := range all {
		runs = append(runs, &bench.Run{Config: c})
	}
	var out bytes.Buffer
	if err := RunsJSON(&out, runs, nil); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Runs []struct {
			ConfigFrom map[string]string `json:"config_from"`
		}
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range all {
		want := map[string]string{}
		for _, s := range c {
			want[s.Key] = s.From.String()
		}
		if !maps.Equal(got.Runs[i].ConfigFrom, want) {
			t.Errorf("%v, want %v", got.Runs[i].ConfigFrom, want)
		}
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
