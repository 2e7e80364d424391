package analyze

import (
	"fmt"
	"gonum.org/v1/gonum/stat/distuv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
	"golang.org/x/perf/benchmath"
)

// agrees reports whether two figures are the same in the digits that the tables
// below give.
func agrees(got, want float64) bool {
	return math.Abs(got-want) <= 2e-7*math.Abs(want)+1e-15
}

// wantTest is what a test must give: the ratio, p, and two intervals.
type wantTest struct {
	ratio, p, lo, hi, lo90, hi90 float64
}

func (w wantTest) check(t *testing.T, name string, got test) {
	t.Helper()
	for _, x := range []struct {
		what      string
		got, want float64
	}{{"ratio", got.ratio, w.ratio}, {"p", got.p, w.p}, {"95 % from", got.lo, w.lo}, {"95 % to", got.hi, w.hi}, {"90 % from", got.lo90, w.lo90}, {"90 % to", got.hi90, w.hi90}} {
		if !agrees(x.got, x.want) {
			t.Errorf("%s: %s %.10g, want %.10g", name, x.what, x.got, x.want)
		}
	}
}

// valueSides makes sides of samples.
func valueSides(t *testing.T, base, head []float64) (side, side) {
	t.Helper()
	a, ok := sideOfValues(base, 0)
	b, ok2 := sideOfValues(head, 0)
	if !ok || !ok2 {
		t.Fatalf("no test of %v and %v", base, head)
	}
	return a, b
}

// The figures are from SciPy 1.10.1 (Python 3.11, NumPy 1.24):
//
//	from math import exp, log, sqrt
//	import numpy as np
//	from scipy import stats
//	def interval(d, va, dfa, vb, dfb, level):
//	    se = sqrt(va + vb); nu = (va + vb)**2 / (va*va/dfa + vb*vb/dfb)
//	    q = stats.t.ppf((1 + level)/2, nu) * se
//	    return exp(d - q), exp(d + q)
//	def welch(a, b):
//	    a, b = np.log(a), np.log(b); d = b.mean() - a.mean()
//	    p = stats.ttest_ind(b, a, equal_var=False).pvalue
//	    v = a.var(ddof=1)/len(a), len(a) - 1, b.var(ddof=1)/len(b), len(b) - 1
//	    return [exp(d), p, *interval(d, *v, .95), *interval(d, *v, .90)]
func TestWelchOfSamples(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, head []float64
		want       wantTest
	}{
		{"2 and 2", []float64{100, 102}, []float64{92, 93}, wantTest{0.9158730968, 0.03173724344, 0.8582068875, 0.9774141196, 0.8794789988, 0.9537732345}},
		{"3 and 3", []float64{100, 102, 99}, []float64{92, 93, 90}, wantTest{0.9136067641, 0.002352206219, 0.8810141049, 0.9474051718, 0.8884998393, 0.9394231519}},
		{"4 and 4", []float64{100, 102, 99, 101}, []float64{98, 97, 99.5, 96}, wantTest{0.9713681199, 0.02784446024, 0.9477740414, 0.9955495541, 0.9526185036, 0.9904867696}},
		{"5 and 5", []float64{100, 102, 99, 101, 100.5}, []float64{90, 91, 89.5, 90.7, 92}, wantTest{0.9018947314, 3.881376361e-07, 0.8877167614, 0.9162991417, 0.8904454346, 0.9134912426}},
		{"8 and 6", []float64{41.2, 40.7, 41.9, 42.3, 40.1, 41.5, 41.1, 40.9}, []float64{43.0, 39.2, 45.5, 41.8, 44.1, 42.2}, wantTest{1.033491133, 0.1802243827, 0.9798031917, 1.090120885, 0.9907058208, 1.078124202}},
		{"unequal spread", []float64{812.5, 790.25, 803}, []float64{1204.5, 1011, 1320.75}, wantTest{1.461139629, 0.03892495355, 1.04792811, 2.037285761, 1.164565031, 1.833241562}},
	} {
		a, b := valueSides(t, c.base, c.head)
		got := welch(a, b, 0.05)
		c.want.check(t, c.name, got)
		// The other way round the ratio and its interval are the reciprocals.
		back := welch(b, a, 0.05)
		wantTest{1 / c.want.ratio, c.want.p, 1 / c.want.hi, 1 / c.want.lo, 1 / c.want.hi90, 1 / c.want.lo90}.check(t, c.name+", back", back)
	}
}

// α sets the one interval and leaves the 90 % one of the equivalence test as it
// is. SciPy 1.10.1, interval as above: interval(d, *v, .99) of 5 and 5.
func TestWelchAlpha(t *testing.T) {
	a, b := valueSides(t, []float64{100, 102, 99, 101, 100.5}, []float64{90, 91, 89.5, 90.7, 92})
	wantTest{0.9018947314, 3.881376361e-07, 0.8813330366, 0.9229361351, 0.8904454346, 0.9134912426}.check(t, "99 %", welch(a, b, 0.01))
}

// The figures are from SciPy 1.10.1, interval as above:
//
//	def summary(m1, s1, n1, m2, s2, n2):
//	    c1, c2 = s1/m1, s2/m2
//	    p = stats.ttest_ind_from_stats(log(m2), c2, n2, log(m1), c1, n1, equal_var=False).pvalue
//	    d = log(m2/m1); v = c1*c1/n1, n1 - 1, c2*c2/n2, n2 - 1
//	    return [m2/m1, p, *interval(d, *v, .95), *interval(d, *v, .90)]
//
// 39.33 ± 0.00 is a spread below half a printed unit: SciPy is given 0.005.
func TestWelchOfSummaries(t *testing.T) {
	type summary struct{ mean, std, n, halfUnit float64 }
	for _, c := range []struct {
		name       string
		base, head summary
		want       wantTest
	}{
		{"seed 001", summary{878.31, 4.11, 5, 0.005}, summary{972.75, 6.99, 5, 0.005}, wantTest{1.107524678, 3.412024632e-08, 1.097490215, 1.117650887, 1.099485228, 1.115622913}},
		{"± 0.00", summary{39.33, 0, 5, 0.005}, summary{39.23, 0.06, 5, 0.005}, wantTest{0.9974574116, 0.02017090073, 0.9955686189, 0.9993497878, 0.9960047029, 0.9989122392}},
		{"both ± 0.00, equal", summary{39.33, 0, 5, 0.005}, summary{39.33, 0, 5, 0.005}, wantTest{1, 1, 0.9998146059, 1.000185428, 0.9998504966, 1.000149526}},
		{"3 and 10", summary{25.5, 0.3, 3, 0}, summary{25.1, 0.45, 10, 0}, wantTest{0.9843137255, 0.1317584492, 0.9624270034, 1.006698177, 0.9670639945, 1.001871144}},
		{"2 and 2", summary{100, 1, 2, 0}, summary{103, 1, 2, 0}, wantTest{1.03, 0.09560834695, 0.9872013498, 1.074654122, 1.000764192, 1.060089887}},
		{"equal means", summary{12.5, 2, 4, 0}, summary{12.5, 1, 4, 0}, wantTest{1, 1, 0.7870577256, 1.270554837, 0.8305410163, 1.204034455}},
	} {
		a, ok := sideOfSummary(c.base.mean, c.base.std, c.base.n, c.base.halfUnit)
		b, ok2 := sideOfSummary(c.head.mean, c.head.std, c.head.n, c.head.halfUnit)
		if !ok || !ok2 {
			t.Errorf("%s: no test", c.name)
			continue
		}
		got := welch(a, b, 0.05)
		c.want.check(t, c.name, got)
		if !math.IsNaN(got.rankP) {
			t.Errorf("%s: a rank test without values, p %v", c.name, got.rankP)
		}
	}
}

