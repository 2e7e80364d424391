package parse

import (
	"math"
	"testing"
)

// By hand: rank p·(n−1), linear between neighbours, as NumPy's percentile does.
func TestQuantilesFew(t *testing.T) {
	var s samples
	for _, x := range []float64{4, 1, 3, 2} {
		s.add(x)
	}
	for i, want := range []float64{1, 2.5, 3.7, 3.97, 4} {
		p := []float64{0, .5, .9, .99, 1}[i]
		if got := s.quantiles([]float64{p})[0]; math.Abs(got-want) > 1e-12 {
			t.Errorf("quantile %v = %v, want %v", p, got, want)
		}
	}
	// Mean 2.5; squares 2.25+.25+.25+2.25 = 5, over 4 is 1.25.
	if mean, std := s.meanStd(); mean != 2.5 || math.Abs(std-math.Sqrt(1.25)) > 1e-15 {
		t.Errorf("mean %v, std %v", mean, std)
	}
}

// The numbers −5000 … 4999 in disorder: the quantile p is −5000 + p·9999.
func TestQuantilesMany(t *testing.T) {
	var s samples
	for i := range 10000 {
		s.add(float64(i*7919%10000 - 5000)) // 7919 and 10000 share no factor
	}
	ps := []float64{0, .001, .25, .5, .9, .95, .99, .999, 1}
	for i, got := range s.quantiles(ps) {
		if want := -5000 + ps[i]*9999; math.Abs(got-want) > 1e-8 {
			t.Errorf("quantile %v = %v, want %v", ps[i], got, want)
		}
	}
}

// Many equal values must not break the ranks.
func TestQuantilesTies(t *testing.T) {
	var s samples
	for i := range 9000 {
		s.add([]float64{0.02, 0.02, 0.05}[i%3])
	}
	got := s.quantiles([]float64{.5, 2. / 3 * 8999 / 8999, .99})
	if got[0] != 0.02 || got[2] != 0.05 {
		t.Errorf("got %v", got)
	}
}

// A series of any length is kept in few points whose mean is that of the whole.
func TestDownsampled(t *testing.T) {
	var d downsampled
	const n = 8 * maxPoints
	for i := range n {
		d.add(float64(i))
	}
	s := d.series("x")
	if len(s.Values) > maxPoints+1 || s.Step != 8 {
		t.Fatalf("%d values of step %d", len(s.Values), s.Step)
	}
	sum := 0.0
	for _, x := range s.Values {
		sum += x
	}
	if mean := sum / float64(len(s.Values)); math.Abs(mean-(n-1)/2.) > 1e-9 {
		t.Errorf("mean %v, want %v", mean, (n-1)/2.)
	}
	if s.Values[0] != 3.5 { // 0 … 7
		t.Errorf("first %v, want 3.5", s.Values[0])
	}
}
