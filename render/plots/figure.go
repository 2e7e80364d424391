// Package plots draws figures of a report: what goes on the axes is decided by
// one function a figure, how it looks by the drawing code alone.
package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// A Figure is what a plot shows, before it is pixels.
type Figure struct {
	Name   string // of its file, without extension: a safe alphabet
	Title  string
	Alt    string // for those who do not see it
	X, Y   Axis
	Series []Series
	Bars   []string // the categories of a bar chart; nil for points and lines
	Notes  []string // under the figure
}

// An Axis is a label with its unit and a scale.
type Axis struct {
	Label string
	Log2  bool
}

// A Series is what one configuration did.
type Series struct {
	Name   string
	Colour int
	Points []Point
	Line   bool // joined by a line
	Dashed bool
	Plain  bool // without marks
}

// A Point is one value. For a bar chart X is the category.
type Point struct {
	X, Y   float64
	Err    float64 // half of an error bar
	Label  string
	Hollow bool // of a partial run
}

// figures are the functions that make figures of a section, in the order in
// which a report shows them.
var figures = []func(s *analyze.Section, c *colours) []Figure{
	throughputByConcurrency,
	latencyByLoad,
	throughputByLatency,
	pareto,
	scaling,
	bars,
	llamaBars,
	llamaDepth,
	speculation,
	spreads,
	outcomes,
	overTime,
}

// maxLines is how many lines a figure has before its legend takes the place of
// what it explains.
const maxLines = 16

// Of makes the figures that a report has the data for. Figures with fewer than
// two points say nothing, and those with too many lines as little: they are not
// made.
func Of(rep *analyze.Report) map[*analyze.Section][]Figure {
	out := map[*analyze.Section][]Figure{}
	used := map[string]int{}
	for _, s := range rep.Sections {
		for _, part := range partsOf(s) {
			c := &colours{of: map[string]int{}}
			for _, make := range figures {
				for _, f := range make(part, c) {
					if f.points() < 2 || f.Bars == nil && len(f.Series) > maxLines {
						continue
					}
					if len(part.Rows) < len(s.Rows) {
						f.Title += ", " + Latin(part.Rows[0].Input)
					}
					if f.escapes() {
						f.Notes = append(f.Notes, `\uXXXX stands for a letter that the font does not have.`)
					}
					f.Name = fileName(s, f.Name)
					if used[f.Name]++; used[f.Name] > 1 {
						f.Name += "-" + strconv.Itoa(used[f.Name])
					}
					out[s] = append(out[s], f)
				}
			}
		}
	}
	return out
}

// partsOf parts a section into what belongs into one picture: inputs of which
// nothing can be compared with anything of another are drawn apart.
func partsOf(s *analyze.Section) []*analyze.Section {
	byInput := map[string][]*analyze.Row{}
	var order []string
	for _, r := range s.Rows {
		if byInput[r.Input] == nil {
			order = append(order, r.Input)
		}
		byInput[r.Input] = append(byInput[r.Input], r)
	}
	if len(order) < 2 || s.Across || s.Compared() {
		return []*analyze.Section{s}
	}
	var out []*analyze.Section
	for _, input := range order {
		part := *s
		part.Rows = byInput[input]
		out = append(out, &part)
	}
	return out
}

// fileName makes a name of letters, digits and dashes, whatever the log says.
func fileName(s *analyze.Section, name string) string {
	parts := []string{s.Tool}
	for _, by := range s.By {
		parts = append(parts, by.Key, by.Value)
	}
	parts = append(parts, name)
	var b strings.Builder
	for _, c := range strings.ToLower(strings.Join(parts, "-")) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			b.WriteRune(c)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 80 {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}

func (f *Figure) points() int {
	n := 0
	for _, s := range f.Series {
		if !s.Plain {
			n += len(s.Points)
		}
	}
	return n
}

// escapes reports whether a name in the figure has escaped letters.
func (f *Figure) escapes() bool {
	return strings.Contains(f.Title+strings.Join(f.Bars, " "), `\u`) || slices.ContainsFunc(f.Series, func(s Series) bool { return strings.Contains(s.Name, `\u`) })
}

// Points writes the data of a figure as text, for tests and for people who would
// rather read it.
func (f *Figure) Points() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\nx %s, y %s\n", f.Name, f.Title, f.X.Label, f.Y.Label)
	for _, s := range f.Series {
		fmt.Fprintf(&b, "  %s (colour %d)\n", s.Name, s.Colour)
		for i, p := range s.Points {
			if s.Plain && i > 0 && i < len(s.Points)-1 {
				continue // a curve, not data
			}
			x := strconv.FormatFloat(p.X, 'g', 6, 64)
			if f.Bars != nil {
				x = f.Bars[int(p.X)]
			}
			fmt.Fprintf(&b, "    %s: %s", x, strconv.FormatFloat(p.Y, 'g', 6, 64))
			if p.Err > 0 {
				fmt.Fprintf(&b, " ± %s", strconv.FormatFloat(p.Err, 'g', 4, 64))
			}
			if p.Label != "" {
				b.WriteString(" [" + p.Label + "]")
			}
			if p.Hollow {
				b.WriteString(" hollow")
			}
			b.WriteByte('\n')
		}
	}
	for _, n := range f.Notes {
		fmt.Fprintf(&b, "  note: %s\n", n)
	}
	return b.String()
}

// colours gives the same colour to the same configuration in every figure.
type colours struct {
	of   map[string]int
	next int
}