func TestWelchWithoutSpread(t *testing.T) {
	// Equal values: nothing can be less of a difference.
	a, b := valueSides(t, []float64{50, 50, 50}, []float64{50, 50, 50})
	wantTest{1, 1, 1, 1, 1, 1}.check(t, "all equal", welch(a, b, 0.05))
	// The same values in another order differ by nothing either.
	a, b = valueSides(t, []float64{50, 51, 52}, []float64{52, 50, 51})
	if got := welch(a, b, 0.05); !agrees(got.p, 1) || !agrees(got.ratio, 1) {
		t.Errorf("the same values: p %v and ratio %v, want 1 and 1", got.p, got.ratio)
	}
	// Values without any spread and of full precision: the difference is certain,
	// its interval a point.
	a, b = valueSides(t, []float64{50, 50, 50}, []float64{40, 40, 40})
	wantTest{0.8, 0, 0.8, 0.8, 0.8, 0.8}.check(t, "no spread", welch(a, b, 0.05))
	// One side without spread: Welch's degrees of freedom are those of the other,
	// as in SciPy: stats.ttest_ind(np.log([40,41,42]), np.log([50,50,50]),
	// equal_var=False).pvalue.
	a, b = valueSides(t, []float64{50, 50, 50}, []float64{40, 41, 42})
	if got := welch(a, b, 0.05); !agrees(got.p, 0.004989658636) {
		t.Errorf("one side without spread: p %.10g, want 0.004989658636", got.p)
	}
}

// A rate printed as 0.05 three times may be 0.045 to 0.055 each time. SciPy
// 1.10.1: summary(.05, .005, 3, .06, .005, 3), as above.
func TestFloorOfSpread(t *testing.T) {
	a, _ := sideOfValues([]float64{0.05, 0.05, 0.05}, 0.005)
	b, _ := sideOfValues([]float64{0.06, 0.06, 0.06}, 0.005)
	wantTest{1.2, 0.07436766664, 0.9713744372, 1.482435552, 1.020809235, 1.410645546}.check(t, "0.05 and 0.06", welch(a, b, 0.05))
	// A spread above the floor stays.
	a, _ = sideOfValues([]float64{100, 102, 99}, 0.005)
	if b, _ := sideOfValues([]float64{100, 102, 99}, 0); a.variance != b.variance || a.spread != b.spread {
		t.Errorf("the floor changes a spread of %v to %v", b.spread, a.spread)
	}
}

func TestNoSide(t *testing.T) {
	for _, values := range [][]float64{{0, 1, 2}, {1, -1, 2}, {3, 2, 0}} {
		if _, ok := sideOfValues(values, 0); ok {
			t.Errorf("%v have no logarithms", values)
		}
	}
	for _, c := range [][3]float64{{0, 1, 5}, {-3, 1, 5}, {10, 1, 1}, {10, 1, 0}} {
		if _, ok := sideOfSummary(c[0], c[1], c[2], 0); ok {
			t.Errorf("%v ± %v of %v is tested", c[0], c[1], c[2])
		}
	}
	for _, x := range []float64{0, -1} {
		if _, ok := sideOfNoise(x, 0.03, 1); ok {
			t.Errorf("%v has no logarithm", x)
		}
	}
}

// Without ties the figures are those of SciPy 1.10.1:
//
//	stats.mannwhitneyu(a, b, method='exact').pvalue
//
// With ties SciPy has no exact distribution; they are counted out over all ways
// to part the values, U with ties as ½:
//
//	def U(a, b): return sum((x > y) + .5*(x == y) for x in a for y in b)
//	def exact(a, b):
//	    z = a + b; n = len(a); m = n*len(b)/2; d = abs(U(a, b) - m); k = t = 0
//	    for c in itertools.combinations(range(len(z)), n):
//	        u = U([z[i] for i in c], [z[i] for i in range(len(z)) if i not in c])
//	        t += 1; k += abs(u - m) >= d
//	    return k / t
func TestRankTest(t *testing.T) {
	for _, c := range []struct {
		base, head []float64
		want       float64
	}{
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 2. / 70},
		{[]float64{1, 2, 3, 5}, []float64{4, 6, 7, 8}, 4. / 70},
		{[]float64{1, 4, 5, 8}, []float64{2, 3, 6, 7}, 1},
		{[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2. / 252},
		{[]float64{1, 2, 3, 4, 7}, []float64{5, 6, 8, 9, 10}, 8. / 252},
		{[]float64{1, 2, 3, 5, 7}, []float64{4, 6, 8, 9, 10}, 14. / 252},
		{[]float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}, 2. / 924},
		{[]float64{1, 2, 3, 4, 9, 10}, []float64{5, 6, 7, 8, 11, 12}, 122. / 924},
		{[]float64{1, 3, 5, 7, 9, 11}, []float64{2, 4, 6, 8, 10}, 1},
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8, 9, 10}, 2. / 210},

		{[]float64{1, 2, 2, 3}, []float64{3, 4, 5, 5}, 4. / 70},
		{[]float64{1, 1, 2, 2}, []float64{2, 3, 3, 3}, 6. / 70},
		{[]float64{1, 1, 1, 1, 2}, []float64{2, 2, 2, 2, 3}, 10. / 252},
		{[]float64{1, 2, 2, 3, 3}, []float64{2, 3, 4, 4, 5}, 28. / 252},
		{[]float64{5, 5, 5, 5, 5}, []float64{5, 5, 5, 5, 6}, 1},
		{[]float64{1, 2, 2, 3, 4, 4}, []float64{3, 4, 5, 5, 6, 7}, 22. / 924},
		{[]float64{7, 7, 7, 7}, []float64{7, 7, 7, 7}, 1},
	} {
		a, b := valueSides(t, c.base, c.head)
		for _, got := range []float64{welch(a, b, 0.05).rankP, welch(b, a, 0.05).rankP} {
			if !agrees(got, c.want) {
				t.Errorf("%v and %v: p %.10g, want %.10g", c.base, c.head, got, c.want)
			}
		}
	}
	// With three a side no order of the values is rarer than 2 in 20.
	for _, n := range [][2]int{{3, 3}, {3, 8}, {8, 3}} {
		all := []float64{1, 2, 3, 4, 5, 6, 7, 8}
		a, b := valueSides(t, all[:n[0]], all[:n[1]])
		if got := welch(a, b, 0.05).rankP; !math.IsNaN(got) {
			t.Errorf("%d and %d values: p %v, want no rank test", n[0], n[1], got)
		}
	}
}

