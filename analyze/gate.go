package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// What a gate may fail on, beside the verdicts.
const Missing = "missing"

// FailOn are the outcomes that a gate does not let pass unless it is told
// otherwise.
var FailOn = []string{Regressed, Incomparable, Missing}

// A Waiver accepts a regression that is known.
type Waiver struct {
	Metric  string // "" for all
	Where   Where
	Reason  string
	Expires string // a date, YYYY-MM-DD; "" for never
}

// GateOptions are what a user asks of a gate.
type GateOptions struct {
	Options
	FailOn  []string // nil for FailOn
	Waivers []Waiver
	Today   string // YYYY-MM-DD, for waivers that expire
}

// A Gate is the outcome of holding one set of runs against another.
type Gate struct {
	*Report
	Results []GateResult // what counts, worst first
	Notes   []string     // what does not count, and why
	Pass    bool
	FailOn  []string
	Options Options
}

// A GateResult is one gated metric of one thing.
type GateResult struct {
	Comparison
	Name     string // of the thing: its settings
	Outcome  string // a verdict, missing or accepted
	Accepted string // the reason of the waiver
	Fails    bool
}

// Accepted is the outcome of a regression under a waiver.
const Accepted = "accepted"

// gatedMetrics are the primary metrics by tool: few, since every further one
// makes it harder to be sure of the others.
var gatedMetrics = map[string][]string{
	"":                {"output_throughput", "mean_ttft_ms", "mean_tpot_ms"},
	"llama-bench":     {"avg_ts"},
	"vllm-latency":    {"avg_latency"},
	"vllm-throughput": {"request_throughput", "total_token_throughput"},
	"vllm-engine":     {"generation_throughput"},
	"spec-decode":     {"draft_acceptance_rate"},
	"locust":          {"request_throughput", "mean_e2el_ms"},
	"fw-ai":           {"request_throughput", "mean_ttft_ms", "mean_e2el_ms"},
	"nm-offline":      {"output_throughput", "input_throughput"},
	"lm-eval":         {"accuracy"},
}

// minTail is how many requests an interval of a P99 needs.
const minTail = 368

// RunGate holds head runs against base runs.
func RunGate(base, head []*bench.Run, o GateOptions) (*Gate, error) {
	if len(base) == 0 || len(head) == 0 {
		return nil, fmt.Errorf("the %s has no benchmark result", map[bool]string{true: "base", false: "head"}[len(base) == 0])
	}
	runs := slices.Concat(base, head)
	if o.Metrics == nil {
		for _, tool := range distinct(runs, func(r *bench.Run) string { return r.Source.Tool }) {
			of := slices.DeleteFunc(slices.Clone(runs), func(r *bench.Run) bool { return r.Source.Tool != tool })
			o.Metrics = append(o.Metrics, gatedOf(tool, of)...)
		}
	}
	o.Holm, o.Strict = true, true
	o.Baseline = base[0].Input
	rep, err := Compare(runs, o.Options)
	if err != nil {
		return nil, err
	}
	g := &Gate{Report: rep, Pass: true, FailOn: o.FailOn, Options: o.Options}
	if g.FailOn == nil {
		g.FailOn = FailOn
	}
	for _, s := range rep.Sections {
		g.section(s, base[0].Input, o)
	}
	slices.SortStableFunc(g.Results, func(a, b GateResult) int { return outcomeRank(a.Outcome) - outcomeRank(b.Outcome) })
	if len(g.Results) == 0 {
		return nil, fmt.Errorf("nothing to gate: no metric of %s is on both sides", strings.Join(o.Metrics, ", "))
	}
	return g, nil
}

// gatedOf are the metrics that are gated for runs of one tool.
func gatedOf(tool string, runs []*bench.Run) []string {
	want, ok := gatedMetrics[tool]
	if !ok {
		want = gatedMetrics[""]
	}
	has := func(m string) bool { return slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Has(m) }) }
	out := slices.DeleteFunc(slices.Clone(want), func(m string) bool { return !has(m) })
	if len(out) == 0 {
		for _, m := range toolMetrics[""] {
			if has(m) {
				out = append(out, m)
			}
		}
		if has("mean_e2el_ms") {
			out = append(out, "mean_e2el_ms")
		}
	}
	return out
}

func outcomeRank(outcome string) int {
	return slices.Index([]string{Regressed, Incomparable, Missing, Accepted, Improved, Inconclusive, Unchanged}, outcome)
}