func (c *colours) get(name string) int {
	i, ok := c.of[name]
	if !ok {
		i = c.next
		c.of[name] = i
		c.next++
	}
	return i
}

// configuration names what a row measured, without its load: the line that its
// point belongs to.
func configuration(s *analyze.Section, row *analyze.Row) string {
	var parts []string
	several := func(f func(r *analyze.Row) string) bool {
		return slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return f(r) != f(row) })
	}
	if several(func(r *analyze.Row) string { return r.Input }) {
		parts = append(parts, row.Input)
	}
	if name := sharedLabel(s, row); name != "" {
		return Latin(name)
	}
	for i, k := range s.Keys {
		if bench.IsWorkload(k) || k == "gpus" || strings.HasPrefix(k, "env.") || k == "ngl" || k == "fa" || k == "backend" {
			continue
		}
		i := i
		if row.Keys[i] != "" && several(func(r *analyze.Row) string { return r.Keys[i] }) {
			parts = append(parts, keyed(k, row.Keys[i]))
		}
	}
	if len(parts) == 0 {
		if several(func(r *analyze.Row) string { return r.Label }) {
			return Latin(row.Label)
		}
		if m := row.Runs[0].Config.Get("model"); m != "" {
			return Latin(base(m))
		}
		return Latin(row.Label)
	}
	return Latin(strings.Join(parts, " "))
}

// sharedLabel is the label of a row where labels name configurations: no two
// rows of one label differ in more than their load, and no load is in it.
func sharedLabel(s *analyze.Section, row *analyze.Row) string {
	if len(s.Rows) < 2 || slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return r.Input != row.Input }) {
		return ""
	}
	labels := map[string]bool{}
	for _, r := range s.Rows {
		if strings.Contains(r.Label, "c=") || len([]rune(r.Label)) > 40 {
			return ""
		}
		labels[r.Label] = true
		if r.Label != row.Label {
			continue
		}
		for i, k := range s.Keys {
			if !bench.IsWorkload(k) && r.Keys[i] != row.Keys[i] {
				return ""
			}
		}
	}
	if len(labels) < 2 {
		return ""
	}
	return row.Label
}

// keyed writes a setting for a legend: short names speak for themselves.
func keyed(key, value string) string {
	switch key {
	case "model", "draft_model":
		return base(value)
	case "engine", "quant", "device", "build", "backend", "dataset", "dtype":
		return value
	case "spec_tokens":
		return "k=" + value
	case "replicas":
		return "×" + value
	}
	if len(key) <= 3 { // tp8, fa1, ngl99
		return key + value
	}
	return key + "=" + value
}

func base(path string) string {
	path = strings.TrimRight(path, "/")
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		return path[i+1:]
	}
	return path
}

// Latin keeps what the font can draw, and escapes the rest, so that a name does
// not turn into boxes.
func Latin(s string) string {
	var b strings.Builder
	for _, c := range s {
		switch {
		case c < 0x250, unicode.Is(unicode.Greek, c), unicode.Is(unicode.Cyrillic, c), strings.ContainsRune("–—†‡•…×±−→≥≤⚠", c):
			if c == '⚠' {
				c = '!'
			}
			b.WriteRune(c)
		default:
			fmt.Fprintf(&b, "\\u%04X", c)
		}
	}
	return Shorten(b.String(), 44)
}

// Shorten cuts a long name in its middle, where names differ least.
func Shorten(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	head := (most - 1) / 2
	return strings.TrimRight(string(r[:head]), " ") + "…" + strings.TrimLeft(string(r[len(r)-(most-1-head):]), " ")
}

// value is the value of a metric in a row, and its spread.
func value(row *analyze.Row, metric string) (y, err float64, ok bool) {
	var values []float64
	for _, r := range row.Runs {
		if m, ok := r.Metric(metric); ok && m.Value > 0 && !math.IsInf(m.Value, 0) && m.Value < 1e18 {
			values = append(values, m.Value)
			if m.HasStd && len(row.Runs) == 1 {
				err = m.Std
			}
		}
	}
	if len(values) == 0 {
		return 0, 0, false
	}
	for _, v := range values {
		y += v / float64(len(values))
	}
	if len(values) > 1 {
		sum := 0.0
		for _, v := range values {
			sum += (v - y) * (v - y)
		}
		err = math.Sqrt(sum / float64(len(values)-1))
	}
	return y, err, true
}

// setting is a setting of a row as a number.
func setting(row *analyze.Row, key string) (float64, bool) {
	x, err := strconv.ParseFloat(row.Runs[0].Config.Get(key), 64)
	return x, err == nil && x > 0 && !math.IsInf(x, 0)
}

func hollow(row *analyze.Row) bool { _, _, p := row.Partial(); return p }

// mark adds † to the name of what was extrapolated.
func mark(row *analyze.Row, name string) string {
	if row.Extrapolated() {
		return name + " †"
	}
	return name
}

// notesOf explains the marks of a figure.
func notesOf(rows []*analyze.Row) []string {
	var notes []string
	if slices.ContainsFunc(rows, hollow) {
		notes = append(notes, "Hollow: not all requests completed.")
	}
	if slices.ContainsFunc(rows, func(r *analyze.Row) bool { return r.Extrapolated() }) {
		notes = append(notes, "† extrapolated from one replica.")
	}
	return notes
}

// direction is what stands in a title behind a metric.
func direction(metric string) string {
	switch bench.Lookup(metric).Better {
	case bench.Higher:
		return "higher is better"
	case bench.Lower:
		return "lower is better"
	}
	return ""
}