// Where values tie and the sides are of unlike size U has no symmetric
// distribution. Two definitions of a two-sided p are in use: all that is as far
// from the middle, counted out as above, or twice the tail. Either will do; what
// it must not depend on is which side is the baseline.
func TestRankTestUnequalTies(t *testing.T) {
	for _, c := range []struct {
		base, head []float64
		want       [2]float64
	}{
		{[]float64{1, 1, 2, 3}, []float64{2, 3, 3, 4, 4, 5}, [2]float64{10. / 210, 14. / 210}},
		{[]float64{4, 4, 5, 5, 5, 6}, []float64{1, 2, 4, 4}, [2]float64{7. / 210, 12. / 210}},
	} {
		a, b := valueSides(t, c.base, c.head)
		there, back := welch(a, b, 0.05).rankP, welch(b, a, 0.05).rankP
		if there != back || !agrees(there, c.want[0]) && !agrees(there, c.want[1]) {
			t.Errorf("%v and %v: p %.4g, exchanged %.4g; want %.4g or %.4g for both", c.base, c.head, there, back, c.want[0], c.want[1])
		}
	}
}

// The figures are those of a library, whose answers do not depend on what was
// asked before.
func TestRankTestAsLibrary(t *testing.T) {
	library := func(x, y []float64) float64 {
		a := benchmath.NewSample(slices.Clone(x), &benchmath.DefaultThresholds)
		b := benchmath.NewSample(slices.Clone(y), &benchmath.DefaultThresholds)
		return benchmath.AssumeNothing.Compare(a, b).P
	}
	const seed = 20240607
	r := rand.New(rand.NewPCG(seed, 1))
	for _, size := range [...]int{minRank, 5, 10, 17, maxTied, maxTied + 1} {
		for _, values := range [...]int{2, 3, size, 4 * size, 40 * size} {
			for range 4 {
				x, y := make([]float64, size), make([]float64, size)
				for i := range x {
					x[i], y[i] = float64(1+r.IntN(values)), float64(1+r.IntN(values)+values/4)
				}
				if got, want := rankTest(x, y), library(x, y); !agrees(got, want) {
					t.Errorf("%v and %v: p %.10g, want %.10g", x, y, got, want)
				}
			}
		}
	}
	for _, size := range [][2]int{{4, 4}, {4, 6}, {9, 5}, {10, 10}, {25, 26}, {maxRanked, 30}, {12, maxRanked}, {maxRanked + 1, 8}} {
		for range 20 {
			x, y, more := make([]float64, size[0]), make([]float64, size[1]), 0.5+float64(r.IntN(20))
			for i, value := range r.Perm(len(x) + len(y)) {
				if i < len(x) {
					x[i] = float64(value)
				} else {
					y[i-len(x)] = float64(value) + more
				}
			}
			if got, want := rankTest(x, y), library(x, y); !agrees(got, want) {
				t.Errorf("%v and %v: p %.10g, want %.10g", x, y, got, want)
			}
		}
	}
	// Both have the same U, and equal values inside one side change its distribution.
	tied, plain := []float64{1, 1, 2, 2, 6}, []float64{1, 1.5, 2, 2.5, 6}
	head := []float64{3, 4, 5, 7, 8}
	for range 2 {
		for _, x := range [][]float64{tied, plain} {
			if got, want := rankTest(x, head), library(x, head); !agrees(got, want) {
				t.Errorf("%v and %v: p %.10g, want %.10g", x, head, got, want)
			}
		}
	}
}

// A known noise is no estimate: the normal distribution, not Student's. SciPy
// 1.10.1, for x to y under a noise s of one run, nx and ny runs:
//
//	se = sqrt(s*s/nx + s*s/ny); d = log(y/x)
//	2*stats.norm.sf(abs(d)/se), [exp(d + k*stats.norm.ppf(q)*se) for q in (.975, .95) for k in (-1, 1)]
func TestDeclaredNoise(t *testing.T) {
	for _, c := range []struct {
		base, head, noise float64
		n                 [2]float64
		want              wantTest
	}{
		{100, 95, 0.02, [2]float64{1, 1}, wantTest{0.95, 0.06975599996, 0.8987688044, 1.004151452, 0.9068150347, 0.9952415492}},
		{100, 108, 0.03, [2]float64{1, 1}, wantTest{1.08, 0.06967939839, 0.9938259499, 1.17364615, 1.00720162, 1.158060092}},
		{100, 93, 0.03, [2]float64{3, 1}, wantTest{0.93, 0.03617673082, 0.8689533506, 0.9953353646, 0.8784905803, 0.9845296232}},
	} {
		a, _ := sideOfNoise(c.base, c.noise, int(c.n[0]))
		b, _ := sideOfNoise(c.head, c.noise, int(c.n[1]))
		c.want.check(t, fmt.Sprintf("%v to %v", c.base, c.head), welch(a, b, 0.05))
	}
}

