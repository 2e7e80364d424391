package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// GateMarkdown writes the outcome of a gate as Markdown.
func GateMarkdown(w io.Writer, g *analyze.Gate) error { return gateDocument(g).markdown(w) }

// GateText writes the outcome of a gate for a terminal.
func GateText(w io.Writer, g *analyze.Gate, colour bool) error {
	return gateDocument(g).plain(w, colour)
}

// outcomeMarks are beside the words, never instead of them.
var outcomeMarks = map[string]string{
	analyze.Regressed: "🔴", analyze.Incomparable: "🔴", analyze.Missing: "🔴", analyze.Accepted: "🟡", analyze.Improved: "🟢",
	analyze.Inconclusive: "⚪", analyze.Unchanged: "⚪",
}

// gateDocument says first whether the gate passed, then what failed, and the
// rest folded.
func gateDocument(g *analyze.Gate) *document {
	d := &document{}
	d.heading(3, plainText("%s", gateSentence(g)))
	d.paragraph(plainText("%s", gateCounts(g)))
	changed := func(r analyze.GateResult) bool {
		untested := !r.Tested && r.Outcome == analyze.Inconclusive && math.Abs(r.DeltaPct) >= 100*r.Threshold
		return untested || r.Fails || r.Outcome == analyze.Improved || r.Outcome == analyze.Accepted || r.Outcome == analyze.Regressed
	}
	if t := gateTable(g, changed); len(t.rows) > 0 {
		d.add(t)
	}
	rest := &document{}
	if t := gateTable(g, func(r analyze.GateResult) bool { return !changed(r) }); len(t.rows) > 0 {
		rest.add(t)
		d.details(count(len(t.rows), "other result"), rest)
	}
	if len(g.Differs) > 0 {
		d.paragraph(plainText("Base and head differ in %s.", strings.Join(g.Differs, ", ")))
	}
	if items := findingItems(g.Report); len(items) > 0 {
		d.paragraph(strong("Read with care"))
		d.list(items...)
	}
	var notes [][]span
	for _, n := range slices.Compact(slices.Clone(g.Notes)) {
		notes = append(notes, []span{plainText("%s", n)})
	}
	d.list(notes...)
	return d
}

// gateSentence is the verdict in a sentence with its figures.
func gateSentence(g *analyze.Gate) string {
	total := len(g.Results)
	var failed []analyze.GateResult
	for _, r := range g.Results {
		if r.Fails {
			failed = append(failed, r)
		}
	}
	if len(failed) == 0 {
		mark := "🟢"
		var parts []string
		for _, o := range [...]string{analyze.Regressed, analyze.Accepted, analyze.Improved, analyze.Unchanged, analyze.Inconclusive} {
			if n := g.Count(o); n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, o))
			}
		}
		if g.Count(analyze.Inconclusive) == total {
			mark = "⚪"
		}
		return fmt.Sprintf("%s passed: of %s %s", mark, count(total, "result"), strings.Join(parts, ", "))
	}
	byOutcome := map[string]int{}
	var order []string
	for _, r := range failed {
		if byOutcome[r.Outcome] == 0 {
			order = append(order, r.Outcome)
		}
		byOutcome[r.Outcome]++
	}
	var parts []string
	for _, o := range order {
		parts = append(parts, fmt.Sprintf("%d %s", byOutcome[o], o))
	}
	text := fmt.Sprintf("🔴 not passed: of %s %s", count(total, "result"), strings.Join(parts, ", "))
	var worst []string
	for _, r := range failed {
		if r.Outcome != analyze.Regressed || len(worst) == 3 {
			continue
		}
		title, _, _ := strings.Cut(bench.Lookup(r.Metric).Title, " (")
		item := lowerFirst(title) + " " + percent(r.DeltaPct)
		if tools := len(g.Sections); r.Name != "" && (tools > 1 || !slices.ContainsFunc(g.Sections, func(s *analyze.Section) bool { return s.Tool == r.Name })) {
			item += " (" + shorten(r.Name, 50) + ")"
		}
		worst = append(worst, item)
	}
	if worst != nil {
		text += ": " + strings.Join(worst, ", ")
	}
	return text
}

