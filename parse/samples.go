package parse

import (
	"math"
	"slices"
	"sort"

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
	ps := make([]float64, len(requestStats))
	for i, st := range requestStats {
		ps[i] = st.p
	}
	exact, rough := s.quantiles(ps, steps)
	least, most := exact[0], exact[len(exact)-1]
	for i := range rough {
		rough[i] = scale * min(max(rough[i], least), most)
	}
	r.Spreads = append(r.Spreads, bench.Spread{Name: family, N: s.n, Quantiles: rough})
	mean, std := s.meanStd()
	add("mean", mean)
	add("std", std)
	for i, q := range exact {
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

// quantiles computes quantiles with linear interpolation, as NumPy does, and
// others, for a drawing, to 0.4 %. It does not sort: it counts the samples by
// the upper bits of their value, and sorts only the few that share those bits
// with a wanted one. That is linear and leaves the samples where they are,
// however many millions there are.
func (s *samples) quantiles(ps, rough []float64) (exact, drawn []float64) {
	if s.n <= 1<<12 {
		list := s.slice()
		slices.Sort(list)
		return sortedQuantiles(list, ps), sortedQuantiles(list, rough)
	}
	const shift = 64 - 20 // sign, exponent and 8 bits of the mantissa
	counts := make([]int32, 1<<(64-shift))
	for _, b := range s.blocks {
		for _, x := range b {
			counts[orderedBits(x)>>shift]++
		}
	}
	// The two neighbours of every quantile, by rank.
	type want struct{ rank, bucket, before int }
	wants := make([]want, 0, 2*len(ps))
	for _, p := range ps {
		at := int(math.Floor(p * float64(s.n-1)))
		wants = append(wants, want{rank: at}, want{rank: min(at+1, s.n-1)})
	}
	needed := map[int][]float64{}
	wanted := make([]bool, len(counts)) // a map look-up for each sample is slow
	drawn = make([]float64, len(rough))
	before := 0
	for bucket, n := range counts {
		if n == 0 {
			continue
		}
		for i := range wants {
			if w := &wants[i]; w.rank >= before && w.rank < before+int(n) {
				w.bucket, w.before = bucket, before
				if !wanted[bucket] {
					wanted[bucket], needed[bucket] = true, make([]float64, 0, n)
				}
			}
		}
		lo, hi := fromOrderedBits(uint64(bucket)<<shift), fromOrderedBits((uint64(bucket)+1)<<shift)
		for i := sort.SearchFloat64s(rough, float64(before)/float64(s.n)); i < len(rough); i++ {
			at := rough[i]*float64(s.n) - float64(before)
			if at > float64(n) {
				break
			}
			drawn[i] = lo + at/float64(n)*(hi-lo)
		}
		before += int(n)
	}
	for _, b := range s.blocks {
		for _, x := range b {
			if k := int(orderedBits(x) >> shift); wanted[k] {
				needed[k] = append(needed[k], x)
			}
		}
	}
	for _, list := range needed {
		slices.Sort(list)
	}
	value := func(w want) float64 { return needed[w.bucket][w.rank-w.before] }
	exact = make([]float64, len(ps))
	for i, p := range ps {
		at := p * float64(s.n-1)
		lo, hi := value(wants[2*i]), value(wants[2*i+1])
		exact[i] = lo + (at-math.Floor(at))*(hi-lo)
	}
	return exact, drawn
}

// sortedQuantiles computes quantiles of a sorted list.
func sortedQuantiles(list, ps []float64) []float64 {
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

// fromOrderedBits is the number of such an integer.
func fromOrderedBits(b uint64) float64 {
	if b>>63 != 0 {
		return math.Float64frombits(b &^ (1 << 63))
	}
	return math.Float64frombits(^b)
}
