package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// headlineMetrics are those that the first sentence is about: the first one
// present of each group.
var headlineMetrics = [][]string{
	{"output_throughput", "total_token_throughput", "request_throughput", "generation_throughput", "draft_acceptance_rate", "accuracy"},
	{"mean_ttft_ms", "mean_e2el_ms", "avg_latency"},
}

// headlineOf says in a sentence who leads.
func headlineOf(s *analyze.Section) []span {
	if s.Across {
		return acrossHeadline(s)
	}
	if len(s.Rows) < 2 || len(s.Columns) == 0 { // below the table stands what is missing
		return nil
	}
	anyBest := slices.ContainsFunc(s.Rows, func(r *analyze.Row) bool {
		return slices.ContainsFunc(r.Cells, func(c analyze.Cell) bool { return c.Best })
	})
	var out []span
	switch {
	case !anyBest && s.Groups:
		out = []span{plainText("These are different workloads: nothing is compared, so nothing is bold.")}
	case !anyBest:
		out = []span{plainText("Nothing here can be compared, so nothing is bold.")}
	case s.Groups && sweepLeader(s) != nil:
		out = sweepLeader(s)
	case s.Groups:
		out = []span{plainText("Rows of different workloads stand beside each other: bold is the best among rows of the same.")}
	default:
		out = leaders(s)
	}
	tested := slices.ContainsFunc(s.Changes, func(c analyze.Change) bool {
		return slices.ContainsFunc(c.By, func(c analyze.Comparison) bool { return c.Tested })
	})
	if !tested && anyBest {
		text := "One run each: differences are not tested."
		if repeated(s) {
			text = "One run only on one side: differences are not tested."
		}
		if len(out) > 0 {
			text = " " + text
		}
		out = append(out, plainText("%s", text))
	}
	return out
}

// acrossHeadline counts the verdicts of a pivoted section.
func acrossHeadline(s *analyze.Section) []span {
	var out []span
	for _, head := range acrossHeads(s) {
		counts := map[string]int{}
		total := 0
		for _, ch := range s.Changes {
			for _, c := range ch.By {
				if c.Head == head {
					counts[c.Verdict]++
					total++
				}
			}
		}
		var parts []string
		for _, v := range [...]string{analyze.Improved, analyze.Regressed, analyze.Unchanged, analyze.Inconclusive, analyze.Incomparable} {
			if counts[v] > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
			}
		}
		if len(out) > 0 {
			out = append(out, plainText(" "))
		}
		out = append(out, strong(shorten(head, 60)), plainText(" against %s: of %s %s.", shorten(acrossBase(s), 60), count(total, "test"), strings.Join(parts, ", ")))
	}
	return out
}

// sweepLeader says who leads in every workload of a sweep, nil if nobody does.
func sweepLeader(s *analyze.Section) []span {
	i := slices.IndexFunc(s.Columns, func(c analyze.Column) bool { return slices.Contains(headlineMetrics[0], c.Metric) })
	if i < 0 {
		return nil
	}
	leader, wins := "", 0
	for _, r := range s.Rows {
		if !r.Cells[i].Best {
			continue
		}
		name := r.Input
		if slices.IndexFunc(s.Rows, func(o *analyze.Row) bool { return o.Input != r.Input }) < 0 {
			name = r.Label
		}
		if wins++; wins > 1 && name != leader {
			return nil
		}
		leader = name
	}
	if wins < 2 {
		return nil
	}
	return []span{strong(shorten(leader, 60)), plainText(" leads on %s in all %d workloads that can be compared.", headlineTitle(s.Columns[i].Metric, 0), wins)}
}

// leaders names the best of the headline metrics.
func leaders(s *analyze.Section) []span {
	var out []span
	var before []*analyze.Row
	for g, group := range headlineMetrics {
		i := -1
		for _, m := range group {
			if i = slices.IndexFunc(s.Columns, func(c analyze.Column) bool { return c.Metric == m }); i >= 0 {
				break
			}
		}
		if i < 0 {
			continue
		}
		var best []*analyze.Row
		var values []string
		for _, r := range s.Rows {
			if r.Cells[i].Best {
				best = append(best, r)
				if v := r.Cells[i].Text(); !slices.Contains(values, v) {
					values = append(values, v)
				}
			}
		}
		if len(best) == 0 {
			continue
		}
		if slices.Equal(best, before) {
			out = append(out, plainText(" and"))
		} else {
			if len(out) > 0 {
				out = append(out, plainText("; "))
			}
			out = append(out, rowNames(s, best)...)
		}
		before = best
		verb := "leads on"
		if g == 1 {
			verb = "has the lowest"
		}
		if len(best) > 1 {
			verb = "cannot be told apart on"
		}
		out = append(out, plainText(" %s %s (%s%s)", verb, headlineTitle(s.Columns[i].Metric, g), strings.Join(values, ", "), headlineUnit(s.Columns[i].Metric, g)))
	}
	if out == nil {
		return nil
	}
	return append(out, plainText("."))
}

// rowNames lists rows in bold.
func rowNames(s *analyze.Section, rows []*analyze.Row) []span {
	var out []span
	for k, r := range rows {
		if k == 4 {
			return append(out, plainText(" and %d more", len(rows)-k))
		}
		if k > 0 {
			out = append(out, plainText(" and "))
		}
		out = append(out, strong(shorten(s.Name(r), 60)))
		if r.Extrapolated() {
			out = append(out, plainText(" †"))
		}
	}
	return out
}

// headlineTitle and headlineUnit write a metric in a sentence: throughput (2993.85
// output tok/s), mean TTFT (420.74 ms).
func headlineTitle(metric string, group int) string {
	info := bench.Lookup(metric)
	title, _, _ := strings.Cut(info.Title, " (")
	if group == 0 && info.Unit != "" {
		return "throughput"
	}
	return lowerFirst(title)
}

func headlineUnit(metric string, group int) string {
	info := bench.Lookup(metric)
	if info.Unit == "" {
		return ""
	}
	if group == 0 {
		return " " + lowerFirst(info.Title)
	}
	return " " + info.Unit
}

func lowerFirst(s string) string {
	if len(s) > 1 && s[1] >= 'A' && s[1] <= 'Z' { // TTFT
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