// The difference of two accuracies over their standard errors; z is 0.0736 in
// the first. SciPy 1.10.1:
//
//	se = hypot(sa, sb); d = b - a
//	2*stats.norm.sf(abs(d)/se), [1 + (d + k*stats.norm.ppf(q)*se)/a for q in (.975, .95) for k in (-1, 1)]
func TestScores(t *testing.T) {
	for _, c := range []struct {
		base, head [2]float64
		want       wantTest
	}{
		{[2]float64{0.8466, 0.0135}, [2]float64{0.848, 0.0134}, wantTest{0.848 / 0.8466, 0.9413273309, 0.9576174457, 1.045689901, 0.9646973061, 1.038610041}},
		{[2]float64{0.8, 0.01}, [2]float64{0.828, 0.01}, wantTest{1.035, 0.04771488024, 1.000352404, 1.069647596, 1.005922821, 1.064077179}},
		{[2]float64{0.8, 0.01}, [2]float64{0.76, 0.01}, wantTest{0.95, 0.004677734981, 0.9153524044, 0.9846475956, 0.9209228212, 0.9790771788}},
		{[2]float64{0.8, 0}, [2]float64{0.8, 0}, wantTest{1, 1, 1, 1, 1, 1}},
		{[2]float64{0.8, 0}, [2]float64{0.6, 0}, wantTest{0.75, 0, 0.75, 0.75, 0.75, 0.75}},
	} {
		got := scores(bench.Metric{Value: c.base[0], Std: c.base[1], HasStd: true}, bench.Metric{Value: c.head[0], Std: c.head[1], HasStd: true}, 0.05)
		c.want.check(t, fmt.Sprintf("%v to %v", c.base, c.head), got)
		if !math.IsNaN(got.rankP) {
			t.Errorf("%v to %v: a rank test of one value", c.base, c.head)
		}
	}
}

// The definitions, in Python:
//
//	def holm(p):
//	    o = sorted(range(len(p)), key=lambda i: p[i]); r = [0]*len(p)
//	    for k, i in enumerate(o): r[i] = max(min(1, (len(p)-j)*p[o[j]]) for j in range(k+1))
//	    return r
//	def bh(p):
//	    o = sorted(range(len(p)), key=lambda i: p[i]); r = [0]*len(p)
//	    for k, i in enumerate(o): r[i] = min(min(1, len(p)*p[o[j]]/(j+1)) for j in range(k, len(p)))
//	    return r
//
// By hand for 0.005, 0.01, 0.03, 0.04: Holm 4·0.005, 3·0.01, 2·0.03, and 0.06
// again, as 1·0.04 is below it; Benjamini–Hochberg from the last, 0.04, then 0.04
// again, as 4·0.03/3 is 0.04, then 4·0.01/2, and 4·0.005/1, both 0.02.
func TestAdjusted(t *testing.T) {
	for _, c := range []struct{ p, holm, bh []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}, []float64{0.02, 0.04, 0.04, 0.02}},
		{[]float64{0.02, 0.02, 0.02}, []float64{0.06, 0.06, 0.06}, []float64{0.02, 0.02, 0.02}},
		{[]float64{0.9, 0.001, 0.8, 0.001, 0.04}, []float64{1, 0.005, 1, 0.005, 0.12}, []float64{0.9, 0.0025, 0.9, 0.0025, 0.2 / 3}},
		{[]float64{0.011, 0.02, 0.0205, 0.021}, []float64{0.044, 0.06, 0.06, 0.06}, []float64{0.021, 0.021, 0.021, 0.021}},
		{[]float64{0.6, 0.7, 1}, []float64{1, 1, 1}, []float64{1, 1, 1}},
		{[]float64{0.04}, []float64{0.04}, []float64{0.04}},
		{nil, nil, nil},
	} {
		before := slices.Clone(c.p)
		gotHolm, gotBH := holm(c.p), benjaminiHochberg(c.p)
		if !slices.EqualFunc(gotHolm, c.holm, agrees) {
			t.Errorf("Holm of %v is %v, want %v", c.p, gotHolm, c.holm)
		}
		if !slices.EqualFunc(gotBH, c.bh, agrees) {
			t.Errorf("Benjamini–Hochberg of %v is %v, want %v", c.p, gotBH, c.bh)
		}
		if !slices.Equal(c.p, before) {
			t.Errorf("%v became %v", before, c.p)
		}
		// A smaller p never becomes the larger one, and none becomes smaller.
		for i := range c.p {
			if gotHolm[i] < gotBH[i]-1e-12 || gotBH[i] < c.p[i]-1e-12 || gotHolm[i] > 1 {
				t.Errorf("%v: Holm %v, Benjamini–Hochberg %v", c.p[i], gotHolm[i], gotBH[i])
			}
			for k := range c.p {
				if c.p[i] < c.p[k] && (gotHolm[i] > gotHolm[k] || gotBH[i] > gotBH[k]) || c.p[i] == c.p[k] && (gotHolm[i] != gotHolm[k] || gotBH[i] != gotBH[k]) {
					t.Errorf("%v and %v change their order in %v and %v", c.p[i], c.p[k], gotHolm, gotBH)
				}
			}
		}
	}
}

func TestRunsNeeded(t *testing.T) {
	for _, c := range []struct {
		spread, delta float64
		want          int
	}{
		{0.02, 0.02, 17},     // 15.7·1 = 15.7, 16 + 1
		{0.03, 0.02, 37},     // 15.7·2.25 = 35.325, 36 + 1
		{0.01, 0.05, 2},      // 15.7·0.04 = 0.628, 1 + 1
		{0.05, 0.02, 100},    // 15.7·6.25 = 98.125, 99 + 1
		{0.02, 0.10, 2},      // 15.7·0.04
		{0.03, 0, 0},         // any change matters
		{0, 0.02, 0},         // no spread
		{0.03, 0.0000001, 0}, // 1.4·10¹²: no number to tell anybody
	} {
		if got := runsNeeded(c.spread, c.delta); got != c.want {
			t.Errorf("spread %v, change %v: %d runs, want %d", c.spread, c.delta, got, c.want)
		}
	}
}

// The contract: throughput 2 %, mean and median latency 5 %, tail latency 10 %.
func TestDefaultThreshold(t *testing.T) {
	for want, metrics := range map[float64]string{
		0.02: "output_throughput request_throughput total_token_throughput input_throughput request_goodput avg_ts duration generation_throughput draft_acceptance_rate",
		0.05: "mean_ttft_ms median_ttft_ms mean_tpot_ms median_itl_ms mean_e2el_ms p50_e2el_ms avg_latency p50_latency",
		0.10: "p90_ttft_ms p95_e2el_ms p99_tpot_ms p99.9_itl_ms max_ttft_ms p90_latency p95_latency p99_latency",
		0.01: "accuracy acc_norm f1",
	} {
		for m := range strings.FieldsSeq(metrics) {
			if got := defaultThreshold(m); got != want {
				t.Errorf("%s: %v, want %v", m, got, want)
			}
		}
	}
	// What a user says goes before, and for one metric before that for all.
	o := Options{Thresholds: map[string]float64{"": 0.04, "mean_ttft_ms": 0.2}}
	for m, want := range map[string]float64{"output_throughput": 0.04, "p99_ttft_ms": 0.04, "mean_ttft_ms": 0.2} {
		if got := o.threshold(m); got != want {
			t.Errorf("%s: %v, want %v", m, got, want)
		}
	}
}

