package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// winners checks which figures are marked as best, a finding a measure. The
// table alone tells that; no log is needed.
func (a *auditor) winners() {
	t := a.table
	var marked []int // measures with marks
	for i, m := range t.measures {
		if m.Direction() == bench.Neither {
			continue
		}
		n, all := 0, 0
		for _, s := range t.subjects {
			if f := s.Values[i]; f.Present && !s.Summary {
				all++
				if f.Cell.Marked && !s.Free {
					n++
				}
			}
		}
		// A column that is bold as a whole stands out; it has no winner.
		if n > 0 && (n < all || all == 1) {
			marked = append(marked, i)
		}
	}
	if len(marked) == 0 || t.highlights(marked) {
		return
	}
	groups := t.groups(marked)
	for _, i := range marked {
		var wrong, right []string
		var edits []notes.Edit
		var subjects []*subject
		line := 0
		for _, g := range groups {
			w := judge(g, i, t.measures[i])
			if w == nil {
				continue
			}
			wrong, right = append(wrong, w.wrong...), append(right, w.right...)
			edits, subjects = append(edits, w.edits...), append(subjects, w.subjects...)
			if line == 0 {
				line = w.line
			}
		}
		if line == 0 {
			continue
		}
		m := t.measures[i]
		direction := "higher is better"
		if m.Direction() == bench.Lower {
			direction = "lower is better"
		}
		message := fmt.Sprintf("%s: nothing is marked where %s is best (%s)", m.Title, strings.Join(right, ", "), direction)
		if len(wrong) > 0 {
			message = fmt.Sprintf("%s: %s marked as best, but %s best (%s)", m.Title, isAre(wrong), isAre(right), direction)
		}
		a.add("wrong-winner", bench.Error, line, m.Title, message, runsOf(subjects), edits...)
	}
}

// highlights reports whether all marks are on one subject that is mostly not the
// best: then it is the one that the author speaks of, and no winner.
func (t *auditTable) highlights(marked []int) bool {
	var only *subject
	wrong := 0
	for _, i := range marked {
		for _, s := range t.subjects {
			if !s.Values[i].Present || !s.Values[i].Cell.Marked {
				continue
			}
			if only != nil && only != s {
				return false
			}
			only = s
		}
		if judge(t.subjects, i, t.measures[i]) != nil {
			wrong++
		}
	}
	return len(marked) >= 3 && 2*wrong > len(marked)
}

func isAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " are"
}

// A misjudgement is what is wrong with the marks of a measure in a group.
type misjudgement struct {
	wrong, right []string
	edits        []notes.Edit
	subjects     []*subject
	line         int
}

// judge holds the marks of a measure against its figures. Figures that read the
// same are equally good, and so are those within each other's spread.
func judge(group []*subject, i int, m *measure) *misjudgement {
	all := slices.DeleteFunc(slices.Clone(group), func(s *subject) bool { return !s.Values[i].Present || s.Summary })
	w := judgeAmong(all, i, m)
	if w == nil {
		return nil
	}
	// Who tells partial runs may leave them out of the race, all of them.
	out := func(s *subject) bool { return s.Noted || s.run != nil && isPartial(s.run) }
	if slices.ContainsFunc(all, func(s *subject) bool { return out(s) && s.Values[i].Cell.Marked }) {
		return w
	}
	complete := slices.DeleteFunc(slices.Clone(all), out)
	if len(complete) < len(all) && len(complete) > 0 && judgeAmong(complete, i, m) == nil {
		return nil
	}
	return w
}

