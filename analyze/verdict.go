package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// defaultRepetitions is how often llama-bench repeats a test unless it is told
// otherwise; its Markdown does not say.
const defaultRepetitions = 5

// testCells tests two cells with the best evidence that they give: repeated
// runs, repetitions inside one process, the standard error of a score, or a
// noise that the user declares. The replicate is the run: what varies inside
// one, from request to request, is never a sample.
func testCells(base, head *Cell, metric string, o Options) (test, string, bool) {
	return testWith(welch, base, head, metric, o)
}

// testWith tests two cells by a test of two sides.
func testWith(welch func(base, head side, alpha float64) test, base, head *Cell, metric string, o Options) (test, string, bool) {
	tool := base.Runs[0].Source.Tool
	switch {
	case len(base.Runs) > 1 && len(head.Runs) > 1:
		a, ok := repeatedSide(base, metric)
		b, ok2 := repeatedSide(head, metric)
		if !ok || !ok2 {
			return test{}, EvidenceRepeats, false
		}
		t := welch(a, b, o.alpha())
		// Runs that agree to the last of all digits are no repeats.
		return t, EvidenceRepeats, a.variance > 0 || b.variance > 0 || a.mean == b.mean
	case len(base.Runs) > 1 || len(head.Runs) > 1:
	case tool == "llama-bench" && metric == "avg_ts" && !o.NoProcess:
		a, ok := processSide(base.Metric)
		b, ok2 := processSide(head.Metric)
		if ok && ok2 {
			return welch(a, b, o.alpha()), EvidenceProcess, true
		}
	case tool == "vllm-latency" && len(base.Samples) > 1 && len(head.Samples) > 1 && !o.NoProcess:
		a, ok := sideOfValues(base.Samples, 0)
		b, ok2 := sideOfValues(head.Samples, 0)
		return welch(a, b, o.alpha()), EvidenceProcess, ok && ok2
	case tool == "lm-eval" && base.HasStd && head.HasStd && base.Value > 0:
		return scores(base.Metric, head.Metric, o.alpha()), EvidenceProcess, true
	}
	if o.Noise > 0 {
		a, ok := sideOfNoise(cellValue(base, metric), o.Noise, len(base.Runs))
		b, ok2 := sideOfNoise(cellValue(head, metric), o.Noise, len(head.Runs))
		return welch(a, b, o.alpha()), EvidenceDeclared, ok && ok2
	}
	return test{}, EvidenceSingle, false
}

// repeatedSide makes a side of repeated runs, a value a run.
func repeatedSide(c *Cell, metric string) (side, bool) {
	var values []float64
	unit := 0.0
	for _, r := range c.Runs {
		x, u, ok := precise(r, metric)
		if !ok {
			return side{}, false
		}
		values = append(values, x)
		if !math.IsInf(u, 0) && !math.IsNaN(u) {
			unit = math.Max(unit, u*math.Abs(x))
		}
	}
	return sideOfValues(values, unit)
}

// processSide makes a side of the repetitions of llama-bench.
func processSide(m bench.Metric) (side, bool) {
	if len(m.Samples) > 1 {
		// The mean that the tool prints is that of the rates, so its spread is
		// taken the same way.
		s, ok := sideOfSummary(m.Value, stat.StdDev(m.Samples, nil), float64(len(m.Samples)), 0)
		s.values = m.Samples
		return s, ok
	}
	if !m.HasStd || m.N == 1 {
		return side{}, false
	}
	n := m.N
	if n == 0 {
		n = defaultRepetitions
	}
	scale := 1.0
	if m.Raw != 0 {
		scale = m.Value / m.Raw
	}
	return sideOfSummary(m.Value, m.Std, float64(n), halfUnit(m)*scale)
}

func repeatsInside(m bench.Metric) bool {
	_, ok := processSide(m)
	return ok
}

// scores tests two accuracies by their standard errors. They are proportions,
// so the difference is tested, not the ratio.
func scores(a, b bench.Metric, alpha float64) test {
	se := math.Hypot(a.Std, b.Std)
	t := test{ratio: b.Value / a.Value, rankP: math.NaN(), p: 1}
	d := b.Value - a.Value
	if se > 0 {
		t.p = 2 * distuv.UnitNormal.CDF(-math.Abs(d)/se)
	} else if d != 0 {
		t.p = 0
	}
	q, q90 := distuv.UnitNormal.Quantile(1-alpha/2)*se, distuv.UnitNormal.Quantile(0.95)*se
	t.lo, t.hi = 1+(d-q)/a.Value, 1+(d+q)/a.Value
	t.lo90, t.hi90 = 1+(d-q90)/a.Value, 1+(d+q90)/a.Value
	return t
}