// These are means and tails of latencies too.
func TestDefaultThresholdWanted(t *testing.T) {
	for m, want := range map[string]float64{
		"avg_latency_per_token": 0.05, "avg_latency_per_output_token": 0.05, "overall_latency_per_token_ms": 0.05, "latency_per_char_ms": 0.05, "p99.9_latency": 0.10,
	} {
		if got := defaultThreshold(m); got != want {
			t.Errorf("%s: %v, want %v", m, got, want)
		}
	}
}

// repeats makes a run for each value of a metric, as logged with two decimals.
func repeats(input, metric string, values ...float64) []*bench.Run {
	var runs []*bench.Run
	for i, x := range values {
		r := newRun("vllm-serve", input, "concurrency=16", fmt.Sprintf("%s=%.2f", metric, x))
		r.ID = fmt.Sprintf("%s-%d", input, i)
		r.Source.Line = 1 + 40*i
		runs = append(runs, r)
	}
	return runs
}

// compareRepeats compares two sets of runs in one metric.
func compareRepeats(t *testing.T, metric string, base, head []float64, o Options) Comparison {
	t.Helper()
	o.Metrics = []string{metric}
	rep := report(t, append(repeats("base", metric, base...), repeats("head", metric, head...)...), o)
	if len(rep.Comparisons) != 1 {
		t.Fatalf("%d comparisons, want 1", len(rep.Comparisons))
	}
	return rep.Comparisons[0]
}

var (
	steady  = []float64{100, 100.1, 99.9, 100.05, 99.95}
	normal  = []float64{100, 102, 99, 101, 100.5}
	slower  = []float64{90, 91, 89.5, 90.7, 92}
	five    = []float64{98, 99, 100, 101, 102}
	slowest = []float64{110, 112, 109, 111, 110.5}
)

// p and runs needed are from SciPy 1.10.1: welch(base, head) as above, and
//
//	sp = sqrt((np.log(base).var(ddof=1) + np.log(head).var(ddof=1))/2)
//	ceil(15.7*(sp/.02)**2) + 1
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name       string
		metric     string // "" for output_throughput
		base, head []float64
		options    Options
		verdict    string
		winner     string
		runs       int
		small      bool
		reason     string
		p          float64 // 0 where it does not matter
	}{
		{name: "10 % less", base: normal, head: slower, verdict: Regressed, winner: "base", p: 3.881376361e-07},
		{name: "11 % more", base: slower, head: normal, verdict: Improved, winner: "head", p: 3.881376361e-07},
		{name: "equal and quiet", base: []float64{100, 100.2, 99.9, 100.1, 99.8}, head: []float64{100.1, 99.9, 100, 100.2, 99.9}, verdict: Unchanged, p: 0.8326439},
		{name: "the same figures", base: steady, head: steady, verdict: Unchanged, p: 1},
		{name: "one figure", base: []float64{100, 100, 100}, head: []float64{100, 100, 100}, verdict: Unchanged, p: 1},
		// 90 % [−1.8, +1.9], 95 % [−2.3, +2.3]: the 90 % interval decides. A percent to
		// either side it ends beyond the 2 %.
		{name: "just quiet enough", base: five, head: five, verdict: Unchanged, p: 1},
		{name: "not quite, down", base: five, head: []float64{97, 98, 99, 100, 101}, verdict: Inconclusive, runs: 11},
		{name: "not quite, up", base: five, head: []float64{99, 100, 101, 102, 103}, verdict: Inconclusive, runs: 11},
		{name: "noisy", base: []float64{100, 110, 90}, head: []float64{95, 105, 92}, verdict: Inconclusive, runs: 293, p: 0.73956858},
		// Two runs a side are few, but a change is a change.
		{name: "two runs", base: []float64{100, 102}, head: []float64{92, 93}, verdict: Regressed, winner: "base", p: 0.03173724344},
		{name: "two runs, not enough", base: []float64{100, 104}, head: []float64{92, 95}, verdict: Inconclusive, runs: 27, p: 0.07960992},

		// +1 %, 95 % [+0.88, +1.12]
		{name: "small", base: steady, head: []float64{101, 101.1, 100.9, 101.05, 100.95}, verdict: Unchanged, small: true, p: 4.0797881e-08},
		{name: "small loss", base: []float64{101, 101.1, 100.9, 101.05, 100.95}, head: steady, verdict: Unchanged, small: true, p: 4.0797881e-08},
		// +1.8 %, 90 % [+1.33, +2.27]: it may be more than 2 %.
		{name: "small, or not", base: []float64{100, 100.5, 99.5, 100.25, 99.75}, head: []float64{101.8, 102.3, 101.3, 102.05, 101.55}, verdict: Inconclusive, small: true, runs: 6, reason: "smaller than the 2 % that matter", p: 9.2655127e-05},
		{name: "1 % that matters", base: []float64{101, 101.1, 100.9, 101.05, 100.95}, head: steady, options: Options{Thresholds: map[string]float64{"": 0.005}}, verdict: Regressed, winner: "base"},
		{name: "10 % that do not matter", base: normal, head: slower, options: Options{Thresholds: map[string]float64{"output_throughput": 0.2}}, verdict: Unchanged, small: true},

		// Lower is better.
		{name: "TTFT up", metric: "mean_ttft_ms", base: normal, head: slowest, verdict: Regressed, winner: "base", p: 6.7546638e-07},
		{name: "TTFT down", metric: "mean_ttft_ms", base: slowest, head: normal, verdict: Improved, winner: "head", p: 6.7546638e-07},
		{name: "duration down", metric: "duration", base: normal, head: slower, verdict: Improved, winner: "head"},
		// 8 % are above the 5 % of a median and below the 10 % of a tail.
		{name: "median up 8 %", metric: "median_tpot_ms", base: steady, head: []float64{108, 108.1, 107.9, 108.05, 107.95}, verdict: Regressed, winner: "base"},
		{name: "P99 up 8 %", metric: "p99_tpot_ms", base: steady, head: []float64{108, 108.1, 107.9, 108.05, 107.95}, verdict: Unchanged, small: true},

		// Four of five are 10 % faster, one is slower than all: chance mixes so in 38
		// of 252 ways.
		{name: "one outlier", base: steady, head: []float64{110, 110.1, 109.9, 110.05, 99}, verdict: Inconclusive, runs: 45, reason: "Welch's test says so, the rank test does not (p = 0.15)", p: 0.024367582},
		// 99.5 lies among the others: 4 of 70 ways.
		{name: "an overlap", base: []float64{100, 102, 99, 101}, head: []float64{98, 97, 99.5, 96}, verdict: Inconclusive, runs: 9, reason: "Welch's test says so, the rank test does not (p = 0.057)", p: 0.02784446024},
		// One wild value hides the rest from Welch's test.
		{name: "one wild value", base: steady, head: []float64{90, 90.1, 89.9, 90.05, 40}, verdict: Inconclusive, runs: 2584, p: 0.17456329,
			reason: "the rank test sees a change (p = 0.0079), Welch's does not"},
		// p = 0.0317 is none at 1 %.
		{name: "strict", base: []float64{100, 102}, head: []float64{92, 93}, options: Options{Alpha: 0.01}, verdict: Inconclusive, runs: 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			metric := c.metric
			if metric == "" {
				metric = "output_throughput"
			}
			got := compareRepeats(t, metric, c.base, c.head, c.options)
			if got.Verdict != c.verdict || got.Winner != c.winner || got.Small != c.small || got.Reason != c.reason {
				t.Errorf("%s, winner %q, small %v, reason %q; want %s, %q, %v, %q", got.Verdict, got.Winner, got.Small, got.Reason, c.verdict, c.winner, c.small, c.reason)
			}
			if got.RunsNeeded != c.runs {
				t.Errorf("%d runs needed, want %d", got.RunsNeeded, c.runs)
			}
			if !got.Tested || got.Evidence != EvidenceRepeats || got.N != [2]int{len(c.base), len(c.head)} || got.Base != "base" || got.Head != "head" {
				t.Errorf("%+v, want repeats of base and head", got)
			}
			if c.p != 0 && !agrees(got.P, c.p) || got.PAdjusted != got.P {
				t.Errorf("p %.8g, adjusted %.8g; want %.8g for both", got.P, got.PAdjusted, c.p)
			}
		})
	}
}

