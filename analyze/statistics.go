package analyze

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/benchreport/benchreport/bench"
	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A side is what one side of a comparison knows about a metric, on the scale of
// logarithms: the mean, its variance, and how many values stand behind it.
type side struct {
	values   []float64 // one for each run, or repetition inside one process
	mean     float64   // of the logarithms
	variance float64   // of that mean
	df       float64   // degrees of freedom of the variance; 0 for a known one
	spread   float64   // standard deviation of one value, relative
}

// sideOfValues makes a side of several values. A spread below what the log
// prints is one that the rounding hides.
func sideOfValues(values []float64, halfUnit float64) (side, bool) {
	logs := make([]float64, len(values))
	for i, x := range values {
		if x <= 0 {
			return side{}, false
		}
		logs[i] = math.Log(x)
	}
	mean, std := stat.MeanStdDev(logs, nil)
	std = math.Max(std, halfUnit/math.Exp(mean))
	n := float64(len(values))
	return side{values: values, mean: mean, variance: std * std / n, df: n - 1, spread: std}, true
}

// sideOfSummary makes a side of a mean, a standard deviation and a count, by the
// delta method: Var(ln x̄) ≈ s²/(n·x̄²).
func sideOfSummary(mean, std, n, halfUnit float64) (side, bool) {
	if mean <= 0 || n < 2 {
		return side{}, false
	}
	cv := math.Max(std, halfUnit) / mean
	return side{mean: math.Log(mean), variance: cv * cv / n, df: n - 1, spread: cv}, true
}

// sideOfNoise makes a side of one value whose run-to-run noise is declared.
func sideOfNoise(value, noise float64, runs int) (side, bool) {
	if value <= 0 {
		return side{}, false
	}
	return side{mean: math.Log(value), variance: noise * noise / float64(runs), spread: noise}, true
}

// A test is the result of testing two sides: a ratio with its interval.
type test struct {
	ratio      float64 // head ÷ base
	p          float64 // of Welch's t-test, two-sided
	rankP      float64 // of the exact Mann–Whitney test, NaN where it is not made
	lo, hi     float64 // of the ratio, at 1 − α
	lo90, hi90 float64 // of the ratio, at 1 − 2·0.05, for equivalence
	spread     float64 // pooled, relative
}

// minRank is how many values a side the rank test needs. It is exact up to
// maxRanked values, up to maxTied where some are equal.
const minRank, maxRanked, maxTied = 4, 50, 25

// welch tests two sides, and tells the interval of their ratio.
func welch(base, head side, alpha float64) test {
	t := difference(base, head)
	t.rankP = rankP(base, head, alpha)
	d := head.mean - base.mean
	se := math.Sqrt(base.variance + head.variance)
	quantile := distuv.UnitNormal.Quantile
	if base.df > 0 || head.df > 0 {
		nu := degrees(base, head)
		quantile = func(p float64) float64 { return studentQuantile(p, nu) }
	}
	q, q90 := quantile(1-alpha/2)*se, quantile(0.95)*se
	t.lo, t.hi = math.Exp(d-q), math.Exp(d+q)
	t.lo90, t.hi90 = math.Exp(d-q90), math.Exp(d+q90)
	return t
}

// difference tests two sides by Welch's test alone.
func difference(base, head side) test {
	d := head.mean - base.mean
	se := math.Sqrt(base.variance + head.variance)
	t := test{ratio: math.Exp(d), rankP: math.NaN(), spread: math.Sqrt((base.spread*base.spread + head.spread*head.spread) / 2)}
	cdf := distuv.UnitNormal.CDF
	if base.df > 0 || head.df > 0 {
		cdf = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees(base, head)}.CDF
	}
	switch {
	case se > 0:
		t.p = math.Min(1, 2*cdf(-math.Abs(d)/se))
	case d == 0:
		t.p = 1
	}
	return t
}

// rankP is the p of the rank test, NaN where it could not find anything at all.
func rankP(base, head side, alpha float64) float64 {
	if n, m := len(base.values), len(head.values); n < minRank || m < minRank || 2/combinations(n+m, n) > alpha {
		return math.NaN()
	}
	return rankTest(base.values, head.values)
}

// rankTest is the p of the exact Mann–Whitney test.
func rankTest(x, y []float64) float64 {
	u, equal := 0, 0
	for _, a := range x {
		for _, b := range y {
			if a > b {
				u++
			} else if a == b {
				equal++
			}
		}
	}
	small := min(2*u+equal, 2*len(x)*len(y)-2*u-equal) // twice U, or twice that of y
	ties := equal > 0 || hasEqual(x) || hasEqual(y)
	switch {
	case !ties && max(len(x), len(y)) <= maxRanked:
		return untiedTails(len(x), len(y))[small]
	case ties && len(x) == len(y) && len(x) <= maxTied:
		all := slices.Concat(x, y)
		slices.Sort(all)
		return tails(len(x), all, small)[small]
	}
	a := benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds)
	b := benchmath.NewSample(slices.Clone(y), &benchmath.DefaultThresholds)
	// With ties and unequal numbers the library's answer depends on which sample
	// comes first; the larger p is the careful one.
	return math.Max(benchmath.AssumeNothing.Compare(a, b).P, benchmath.AssumeNothing.Compare(b, a).P)
}

