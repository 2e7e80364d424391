package render

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// GateMarkdown writes the outcome of a gate as Markdown.
func GateMarkdown(w io.Writer, g *analyze.Gate) error {
	return gateDocument(g, gateStyle{}).markdown(w)
}

// GateComment writes the outcome of a gate as a comment of at most limit bytes.
// What does not fit is left out, the least important first and what fails the
// gate last, and the comment says so, with the command that shows it.
func GateComment(w io.Writer, g *analyze.Gate, command string, limit int) error {
	return writeComment(w, g, gateStyle{command: command, sparks: true}, limit)
}

// CompareComment writes a comparison as a comment of at most limit bytes, in the
// form of a gate's, but without a word on passing.
func CompareComment(w io.Writer, rep *analyze.Report, o analyze.Options, command string, limit int) error {
	g := &analyze.Gate{Report: rep, Options: o}
	counts := map[string]int{}
	for _, s := range rep.Sections {
		for _, ch := range s.Changes {
			for _, c := range ch.By {
				name := c.Head
				for _, k := range c.Key {
					name += " " + k.Key + "=" + k.Value
				}
				if ch.Row.Extrapolated() {
					name += " †"
				}
				counts[c.Verdict]++
				g.Results = append(g.Results, analyze.GateResult{Comparison: c, Name: name, Outcome: c.Verdict, Fails: c.Verdict == analyze.Regressed})
			}
		}
		g.Notes = append(g.Notes, footnotes(s)...)
	}
	if len(g.Results) == 0 { // one run: nothing to hold against anything
		return compareDocument(rep, CompareStyle{}).markdown(w)
	}
	order := []string{analyze.Regressed, analyze.Improved, analyze.Unchanged, analyze.Inconclusive, analyze.Incomparable}
	slices.SortStableFunc(g.Results, func(a, b analyze.GateResult) int {
		return slices.Index(order, a.Outcome) - slices.Index(order, b.Outcome)
	})
	mark := outcomeMarks[analyze.Unchanged]
	var parts []string
	for _, o := range order {
		if counts[o] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[o], o))
		}
	}
	switch {
	case counts[analyze.Regressed] > 0:
		mark = outcomeMarks[analyze.Regressed]
	case counts[analyze.Improved] > 0:
		mark = outcomeMarks[analyze.Improved]
	}
	sentence := fmt.Sprintf("%s of %s %s", mark, count(len(g.Results), "result"), strings.Join(parts, ", "))
	return writeComment(w, g, gateStyle{sentence: sentence, comparison: true, command: command}, limit)
}

