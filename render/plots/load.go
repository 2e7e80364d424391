package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// loadOf is the load of a serving run: its concurrency, or its request rate.
func loadOf(s *analyze.Section) (key, label string) {
	for _, l := range [...][2]string{{"concurrency", "Concurrency (requests in flight)"}, {"request_rate", "Request rate (req/s)"}} {
		seen := map[float64]bool{}
		for _, r := range s.Rows {
			if x, ok := setting(r, l[0]); ok {
				seen[x] = true
			}
		}
		if len(seen) > 1 {
			return l[0], l[1]
		}
	}
	return "", ""
}

// lines makes a series of each configuration: y against x, sorted.
func lines(s *analyze.Section, c *colours, point func(r *analyze.Row) (Point, bool)) ([]Series, []*analyze.Row) {
	var out []Series
	var rows []*analyze.Row
	at := map[string]int{}
	for _, row := range s.Rows {
		p, ok := point(row)
		if !ok {
			continue
		}
		p.Hollow = hollow(row)
		name := mark(row, configuration(s, row))
		i, ok := at[name]
		if !ok {
			i = len(out)
			at[name] = i
			out = append(out, Series{Name: name, Colour: c.get(name), Line: true})
		}
		out[i].Points = append(out[i].Points, p)
		rows = append(rows, row)
	}
	if longest(out) == 1 { // each row is its own: it is called as everywhere else
		for i := range out {
			out[i].Name = mark(rows[i], Latin(s.Name(rows[i])))
		}
	}
	for i := range out {
		points := out[i].Points
		slices.SortStableFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
		// Several runs at one load, which differ in more than is told here: a line
		// through them would go up and down.
		for k := 1; k < len(points); k++ {
			out[i].Line = out[i].Line && points[k].X != points[k-1].X
		}
	}
	return out, rows
}

// longest is how many points the longest line has.
func longest(series []Series) int {
	n := 0
	for _, s := range series {
		n = max(n, len(s.Points))
	}
	return n
}

// throughputByConcurrency (P1).
func throughputByConcurrency(s *analyze.Section, c *colours) []Figure {
	key, label := loadOf(s)
	if key == "" {
		return nil
	}
	for _, metric := range [...]string{"output_throughput", "total_token_throughput", "request_throughput"} {
		series, rows := lines(s, c, func(r *analyze.Row) (Point, bool) {
			x, ok := setting(r, key)
			y, err, ok2 := value(r, metric)
			return Point{X: x, Y: y, Err: err}, ok && ok2
		})
		if longest(series) < 2 {
			continue
		}
		return []Figure{{
			Name: "throughput", Title: fmt.Sprintf("%s by %s (higher is better)", bench.Lookup(metric).Title, spoken(key)),
			Alt: fmt.Sprintf("Lines of %s against %s for %d configurations", bench.Lookup(metric).Title, spoken(key), len(series)),
			X:   Axis{label, true}, Y: Axis{Label: bench.Lookup(metric).Title}, Series: series, Notes: notesOf(rows),
		}}
	}
	return nil
}

// latencyByLoad (P2): median, or where there is none the mean, and P99.
func latencyByLoad(s *analyze.Section, c *colours) []Figure {
	key, label := loadOf(s)
	if key == "" {
		return nil
	}
	var out []Figure
	for _, family := range [...]string{"ttft", "tpot"} {
		middle := "median"
		if !slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return r.Runs[0].Has("median_" + family + "_ms") }) {
			middle = "mean"
		}
		var all []Series
		var rows []*analyze.Row
		for _, stat := range [...]string{middle, "p99"} {
			series, of := lines(s, c, func(r *analyze.Row) (Point, bool) {
				x, ok := setting(r, key)
				y, err, ok2 := value(r, stat+"_"+family+"_ms")
				return Point{X: x, Y: y, Err: err}, ok && ok2
			})
			for i := range series {
				series[i].Dashed = stat == "p99"
			}
			if longest(series) > 1 {
				all = append(all, series...)
				rows = append(rows, of...)
			}
		}
		if all == nil || len(all) > 12 {
			continue
		}
		title := bench.Lookup("mean_" + family + "_ms").Title[len("Mean "):]
		out = append(out, Figure{
			Name: family, Title: title + " by " + spoken(key) + " (lower is better)", Alt: fmt.Sprintf("Lines of %s %s and P99 against %s", middle, title, spoken(key)),
			X: Axis{label, true}, Y: Axis{Label: title}, Series: all, Notes: append([]string{"Solid: " + middle + ". Dashed: P99."}, notesOf(rows)...),
		})
	}
	return out
}

