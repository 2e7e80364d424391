package parse

import (
	"math"
	"slices"

	"github.com/benchreport/benchreport/bench"
)

// samples are the values of one measurement over the requests of a run.
type samples struct{ floats }

// requestStats are the statistics computed where a result does not give them.
var requestStats = []struct {
	name string
	p    float64
}{{"min", 0}, {"median", .5}, {"p90", .9}, {"p95", .95}, {"p99", .99}, {"max", 1}}

// spreadSteps is how many steps the quantiles of a spread are kept in.
const spreadSteps = 200

// statistics adds to the run those statistics of the samples that it lacks,
// each times scale.
func (s *samples) statistics(r *bench.Run, family string, scale float64) {
	if s.n == 0 {
		return
	}
	add := func(stat string, x float64) {
		if finite(x) {
			r.Add(bench.Metric{Name: stat + "_" + family + "_ms", Value: scale * x, Decimals: -1, Derived: true})
		}
	}
	steps := make([]float64, spreadSteps+1)
	for i := range steps {
		steps[i] = float64(i) / spreadSteps
	}
	spread := bench.Spread{Name: family, N: s.n, Quantiles: s.quantiles(steps)}
	for i := range spread.Quantiles {
		spread.Quantiles[i] *= scale
	}
	r.Spreads = append(r.Spreads, spread)
	mean, std := s.meanStd()
	add("mean", mean)
	add("std", std)
	ps := make([]float64, len(requestStats))
	for i, st := range requestStats {
		ps[i] = st.p
	}
	for i, q := range s.quantiles(ps) {
		add(requestStats[i].name, q)
	}
}

// meanStd computes the mean and the population standard deviation, in two passes.
func (s *samples) meanStd() (mean, std float64) {
	sum := 0.0
	for _, b := range s.blocks {
		for _, x := range b {
			sum += x
		}
	}
	mean = sum / float64(s.n)
	sum = 0
	for _, b := range s.blocks {
		for _, x := range b {
			sum += (x - mean) * (x - mean)
		}
	}
	return mean, math.Sqrt(sum / float64(s.n))
}

// quantiles computes quantiles with linear interpolation, as NumPy does. It
// does not sort: it counts the samples by the upper bits of their value, and
// sorts only the few that share those bits with a wanted one. That is linear
// and leaves the samples where they are, however many millions there are.
func (s *samples) quantiles(ps []float64) []float64 {
	if s.n <= 1<<12 {
		return sortedQuantiles(s.slice(), ps)
	}
	const bits = 20
	counts := make([]int32, 1<<bits)
	for _, b := range s.blocks {
		for _, x := range b {
			counts[orderedBits(x)>>(64-bits)]++
		}
	}
	// The two neighbours of every quantile, by rank.
	type want struct{ rank, bucket, before int }
	var wants []want
	for _, p := range ps {
		at := p * float64(s.n-1)
		lo := int(math.Floor(at))
		wants = append(wants, want{rank: lo}, want{rank: min(lo+1, s.n-1)})
	}
	byRank := make([]int, len(wants))
	for i := range byRank {
		byRank[i] = i
	}
	slices.SortStableFunc(byRank, func(a, b int) int { return wants[a].rank - wants[b].rank })
	needed := map[int][]float64{}
	wanted := make([]bool, len(counts)) // a map look-up for each sample is slow
	bucket, before := 0, 0
	for _, i := range byRank {
		for before+int(counts[bucket]) <= wants[i].rank {
			before += int(counts[bucket])
			bucket++
		}
		wants[i].bucket, wants[i].before = bucket, before
		if needed[bucket] == nil {
			needed[bucket] = make([]float64, 0, counts[bucket])
			wanted[bucket] = true
		}
	}
	for _, b := range s.blocks {
		for _, x := range b {
			if k := int(orderedBits(x) >> (64 - bits)); wanted[k] {
				needed[k] = append(needed[k], x)
			}
		}
	}
	for _, list := range needed {
		slices.Sort(list)
	}
	value := func(w want) float64 { return needed[w.bucket][w.rank-w.before] }
	out := make([]float64, len(ps))
	for i, p := range ps {
		at := p * float64(s.n-1)
		lo, hi := value(wants[2*i]), value(wants[2*i+1])
		out[i] = lo + (at-math.Floor(at))*(hi-lo)
	}
	return out
}

// sortedQuantiles computes quantiles of a few samples, which it sorts.
func sortedQuantiles(list, ps []float64) []float64 {
	slices.Sort(list)
	out := make([]float64, len(ps))
	for i, p := range ps {
		at := p * float64(len(list)-1)
		lo := int(math.Floor(at))
		hi := min(lo+1, len(list)-1)
		out[i] = list[lo] + (at-math.Floor(at))*(list[hi]-list[lo])
	}
	return out
}

// orderedBits maps numbers to integers of the same order.
func orderedBits(x float64) uint64 {
	b := math.Float64bits(x)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}
