package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// genaiPerf reads NVIDIA GenAI-Perf. AIPerf, its successor, writes the same
// three forms with other words; both are read here and told apart by them.
var genaiPerf = Format{
	Tool:     "genai-perf",
	Programs: []program{{name: "genai-perf"}},
	Flags:    perfFlags,
	Reads:    "console table, CSV (profile_export_genai_perf.csv), JSON (profile_export_genai_perf.json)",
	Since:    "2024-03",
	Example:  "┃                         Statistic ┃       avg ┃      min ┃       max ┃       p99 ┃       p90 ┃       p75 ┃",
	Limits: "inter token latency is the mean of a request, (e2e − ttft) ÷ (tokens − 1), and so is TPOT here (in the first weeks of 2024 it was single gaps, under the same label); " +
		"of per-user rates only the mean is kept; GPU telemetry, sessions and the raw profile_export.json are not read; a table that the terminal cut (1,2…) loses those cells",
	Lines: []Start{
		{Prefix: "┃", Read: startPerfTable},
		{Prefix: "â”ƒ", Read: startPerfTable}, // UTF-8 read as CP1252
		{Prefix: "|", Read: startPerfTable},   // a terminal without box characters
		{Prefix: "Statistic,avg", Read: startPerfCSV},
	},
	Keys:   []string{"request_throughput", "error_request_count"},
	Object: perfObject,
}

// A perfMetric is what a figure of the two tools is: a latency with all its
// statistics, or a number of which the mean counts.
type perfMetric struct{ family, mean string }

// perfMetrics go by the keys of the JSON. The labels of tables are the same
// words with blanks and a unit behind them.
var perfMetrics = map[string]perfMetric{
	"time_to_first_token":              {family: "ttft"},
	"time_to_second_token":             {family: "ttst"},
	"time_to_first_output_token":       {family: "ttfot"},
	"request_latency":                  {family: "e2el"},
	"inter_token_latency":              {family: "tpot"},
	"inter_chunk_latency":              {family: "itl"},
	"request_throughput":               {mean: "request_throughput"},
	"request_goodput":                  {mean: "request_goodput"},
	"goodput":                          {mean: "request_goodput"},
	"output_token_throughput":          {mean: "output_throughput"},
	"input_token_throughput":           {mean: "input_throughput"},
	"total_token_throughput":           {mean: "total_token_throughput"},
	"output_token_throughput_per_user": {mean: "output_token_throughput_per_user"},
	"prefill_throughput_per_user":      {mean: "prefill_throughput_per_user"},
	"prefill_throughput":               {mean: "prefill_throughput_per_user"}, // its older name
	"output_sequence_length":           {mean: "mean_output_tokens"},
	"num_output_token":                 {mean: "mean_output_tokens"},
	"input_sequence_length":            {mean: "mean_input_tokens"},
	"num_input_token":                  {mean: "mean_input_tokens"},
	"total_osl":                        {mean: "total_output_tokens"},
	"total_output_sequence_length":     {mean: "total_output_tokens"},
	"total_isl":                        {mean: "total_input_tokens"},
	"total_input_sequence_length":      {mean: "total_input_tokens"},
	"request_count":                    {mean: "completed"},
	"error_request_count":              {mean: "failed"},
	"benchmark_duration":               {mean: "duration"},
}

// perfStat gives the name of a statistic, "" if it is none.
func perfStat(s string) string {
	switch s {
	case "avg", "Value":
		return "mean"
	case "min", "max", "std":
		return s
	}
	if _, _, ok := bench.SplitLatency(s + "_ttft_ms"); ok {
		return s
	}
	return ""
}

// perfKey cuts a label into the key it has in the JSON and its unit:
// `Time To First Token (ms)`.
func perfKey(label string) (key, unit string) {
	if open := strings.LastIndexByte(label, '('); open >= 0 {
		label, unit = label[:open], strings.TrimSuffix(label[open+1:], ")")
	}
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(label)), " ", "_"), unit
}

// perfRun is a run of one of the two tools while it is read.
type perfRun struct {
	run    *bench.Run
	aiperf bool
}

func newPerfRun(number int, format string) perfRun {
	return perfRun{run: &bench.Run{Source: bench.Source{Line: number, EndLine: number, Tool: "genai-perf", Format: format}}}
}

