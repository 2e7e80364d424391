package parse

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/render"
)

// FuzzRead asks of every reader, that of published tables too: no panic, every
// run has a position and an id, and what is written of it is JSON. Its seeds are
// all logs of testdata.
func FuzzRead(f *testing.F) {
	for _, path := range append(logs(f), testdata+"/audit/wrong.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		res := Reader(bytes.NewReader(text), "x.log")
		tables, err := read(bytes.NewReader(text), "x.md", newRoom(), reading{tables: true})
		if err == nil && len(tables.runs) < len(res.Runs) {
			t.Fatalf("%d runs, and %d with the tables", len(res.Runs), len(tables.runs))
		}
		bench.AssignIDs(tables.runs)
		lines := bytes.Count(text, []byte("\n")) + 1
		for _, r := range slices.Concat(res.Runs, tables.runs) {
			if r.Source.Line < 1 || r.Source.EndLine < r.Source.Line || r.Source.EndLine > lines && !compressed(text) {
				t.Fatalf("a run of %s at lines %d to %d of %d", r.Source.Tool, r.Source.Line, r.Source.EndLine, lines)
			}
			if r.ID == "" || len(r.Metrics) == 0 {
				t.Fatalf("%s:%d: a run without id or metric", r.Source.Tool, r.Source.Line)
			}
			for _, m := range r.Metrics {
				if !finite(m.Raw) {
					t.Fatalf("%s = %v", m.Name, m.Raw)
				}
			}
		}
		var out bytes.Buffer
		if err := render.RunsJSON(&out, res.Runs, res.Errors); err != nil || !json.Valid(out.Bytes()) {
			t.Fatalf("no JSON: %v", err)
		}
	})
}

func compressed(b []byte) bool {
	return bytes.HasPrefix(b, []byte{0x1f, 0x8b}) || bytes.HasPrefix(b, []byte{0x28, 0xb5}) || bytes.IndexByte(b, 0) >= 0
}