// The change and its interval are those of the ratio of geometric means: 0.9019
// [0.8877, 0.9163] in the second table.
func TestChangeInPercent(t *testing.T) {
	got := compareRepeats(t, "output_throughput", normal, slower, Options{})
	if !agrees(got.DeltaPct, -9.81052686) || !agrees(got.CIPct[0], -11.22832386) || !agrees(got.CIPct[1], -8.37008583) {
		t.Errorf("%v %v, want −9.81 [−11.23, −8.37]", got.DeltaPct, got.CIPct)
	}
	// −9.81 % back is +10.88 %: 1 ÷ 0.9018947314.
	if got := compareRepeats(t, "output_throughput", slower, normal, Options{}); !agrees(got.DeltaPct, 100*(1/0.9018947314-1)) {
		t.Errorf("%v, want %v", got.DeltaPct, 100*(1/0.9018947314-1))
	}
}

// A disagreement is told whichever of the tests sees a change: the wild value
// hides from Welch's test what the rank test sees (p = 2/252).
func TestRankTestAlone(t *testing.T) {
	if got := compareRepeats(t, "output_throughput", steady, []float64{90, 90.1, 89.9, 90.05, 40}, Options{}); !strings.Contains(got.Reason, "rank test") {
		t.Errorf("reason %q, want one that names the rank test", got.Reason)
	}
}

// With four values a side the rank test has no p below 2/70 = 0.029; at α = 0.01
// it cannot speak, so it must not have a veto.
func TestRankTestCannotSpeak(t *testing.T) {
	for _, n := range []int{3, 4, 5} {
		base, head := []float64{100, 100.1, 99.9, 100.05, 99.95}, []float64{70, 70.1, 69.9, 70.05, 69.95}
		if got := compareRepeats(t, "output_throughput", base[:n], head[:n], Options{Alpha: 0.01}); got.Verdict != Regressed {
			t.Errorf("30 %% less in %d runs: %s (%s), want regressed", n, got.Verdict, got.Reason)
		}
	}
}

// One run each is no evidence.
func TestSingleRuns(t *testing.T) {
	for _, head := range []float64{50, 100, 200} {
		got := compareRepeats(t, "output_throughput", []float64{100}, []float64{head}, Options{})
		if got.Tested || got.Verdict != Inconclusive || got.Evidence != EvidenceSingle || got.Winner != "" || got.Reason != "one run each" || got.RunsNeeded != 0 || !agrees(got.DeltaPct, head-100) {
			t.Errorf("100 to %v: %+v, want a change without test", head, got)
		}
	}
	got := compareRepeats(t, "output_throughput", []float64{100, 101, 99}, []float64{50}, Options{})
	if got.Tested || got.Verdict != Inconclusive || got.Evidence != EvidenceSingle || got.Reason != "one run on one side" || got.N != [2]int{3, 1} {
		t.Errorf("%+v, want no test", got)
	}
}

// Under a declared noise single runs are tested by it. By hand: the standard
// error is √2·3 % = 4.243 %; ln 0.88 = −12.78 %, z = 3.01; ln 0.98 = −2.02 %,
// z = 0.48; with 0.5 % it is 0.707 %, ±1.645 of it ±1.16 %.
func TestNoise(t *testing.T) {
	for _, c := range []struct {
		name       string
		metric     string
		base, head []float64
		noise      float64
		verdict    string
		winner     string
		runs       int
		p          float64
	}{
		{"12 % less", "output_throughput", []float64{100}, []float64{88}, 0.03, Regressed, "base", 0, 0.002586265327},
		{"14 % more", "output_throughput", []float64{88}, []float64{100}, 0.03, Improved, "head", 0, 0.002586265327},
		{"TTFT up 14 %", "mean_ttft_ms", []float64{88}, []float64{100}, 0.03, Regressed, "base", 0, 0.002586265327},
		{"2 % less", "output_throughput", []float64{100}, []float64{98}, 0.03, Inconclusive, "", 37, 0.6339444527},
		{"equal and quiet", "output_throughput", []float64{100}, []float64{100}, 0.005, Unchanged, "", 0, 1},
		{"equal", "output_throughput", []float64{100}, []float64{100}, 0.03, Inconclusive, "", 37, 1},
		// TestDeclaredNoise has the p of three runs against one.
		{"three against one", "output_throughput", []float64{100, 100, 100}, []float64{93}, 0.03, Regressed, "base", 0, 0.03617673082},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := compareRepeats(t, c.metric, c.base, c.head, Options{Noise: c.noise})
			if got.Verdict != c.verdict || got.Winner != c.winner || got.RunsNeeded != c.runs || got.Evidence != EvidenceDeclared || !got.Tested || got.Reason != "" {
				t.Errorf("%+v, want %s, winner %q, %d runs", got, c.verdict, c.winner, c.runs)
			}
			if math.Abs(got.P-c.p) > 1e-6*c.p {
				t.Errorf("p %.8g, want %.8g", got.P, c.p)
			}
		})
	}
	// Repeats show their own noise: a declared one does not change it.
	if got := compareRepeats(t, "output_throughput", normal, slower, Options{Noise: 0.2}); got.Evidence != EvidenceRepeats || !agrees(got.P, 3.881376361e-07) {
		t.Errorf("%s, p %v; want repeats, 3.88e-07", got.Evidence, got.P)
	}
}