// section takes the results of one table.
func (g *Gate) section(s *Section, baseInput string, o GateOptions) {
	used := map[*Row]bool{}
	for _, ch := range s.Changes {
		used[ch.Base] = true
		matched := s.Across || declaredReason(ch) == ""
		for _, c := range ch.By {
			if why := tooFewForTail(ch, c.Metric); why != "" {
				g.Notes = append(g.Notes, why)
				continue
			}
			r := GateResult{Comparison: c, Name: resultName(s, ch, c), Outcome: c.Verdict}
			if !matched {
				r.Outcome, r.Reason = Missing, "no base run of this workload"
			}
			g.add(r, ch, o)
		}
		if s.Across {
			g.missingCells(s, ch, o)
		}
	}
	if s.Across {
		return
	}
	for _, row := range s.Rows {
		if row.Input == baseInput && !used[row] {
			for _, c := range s.Columns {
				g.add(GateResult{Comparison: Comparison{Metric: c.Metric, Base: s.Name(row), Reason: "no head run of this workload"}, Name: rowSettings(s, row), Outcome: Missing}, Change{Row: row, Base: row}, o)
			}
		}
	}
}

// declaredReason tells that a row has no partner: the nearest one was asked for
// another workload.
func declaredReason(ch Change) string {
	why := reason(ch.Base.Runs[0], ch.Row.Runs[0], "output_throughput", Options{IncludePartial: true})
	if strings.HasPrefix(why, "unlike workloads") {
		return why
	}
	return ""
}

// missingCells tells the cells of a row that only one side has.
func (g *Gate) missingCells(s *Section, ch Change, o GateOptions) {
	if len(ch.By) > 0 {
		return
	}
	which := "head"
	if len(ch.Row.Cells[0].Runs) == 0 {
		which = "base"
	}
	g.add(GateResult{Comparison: Comparison{Metric: s.Columns[0].Metric, Reason: "no " + which + " run of this test"}, Name: rowSettings(s, ch.Row), Outcome: Missing}, ch, o)
}

// add takes a result, unless a waiver accepts it.
func (g *Gate) add(r GateResult, ch Change, o GateOptions) {
	if r.Outcome == Regressed {
		for _, w := range o.Waivers {
			if (w.Metric == "" || w.Metric == r.Metric) && w.Where.match(ch.Row.Runs[0]) {
				if w.Expires != "" && o.Today > w.Expires {
					g.Notes = append(g.Notes, fmt.Sprintf("the waiver for %s (%s) expired on %s and counts no more", r.Metric, w.Reason, w.Expires))
					continue
				}
				r.Outcome, r.Accepted = Accepted, w.Reason
			}
		}
	}
	r.Fails = slices.Contains(g.FailOn, r.Outcome)
	g.Pass = g.Pass && !r.Fails
	g.Results = append(g.Results, r)
}

// tooFewForTail tells a P99 that is not gated: fewer requests than its interval
// needs.
func tooFewForTail(ch Change, metric string) string {
	if !strings.HasPrefix(metric, "p99") {
		return ""
	}
	for _, row := range [...]*Row{ch.Base, ch.Row} {
		if n := row.Runs[0].Completed; n != nil && *n < minTail {
			return fmt.Sprintf("%s is not gated: %d requests, an interval of it needs %d", metric, *n, minTail)
		}
	}
	return ""
}

// resultName names a result by the settings that tell it from the others.
func resultName(s *Section, ch Change, c Comparison) string {
	if s.Across {
		return rowSettings(s, ch.Row)
	}
	var parts []string
	for _, k := range c.Key {
		parts = append(parts, k.Key+" "+k.Value)
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case ch.Row.Label != ch.Row.Input:
		return ch.Row.Label
	}
	return s.Tool
}

func rowSettings(s *Section, row *Row) string {
	var parts []string
	if len(s.Keys) == 0 && row.Runs[0].Config.Has("test") {
		return row.Runs[0].Config.Get("test")
	}
	for i, k := range s.Keys {
		if row.Keys[i] != "" {
			parts = append(parts, k+" "+row.Keys[i])
		}
	}
	return strings.Join(parts, ", ")
}

// Count returns how many results have an outcome.
func (g *Gate) Count(outcome string) int {
	n := 0
	for _, r := range g.Results {
		if r.Outcome == outcome {
			n++
		}
	}
	return n
}

// Worsen makes up runs that are worse than the given ones by a share: throughput
// lower, latencies higher. A gate that lets them pass is of no use.
func Worsen(runs []*bench.Run, share float64, input string) []*bench.Run {
	var out []*bench.Run
	for _, r := range runs {
		w := *r
		w.Input, w.Label = input, input
		w.Metrics = slices.Clone(r.Metrics)
		w.Findings = slices.Clone(r.Findings)
		for i := range w.Metrics {
			m := &w.Metrics[i]
			factor := 1.0
			switch bench.Lookup(m.Name).Better {
			case bench.Higher:
				factor = 1 - share
			case bench.Lower:
				factor = 1 + share
			}
			m.Value *= factor
			m.Raw *= factor
			m.Samples = slices.Clone(m.Samples)
			for k := range m.Samples {
				m.Samples[k] *= factor
			}
		}
		out = append(out, &w)
	}
	return out
}
