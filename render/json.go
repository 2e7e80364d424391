// Package render writes facts as Markdown, text, CSV and JSON. It decides
// nothing about who won.
package render

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// Schema names the JSON that the program writes.
const Schema = "benchreport/v1"

// RunsJSON writes runs and the problems met on the way as JSON, a run a line.
func RunsJSON(out io.Writer, runs []*bench.Run, problems []bench.Problem) error {
	w := NewRunsWriter(out)
	w.Write(runs)
	return w.Close(problems)
}

// A RunsWriter writes what RunsJSON does, some runs at a time.
type RunsWriter struct{ w jsonWriter }

// NewRunsWriter begins such a list.
func NewRunsWriter(out io.Writer) *RunsWriter {
	w := &RunsWriter{jsonWriter{out: bufio.NewWriterSize(out, 64<<10)}}
	w.w.beginRuns()
	return w
}

// Write writes the next runs.
func (w *RunsWriter) Write(runs []*bench.Run) { w.w.someRuns(runs) }

// Close ends the list. It returns the first error of all that was written.
func (w *RunsWriter) Close(problems []bench.Problem) error {
	w.w.endRuns(problems)
	w.w.raw("}\n")
	return w.w.flush()
}

// CompareJSON writes a comparison as JSON: the runs, the comparisons with the
// baseline, and the findings.
func CompareJSON(out io.Writer, rep *analyze.Report, problems []bench.Problem) error {
	return comparisonJSON(out, rep, problems, rep.Comparisons, nil, rep.Passed())
}

// GateJSON writes the outcome of a gate: the gated comparisons, what is missing
// on one side, and whether it passed.
func GateJSON(out io.Writer, g *analyze.Gate, problems []bench.Problem) error {
	var comparisons []analyze.Comparison
	var missing []analyze.GateResult
	for _, r := range g.Results {
		if r.Outcome == analyze.Missing {
			missing = append(missing, r)
			continue
		}
		c := r.Comparison
		c.Accepted = r.Accepted
		comparisons = append(comparisons, c)
	}
	return comparisonJSON(out, g.Report, problems, comparisons, missing, g.Pass)
}

func comparisonJSON(out io.Writer, rep *analyze.Report, problems []bench.Problem, comparisons []analyze.Comparison, missing []analyze.GateResult, passed bool) error {
	w := jsonWriter{out: bufio.NewWriterSize(out, 64<<10)}
	w.beginRuns()
	w.someRuns(rep.Runs)
	w.endRuns(problems)
	w.raw(",\n\"comparisons\":[")
	for i, c := range comparisons {
		w.comma(i).raw("\n").comparison(c)
	}
	w.raw("],\n\"findings\":[")
	for i, f := range rep.Findings {
		w.comma(i).raw("\n").finding(f)
	}
	w.raw("]")
	if missing != nil {
		w.raw(",\n\"missing\":[")
		for i, r := range missing {
			w.comma(i).raw("\n").raw(`{"name":`).string(r.Name).raw(`,"metric":`).string(r.Metric).raw(`,"reason":`).string(r.Reason).raw("}")
		}
		w.raw("]")
	}
	w.raw(",\n\"passed\":").raw(strconv.FormatBool(passed)).raw("}\n")
	return w.flush()
}

func (w *jsonWriter) comparison(c analyze.Comparison) {
	w.raw(`{"key":{`)
	for i, s := range c.Key {
		w.comma(i).string(s.Key).raw(":").string(s.Value)
	}
	w.raw(`},"metric":`).string(c.Metric).raw(`,"base":`).string(c.Base).raw(`,"head":`).string(c.Head)
	w.raw(`,"base_value":`).float(c.BaseValue).raw(`,"head_value":`).float(c.HeadValue).raw(`,"delta_pct":`).float(c.DeltaPct)
	if c.Tested {
		w.raw(`,"ci_pct":[`).float(c.CIPct[0]).raw(",").float(c.CIPct[1]).raw(`],"p":`).float(c.P).raw(`,"p_adjusted":`).float(c.PAdjusted)
	} else {
		w.raw(`,"ci_pct":null,"p":null,"p_adjusted":null`)
	}
	w.raw(`,"n":[`).int(c.N[0]).raw(",").int(c.N[1])
	w.raw(`],"evidence":`).string(c.Evidence).raw(`,"verdict":`).string(c.Verdict).raw(`,"winner":`).orNull(c.Winner)
	w.raw(`,"runs_needed":`)
	if c.RunsNeeded > 0 {
		w.int(c.RunsNeeded)
	} else {
		w.raw("null")
	}
	w.raw(`,"reason":`).orNull(c.Reason)
	if c.Tested {
		w.raw(`,"threshold_pct":`).float(100 * c.Threshold).raw(`,"small":`).raw(strconv.FormatBool(c.Small))
	}
	if c.Accepted != "" {
		w.raw(`,"accepted":`).string(c.Accepted)
	}
	w.raw("}")
}