// The noise is that of one run, however many there are: 15.7·(3/2)² = 35.3 for
// any number of them.
func TestNoiseRunsNeeded(t *testing.T) {
	if got := compareRepeats(t, "output_throughput", []float64{100, 100, 100}, []float64{99}, Options{Noise: 0.03}); got.RunsNeeded != 37 {
		t.Errorf("%d runs needed, want 37", got.RunsNeeded)
	}
}

// Where the number of runs cannot be told it is 0, as Comparison says.
func TestRunsNeededCannotBeTold(t *testing.T) {
	for _, threshold := range []float64{0, 1e-5} {
		got := compareRepeats(t, "output_throughput", []float64{100, 110, 90}, []float64{95, 105, 92}, Options{Thresholds: map[string]float64{"": threshold}})
		if got.Verdict != Inconclusive || got.RunsNeeded != 0 {
			t.Errorf("threshold %v: %s, %d runs needed; want inconclusive, 0", threshold, got.Verdict, got.RunsNeeded)
		}
	}
}

// A value that has no logarithm prevents the test, and the reason is not the
// number of runs.
func TestNoTestOfZero(t *testing.T) {
	values := func(input string, failed ...int) []*bench.Run {
		var runs []*bench.Run
		for _, n := range failed {
			runs = append(runs, newRun("vllm-serve", input, "", fmt.Sprintf("failed=%d", n)))
		}
		return runs
	}
	c := report(t, append(values("base", 1, 0, 2), values("head", 3, 4, 5)...), Options{Metrics: []string{"failed"}}).Comparisons[0]
	if c.Tested || c.Verdict != Inconclusive || c.Winner != "" || c.N != [2]int{3, 3} {
		t.Errorf("%+v, want no test", c)
	}
	t.Run("reason", func(t *testing.T) {
		if strings.Contains(c.Reason, "one run") {
			t.Errorf("reason %q of three runs each", c.Reason)
		}
	})
}

// A zero that stands for a missing figure leaves the other repeats.
func TestMissingValue(t *testing.T) {
	runs := func(input string, values ...string) []*bench.Run {
		var out []*bench.Run
		for _, x := range values {
			out = append(out, newRun("vllm-serve", input, "", "completed=64 attempted=64 mean_tpot_ms="+x))
		}
		return out
	}
	all := append(runs("base", "100.00", "102.00", "0.00", "99.00"), runs("head", "92.00", "93.00", "90.00")...)
	c := report(t, all, Options{Metrics: []string{"mean_tpot_ms"}}).Comparisons[0]
	if c.N != [2]int{3, 3} || !agrees(c.P, 0.002352206219) || c.Verdict != Improved {
		t.Errorf("%+v, want the test of 3 and 3", c)
	}
	// One left is a single run.
	all = append(runs("base", "100.00", "0.00"), runs("head", "92.00", "93.00", "90.00")...)
	c = report(t, all, Options{Metrics: []string{"mean_tpot_ms"}}).Comparisons[0]
	if c.N != [2]int{1, 3} || c.Tested {
		t.Errorf("%+v, want no test of 1 and 3", c)
	}
}

// Two metrics with p = 0.0317 each: both are changes in a table (2·0.0317/2), in
// a gate none is (2·0.0317).
func TestAdjustment(t *testing.T) {
	var runs []*bench.Run
	for _, x := range []struct {
		input string
		value float64
	}{{"base", 100}, {"base", 102}, {"head", 92}, {"head", 93}} {
		runs = append(runs, newRun("vllm-serve", x.input, "", fmt.Sprintf("output_throughput=%.2f request_throughput=%.2f", x.value, x.value)))
	}
	for _, c := range []struct {
		holm    bool
		want    float64
		verdict string
	}{{false, 0.03173724344, Regressed}, {true, 0.06347448688, Inconclusive}} {
		rep := report(t, runs, Options{Holm: c.holm})
		if len(rep.Comparisons) != 2 {
			t.Fatalf("%d comparisons, want 2", len(rep.Comparisons))
		}
		for _, got := range rep.Comparisons {
			if got.Verdict != c.verdict || !agrees(got.PAdjusted, c.want) || !agrees(got.P, 0.03173724344) {
				t.Errorf("Holm %v: %s is %s, p %v, adjusted %v; want %s, %v", c.holm, got.Metric, got.Verdict, got.P, got.PAdjusted, c.verdict, c.want)
			}
		}
	}
}

// sampled gives a llama-bench row the values of its repetitions.
func sampled(r *bench.Run, samples ...float64) *bench.Run {
	r.Metrics[0].Samples, r.Metrics[0].N = samples, len(samples)
	return r
}

