package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// An AuditFinding is something that is wrong or doubtful in a note.
type AuditFinding struct {
	bench.Finding
	File   string
	Line   int
	Table  int    // number in the file; 0 for prose
	Column string // the header as written, or the row where metrics are rows

	Edits []notes.Edit // what mends it, where that is certain
}

// An Audited note.
type Audited struct {
	Findings []AuditFinding
	Tables   int // those that hold results
	Cells    int // figures in them whose run is known
}

// Audit holds the tables of a note against runs.
func Audit(file string, note *notes.Note, runs []*bench.Run) *Audited {
	a := &auditor{file: file, runs: runs, index: indexRuns(runs), told: map[string]bool{}, out: &Audited{}}
	var sections []*auditTable
	for _, t := range note.Tables {
		table := newAuditTable(t)
		if table == nil || a.isLog(table) && !table.anyMark() {
			continue
		}
		a.table = table
		a.link()
		if !table.aboutResults() {
			continue
		}
		a.out.Tables++
		sections = append(sections, table)
		a.values()
		a.winners()
		a.partial()
		a.changes()
		a.sideBySide()
	}
	a.prose(note, sections)
	slices.SortStableFunc(a.out.Findings, func(x, y AuditFinding) int { return x.Line - y.Line })
	return a.out
}

// An auditor is one audit of a note: what is known, and the table at hand.
type auditor struct {
	file  string
	runs  []*bench.Run
	index runIndex
	table *auditTable
	told  map[string]bool // findings about runs that stand in several tables
	out   *Audited
}

// add tells a finding at a line of the table at hand.
func (a *auditor) add(code string, severity bench.Severity, line int, column, message string, runs []*bench.Run, edits ...notes.Edit) {
	f := AuditFinding{Finding: bench.Finding{Code: code, Severity: severity, Message: message}, File: a.file, Line: line, Column: column, Edits: edits}
	if a.table != nil {
		f.Table = a.table.Number
	}
	for _, r := range runs {
		f.Runs = append(f.Runs, r.ID)
	}
	a.out.Findings = append(a.out.Findings, f)
}

// An auditTable is what a table says, with the run behind each subject.
type auditTable struct {
	*notes.Results
	subjects []*subject
	measures []*measure
}

// A measure is a column, or a row, of one metric.
type measure struct {
	*notes.Measure
	metric string // the one of Metrics that it is, "" while that is open
}

// A subject is what was measured: a row of most tables.
type subject struct {
	*notes.Subject
	run      *bench.Run // nil while it is not known
	replicas int        // the values are those of the run, for so many
}

// newAuditTable finds what a table says; nil if it is about something else.
func newAuditTable(t *notes.Table) *auditTable {
	results := t.Results()
	if results == nil {
		return nil
	}
	out := &auditTable{Results: results}
	for _, m := range results.Measures {
		out.measures = append(out.measures, &measure{Measure: m})
	}
	for _, s := range results.Subjects {
		out.subjects = append(out.subjects, &subject{Subject: s, replicas: 1})
	}
	return out
}

// aboutResults reports whether a table holds benchmark results: figures of runs
// that are known, or several metrics of inference.
func (t *auditTable) aboutResults() bool {
	return t.SurelyInference() || slices.ContainsFunc(t.subjects, func(s *subject) bool { return s.run != nil })
}

func (t *auditTable) anyMark() bool {
	return slices.ContainsFunc(t.subjects, func(s *subject) bool {
		return slices.ContainsFunc(s.Values, func(f notes.Figure) bool { return f.Cell.Marked })
	})
}

// isLog reports whether a table is itself the log of runs: llama-bench writes
// Markdown.
func (a *auditor) isLog(t *auditTable) bool {
	return slices.ContainsFunc(a.runs, func(r *bench.Run) bool {
		return r.Source.File == a.file && r.Source.Line >= t.Line && r.Source.Line <= t.EndLine
	})
}

// place is where a run stands, for a message.
func place(r *bench.Run) string { return fmt.Sprintf("%s:%d", r.Source.File, r.Source.Line) }

// write gives a value the digits and separators of a figure.
func write(f notes.Figure, value float64) string {
	text := bench.FormatDecimals(value, max(f.Decimals, 0))
	if f.Decimals < 0 {
		unit := math.Pow(10, -float64(f.Decimals))
		text = bench.FormatDecimals(math.Round(value/unit)*unit, 0)
	}
	if i := strings.IndexAny(f.Text, ",'"); i >= 0 {
		text = groupThousands(text, f.Text[i:i+1])
	}
	return text
}

func groupThousands(s, separator string) string {
	whole, fraction, point := strings.Cut(s, ".")
	sign := ""
	if rest, ok := strings.CutPrefix(whole, "-"); ok {
		sign, whole = "-", rest
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + separator + whole[i:]
	}
	if point {
		whole += "." + fraction
	}
	return sign + whole
}
