package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// values checks every figure whose run is known, and the subjects whose run is
// not although the logs should hold it.
func (a *auditor) values() {
	for i, m := range a.table.measures {
		a.measureValues(i, m)
	}
	for _, s := range a.table.subjects {
		if s.run == nil {
			a.missingRun(s)
			continue
		}
		a.settings(s)
		if s.replicas > 1 && !s.Noted && toldReplicas(s.Name) != s.replicas {
			a.add("extrapolated", bench.Warning, s.Line, "", fmt.Sprintf("%s: throughputs are %d × those of %s, duration ÷ %d: say that the row is extrapolated", quote(s.Name), s.replicas, place(s.run), s.replicas), []*bench.Run{s.run})
		}
	}
}

func quote(name string) string {
	const most = 120
	if r := []rune(name); len(r) > most {
		name = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", name)
}

func (a *auditor) measureValues(i int, m *measure) {
	if m.metric == "" {
		return
	}
	var wrong []*subject
	agree := 0
	for _, s := range a.table.subjects {
		if s.run == nil || s.Summary || !s.Values[i].Present || !s.run.Has(m.metric) {
			continue
		}
		a.out.Cells++
		if m.agrees(s.Values[i], s.run, m.metric, s.replicas) {
			agree++
			a.spread(i, m, s)
			continue
		}
		wrong = append(wrong, s)
	}
	if agree == 0 && len(wrong) > 1 {
		// A column in which nothing agrees is another metric than we think, or in
		// another unit: that is one thing to look at, not a mistake a cell.
		s := wrong[0]
		a.add("wrong-value", bench.Warning, s.Line, m.Title, fmt.Sprintf("%s: none of %d figures agrees with the logs (%s: the table says %s, the log %s, %s)",
			m.Title, len(wrong), quote(s.Name), s.Values[i].Text, m.logged(s.run, s.Values[i], s.replicas), place(s.run)), runsOf(wrong))
		return
	}
	for _, s := range wrong {
		f := s.Values[i]
		right := m.logged(s.run, f, s.replicas)
		severity := bench.Error
		how := ""
		logged, _ := s.run.Metric(m.metric)
		exact := scaled(logged.Raw, m.metric, s.replicas) / m.FactorOf(f.Number, m.metric)
		if f.CutFrom(exact) {
			severity, how = bench.Warning, ", cut off instead of rounded"
		}
		arithmetic := ""
		if s.replicas > 1 && exact != logged.Raw {
			arithmetic = fmt.Sprintf(", %s for %d replicas", right, s.replicas)
			right = bench.FormatDecimals(logged.Raw, logged.Decimals)
		}
		var edits []notes.Edit
		if a.firm(s) {
			edits = append(edits, notes.Edit{Cell: f.Cell, Old: strings.TrimPrefix(f.Text, "-"), New: write(f, math.Abs(exact))})
		}
		a.add("wrong-value", severity, f.Line, m.Title, fmt.Sprintf("%s of %s: the table says %s%s, the log %s%s (%s)", m.Title, quote(s.Name), f.Text, how, right, arithmetic, place(s.run)), []*bench.Run{s.run}, edits...)
	}
}

// logged is what a figure should be, in its own digits where those suffice.
func (m *measure) logged(r *bench.Run, f notes.Figure, replicas int) string {
	logged, _ := r.Metric(m.metric)
	factor := m.FactorOf(f.Number, m.metric)
	if factor == 1 && replicas == 1 {
		return bench.FormatDecimals(logged.Raw, logged.Decimals)
	}
	return write(f, scaled(logged.Raw, m.metric, replicas)/factor)
}

// spread checks the ± of a figure.
func (a *auditor) spread(i int, m *measure, s *subject) {
	f := s.Values[i]
	logged, _ := s.run.Metric(m.metric)
	if !f.HasStd || !logged.HasStd || f.About {
		return
	}
	std := notes.Number{Value: f.Std, Decimals: f.Decimals}
	exact := scaled(logged.Std, m.metric, s.replicas) / m.FactorOf(f.Number, m.metric)
	if !std.RoundsFrom(exact, 0) && !(logged.Decimals >= 0 && math.Abs(exact-f.Std) <= halfUnit(logged)) {
		a.add("wrong-value", bench.Error, f.Line, m.Title, fmt.Sprintf("%s of %s: the table says ± %s, the log ± %s (%s)", m.Title, quote(s.Name), bench.FormatDecimals(f.Std, f.Decimals), bench.FormatDecimals(exact, logged.Decimals), place(s.run)), []*bench.Run{s.run})
	}
}

// firm reports whether the run of a subject is certain enough to rewrite a cell:
// two other figures agree with it.
func (a *auditor) firm(s *subject) bool {
	n := 0
	for i, m := range a.table.measures {
		if m.metric != "" && s.Values[i].Present && s.run.Has(m.metric) && m.agrees(s.Values[i], s.run, m.metric, s.replicas) {
			n++
		}
	}
	return n >= 2
}

// settings checks what the table says of a run against what its log says: a row
// of c=8 with the figures of c=16.
func (a *auditor) settings(s *subject) {
	for _, k := range s.Keys {
		says := k.Number()
		if says == "" || !slices.Contains([]string{"concurrency", "num_prompts", "test"}, k.Key) {
			continue
		}
		has := s.run.Config.Get(k.Key)
		switch s.run.Config.From(k.Key) {
		case bench.FromJSON, bench.FromLog, bench.FromArgs:
		default:
			continue
		}
		if has == says || s.run.Config.Get(k.Key+"_per_replica") == says || fmt.Sprint(scaledKey(has, s.replicas)) == says {
			continue
		}
		a.add("wrong-value", bench.Error, k.Line, k.Title, fmt.Sprintf("%s: the table says %s, but its figures are those of a run with %s (%s)", k.Title, says, has, place(s.run)), []*bench.Run{s.run})
	}
}

func scaledKey(value string, n int) int { return int(parseFloat(value)) * n }

// missingRun looks for the run of a subject by its names alone. If the other
// subjects of the table stand in the logs, and one run has just these names and
// other figures, the table is wrong about it.
func (a *auditor) missingRun(s *subject) {
	linked := 0
	used := map[*bench.Run]bool{}
	for _, o := range a.table.subjects {
		if o.run != nil {
			linked++
			used[o.run] = true
		}
	}
	if s.Summary || s.Noted || linked == 0 || linked*2 < len(a.table.subjects) {
		return
	}
	var best *bench.Run
	top, second := 0.0, 0.0
	for _, r := range a.runs {
		share, words, contra := nameFit(s, r)
		if words == 0 || contra || !fitsWhere(r, s.Where) || !a.measuresOf(r) {
			continue
		}
		switch {
		case share > top:
			best, top, second = r, share, top
		case share > second:
			second = share
		}
	}
	if best == nil || top < 0.75 || second == top || used[best] {
		return
	}
	for i, m := range a.table.measures {
		f := s.Values[i]
		if m.metric == "" || !f.Present || f.About || !best.Has(m.metric) {
			continue
		}
		a.add("no-such-run", bench.Error, s.Line, m.Title, fmt.Sprintf("no run has the figures of %s; the run of that name has %s %s where the table says %s (%s)", quote(s.Name), m.Title, m.logged(best, f, s.replicas), f.Text, place(best)), []*bench.Run{best})
		return
	}
}

// measuresOf reports whether a run has what the table shows.
func (a *auditor) measuresOf(r *bench.Run) bool {
	return slices.ContainsFunc(a.table.measures, func(m *measure) bool { return m.metric != "" && r.Has(m.metric) })
}

func runsOf(subjects []*subject) []*bench.Run {
	var out []*bench.Run
	for _, s := range subjects {
		if s.run != nil && !slices.Contains(out, s.run) {
			out = append(out, s.run)
		}
	}
	return out
}

// partial tells the subjects that did not complete their requests and do not say
// so, a finding a table.
func (a *auditor) partial() {
	var names []string
	var subjects []*subject
	for _, s := range a.table.subjects {
		if s.run == nil || !isPartial(s.run) || s.saysPartial(a.table) {
			continue
		}
		name := s.Name
		if s.run.Completed != nil && s.run.Attempted != nil {
			name += fmt.Sprintf(" (%d of %d)", *s.run.Completed, *s.run.Attempted)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		subjects = append(subjects, s)
	}
	if len(subjects) == 0 {
		return
	}
	const most = 4
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	a.add("unmarked-partial", bench.Error, subjects[0].Line, "", fmt.Sprintf("not all requests completed, and the table does not say so: %s%s", strings.Join(names, "; "), more), runsOf(subjects))
}

// saysPartial reports whether a reader is told that a subject is partial.
func (s *subject) saysPartial(t *auditTable) bool {
	if s.Noted {
		return true
	}
	for i, m := range t.measures {
		if slices.Contains([]string{"completed", "failed"}, m.Metrics[0]) && s.Values[i].Present {
			return true
		}
	}
	lower := strings.ToLower(s.Name)
	for _, word := range [...]string{"partial", "incomplete", "failed", "errors"} {
		if strings.Contains(lower, word) {
			return true
		}
	}
	return s.run.Completed != nil && s.run.Attempted != nil &&
		(strings.Contains(lower, fmt.Sprintf("%d/%d", *s.run.Completed, *s.run.Attempted)) || strings.Contains(lower, fmt.Sprintf("%d of %d", *s.run.Completed, *s.run.Attempted)))
}

// sideBySide runs the checks of a comparison over the runs that a table puts
// beside each other.
func (a *auditor) sideBySide() {
	var runs []*bench.Run
	byID := map[string]*subject{}
	for _, s := range a.table.subjects {
		if s.run == nil || byID[s.run.ID] != nil {
			continue
		}
		byID[s.run.ID] = s
		runs = append(runs, s.asRun(a.file))
	}
	if len(runs) < 2 {
		return
	}
	var metrics []string
	for _, m := range a.table.measures {
		if m.metric != "" && !slices.Contains(metrics, m.metric) && slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Has(m.metric) }) {
			metrics = append(metrics, m.metric)
		}
	}
	if len(metrics) == 0 {
		return
	}
	rep, err := Compare(runs, Options{Metrics: metrics})
	if err != nil {
		return
	}
	for _, f := range rep.Findings {
		id := f.Code + " " + strings.Join(f.Runs, " ")
		if a.told[id] || !aboutShown(f, metrics) {
			continue
		}
		a.told[id] = true
		if f.Severity == bench.Warning && slices.ContainsFunc(runChecks, func(c runCheck) bool { return c.code == f.Code }) {
			f.Severity = bench.Note // a doubt about the benchmark, not about the table
		}
		line := a.table.Line
		if len(f.Runs) > 0 && byID[f.Runs[0]] != nil {
			line = byID[f.Runs[0]].Line
		}
		a.out.Findings = append(a.out.Findings, AuditFinding{Finding: f, File: a.file, Line: line, Table: a.table.Number})
	}
}

// asRun is the run of a subject under the name that the table gives it, for as
// many replicas as its values stand for.
func (s *subject) asRun(input string) *bench.Run {
	r := *s.run
	r.Label, r.Input = s.Name, input
	r.Metrics, r.Config, r.Findings = slices.Clone(r.Metrics), slices.Clone(r.Config), slices.Clone(r.Findings)
	for i := range r.Metrics {
		r.Metrics[i].Samples = slices.Clone(r.Metrics[i].Samples)
	}
	r.Replicas = s.replicas
	Normalize([]*bench.Run{&r})
	return &r
}

// aboutShown reports whether a finding is about what a table shows: a doubt
// about ITL does not concern one without ITL.
func aboutShown(f bench.Finding, metrics []string) bool {
	about := false
	for _, family := range [...]string{"ttft", "tpot", "itl", "e2el"} {
		if !strings.Contains(f.Message, strings.ToUpper(family)) {
			continue
		}
		about = true
		if slices.ContainsFunc(metrics, func(m string) bool { return strings.Contains(m, family) }) {
			return true
		}
	}
	return !about || f.Code == "too-few-waves" || f.Code == "unlike-workload" || f.Code == "label-vs-physics" || f.Code == "warm-cache-suspect"
}