// gateCounts counts the outcomes and says how they were found.
func gateCounts(g *analyze.Gate) string {
	var parts []string
	for _, o := range [...]string{analyze.Regressed, analyze.Incomparable, analyze.Missing, analyze.Accepted, analyze.Unchanged, analyze.Improved, analyze.Inconclusive} {
		if n := g.Count(o); n > 0 || o == analyze.Regressed || o == analyze.Improved {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	var metrics, thresholds, evidence []string
	lo, hi := [2]int{1 << 30, 1 << 30}, [2]int{}
	for _, r := range g.Results {
		title, _, _ := strings.Cut(bench.Lookup(r.Metric).Title, " (")
		if !slices.Contains(metrics, title) {
			metrics = append(metrics, title)
		}
		if t := fmt.Sprintf("%.3g %% %s", 100*r.Threshold, title); r.Threshold > 0 && !slices.Contains(thresholds, t) {
			thresholds = append(thresholds, t)
		}
		if r.Tested && !slices.Contains(evidence, r.Evidence) {
			evidence = append(evidence, r.Evidence)
		}
		if r.Outcome == analyze.Missing {
			continue
		}
		for i := range r.N {
			lo[i], hi[i] = min(lo[i], r.N[i]), max(hi[i], r.N[i])
		}
	}
	switch {
	case hi[0] == 0:
	case lo == hi && lo[0] == lo[1]:
		parts = append(parts, count(lo[0], "run")+" a side")
	default:
		parts = append(parts, fmt.Sprintf("%s runs of the base, %s of the head", span2(lo[0], hi[0]), span2(lo[1], hi[1])))
	}
	if evidence == nil {
		parts = append(parts, "nothing was tested")
	} else if !slices.Equal(evidence, []string{analyze.EvidenceRepeats}) {
		parts = append(parts, "evidence: "+strings.Join(evidence, ", "))
	}
	alpha := g.Options.Alpha
	if alpha == 0 {
		alpha = 0.05
	}
	parts = append(parts, fmt.Sprintf("α %.3g (Holm)", alpha))
	if thresholds != nil {
		parts = append(parts, "thresholds "+strings.Join(thresholds, ", "))
	}
	return strings.Join(parts, " · ") + ". Gated: " + strings.Join(metrics, ", ") + "."
}

func span2(lo, hi int) string {
	switch {
	case hi == 0:
		return "no"
	case lo == hi:
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d to %d", lo, hi)
}

// gateTable lists the results for which keep is true.
func gateTable(g *analyze.Gate, keep func(analyze.GateResult) bool) *table {
	t := &table{}
	t.column("", false)
	t.column("What", false)
	t.column("Metric", false)
	base, head := "base", "head"
	for _, r := range g.Results {
		if r.Outcome != analyze.Missing {
			base, head = g.Report.Baseline, headInput(g)
			break
		}
	}
	t.column(base, true)
	t.column(head, true)
	t.column("Change", false)
	for _, r := range g.Results {
		if !keep(r) {
			continue
		}
		row := []string{outcomeMarks[r.Outcome], shorten(r.Name, 60), bench.Lookup(r.Metric).Title}
		if r.Outcome == analyze.Missing {
			t.rows = append(t.rows, append(row, "", "", "missing: "+r.Reason))
			continue
		}
		row = append(row, shownValue(g.Report, r.Metric, r.BaseValue), shownValue(g.Report, r.Metric, r.HeadValue))
		text := testedCell(r.Comparison)
		switch {
		case r.Outcome == analyze.Incomparable:
			text = "incomparable: " + r.Reason
		case r.Outcome == analyze.Accepted:
			text = changeCell(r.Comparison) + " accepted: " + r.Accepted
		case !r.Tested:
			text += " inconclusive: " + r.Reason
		default:
			if r.Reason != "" {
				text += ": " + r.Reason
			}
			if r.RunsNeeded > 0 {
				text += ", " + runsText(r.RunsNeeded) + " would tell"
			}
		}
		t.rows = append(t.rows, append(row, text))
	}
	return t
}

func headInput(g *analyze.Gate) string {
	for _, r := range g.Runs {
		if r.Input != g.Report.Baseline {
			return r.Input
		}
	}
	return "head"
}

// shownValue writes a mean with the digits of the logs.
func shownValue(rep *analyze.Report, metric string, x float64) string {
	decimals := -1
	for _, r := range rep.Runs {
		if m, ok := r.Metric(metric); ok {
			decimals = m.Decimals
			break
		}
	}
	return bench.FormatDecimals(x, decimals)
}
