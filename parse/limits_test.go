package parse

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// The tests of this file are about the bounds in docs/limits.md: over each of
// them something is told or left out, and what was read so far stays.

const latencyLine = "Avg latency: 1.25 seconds\n"

// gzipped compresses what write writes.
func gzipped(t *testing.T, write func(w io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	write(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func wantErrors(t *testing.T, res *Result, runs int, messages ...string) {
	t.Helper()
	if len(res.Runs) != runs {
		t.Errorf("%d runs, want %d", len(res.Runs), runs)
	}
	if len(res.Errors) != len(messages) {
		t.Fatalf("errors %v, want %d", res.Errors, len(messages))
	}
	for i, m := range messages {
		if !strings.Contains(res.Errors[i].Message, m) {
			t.Errorf("error %q, want %q in it", res.Errors[i].Message, m)
		}
	}
}

func TestLimitLine(t *testing.T) {
	// A progress bar of 3 MB on one line: the result behind it is read, at its
	// line.
	bar := strings.Repeat("Processed prompts:  10%|█         | 1/10\r", 3<<20/40)
	res := Reader(strings.NewReader(bar+"\n"+latencyLine), "x.log")
	wantErrors(t, res, 1)
	if len(res.Runs) == 1 && res.Runs[0].Source.Line != 2 {
		t.Errorf("at line %d, want 2", res.Runs[0].Source.Line)
	}
	s := newSource(strings.NewReader(strings.Repeat("x", 3*maxLine)+"\nend"), make([]byte, bufferSize))
	if text, number, _ := s.next(); len(text) != maxLine || number != 1 {
		t.Errorf("%d bytes of line %d are kept, want %d of line 1", len(text), number, maxLine)
	}
	if text, number, _ := s.next(); string(text) != "end" || number != 2 {
		t.Errorf("%q at line %d, want end at 2", text, number)
	}
}

// resultJSON is a result of the latency benchmark, with something more in it.
func resultJSON(more string) string {
	return `{"avg_latency": 1.25, "latencies": [1.2, 1.3], "percentiles": {"10": 1.2, "99": 1.3}` + more + "}\n"
}

func TestLimitJSONDepth(t *testing.T) {
	deep := func(n int) string { return `, "x": ` + strings.Repeat("[", n) + strings.Repeat("]", n) }
	good := resultJSON("")
	res := Reader(strings.NewReader(good+resultJSON(deep(maxDepth-2))+good), "x.jsonl")
	wantErrors(t, res, 3)
	res = Reader(strings.NewReader(good+resultJSON(deep(2*maxDepth))+good), "x.jsonl")
	wantErrors(t, res, 2, fmt.Sprintf("nested deeper than %d", maxDepth))
	if len(res.Errors) == 1 && res.Errors[0].Line != 2 {
		t.Errorf("told of line %d, want 2", res.Errors[0].Line)
	}
	objects := `, "x": ` + strings.Repeat(`{"a":`, 2*maxDepth) + "1" + strings.Repeat("}", 2*maxDepth)
	wantErrors(t, Reader(strings.NewReader(good+resultJSON(objects)+good), "x.jsonl"), 2, fmt.Sprintf("nested deeper than %d", maxDepth))
	// An outermost array is no result of its own: nothing is told.
	wantErrors(t, Reader(strings.NewReader(good+strings.Repeat("[", 2*maxDepth)+"{\"a\":1}\n"), "x.jsonl"), 1)
}

func TestLimitJSONText(t *testing.T) {
	word := `"` + strings.Repeat("w", shortText) + `"`
	parts := []io.Reader{strings.NewReader(resultJSON("") + `{"avg_latency": 1.25, "latencies": [1.2]`)}
	for i := range maxKept/shortText + 1 {
		parts = append(parts, strings.NewReader(fmt.Sprintf(`, "k%d": `, i)), strings.NewReader(word))
	}
	parts = append(parts, strings.NewReader("}\n"+resultJSON("")))
	wantErrors(t, Reader(io.MultiReader(parts...), "x.jsonl"), 2, fmt.Sprintf("more than %d MB of text", maxKept>>20))
}

// A log in a JSON string is read as far as the string is kept.
func TestLimitJSONString(t *testing.T) {
	inside := strings.ReplaceAll(latencyLine, "\n", `\n`) + strings.Repeat("x", maxString) + `\n` + strings.ReplaceAll(latencyLine, "\n", `\n`)
	res := Reader(strings.NewReader(`{"stdout": "`+inside+`"}`+"\n"+resultJSON("")), "x.json")
	wantErrors(t, res, 2)
}

func TestLimitSamples(t *testing.T) {
	l := &list{}
	l.nums.n = maxNumbers
	src := newSource(strings.NewReader("[1]"), make([]byte, 64))
	j := &jsonReader{d: &document{}, s: src, keys: map[string]*jsonKey{}}
	if _, err := j.peek(); err != nil {
		t.Fatal(err)
	}
	if err := j.array(l, 0, nil); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("a list of more than %d numbers", maxNumbers)) {
		t.Errorf("%v", err)
	}
}

func TestLimitSeries(t *testing.T) {
	var b strings.Builder
	const n = 3*maxPoints + 7
	for i := range n {
		fmt.Fprintf(&b, "INFO 12-16 16:46:04 metrics.py:467] Avg prompt throughput: %d.0 tokens/s, Avg generation throughput: 567.8 tokens/s, Running: 8 reqs, Swapped: 0 reqs, Pending: 0 reqs\n", 100+i%7)
	}
	res := Reader(strings.NewReader(b.String()), "x.log")
	wantErrors(t, res, 1)
	r := res.Runs[0]
	if m, _ := r.Metric("intervals"); m.Raw != n {
		t.Errorf("%v intervals, want %d", m.Raw, n)
	}
	for _, s := range r.Series {
		if len(s.Values) > maxPoints || len(s.Values)*s.Step < n-s.Step {
			t.Errorf("%s: %d points of %d intervals each, want at most %d that cover %d", s.Name, len(s.Values), s.Step, maxPoints, n)
		}
	}
}

func TestLimitRuns(t *testing.T) {
	one := &bench.Run{Source: bench.Source{Line: 1, Tool: "vllm-latency"}}
	d := &document{file: "x.log", outcome: outcome{runs: slices.Repeat([]*bench.Run{one}, maxRuns)}}
	d.emit(&bench.Run{Source: bench.Source{Line: 7, Tool: "vllm-latency"}})
	if len(d.runs) != maxRuns || len(d.errs) != 1 || d.errs[0].Line != 7 || !strings.Contains(d.errs[0].Message, fmt.Sprintf("more than %d results", maxRuns)) {
		t.Errorf("%d runs, %v", len(d.runs), d.errs)
	}
}

func TestLimitErrors(t *testing.T) {
	var b strings.Builder
	const bad = maxErrors + 10
	for range bad {
		b.WriteString("Avg latency: soon seconds\n")
	}
	b.WriteString(latencyLine)
	res := Reader(strings.NewReader(b.String()), "x.log")
	if len(res.Errors) != maxErrors+1 || len(res.Runs) != 1 {
		t.Fatalf("%d errors and %d runs, want %d and 1", len(res.Errors), len(res.Runs), maxErrors+1)
	}
	if last := res.Errors[maxErrors]; last.Line != 0 || last.Message != "and 10 more lines that could not be read" {
		t.Errorf("%v", last)
	}
}

func TestLimitRatio(t *testing.T) {
	same := append(bytes.Repeat([]byte("x"), 1<<20), '\n')
	bomb := gzipped(t, func(w io.Writer) {
		_, _ = io.WriteString(w, latencyLine)
		for range freeInflate>>20 + 16 {
			_, _ = w.Write(same)
		}
		_, _ = io.WriteString(w, latencyLine)
	})
	wantErrors(t, Reader(bytes.NewReader(bomb), "x.log.gz"), 1, fmt.Sprintf("decompresses to more than %d times its size: not read further", maxRatio))
	// The same ratio in a small file is only a dull log.
	dull := gzipped(t, func(w io.Writer) {
		_, _ = io.WriteString(w, latencyLine)
		_, _ = w.Write(same)
		_, _ = io.WriteString(w, latencyLine)
	})
	wantErrors(t, Reader(bytes.NewReader(dull), "x.log.gz"), 2)
}

func TestLimitInflated(t *testing.T) {
	f := &inflated{r: strings.NewReader("text"), in: &counter{n: 1 << 40}, out: maxInflated - 2}
	if _, err := io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "decompresses to more than 64 GB: not read further") {
		t.Errorf("%v", err)
	}
}

func TestLimitLayers(t *testing.T) {
	data := []byte(latencyLine)
	for layers := range 4 {
		res := Reader(bytes.NewReader(data), "x.log.gz")
		if layers <= 2 {
			wantErrors(t, res, 1)
		} else {
			wantErrors(t, res, 0, "compressed more than twice")
		}
		inner := data
		data = gzipped(t, func(w io.Writer) { _, _ = w.Write(inner) })
	}
}

// The figures of docs/limits.md are those of the constants.
func TestLimitsDoc(t *testing.T) {
	text, err := os.ReadFile("../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"maxLine": fmt.Sprintf("%d MB", maxLine>>20), "maxDepth": fmt.Sprint(maxDepth), "maxKept": fmt.Sprintf("%d MB", maxKept>>20), "shortText": fmt.Sprintf("%d kB", shortText>>10),
		"maxString": fmt.Sprintf("%d MB", maxString>>20), "maxNested": fmt.Sprintf("%d levels", maxNested), "maxNumbers": commas(maxNumbers), "spreadSteps": fmt.Sprintf("%d steps", spreadSteps),
		"maxPoints": commas(maxPoints) + " points", "maxRuns": commas(maxRuns), "maxAnswers": commas(maxAnswers), "maxErrors": fmt.Sprint(maxErrors), "maxFacts": fmt.Sprint(maxFacts),
		"maxContinue": fmt.Sprint(maxContinue), "maxInflated": fmt.Sprintf("%d GB", maxInflated>>30), "maxRatio": fmt.Sprint(maxRatio),
	} {
		line := regexp.MustCompile("(?m)^\\|.*`" + name + "` \\|$").FindString(string(text))
		if cells := strings.Split(line, " | "); len(cells) < 4 || cells[1] != want {
			t.Errorf("docs/limits.md says of %s %q, want %s", name, line, want)
		}
	}
}

func commas(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func TestLimitContext(t *testing.T) {
	var b strings.Builder
	b.WriteString("```\n")
	for i := range 3 * maxFacts {
		fmt.Fprintf(&b, "# attempt %d, c=%d\n$ vllm serve org/model-%d --tensor-parallel-size 2\n", i, i, i)
	}
	last := 3*maxFacts - 1
	b.WriteString(latencyLine)
	d, err := read(strings.NewReader(b.String()), "x.log", newRoom(), reading{})
	if err != nil || len(d.runs) != 1 || len(d.errs) > 0 {
		t.Fatalf("%d runs, %v %v", len(d.runs), d.errs, err)
	}
	if len(d.ctx.facts) > maxFacts || len(d.ctx.commands) > maxFacts {
		t.Errorf("%d facts and %d commands are remembered, want at most %d", len(d.ctx.facts), len(d.ctx.commands), maxFacts)
	}
	if got := d.runs[0].Config.Get("concurrency"); got != fmt.Sprint(last) {
		t.Errorf("concurrency %q, want that of the nearest comment, %d", got, last)
	}
}

// A command that never ends does not take the result behind it.
func TestLimitCommand(t *testing.T) {
	res := Reader(strings.NewReader("$ vllm bench latency \\\n"+strings.Repeat("  --flag x \\\n", 3*maxContinue)+latencyLine), "x.log")
	wantErrors(t, res, 1)
}

func TestLimitTables(t *testing.T) {
	table := "| Concurrency | Req/s | Output Tok/s |\n|---|---|---|\n| 16 | 0.40 | 70.10 |\n\n"
	rest := strings.Repeat(strings.Repeat("x", 1<<16)+"\n", notes.MaxSize>>16)
	for _, tc := range []struct {
		text       string
		runs, errs int
	}{{table + latencyLine, 2, 0}, {table + latencyLine + rest, 1, 1}} {
		d, err := read(strings.NewReader(tc.text), "x.md", newRoom(), reading{tables: true})
		if err != nil || len(d.runs) != tc.runs || len(d.errs) != tc.errs || tc.errs == 1 && d.errs[0].Message != "larger than 64 MB: its tables were not read" {
			t.Errorf("%d runs, want %d; %v %v", len(d.runs), tc.runs, d.errs, err)
		}
	}
}

// nestedLog puts a log into JSON strings, so many times.
func nestedLog(t *testing.T, times int) string {
	t.Helper()
	log := strings.Repeat("# a line of some words\n", 20) + latencyLine
	for range times {
		b, err := json.Marshal(map[string]string{"stdout": log})
		if err != nil {
			t.Fatal(err)
		}
		log = strings.Repeat("# a line of some words\n", 20) + string(b) + "\n"
	}
	return log
}

func TestLimitNested(t *testing.T) {
	wantErrors(t, Reader(strings.NewReader(nestedLog(t, maxNested)), "x.log"), 1)
	wantErrors(t, Reader(strings.NewReader(nestedLog(t, maxNested+1)), "x.log"), 0)
}

func TestLimitText(t *testing.T) {
	o := objectIn(`{"a": "` + strings.Repeat("x", 3*shortText) + `", "b": 1}`)
	if o == nil || len(o.members) != 2 || len(o.members[0].text) != shortText {
		t.Errorf("%+v", o)
	}
}

// Logs inside JSON strings count as lines of their file: their messages are
// bounded with it.
func TestNestedErrors(t *testing.T) {
	log := strings.Repeat("============ Serving Benchmark Result ============\\nSuccessful requests: many\\nBenchmark duration (s): 10.00\\nRequest throughput (req/s): fast\\nOutput token throughput (tok/s): 5.00\\nTotal generated tokens: 50\\n==================================================\\n", 3)
	text := "[" + strings.TrimSuffix(strings.Repeat(`{"stdout": "`+log+`"},`, 200), ",") + "]\n"
	res := Reader(strings.NewReader(text), "x.json")
	if len(res.Errors) > maxErrors+1 || len(res.Errors) < 2 {
		t.Errorf("%d messages, want at most %d and how many more", len(res.Errors), maxErrors)
	}
	if last := res.Errors[len(res.Errors)-1].Message; !strings.Contains(last, "more lines that could not be read") {
		t.Errorf("the last message is %q", last)
	}
}