// hasEqual reports whether a value stands twice among some.
func hasEqual(values []float64) bool {
	for i, x := range values {
		for _, y := range values[:i] {
			if x == y {
				return true
			}
		}
	}
	return false
}

// untied are the answers of the rank test for samples without ties, by their
// sizes.
var untied sync.Map

func untiedTails(n, m int) []float64 {
	key := [2]int{n, m}
	if p, ok := untied.Load(key); ok {
		return p.([]float64)
	}
	ranks := make([]float64, n+m)
	for i := range ranks {
		ranks[i] = float64(i)
	}
	p := tails(n, ranks, n*m)
	untied.Store(key, p)
	return p
}

// tails gives the two-sided p of the rank test where n of some sorted values are
// in the first sample, by twice U, up to a limit that is not above the middle:
// twice the share of the ways to choose them that give a U no larger. The library
// gives the same, but one figure at a time and with maps.
func tails(n int, all []float64, limit int) []float64 {
	ways := make([][]float64, n+1) // by how many of the values so far are chosen, and twice their U
	for k := range ways {
		ways[k] = make([]float64, limit+1)
	}
	ways[0][0] = 1
	for below := 0; below < len(all); {
		end := below + 1
		for end < len(all) && all[end] == all[below] {
			end++
		}
		equal := end - below
		// Of the equal ones r are chosen. From the largest k on, what is read is of
		// the values below.
		for k := min(n, end); k >= max(1, n-len(all)+end); k-- {
			for r := max(1, k-below); r <= min(k, equal); r++ {
				before := k - r
				more := r * (2*(below-before) + equal - r)
				times := combinations(equal, r)
				for u := more; u <= limit; u++ {
					ways[k][u] += times * ways[before][u-more]
				}
			}
		}
		below = end
	}
	p, sum := ways[n], 0.0
	total := combinations(len(all), n)
	for u := range p {
		sum += p[u]
		p[u] = sum / total * 2
	}
	if middle := n * (len(all) - n); limit == middle {
		p[middle] = 1
	}
	return p
}

// studentQuantile is the quantile p of Student's distribution. From an expansion
// that is good to some digits, two or three steps of Newton's method lead to
// it; the library's search takes ten.
func studentQuantile(p, nu float64) float64 {
	dist := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}
	if nu < 3 || p > 0.9999 || p < 0.0001 {
		return dist.Quantile(p)
	}
	// Abramowitz and Stegun 26.7.5
	z := distuv.UnitNormal.Quantile(p)
	z2 := z * z
	x := z + z*((z2+1)/(4*nu)+((5*z2+16)*z2+3)/(96*nu*nu)+(((3*z2+19)*z2+17)*z2-15)/(384*nu*nu*nu))
	for range 20 {
		step := (dist.CDF(x) - p) / dist.Prob(x)
		x -= step
		if math.Abs(step) <= 1e-13*math.Abs(x) {
			return x
		}
		if math.Abs(step) < 1e-7 { // the next step would be its square
			return x
		}
	}
	return dist.Quantile(p)
}

// combinations is n choose k.
func combinations(n, k int) float64 {
	out := 1.0
	for i := range k {
		out = out * float64(n-i) / float64(i+1) // a whole number each time
	}
	return out
}

// degrees is Welch's approximation; a known variance has infinitely many.
func degrees(a, b side) float64 {
	sum := 0.0
	for _, s := range [...]side{a, b} {
		if s.df > 0 {
			sum += s.variance * s.variance / s.df
		}
	}
	total := a.variance + b.variance
	if sum == 0 {
		return 1e6 // no spread at all
	}
	return total * total / sum
}

// runsNeeded estimates how many runs a side would find a change of that size
// with 80 % power: 15.7·(CV/δ)², and one more for the small sample.
func runsNeeded(spread, delta float64) int {
	if delta <= 0 || spread <= 0 {
		return 0
	}
	n := 15.7 * (spread / delta) * (spread / delta)
	if n > 1e6 {
		return 0
	}
	return int(math.Ceil(n)) + 1
}

// holm adjusts p-values so that the chance of any false alarm stays below α.
func holm(p []float64) []float64 {
	order := ascending(p)
	out := make([]float64, len(p))
	worst := 0.0
	for rank, i := range order {
		worst = math.Max(worst, math.Min(1, float64(len(p)-rank)*p[i]))
		out[i] = worst
	}
	return out
}

// benjaminiHochberg adjusts p-values so that of all that is called a change at
// most a share of α is none.
func benjaminiHochberg(p []float64) []float64 {
	order := ascending(p)
	out := make([]float64, len(p))
	best := 1.0
	for rank := len(order) - 1; rank >= 0; rank-- {
		i := order[rank]
		best = math.Min(best, float64(len(p))*p[i]/float64(rank+1))
		out[i] = best
	}
	return out
}

// defaultThreshold is the smallest change of a metric that matters.
func defaultThreshold(metric string) float64 {
	if stat, _, ok := bench.SplitLatency(metric); ok {
		switch stat {
		case "mean", "median", "p25", "p50", "p75", "min":
			return 0.05
		}
		return 0.10
	}
	switch metric {
	case "accuracy", "acc_norm", "f1":
		return 0.01
	case "p90_latency", "p95_latency", "p99_latency", "p99.9_latency":
		return 0.10
	}
	if bench.Lookup(metric).Better == bench.Lower && strings.Contains(metric, "latency") {
		return 0.05
	}
	return 0.02
}

// ascending gives the order of values.
func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}