// set adds one statistic of one figure. It returns false where the unit of a
// time is not known.
func (p *perfRun) set(key, unit, stat string, m bench.Metric) bool {
	of := perfMetrics[key]
	switch {
	case of.family != "":
		factor, ok := msPer(unit)
		if !ok {
			return false
		}
		m = scaled(m, factor)
		m.Name = stat + "_" + of.family + "_ms"
	case of.mean == "duration":
		factor, ok := msPer(unit)
		if !ok {
			return false
		}
		m = scaled(m, factor/1000)
		m.Name = of.mean
	case stat == "mean":
		m.Name = of.mean
	default:
		return true
	}
	if m.Name != "" {
		p.run.Add(m)
	}
	return true
}

// emit adds the run, if it is one.
func (p *perfRun) emit(d *document) {
	r := p.run
	if p.aiperf {
		r.Source.Tool = "aiperf"
	}
	if !slices.ContainsFunc(r.Metrics, func(m bench.Metric) bool {
		_, _, latency := bench.SplitLatency(m.Name)
		return latency || m.Name == "request_throughput" || m.Name == "output_throughput" || m.Name == "failed"
	}) {
		return
	}
	counts(r)
	d.emit(r)
}

// A perfTable is a console table while it is read, with the lines below it.
type perfTable struct {
	perfRun
	stats []string // by column
	label string   // of the row that may go on in the next line
	cells []string
	at    int
	cut   bool
	below bool // behind the last row
	gap   int
}

// readPerfTitle reads the title of a table: one of a part of the run is not the run.
func readPerfTitle(d *document, l line) bool {
	if bytes.Contains(l.msg, []byte("Steady")) || bytes.Contains(l.msg, []byte("Warm")) {
		d.perfPart = l.number
	}
	return false
}

func startPerfTable(d *document, l line) bool {
	if !bytes.Contains(l.msg, []byte(" avg ")) || d.perfPart > 0 && l.number-d.perfPart < 4 {
		return false
	}
	cells := trimmed(boxCells(l.msg))
	if len(cells) < 2 || cells[0] != "Statistic" && cells[0] != "Metric" || cells[1] != "avg" {
		return false
	}
	t := &perfTable{perfRun: newPerfRun(l.number, "text"), stats: cells}
	t.aiperf = cells[0] == "Metric"
	for i := range t.stats {
		t.stats[i] = perfStat(cells[i])
	}
	d.open(t)
	return true
}

func (t *perfTable) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		return passed
	}
	if isFrame(l.msg) {
		if len(bytes.Trim(l.msg, "|-: ")) == 0 {
			t.run.Metrics, t.cells = nil, nil
			return ended // a Markdown table: somebody wrote it
		}
		if t.below {
			return ended // the frame of the next table
		}
		t.run.Source.EndLine = l.number
		return taken
	}
	if cells := trimmed(boxCells(l.msg)); !t.below && len(cells) == len(t.stats) {
		t.run.Source.EndLine = l.number
		switch {
		case cells[0] == "Metric" || cells[0] == "Statistic":
			return ended // another table
		case onlyFirst(cells) && t.cells != nil:
			if len(t.label) < 200 {
				t.label += " " + cells[0]
			}
		default:
			t.row(d)
			t.label, t.cells, t.at = cells[0], cells, l.number
		}
		return taken
	}
	t.row(d)
	t.below = true
	if t.trailer(d, l) {
		t.run.Source.EndLine = l.number
		t.gap = 0
		return taken
	}
	if t.gap++; t.gap > 5 || len(l.msg) > 0 && l.msg[0] == '#' {
		return ended
	}
	return passed
}

// row reads the row that is held, now that its label is complete.
func (t *perfTable) row(d *document) {
	if t.cells == nil {
		return
	}
	key, unit := perfKey(t.label)
	cells := t.cells
	t.cells = nil
	if perfMetrics[key] == (perfMetric{}) {
		return
	}
	for i, stat := range t.stats {
		if i == 0 || stat == "" {
			continue
		}
		if strings.HasSuffix(cells[i], "…") {
			if !t.cut {
				d.errorf(t.at, "%s: the terminal cut the table: %q", printable(clip(t.label)), printable(clip(cells[i])))
			}
			t.cut = true
			continue
		}
		if m, ok := d.metric("", cells[i], t.at, t.label); ok && !t.set(key, unit, stat, m) {
			d.errorf(t.at, "%s: expected a unit of time, found %q", printable(clip(t.label)), printable(clip(unit)))
			return
		}
	}
}

