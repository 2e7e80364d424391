package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// baseNames names the rows that the others are held against.
func baseNames(s *analyze.Section) string {
	var names []string
	for _, c := range s.Changes {
		if n := shorten(s.Name(c.Base), 60); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) > 1 {
		return "the baseline of each workload"
	}
	return names[0]
}

// changeTable is the table of changes against the baseline.
func changeTable(s *analyze.Section) *table {
	t := &table{}
	t.column("Run", false)
	several := slices.ContainsFunc(s.Changes, func(c analyze.Change) bool { return c.Base != s.Changes[0].Base })
	if several {
		t.column("Against", false)
	}
	var metrics []string
	for _, c := range s.Columns {
		if bench.Lookup(c.Metric).Better != bench.Neither {
			metrics = append(metrics, c.Metric)
			title, _, _ := strings.Cut(bench.Lookup(c.Metric).Title, " (")
			t.column(title, true)
		}
	}
	noted := slices.ContainsFunc(s.Changes, func(c analyze.Change) bool { return changeNote(c.By) != "" })
	if noted {
		t.column("Verdict", false)
	}
	for _, ch := range s.Changes {
		name := shorten(s.Name(ch.Row), 52)
		if ch.Row.Extrapolated() {
			name += " †"
		}
		row := []string{name}
		if several {
			row = append(row, shorten(s.Name(ch.Base), 44))
		}
		for _, m := range metrics {
			cell := ""
			for _, c := range ch.By {
				if c.Metric == m {
					cell = testedCell(c)
				}
			}
			row = append(row, cell)
		}
		if noted {
			row = append(row, changeNote(ch.By))
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// changeCell writes a change with its interval; what cannot be compared has
// none.
func changeCell(c analyze.Comparison) string {
	switch {
	case c.Verdict == analyze.Incomparable:
		return "–"
	case !c.Tested:
		return percent(c.DeltaPct)
	}
	return fmt.Sprintf("%s [%s, %s]", percent(c.DeltaPct), signed(c.CIPct[0]), signed(c.CIPct[1]))
}

// testedCell writes a change with its verdict: −7.4 % [−9.1, −5.6] regressed (n=5+5).
func testedCell(c analyze.Comparison) string {
	if c.Verdict == analyze.Incomparable || !c.Tested {
		return changeCell(c)
	}
	text := changeCell(c) + " " + c.Verdict
	if c.Evidence == analyze.EvidenceRepeats {
		text += fmt.Sprintf(" (n=%d+%d)", c.N[0], c.N[1])
	}
	return text
}

// signed writes a number with one decimal and its sign.
func signed(x float64) string { return strings.TrimSuffix(percent(x), " %") }

// percent writes a change with its sign, as typographers do.
func percent(x float64) string {
	s := strconv.FormatFloat(x, 'f', 1, 64)
	switch {
	case s == "0.0" || s == "-0.0":
		return "0.0 %"
	case strings.HasPrefix(s, "-"):
		return "−" + s[1:] + " %"
	}
	return "+" + s + " %"
}

// runsText writes how many runs are needed; hundreds mean that it is hopeless.
func runsText(n int) string {
	if n > 100 {
		return "more than 100 runs a side"
	}
	return fmt.Sprintf("%d runs a side", n)
}

// changeNote says of the verdicts of one row what its cells do not: why there
// is none, and how many runs would give one.
func changeNote(by []analyze.Comparison) string {
	if !slices.ContainsFunc(by, func(c analyze.Comparison) bool { return c.Tested }) {
		return verdictText(by)
	}
	needed, metric := 0, ""
	var reasons []string
	for _, c := range by {
		if c.RunsNeeded > needed {
			needed, metric = c.RunsNeeded, c.Metric
		}
		if c.Reason != "" && !slices.Contains(reasons, c.Reason) {
			reasons = append(reasons, c.Reason)
		}
	}
	if needed > 0 {
		title, _, _ := strings.Cut(bench.Lookup(metric).Title, " (")
		reasons = append(reasons, runsText(needed)+" would tell "+title)
	}
	return strings.Join(reasons, "; ")
}

// verdictText sums up the verdicts of one row.
func verdictText(by []analyze.Comparison) string {
	type part struct {
		text    string
		metrics []string
	}
	var parts []*part
	heads := map[string]bool{}
	for _, c := range by {
		heads[c.Head] = true
	}
	for _, c := range by {
		text := c.Verdict
		if c.Reason != "" {
			text += ": " + c.Reason
		}
		if c.RunsNeeded > 0 {
			text += " (" + runsText(c.RunsNeeded) + " would tell)"
		}
		i := slices.IndexFunc(parts, func(p *part) bool { return p.text == text })
		if i < 0 {
			i = len(parts)
			parts = append(parts, &part{text: text})
		}
		title, _, _ := strings.Cut(bench.Lookup(c.Metric).Title, " (")
		if len(heads) > 1 {
			title = shorten(c.Head, 30)
		}
		parts[i].metrics = append(parts[i].metrics, title)
	}
	if len(parts) == 1 {
		return parts[0].text
	}
	var out []string
	for _, p := range parts {
		out = append(out, strings.Join(p.metrics, ", ")+" "+p.text)
	}
	return strings.Join(out, "; ")
}
