package render

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// planned are the numbers of runs a side that a table shows.
var planned = []int{2, 3, 4, 5, 6, 8, 10, 15, 20}

// PlanMarkdown writes a plan as Markdown.
func PlanMarkdown(w io.Writer, plans []analyze.Plan, effect float64) error {
	return planDocument(plans, effect).markdown(w)
}

// PlanText writes a plan for a terminal.
func PlanText(w io.Writer, plans []analyze.Plan, effect float64, colour bool) error {
	return planDocument(plans, effect).plain(w, colour)
}

func planDocument(plans []analyze.Plan, effect float64) *document {
	d := &document{}
	d.paragraph(plainText("The smallest change that so many runs a side find, with 80 %% power at α 0.05:"))
	t := &table{}
	t.column("What", false)
	t.column("Metric", false)
	t.column("Spread", true)
	t.column("Seen in", false)
	for _, n := range planned {
		t.column(strconv.Itoa(n)+" runs", true)
	}
	if effect > 0 {
		t.column(fmt.Sprintf("Runs for %.3g %%", 100*effect), true)
	}
	for _, p := range plans {
		row := []string{shorten(p.Name, 50), bench.Lookup(p.Metric).Title, fmt.Sprintf("%.2f %%", 100*p.Spread), seenIn(p)}
		for _, n := range planned {
			row = append(row, fmt.Sprintf("%.1f %%", 100*p.Changes[n-analyze.MinPlanned]))
		}
		if effect > 0 {
			row = append(row, strconv.Itoa(p.Needed))
		}
		t.rows = append(t.rows, row)
	}
	d.add(t)
	d.paragraph(plainText("A spread seen in few runs is itself uncertain: from 3 runs by a factor of about 2 either way."))
	return d
}

func seenIn(p analyze.Plan) string {
	switch p.Evidence {
	case analyze.EvidenceProcess:
		return fmt.Sprintf("%d repetitions inside one process", p.Runs)
	case analyze.EvidenceDeclared:
		return "declared"
	}
	return fmt.Sprintf("%d runs", p.Runs)
}

// PlanCSV writes a plan as tidy data: a row a thing, metric and number of runs.
func PlanCSV(w io.Writer, plans []analyze.Plan) error {
	out := newCSV(w)
	if err := out.Write([]string{"tool", "name", "metric", "spread_pct", "evidence", "seen_in", "runs_a_side", "change_pct"}); err != nil {
		return err
	}
	for _, p := range plans {
		for i, c := range p.Changes {
			row := []string{p.Tool, p.Name, p.Metric, strconv.FormatFloat(100*p.Spread, 'f', 4, 64), p.Evidence, strconv.Itoa(p.Runs),
				strconv.Itoa(analyze.MinPlanned + i), strconv.FormatFloat(100*c, 'f', 4, 64)}
			if err := out.Write(row); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}

// PlanJSON writes a plan as JSON.
func PlanJSON(out io.Writer, plans []analyze.Plan) error {
	w := jsonWriter{out: bufio.NewWriter(out)}
	w.raw(`{"schema":`).string(Schema).raw(",\n\"plans\":[")
	for i, p := range plans {
		w.comma(i).raw("\n").raw(`{"tool":`).string(p.Tool).raw(`,"name":`).string(strings.TrimSpace(p.Name)).raw(`,"metric":`).string(p.Metric)
		w.raw(`,"spread_pct":`).float(100 * p.Spread).raw(`,"evidence":`).string(p.Evidence).raw(`,"seen_in":`).int(p.Runs).raw(`,"detectable_pct":{`)
		for k, c := range p.Changes {
			w.comma(k).string(strconv.Itoa(analyze.MinPlanned + k)).raw(":").float(100 * c)
		}
		w.raw(`},"runs_needed":`)
		if p.Needed > 0 {
			w.int(p.Needed)
		} else {
			w.raw("null")
		}
		w.raw("}")
	}
	w.raw("]}\n")
	return w.flush()
}
