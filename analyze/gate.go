package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// What a gate may fail on, beside the verdicts.
const Missing = "missing"

// Outcomes are all that a gate may be told to fail on.
var Outcomes = []string{Regressed, Incomparable, Missing, Inconclusive, Improved, Unchanged}

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
	Differs []string     // settings in which base and head differ
	Pass    bool
	FailOn  []string
	Options Options
}

// A GateResult is one gated metric of one thing.
type GateResult struct {
	Comparison
	Name    string // of the thing: its settings
	Outcome string // a verdict, missing or accepted
	Fails   bool
	Run     *bench.Run   // the first that it is about
	Values  [2][]float64 // of the runs of the base and of the head
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
	"tgi-bench":       {"mean_prefill_ms", "mean_tpot_ms"},
	"llmperf":         {"output_throughput", "mean_ttft_ms", "mean_e2el_ms"},
	"inferencemax":    {"tput_per_gpu", "median_ttft_ms", "median_tpot_ms"},

	"llama-batched-bench": {"speed_pp", "speed_tg"},
	"llama-server":        {"prompt_tok_s_per_request", "generation_tok_s_per_request"},
	"llama-perplexity":    {"perplexity"},
	"llama-benchy":        {"avg_ts"},
}

// RunGate holds head runs against base runs.
func RunGate(base, head []*bench.Run, o GateOptions) (*Gate, error) {
	if len(base) == 0 || len(head) == 0 {
		return nil, fmt.Errorf("the %s has no benchmark result", map[bool]string{true: "base", false: "head"}[len(base) == 0])
	}
	runs := slices.Concat(base, head)
	for _, m := range o.Metrics {
		if err := checkMetric("--metrics", m, runs, o.GPUPrice); err != nil {
			return nil, err
		}
	}
	derive(runs, o.Options)
	o.Holm = true
	rep := &Report{Runs: runs, Baseline: base[0].Input}
	g := &Gate{Report: rep, Pass: true, FailOn: o.FailOn, Options: o.Options}
	if g.FailOn == nil {
		g.FailOn = FailOn
	}
	for _, tool := range distinct(runs, func(r *bench.Run) string { return r.Source.Tool }) {
		of := func(side []*bench.Run) []*bench.Run {
			return slices.DeleteFunc(slices.Clone(side), func(r *bench.Run) bool { return r.Source.Tool != tool })
		}
		rep.Sections = append(rep.Sections, g.pairUp(tool, of(base), of(head), o))
	}
	decide(rep, o.Options)
	rep.Findings = check(rep)
	for _, s := range rep.Sections {
		for _, ch := range s.Changes {
			for _, c := range ch.By {
				g.add(GateResult{Comparison: c, Name: rowSettings(s, ch.Row), Outcome: c.Verdict, Values: [2][]float64{valuesOf(ch.Base, c.Metric), valuesOf(ch.Row, c.Metric)}}, ch.Row.Runs[0], o)
			}
		}
	}
	for _, w := range o.Waivers {
		if w.Metric != "" && !slices.ContainsFunc(g.Results, func(r GateResult) bool { return r.Metric == w.Metric }) {
			g.Notes = append(g.Notes, fmt.Sprintf("the waiver for %s is for nothing that is gated", w.Metric))
		}
	}
	slices.SortStableFunc(g.Results, func(a, b GateResult) int { return outcomeRank(a.Outcome) - outcomeRank(b.Outcome) })
	if len(g.Results) == 0 {
		if len(g.Notes) > 0 {
			return nil, fmt.Errorf("nothing to gate: %s", g.Notes[0])
		}
		return nil, fmt.Errorf("nothing to gate: no gated metric is on both sides")
	}
	return g, nil
}