// spoken is the key of a load as a reader says it: request rate.
func spoken(key string) string { return strings.ReplaceAll(key, "_", " ") }

// throughputByLatency (P3): the hockey stick.
func throughputByLatency(s *analyze.Section, c *colours) []Figure {
	key, _ := loadOf(s)
	if key == "" {
		return nil
	}
	latency := "median_ttft_ms"
	if !slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return r.Runs[0].Has(latency) }) {
		latency = "mean_ttft_ms"
	}
	series, rows := lines(s, c, func(r *analyze.Row) (Point, bool) {
		x, _, ok := value(r, "output_throughput")
		y, _, ok2 := value(r, latency)
		return Point{X: x, Y: y, Label: r.Runs[0].Config.Get(key)}, ok && ok2
	})
	if longest(series) < 3 {
		return nil
	}
	curves := 0
	for i := range series { // several runs of one load are no curve
		seen := map[string]bool{}
		for _, p := range series[i].Points {
			series[i].Line = series[i].Line && !seen[p.Label]
			seen[p.Label] = true
		}
		for k := range series[i].Points {
			if !series[i].Line {
				series[i].Points[k].Label = ""
			}
		}
		if series[i].Line {
			curves++
		}
	}
	alt, notes := fmt.Sprintf("%s against output throughput", bench.Lookup(latency).Title), notesOf(rows)
	switch curves {
	case 0:
	case len(series):
		alt += ", each point labelled with its " + spoken(key)
		notes = append(notes, "Points are labelled with the "+spoken(key)+".")
	default:
		alt += ", the points of lines labelled with their " + spoken(key)
		notes = append(notes, "The points of lines are labelled with the "+spoken(key)+".")
	}
	return []Figure{{
		Name: "throughput-latency", Title: bench.Lookup(latency).Title + " against throughput (lower right is better)",
		Alt: alt, X: Axis{Label: "Output tok/s"}, Y: Axis{Label: bench.Lookup(latency).Title}, Series: series, Notes: notes,
	}}
}

// pareto (P4): what a GPU gives against what a user sees. The front is what no
// other point beats in both.
func pareto(s *analyze.Section, c *colours) []Figure {
	series, rows := lines(s, c, func(r *analyze.Row) (Point, bool) {
		gpus, ok := setting(r, "gpus")
		out, _, ok2 := value(r, "output_throughput")
		tpot, _, ok3 := value(r, "mean_tpot_ms")
		label := r.Runs[0].Config.Get("concurrency")
		if label != "" {
			label = "c=" + label
		}
		return Point{X: 1000 / tpot, Y: out / gpus, Label: label}, ok && ok2 && ok3
	})
	n := 0
	for i := range series {
		series[i].Line = false
		n += len(series[i].Points)
	}
	if n < 3 {
		return nil
	}
	front := frontOf(series)
	for i := range series { // only the points of the front have a label
		for k := range series[i].Points {
			p := &series[i].Points[k]
			if !slices.ContainsFunc(front, func(f Point) bool { return f.X == p.X && f.Y == p.Y }) {
				p.Label = ""
			}
		}
	}
	if len(front) > 1 {
		series = append(series, Series{Name: "front", Colour: -1, Points: front, Line: true, Dashed: true, Plain: true})
	}
	return []Figure{{
		Name: "pareto", Title: "Throughput per GPU against speed per user (upper right is better)",
		Alt: "Output tokens a second and GPU against tokens a second and user, with the front of the best trade-offs",
		X:   Axis{Label: "tok/s per user (1000 ÷ mean TPOT)"}, Y: Axis{Label: "Output tok/s per GPU"}, Series: series, Notes: notesOf(rows),
	}}
}

// frontOf are the points that no complete run beats in both directions.
func frontOf(series []Series) []Point {
	var all, front []Point
	for _, s := range series {
		for _, p := range s.Points {
			if !p.Hollow {
				all = append(all, p)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Point) int { return cmp.Or(cmp.Compare(b.X, a.X), cmp.Compare(b.Y, a.Y)) })
	best := math.Inf(-1)
	for _, p := range all {
		if p.Y > best {
			best = p.Y
			p.Label = ""
			front = append(front, p)
		}
	}
	return front
}
