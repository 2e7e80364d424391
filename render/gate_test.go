package render

import "testing"

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		lo, hi float64
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 0, 7, "▁▂▃▄▅▆▇█"},
		{[]float64{5, 5}, 5, 5, "▁▁"},
		{[]float64{1, 10}, 1, 10, "▁█"},
	} {
		if got := spark(c.values, c.lo, c.hi); got != c.want {
			t.Errorf("spark(%v) = %q, want %q", c.values, got, c.want)
		}
	}
}
