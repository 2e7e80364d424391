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

// An auditTable is a table as subjects that were measured, and measures of them.
// Most tables have a subject a row and a measure a column; some have it the
// other way round, and some a subject a cell.
type auditTable struct {
	*notes.Table
	turned   bool // metrics are rows
	subjects []*subject
	measures []*measure
	changed  []changeColumn
}

// A measure is a column, or a row, of one metric.
type measure struct {
	notes.Meaning
	title  string
	line   int
	metric string // the one of Metrics that it is, "" while that is open
}

// better is the direction in which a measure improves.
func (m *measure) better() bench.Better {
	if m.Better != bench.Neither {
		return m.Better
	}
	return bench.Lookup(m.Metrics[0]).Better
}

// A subject is what was measured: a row of most tables.
type subject struct {
	name     string
	line     int
	keys     []keyCell
	where    []bench.Setting
	values   []figure // parallel to the measures
	free     bool     // marked as a whole: its marks say nothing of winners
	summary  bool     // a total or a mean of the others
	noted    bool     // something is said of it: a footnote, a warning
	group    string   // the line above it that heads a part of the table
	run      *bench.Run
	replicas int // the values are those of the run, for so many
}

// A keyCell names a subject.
type keyCell struct {
	notes.Meaning
	title  string
	text   string
	cell   notes.Cell
	line   int
	across bool // a header that names the subject
}

// A figure is a number of a subject.
type figure struct {
	notes.Number
	cell    notes.Cell
	line    int
	present bool
}

// A changeColumn compares others.
type changeColumn struct {
	notes.Meaning
	title   string
	index   int
	figures []figure // parallel to the subjects, or to the measures in a turned table
}

// newAuditTable finds the subjects and measures of a table. It returns nil
// where there are none: the table is about something else.
func newAuditTable(t *notes.Table) *auditTable {
	if len(t.Rows) == 0 || len(t.Header) < 2 {
		return nil
	}
	columns := make([]notes.Meaning, len(t.Header))
	byColumn, byRow := 0, 0
	for i, h := range t.Header {
		columns[i] = notes.Understand(h.Text)
		if columns[i].IsMetric() && slices.ContainsFunc(t.Rows, func(r notes.Row) bool { return figureOf(r.Cells[i], r.Line).present }) {
			byColumn++
		}
	}
	rows := make([]notes.Meaning, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = notes.Understand(r.Cells[0].Text)
		if rows[i].IsMetric() && slices.ContainsFunc(r.Cells[1:], func(c notes.Cell) bool { return figureOf(c, r.Line).present }) {
			byRow++
		}
	}
	out := &auditTable{Table: t}
	switch {
	case byRow >= 2 && byRow > byColumn:
		out.turned = true
		out.fromRows(rows, columns)
	case byColumn > 0:
		out.fromColumns(columns)
	default:
		return nil
	}
	if len(out.subjects) == 0 || len(out.measures) == 0 {
		return nil
	}
	return out
}

func figureOf(c notes.Cell, line int) figure {
	n, ok := notes.ParseNumber(c.Text)
	return figure{n, c, line, ok}
}

