package parse

import (
	"bytes"
	"strings"
)

// barReplacer writes the upright lines of drawn tables as bars: light, heavy
// and double ones, and what becomes of them where UTF-8 is read as CP1252.
var barReplacer = strings.NewReplacer("│", "|", "┃", "|", "║", "|", "â”‚", "|", "â”ƒ", "|")

// boxCells splits a row of a drawn table into its cells as they stand, blanks
// included, since some tables merge a cell into its left one by leaving it no
// width. It returns nil for a line without bars. A bar at the start is an edge,
// and so is then the one at the end.
func boxCells(b []byte) []string {
	if len(b) > 1<<16 {
		return nil
	}
	s := strings.TrimSpace(barReplacer.Replace(string(b)))
	if rest, ok := strings.CutPrefix(s, "|"); ok {
		s = strings.TrimSuffix(rest, "|")
	} else if !strings.Contains(s, "|") {
		return nil
	}
	return strings.Split(s, "|")
}

// trimmed cuts the blanks around the cells of a row.
func trimmed(cells []string) []string {
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// onlyFirst reports whether a row has nothing but its first cell: the rest of a
// label that was too long for one line.
func onlyFirst(cells []string) bool {
	for _, c := range cells[1:] {
		if c != "" {
			return false
		}
	}
	return len(cells) > 1 && cells[0] != ""
}

// isFrame reports whether a line draws a table rather than filling it: it holds
// rules and corners, no text.
func isFrame(b []byte) bool {
	if b = bytes.TrimSpace(b); len(b) == 0 || len(b) > 1<<16 {
		return false
	}
	rules := 0
	for _, c := range string(b) {
		switch {
		case c == '-' || c == '=' || c == '─' || c == '━' || c == '═':
			rules++
		case c >= 0x2500 && c <= 0x257f || c == '+' || c == '|' || c == ' ' || c == ':':
		default:
			return bytes.HasPrefix(b, []byte("â”")) && bytes.Count(b, []byte("â”")) > 4 && bytes.IndexByte(b, ' ') < 0
		}
	}
	return rules > 1
}

// msPer tells how many milliseconds a unit of time is.
func msPer(unit string) (float64, bool) {
	switch strings.ToLower(unit) {
	case "ns", "nanoseconds":
		return 1e-6, true
	case "us", "µs", "μs", "microseconds":
		return 1e-3, true
	case "ms", "milliseconds":
		return 1, true
	case "s", "sec", "secs", "seconds":
		return 1000, true
	}
	return 0, false
}
