package main

import (
	"io"
	"strings"
	"testing"
)

// FuzzConfig asks of a .benchreport.yaml: no panic, an error is one line that
// names the file, and what is accepted is a flag or a waiver with its reason.
func FuzzConfig(f *testing.F) {
	for _, s := range []string{
		"", "alpha: 0.05\n", "alpha: [\n", "threshold:\n  output_throughput: 3%\n  mean_ttft_ms: 10%\n", "metrics: [output_throughput, mean_tpot_ms]\n",
		"waivers:\n  - metric: mean_ttft_ms\n    where: concurrency=16\n    reason: known\n    expires: 2026-12-31\n", "waivers: 1\n", "waivers:\n - 1\n", "waivers:\n - reason:\n",
		"no-normalize: true\n", "lenient: yes\n", "where: [a=b, 'c~[']\n", "unknown: 1\n", "help: true\n", "1: 2\n", "- a\n", "a: &a [*a]\n", "? {a: b}\n: c\n", "format: md\n", "replicas: {a: 4}\n",
		"noise: 3%\n", "partial: null\n", "--- \nalpha: .inf\n---\nalpha: 1\n", "\xff", "alpha: !!binary aGk=\n", "gpu-price: 0x10\n", "metrics:\n  a: {b: [c]}\n", "<<: {alpha: 1}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := parseConfig("x/"+configName, text)
		if err != nil {
			checkConfigError(t, err)
			return
		}
		for _, w := range c.waivers {
			if w.Reason == "" {
				t.Fatalf("a waiver without a reason: %+v", w)
			}
		}
		for _, command := range []string{"runs", "compare", "gate", "report"} {
			a := &app{stdout: io.Discard, stderr: io.Discard, config: c}
			parser, err := a.parser(&commands{}, func(int) { t.Fatal("a file made it exit") })
			if err != nil {
				t.Fatal(err)
			}
			args := []string{command, "x.log"}
			switch command {
			case "gate":
				args = []string{command, "--base", "x.log", "--head", "y.log"}
			case "report":
				args = append(args, "-o", "dir")
			}
			if _, err := parser.Parse(args); err != nil && (err.Error() == "" || strings.ContainsAny(err.Error(), "\n\x1b")) {
				t.Fatalf("%s: an error that says nothing, or more than a line: %q", command, err)
			}
		}
	})
}

func checkConfigError(t *testing.T, err error) {
	t.Helper()
	if s := err.Error(); !strings.HasPrefix(s, configName+": ") || strings.Contains(s, "\n") {
		t.Fatalf("not a line that names the file: %q", s)
	}
}