func (w *jsonWriter) orNull(s string) *jsonWriter {
	if s == "" {
		return w.raw("null")
	}
	return w.string(s)
}

// beginRuns, someRuns and endRuns write the schema, the runs and the problems;
// the object stays open.
func (w *jsonWriter) beginRuns() {
	w.raw(`{"schema":`).string(Schema).raw(",\n\"runs\":[")
}

func (w *jsonWriter) someRuns(runs []*bench.Run) {
	for _, r := range runs {
		w.comma(w.written).raw("\n").run(r)
		w.written++
	}
}

func (w *jsonWriter) endRuns(problems []bench.Problem) {
	w.raw("],\n\"errors\":[")
	w.problems(problems)
	w.raw("]")
}

func (w *jsonWriter) problems(problems []bench.Problem) {
	for i, p := range problems {
		w.comma(i).raw("\n").raw(`{"file":`).string(p.File).raw(`,"line":`).int(p.Line).raw(`,"message":`).string(p.Message).raw("}")
	}
}

// A jsonWriter appends JSON to a buffer. encoding/json would need a map for
// each run to keep our key order, and most of the time of a long list.
type jsonWriter struct {
	out     *bufio.Writer
	b       []byte
	err     error
	written int // runs
	metrics map[string]*metricJSON

	toldOf bench.Config // whose origins were written last
	told   []byte       // and how
}

// metricJSON is what is written of every metric of a name: what stands before
// its value, and its unit and direction.
type metricJSON struct{ head, unit string }

func (w *jsonWriter) raw(s string) *jsonWriter {
	w.b = append(w.b, s...)
	return w
}

// comma separates elements; between runs it also hands on what was written.
func (w *jsonWriter) comma(i int) *jsonWriter {
	if i > 0 {
		w.b = append(w.b, ',')
	}
	if len(w.b) > 32<<10 {
		w.send()
	}
	return w
}

func (w *jsonWriter) send() {
	if _, err := w.out.Write(w.b); err != nil && w.err == nil {
		w.err = err
	}
	w.b = w.b[:0]
}

func (w *jsonWriter) flush() error {
	w.send()
	if err := w.out.Flush(); err != nil && w.err == nil {
		w.err = err
	}
	return w.err
}

func (w *jsonWriter) int(n int) *jsonWriter {
	w.b = strconv.AppendInt(w.b, int64(n), 10)
	return w
}

// float writes a number; what is none is null.
func (w *jsonWriter) float(x float64) *jsonWriter {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return w.raw("null")
	}
	if a := math.Abs(x); a != 0 && (a < 1e-6 || a >= 1e21) {
		w.b = strconv.AppendFloat(w.b, x, 'e', -1, 64)
	} else {
		w.b = bench.AppendExact(w.b, x)
	}
	return w
}

