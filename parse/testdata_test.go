package parse

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const testdata = "../testdata"

// logs lists the logs in testdata, a folder a tool.
func logs(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(testdata + "/*/*")
	if err != nil {
		t.Fatal(err)
	}
	files = slices.DeleteFunc(files, func(f string) bool {
		info, err := os.Stat(f)
		return err != nil || info.IsDir() || strings.HasSuffix(f, ".want") || strings.HasSuffix(f, ".golden") || strings.HasSuffix(f, ".got") ||
			strings.HasPrefix(f, testdata+"/fuzz") || strings.HasPrefix(f, testdata+"/cmd") || strings.HasPrefix(f, testdata+"/audit")
	})
	if len(files) == 0 {
		t.Fatal("no logs in testdata")
	}
	return files
}

// readLog reads a log of testdata under its name without the folders above.
func readLog(t testing.TB, path string) *Result {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Reader(f, filepath.Base(path))
}

// TestWant holds every log against what somebody read in it by eye.
func TestWant(t *testing.T) {
	for _, path := range logs(t) {
		name := strings.TrimPrefix(path, testdata+"/")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(path + ".want")
			if err != nil {
				t.Fatalf("every log says what is in it: %v", err)
			}
			got := readLog(t, path)
			runs, errs := got.Runs, got.Errors
			for number, line := range strings.Split(string(text), "\n") {
				if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
					continue
				}
				at := fmt.Sprintf("%s.want:%d", name, number+1)
				words := shellWords(strings.ReplaceAll(line, "$", `\$`), nil)
				if words[0] == "error" {
					if len(errs) == 0 {
						t.Errorf("%s: no error", at)
						continue
					}
					checkError(t, at, errs[0], words[1:])
					errs = errs[1:]
					continue
				}
				if len(runs) == 0 {
					t.Errorf("%s: no run", at)
					continue
				}
				checkRun(t, at, runs[0], words)
				runs = runs[1:]
			}
			for _, r := range runs {
				t.Errorf("%s:%d: a run of %s that is not in .want", name, r.Source.Line, r.Source.Tool)
			}
			for _, e := range errs {
				t.Errorf("an error that is not in .want: %v", e)
			}
		})
	}
}

func checkError(t *testing.T, at string, got bench.Problem, words []string) {
	t.Helper()
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		switch key {
		case "line":
			if strconv.Itoa(got.Line) != value {
				t.Errorf("%s: error at line %d, want %s", at, got.Line, value)
			}
		case "contains":
			if !strings.Contains(got.Message, value) {
				t.Errorf("%s: error %q, want it to contain %q", at, got.Message, value)
			}
		default:
			t.Errorf("%s: unknown key %s", at, key)
		}
	}
}

func checkRun(t *testing.T, at string, r *bench.Run, words []string) {
	t.Helper()
	for _, w := range words {
		key, want, ok := strings.Cut(w, "=")
		if !ok {
			t.Errorf("%s: not key=value: %s", at, w)
			continue
		}
		got := ""
		if k, ok := strings.CutPrefix(key, "config."); ok {
			got = r.Config.Get(k)
		} else if k, ok := strings.CutPrefix(key, "from."); ok {
			got = r.Config.From(k).String()
		} else {
			switch key {
			case "line":
				got = strconv.Itoa(r.Source.Line)
			case "end":
				got = strconv.Itoa(r.Source.EndLine)
			case "tool":
				got = r.Source.Tool
			case "format":
				got = r.Source.Format
			case "label":
				got = r.Label
			case "completed":
				got = optional(r.Completed)
			case "attempted":
				got = optional(r.Attempted)
			case "replicas":
				got = strconv.Itoa(max(r.Replicas, 1))
			case "finding":
				if slices.ContainsFunc(r.Findings, func(f bench.Finding) bool { return f.Code == want }) {
					continue
				}
				got = fmt.Sprint(r.Findings)
			case "absent":
				if m, ok := r.Metric(want); ok {
					t.Errorf("%s: %s = %v, want none", at, want, m.Raw)
				}
				continue
			default:
				checkMetric(t, at, r, key, want)
				continue
			}
		}
		if got != want {
			t.Errorf("%s (line %d): %s = %q, want %q", at, r.Source.Line, key, got, want)
		}
	}
}

