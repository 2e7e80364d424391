package parse

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/benchreport/benchreport/render"
)

// FuzzRead asks of every reader: no panic, every run has a position and an id,
// and what is written of it is JSON.
func FuzzRead(f *testing.F) {
	for _, path := range logs(f) {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		res := Reader(bytes.NewReader(text), "x.log")
		lines := bytes.Count(text, []byte("\n")) + 1
		for _, r := range res.Runs {
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
