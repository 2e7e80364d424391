package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/notes"
)

// Over a bound of docs/limits.md the reason is told, what was read so far is
// reported, and the exit status is 2.
func TestLimits(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const line = "Avg latency: 1.25 seconds\n"
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	dull := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	_, _ = z.Write([]byte(line))
	for range 80 {
		_, _ = z.Write(dull)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	deep := `{"avg_latency": 1.5, "latencies": [1.5], "x": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}\n"
	for _, tc := range []struct {
		args           []string
		status         int
		stdout, stderr string
	}{
		{[]string{"runs", write("bomb.log.gz", bomb.Bytes())}, 2, "vllm-latency: 1 run", "bomb.log.gz: decompresses to more than 400 times its size: not read further"},
		{[]string{"runs", "--lenient", filepath.Join(dir, "bomb.log.gz")}, 0, "vllm-latency: 1 run", "not read further"},
		{[]string{"runs", write("errors.log", []byte(strings.Repeat("Avg latency: soon seconds\n", 60)+line))}, 2, "vllm-latency: 1 run", "errors.log: and 10 more lines that could not be read"},
		{[]string{"runs", write("deep.jsonl", []byte(line+deep))}, 2, "vllm-latency: 1 run", "deep.jsonl:2: JSON: nested deeper than 64"},
		{[]string{"audit", write("large.md", make([]byte, notes.MaxSize+1))}, 2, "", "large.md: a note larger than 64 MB: not read"},
	} {
		var out, errs bytes.Buffer
		status := run(tc.args, strings.NewReader(""), &out, &errs)
		if status != tc.status || !strings.Contains(out.String(), tc.stdout) || !strings.Contains(errs.String(), tc.stderr) {
			t.Errorf("%s: exit %d, want %d\n%s%s", tc.args, status, tc.status, out.String(), errs.String())
		}
	}
}
