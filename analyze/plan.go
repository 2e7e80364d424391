package analyze

import (
	"fmt"
	"math"
	"slices"

	"github.com/benchreport/benchreport/bench"
)

// detectable is the shift, in standard deviations from run to run, that
// Welch's test at 5 % finds with 80 % power, by the number of runs a side from
// 2 on. By simulation (SciPy 1.10: ttest_ind(equal_var=False) on 40 000 pairs of
// normal samples for each shift, bisected).
var detectable = []float64{10.39, 3.51, 2.52, 2.08, 1.82, 1.65, 1.52, 1.42, 1.33, 1.26, 1.20, 1.15, 1.10, 1.06, 1.03, 0.99, 0.96, 0.94, 0.91}

// MinPlanned and MaxPlanned are the numbers of runs a side that a plan covers.
const (
	MinPlanned = 2
	MaxPlanned = MinPlanned + 18
)

// A Plan tells how small a change of one metric can be found.
type Plan struct {
	Name     string // of the row
	Tool     string
	Metric   string
	Runs     int     // from which the spread was seen
	Spread   float64 // relative standard deviation from run to run
	Evidence string
	Changes  []float64 // found with 80 % power, for MinPlanned … MaxPlanned runs a side
	Needed   int       // runs a side for the effect that was asked for; 0 if none was
}

// MakePlan tells, from the spread seen in repeats, what a number of runs can
// find. Effect is the change to find, 0 for none.
func MakePlan(runs []*bench.Run, o Options, effect float64) ([]Plan, error) {
	rep, err := Compare(runs, o)
	if err != nil {
		return nil, err
	}
	var plans []Plan
	for _, s := range rep.Sections {
		for _, row := range s.Rows {
			for i, c := range row.Cells {
				metric := s.Columns[i].Metric
				p := Plan{Name: s.Name(row), Tool: s.Tool, Metric: metric, Runs: len(c.Runs)}
				if s.Across {
					p.Name = rowSettings(s, row) + " " + s.Columns[i].Variant
				}
				if !p.spread(c, metric, o) {
					continue
				}
				for _, d := range detectable {
					p.Changes = append(p.Changes, d*p.Spread)
				}
				if effect > 0 {
					p.Needed = needed(p.Spread, effect)
				}
				plans = append(plans, p)
			}
		}
	}
	if len(plans) == 0 {
		return nil, fmt.Errorf("no spread to plan from: give several runs of one thing under one label, or --noise")
	}
	return plans, nil
}

// spread sets the spread that a cell shows.
func (p *Plan) spread(c Cell, metric string, o Options) bool {
	if len(c.Runs) == 0 || bench.Lookup(metric).Better == bench.Neither {
		return false
	}
	p.Evidence = EvidenceRepeats
	switch {
	case len(c.Runs) > 1:
		side, ok := repeatedSide(&c, metric)
		p.Spread = side.spread
		return ok && p.Spread > 0
	case c.Runs[0].Source.Tool == "llama-bench" && metric == "avg_ts":
		if side, ok := processSide(c.Metric); ok {
			p.Spread, p.Evidence = side.spread, EvidenceProcess
			if p.Runs = c.N; p.Runs == 0 {
				p.Runs = defaultRepetitions
			}
			return p.Spread > 0
		}
	}
	if o.Noise > 0 {
		p.Spread, p.Evidence = o.Noise, EvidenceDeclared
		return true
	}
	return false
}

// needed is the smallest number of runs a side that finds an effect.
func needed(spread, effect float64) int {
	i := slices.IndexFunc(detectable, func(d float64) bool { return d*spread <= effect })
	if i >= 0 {
		return MinPlanned + i
	}
	return int(math.Ceil(15.7*(spread/effect)*(spread/effect))) + 1
}
