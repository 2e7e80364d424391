package render

import (
	"math"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// Value writes a metric with the digits that the log gave. A figure of full
// precision gets two decimals, more where it is small.
func Value(m bench.Metric) string { return number(m.Value, m.Decimals) }

// WithSpread writes a metric and its spread, where it has one.
func WithSpread(m bench.Metric) string {
	if !m.HasStd {
		return Value(m)
	}
	return Value(m) + " ± " + number(m.Std, m.Decimals)
}

func number(x float64, decimals int) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return ""
	case decimals < 0 && x == math.Trunc(x) && math.Abs(x) < 1e15:
		decimals = 0
	case decimals < 0:
		decimals = 2
		for a := math.Abs(x); a != 0 && a < 1 && decimals < 8; a *= 10 {
			decimals++
		}
	}
	return strconv.FormatFloat(x, 'f', min(decimals, 12), 64)
}

// shorten cuts a long name in its middle, where names differ least.
func shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	head := (most - 1) / 2
	tail := most - 1 - head
	return strings.TrimRight(string(r[:head]), " ") + "…" + strings.TrimLeft(string(r[len(r)-tail:]), " ")
}
