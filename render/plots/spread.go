package plots

import (
	"fmt"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// How many values a curve and a histogram of them must have: fewer are a picture
// of chance.
const (
	fewestForCDF       = 20
	fewestForHistogram = 100
)

// spreads (P6): how the latencies of requests scatter, as a share of requests
// up to a latency, and as a histogram where there is one run.
func spreads(s *analyze.Section, c *colours) []Figure {
	var out []Figure
	for _, family := range [...]string{"ttft", "itl", "e2el"} {
		title := strings.ToUpper(family)
		cdf := Figure{Name: family + "-cdf", Title: title + " of requests (further left is better)", Alt: "Share of values up to a " + title + ", a line a run",
			X: Axis{Label: title + " (ms)"}, Y: Axis{Label: "Share up to it"}}
		var first bench.Spread
		for _, row := range s.Rows {
			for _, sp := range row.Runs[0].Spreads {
				if sp.Name != family || sp.N < fewestForCDF || len(sp.Quantiles) < 3 || len(cdf.Series) >= 8 {
					continue
				}
				name := mark(row, Latin(s.Name(row)))
				line := Series{Name: fmt.Sprintf("%s (n=%d)", name, sp.N), Colour: c.get(mark(row, configuration(s, row))), Line: true}
				for i, q := range sp.Quantiles {
					line.Points = append(line.Points, Point{X: q, Y: float64(i) / float64(len(sp.Quantiles)-1)})
				}
				cdf.Series = append(cdf.Series, line)
				first = sp
			}
		}
		if len(cdf.Series) == 0 {
			continue
		}
		out = append(out, cdf)
		if len(cdf.Series) == 1 && first.N >= fewestForHistogram {
			out = append(out, histogram(first, title, cdf.Series[0].Colour))
		}
	}
	return out
}

// histogram makes bars of the shares between equal steps up to the 99th
// percentile; what lies above is in the last.
func histogram(sp bench.Spread, title string, colour int) Figure {
	const bins = 20
	last := len(sp.Quantiles) - 1
	lo, hi := sp.Quantiles[0], sp.Quantiles[last*99/100]
	f := Figure{Name: sp.Name + "-histogram", Title: fmt.Sprintf("%s of requests, n=%d", title, sp.N), Alt: "Histogram of " + title + " over the requests of the run",
		X: Axis{Label: title + " (ms)"}, Y: Axis{Label: "Share of values"}, Notes: []string{"The last bar holds all above the 99th percentile."}}
	s := Series{Name: title, Colour: colour}
	if hi <= lo {
		return f
	}
	shares := make([]float64, bins)
	for _, q := range sp.Quantiles {
		shares[min(bins-1, int((q-lo)/(hi-lo)*bins))] += 1 / float64(len(sp.Quantiles))
	}
	for i, y := range shares {
		s.Points = append(s.Points, Point{X: float64(i), Y: y})
		f.Bars = append(f.Bars, shortNumber(lo+(hi-lo)*float64(i)/bins))
	}
	f.Series = []Series{s}
	return f
}