// trailer reads what the tools print below their table: until August 2024 the
// throughputs, in AIPerf the command and how long it took.
func (t *perfTable) trailer(d *document, l line) bool {
	label, value, ok := strings.Cut(string(l.msg), ": ")
	if !ok || len(label) > 60 {
		return false
	}
	value = strings.TrimSpace(value)
	if label == "CLI Command" {
		if cmd := parseCommand(value, nil, true); cmd != nil && cmd.role == client {
			for _, s := range benchmarkCommand(cmd) {
				t.run.Config.Add(s.Key, s.Value, bench.FromLog)
			}
		}
		return true
	}
	key, unit := perfKey(label)
	if perfMetrics[key].mean == "" {
		return false
	}
	if number, behind, ok := strings.Cut(value, " "); ok && unit == "" {
		value, unit = number, behind
	}
	if m, ok := d.metric("", value, l.number, label); ok && !t.set(key, unit, "mean", m) {
		d.errorf(l.number, "%s: expected a unit of time, found %q", printable(clip(label)), printable(clip(unit)))
	}
	return true
}

func (t *perfTable) close(d *document) {
	t.row(d)
	t.emit(d)
}

// A perfCSV is the CSV file while it is read: tables below each other, the
// statistics first, then the single values, then GPU telemetry.
type perfCSV struct {
	perfRun
	stats []string // by column, nil in a table that is not ours
}

func startPerfCSV(d *document, l line) bool {
	c := &perfCSV{perfRun: newPerfRun(l.number, "csv")}
	c.header(csvCells(string(l.text), ','))
	// AIPerf has a std, and its percentiles rise.
	low, high := slices.Index(c.stats, "p50"), slices.Index(c.stats, "p99")
	c.aiperf = slices.Contains(c.stats, "std") || low > 0 && low < high || strings.Contains(d.file, "aiperf")
	d.open(c)
	return true
}

func (c *perfCSV) header(cells []string) {
	c.stats = nil
	for _, s := range cells {
		c.stats = append(c.stats, perfStat(s))
	}
}

func (c *perfCSV) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		return passed
	}
	cells := csvCells(string(l.text), ',')
	if len(cells) < 2 {
		return ended
	}
	if cells[0] == "Metric" || cells[0] == "Statistic" {
		if cells[1] == "avg" {
			return ended // the next file
		}
		if c.stats = nil; cells[1] == "Value" {
			c.header(cells)
		}
		return taken
	}
	key, unit := perfKey(cells[0])
	if c.stats == nil || perfMetrics[key] == (perfMetric{}) {
		return taken
	}
	c.run.Source.EndLine = l.number
	c.aiperf = c.aiperf || strings.HasPrefix(unit, "requests")
	if len(cells) == 2 && len(c.stats) > 2 {
		c.stats = []string{"", "mean"} // single values that lost their header
	}
	if len(cells) != len(c.stats) {
		d.errorf(l.number, "CSV: expected %d columns as in the header, found %d", len(c.stats), len(cells))
		return taken
	}
	for i, stat := range c.stats {
		if stat == "" {
			continue
		}
		if m, ok := d.metric("", cells[i], l.number, cells[0]); ok && !c.set(key, unit, stat, m) {
			d.errorf(l.number, "%s: expected a unit of time, found %q", printable(clip(cells[0])), printable(clip(unit)))
			break
		}
	}
	return taken
}

func (c *perfCSV) close(d *document) { c.emit(d) }

// perfObject reads the JSON of both tools: a block for each figure, with its unit.
func perfObject(d *document, o *object) bool {
	aiperf := strings.Contains(d.file, "aiperf")
	for _, key := range [...]string{"aiperf_version", "was_cancelled", "error_summary", "benchmark_duration", "schema_version"} {
		aiperf = aiperf || o.get(key) != nil
	}
	config := o.get("input_config")
	if config == nil && o.get("aiperf_version") == nil && (d.json == nil || d.json.depth > 0) {
		return false // a part of something: the warm-up, or one request
	}
	p := newPerfRun(o.line, "json")
	p.aiperf = aiperf
	p.run.Source.EndLine = o.end
	if !p.figures(d, o) {
		return false
	}
	if config != nil {
		perfConfig(p.run, config.object)
	}
	p.run.Config.Add("aiperf_version", redact("", o.scalar("aiperf_version")), bench.FromJSON)
	if v := o.scalar("schema_version"); v != "" && !strings.HasPrefix(v, "1.") {
		d.notef(o.get("schema_version").line, "schema version %s is not known: read as far as it is like version 1", printable(clip(v)))
	}
	if o.scalar("was_cancelled") == "true" {
		p.run.Findings = append(p.run.Findings, bench.Finding{Code: "partial", Severity: bench.Warning, Message: "the run was cancelled before its end"})
	}
	before := len(d.runs)
	p.emit(d)
	return len(d.runs) > before
}

