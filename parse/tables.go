package parse

import (
	"fmt"
	"io"
	"math"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// A keeper remembers what is read through it, up to the size of a note.
type keeper struct {
	in   io.Reader
	kept []byte
	over bool
}

func (k *keeper) Read(p []byte) (int, error) {
	n, err := k.in.Read(p)
	if len(k.kept)+n > notes.MaxSize {
		k.over, k.kept = true, nil
	}
	if !k.over {
		k.kept = append(k.kept, p[:n]...)
	}
	return n, err
}

// readTables reads the tables of results that people publish without the logs.
// A table that is itself a log, such as llama-bench's, has been read by then.
func (d *document) readTables(k *keeper) {
	if k.over {
		d.errorf(0, "larger than %d MB: its tables were not read", notes.MaxSize>>20)
		return
	}
	note, err := notes.Read(k.kept)
	if err != nil {
		d.errorf(0, "%v", err)
		return
	}
	logs := map[int]bool{}
	for _, r := range d.runs {
		logs[r.Source.Line] = true
	}
	read := len(d.runs)
	for _, t := range note.Tables {
		results := t.Results()
		if results == nil || !results.AboutInference() {
			continue
		}
		isLog := false
		for line := t.Line; line <= t.EndLine && !isLog; line++ {
			isLog = logs[line]
		}
		if isLog {
			continue
		}
		for _, m := range results.Measures {
			if m.Vague != "" {
				d.notes = append(d.notes, bench.Problem{File: d.file, Line: m.Line, Message: fmt.Sprintf("%q leaves open what it is: kept as %s", m.Title, m.Vague)})
			}
		}
		for _, s := range results.Subjects {
			r := tableRun(t, results, s)
			if len(r.Metrics) == 0 || s.Summary || restatesAny(r, d.runs[:read]) || len(d.runs) >= maxRuns {
				continue
			}
			r.Source.File = d.file
			d.runs = append(d.runs, r)
		}
	}
}

// tableRun makes a run of a subject of a table.
func tableRun(t *notes.Table, results *notes.Results, s *notes.Subject) *bench.Run {
	r := &bench.Run{Label: redact("", s.Name), Source: bench.Source{Line: s.Line, EndLine: s.Line, Tool: "table", Format: "md"}}
	for _, set := range s.Where {
		r.Config.Add(set.Key, set.Value, bench.FromLog)
	}
	named := false // by more than its settings
	for _, k := range s.Keys {
		value := printable(k.Text)
		named = named || k.Number() == ""
		switch number := k.Number(); {
		case k.Key == "" || k.Key == "label":
			continue
		case number != "":
			value = number
		case k.Key == "engine":
			if e := engineIn(value); e != "" {
				value = e
			}
		}
		if plausible(k.Key, value) {
			r.Config.Add(k.Key, redact(k.Key, value), bench.FromLog)
		}
	}
	if !named {
		r.Label = "" // the name of the input will do
	}
	heading := fact{text: printable(t.Heading), from: bench.FromHeading}
	heading.read()
	for _, set := range heading.config {
		r.Config.Add(set.Key, set.Value, bench.FromHeading)
	}
	for i, m := range results.Measures {
		f := s.Values[i]
		if !f.Present {
			continue
		}
		name := m.Metrics[0]
		if m.Vague != "" {
			name = m.Vague
		}
		if len(s.Where) > 0 {
			name = "avg_ts"
		}
		factor := m.FactorOf(f.Number, m.Metrics[0])
		metric := bench.Metric{Name: name, Value: f.Value * factor, Std: f.Std * factor, HasStd: f.HasStd, Decimals: f.Decimals}
		if factor != 1 {
			metric.Decimals = max(0, f.Decimals-int(math.Round(math.Log10(factor))))
		}
		metric.Decimals = max(metric.Decimals, 0)
		r.Add(metric)
		if name == "completed" {
			n := int(f.Value)
			r.Completed = &n
			if f.HasOf {
				of := int(f.Of)
				r.Attempted = &of
			}
		}
	}
	complete(r, nil)
	r.Config.Sort()
	return r
}

// restatesAny reports whether the row of a table says again what a log beside it
// says: all figures that both have are the same, and those are several.
func restatesAny(row *bench.Run, logs []*bench.Run) bool {
	for _, r := range logs {
		n := 0
		same := true
		for _, m := range row.Metrics {
			if o, ok := r.Metric(m.Name); ok {
				if same = roundsTo(o.Raw, m.Raw, m.Decimals); !same {
					break
				}
				n++
			}
		}
		if same && (n > 1 || n == 1 && len(row.Metrics) == 1 && len(r.Metrics) == 1) {
			return true
		}
	}
	return false
}
