package notes

import (
	"math"
	"strconv"
	"strings"
	"unicode"
)

// A Number is a figure as a cell gives it.
type Number struct {
	Value    float64
	Decimals int // digits behind the point, less than 0 for 1.2k
	Std      float64
	HasStd   bool
	Of       float64 // 64 in 36/64
	HasOf    bool
	Unit     string // what stands behind it, lower case: ms, %, x, tok/s
	Sign     bool   // written with + or −: a change
	About    bool   // ~760: said to be rough
	Digits   int    // significant ones, those of a whole number without its final zeros
	Text     string // the figure itself, as written
}

// ParseNumber reads the figure at the beginning of a cell. A cell that begins
// with something else has none, whatever figures stand in it.
func ParseNumber(cell string) (Number, bool) {
	var n Number
	s := strings.TrimSpace(cell)
	for {
		switch {
		case strings.HasPrefix(s, "~"), strings.HasPrefix(s, "≈"), strings.HasPrefix(s, "∼"):
			n.About = true
			_, size := firstRune(s)
			s = strings.TrimSpace(s[size:])
			continue
		case strings.HasPrefix(s, "×"):
			n.Unit = "x"
			s = strings.TrimSpace(s[len("×"):])
			continue
		}
		break
	}
	negative := false
	switch r, size := firstRune(s); r {
	case '+':
		n.Sign, s = true, strings.TrimSpace(s[size:])
	case '-', '−', '–':
		n.Sign, negative, s = true, true, strings.TrimSpace(s[size:])
	}
	rest, ok := n.figure(s)
	if !ok {
		return Number{}, false
	}
	if negative {
		n.Value, n.Text = -n.Value, "-"+n.Text
	}
	rest = strings.TrimSpace(rest)
	if isRange(rest) {
		return Number{}, false
	}
	for _, pm := range [...]string{"±", "+/-", "+-", "\\pm"} {
		if after, ok := strings.CutPrefix(rest, pm); ok {
			var spread Number
			if tail, ok := spread.figure(strings.TrimSpace(after)); ok {
				n.Std, n.HasStd = spread.Value, true
				rest = strings.TrimSpace(tail)
			}
			break
		}
	}
	if after, ok := strings.CutPrefix(rest, "/"); ok && !n.HasStd {
		var of Number
		if tail, ok := of.figure(strings.TrimSpace(after)); ok {
			n.Of, n.HasOf = of.Value, true
			rest = strings.TrimSpace(tail)
		}
	}
	n.unit(rest)
	return n, true
}

// isRange reports whether more figures follow: 860–902, 438.7 → 467.8.
func isRange(rest string) bool {
	for _, sign := range [...]string{"→", "->", "=>", "–", "—", "-", "to ", ".."} {
		if after, ok := strings.CutPrefix(rest, sign); ok {
			after = strings.TrimSpace(after)
			return after != "" && isDigit(after[0])
		}
	}
	return false
}

func firstRune(s string) (rune, int) {
	for _, r := range s {
		return r, len(string(r))
	}
	return 0, 0
}

// figure reads digits with thousands separators, a point and an exponent.
func (n *Number) figure(s string) (rest string, ok bool) {
	var digits strings.Builder
	i, point, separated := 0, -1, false
	for i < len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9':
			digits.WriteByte(c)
			i++
			continue
		case c == '.' && point < 0 && i+1 < len(s) && isDigit(s[i+1]):
			point = digits.Len()
			digits.WriteByte('.')
			i++
			continue
		case point < 0 && digits.Len() > 0 && thousands(s[i:]) > 0:
			i += thousands(s[i:])
			separated = true
			continue
		}
		break
	}
	text := digits.String()
	if text == "" || text == "." || len(text) > 40 {
		return s, false
	}
	if point >= 0 {
		n.Decimals = len(text) - point - 1
	}
	if i+1 < len(s) && (s[i] == 'e' || s[i] == 'E') && !separated {
		j := i + 1
		if s[j] == '+' || s[j] == '-' {
			j++
		}
		k := j
		for k < len(s) && isDigit(s[k]) {
			k++
		}
		if k > j && k-j <= 3 {
			exponent, _ := strconv.Atoi(s[i+1 : k])
			text += s[i:k]
			n.Decimals -= exponent
			i = k
		}
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) {
		return s, false
	}
	n.Value, n.Text = v, s[:i]
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	mantissa = strings.TrimLeft(strings.Replace(mantissa, ".", "", 1), "0")
	if point < 0 {
		mantissa = strings.TrimRight(mantissa, "0")
	}
	n.Digits = len(mantissa)
	return s[i:], true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// thousands is the length of a separator with three digits behind it and no
// fourth: a comma, an apostrophe, a thin or no-break space.
func thousands(s string) int {
	for _, sep := range [...]string{",", "'", "\u202f", "\u00a0", "\u2009", "_"} {
		if after, ok := strings.CutPrefix(s, sep); ok && len(after) >= 3 && isDigit(after[0]) && isDigit(after[1]) && isDigit(after[2]) && (len(after) == 3 || !isDigit(after[3])) {
			return len(sep)
		}
	}
	return 0
}

// unit reads what stands behind a figure: a unit, and maybe more in brackets.
func (n *Number) unit(rest string) {
	rest = strings.ToLower(rest)
	if i := strings.IndexAny(rest, "([,;"); i >= 0 {
		rest = rest[:i]
	}
	rest = strings.TrimSpace(rest)
	if r, size := firstRune(rest); (r == 'k' || r == 'm') && !strings.HasPrefix(rest, "ms") && !strings.HasPrefix(rest, "mi") {
		if next, _ := firstRune(rest[size:]); next == 0 || !unicode.IsLetter(next) {
			factor, zeros := 1e3, 3
			if r == 'm' {
				factor, zeros = 1e6, 6
			}
			n.Value, n.Decimals, n.Std = n.Value*factor, n.Decimals-zeros, n.Std*factor
			rest = strings.TrimSpace(rest[size:])
		}
	}
	if strings.HasPrefix(rest, "×") || rest == "x" || strings.HasPrefix(rest, "x ") {
		rest = "x"
	}
	if rest != "" {
		n.Unit = rest
	}
}

// RoundsFrom reports whether a value, known to within some uncertainty, may be
// written as this figure.
func (n Number) RoundsFrom(value, uncertainty float64) bool {
	half := 0.5 * math.Pow(10, -float64(n.Decimals))
	return math.Abs(value-n.Value) <= (half+uncertainty)*(1+1e-6)+1e-12*math.Abs(value)
}

// CutFrom reports whether the figure is the value with its last digits cut off
// instead of rounded.
func (n Number) CutFrom(value float64) bool {
	unit := math.Pow(10, -float64(n.Decimals))
	return math.Abs(value) > math.Abs(n.Value) && math.Abs(value-n.Value) < unit
}
