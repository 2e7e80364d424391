package bench

import (
	"math"
	"strconv"
)

// Text writes the value with the digits that the log gave. A figure of full
// precision gets two decimals, more where it is small.
func (m Metric) Text() string { return FormatDecimals(m.Value, m.Decimals) }

// FormatDecimals writes a number with so many decimals; fewer than 0 stands for
// full precision, which no table shows.
func FormatDecimals(x float64, decimals int) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return ""
	case math.Abs(x) >= 1e15:
		return strconv.FormatFloat(x, 'e', 3, 64)
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
