package plots

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"gonum.org/v1/gonum/stat"
)

// maxTimes is how many points a line over time shows before it is a smear.
const maxTimes = 200

// maxBars is how many bars a chart shows before it is a fence.
const maxBars = 24

// bars (P13): the main metrics of few runs, a bar a run.
func bars(s *analyze.Section, c *colours) []Figure {
	if s.Across || len(s.Rows) < 2 || len(s.Rows) > maxBars || s.Tool == "llama-bench" {
		return nil
	}
	if key, _ := loadOf(s); key != "" && longestLine(s, c) > 2 {
		return nil // lines show that better
	}
	var out []Figure
	for _, col := range s.Columns {
		switch col.Metric {
		case "output_throughput", "mean_ttft_ms", "mean_tpot_ms", "accuracy", "avg_latency", "request_throughput", "generation_throughput":
		default:
			continue
		}
		if col.Metric == "request_throughput" && slices.ContainsFunc(s.Columns, func(x analyze.Column) bool { return x.Metric == "output_throughput" }) {
			continue
		}
		info := bench.Lookup(col.Metric)
		f := Figure{
			Name: col.Metric, Title: fmt.Sprintf("%s (%s)", info.Title, direction(col.Metric)),
			Alt: fmt.Sprintf("Bars of %s for %d runs", info.Title, len(s.Rows)), Y: Axis{Label: info.Title}, Notes: notesOf(s.Rows),
		}
		for _, row := range s.Rows {
			y, err, ok := value(row, col.Metric)
			if !ok {
				continue
			}
			name := mark(row, Latin(s.Name(row)))
			f.Series = append(f.Series, Series{Name: name, Colour: c.get(mark(row, configuration(s, row))), Points: []Point{{X: float64(len(f.Bars)), Y: y, Err: err, Hollow: hollow(row)}}})
			f.Bars = append(f.Bars, name)
		}
		if mixed(s) {
			f.Notes = append(f.Notes, "Workloads differ: not every bar can be compared with every other.")
		}
		out = append(out, f)
	}
	return out
}

// mixed reports whether rows of different workloads stand beside each other.
func mixed(s *analyze.Section) bool {
	for i, k := range s.Keys {
		if bench.IsWorkload(k) && slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return r.Keys[i] != s.Rows[0].Keys[i] }) {
			return true
		}
	}
	return false
}

func longestLine(s *analyze.Section, c *colours) int {
	key, _ := loadOf(s)
	series, _ := lines(s, &colours{of: map[string]int{}}, func(r *analyze.Row) (Point, bool) {
		x, ok := setting(r, key)
		return Point{X: x, Y: 1}, ok
	})
	return longest(series)
}

// llamaBars: t/s of each test, a bar a variant.
func llamaBars(s *analyze.Section, c *colours) []Figure {
	if s.Tool != "llama-bench" {
		return nil
	}
	var out []Figure
	for _, kind := range [...]string{"pp", "tg"} {
		f := Figure{Name: kind, Title: map[string]string{"pp": "Prompt processing", "tg": "Text generation"}[kind] + ", t/s (higher is better)", Y: Axis{Label: "t/s"}}
		for _, row := range s.Rows {
			r := row.Runs[0]
			if test := r.Config.Get("test"); len(test) < 3 || test[:2] != kind || r.Config.Has("depth") || slices.Contains([]byte(test), '+') {
				continue
			}
			name := Latin(llamaName(s, row) + " " + r.Config.Get("test"))
			for i, cell := range row.Cells {
				if len(cell.Runs) == 0 || cell.Value <= 0 {
					continue
				}
				variant := s.Columns[i].Variant
				if variant == "" {
					variant = s.Tool
				}
				k := slices.IndexFunc(f.Series, func(x Series) bool { return x.Name == Latin(variant) })
				if k < 0 {
					k = len(f.Series)
					f.Series = append(f.Series, Series{Name: Latin(variant), Colour: c.get(Latin(variant))})
				}
				f.Series[k].Points = append(f.Series[k].Points, Point{X: float64(len(f.Bars)), Y: cell.Value, Err: cell.Std})
			}
			f.Bars = append(f.Bars, name)
		}
		if len(f.Bars) == 0 || len(f.Bars)*len(f.Series) > 2*maxBars {
			continue
		}
		f.Alt = fmt.Sprintf("Bars of tokens a second for %d tests and %d variants, with their spread", len(f.Bars), len(f.Series))
		f.Notes = []string{"Error bars: standard deviation."}
		out = append(out, f)
	}
	return out
}