// fromColumns reads a table with a measure a column. Columns of a metric that
// stands twice, or of different tests, are those of different subjects.
func (t *auditTable) fromColumns(columns []notes.Meaning) {
	type class struct {
		where string
		nth   int
	}
	var order []class
	members := map[class][]int{}
	seen := map[string]int{}
	for i, m := range columns {
		if !m.IsMetric() {
			continue
		}
		where := ""
		for _, s := range m.Where {
			where += s.Key + "=" + s.Value + " "
		}
		id := where + strings.Join(m.Metrics, " ")
		c := class{where, seen[id]}
		seen[id]++
		if members[c] == nil {
			order = append(order, c)
		}
		members[c] = append(members[c], i)
	}
	for _, m := range columns {
		if m.IsMetric() {
			t.measures = append(t.measures, &measure{Meaning: m})
		}
	}
	at := map[int]int{} // column → measure
	for i, n := 0, 0; i < len(columns); i++ {
		if columns[i].IsMetric() {
			at[i] = n
			t.measures[n].title, t.measures[n].line = t.Header[i].Text, t.Line
			n++
		}
	}
	group := ""
	for _, row := range t.Rows {
		if heads(row, at) {
			group = row.Cells[0].Text
			continue
		}
		var keys []keyCell
		noted, allMarked := false, true
		for i, c := range row.Cells {
			noted = noted || c.Noted
			allMarked = allMarked && (c.Marked || c.Text == "")
			_, number := notes.ParseNumber(c.Text)
			// A figure that is neither a metric nor a setting names nothing.
			if !columns[i].IsMetric() && !columns[i].Change && c.Text != "" && (columns[i].Key != "" || !number) {
				keys = append(keys, keyCell{columns[i], t.Header[i].Text, c.Text, c, row.Line, false})
			}
		}
		for _, c := range order {
			s := &subject{line: row.Line, keys: keys, values: make([]figure, len(t.measures)), noted: noted, free: allMarked, group: group, replicas: 1}
			any := false
			for _, i := range members[c] {
				f := figureOf(row.Cells[i], row.Line)
				s.values[at[i]] = f
				any = any || f.present
			}
			if len(order) > 1 {
				i := members[c][0]
				s.where = columns[i].Where
				s.keys = append(slices.Clone(keys), keyCell{notes.Meaning{Where: columns[i].Where}, "", t.Header[i].Text, t.Header[i], t.Line, true})
			}
			s.setName()
			if any {
				t.subjects = append(t.subjects, s)
			}
		}
	}
	for i, m := range columns {
		if m.Change {
			c := changeColumn{Meaning: m, title: t.Header[i].Text, index: i}
			for _, s := range t.subjects {
				row := t.Rows[slices.IndexFunc(t.Rows, func(r notes.Row) bool { return r.Line == s.line })]
				c.figures = append(c.figures, figureOf(row.Cells[i], row.Line))
			}
			t.changed = append(t.changed, c)
		}
	}
}

// heads reports whether a row is a heading inside the table: one text, and no
// figure.
func heads(row notes.Row, measures map[int]int) bool {
	if row.Cells[0].Text == "" {
		return false
	}
	for i, c := range row.Cells {
		if i > 0 && c.Text != "" {
			return false
		}
	}
	_, ok := measures[0]
	return !ok
}

// fromRows reads a table with a measure a row: its subjects are columns.
func (t *auditTable) fromRows(rows, columns []notes.Meaning) {
	for i, m := range rows {
		if m.IsMetric() {
			t.measures = append(t.measures, &measure{Meaning: m, title: t.Rows[i].Cells[0].Text, line: t.Rows[i].Line})
		}
	}
	for j := 1; j < len(t.Header); j++ {
		figures := make([]figure, 0, len(t.measures))
		any, allMarked := false, t.Header[j].Marked
		noted := t.Header[j].Noted
		for i, r := range t.Rows {
			allMarked = allMarked && (r.Cells[j].Marked || r.Cells[j].Text == "")
			if !rows[i].IsMetric() {
				continue
			}
			f := figureOf(r.Cells[j], r.Line)
			figures = append(figures, f)
			any = any || f.present
		}
		switch {
		case columns[j].Change:
			t.changed = append(t.changed, changeColumn{columns[j], t.Header[j].Text, j, figures})
		case any:
			s := &subject{line: t.Line, values: figures, noted: noted, free: allMarked, replicas: 1,
				keys: []keyCell{{notes.Meaning{}, "", t.Header[j].Text, t.Header[j], t.Line, true}}}
			s.setName()
			t.subjects = append(t.subjects, s)
		}
	}
}

var summaryWords = []string{"total", "average", "avg", "mean", "geomean", "sum", "overall", "median", "geometric mean"}

func (s *subject) setName() {
	var parts []string
	for _, k := range s.keys {
		parts = append(parts, k.text)
	}
	s.name = strings.Join(parts, " · ")
	if len(s.keys) > 0 {
		s.summary = slices.Contains(summaryWords, strings.ToLower(strings.Trim(s.keys[0].text, ": ")))
	}
}

// aboutResults reports whether a table holds benchmark results: figures of runs
// that are known, or several metrics of inference.
func (t *auditTable) aboutResults() bool {
	if slices.ContainsFunc(t.subjects, func(s *subject) bool { return s.run != nil }) {
		return true
	}
	specific := 0
	for _, m := range t.measures {
		switch m.Metrics[0] {
		case "duration", "completed", "failed", "accuracy", "perplexity", "system_efficiency":
		default:
			specific++
		}
	}
	return specific >= 2
}

func (t *auditTable) anyMark() bool {
	return slices.ContainsFunc(t.subjects, func(s *subject) bool {
		return slices.ContainsFunc(s.values, func(f figure) bool { return f.cell.Marked })
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
func (f figure) write(value float64) string {
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
