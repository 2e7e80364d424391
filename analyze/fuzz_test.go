package analyze_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
	"github.com/benchreport/benchreport/parse"
)

// smallNote is a note of every kind of mistake, with its logs: a mutated one is
// read in no time.
const smallNote = `# Engines

one is 2.3x faster than two, and 25% lower.

| Engine | Req/s | Output tok/s | Mean TTFT (ms) | vs one |
|--------|------:|-------------:|---------------:|-------:|
| one    | **8.00** | 900.0     |     **101.25** |        |
| two    | 10.00 |   **1,000.0** |         120.50 | +25 %  |
| two ×4 | 40.00 |   **4,000.0** |         120.50 | 5.0x   |

| | one | two |
|---|---|---|
| Duration (s) | 125.00 | **100.00** |
| Output tok/s | 800.00 | 1000.00 |
| Mean TTFT (ms) | 101.25 | 120.50 ✅ |

## one

` + "```" + `
============ Serving Benchmark Result ============
Successful requests:                     1000
Maximum request concurrency:             16
Benchmark duration (s):                  125.00
Total input tokens:                      500000
Total generated tokens:                  100000
Request throughput (req/s):              8.00
Output token throughput (tok/s):         800.00
Total Token throughput (tok/s):          4800.00
Mean TTFT (ms):                          101.25
==================================================
` + "```" + `

## two

` + "```" + `
============ Serving Benchmark Result ============
Successful requests:                     1000
Failed requests:                         24
Maximum request concurrency:             16
Benchmark duration (s):                  100.00
Total input tokens:                      500000
Total generated tokens:                  100000
Request throughput (req/s):              10.00
Output token throughput (tok/s):         1000.00
Total Token throughput (tok/s):          6000.00
Mean TTFT (ms):                          120.50
==================================================
` + "```" + `
`

// FuzzAudit asks of the audit of a note with the logs in it: no panic, every
// finding stands in the file, and mending comes to an end and breaks no table.
func FuzzAudit(f *testing.F) {
	f.Add([]byte(smallNote))
	wrong, err := os.ReadFile("../testdata/audit/wrong.md")
	if err != nil {
		f.Fatal(err)
	}
	logs, err := os.ReadFile("../testdata/vllm-serve/note-vllm-llamacpp.md")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append(wrong, logs...))
	files, err := filepath.Glob("../testdata/*/*.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const rounds = 8 // as many as benchreport audit --fix makes
		for range rounds {
			note, found := audited(t, text)
			var edits []notes.Edit
			for _, finding := range found.Findings {
				edits = append(edits, finding.Edits...)
			}
			if len(edits) == 0 {
				return
			}
			next := note.Rewrite(edits)
			checkMended(t, text, next, note, edits)
			if bytes.Equal(next, text) {
				return
			}
			text = next
		}
		t.Fatalf("still to be mended after %d rounds:\n%s", rounds, text)
	})
}

// audited audits a note as the command does, and looks at the findings.
func audited(t *testing.T, text []byte) (*notes.Note, *analyze.Audited) {
	t.Helper()
	note, err := notes.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	runs := parse.Reader(bytes.NewReader(text), "x.md").Runs
	found := analyze.Audit("x.md", note, runs)
	ids := map[string]bool{}
	for _, r := range runs {
		ids[r.ID] = true
	}
	lines := bytes.Count(text, []byte("\n")) + 1
	for _, f := range found.Findings {
		if f.File != "x.md" || f.Line < 1 || f.Line > lines || f.Table < 0 || f.Table > len(note.Tables) {
			t.Fatalf("%s stands at %s:%d in table %d; there are %d lines and %d tables", f.Code, f.File, f.Line, f.Table, lines, len(note.Tables))
		}
		if f.Severity != bench.Note && f.Severity != bench.Warning && f.Severity != bench.Error || f.Code == "" || f.Message == "" {
			t.Fatalf("not a finding: %+v", f)
		}
		if !utf8.ValidString(f.Message) || strings.ContainsAny(f.Message, "\n\r") || strings.Contains(f.Message, "%!") {
			t.Fatalf("not a line of text: %q", f.Message)
		}
		for _, id := range f.Runs {
			if !ids[id] {
				t.Fatalf("%s is about a run %q that is not there", f.Code, id)
			}
		}
		for _, e := range f.Edits {
			if e.Cell.Start < 0 || e.Cell.End < e.Cell.Start || e.Cell.End > len(text) || e.Mark == 0 && e.Old == "" {
				t.Fatalf("%s: an edit of nothing: %+v", f.Code, e)
			}
		}
	}
	return note, found
}

// checkMended holds a mended note against what it was: it has the same tables, and
// all cells but those that were to change are as they were.
func checkMended(t *testing.T, before, after []byte, was *notes.Note, edits []notes.Edit) {
	t.Helper()
	is, err := notes.Read(after)
	if err != nil {
		t.Fatal(err)
	}
	if len(was.Tables) != len(is.Tables) {
		t.Fatalf("%d tables, mended %d\n%s\n%s", len(was.Tables), len(is.Tables), before, after)
	}
	edited := map[int]bool{}
	for _, e := range edits {
		edited[e.Cell.Start] = true
	}
	for i, a := range was.Tables {
		b := is.Tables[i]
		if a.Line != b.Line || len(a.Header) != len(b.Header) || len(a.Rows) != len(b.Rows) {
			t.Fatalf("table %d had %d columns and %d rows, and has %d and %d\n%s\n%s", i+1, len(a.Header), len(a.Rows), len(b.Header), len(b.Rows), before, after)
		}
		for r, row := range a.Rows {
			for c, cell := range row.Cells {
				if got := b.Rows[r].Cells[c]; !edited[cell.Start] && (got.Text != cell.Text || got.Marked != cell.Marked) {
					t.Fatalf("a cell %q became %q\n%s\n%s", cell.Text, got.Text, before, after)
				}
			}
		}
	}
}