// Repetitions inside one process. Seed 001: 878.31 ± 4.11 and 972.75 ± 6.99,
// repetitions not told, 5 assumed: +10.8 % [+9.7, +11.8].
func TestWithinProcess(t *testing.T) {
	for _, c := range []struct {
		name       string
		base, head *bench.Run
		verdict    string
		small      bool
		change     [3]float64 // with the interval, at one decimal
		p          float64
	}{
		{"seed 001", llama("base", "test=pp512", "878.31±4.11"), llama("head", "test=pp512", "972.75±6.99"), Improved, false, [3]float64{10.8, 9.7, 11.8}, 3.412024632e-08},
		{"seed 001, back", llama("base", "test=pp512", "972.75±6.99"), llama("head", "test=pp512", "878.31±4.11"), Regressed, false, [3]float64{-9.7, -10.5, -8.9}, 3.412024632e-08},
		{"± 0.00", llama("base", "test=tg128", "39.33±0.00"), llama("head", "test=tg128", "39.23±0.06"), Unchanged, true, [3]float64{-0.3, -0.4, -0.1}, 0.02017090073},
		// SciPy 1.10.1, by the delta method from the mean that the tool prints:
		//   ttest_ind_from_stats(log(972.76), std(b, ddof=1)/972.76, 5, log(878.32), std(a, ddof=1)/878.32, 5, equal_var=False)
		{"samples", sampled(llama("base", "test=pp512", "878.32±4.08"), 878.1, 880.4, 872.0, 882.9, 878.2), sampled(llama("head", "test=pp512", "972.76±5.80"), 972.1, 980.0, 965.2, 976.6, 969.9), Improved, false, [3]float64{10.8, 9.9, 11.6}, 3.652131139e-09},
	} {
		t.Run(c.name, func(t *testing.T) {
			rep := report(t, one(c.base, c.head), Options{})
			if len(rep.Comparisons) != 1 {
				t.Fatalf("%d comparisons, want 1", len(rep.Comparisons))
			}
			got := rep.Comparisons[0]
			if got.Evidence != EvidenceProcess || got.Verdict != c.verdict || got.Small != c.small || got.N != [2]int{1, 1} || !agrees(got.P, c.p) {
				t.Errorf("%s by %s, small %v, p %.10g, n %v; want %s within the process, %v, %.10g", got.Verdict, got.Evidence, got.Small, got.P, got.N, c.verdict, c.small, c.p)
			}
			for i, x := range [3]float64{got.DeltaPct, got.CIPct[0], got.CIPct[1]} {
				if math.Abs(x-c.change[i]) > 0.05 {
					t.Errorf("%.3f %.3f, want %v", got.DeltaPct, got.CIPct, c.change)
				}
			}
		})
	}
	// One repetition, or a mean without spread, is a single run.
	lone := func(input, ts string) *bench.Run {
		r := llama(input, "test=pp512", ts)
		r.Metrics[0].N = 1
		return r
	}
	for _, runs := range [][]*bench.Run{one(llama("base", "test=pp512", "878.31"), llama("head", "test=pp512", "972.75")), one(lone("base", "878.31±0.00"), lone("head", "972.75±0.00"))} {
		if c := report(t, runs, Options{}).Comparisons[0]; c.Tested || c.Evidence != EvidenceSingle {
			t.Errorf("%+v, want a single run", c)
		}
	}
	// The spread over the requests of a serving run is no evidence about runs.
	v := func(input, x string) *bench.Run { return newRun("vllm-serve", input, "", "mean_ttft_ms="+x) }
	if c := report(t, one(v("base", "100.00±1.00"), v("head", "150.00±1.00")), Options{}).Comparisons[0]; c.Tested || c.Evidence != EvidenceSingle {
		t.Errorf("%+v, want a single run", c)
	}
}

// Scores are tested by their standard errors; a run says nothing about the
// number of runs that would be needed.
func TestScoreVerdicts(t *testing.T) {
	for _, c := range []struct{ base, head, verdict string }{
		{"0.8466±0.0135", "0.848±0.0134", Inconclusive}, // z = 0.07, 90 % [−3.5, +3.9]
		{"0.800±0.010", "0.828±0.010", Improved},        // z = 1.98
		{"0.800±0.010", "0.760±0.010", Regressed},       // z = −2.83
		{"0.800±0.001", "0.801±0.001", Unchanged},       // z = 0.71, 90 % [−0.17, +0.42]
		{"0.800±0.0005", "0.804±0.0005", Unchanged},     // z = 5.66, 90 % [+0.35, +0.65] of 1
	} {
		got := report(t, one(newRun("lm-eval", "base", "task=x", "accuracy="+c.base), newRun("lm-eval", "head", "task=x", "accuracy="+c.head)), Options{}).Comparisons[0]
		if got.Verdict != c.verdict || got.Evidence != EvidenceProcess || !got.Tested || got.RunsNeeded != 0 {
			t.Errorf("%s to %s: %+v, want %s", c.base, c.head, got, c.verdict)
		}
	}
}

// Mean changes by hand: √(1.21·1.00) = 1.1 for prompts, √(0.90·0.40) = 0.6 for
// generation; tg64 is on one side only.
func TestGeomean(t *testing.T) {
	rep := report(t, one(
		llama("base", "test=pp512", "100.00"), llama("base", "test=pp1024", "200.00"), llama("base", "test=tg128", "50.00"), llama("base", "test=tg256", "40.00"), llama("base", "test=tg64", "10.00"),
		llama("head", "test=pp512", "121.00"), llama("head", "test=pp1024", "200.00"), llama("head", "test=tg128", "45.00"), llama("head", "test=tg256", "16.00"),
	), Options{})
	want := []Geomean{{"head pp", "avg_ts", 1.1, 2}, {"head tg", "avg_ts", 0.6, 2}}
	sameMeans(t, rep.Sections[0].Means, want)

	// Latencies are turned round, so that more than 1 is better.
	v := func(input, concurrency, metrics string) *bench.Run {
		return newRun("vllm-serve", input, "concurrency="+concurrency, metrics)
	}
	rep = report(t, one(
		v("base", "1", "output_throughput=100.00 mean_ttft_ms=100.00"), v("base", "8", "output_throughput=400.00 mean_ttft_ms=200.00"), v("base", "16", "output_throughput=500.00 mean_ttft_ms=300.00"),
		v("head", "1", "output_throughput=110.00 mean_ttft_ms=50.00"), v("head", "8", "output_throughput=484.00 mean_ttft_ms=25.00"), v("head", "32", "output_throughput=1.00 mean_ttft_ms=1.00"),
	), Options{})
	// √(1.10·1.21) = 1.1^1.5; √(2·8) = 4. 16 and 32 have no partner.
	sameMeans(t, rep.Sections[0].Means, []Geomean{{"head", "output_throughput", math.Pow(1.1, 1.5), 2}, {"head", "mean_ttft_ms", 4, 2}})

	// One row has no mean.
	if means := report(t, one(v("base", "1", "output_throughput=100.00"), v("head", "1", "output_throughput=110.00")), Options{}).Sections[0].Means; len(means) > 0 {
		t.Errorf("%v of one row", means)
	}
}

func sameMeans(t *testing.T, got, want []Geomean) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b Geomean) bool {
		return a.Head == b.Head && a.Metric == b.Metric && a.Rows == b.Rows && agrees(a.Ratio, b.Ratio)
	}) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The quantiles are those of the library to ten digits, which the tests above
// hold against SciPy.
func TestStudentQuantile(t *testing.T) {
	for _, nu := range []float64{1, 2, 3, 3.5, 4, 7.77, 18, 100, 1e6} {
		for _, p := range []float64{0.9, 0.95, 0.975, 0.99, 0.995, 0.9995, 0.05, 0.00001} {
			want := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(p)
			if got := studentQuantile(p, nu); math.Abs(got-want) > 1e-8*math.Abs(want) {
				t.Errorf("quantile %v with %v degrees of freedom: %v, want %v", p, nu, got, want)
			}
		}
	}
	// SciPy: stats.t.ppf(0.975, 18) and stats.t.ppf(0.975, 3.5)
	for nu, want := range map[float64]float64{18: 2.10092204024096, 3.5: 2.9400886379827775} {
		if got := studentQuantile(0.975, nu); math.Abs(got-want) > 1e-9 {
			t.Errorf("quantile 0.975 with %v degrees of freedom: %.13f, want %v", nu, got, want)
		}
	}
}
