package parse

import (
	"math"
	"strconv"
	"strings"
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
		if got, _ := s.quantiles([]float64{p}, nil); math.Abs(got[0]-want) > 1e-12 {
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
	exact, drawn := s.quantiles(ps, ps)
	for i := range ps {
		want := -5000 + ps[i]*9999
		if math.Abs(exact[i]-want) > 1e-8 {
			t.Errorf("quantile %v = %v, want %v", ps[i], exact[i], want)
		}
		if math.Abs(drawn[i]-want) > 0.004*math.Abs(want)+1 { // to one part in 256, and a rank
			t.Errorf("quantile %v for a drawing = %v, want %v", ps[i], drawn[i], want)
		}
	}
}

// Many equal values must not break the ranks.
func TestQuantilesTies(t *testing.T) {
	var s samples
	for i := range 9000 {
		s.add([]float64{0.02, 0.02, 0.05}[i%3])
	}
	got, _ := s.quantiles([]float64{.5, 2. / 3 * 8999 / 8999, .99}, nil)
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

// The quick way to a number gives what strconv gives, to the last bit where it
// has at most 15 digits, and within a unit in the last place otherwise.
func TestQuickFloat(t *testing.T) {
	for _, text := range []string{"0", "1", "-1", "0.5", "12.25", "-0.001", "123456789012345", "0.123456789012345", "1e3", "2.5E-3", "-7.25e+2", "0.012345678901234567", "98.76543210987654", "123456789012345678901234567890", "1e400", "1e-400", "4.9e-324"} {
		want, _ := strconv.ParseFloat(text, 64)
		got, _, ok := quickFloat([]byte(text))
		if !ok {
			continue // left to strconv
		}
		digits := len(strings.Trim(strings.TrimLeft(strings.NewReplacer(".", "", "-", "").Replace(strings.ToLower(text)), "0"), "e"))
		if digits <= 15 && got != want || math.Abs(got-want) > math.Abs(want)*2.3e-16 {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.2.3", "1e", "abc", "1-2", "0x10", "1_000", "--1"} {
		if x, _, ok := quickFloat([]byte(text)); ok {
			t.Errorf("%q: %v", text, x)
		}
	}
}