// pairUp pairs the rows of one tool, one to one, and compares each pair. What
// has no partner is missing.
func (g *Gate) pairUp(tool string, base, head []*bench.Run, o GateOptions) *Section {
	all := slices.Concat(base, head)
	metrics := o.Metrics
	if metrics == nil {
		metrics = gatedOf(tool, all)
	}
	s := &Section{Tool: tool}
	_, s.Keys = Differing(all)
	for _, m := range metrics {
		if slices.ContainsFunc(all, func(r *bench.Run) bool { return r.Has(m) }) {
			s.Columns = append(s.Columns, Column{Metric: m})
		}
	}
	rows := func(runs []*bench.Run) []*Row {
		var out []*Row
		for _, repeats := range foldRepeats(runs) {
			row := &Row{Label: repeats[0].Label, Input: repeats[0].Input, Runs: repeats, order: len(s.Rows)}
			for _, k := range s.Keys {
				row.Keys = append(row.Keys, Key(repeats[0], k))
			}
			for _, c := range s.Columns {
				row.Cells = append(row.Cells, newCell(repeats, c.Metric))
			}
			out = append(out, row)
			s.Rows = append(s.Rows, row)
		}
		return out
	}
	baseRows, headRows := rows(base), rows(head)
	partners := pairRows(baseRows, headRows)
	paired := map[*Row]bool{}
	differ := map[string]bool{}
	for _, h := range headRows {
		b := partners[h]
		if b == nil {
			g.missing(s, h, "no base run of this", o)
			continue
		}
		paired[b] = true
		ch := Change{Row: h, Base: b}
		for i, c := range s.Columns {
			switch have := [2]bool{len(b.Cells[i].Runs) > 0, len(h.Cells[i].Runs) > 0}; {
			case have[0] != have[1]:
				which := map[bool]string{true: "head", false: "base"}[have[0]]
				g.add(GateResult{Comparison: Comparison{Metric: c.Metric, Reason: "the " + which + " does not have it"}, Name: rowSettings(s, h), Outcome: Missing}, h.Runs[0], o)
				continue
			case !have[0]:
				continue
			}
			if why := tooFewForTail(ch, c.Metric); why != "" {
				if !slices.Contains(g.Notes, why) {
					g.Notes = append(g.Notes, why)
				}
				continue
			}
			if cmp, ok := s.compare(&b.Cells[i], &h.Cells[i], c.Metric, b.Input, h.Input, o.Options); ok {
				cmp.Key = s.sharedKeys(b, h)
				ch.By = append(ch.By, cmp)
			}
		}
		s.Changes = append(s.Changes, ch)
		for _, d := range settingDifferences(b.Runs[0], h.Runs[0]) {
			if !differ[d] && len(g.Differs) < 12 {
				differ[d] = true
				g.Differs = append(g.Differs, d)
			}
		}
	}
	for _, b := range baseRows {
		if !paired[b] {
			g.missing(s, b, "no head run of this", o)
		}
	}
	return s
}

// missing takes a row that has no partner.
func (g *Gate) missing(s *Section, row *Row, why string, o GateOptions) {
	for i, c := range s.Columns {
		if len(row.Cells[i].Runs) > 0 {
			g.add(GateResult{Comparison: Comparison{Metric: c.Metric, Reason: why}, Name: rowSettings(s, row), Outcome: Missing}, row.Runs[0], o)
		}
	}
}

// pairRows finds for each head row its base row, one to one. Two rows can be
// partners if they were asked for the same work, and agree in every setting
// that tells rows of one side apart; of several, the most alike are.
func pairRows(base, head []*Row) map[*Row]*Row {
	var telling []string
	for _, rows := range [...][]*Row{base, head} {
		var runs []*bench.Run
		for _, r := range rows {
			runs = append(runs, r.Runs[0])
		}
		if len(runs) > 0 {
			_, keys := Differing(runs)
			telling = append(telling, keys...)
		}
	}
	type pair struct {
		base, head *Row
		score      int
	}
	var pairs []pair
	for _, h := range head {
		for _, b := range base {
			x, y := b.Runs[0], h.Runs[0]
			if strings.HasPrefix(reason(x, y, "", Options{IncludePartial: true}), "unlike workloads") {
				continue
			}
			if slices.ContainsFunc(telling, func(k string) bool { return k != "build" && x.Config.Get(k) != y.Config.Get(k) }) {
				continue
			}
			pairs = append(pairs, pair{b, h, likeness(x, y)})
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.score - a.score })
	partners := map[*Row]*Row{}
	used := map[*Row]bool{}
	for _, p := range pairs {
		if partners[p.head] == nil && !used[p.base] {
			partners[p.head] = p.base
			used[p.base] = true
		}
	}
	return partners
}

// likeness counts what two runs have in common.
func likeness(a, b *bench.Run) int {
	score := 0
	for _, s := range a.Config {
		if b.Config.Get(s.Key) == s.Value {
			score++
		}
	}
	in, out, ok := perRequest(a)
	in2, out2, ok2 := perRequest(b)
	if ok && ok2 && ratio(in, in2) <= 1.02 && ratio(out, out2) <= 1.10 {
		score += 10
	}
	if sentRequests(a) == sentRequests(b) {
		score += 5
	}
	return score
}

