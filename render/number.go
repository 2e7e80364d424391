package render

import (
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// withSpread writes a metric and its spread, where it has one.
func withSpread(m bench.Metric) string {
	if !m.HasStd {
		return m.Text()
	}
	text, decimals := m.Text(), m.Decimals
	if decimals < 0 { // the spread has the digits of the value
		_, after, _ := strings.Cut(text, ".")
		decimals = len(after)
	}
	return text + " ± " + bench.FormatDecimals(m.Std, decimals)
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