func optional(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func checkMetric(t *testing.T, at string, r *bench.Run, key, want string) {
	t.Helper()
	name, part := key, ""
	for _, p := range [...]string{".std", ".n"} {
		if n, ok := strings.CutSuffix(key, p); ok {
			name, part = n, p
		}
	}
	m, ok := r.Metric(name)
	if !ok {
		t.Errorf("%s (line %d): no %s, want %s", at, r.Source.Line, name, want)
		return
	}
	got := m.Raw
	switch part {
	case ".std":
		if got = m.Std; !m.HasStd {
			got = math.NaN()
		}
	case ".n":
		got = float64(m.N)
	}
	x, err := strconv.ParseFloat(want, 64)
	if err != nil {
		t.Errorf("%s: %s: %v", at, key, err)
		return
	}
	if !(math.Abs(got-x) <= 1e-9*math.Max(1, math.Abs(x))) {
		t.Errorf("%s (line %d): %s = %v, want %s", at, r.Source.Line, key, got, want)
	}
}

// TestGolden keeps all that is read from each log: what the .want files do not
// name must not change unseen either.
func TestGolden(t *testing.T) {
	for _, path := range logs(t) {
		t.Run(strings.TrimPrefix(path, testdata+"/"), func(t *testing.T) {
			got := []byte(dump(readLog(t, path)))
			golden := path + ".golden"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v (make golden writes it)", err)
			}
			if !bytes.Equal(got, want) {
				_ = os.WriteFile(path+".got", got, 0o644)
				t.Errorf("differs from %s; see %s.got", golden, path)
			}
		})
	}
}

// dump writes all that was read, for people to read.
func dump(res *Result) string {
	var b strings.Builder
	for _, r := range res.Runs {
		fmt.Fprintf(&b, "%s:%d-%d %s %s label=%q completed=%s attempted=%s replicas=%d\n", r.Source.File, r.Source.Line, r.Source.EndLine,
			r.Source.Tool, r.Source.Format, r.Label, optional(r.Completed), optional(r.Attempted), max(r.Replicas, 1))
		for _, s := range r.Config {
			fmt.Fprintf(&b, "  config %s = %s (%s)\n", s.Key, s.Value, s.From)
		}
		for _, m := range r.Metrics {
			fmt.Fprintf(&b, "  metric %s = %v", m.Name, m.Raw)
			if m.HasStd {
				fmt.Fprintf(&b, " ± %v", m.Std)
			}
			if m.N > 0 {
				fmt.Fprintf(&b, " n=%d", m.N)
			}
			if len(m.Samples) > 0 {
				fmt.Fprintf(&b, " samples=%v", m.Samples)
			}
			if m.Derived {
				b.WriteString(" derived")
			}
			b.WriteByte('\n')
		}
		for _, s := range r.Series {
			fmt.Fprintf(&b, "  series %s step=%d %v\n", s.Name, s.Step, s.Values)
		}
		for _, f := range r.Findings {
			fmt.Fprintf(&b, "  finding %s %s: %s\n", f.Severity, f.Code, f.Message)
		}
	}
	for _, e := range res.Errors {
		fmt.Fprintf(&b, "error %v\n", e)
	}
	for _, e := range res.Notes {
		fmt.Fprintf(&b, "note %v\n", e)
	}
	return b.String()
}

// TestFormats walks the table: every format has logs of its own, and each of
// them is recognised as that format and no other. A log that holds several says
// so in its .want file.
func TestFormats(t *testing.T) {
	found := map[string]bool{}
	for _, path := range logs(t) {
		folder := filepath.Base(filepath.Dir(path))
		want, _ := os.ReadFile(path + ".want")
		for _, r := range readLog(t, path).Runs {
			if r.Source.Tool == folder {
				found[folder] = true
			} else if !strings.Contains(string(want), "tool="+r.Source.Tool) {
				t.Errorf("%s:%d is read as %s", path, r.Source.Line, r.Source.Tool)
			}
		}
	}
	seen := map[string]bool{}
	for _, f := range Formats() {
		if !found[f.Tool] {
			t.Errorf("no log in testdata/%s is read as %s", f.Tool, f.Tool)
		}
		if seen[f.Tool] {
			t.Errorf("%s stands twice in the table of formats", f.Tool)
		}
		seen[f.Tool] = true
		if f.Reads == "" || f.Since == "" || f.Example == "" {
			t.Errorf("%s does not say what it reads, since when, or has no example", f.Tool)
		}
	}
}