// llamaDepth (P8): t/s against the depth of the context.
func llamaDepth(s *analyze.Section, c *colours) []Figure {
	if s.Tool != "llama-bench" {
		return nil
	}
	var out []Figure
	for _, kind := range [...]string{"pp", "tg"} {
		var series []Series
		for _, row := range s.Rows {
			for i, cell := range row.Cells {
				if len(cell.Runs) == 0 || cell.Value <= 0 {
					continue
				}
				r := cell.Runs[0]
				test := r.Config.Get("test")
				if len(test) < 3 || test[:2] != kind || slices.Contains([]byte(test), '+') {
					continue
				}
				depth, _ := strconv.ParseFloat("0"+r.Config.Get("depth"), 64)
				name := llamaName(s, row) + " " + test
				if v := s.Columns[i].Variant; v != "" {
					name = v + " " + name
				}
				name = Latin(name)
				k := slices.IndexFunc(series, func(x Series) bool { return x.Name == name })
				if k < 0 {
					k = len(series)
					series = append(series, Series{Name: name, Colour: c.get(name), Line: true})
				}
				series[k].Points = append(series[k].Points, Point{X: depth, Y: cell.Value, Err: cell.Std})
			}
		}
		if depths(series) < 2 || len(series) > 12 {
			continue
		}
		for i := range series {
			slices.SortStableFunc(series[i].Points, func(a, b Point) int { return int(a.X - b.X) })
		}
		out = append(out, Figure{Name: kind + "-depth", Title: kind + " t/s by context depth (higher is better)", Alt: "Tokens a second against the depth of the context",
			X: Axis{Label: "Depth (tokens)"}, Y: Axis{Label: "t/s"}, Series: series})
	}
	return out
}

// llamaName names what a row measured, without its test and depth: the model,
// and the settings in which rows differ.
func llamaName(s *analyze.Section, row *analyze.Row) string {
	differs := func(of func(r *analyze.Row) string) bool {
		return slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool { return of(r) != of(row) })
	}
	var parts []string
	if !s.Across && differs(func(r *analyze.Row) string { return r.Input }) {
		parts = append(parts, row.Input)
	}
	model := func(r *analyze.Row) string { return base(r.Runs[0].Config.Get("model")) }
	if differs(model) {
		parts = append(parts, model(row))
	}
	for i, k := range s.Keys {
		if k == "model" || k == "test" || k == "depth" || row.Keys[i] == "" {
			continue
		}
		if differs(func(r *analyze.Row) string { return r.Keys[i] }) {
			parts = append(parts, keyed(k, row.Keys[i]))
		}
	}
	if parts == nil {
		return model(row)
	}
	return strings.Join(parts, " ")
}

// depths is how many depths the series have.
func depths(series []Series) int {
	seen := map[float64]bool{}
	for _, s := range series {
		for _, p := range s.Points {
			seen[p.X] = true
		}
	}
	return len(seen)
}

// outcomes (P9): requests completed and not.
func outcomes(s *analyze.Section, c *colours) []Figure {
	if s.Across || len(s.Rows) > maxBars || !slices.ContainsFunc(s.Rows, hollow) {
		return nil
	}
	f := Figure{Name: "outcomes", Title: "Requests completed and not (fewer failures are better)", Alt: "Bars of completed and failed requests of each run", Y: Axis{Label: "Requests"},
		Series: []Series{{Name: "completed", Colour: 2}, {Name: "not completed", Colour: 1}}}
	for _, row := range s.Rows {
		r := row.Runs[0]
		if r.Completed == nil || r.Attempted == nil {
			continue
		}
		x := float64(len(f.Bars))
		f.Series[0].Points = append(f.Series[0].Points, Point{X: x, Y: float64(*r.Completed)})
		f.Series[1].Points = append(f.Series[1].Points, Point{X: x, Y: float64(*r.Attempted - *r.Completed)})
		f.Bars = append(f.Bars, Latin(s.Name(row)))
	}
	return []Figure{f}
}

