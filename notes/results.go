package notes

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// Results are what a table says: subjects that were measured, and measures of
// them. Most tables have a subject a row and a measure a column; some have it
// the other way round, and some a subject a cell.
type Results struct {
	*Table
	Turned   bool // metrics are rows
	Subjects []*Subject
	Measures []*Measure
	Changes  []Change
}

// A Measure is a column, or a row, of one metric.
type Measure struct {
	Meaning
	Title string
	Line  int
}

// Direction is the one in which a measure improves.
func (m *Measure) Direction() bench.Better {
	if m.Better != bench.Neither {
		return m.Better
	}
	return bench.Lookup(m.Metrics[0]).Better
}

// A Subject is what was measured: a row of most tables.
type Subject struct {
	Name    string
	Line    int
	Keys    []Key
	Where   []bench.Setting
	Values  []Figure // parallel to the measures
	Free    bool     // marked as a whole: its marks say nothing of winners
	Summary bool     // a total or a mean of the others
	Noted   bool     // something is said of it: a footnote, a warning
	Group   string   // the line above it that heads a part of the table
}

// A Key names a subject.
type Key struct {
	Meaning
	Title  string
	Text   string
	Line   int
	Across bool // a header that names the subject
}

// numericKeys are the settings that are plain numbers in tables and logs.
var numericKeys = []string{"concurrency", "num_prompts", "tp", "pp", "batch", "spec_tokens", "depth", "input_len", "output_len", "request_rate"}

// Number reads the number of a setting: c=16, 16 users. It is "" where the cell
// gives none.
func (k Key) Number() string {
	if k.Key == "test" && IsLlamaTest(strings.ToLower(k.Text)) {
		return strings.ToLower(k.Text)
	}
	if !slices.Contains(numericKeys, k.Key) {
		return ""
	}
	text := k.Text
	if i := strings.LastIndexByte(text, '='); i >= 0 {
		text = text[i+1:]
	}
	text = strings.TrimLeft(strings.TrimSpace(text), "cCkK×x")
	n, ok := ParseNumber(text)
	if !ok || n.HasOf || n.HasStd || n.Value != math.Trunc(n.Value) && k.Key != "request_rate" {
		return ""
	}
	return strconv.FormatFloat(n.Value, 'f', -1, 64)
}

// A Figure is a number of a subject.
type Figure struct {
	Number
	Cell    Cell
	Line    int
	Present bool
}

// A Change is a column that compares others.
type Change struct {
	Meaning
	Title   string
	Figures []Figure // parallel to the subjects, or to the measures in a turned table
}

// Results finds the subjects and measures of a table. It returns nil where there
// are none: the table is about something else.
func (t *Table) Results() *Results {
	if len(t.Rows) == 0 || len(t.Header) < 2 {
		return nil
	}
	columns := make([]Meaning, len(t.Header))
	byColumn, byRow := 0, 0
	for i, h := range t.Header {
		columns[i] = Understand(h.Text)
		if columns[i].IsMetric() && slices.ContainsFunc(t.Rows, func(r Row) bool { return figureOf(r.Cells[i], r.Line).Present }) {
			byColumn++
		}
	}
	rows := make([]Meaning, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = Understand(r.Cells[0].Text)
		if rows[i].IsMetric() && slices.ContainsFunc(r.Cells[1:], func(c Cell) bool { return figureOf(c, r.Line).Present }) {
			byRow++
		}
	}
	out := &Results{Table: t}
	switch {
	case byRow >= 1 && t.ofStatistics():
		out.Turned = true
		out.fromStatistics()
	case byRow >= 2 && byRow > byColumn:
		out.Turned = true
		out.fromRows(rows, columns)
	case byColumn > 0:
		out.fromColumns(columns)
	default:
		return nil
	}
	if len(out.Subjects) == 0 || len(out.Measures) == 0 {
		return nil
	}
	return out
}

// figure reads a cell of a metric. What is a ratio or a percentage of another
// figure is none of it.
func (m Meaning) figure(c Cell, line int) Figure {
	f := figureOf(c, line)
	switch {
	case f.Unit == "x" || strings.HasPrefix(f.Unit, "x "):
		f.Present = false
	case strings.HasPrefix(f.Unit, "%") && bench.Lookup(m.Metrics[0]).Unit != "":
		f.Present = false
	}
	return f
}

func figureOf(c Cell, line int) Figure {
	n, ok := ParseNumber(c.Text)
	return Figure{n, c, line, ok}
}

