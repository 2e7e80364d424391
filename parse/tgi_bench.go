package parse

import (
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// tgiBench reads text-generation-benchmark, which prints three tables when its
// full-screen display closes: parameters, latencies, throughputs. A run is a
// batch size.
var tgiBench = Format{
	Tool:    "tgi-bench",
	Engine:  "tgi",
	Reads:   "Markdown tables (parameters, latency, throughput)",
	Since:   "2023",
	Example: "| Decode (token) | 1          | 12.50 ms   | 12.40 ms   | 12.75 ms   | 12.50 ms   | 12.70 ms   | 12.75 ms   |",
	Limits: "prefill is the step itself, without queue and network, so it is prefill and not TTFT; its throughput counts the one token that the step makes for each request; " +
		"percentiles that are out of order are left out, since the tool takes them from samples that it did not sort",
	Lines: []Start{
		{Prefix: "| Parameter ", Read: startTGI},
		{Prefix: "| Step ", Read: startTGI},
	},
}

// tgiParameters are the parameters that have a name of ours; others keep theirs.
var tgiParameters = map[string]string{
	"Model": "model", "Sequence Length": "input_len", "Decode Length": "output_len", "N Runs": "repetitions",
}

// tgiSteps are the rows of the latency table.
var tgiSteps = map[string]string{"Prefill": "prefill", "Decode (token)": "tpot", "Decode (total)": "decode"}

// tgiStats are its columns.
var tgiStats = map[string]string{"Average": "mean", "Lowest": "min", "Highest": "max", "p50": "p50", "p90": "p90", "p99": "p99"}

// A tgiTables is the output of one benchmark while it is read.
type tgiTables struct {
	config bench.Config
	runs   []*bench.Run // one for each batch size
	batch  map[string]*bench.Run
	seen   map[string]bool
	header []string
	above  []string // the row above: an empty cell repeats it
	gap    int
	told   bool // of percentiles that are left out
}

func startTGI(d *document, l line) bool {
	if tgiKind(tableCells(string(l.msg))) == "" {
		return false
	}
	t := &tgiTables{seen: map[string]bool{}, batch: map[string]*bench.Run{}}
	t.line(d, l)
	d.open(t)
	return true
}

// tgiKind tells which table a header begins, "" if it is none of ours.
func tgiKind(header []string) string {
	switch {
	case slices.Equal(header, []string{"Parameter", "Value"}):
		return "parameters"
	case len(header) < 5 || header[0] != "Step" || header[1] != "Batch Size" || header[2] != "Average":
		return ""
	case slices.Contains(header, "p50"):
		return "latency"
	}
	return "throughput"
}

func (t *tgiTables) line(d *document, l line) verdict {
	if len(l.msg) == 0 || l.msg[0] != '|' {
		t.header = nil
		if len(l.text) == 0 {
			return passed
		}
		if l.text[0] == '#' && t.seen["throughput"] {
			return ended // what follows stands under another heading
		}
		if t.gap++; t.gap > 10 {
			return ended
		}
		return passed
	}
	if isFrame(l.msg) {
		return taken
	}
	cells := tableCells(string(l.msg))
	if kind := tgiKind(cells); kind != "" {
		if t.seen[kind] || kind == "parameters" && len(t.seen) > 0 {
			return ended // the next benchmark
		}
		t.seen[kind] = true
		t.header, t.above, t.gap = cells, make([]string, len(cells)), 0
		return taken
	}
	if len(cells) != len(t.header) {
		return ended // a table of something else
	}
	if len(cells) == 2 {
		t.parameter(cells[0], cells[1])
		return taken
	}
	for i := range cells {
		if cells[i] == "" {
			cells[i] = t.above[i]
		}
	}
	t.above = cells
	t.row(d, cells, l.number)
	return taken
}

// parameter reads a row such as `Top P | Some(0.9)`. None was not given.
func (t *tgiTables) parameter(name, value string) {
	if rest, ok := strings.CutPrefix(value, "Some("); ok {
		value = strings.TrimSuffix(rest, ")")
	}
	key := tgiParameters[name]
	if key == "" {
		key = strings.ReplaceAll(strings.ToLower(name), " ", "_")
	}
	if value != "None" && value != "false" && len(t.config) < 50 && plausible(key, value) {
		t.config.Add(key, redact(key, tidyValue(key, value)), bench.FromLog)
	}
}

// row reads the figures of one step at one batch size.
func (t *tgiTables) row(d *document, cells []string, number int) {
	step, batch := cells[0], cells[1]
	if !allDigits(batch) || len(batch) > 9 {
		d.errorf(number, "Batch Size: expected a number, found %q", printable(clip(batch)))
		return
	}
	r := t.batch[batch]
	if r == nil {
		if len(t.runs) == 1000 {
			return
		}
		r = &bench.Run{Source: bench.Source{Line: number, Tool: "tgi-bench", Format: "md"}}
		// The requests of a batch run at the same time: that is the load.
		r.Config.Add("batch", batch, bench.FromLog)
		r.Config.Add("concurrency", batch, bench.FromLog)
		t.runs = append(t.runs, r)
		t.batch[batch] = r
	}
	r.Source.EndLine = number
	family := tgiSteps[step]
	var found []bench.Metric
	for i := 2; i < len(cells); i++ {
		value, unit, _ := strings.Cut(cells[i], " ")
		stat := tgiStats[t.header[i]]
		if stat == "" || isNothing(value) {
			continue
		}
		m, ok := d.metric("", value, number, step+" "+t.header[i])
		if !ok {
			continue
		}
		if unit == "tokens/secs" {
			if stat == "mean" && (step == "Prefill" || step == "Decode") {
				m.Name = map[string]string{"Prefill": "first_token_throughput", "Decode": "decode_throughput"}[step]
				found = append(found, m)
			}
			continue
		}
		factor, ok := msPer(unit)
		if !ok {
			d.errorf(number, "%s: expected a unit of time, found %q", printable(clip(step)), printable(clip(unit)))
			return
		}
		if family != "" {
			m = scaled(m, factor)
			m.Name = stat + "_" + family + "_ms"
			found = append(found, m)
		}
	}
	for _, m := range t.sorted(d, found, number) {
		r.Add(m)
	}
}

// sorted leaves out the percentiles that cannot be right.
func (t *tgiTables) sorted(d *document, found []bench.Metric, number int) []bench.Metric {
	last, ordered := 0.0, true
	for _, m := range found {
		if m.Name[0] == 'p' && isDigit(m.Name[1]) {
			ordered = ordered && m.Value >= last
			last = m.Value
		}
	}
	if ordered {
		return found
	}
	if !t.told {
		t.told = true
		d.notef(number, "percentiles that are out of order are left out: the tool did not sort its samples")
	}
	return slices.DeleteFunc(found, func(m bench.Metric) bool { return m.Name[0] == 'p' && isDigit(m.Name[1]) })
}

func (t *tgiTables) close(d *document) {
	runs := slices.DeleteFunc(t.runs, func(r *bench.Run) bool { return len(r.Metrics) == 0 })
	for _, r := range runs {
		r.Config.Merge(t.config)
	}
	d.emitTogether(t, runs)
}