func judgeAmong(all []*subject, i int, m *measure) *misjudgement {
	if len(all) < 2 {
		return nil
	}
	value := func(s *subject) float64 {
		f := s.Values[i]
		return f.Value * m.FactorOf(f.Number, m.Metrics[0])
	}
	best := all[0]
	for _, s := range all {
		if m.Direction() == bench.Higher && value(s) > value(best) || m.Direction() == bench.Lower && value(s) < value(best) {
			best = s
		}
	}
	tied := func(s *subject) bool {
		d := math.Abs(value(s) - value(best))
		f, b := s.Values[i], best.Values[i]
		return d <= 1e-9*math.Abs(value(best)) || f.HasStd && b.HasStd && d <= (f.Std+b.Std)*m.FactorOf(f.Number, m.Metrics[0])
	}
	var w misjudgement
	rightMarked := false
	for _, s := range all {
		if s.Free {
			rightMarked = rightMarked || tied(s)
			continue
		}
		f := s.Values[i]
		if !f.Cell.Marked {
			continue
		}
		if tied(s) {
			rightMarked = true
			continue
		}
		w.wrong = append(w.wrong, fmt.Sprintf("%s (%s)", f.Text, s.Name))
		w.edits = append(w.edits, notes.Edit{Cell: f.Cell, Mark: -1})
		w.subjects = append(w.subjects, s)
		if w.line == 0 {
			w.line = f.Line
		}
	}
	if rightMarked && len(w.wrong) == 0 {
		return nil
	}
	for _, s := range all {
		if !tied(s) || value(s) != value(best) {
			continue
		}
		f := s.Values[i]
		w.right = append(w.right, fmt.Sprintf("%s (%s)", f.Text, s.Name))
		w.subjects = append(w.subjects, s)
		if w.line == 0 {
			w.line = f.Line
		}
		if !rightMarked {
			w.edits = append(w.edits, notes.Edit{Cell: f.Cell, Mark: 1})
		}
	}
	return &w
}

// groups parts the subjects of a table among which winners are marked. That is
// all of them, unless the marks are wrong so and a key separates the table
// cleanly: then every group has a mark in every measure that has marks at all.
func (t *auditTable) groups(marked []int) [][]*subject {
	whole := [][]*subject{t.subjects}
	if !slices.ContainsFunc(marked, func(i int) bool { return judge(t.subjects, i, t.measures[i]) != nil }) {
		return whole
	}
	var keys []func(s *subject) string
	keys = append(keys, func(s *subject) string { return s.Group })
	titles := []string{}
	for _, s := range t.subjects {
		for _, k := range s.Keys {
			if !k.Across && !slices.Contains(titles, k.Title) {
				titles = append(titles, k.Title)
			}
		}
	}
	text := func(s *subject, title string) string {
		for _, k := range s.Keys {
			if k.Title == title && !k.Across {
				return k.Text
			}
		}
		return ""
	}
	for _, title := range titles {
		keys = append(keys, func(s *subject) string { return text(s, title) })
	}
	for i, x := range titles {
		for _, y := range titles[i+1:] {
			keys = append(keys, func(s *subject) string { return text(s, x) + "\x00" + text(s, y) })
		}
	}
	for _, key := range keys {
		if groups := groupBy(t.subjects, key); t.separates(groups, marked) {
			return groups
		}
	}
	return whole
}

// separates reports whether groups have each their own marks.
func (t *auditTable) separates(groups [][]*subject, marked []int) bool {
	if len(groups) < 2 || len(groups) == len(t.subjects) {
		return false
	}
	for _, g := range groups {
		for _, i := range marked {
			present := slices.ContainsFunc(g, func(s *subject) bool { return s.Values[i].Present })
			if present && len(g) > 1 && !slices.ContainsFunc(g, func(s *subject) bool { return s.Values[i].Cell.Marked }) {
				return false
			}
			// A single row needs a mark as well, or the table may have none at all
			// for rows without a rival.
			if present && len(g) == 1 && !g[0].Values[i].Cell.Marked && t.anySingleMarked(groups, i) {
				return false
			}
		}
	}
	// One group with rivals is no separation.
	rivals := 0
	for _, g := range groups {
		if len(g) > 1 {
			rivals++
		}
	}
	return rivals > 1 || rivals == 1 && t.allSinglesMarked(groups, marked)
}

func (t *auditTable) anySingleMarked(groups [][]*subject, i int) bool {
	return slices.ContainsFunc(groups, func(g []*subject) bool { return len(g) == 1 && g[0].Values[i].Cell.Marked })
}

func (t *auditTable) allSinglesMarked(groups [][]*subject, marked []int) bool {
	for _, g := range groups {
		for _, i := range marked {
			if len(g) == 1 && !g[0].Values[i].Cell.Marked {
				return false
			}
		}
	}
	return true
}
