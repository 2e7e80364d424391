package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// This file recomputes columns of differences, ratios and speedups from values
// of full precision. How such a column was made is not written beside it, so
// the way that explains most of its cells is taken.

// An estimate is a value with the least and the most that it may be.
type estimate struct{ lo, mid, hi float64 }

// A way of comparing two values: what it shows for a base and a head. One that
// tells by how much it got better turns them round where lower is better.
type way struct {
	percent  bool
	improves bool
	of       func(base, head float64) float64
}

var ways = []way{
	{true, false, func(b, h float64) float64 { return 100 * (h/b - 1) }},  // change
	{true, false, func(b, h float64) float64 { return 100 * (1 - h/b) }},  // how much less
	{true, false, func(b, h float64) float64 { return 100 * h / b }},      // percent of
	{true, false, func(b, h float64) float64 { return 100 * (b/h - 1) }},  // how much faster
	{true, true, func(b, h float64) float64 { return 100 * (h - b) / b }}, // how much better, of the base
	{false, false, func(b, h float64) float64 { return h / b }},           // ratio
	{false, false, func(b, h float64) float64 { return b / h }},           // speedup of a latency
	{false, true, func(b, h float64) float64 { return h / b }},            // how many times better
	{false, false, func(b, h float64) float64 { return h - b }},           // difference
}

// between is what a way shows of a measure.
func (w way) between(base, head estimate, better bench.Better) estimate {
	if w.improves && better == bench.Lower {
		if w.percent {
			e := w.over(base, head)
			return estimate{-e.hi, -e.mid, -e.lo}
		}
		base, head = head, base
	}
	return w.over(base, head)
}

// over is what a way shows, given what base and head may be.
func (w way) over(base, head estimate) estimate {
	e := estimate{math.Inf(1), w.of(base.mid, head.mid), math.Inf(-1)}
	for _, b := range [...]float64{base.lo, base.hi} {
		for _, h := range [...]float64{head.lo, head.hi} {
			x := w.of(b, h)
			e.lo, e.hi = math.Min(e.lo, x), math.Max(e.hi, x)
		}
	}
	return e
}

// admits reports whether a figure may be such a value, rounded.
func (e estimate) admits(n notes.Number) bool {
	half := 0.5*math.Pow(10, -float64(n.Decimals))*(1+1e-6) + 1e-9*math.Abs(e.mid)
	return n.Value >= e.lo-half && n.Value <= e.hi+half
}

// shown is the value of a cell as a reader computes with it.
func shown(f notes.Figure) estimate { return estimate{f.Value, f.Value, f.Value} }

// exact is the value of a measure at the best precision that the run allows, in
// the unit of the table; the shown one where no run is known.
func (a *auditor) exact(s *subject, i int) estimate {
	m, f := a.table.measures[i], s.Values[i]
	half := 0.5 * math.Pow(10, -float64(f.Decimals))
	if s.run == nil || m.metric == "" || !m.agrees(f, s.run, m.metric, s.replicas) {
		return estimate{f.Value - half, f.Value, f.Value + half}
	}
	logged, _ := s.run.Metric(m.metric)
	value, u := logged.Raw, halfUnit(logged)
	if x, rel, ok := recomputed(s.run, m.metric); ok && math.Abs(x)*rel < u && math.Abs(x-value) <= u+math.Abs(x)*rel*1.01 {
		value, u = x, math.Abs(x)*rel
	}
	factor := m.FactorOf(f.Number, m.metric)
	at := func(x float64) float64 { return scaled(x, m.metric, s.replicas) / factor }
	return estimate{at(value - u), at(value), at(value + u)}
}

// A claim is a cell that compares two values.
type claim struct {
	notes.Figure
	base, head *subject
	measure    int
}

func (a *auditor) changes() {
	for _, c := range a.table.Changes {
		if a.table.Turned {
			a.turnedChange(c)
		} else {
			a.columnChange(c)
		}
	}
}