// fromColumns reads a table with a measure a column. Columns of a metric that
// stands twice, or of different tests, are those of different subjects.
func (t *Results) fromColumns(columns []Meaning) {
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
			t.Measures = append(t.Measures, &Measure{Meaning: m})
		}
	}
	at := map[int]int{} // column → measure
	for i, n := 0, 0; i < len(columns); i++ {
		if columns[i].IsMetric() {
			at[i] = n
			t.Measures[n].Title, t.Measures[n].Line = t.Header[i].Text, t.Line
			n++
		}
	}
	group, above := "", ""
	for _, row := range t.Rows {
		if heads(row, at) {
			group = row.Cells[0].Text
			continue
		}
		var keys []Key
		noted, allMarked := false, true
		// An empty cell at the left is one with the cell above it.
		if first := row.Cells[0].Text; first != "" {
			above = first
		} else if !columns[0].IsMetric() && !columns[0].Change && above != "" {
			keys = append(keys, Key{columns[0], t.Header[0].Text, above, row.Line, false})
		}
		for i, c := range row.Cells {
			noted = noted || c.Noted
			allMarked = allMarked && (c.Marked || c.Text == "")
			_, number := ParseNumber(c.Text)
			// A figure that is neither a metric nor a setting names nothing.
			if !columns[i].IsMetric() && !columns[i].Change && c.Text != "" && (columns[i].Key != "" || !number) {
				keys = append(keys, Key{columns[i], t.Header[i].Text, c.Text, row.Line, false})
			}
		}
		for _, c := range order {
			s := &Subject{Line: row.Line, Keys: keys, Values: make([]Figure, len(t.Measures)), Noted: noted, Free: allMarked, Group: group}
			any := false
			for _, i := range members[c] {
				f := columns[i].figure(row.Cells[i], row.Line)
				s.Values[at[i]] = f
				any = any || f.Present
			}
			if len(order) > 1 {
				i := members[c][0]
				s.Where = columns[i].Where
				s.Keys = append(slices.Clone(keys), Key{Meaning{Where: columns[i].Where}, "", t.Header[i].Text, t.Line, true})
			}
			s.setName()
			if any {
				t.Subjects = append(t.Subjects, s)
			}
		}
	}
	for i, m := range columns {
		if m.Change {
			c := Change{Meaning: m, Title: t.Header[i].Text}
			for _, s := range t.Subjects {
				row := t.Rows[slices.IndexFunc(t.Rows, func(r Row) bool { return r.Line == s.Line })]
				c.Figures = append(c.Figures, figureOf(row.Cells[i], row.Line))
			}
			t.Changes = append(t.Changes, c)
		}
	}
}

// heads reports whether a row is a heading inside the table: one text, and no
// figure.
func heads(row Row, measures map[int]int) bool {
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

// fromStatistics reads a table with a metric a row and a statistic a column, of
// one subject: | Metric | avg | min | max | p99 |.
func (t *Results) fromStatistics() {
	s := &Subject{Name: t.Heading, Line: t.Line}
	for _, r := range t.Rows {
		for j, c := range r.Cells[1:] {
			m := Understand(t.Header[j+1].Text + " " + r.Cells[0].Text)
			f := figureOf(c, r.Line)
			if m.IsMetric() && f.Present {
				t.Measures = append(t.Measures, &Measure{m, r.Cells[0].Text + " " + t.Header[j+1].Text, r.Line})
				s.Values = append(s.Values, f)
			}
		}
	}
	t.Subjects = append(t.Subjects, s)
}

// ofStatistics reports whether all columns but the first are statistics.
func (t *Table) ofStatistics() bool {
	for _, h := range t.Header[1:] {
		if canonicalStat(strings.ToLower(h.Text)) == "" {
			return false
		}
	}
	return len(t.Header) > 2
}

// fromRows reads a table with a measure a row: its subjects are columns.
func (t *Results) fromRows(rows, columns []Meaning) {
	for i, m := range rows {
		if m.IsMetric() {
			t.Measures = append(t.Measures, &Measure{Meaning: m, Title: t.Rows[i].Cells[0].Text, Line: t.Rows[i].Line})
		}
	}
	for j := 1; j < len(t.Header); j++ {
		figures := make([]Figure, 0, len(t.Measures))
		any, allMarked := false, t.Header[j].Marked
		noted := t.Header[j].Noted
		for i, r := range t.Rows {
			allMarked = allMarked && (r.Cells[j].Marked || r.Cells[j].Text == "")
			if !rows[i].IsMetric() {
				continue
			}
			f := rows[i].figure(r.Cells[j], r.Line)
			if columns[j].Change {
				f = figureOf(r.Cells[j], r.Line)
			}
			figures = append(figures, f)
			any = any || f.Present
		}
		switch {
		case columns[j].Change:
			t.Changes = append(t.Changes, Change{columns[j], t.Header[j].Text, figures})
		case any:
			s := &Subject{Line: t.Line, Values: figures, Noted: noted, Free: allMarked,
				Keys: []Key{{Meaning{}, "", t.Header[j].Text, t.Line, true}}}
			s.setName()
			t.Subjects = append(t.Subjects, s)
		}
	}
}

var summaryWords = []string{"total", "average", "avg", "mean", "geomean", "sum", "overall", "median", "geometric mean"}

func (s *Subject) setName() {
	var parts []string
	for _, k := range s.Keys {
		parts = append(parts, k.Text)
	}
	s.Name = strings.Join(parts, " · ")
	if len(s.Keys) > 0 {
		s.Summary = slices.Contains(summaryWords, strings.ToLower(strings.Trim(s.Keys[0].Text, ": ")))
	}
}

// AboutInference reports whether some measure is of nothing but inference: a
// duration or an accuracy may be that of anything.
func (r *Results) AboutInference() bool { return r.specific() > 0 }

// specific counts the measures that are of nothing but inference.
func (r *Results) specific() int {
	n := 0
	for _, m := range r.Measures {
		switch m.Metrics[0] {
		case "duration", "completed", "failed", "accuracy", "perplexity", "system_efficiency":
		default:
			n++
		}
	}
	return n
}

// SurelyInference reports whether several measures are of nothing but inference.
func (r *Results) SurelyInference() bool { return r.specific() > 1 }
