package parse

import (
	"bytes"
	"math"
	"strconv"
	"strings"
)

// readNumber reads a decimal number, with thousands separators or without, and
// counts its decimals.
func readNumber(s string) (x float64, decimals int, ok bool) {
	if x, digits, ok := quickFloat([]byte(s)); ok && digits <= 15 { // exact, and nearly every figure
		if dot := strings.IndexByte(s, '.'); dot >= 0 {
			decimals = len(s) - dot - 1
		}
		return x, decimals, true
	}
	if strings.IndexByte(s, ',') > 0 {
		if !thousands(s) {
			return 0, 0, false
		}
		s = strings.ReplaceAll(s, ",", "")
	}
	if !plainNumber([]byte(s)) {
		return 0, 0, false
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !finite(x) {
		return 0, 0, false
	}
	if dot := strings.IndexByte(s, '.'); dot >= 0 {
		decimals = len(s) - dot - 1
	}
	if strings.ContainsAny(s, "eE") {
		decimals = -1
	}
	return x, decimals, true
}

// thousands reports whether the commas of a number stand before groups of three.
func thousands(s string) bool {
	whole, _, _ := strings.Cut(s, ".")
	parts := strings.Split(whole, ",")
	for i, p := range parts {
		if i > 0 && len(p) != 3 || i == 0 && (len(p) == 0 || len(p) > 3) {
			return false
		}
	}
	return true
}

func isNothing(s string) bool {
	if strings.Trim(s, "xX.?") == "" {
		return true // a placeholder
	}
	switch strings.ToLower(s) {
	case "", "none", "nan", "n/a", "na", "null", "inf", "-inf", "infinity", "-", "--", "not", "nan%", "-nan", "-nan%":
		return true
	}
	return false
}

// numberAt reads the decimal number at the start of b.
func numberAt(b []byte) (float64, bool) {
	whole, n := uint64(0), 0
	for ; n < len(b) && isDigit(b[n]); n++ {
		whole = 10*whole + uint64(b[n]-'0')
	}
	dot := n
	if n+1 < len(b) && b[n] == '.' && isDigit(b[n+1]) {
		for n++; n < len(b) && isDigit(b[n]); n++ {
			whole = 10*whole + uint64(b[n]-'0')
		}
	}
	if n == 0 {
		return 0, false
	}
	if n <= 15 { // both are exact, so their quotient is rounded once
		if n == dot {
			return float64(whole), true
		}
		return float64(whole) / powersOfTen[n-dot-1], true
	}
	x, err := strconv.ParseFloat(string(b[:min(n, 400)]), 64)
	return x, err == nil && finite(x)
}

// valueAfter reads the number that follows label.
func valueAfter(b []byte, label string) (float64, bool) {
	i := bytes.Index(b, []byte(label))
	if i < 0 {
		return 0, false
	}
	return numberAt(b[i+len(label):])
}

// quickFloat reads a number of at most 19 digits: exactly up to 15 of them, as
// both the digits and the power of ten are exact then, and to a unit in the last
// place beyond. It leaves everything else to strconv.
func quickFloat(b []byte) (x float64, digits int, ok bool) {
	i, negative := 0, false
	if len(b) > 0 && b[0] == '-' {
		i, negative = 1, true
	}
	mantissa, point := uint64(0), -1
	for ; i < len(b); i++ {
		c := b[i] - '0'
		if c > 9 {
			if b[i] != '.' || point >= 0 {
				return 0, 0, false
			}
			point = i
			continue
		}
		mantissa = mantissa*10 + uint64(c)
		digits++
	}
	if digits == 0 || digits > 19 || point == len(b)-1 {
		return 0, 0, false
	}
	x = float64(mantissa)
	if point >= 0 {
		x /= powersOfTen[len(b)-1-point]
	}
	if negative {
		x = -x
	}
	return x, digits, true
}

var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// plainNumber reports whether b is a decimal number: no hexadecimal, no
// underscores and no words, which strconv would take.
func plainNumber(b []byte) bool {
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		i++
	}
	digits := 0
	for ; i < len(b) && isDigit(b[i]); i++ {
		digits++
	}
	if i < len(b) && b[i] == '.' {
		for i++; i < len(b) && isDigit(b[i]); i++ {
			digits++
		}
	}
	if digits == 0 {
		return false
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		i++
		if i < len(b) && (b[i] == '-' || b[i] == '+') {
			i++
		}
		if i == len(b) {
			return false
		}
		for ; i < len(b) && isDigit(b[i]); i++ {
		}
	}
	return i == len(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// finite reports whether x is a number that can be shown.
func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
