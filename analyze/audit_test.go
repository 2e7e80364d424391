package analyze

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// auditRuns are what the notes below were written from: two engines at two
// concurrencies, one run that lost requests, one of four replicas, and tests of
// llama-bench. The rates are completed and tokens over the duration.
func auditRuns() []*bench.Run {
	line := 100
	serve := func(label, model, c string, completed, attempted int, duration, in, out, ttft, tpot float64) *bench.Run {
		r := &bench.Run{Label: label, Input: "logs", Source: bench.Source{File: "logs.txt", Line: line, EndLine: line + 20, Tool: "vllm-serve"}, Completed: &completed, Attempted: &attempted}
		line += 30
		r.Config.Add("concurrency", c, bench.FromArgs)
		r.Config.Add("model", model, bench.FromArgs)
		add := func(name string, x float64, decimals int) {
			r.Add(bench.Metric{Name: name, Value: x, Decimals: decimals})
		}
		round := func(x float64) float64 { return parseFloat(fmt.Sprintf("%.2f", x)) }
		add("completed", float64(completed), 0)
		add("duration", duration, 2)
		add("total_input_tokens", in, 0)
		add("total_output_tokens", out, 0)
		add("request_throughput", round(float64(completed)/duration), 2)
		add("output_throughput", round(out/duration), 2)
		add("total_token_throughput", round((in+out)/duration), 2)
		add("mean_ttft_ms", ttft, 2)
		add("mean_tpot_ms", tpot, 2)
		if completed < attempted {
			r.Findings = append(r.Findings, bench.Finding{Code: "partial", Severity: bench.Warning, Message: "lost"})
		}
		return r
	}
	test := func(label, name string, x, std float64) *bench.Run {
		r := &bench.Run{Label: label, Input: "logs", Source: bench.Source{File: "logs.txt", Line: line, EndLine: line, Tool: "llama-bench"}}
		line++
		r.Config.Add("test", name, bench.FromLog)
		r.Config.Add("model", "llama 7B Q4_0", bench.FromLog)
		r.Add(bench.Metric{Name: "avg_ts", Value: x, Std: std, HasStd: true, N: 5, Decimals: 2})
		return r
	}
	runs := []*bench.Run{
		serve("alpha c=8", "m-alpha", "8", 800, 800, 400, 80000, 160000, 210.35, 19.82),      // 2.00 req/s, 400.00, 600.00
		serve("alpha c=64", "m-alpha", "64", 800, 800, 123.45, 80000, 160000, 955.12, 48.77), // 6.48, 1296.07, 1944.11
		serve("beta c=8", "m-beta", "8", 800, 800, 320, 80000, 160000, 180.71, 15.9),         // 2.50, 500.00, 750.00
		serve("beta c=64", "m-beta", "64", 800, 800, 110.5, 80000, 160000, 1010.44, 43.21),   // 7.24, 1447.96, 2171.95
		serve("gamma", "m-gamma", "8", 500, 800, 199.98, 50000, 100000, 150.02, 18.06),       // 2.50, 500.05, 750.08
		test("cpu", "pp512", 294.64, 0.58), test("cpu", "tg128", 28.94, 0.04),
		test("gpu", "pp512", 1881.71, 1.71), test("gpu", "tg128", 52.22, 0.05),
	}
	bench.AssignIDs(runs)
	return runs
}