// settingDifferences lists in what two runs differ, beside the workload.
func settingDifferences(a, b *bench.Run) []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range [...]bench.Config{a.Config, b.Config} {
		for _, s := range c {
			x, y := a.Config.Get(s.Key), b.Config.Get(s.Key)
			if x == y || seen[s.Key] || volatile[s.Key] || dull[s.Key] && s.Key != "model_filename" {
				continue
			}
			seen[s.Key] = true
			out = append(out, fmt.Sprintf("%s (%s, %s)", s.Key, orNone(x), orNone(y)))
		}
	}
	return out
}

// gatedOf are the metrics that are gated for runs of one tool.
func gatedOf(tool string, runs []*bench.Run) []string {
	want, ok := gatedMetrics[tool]
	if !ok {
		want = gatedMetrics[""]
	}
	has := func(m string) bool { return slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Has(m) }) }
	want = slices.Clone(want)
	for i, m := range want {
		if rest, ok := strings.CutPrefix(m, "mean_"); ok && !has(m) {
			want[i] = "median_" + rest // a console that prints no mean
		}
	}
	out := slices.DeleteFunc(want, func(m string) bool { return !has(m) })
	if len(out) == 0 {
		for _, m := range append(slices.Clone(toolMetrics[""]), "mean_e2el_ms") {
			if has(m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// valuesOf are the values of a metric in the runs of a row.
func valuesOf(row *Row, metric string) []float64 {
	if row == nil {
		return nil
	}
	var out []float64
	for _, r := range row.Runs {
		if m, ok := r.Metric(metric); ok {
			out = append(out, m.Value)
		}
	}
	return out
}

func outcomeRank(outcome string) int {
	return slices.Index([]string{Regressed, Incomparable, Missing, Accepted, Improved, Inconclusive, Unchanged}, outcome)
}

// add takes a result, unless a waiver accepts it.
func (g *Gate) add(r GateResult, run *bench.Run, o GateOptions) {
	if r.Outcome == Regressed {
		for _, w := range o.Waivers {
			if (w.Metric == "" || w.Metric == r.Metric) && w.Where.match(run) {
				if w.Expires != "" && o.Today > w.Expires {
					g.Notes = append(g.Notes, fmt.Sprintf("the waiver for %s (%s) expired on %s and counts no more", r.Metric, w.Reason, w.Expires))
					continue
				}
				r.Outcome, r.Accepted = Accepted, w.Reason
			}
		}
	}
	r.Run, r.Fails = run, slices.Contains(g.FailOn, r.Outcome)
	g.Pass = g.Pass && !r.Fails
	g.Results = append(g.Results, r)
}

// minTail is how many requests an interval of a percentile needs.
var minTail = map[string]int{"p90": 36, "p95": 72, "p99": 368, "p99.9": 3688}

// tooFewForTail tells a percentile that is not gated: fewer requests than its
// interval needs.
func tooFewForTail(ch Change, metric string) string {
	stat, _, _ := bench.SplitLatency(metric)
	need := minTail[stat]
	for _, row := range [...]*Row{ch.Base, ch.Row} {
		for _, r := range row.Runs {
			if r.Completed != nil && *r.Completed < need {
				return fmt.Sprintf("%s is not gated: %d requests, an interval of it needs %d", metric, *r.Completed, need)
			}
		}
	}
	return ""
}

// rowSettings names a row by its settings, those that tell most first.
func rowSettings(s *Section, row *Row) string {
	var parts []string
	for _, first := range [...]bool{true, false} {
		for i, k := range s.Keys {
			if leading := k == "test" || k == "model" || bench.IsWorkload(k); leading == first && row.Keys[i] != "" {
				parts = append(parts, k+" "+row.Keys[i])
			}
		}
	}
	if len(parts) == 0 {
		if test := row.Runs[0].Config.Get("test"); test != "" {
			return test
		}
		if row.Label != row.Input {
			return row.Label
		}
		return s.Tool
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
		// Without the counts, which would contradict what is made up.
		w.Metrics = slices.DeleteFunc(slices.Clone(r.Metrics), func(m bench.Metric) bool {
			return strings.HasPrefix(m.Name, "total_") && bench.Lookup(m.Name).Better == bench.Neither
		})
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
			m.Std *= factor
			m.Samples = slices.Clone(m.Samples)
			for k := range m.Samples {
				m.Samples[k] *= factor
			}
		}
		out = append(out, &w)
	}
	return out
}