// turnedChange checks a column of changes in a table whose subjects are
// columns: those of the nearest two to its left.
func (a *auditor) turnedChange(c notes.Change) {
	var sides []*subject
	for _, s := range a.table.subjects {
		if s.Values[0].Cell.Start < c.Figures[0].Cell.Start || c.Figures[0].Cell.Start == 0 {
			sides = append(sides, s)
		}
	}
	if len(sides) < 2 {
		return
	}
	pairs := [][2]*subject{{sides[len(sides)-2], sides[len(sides)-1]}}
	if len(sides) > 2 {
		pairs = append(pairs, [2]*subject{sides[0], sides[len(sides)-1]})
	}
	var claims [][]claim
	for _, p := range pairs {
		var list []claim
		for i, f := range c.Figures {
			if f.Present && p[0].Values[i].Present && p[1].Values[i].Present {
				list = append(list, claim{f, p[0], p[1], i})
			}
		}
		claims = append(claims, list)
	}
	a.recompute(c, claims, 3)
}

// columnChange checks a column of changes in a table whose subjects are rows.
// The base may be any of them, or the one above; the metric any of the table.
func (a *auditor) columnChange(c notes.Change) {
	t := a.table
	const most = 64
	if len(t.subjects) > most {
		return
	}
	var claims [][]claim
	for i := range t.measures {
		if !slices.ContainsFunc(t.subjects, func(s *subject) bool { return s.Values[i].Present }) {
			continue
		}
		add := func(base func(k int) *subject) {
			var list []claim
			for k, f := range c.Figures {
				b, s := base(k), t.subjects[k]
				if f.Present && b != nil && b != s && b.Values[i].Present && s.Values[i].Present {
					list = append(list, claim{f, b, s, i})
				}
			}
			claims = append(claims, list)
		}
		for _, b := range t.subjects {
			add(func(int) *subject { return b })
		}
		add(func(k int) *subject {
			if k == 0 {
				return nil
			}
			return t.subjects[k-1]
		})
	}
	a.recompute(c, claims, 2)
}

// recompute takes the way and the pairs that explain most of a column, if they
// explain at least so many cells and most of them, and tells the others.
func (a *auditor) recompute(c notes.Change, alternatives [][]claim, least int) {
	var best []claim
	var how way
	explained := 0
	for _, list := range alternatives {
		for _, w := range ways {
			if w.percent && (c.Unit == "x" || c.Unit == "×") || !w.percent && c.Unit == "%" {
				continue
			}
			n := 0
			for _, cl := range list {
				better := a.table.measures[cl.measure].Direction()
				if w.percent && cl.Unit == "x" || !w.percent && cl.Unit == "%" {
					continue
				}
				if w.between(shown(cl.base.Values[cl.measure]), shown(cl.head.Values[cl.measure]), better).admits(cl.Number) ||
					w.between(a.exact(cl.base, cl.measure), a.exact(cl.head, cl.measure), better).admits(cl.Number) {
					n++
				}
			}
			if n > explained {
				explained, best, how = n, list, w
			}
		}
	}
	if explained < least || explained*3 < len(best)*2 {
		return
	}
	for _, cl := range best {
		better := a.table.measures[cl.measure].Direction()
		exact := how.between(a.exact(cl.base, cl.measure), a.exact(cl.head, cl.measure), better)
		if exact.admits(cl.Number) || cl.About || math.IsNaN(exact.mid) || math.IsInf(exact.mid, 0) {
			continue
		}
		m := a.table.measures[cl.measure]
		why := ""
		if how.between(shown(cl.base.Values[cl.measure]), shown(cl.head.Values[cl.measure]), better).admits(cl.Number) {
			why = ", computed from rounded cells"
		}
		unit := ""
		if how.percent {
			unit = " %"
		}
		right := write(cl.Figure, exact.mid)
		var edits []notes.Edit
		if cl.base.run != nil && cl.head.run != nil {
			old, changed := cl.Text, right
			if strings.HasPrefix(old, "-") != strings.HasPrefix(changed, "-") {
				old = "" // the sign would have to be found in the cell: left to people
			}
			if old != "" {
				edits = append(edits, notes.Edit{Cell: cl.Cell, Old: strings.TrimPrefix(old, "-"), New: strings.TrimPrefix(changed, "-")})
			}
		}
		a.add("wrong-value", bench.Error, cl.Line, c.Title, fmt.Sprintf("%s of %s between %s and %s: the table says %s%s%s, the logs give %s%s (%s → %s)",
			c.Title, m.Title, quote(cl.base.Name), quote(cl.head.Name), cl.Text, unit, why, right, unit, short4(a.exact(cl.base, cl.measure).mid), short4(a.exact(cl.head, cl.measure).mid)),
			runsOf([]*subject{cl.base, cl.head}), edits...)
	}
}

// short4 writes a value with four digits.
func short4(x float64) string { return fmt.Sprintf("%.4g", x) }