func writeComment(w io.Writer, g *analyze.Gate, style gateStyle, limit int) error {
	var b bytes.Buffer
	for style.failing = len(g.Results); ; {
		b.Reset()
		if err := gateDocument(g, style).markdown(&b); err != nil {
			return err
		}
		if b.Len() <= limit || style.failing == 0 {
			break
		}
		if style.shed < shedPassing {
			style.shed++
		} else {
			style.failing /= 2
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// A gateStyle is how the outcome of a gate is written.
type gateStyle struct {
	sentence   string // instead of the gate's own
	comparison bool   // it is no gate that can pass
	sparks     bool   // with a small picture of the runs, for where there are no plots

	shed    int    // how much is left out because there is no room
	failing int    // where all but failing results are out: how many of those are shown
	command string // that shows all
}

// What is left out, in this order.
const (
	shedUnchanged = 1 + iota
	shedOthers    // all that neither changed nor fails
	shedDetails   // findings that are no errors, and notes
	shedPassing   // all that does not fail
)

// GateText writes the outcome of a gate for a terminal.
func GateText(w io.Writer, g *analyze.Gate, colour bool) error {
	return gateDocument(g, gateStyle{}).plain(w, colour)
}

// outcomeMarks are beside the words, never instead of them.
var outcomeMarks = map[string]string{
	analyze.Regressed: "🔴", analyze.Incomparable: "🔴", analyze.Missing: "🔴", analyze.Accepted: "🟡", analyze.Improved: "🟢",
	analyze.Inconclusive: "⚪", analyze.Unchanged: "⚪",
}

// gateDocument says first whether the gate passed, then what failed, and the
// rest folded.
func gateDocument(g *analyze.Gate, style gateStyle) *document {
	d := &document{}
	sentence := style.sentence
	if sentence == "" {
		sentence = gateSentence(g)
	}
	d.heading(3, plainText("%s", sentence))
	d.paragraph(plainText("%s", gateCounts(g, style.comparison)))
	changed := func(r analyze.GateResult) bool {
		untested := !r.Tested && r.Outcome == analyze.Inconclusive && math.Abs(r.DeltaPct) >= 100*r.Threshold
		return untested || r.Fails || r.Outcome == analyze.Improved || r.Outcome == analyze.Accepted || r.Outcome == analyze.Regressed
	}
	left := map[string]int{} // out, by outcome
	failing := 0
	leaveOut := func(r analyze.GateResult) bool {
		switch {
		case r.Fails:
			failing++
			return style.shed == shedPassing && failing > style.failing
		case style.shed >= shedPassing, style.shed >= shedOthers && !changed(r), style.shed >= shedUnchanged && r.Outcome == analyze.Unchanged:
			return true
		}
		return false
	}
	shown := map[bool][]analyze.GateResult{} // by whether it changed
	for _, r := range g.Results {
		if leaveOut(r) {
			left[r.Outcome]++
			continue
		}
		shown[changed(r)] = append(shown[changed(r)], r)
	}
	if len(shown[true]) > 0 {
		t := gateTable(g, shown[true])
		if style.sparks && addSparks(t, shown[true]) {
			d.add(t)
			d.paragraph(plainText("Runs: a bar a run, of the base and of the head, from the smallest value of both to the largest."))
		} else {
			d.add(t)
		}
	}
	if len(shown[false]) > 0 {
		rest := &document{}
		rest.add(gateTable(g, shown[false]))
		d.details(count(len(shown[false]), "other result"), rest)
	}
	if len(g.Differs) > 0 {
		d.paragraph(plainText("Base and head differ in %s.", shortened(strings.Join(g.Differs, ", "), style.shed)))
	}
	if style.shed < shedDetails {
		if items := findingItems(g.Report); len(items) > 0 {
			d.paragraph(strong("Read with care"))
			d.list(items...)
		}
		var notes [][]span
		for _, n := range slices.Compact(slices.Clone(g.Notes)) {
			notes = append(notes, []span{plainText("%s", n)})
		}
		d.list(notes...)
	}
	if style.shed > 0 {
		var parts []string
		for _, o := range [...]string{analyze.Regressed, analyze.Incomparable, analyze.Missing, analyze.Accepted, analyze.Improved, analyze.Inconclusive, analyze.Unchanged} {
			if n := left[o]; n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, o))
			}
		}
		if style.shed >= shedDetails {
			parts = append(parts, "findings and notes")
		}
		d.paragraph(plainText("Left out, as a comment has only so much room: %s. All of it is shown by", strings.Join(parts, ", ")))
		d.blocks = append(d.blocks, block{code: shortened(style.command, style.shed)})
	}
	return d
}

// shortened cuts what could be of any length where room is scarce.
func shortened(s string, level int) string {
	if level > 0 {
		return shorten(s, 2000)
	}
	return s
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
func gateCounts(g *analyze.Gate, comparison bool) string {
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
	correction, gated := "Holm", "Gated"
	if comparison {
		correction, gated = "Benjamini–Hochberg", "Compared"
	}
	parts = append(parts, fmt.Sprintf("α %.3g (%s)", alpha, correction))
	if thresholds != nil {
		parts = append(parts, "thresholds "+strings.Join(thresholds, ", "))
	}
	return strings.Join(parts, " · ") + ". " + gated + ": " + strings.Join(metrics, ", ") + "."
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

// gateTable lists results of a gate.
func gateTable(g *analyze.Gate, results []analyze.GateResult) *table {
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
	if head == "head" { // several, or within one input
		base = "base"
	}
	t.column(base, true)
	t.column(head, true)
	t.column("Change", false)
	for _, r := range results {
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

// addSparks adds a column with a bar for each run of both sides, and reports
// whether there is one: two runs a side are no picture.
func addSparks(t *table, results []analyze.GateResult) bool {
	const fewest, most = 3, 20
	sparks := make([]string, len(results))
	some := false
	for i, r := range results {
		base, head := r.Values[0], r.Values[1]
		if len(base) < fewest || len(head) < fewest || len(base) > most || len(head) > most {
			continue
		}
		lo, hi := min(slices.Min(base), slices.Min(head)), max(slices.Max(base), slices.Max(head))
		sparks[i] = spark(base, lo, hi) + " " + spark(head, lo, hi)
		some = true
	}
	if !some {
		return false
	}
	t.column("Runs", false)
	for i := range t.rows {
		t.rows[i] = append(t.rows[i], sparks[i])
	}
	return true
}

// spark draws values between lo and hi.
func spark(values []float64, lo, hi float64) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for _, v := range values {
		i := 0
		if hi > lo {
			i = int((v-lo)/(hi-lo)*float64(len(levels)-1) + 0.5)
		}
		b.WriteRune(levels[min(max(i, 0), len(levels)-1)])
	}
	return b.String()
}

// headInput is the name of the head, where there is one.
func headInput(g *analyze.Gate) string {
	head := ""
	for _, r := range g.Runs {
		switch {
		case r.Input == g.Report.Baseline || r.Input == head:
		case head == "":
			head = r.Input
		default:
			return "head"
		}
	}
	return cmp.Or(head, "head")
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