// significant reports whether a difference is more than chance: by Welch's
// test, and from four values a side on by the rank test too.
func (t test) significant(p, alpha float64) bool {
	return p < alpha && (math.IsNaN(t.rankP) || t.rankP <= alpha)
}

// decide adjusts the p-values over all comparisons of a report and gives the
// verdicts.
func decide(rep *Report, o Options) {
	var all []*Comparison
	var p []float64
	for _, s := range rep.Sections {
		for i := range s.Changes {
			for k := range s.Changes[i].By {
				if c := &s.Changes[i].By[k]; c.Tested && c.Verdict != Incomparable {
					all = append(all, c)
					p = append(p, c.P)
				}
			}
		}
	}
	adjusted := benjaminiHochberg(p)
	if o.Holm {
		adjusted = holm(p)
	}
	for i, c := range all {
		c.PAdjusted = adjusted[i]
		c.decide(o)
	}
}

// decide gives the verdict on a tested comparison.
func (c *Comparison) decide(o Options) {
	t, delta := c.test, c.Threshold
	significant := t.significant(c.PAdjusted, o.alpha())
	size := math.Abs(t.ratio - 1)
	switch {
	case significant && size >= delta:
		c.Verdict, c.Winner = Regressed, c.Base
		if isBetter(c.Metric, t.ratio, 1) {
			c.Verdict, c.Winner = Improved, c.Head
		}
	case t.lo90 > 1-delta && t.hi90 < 1+delta:
		c.Verdict = Unchanged
		c.Small = significant
	default:
		c.Verdict = Inconclusive
		if n := runsNeeded(t.spread, delta); n > 0 {
			c.RunsNeeded = max(n, slices.Max(c.N[:])+1)
		}
		switch {
		case t.p < o.alpha() && c.PAdjusted >= o.alpha():
			c.Reason = fmt.Sprintf("p = %.2g alone, %.2g among all that is compared", t.p, c.PAdjusted)
		case t.rankP <= o.alpha() && t.p >= o.alpha():
			c.Reason = fmt.Sprintf("the rank test sees a change (p = %.2g), Welch's does not", t.rankP)
		case significant:
			c.Small = true
			c.Reason = fmt.Sprintf("smaller than the %.3g %% that matter", 100*delta)
		case c.PAdjusted < o.alpha():
			c.Reason = fmt.Sprintf("Welch's test says so, the rank test does not (p = %.2g)", t.rankP)
		}
	}
}

// testKind is the kind of a llama-bench test: prompts and generation are not
// averaged.
func testKind(r *bench.Run) string {
	kind := strings.Trim(strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' {
			return -1
		}
		return c
	}, r.Config.Get("test")), " ")
	if kind == "" {
		return ""
	}
	return " " + kind
}

// geomeans averages the changes over the rows that both sides have.
func (s *Section) geomeans() {
	type sum struct {
		logs float64
		rows int
		base map[*Row]bool
	}
	sums := map[[2]string]*sum{}
	var order [][2]string
	for _, ch := range s.Changes {
		head := ch.Row.Input
		for _, c := range ch.By {
			if s.Across {
				head = c.Head
			} else if ch.Base.Input == ch.Row.Input {
				continue
			}
			if c.Verdict == Incomparable || c.BaseValue <= 0 || c.HeadValue <= 0 {
				continue
			}
			x := math.Log(c.HeadValue / c.BaseValue)
			if bench.Lookup(c.Metric).Better == bench.Lower {
				x = -x
			}
			k := [2]string{head + testKind(ch.Row.Runs[0]), c.Metric}
			if sums[k] == nil {
				sums[k] = &sum{base: map[*Row]bool{}}
				order = append(order, k)
			}
			if sums[k].base[ch.Base] {
				continue // the same thing again
			}
			sums[k].base[ch.Base] = true
			sums[k].logs += x
			sums[k].rows++
		}
	}
	for _, k := range order {
		if t := sums[k]; t.rows > 1 {
			s.Means = append(s.Means, Geomean{Head: k[0], Metric: k[1], Ratio: math.Exp(t.logs / float64(t.rows)), Rows: t.rows})
		}
	}
}