// speculation: acceptance and speed of speculative decoding against the number
// of draft tokens.
func speculation(s *analyze.Section, c *colours) []Figure {
	f := Figure{Name: "speculation", Title: "Draft acceptance (higher is better)", Alt: "Bars of the acceptance rate of draft tokens of each run", Y: Axis{Label: "Accepted ÷ drafted"}}
	for _, row := range s.Rows {
		y, _, ok := value(row, "draft_acceptance_rate")
		if !ok || s.Across {
			continue
		}
		name := Latin(s.Name(row))
		f.Series = append(f.Series, Series{Name: name, Colour: c.get(mark(row, configuration(s, row))), Points: []Point{{X: float64(len(f.Bars)), Y: y, Hollow: hollow(row)}}})
		f.Bars = append(f.Bars, name)
	}
	if len(f.Bars) == 0 || len(f.Bars) > maxBars {
		return nil
	}
	return append([]Figure{f}, speedUp(s, c)...)
}

// speedUp: the throughput of speculative runs over that of the run without, of
// the same model and workload.
func speedUp(s *analyze.Section, c *colours) []Figure {
	f := Figure{Name: "speed-up", Title: "Speed-up by speculative decoding (higher is better)", Y: Axis{Label: "Output tok/s ÷ that of the run without"}}
	var base *analyze.Row
	for _, row := range s.Rows {
		if !row.Runs[0].Config.Has("spec_tokens") && !row.Extrapolated() && !hollow(row) {
			base = row
			break
		}
	}
	if base == nil {
		return nil
	}
	plain, _, ok := value(base, "output_throughput")
	for _, row := range s.Rows {
		r := row.Runs[0]
		y, _, ok2 := value(row, "output_throughput")
		if !ok || !ok2 || !r.Config.Has("spec_tokens") || r.Config.Get("model") != base.Runs[0].Config.Get("model") || r.Config.Get("concurrency") != base.Runs[0].Config.Get("concurrency") {
			continue
		}
		name := Latin(s.Name(row))
		f.Series = append(f.Series, Series{Name: name, Colour: c.get(mark(row, configuration(s, row))), Points: []Point{{X: float64(len(f.Bars)), Y: y / plain, Hollow: hollow(row)}}})
		f.Bars = append(f.Bars, name)
	}
	if len(f.Bars) == 0 {
		return nil
	}
	f.Alt = "Bars of the throughput of speculative runs over that of " + Latin(s.Name(base))
	f.Notes = []string{"Against " + Latin(s.Name(base)) + "; below 1 it is slower."}
	return []Figure{f}
}

// overTime: what a server log says from interval to interval.
func overTime(s *analyze.Section, c *colours) []Figure {
	var out []Figure
	for _, row := range s.Rows {
		for _, run := range row.Runs[:1] {
			for _, series := range run.Series {
				if len(series.Values) < 3 || len(out) > 5 {
					continue
				}
				info := bench.Lookup(series.Name)
				f := Figure{Name: series.Name + "-over-time", Title: Latin(info.Title + " over time, " + s.Name(row)), Alt: info.Title + " from interval to interval of the server log",
					X: Axis{Label: "Interval of the log"}, Y: Axis{Label: info.Title}}
				line := Series{Name: Latin(s.Name(row)), Colour: c.get(mark(row, configuration(s, row))), Line: true}
				each := (len(series.Values) + maxTimes - 1) / maxTimes
				for i := 0; i < len(series.Values); i += each {
					part := series.Values[i:min(i+each, len(series.Values))]
					line.Points = append(line.Points, Point{X: float64(i*series.Step) + 1, Y: stat.Mean(part, nil)})
				}
				if each*series.Step > 1 {
					f.Notes = append(f.Notes, fmt.Sprintf("A point is the mean of %d intervals.", each*series.Step))
				}
				f.Series = []Series{line}
				out = append(out, f)
			}
		}
	}
	return out
}