// figures reads the blocks of an object. It returns false if there is none.
func (p *perfRun) figures(d *document, o *object) bool {
	blocks := 0
	for i := range o.members {
		m := &o.members[i]
		if perfMetrics[m.key] == (perfMetric{}) {
			continue
		}
		if m.object == nil {
			if m.kind != jsonNull && blocks > 0 {
				d.errorf(m.line, "%s: expected an object with unit and avg, found %s", m.key, kindName(m.kind))
			}
			continue
		}
		blocks++
		unit := m.object.scalar("unit")
		for k := range m.object.members {
			v := &m.object.members[k]
			stat := perfStat(v.key)
			if stat == "" || v.key == "Value" {
				continue
			}
			metric, ok := d.jsonValue(v, m.key+" "+v.key)
			if ok && !p.set(m.key, unit, stat, metric) {
				d.errorf(m.line, "%s: expected a unit of time, found %q", m.key, printable(clip(unit)))
				break
			}
		}
	}
	return blocks > 0
}

// jsonValue reads a member that is a number, or a number in quotes. Null is not
// measured; anything else is told.
func (d *document) jsonValue(m *member, what string) (bench.Metric, bool) {
	switch m.kind {
	case jsonNumber, jsonString:
		v, ok := d.metric("", string(m.text), m.line, what)
		v.Decimals = -1
		return v, ok
	case jsonNull:
	default:
		d.errorf(m.line, "%s: expected a number, found %s", printable(clip(what)), kindName(m.kind))
	}
	return bench.Metric{}, false
}

// perfSettings are where the settings stand in input_config, which is flat in
// GenAI-Perf of 2024 and nested ever since.
var perfSettings = []struct{ key, path string }{
	{"model", "model"}, {"model", "model_names"}, {"model", "endpoint.model_names"}, {"model", "formatted_model_name"},
	{"concurrency", "concurrency"}, {"concurrency", "loadgen.concurrency"}, {"concurrency", "perf_analyzer.stimulus.concurrency"},
	{"request_rate", "request_rate"}, {"request_rate", "loadgen.request_rate"}, {"request_rate", "perf_analyzer.stimulus.request_rate"},
	{"num_prompts", "request_count"}, {"num_prompts", "loadgen.request_count"},
	{"input_len", "synthetic_input_tokens_mean"}, {"input_len", "input.synthetic_tokens.mean"}, {"input_len", "input.prompt.input_tokens.mean"},
	{"output_len", "output_tokens_mean"}, {"output_len", "input.output_tokens.mean"}, {"output_len", "input.prompt.output_tokens.mean"},
	{"seed", "random_seed"}, {"seed", "input.random_seed"},
	{"backend", "backend"}, {"backend", "endpoint.backend"}, {"endpoint_type", "endpoint_type"}, {"endpoint_type", "endpoint.type"},
	{"tokenizer", "tokenizer"}, {"tokenizer", "tokenizer.name"}, {"streaming", "streaming"}, {"streaming", "endpoint.streaming"},
}

func perfConfig(r *bench.Run, o *object) {
	for _, s := range perfSettings {
		addSetting(r, s.key, o.at(s.path))
	}
	// AIPerf saves its command, which says what the layout of the settings hides.
	if cmd := parseCommand(o.scalar("cli_command"), nil, true); cmd != nil && cmd.role == client {
		for _, s := range benchmarkCommand(cmd) {
			r.Config.Add(s.Key, s.Value, bench.FromJSON)
		}
	}
}

// at returns the text at a path of keys, "" if there is none. A list stands for
// its first string.
func (o *object) at(path string) string {
	for {
		key, rest, deeper := strings.Cut(path, ".")
		m := o.get(key)
		switch {
		case m == nil:
			return ""
		case !deeper && m.list != nil:
			return string(m.list.first)
		case !deeper:
			return o.scalar(key)
		}
		o, path = m.object, rest
	}
}

// addSetting adds a setting of a saved result, if it says something: -1 and
// false stand for what was not asked for.
func addSetting(r *bench.Run, key, value string) {
	if value == "" || value == "false" || strings.HasPrefix(value, "-") || len(value) > 300 || !fitsKey(key, value) {
		return
	}
	r.Config.Add(key, redact(key, tidyValue(key, value)), bench.FromJSON)
}

// perfFlags are what the flags of genai-perf and AIPerf set.
var perfFlags = map[string]string{"m": "model", "model-names": "model", "u": "", "url": "", "request-count": "num_prompts", "num-requests": "num_prompts", "num-prompts": "",
	"synthetic-input-tokens-mean": "input_len", "output-tokens-mean": "output_len", "extra-inputs": "", "profile-export-file": "",
	"artifact-dir": "", "artifact-directory": "", "service-kind": "", "goodput": "goodput"}