// string writes a string so that it is safe inside HTML too.
func (w *jsonWriter) string(s string) *jsonWriter {
	const hex = "0123456789abcdef"
	w.b = append(w.b, '"')
	for {
		n := 0
		for n < len(s) && plainJSON[s[n]] {
			n++
		}
		w.b = append(w.b, s[:n]...)
		if s = s[n:]; s == "" {
			break
		}
		c := s[0]
		if c < utf8.RuneSelf {
			if c == '"' || c == '\\' {
				w.b = append(w.b, '\\', c)
			} else {
				w.b = append(w.b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			}
			s = s[1:]
			continue
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			w.b = append(w.b, `\ufffd`...)
		case r == '\u2028' || r == '\u2029':
			w.b = append(w.b, `\u202`...)
			w.b = append(w.b, hex[r&15])
		default:
			w.b = append(w.b, s[:n]...)
		}
		s = s[n:]
	}
	w.b = append(w.b, '"')
	return w
}

// plainJSON are the bytes that stand in a string as they are, by themselves.
var plainJSON = func() (plain [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		plain[c] = c != '"' && c != '\\' && c != '<' && c != '>' && c != '&'
	}
	return plain
}()

func (w *jsonWriter) optional(n *int) *jsonWriter {
	if n == nil {
		return w.raw("null")
	}
	return w.int(*n)
}

func (w *jsonWriter) run(r *bench.Run) {
	w.raw(`{"id":`).string(r.ID).raw(`,"label":`).string(r.Label).raw(`,"input":`).string(r.Input)
	w.raw(`,"source":{"file":`).string(r.Source.File).raw(`,"line":`).int(r.Source.Line).raw(`,"end_line":`).int(r.Source.EndLine)
	w.raw(`,"tool":`).string(r.Source.Tool).raw(`,"format":`).string(r.Source.Format).raw(`},"config":{`)
	for i, s := range r.Config {
		w.comma(i).string(s.Key).raw(":").string(s.Value)
	}
	w.raw(`},"config_from":{`)
	w.origins(r.Config)
	w.raw(`},"completed":`).optional(r.Completed).raw(`,"attempted":`).optional(r.Attempted)
	w.raw(`,"replicas":`).int(max(r.Replicas, 1)).raw(`,"metrics":{`)
	for i := range r.Metrics {
		w.comma(i).metric(&r.Metrics[i])
	}
	w.raw(`},"findings":[`)
	for i, f := range r.Findings {
		w.comma(i).finding(f)
	}
	w.raw("]}")
}

// origins writes where settings were read. That is mostly as for the run before.
func (w *jsonWriter) origins(c bench.Config) {
	if w.told == nil || !slices.EqualFunc(w.toldOf, c, func(a, b bench.Setting) bool { return a.Key == b.Key && a.From == b.From }) {
		from := len(w.b)
		for i, s := range c {
			if i > 0 {
				w.raw(",")
			}
			w.string(s.Key).raw(":").string(s.From.String())
		}
		w.toldOf, w.told = c, append(w.told[:0], w.b[from:]...)
		return
	}
	w.b = append(w.b, w.told...)
}

func (w *jsonWriter) metric(m *bench.Metric) {
	known := w.metrics[m.Name]
	if known == nil {
		known = w.newMetric(m.Name)
	}
	w.raw(known.head)
	start := len(w.b)
	w.float(m.Value)
	end := len(w.b)
	w.raw(`,"raw":`)
	if m.Raw == m.Value {
		w.b = append(w.b, w.b[start:end]...)
	} else {
		w.float(m.Raw)
	}
	w.raw(known.unit)
	w.raw(`,"std":`)
	if m.HasStd {
		w.float(m.Std)
	} else {
		w.raw("null")
	}
	w.raw(`,"n":`)
	if m.N > 0 {
		w.int(m.N)
	} else {
		w.raw("null")
	}
	if len(m.Samples) > 0 {
		w.raw(`,"samples":[`)
		for i, x := range m.Samples {
			w.comma(i).float(x)
		}
		w.raw("]")
	}
	if m.Derived {
		w.raw(`,"derived":true`)
	}
	w.raw("}")
}

func (w *jsonWriter) newMetric(name string) *metricJSON {
	info := bench.Lookup(name)
	var head, unit jsonWriter
	head.string(name).raw(`:{"value":`)
	unit.raw(`,"unit":`).string(info.Unit).raw(`,"better":`)
	if info.Better == bench.Neither {
		unit.raw("null")
	} else {
		unit.string(string(info.Better))
	}
	known := &metricJSON{string(head.b), string(unit.b)}
	if w.metrics == nil {
		w.metrics = map[string]*metricJSON{}
	}
	const most = 1 << 12 // names of a log may be made up
	if len(w.metrics) < most {
		w.metrics[name] = known
	}
	return known
}

func (w *jsonWriter) finding(f bench.Finding) {
	w.raw(`{"code":`).string(f.Code).raw(`,"severity":`).string(string(f.Severity))
	if f.Runs != nil {
		w.raw(`,"runs":[`)
		for i, id := range f.Runs {
			w.comma(i).string(id)
		}
		w.raw("]")
	}
	w.raw(`,"message":`).string(f.Message).raw("}")
}
