// Package bench holds the words of the field: a Run, its Metrics, its Config
// and the Findings about it. It does no input or output.
//
// The stance it takes: a measurement that a log does not give is absent, never
// zero, and a value that was changed keeps the logged one beside it.
package bench

import (
	"slices"
	"strconv"
)

// A Run is one benchmark result: what was measured, under which configuration,
// and where it stands.
type Run struct {
	ID       string // stable across moves of the file; set by AssignIDs
	Label    string // what people call it: the user's label, or the heading above it
	Input    string // the name of the input it came from
	Source   Source
	Config   Config
	Metrics  []Metric // in the order of the log
	Series   []Series // values over time, where the log has them
	Spreads  []Spread // how requests scatter, where the log has them
	Findings []Finding

	Completed *int // requests that completed
	Attempted *int // requests that were sent
	Replicas  int  // how many replicas the values stand for; 0 means 1
}

// A Source tells where a run stands.
type Source struct {
	File    string
	Line    int // first line, from 1
	EndLine int
	Tool    string // one of the tools in the design: vllm-serve, llama-bench, …
	Format  string // text, json, csv, sql, md
}

// A Metric is one measurement. Its unit and direction are those of its name
// in the table of known metrics.
type Metric struct {
	Name     string
	Value    float64   // after normalization
	Raw      float64   // as logged
	Std      float64   // spread or standard error; counts only if HasStd
	N        int       // samples behind Value; 0 where the log does not say
	Samples  []float64 // values of repetitions, where the log has them
	Decimals int       // digits after the point in the log; -1 for full precision
	HasStd   bool
	Derived  bool // computed by us from other figures of the log
}

// A Series is a measurement over time. Each value is the mean over Step
// neighbouring intervals.
type Series struct {
	Name   string
	Step   int
	Values []float64
}

// A Spread is how a latency scatters over the requests of a run: its quantiles
// at equal steps from the least to the greatest, in ms.
type Spread struct {
	Name      string // ttft, itl, e2el
	N         int    // values behind it
	Quantiles []float64
}

// A Finding is a doubt about one or more runs, with its figures in one sentence.
type Finding struct {
	Code     string
	Severity Severity
	Message  string
	Runs     []string // ids
}

// A Problem is something in an input that could not be read, or that is worth
// knowing. Line 0 is the file as a whole.
type Problem struct {
	File    string
	Line    int
	Message string
}

func (p Problem) Error() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return p.File + ": " + p.Message
	}
	return p.File + ":" + strconv.Itoa(p.Line) + ": " + p.Message
}

// Severity orders findings.
type Severity string

// The severities, mildest first.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Metric returns the metric of that name.
func (r *Run) Metric(name string) (Metric, bool) {
	for i := range r.Metrics {
		if r.Metrics[i].Name == name {
			return r.Metrics[i], true
		}
	}
	return Metric{}, false
}

// Has reports whether the run has a metric of that name.
func (r *Run) Has(name string) bool {
	_, ok := r.Metric(name)
	return ok
}

// Add appends a metric as logged. A second value of the same name is ignored:
// the first one in a block is the one people read.
func (r *Run) Add(m Metric) {
	if r.Has(m.Name) {
		return
	}
	m.Raw = m.Value
	r.Metrics = append(r.Metrics, m)
}

// Drop removes the metrics for which f is true.
func (r *Run) Drop(f func(Metric) bool) {
	r.Metrics = slices.DeleteFunc(r.Metrics, f)
}

// Percent turns a metric that was logged in percent into a fraction.
func (m Metric) Percent() Metric {
	m.Value, m.Raw, m.Std = m.Value/100, m.Raw/100, m.Std/100
	if m.Decimals >= 0 {
		m.Decimals += 2
	}
	return m
}
