package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
