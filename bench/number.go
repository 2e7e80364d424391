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

// AppendExact appends a number with the fewest digits that stand for it and no
// other, never with an exponent. Most figures of logs have two decimals or less,
// which takes a quarter of what it takes to find those digits.
func AppendExact(b []byte, x float64) []byte {
	if hundredths := x * 100; hundredths == math.Trunc(hundredths) && math.Abs(hundredths) < 1e15 && hundredths/100 == x && (x != 0 || !math.Signbit(x)) {
		// No other decimal of at most 15 digits is the same number.
		n := int64(hundredths)
		if n < 0 {
			b, n = append(b, '-'), -n
		}
		b = strconv.AppendInt(b, n/100, 10)
		if tenth, last := byte(n/10%10), byte(n%10); last != 0 {
			b = append(b, '.', '0'+tenth, '0'+last)
		} else if tenth != 0 {
			b = append(b, '.', '0'+tenth)
		}
		return b
	}
	return strconv.AppendFloat(b, x, 'f', -1, 64)
}