// A note, and what is wrong with it: "line code column" for each finding, the
// notes of severity note left out.
func TestAudit(t *testing.T) {
	for _, tc := range []struct {
		name, note, want string
	}{
		{"a table that is right", `
| Engine | Concurrency | Duration (s) | Req/s | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|---|---|
| alpha | 8 | 400.00 | 2.00 | 400.00 | 210.35 |
| beta | 8 | **320.00** | **2.50** | **500.00** | **180.71** |
`, ""},
		{"other units, spellings, digits and marks", `
| name | users | tokens/sec | TTFT (s), avg | time per output token |
|:--|--:|--:|--:|--:|
| alpha | c=64 | 1,296.1 | <b>0.955</b> | 48.8 ms |
| beta | c=64 | 🏆 1,448 | 1.01 | <b>43.2 ms</b>[^1] |
`, ""},
		{"a digit changed", `
| Engine | Duration (s) | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| alpha | 400.00 | 410.00 | 210.35 |
| beta | 320.00 | 500.00 | 180.71 |
`, "4 wrong-value Output tok/s"},
		{"cut off instead of rounded", `
| Engine | Duration (s) | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| alpha | 123.45 | 1296.07 | 955.1 |
| beta | 110.50 | 1447.9 | 1010.44 |
`, "5 wrong-value Output tok/s (warning)"},
		{"more digits than the log, from counts and duration", `
| Engine | Req/s | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| alpha | 6.4804 | 1296.07 | 955.12 |
| beta | 7.2500 | 1447.96 | 1010.44 |
`, "5 wrong-value Req/s"},
		{"wrong winners, one a column", `
| Engine | Duration (s) | Req/s | Output tok/s | Mean TTFT (ms) | Mean TPOT (ms) |
|---|---|---|---|---|---|
| alpha | **123.45** | 6.48 | **1296.07** | 955.12 | 48.77 |
| beta | 110.50 | **7.24** | **1447.96** | **1010.44** | 43.21 |
`, "4 wrong-winner Duration (s), 5 wrong-winner Mean TTFT (ms)"},
		{"a winner a group", `
| Engine | c | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| alpha | 8 | 400.00 | 210.35 |
| beta | 8 | **500.00** | **180.71** |
| alpha | 64 | 1296.07 | **955.12** |
| beta | 64 | **1447.96** | 1010.44 |
`, ""},
		{"a group under a heading of its own", `
| Engine | Output tok/s | Mean TTFT (ms) |
|---|---|---|
| **c=8** | | |
| alpha | **400.00** | 210.35 |
| beta | 500.00 | **180.71** |
| **c=64** | | |
| alpha | 1296.07 | **955.12** |
| beta | **1447.96** | 1010.44 |
`, "5 wrong-winner Output tok/s"},
		{"a group whose name stands at its first row only", `
| c | Engine | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| 8 | alpha | 400.00 | 210.35 |
| | beta | **500.00** | **180.71** |
| 64 | alpha | 1296.07 | **955.12** |
| | beta | **1447.96** | 1010.44 |
`, ""},
		{"ties at the shown precision", `
| Engine | Output tok/s | Mean TTFT (ms) |
|---|---|---|
| beta | **500** | 181 |
| gamma (500/800) | **500** | **150** |
`, ""},
		{"a row and a column that stand out as a whole", `
| Engine | Output tok/s | Mean TTFT (ms) | Mean TPOT (ms) |
|---|---|---|---|
| **alpha** | **1296.07** | **955.12** | **48.77** |
| beta | **1447.96** | 1010.44 | 43.21 |
`, ""},
		{"a partial run that is not marked", `
| Engine | Output tok/s | Mean TTFT (ms) |
|---|---|---|
| beta | 500.00 | 180.71 |
| gamma | 500.05 | 150.02 |
`, "5 unmarked-partial "},
		{"partial runs that are told", `
| Engine | Completed | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| beta | 800 | 500.00 | **180.71** |
| gamma ⚠ | 500/800 | 500.05 | 150.02 |
`, ""},
		{"metrics as rows, with differences", `
| Metric | alpha c=64 | beta c=64 | % difference |
|---|--:|--:|--:|
| Benchmark duration (s) | 123.45 | 110.50 | -10.5 |
| Request throughput (req/s) | 6.48 | 7.24 | 11.7 |
| Output token throughput (tok/s) | 1296.07 | **1447.96** | 11.7 |
| Mean TTFT (ms) | **955.12** | 1010.44 | 15.8 |
| Mean TPOT (ms) | **48.77** | 43.21 | -11.4 |
`, "7 wrong-value % difference, 8 wrong-winner Mean TPOT (ms)"},
		{"a difference of rounded cells", `
| Metric | alpha c=8 | alpha c=64 | Change |
|---|--:|--:|--:|
| Duration (s) | 400.00 | 123.45 | -69.1% |
| Req/s | 2 | 6 | +200.0% |
| Output tok/s | 400.00 | 1296.07 | +224.0% |
| Mean TTFT (ms) | 210.35 | 955.12 | +354.1% |
`, "5 wrong-value Change"},
		{"speedups against the first row", `
| Engine | c | Output tok/s | Mean TTFT (ms) | Speedup |
|---|---|---|---|---|
| alpha | 8 | 400.00 | 210.35 | 1.00x |
| beta | 8 | 500.00 | 180.71 | 1.25x |
| alpha | 64 | 1296.07 | 955.12 | 3.24x |
| beta | 64 | 1447.96 | 1010.44 | 3.92x |
`, "7 wrong-value Speedup"},
		{"four replicas, and one of their figures wrong", `
| Setup | Duration (s) | Req/s | Output tok/s | Total tok/s | Mean TTFT (ms) |
|---|---|---|---|---|---|
| alpha x4 | 30.86 | 25.92 | 5184.28 | 7776.44 | 955.12 |
| beta x4 | 27.63 | 28.96 | 5791.84 | 8888.80 | 1010.44 |
`, "5 wrong-value Total tok/s"},
		{"tests of llama-bench as columns", `
| Run | pp512 (t/s) | tg128 (t/s) | Max Mem (MiB) |
|---|---|---|---|
| CPU | 294.64 ± 0.58 | **28.94 ± 0.04** | **3923** |
| GPU | **1881.71 ± 1.71** | 52.22 ± 0.50 | 4219 |
`, "4 wrong-winner tg128 (t/s), 5 wrong-value tg128 (t/s)"},
		{"a figure of a run that the logs hold with others", `
| Engine | Concurrency | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| m-alpha | 8 | 400.00 | 210.35 |
| m-alpha | 64 | 1296.07 | 955.12 |
| m-beta | 8 | 510.00 | 170.00 |
`, "6 no-such-run Output tok/s"},
		{"a row that the logs do not know", `
| Engine | Concurrency | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|
| m-alpha | 8 | 400.00 | 210.35 |
| m-alpha | 64 | 1296.07 | 955.12 |
| other engine of a friend | 8 | 510.00 | 170.00 |
`, ""},
		{"the figures of another concurrency", `
| Engine | Concurrency | Duration (s) | Output tok/s | Mean TTFT (ms) |
|---|---|---|---|---|
| m-alpha | 16 | 123.45 | 1296.07 | 955.12 |
`, "4 wrong-value Concurrency"},
		{"a table about something else", `
| Step | Duration (s) | Cost |
|---|---|---|
| download | **12** | 3 |
| build | 7 | **9** |
`, ""},
		{"totals and means take no part", `
| Engine | Output tok/s | Mean TTFT (ms) |
|---|---|---|
| alpha | 1296.07 | **955.12** |
| beta | **1447.96** | 1010.44 |
| Average | 1372.02 | 982.78 |
| Total | 2744.03 | 1965.56 |
`, ""},
		{"the one that the author speaks of, and that is not best", `
| Metric | other | ours | beta c=64 |
|---|---|---|---|
| Output tok/s | 10.08 | **11.77** | 1447.96 |
| Mean TTFT (ms) | 7909.5 | **5809.9** | 1010.44 |
| Mean TPOT (ms) | 329.3 | **293.6** | 43.21 |
`, ""},
		{"how much better, whatever the direction", `
| Metric | alpha c=64 | beta c=64 | Improvement |
|---|--:|--:|--:|
| Duration (s) | 123.45 | 110.50 | +10.5% |
| Output tok/s | 1296.07 | 1447.96 | +11.7% |
| Mean TPOT (ms) | 48.77 | 43.21 | +11.4% |
| Mean TTFT (ms) | 955.12 | 1010.44 | +5.8% |
`, "7 wrong-value Improvement"},
		{"a column of ratios under a name", `
| Metric | alpha c=64 | beta c=64 | beta/alpha |
|---|--:|--:|--:|
| Duration (s) | 123.45 | **110.50** | 0.895x |
| Output tok/s | 1296.07 | **1447.96** | 1.117x |
| Mean TTFT (ms) | **955.12** | 1010.44 | 1.06x slower |
`, ""},
		{"ranges are no figures", `
| Engine | Output tok/s | Mean TTFT (ms) |
|---|---|---|
| alpha | **1200–1300** | 955.12 → 900.00 |
| beta | 1447.96 | **1010.44** |
`, ""},
		{"statistics as columns", `
| Metric | avg | min | max |
|---|---|---|---|
| Time To First Token (ms) | 955.12 | **12.00** | 1955.00 |
| Request Throughput (req/s) | 6.48 | N/A | N/A |
`, ""},
		{"columns of two engines", `
| Concurrency | alpha tok/s | alpha TTFT (ms) | beta tok/s | beta TTFT (ms) |
|---|---|---|---|---|
| 8 | 400.00 | 210.35 | 500.00 | 180.71 |
| 64 | 1296.07 | 955.12 | 1447.96 | 1010.44 |
`, ""},
	} {
		note, err := notes.Read([]byte(tc.note))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range Audit("note.md", note, auditRuns()).Findings {
			if f.Severity != bench.Note {
				got = append(got, fmt.Sprintf("%d %s %s%s", f.Line, f.Code, f.Column, map[bool]string{true: " (warning)"}[f.Severity == bench.Warning]))
			}
		}
		if s := strings.Join(got, ", "); s != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, s, tc.want)
		}
	}
}
