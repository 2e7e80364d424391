package parse

import (
	"fmt"
	"strings"
	"testing"
)

// TestManyAnswers holds that a file of saved answers does not become runs
// without number: beyond the first thousand, all are one.
func TestManyAnswers(t *testing.T) {
	var b strings.Builder
	for range maxAnswers {
		b.WriteString(`{"model":"m.gguf","timings":{"prompt_n":10,"prompt_ms":20.0,"prompt_per_second":500.0,"predicted_n":11,"predicted_ms":200.0,"predicted_per_second":50.0}}` + "\n")
	}
	// 20 tokens in 0.1 s and 30 in 0.4 s.
	b.WriteString(`{"timings":{"prompt_n":20,"prompt_ms":100.0,"predicted_n":20,"predicted_ms":100.0}}` + "\n")
	b.WriteString(`{"timings":{"prompt_n":30,"prompt_ms":400.0,"predicted_n":30,"predicted_ms":400.0}}` + "\n")
	res := Reader(strings.NewReader(b.String()), "answers.jsonl")
	if len(res.Runs) != maxAnswers+1 || len(res.Notes) != 1 {
		t.Fatalf("%d runs, notes %v; want %d and one note", len(res.Runs), res.Notes, maxAnswers+1)
	}
	last := res.Runs[maxAnswers]
	m, _ := last.Metric("generation_tok_s_per_request")
	n, _ := last.Metric("timed_requests")
	if m.Value != 100 || n.Value != 2 || last.Source.Line != maxAnswers+1 || last.Source.EndLine != maxAnswers+2 {
		t.Errorf("%d-%d: %v tok/s over %v requests, want 100 over 2", last.Source.Line, last.Source.EndLine, m.Value, n.Value)
	}
}

// TestLongServerLog holds that a log of any length is one run with a bounded
// series.
func TestLongServerLog(t *testing.T) {
	var b strings.Builder
	for i := range 10 * maxPoints {
		fmt.Fprintf(&b, "slot print_timing: id  0 | task %d | prompt eval time =     100.00 ms /    50 tokens (    2.00 ms per token,   500.00 tokens per second)\n", i)
		fmt.Fprintf(&b, "slot print_timing: id  0 | task %d |        eval time =    1000.00 ms /    41 tokens (   25.00 ms per token,    40.00 tokens per second)\n", i)
	}
	res := Reader(strings.NewReader(b.String()), "server.log")
	if len(res.Runs) != 1 {
		t.Fatalf("%d runs, want 1", len(res.Runs))
	}
	r := res.Runs[0]
	m, _ := r.Metric("generation_tok_s_per_request")
	n, _ := r.Metric("timed_requests")
	if m.Value != 40 || n.Value != 10*maxPoints {
		t.Errorf("%v tok/s over %v requests, want 40 over %d", m.Value, n.Value, 10*maxPoints)
	}
	if len(r.Series) != 1 || len(r.Series[0].Values) > maxPoints+1 {
		t.Errorf("a series of %d values, want at most %d", len(r.Series[0].Values), maxPoints+1)
	}
}

func TestLlamaStamp(t *testing.T) {
	for text, want := range map[string]string{
		"0.00.456.526 I slot print_timing: x": "slot print_timing: x",
		"12.59.999.999 W   x":                 "x",
		"0.01.752.071 I":                      "",
		"0.00.456.526 Intel":                  "0.00.456.526 Intel",
		"1.10.100.100":                        "1.10.100.100",
		"10.1.100.100 I x":                    "10.1.100.100 I x",
		"1234567.00.456.526 I x":              "1234567.00.456.526 I x",
	} {
		if got := string(unstamp([]byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
