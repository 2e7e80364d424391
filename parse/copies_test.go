package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// TestCopies holds that one run in two files counts once, and that two runs with
// the same figures, of different models or loads, stay two.
func TestCopies(t *testing.T) {
	block := func(model string, concurrency int, duration string) string {
		return fmt.Sprintf("Namespace(backend='vllm', model='%s', num_prompts=64, max_concurrency=%d)\n", model, concurrency) +
			"============ Serving Benchmark Result ============\nSuccessful requests:                     64\nBenchmark duration (s):                  " + duration + "\n" +
			"Total input tokens:                      17809\nTotal generated tokens:                  11150\nRequest throughput (req/s):              0.64\nOutput token throughput (tok/s):         111.50\n" +
			"==================================================\n"
	}
	saved := `{"backend":"vllm","model_id":"org/alpha","num_prompts":64,"max_concurrency":8,"duration":100.0012,"completed":64,"total_input_tokens":17809,"total_output_tokens":11150,"request_throughput":0.64001,"output_throughput":111.4999}`
	file := func(name string) string {
		text, err := os.ReadFile(filepath.Join(testdata, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	// 128.0000667 × 30000 are 3840002 tokens, but 128.0001 × 30000 are 3840003.
	printed := "= REQUEST DETAILS\nNumber of requests: 30000\nAverage Input Length (tokens): 128.0001\nAverage Output Length (tokens): 128.0000\n" +
		"= PERFORMANCE OVERVIEW\nRequest Throughput (req/sec): 200.0000\nTotal Output Throughput (tokens/sec): 25600.0000\nTotal Latency (ms): 150000.0000\nAverage request latency (ms): 70000.1235\n"
	report := `{"world_info":{},"request_info":{"num_requests":30000,"avg_input_length":128.0000667,"avg_output_length":128.0},` +
		`"performance":{"request_throughput_req_s":200.00000001,"system_output_throughput_tok_s":25600.000001,"total_latency_ms":149999.99999,"avg_request_latency_ms":70000.12347}}`
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  int
	}{
		{"a log and what it saved", map[string]string{"a.log": block("alpha", 8, "100.00"), "a.json": saved}, 1},
		{"the same log under two names", map[string]string{"a.log": block("alpha", 8, "100.00"), "b.log": block("alpha", 8, "100.00")}, 1},
		{"another duration", map[string]string{"a.log": block("alpha", 8, "100.00"), "b.log": block("alpha", 8, "100.01")}, 2},
		{"another model", map[string]string{"a.log": block("alpha", 8, "100.00"), "b.log": block("beta", 8, "100.00")}, 2},
		{"another load", map[string]string{"a.log": block("alpha", 8, "100.00"), "b.log": block("alpha", 16, "100.00")}, 2},
		{"a printed report and the saved one", map[string]string{"a.log": file("trtllm-bench/streaming-v1.2.log"), "b.json": file("trtllm-bench/streaming-v1.2.json")}, 1},
		{"a report of many requests", map[string]string{"a.log": printed, "b.json": report}, 1},
		{"two reports of one log", map[string]string{"a.log": file("trtllm-bench/throughput-v0.16.log")}, 2},
		{"a summary of one stage", map[string]string{
			"stage_0_lifecycle_metrics.json": file("inference-perf/stage_0_lifecycle_metrics.json"),
			"summary_lifecycle_metrics.json": strings.NewReplacer(`"send_duration": 59.98, "requested_rate": 8.0, "achieved_rate": 8.0027`, `"x": 0`).Replace(file("inference-perf/stage_0_lifecycle_metrics.json"))}, 1},
		{"stages and their summary", map[string]string{
			"stage_0_lifecycle_metrics.json": file("inference-perf/stage_0_lifecycle_metrics.json"),
			"stage_1_lifecycle_metrics.json": file("inference-perf/stage_1_lifecycle_metrics.json"),
			"summary_lifecycle_metrics.json": file("inference-perf/summary_lifecycle_metrics.json")}, 3},
		{"rows and the array of them", map[string]string{"agg_a.json": file("inferencemax/agg_single-node.json"), "agg_bmk.json": "[" + file("inferencemax/agg_single-node.json") + "]"}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			res := Files([]Input{{Label: "x", Path: dir}}, strings.NewReader(""))
			if len(res.Runs) != tc.want {
				t.Errorf("%d runs, want %d; notes %v", len(res.Runs), tc.want, res.Notes)
			}
		})
	}
}

// TestSweepFolder holds that the runs which a sweep saves one by one, and again
// in its summaries above them, count once.
func TestSweepFolder(t *testing.T) {
	const run = `{"model_id":"org/alpha","num_prompts":64,"max_concurrency":8,"duration":%[1]d,"completed":64,"total_input_tokens":6400,"total_output_tokens":3200,"request_throughput":%[2]g,"output_throughput":%[3]g,"total_token_throughput":%[4]g,"mean_ttft_ms":10.5,"run_number":0}`
	a, b := fmt.Sprintf(run, 64, 1.0, 50.0, 150.0), fmt.Sprintf(run, 32, 2.0, 100.0, 300.0)
	csv := ",model_id,num_prompts,max_concurrency,duration,completed,total_input_tokens,total_output_tokens,request_throughput,output_throughput,total_token_throughput,mean_ttft_ms,run_number\n" +
		"0,org/alpha,64,8,64,64,6400,3200,1.0,50.0,150.0,10.5,0\n1,org/alpha,64,8,32,64,6400,3200,2.0,100.0,300.0,10.5,0\n"
	dir := t.TempDir()
	for name, text := range map[string]string{
		"summary.csv": csv, "BENCH--a/run=0.json": a, "BENCH--a/summary.json": "[" + a + "]", "BENCH--b/run=0.json": b, "BENCH--b/SLA--p99.json": "[" + b + "]",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	res := Files([]Input{{Path: dir}}, strings.NewReader(""))
	if len(res.Runs) != 2 {
		t.Errorf("%d runs, want 2; notes %v", len(res.Runs), res.Notes)
	}
}

// Each gives the runs of many files in their order, before all are read, and
// counts equal ones over all of them. Under one label, where a file may hold a
// copy of what another has, it gives them at once.
func TestEach(t *testing.T) {
	dir := t.TempDir()
	const files = 300
	for i := range files {
		text := fmt.Sprintf("Namespace(model='m', num_prompts=64)\n============ Serving Benchmark Result ============\nSuccessful requests: 64\nBenchmark duration (s): %d.5\n"+
			"Total input tokens: 100\nTotal generated tokens: 200\nRequest throughput (req/s): 1.5\nOutput token throughput (tok/s): 2.5\n", 10+i%299)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run-%03d.log", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		label string
		runs  int
		parts bool
	}{{"", files, true}, {"x", files - 1, false}} { // the first and the last are equal
		parts := 0
		var runs []*bench.Run
		res := Each([]Input{{Label: tc.label, Path: dir}}, nil, func(some []*bench.Run) {
			parts++
			runs = append(runs, some...)
		})
		if len(runs) != tc.runs || parts > 1 != tc.parts || len(res.Runs) != 0 || res.WithRuns != files {
			t.Fatalf("label %q: %d runs in %d parts, %d with runs", tc.label, len(runs), parts, res.WithRuns)
		}
		seen := map[string]bool{}
		for i, r := range runs {
			if want := fmt.Sprintf("/run-%03d.log", i); !strings.HasSuffix(r.Source.File, want) || seen[r.ID] {
				t.Fatalf("label %q: run %d is of %s, want %s; its id %s", tc.label, i, r.Source.File, want, r.ID)
			}
			seen[r.ID] = true
		}
		if tc.label == "" && runs[files-1].ID != runs[0].ID+"-2" {
			t.Errorf("the last run is %s, the first, which is equal, %s", runs[files-1].ID, runs[0].ID)
		}
	}
}
