package parse

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// guideLLM reads guidellm: a run is one load point of its file, its CSV or its
// console tables. Of the statistics it groups by how requests ended, those of
// the completed ones count.
var guideLLM = Format{
	Tool:     "guidellm",
	Programs: []program{{name: "guidellm", sub: "benchmark"}},
	Flags: map[string]string{"target": "", "rate": "", "rate-type": "", "profile": "", "output-path": "", "output-dir": "", "outputs": "", "backend": "",
		"backend-type": "", "backend-args": "", "backend-kwargs": "", "data": "data", "output-extras": "", "display-scheduler-stats": ""},
	Reads:   "JSON (all schemas), CSV (one header row until 0.3, three later), console tables (0.2 and later)",
	Since:   "v0.1 (2024-08)",
	Example: "constant@4.52|       4.31|       12.84|       551.6|      2758.1| 2.98|   2.97|  3.12|  61.2|   60.4|  88.1| 22.9|   22.9| 23.8| 22.8|   22.7| 23.6",
	Derives: "all statistics of v0.1, which saves only its requests; how requests scatter, where the file has all of them",
	Limits: "its inter_token_latency is the mean of a request and so is TPOT here; its time_per_output_token is time_per_output_token (v0.2, v0.3: decode time ÷ tokens) or latency_per_token " +
		"(v0.4 and later: with the first token); rates are its own means between the first and the last event, not counts over the duration; in the console token rates, and since v0.4 request " +
		"rates too, count requests that did not complete, request latency has one or two decimals of a second (v0.2 writes ms above seconds), and since v0.4 rates and streams of a load point are not printed; " +
		"YAML, the console of v0.1 and a CSV whose rows do not fit its header are not read",
	Lines: []Start{
		{Prefix: "Benchmarks Metadata:", Read: startGuide},
		{Prefix: "Benchmarks Info:", Read: startGuide},
		{Prefix: "Benchmarks Stats:", Read: startGuide},
		{Prefix: "ℹ ", Read: startGuide},
		{Prefix: "Run Summary Info", Read: startGuide},
		{Prefix: "Request Latency Statistics", Read: startGuide},
		{Prefix: "Server Throughput Statistics", Read: startGuide},
		{Prefix: "Run Info,Run Info,", Read: startGuideCSV},
	},
	Keys:    []string{"benchmarks", "run_stats", "scheduler_metrics", "scheduler_info", "output_metrics", "output_token_count", "concurrencies"},
	Object:  guideObject,
	Columns: []string{"Successful Requests per second mean", "Name", "Duration"},
	Row:     guideRow,
}

// A guideMetric is what a figure of guidellm is: a latency with all its
// statistics, or a number of which the mean, and perhaps the sum, counts.
type guideMetric struct {
	family, mean, sum string
	factor            float64 // to milliseconds
}

// guideMetrics go by the keys of the JSON; the CSV has the same words.
var guideMetrics = map[string]guideMetric{
	"requests_per_second":           {mean: "request_throughput"},
	"request_concurrency":           {mean: "mean_concurrency"},
	"output_tokens_per_second":      {mean: "output_throughput"},
	"prompt_tokens_per_second":      {mean: "input_throughput"},
	"tokens_per_second":             {mean: "total_token_throughput"},
	"prompt_token_count":            {mean: "mean_input_tokens", sum: "total_input_tokens"},
	"output_token_count":            {mean: "mean_output_tokens", sum: "total_output_tokens"},
	"request_latency":               {family: "e2el", factor: 1000},
	"time_to_first_token_ms":        {family: "ttft", factor: 1},
	"time_to_first_output_token_ms": {family: "ttfot", factor: 1},
	"inter_token_latency_ms":        {family: "tpot", factor: 1},
	// The mean time of a token, the first one and its wait included: until
	// v0.3 the key had another meaning, see oldPerToken.
	"time_per_output_token_ms": {family: "latency_per_token", factor: 1},
}

// oldPerToken is time_per_output_token_ms until v0.3: the time from the first
// token to the last over all tokens.
var oldPerToken = guideMetric{family: "time_per_output_token", factor: 1}

// guideOrder are the figures in the order in which they are shown. Those up to
// the mark stand in every file since v0.2.
var guideOrder = []string{
	"requests_per_second", "output_tokens_per_second", "tokens_per_second", "prompt_token_count", "output_token_count", "request_concurrency",
	"request_latency", "time_to_first_token_ms", "inter_token_latency_ms", "time_per_output_token_ms",
	"", "prompt_tokens_per_second", "time_to_first_output_token_ms",
}

// guideStats are the statistics of a distribution. The median is p50, which
// v0.2 does not have.
var guideStats = []struct{ key, stat string }{
	{"mean", "mean"}, {"median", "median"}, {"std_dev", "std"}, {"min", "min"}, {"max", "max"}, {"total_sum", "sum"},
	{"p001", "p0.1"}, {"p01", "p1"}, {"p05", "p5"}, {"p10", "p10"}, {"p25", "p25"}, {"p75", "p75"}, {"p90", "p90"}, {"p95", "p95"}, {"p99", "p99"}, {"p999", "p99.9"},
}

// guideList are the statistics in the lists of the CSV.
var guideList = []string{"min", "p0.1", "p1", "p5", "p10", "p25", "p75", "p90", "p95", "p99", "max"}

// add adds one statistic of one figure.
func (g guideMetric) add(r *bench.Run, stat string, m bench.Metric) {
	switch {
	case g.family != "" && stat != "sum":
		m = scaled(m, g.factor)
		m.Name = stat + "_" + g.family + "_ms"
	case stat == "mean":
		m.Name = g.mean
	case stat == "sum":
		m.Name = g.sum
	default:
		return
	}
	if m.Name != "" {
		r.Add(m)
	}
}

func newGuideRun(line, end int, format string) *bench.Run {
	return &bench.Run{Source: bench.Source{Line: line, EndLine: end, Tool: "guidellm", Format: format}}
}

// guideState is what the objects of a file say before the one that ends them.
type guideState struct {
	requests guideRequests
	runs     []*bench.Run // that wait for what the whole file says of them
}

// guideRequests are the requests of a benchmark that completed.
type guideRequests struct {
	ttft, tpot, itl, e2el samples
	n                     int
	input, output         float64
	start, end            float64
}

// guideObject reads the objects of a saved file: requests, which come by the
// thousand and are dropped once they are counted, benchmarks, and the file.
func guideObject(d *document, o *object) bool {
	switch o.scalar("type_") {
	case "generative_text_response":
		d.guide.requests.add(o)
		return true
	case "generative_text_error":
		return true
	case "generative_request_stats":
		if o.at("info.status") == "completed" {
			d.guide.requests.add(o)
		}
		return true
	}
	switch {
	case o.get("request") != nil && o.get("output_token_count") != nil && o.get("start_time") != nil:
		d.guide.requests.addFirst(o)
		return true
	case o.get("mode") != nil && o.get("results") != nil && o.get("concurrencies") != nil:
		firstGuide(d, o)
		return true
	case o.get("metrics") != nil && (o.get("run_stats") != nil || o.get("scheduler_metrics") != nil):
		guideBenchmark(d, o)
		return true
	case o.get("benchmarks") != nil && len(d.guide.runs) > 0:
		guideReport(d, o)
		return true
	}
	return false
}

// add counts a request of v0.2 or later.
func (g *guideRequests) add(o *object) {
	g.n++
	if x, ok := o.float("time_to_first_token_ms"); ok && x > 0 {
		g.ttft.add(x)
	}
	if x, ok := o.float("inter_token_latency_ms"); ok && x > 0 {
		g.tpot.add(x)
	}
	if x, ok := o.float("request_latency"); ok && x > 0 {
		g.e2el.add(1000 * x)
	}
}

// addFirst counts a request of v0.1. Its first_token_time is how long that took
// while there are decode_times, and later in v0.1 when it was, as all others are.
func (g *guideRequests) addFirst(o *object) {
	start, ok1 := o.float("start_time")
	end, ok2 := o.float("end_time")
	if !ok1 || !ok2 || end < start {
		return
	}
	if g.n == 0 || start < g.start {
		g.start = start
	}
	g.end = max(g.end, end)
	g.n++
	g.e2el.add(1000 * (end - start))
	out, _ := o.float("output_token_count")
	in, _ := o.float("prompt_token_count")
	g.output, g.input = g.output+out, g.input+in
	first, ok := o.float("first_token_time")
	if !ok {
		return
	}
	if gaps := o.get("decode_times"); gaps != nil && gaps.object != nil {
		g.ttft.add(1000 * first)
		sum, list := 0.0, gaps.object.numbers("data")
		for _, x := range list {
			g.itl.add(1000 * x)
			sum += x
		}
		if len(list) > 0 && out > 1 {
			g.tpot.add(1000 * sum / (out - 1))
		}
		return
	}
	if first >= start {
		g.ttft.add(1000 * (first - start))
	}
	if last, ok := o.float("last_token_time"); ok && out > 1 && last > first {
		g.tpot.add(1000 * (last - first) / (out - 1))
	}
}

// float returns a number, false if the key has none.
func (o *object) float(key string) (float64, bool) {
	m := o.get(key)
	if m == nil || m.kind != jsonNumber {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(m.text), 64)
	return x, err == nil && finite(x)
}

// firstGuide makes a run of a benchmark of v0.1, which saves its requests and
// leaves the statistics to the reader.
func firstGuide(d *document, o *object) {
	g := d.guide.requests
	d.guide.requests = guideRequests{}
	r := newGuideRun(o.line, o.end, "json")
	failed := 0
	if e := o.get("errors"); e != nil && e.list != nil {
		failed = len(e.list.objects)
	}
	if g.n+failed == 0 {
		d.errorf(o.line, "a benchmark without requests")
		return
	}
	guideStrategy(r, o.scalar("mode"), o.scalar("rate"), "")
	sent := g.n + failed
	r.Completed, r.Attempted = &g.n, &sent
	r.Add(bench.Metric{Name: "completed", Value: float64(g.n)})
	r.Add(bench.Metric{Name: "failed", Value: float64(failed)})
	derive := func(name string, x float64) {
		if x > 0 && finite(x) {
			r.Add(bench.Metric{Name: name, Value: x, Decimals: -1, Derived: true})
		}
	}
	duration := g.end - g.start
	derive("duration", duration)
	derive("total_input_tokens", g.input)
	derive("total_output_tokens", g.output)
	if duration > 0 {
		derive("request_throughput", float64(g.n)/duration)
		derive("output_throughput", g.output/duration)
	}
	g.ttft.statistics(r, "ttft", 1)
	g.tpot.statistics(r, "tpot", 1)
	g.itl.statistics(r, "itl", 1)
	g.e2el.statistics(r, "e2el", 1)
	d.guide.runs = append(d.guide.runs, r)
	d.emit(r)
}

// guideBenchmark makes a run of a benchmark of v0.2 or later.
func guideBenchmark(d *document, o *object) {
	requests := d.guide.requests
	d.guide.requests = guideRequests{}
	metrics := o.get("metrics").object
	if metrics == nil {
		d.errorf(o.get("metrics").line, "metrics: expected an object, found %s", kindName(o.get("metrics").kind))
		return
	}
	r := newGuideRun(o.line, o.end, "json")
	old := o.get("run_stats") != nil
	totals := o.get("request_totals")
	if totals == nil {
		totals = metrics.get("request_totals")
	}
	if totals == nil || totals.object == nil {
		d.errorf(o.line, "request_totals: expected how many requests completed, found nothing")
	} else {
		guideCounts(r, func(status string) (bench.Metric, bool) {
			m := totals.object.get(status)
			if m == nil {
				return bench.Metric{}, false
			}
			return d.jsonValue(m, "request_totals "+status)
		})
	}
	if m := o.get("duration"); m != nil {
		if x, ok := d.jsonValue(m, m.key); ok && x.Value > 0 {
			x.Name = "duration"
			r.Add(x)
		}
	}
	always := o.scalar("type_") == "generative_benchmark"
	for _, key := range guideOrder {
		if key == "" {
			always = false
			continue
		}
		g := guideMetrics[key]
		if old && key == "time_per_output_token_ms" {
			g = oldPerToken
		}
		d.distribution(r, metrics, key, g, always)
	}
	guideSettings(r, o)
	if requests.n > 0 && r.Completed != nil && requests.n == *r.Completed {
		// All of them, not a sample: how they scatter can be drawn.
		requests.ttft.statistics(r, "ttft", 1)
		requests.tpot.statistics(r, "tpot", 1)
		requests.e2el.statistics(r, "e2el", 1)
	}
	if len(r.Metrics) == 0 {
		return
	}
	d.guide.runs = append(d.guide.runs, r)
	d.emit(r)
}

// distribution reads what a figure was for the requests that completed.
func (d *document) distribution(r *bench.Run, metrics *object, key string, g guideMetric, always bool) {
	m := metrics.get(key)
	if m == nil {
		if always {
			d.errorf(metrics.line, "%s: expected a distribution, found nothing", key)
		}
		return
	}
	if m.kind == jsonNull {
		return
	}
	done := m.object.get("successful")
	if done == nil || done.kind != jsonNull && done.object == nil {
		d.errorf(m.line, "%s: expected a distribution for successful requests", key)
		return
	}
	of := done.object
	if n, ok := of.float("count"); ok && n == 0 {
		return // nothing to measure, and zeros in its place
	}
	if mean, ok := of.float("mean"); ok && mean == 0 && g.family != "" {
		zeroFinding(r, key)
		return
	}
	for _, s := range guideStats {
		from := of
		if s.key[0] == 'p' {
			if p := of.get("percentiles"); p != nil {
				from = p.object
			}
		}
		if v := from.get(s.key); v != nil {
			if x, ok := d.jsonValue(v, key+" "+s.key); ok {
				g.add(r, s.stat, x)
			}
		} else if s.key == "mean" && of != nil {
			d.errorf(done.line, "%s: expected a mean, found nothing", key)
		}
	}
}

// guideCounts reads how requests ended. One that ran when the time was up is
// incomplete: it was sent, and did neither complete nor fail.
func guideCounts(r *bench.Run, get func(status string) (bench.Metric, bool)) {
	sent, known := 0.0, 0
	for _, s := range [...]struct{ status, name string }{{"successful", "completed"}, {"errored", "failed"}, {"incomplete", "incomplete"}} {
		m, ok := get(s.status)
		if !ok || m.Value < 0 || m.Value > 1e12 {
			continue
		}
		m.Name = s.name
		r.Add(m)
		sent += m.Value
		known++
	}
	counts(r)
	if r.Completed == nil || known < 3 {
		return
	}
	n := int(sent)
	r.Attempted = &n
}

// guideStrategy says how the load was made: what kind, and how much of it.
func guideStrategy(r *bench.Run, kind, rate, streams string) {
	r.Config.Add("test", redact("", kind), bench.FromJSON)
	switch {
	case kind == "synchronous":
		r.Config.Add("concurrency", "1", bench.FromJSON)
	case streams != "":
		addSetting(r, "concurrency", streams)
	}
	addSetting(r, "request_rate", rate)
}

// guideSettings reads the settings of a benchmark, which moved between versions.
func guideSettings(r *bench.Run, o *object) {
	for _, place := range [...]string{"args", "config"} {
		if m := o.get(place); m != nil && m.object != nil {
			if s := m.object.get("strategy"); s != nil && s.object != nil {
				streams := s.object.scalar("streams")
				if streams == "" {
					streams = s.object.scalar("max_concurrency")
				}
				guideStrategy(r, s.object.scalar("type_"), s.object.scalar("rate"), streams)
			}
		}
	}
	for _, path := range [...]string{"worker.backend_model", "config.backend.model", "config.backend.default_model"} {
		addSetting(r, "model", o.at(path))
	}
	for _, path := range [...]string{"request_loader.data", "config.requests.data"} {
		guideData(r, o.at(path), bench.FromJSON)
	}
}

// guideData reads the dataset: a name or a path, or how long synthetic prompts are.
func guideData(r *bench.Run, data string, from bench.From) {
	for _, s := range guideDataset(data, from) {
		r.Config.Add(s.Key, s.Value, s.From)
	}
}

// guideDataset reads `prompt_tokens=512,output_tokens=128`, as a text or as JSON.
func guideDataset(data string, from bench.From) bench.Config {
	var c bench.Config
	data = strings.Trim(data, "[]'\" ")
	if len(data) > 300 || data == "" {
		return nil
	}
	for _, f := range [...]struct{ word, key string }{{"prompt_tokens", "input_len"}, {"output_tokens", "output_len"}} {
		for rest := data; ; {
			i := strings.Index(rest, f.word)
			if i < 0 {
				break
			}
			rest = rest[i+len(f.word):]
			value := strings.TrimLeft(rest, `"'=: `)
			n := 0
			for n < len(value) && isDigit(value[n]) {
				n++
			}
			if n > 0 && len(value) < len(rest) { // and not prompt_tokens_stdev
				c.Add(f.key, value[:n], from)
				break
			}
		}
	}
	if len(c) > 0 {
		data = "synthetic"
	}
	c.Add("dataset", redact("", data), from)
	return c
}

// guideReport adds to the runs of a file what it says of all of them.
func guideReport(d *document, o *object) {
	runs := d.guide.runs
	d.guide.runs = nil
	said := &bench.Run{}
	for _, path := range [...]string{"args.model", "config.model", "config.backend.model"} {
		addSetting(said, "model", o.at(path))
	}
	for _, path := range [...]string{"args.data", "config.data"} {
		guideData(said, o.at(path), bench.FromJSON)
	}
	addSetting(said, "guidellm_version", o.at("metadata.guidellm_version"))
	for _, r := range runs {
		for _, s := range said.Config {
			if r.Config.From(s.Key) != bench.FromJSON { // which is trusted more than what stands around
				r.Config.Set(s.Key, s.Value, s.From)
			}
		}
	}
	if v := o.at("metadata.version"); v != "" && v != "1" && v != "2" {
		d.notef(o.get("metadata").line, "schema version %s is not known: read as far as it is like version 2", printable(clip(v)))
	}
}

// guideCommand reads a command as the file would tell it.
func guideCommand(config bench.Config) bench.Config {
	var out bench.Config
	for _, s := range config {
		if s.Key == "data" {
			out.Merge(guideDataset(s.Value, s.From))
		} else {
			out.Add(s.Key, s.Value, s.From)
		}
	}
	return out
}

// guideRow reads a row of the CSV of v0.2 and v0.3, whose columns are named
// `Successful Request latency mean`.
func guideRow(d *document, t *csvTable, row csvRow) {
	r := newGuideRun(row.line, row.end, "csv")
	guideCounts(r, func(status string) (bench.Metric, bool) {
		column := strings.ToUpper(status[:1]) + status[1:] + " Requests"
		return d.csvValue(t.get(row, column), row.line, column)
	})
	if m, ok := d.csvValue(t.get(row, "Duration"), row.line, "Duration"); ok && m.Value > 0 {
		m.Name = "duration"
		r.Add(m)
	}
	for i, column := range t.header {
		name, ok := strings.CutPrefix(column, "Successful ")
		if !ok {
			continue
		}
		name = strings.ReplaceAll(strings.ToLower(name), " ", "_")
		for _, stat := range [...]string{"_mean", "_median", "_std_dev", "_[min,_0.1,_1,_5,_10,_25,_75,_90,_95,_99,_max]"} {
			if key, ok := strings.CutSuffix(name, stat); ok {
				g := guideMetrics[key]
				if key == "time_per_output_token_ms" {
					g = oldPerToken
				}
				d.guideCell(r, g, strings.Trim(stat, "_"), row.cells[i], row.line, column)
			}
		}
	}
	named := t.get(row, "Name")
	kind, load, _ := strings.Cut(named, "@")
	rate, streams := load, ""
	if kind == "concurrent" {
		rate, streams = "", load
	}
	guideStrategy(r, kind, rate, streams)
	addSetting(r, "model", objectIn(t.get(row, "Worker")).at("backend_model"))
	guideData(r, objectIn(t.get(row, "Request Loader")).at("data"), bench.FromJSON)
	if len(r.Metrics) > 0 {
		d.emit(r)
	}
}

// guideCell reads a cell of a CSV file: a statistic, or a list of them.
func (d *document) guideCell(r *bench.Run, g guideMetric, stat, cell string, number int, what string) {
	if stat == "std_dev" || stat == "Std Dev" {
		stat = "std"
	}
	if list, ok := strings.CutPrefix(cell, "["); ok {
		parts := strings.Split(strings.TrimSuffix(list, "]"), ",")
		if len(parts) != len(guideList) {
			d.errorf(number, "%s: expected a list of %d numbers, found %d", printable(clip(what)), len(guideList), len(parts))
			return
		}
		for i, part := range parts {
			if m, ok := d.csvValue(part, number, what); ok && (m.Value > 0 || g.family == "") {
				g.add(r, guideList[i], m)
			}
		}
		return
	}
	if m, ok := d.csvValue(cell, number, what); ok && (m.Value > 0 || g.family == "" || stat == "std") {
		g.add(r, strings.ToLower(stat), m)
	}
}

// csvValue reads a number of full precision.
func (d *document) csvValue(cell string, number int, what string) (bench.Metric, bool) {
	m, ok := d.metric("", strings.TrimSpace(cell), number, what)
	m.Decimals = -1
	return m, ok
}

// A guideCSV is the CSV of v0.4 and later while it is read: three header rows,
// for group, field and statistic.
type guideCSV struct {
	header [][]string
}

func startGuideCSV(d *document, l line) bool {
	c := &guideCSV{}
	c.header = append(c.header, csvCells(string(l.text), ','))
	d.open(c)
	return true
}

// guideColumns are the groups and fields of the CSV and of the newer console,
// with the key that their figure has in the JSON.
var guideColumns = map[string]string{
	"request latency|sec":                "request_latency",
	"time to first token|ms":             "time_to_first_token_ms",
	"time to first output token|ms":      "time_to_first_output_token_ms",
	"time per output token|ms":           "time_per_output_token_ms",
	"inter token latency|ms":             "inter_token_latency_ms",
	"server throughput|requests/sec":     "requests_per_second",
	"server throughput|concurrency":      "request_concurrency",
	"token metrics|input tokens":         "prompt_token_count",
	"token metrics|output tokens":        "output_token_count",
	"token throughput|input tokens/sec":  "prompt_tokens_per_second",
	"token throughput|output tokens/sec": "output_tokens_per_second",
	"token throughput|total tokens/sec":  "tokens_per_second",

	"ttft|ms":               "time_to_first_token_ms",
	"ttfot|ms":              "time_to_first_output_token_ms",
	"itl|ms":                "inter_token_latency_ms",
	"tpot|ms":               "time_per_output_token_ms",
	"requests|per sec":      "requests_per_second",
	"requests|concurrency":  "request_concurrency",
	"input tokens|per sec":  "prompt_tokens_per_second",
	"output tokens|per sec": "output_tokens_per_second",
	"total tokens|per sec":  "tokens_per_second",

	"req latency (sec)":         "request_latency",
	"req latency (ms)":          "request_latency", // v0.2: seconds, whatever it says
	"ttft (ms)":                 "time_to_first_token_ms",
	"itl (ms)":                  "inter_token_latency_ms",
	"request stats|per second":  "requests_per_second",
	"request stats|concurrency": "request_concurrency",
	"out tok/sec":               "output_tokens_per_second",
	"tot tok/sec":               "tokens_per_second",
}

func (c *guideCSV) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		return passed
	}
	cells := csvCells(string(l.text), ',')
	if len(cells) < 10 {
		return ended
	}
	if slices.Equal(cells, c.header[0]) {
		return ended // the next file
	}
	if len(cells) != len(c.header[0]) {
		// A load point without, say, errors has fewer columns than the first.
		d.errorf(l.number, "CSV: expected %d columns as in the header, found %d", len(c.header[0]), len(cells))
		return taken
	}
	if len(c.header) < 3 {
		c.header = append(c.header, cells)
		return taken
	}
	c.row(d, cells, l.number)
	return taken
}

func (c *guideCSV) close(*document) {}

func (c *guideCSV) row(d *document, cells []string, number int) {
	r := newGuideRun(number, number, "csv")
	get := func(group, field string) string {
		for i := range cells {
			if c.header[0][i] == group && c.header[1][i] == field {
				return cells[i]
			}
		}
		return ""
	}
	guideCounts(r, func(status string) (bench.Metric, bool) {
		field := strings.ToUpper(status[:1]) + status[1:]
		return d.csvValue(get("Request Counts", field), number, "Request Counts "+field)
	})
	if m, ok := d.csvValue(get("Timings", "Duration"), number, "Duration"); ok && m.Value > 0 {
		m.Name = "duration"
		r.Add(m)
	}
	for i := range cells {
		field, ok := strings.CutPrefix(c.header[1][i], "Successful ")
		key := guideColumns[strings.ToLower(c.header[0][i]+"|"+field)]
		if ok && key != "" {
			d.guideCell(r, guideMetrics[key], c.header[2][i], cells[i], number, c.header[0][i]+" "+c.header[2][i])
		}
	}
	// The load point stands in the profile, which lists all of them.
	rate, streams := "", ""
	if i, err := strconv.Atoi(get("Run Info", "Run Index")); err == nil {
		profile := objectIn(get("Run Info", "Profile"))
		if list := profile.numbers("streams"); i >= 0 && i < len(list) {
			streams = formatNumber(list[i])
		}
		if list := profile.numbers("rate"); i >= 0 && i < len(list) {
			rate = formatNumber(list[i])
		}
	}
	guideStrategy(r, get("Benchmark", "Strategy"), rate, streams)
	addSetting(r, "model", objectIn(get("Run Info", "Backend")).at("model"))
	guideData(r, objectIn(get("Run Info", "Requests")).at("data"), bench.FromJSON)
	addSetting(r, "guidellm_version", objectIn(get("Runtime Info", "Metadata")).at("guidellm_version"))
	if len(r.Metrics) > 0 {
		d.emit(r)
	}
}

// guideTitles are the tables that are read, and whether they belong to the newer
// console. Others between them are passed over.
var guideTitles = []struct {
	title string
	newer bool
}{
	{"Benchmarks Metadata:", false}, {"Benchmarks Info:", false}, {"Benchmarks Stats:", false},
	{"Run Summary Info", true}, {"Request Latency Statistics", true}, {"Server Throughput Statistics", true},
	{"Text Metrics Statistics", true}, {"Request Token Statistics", true}, {"Image Metrics Statistics", true},
	{"Video Metrics Statistics", true}, {"Audio Metrics Statistics", true},
}

// A guideTables is the console output of one process while it is read: tables
// below each other with a row for each load point.
type guideTables struct {
	rows   []*guidePoint
	model  string
	data   string
	seen   map[string]bool
	title  string
	newer  bool
	header [][]string // rows of it, nil in front of a table
	body   bool
	row    int // the next row of this table
	gap    int
}

// A guidePoint is one load point.
type guidePoint struct {
	run   *bench.Run
	lost  float64 // tokens of requests that did not complete
	count map[string]bench.Metric
}

// guideTitle finds the title of a table in a line, "" if it is none.
func guideTitle(b []byte) (title string, newer bool) {
	b = bytes.TrimPrefix(b, []byte("ℹ "))
	for _, t := range guideTitles {
		if hasPrefix(b, t.title) && len(b) < len(t.title)+30 {
			return t.title, t.newer
		}
	}
	return "", false
}

func startGuide(d *document, l line) bool {
	title, _ := guideTitle(l.msg)
	if title == "" {
		return false
	}
	t := &guideTables{seen: map[string]bool{}}
	t.line(d, l)
	d.open(t)
	return true
}

func (t *guideTables) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		return passed
	}
	if title, newer := guideTitle(l.msg); title != "" {
		if t.seen[title] {
			return ended // the next process
		}
		t.seen[title] = true
		t.title, t.newer, t.header, t.body, t.row, t.gap = title, newer, nil, false, 0, 0
		return taken
	}
	if isFrame(l.text) {
		switch {
		case bytes.IndexByte(l.text, '=') < 0:
			t.body = t.header != nil
		case t.body:
			t.header, t.body, t.title = nil, false, ""
		default:
			t.header = [][]string{}
		}
		t.gap = 0
		return taken
	}
	if t.title == "Benchmarks Metadata:" && t.metadata(string(l.msg)) {
		t.gap = 0
		return taken
	}
	cells := boxCells(l.text)
	if t.header == nil || len(cells) < 3 {
		if t.gap++; t.gap > 10 || len(l.msg) > 0 && l.msg[0] == '#' {
			return ended
		}
		return passed
	}
	t.gap = 0
	if t.body {
		t.point(d, trimmed(cells), l.number)
		return taken
	}
	// A cell without width belongs to the one on its left.
	for i := range cells {
		if cells[i] == "" && i > 0 {
			cells[i] = cells[i-1]
		}
	}
	if len(t.header) < 4 {
		t.header = append(t.header, trimmed(cells))
	}
	return taken
}

// metadata reads the labels of v0.2 and v0.3: `Worker : type_='…' backend_model='x' …`.
func (t *guideTables) metadata(s string) bool {
	label, value, ok := strings.Cut(s, ":")
	if !ok {
		return false
	}
	switch strings.TrimSpace(label) {
	case "Worker":
		t.model = between(value, "backend_model='", "'")
	case "Request Loader":
		t.data = between(value, "data='", "'")
	case "Run id", "Duration", "Profile", "Args", "Extras":
	default:
		return false
	}
	return true
}

// between is the text behind open and before end, "" if it is not there.
func between(s, open, end string) string {
	_, s, ok := strings.Cut(s, open)
	s, _, ok2 := strings.Cut(s, end)
	if !ok || !ok2 {
		return ""
	}
	return s
}

// point reads a row of a table into the run of its load point.
func (t *guideTables) point(d *document, cells []string, number int) {
	for _, h := range t.header {
		if len(h) != len(cells) {
			d.errorf(number, "guidellm: expected %d columns as in the header, found %d", len(h), len(cells))
			t.header = nil
			return
		}
	}
	if t.row == len(t.rows) {
		if len(t.rows) >= 1000 {
			return
		}
		t.rows = append(t.rows, &guidePoint{run: newGuideRun(number, number, "text"), count: map[string]bench.Metric{}})
	}
	p := t.rows[t.row]
	t.row++
	p.run.Source.EndLine = number
	if p.run.Config == nil {
		p.named(cells[0])
	}
	for i := 1; i < len(cells); i++ {
		var path []string
		for _, h := range t.header {
			if h[i] != "" {
				path = append(path, strings.ToLower(h[i]))
			}
		}
		if len(path) < 2 {
			continue
		}
		p.figure(d, t, path, cells[i], number)
	}
}

// named reads the name of a load point: `constant@4.52`, `concurrent@16`.
func (p *guidePoint) named(name string) {
	kind, load, _ := strings.Cut(name, "@")
	rate, streams := load, ""
	if kind == "concurrent" {
		rate, streams = "", load
	}
	guideStrategy(p.run, kind, rate, streams)
	for i := range p.run.Config {
		p.run.Config[i].From = bench.FromLog
	}
}

// figure reads one cell. The path is its header from the top.
func (p *guidePoint) figure(d *document, t *guideTables, path []string, cell string, number int) {
	column := strings.Join(path, "|")
	last := path[len(path)-1]
	read := func() (bench.Metric, bool) {
		return d.metric("", cell, number, column)
	}
	switch column {
	case "metadata|duration (sec)", "metadata|duration (s)", "metadata|duration", "timings|dur|sec":
		if m, ok := read(); ok && m.Value > 0 {
			m.Name = "duration"
			p.run.Add(m)
		}
		return
	case "requests made|comp", "requests made|inc", "requests made|err":
		if m, ok := read(); ok {
			p.count[last] = m
		}
		return
	case "prompt tok total|comp", "output tok total|comp", "input tokens|comp|tot", "output tokens|comp|tot":
		if m, ok := read(); ok && m.Value > 0 {
			m.Name = "total_output_tokens"
			if column[0] != 'o' {
				m.Name = "total_input_tokens"
			}
			p.run.Add(m)
		}
		return
	case "input tokens|inc|tot", "input tokens|err|tot", "output tokens|inc|tot", "output tokens|err|tot":
		if m, ok := read(); ok {
			p.lost += m.Value
		}
		return
	}
	g, ok := guideMetrics[guideColumns[column]]
	stat := "mean"
	if !ok {
		stat = map[string]string{"mean": "mean", "median": "median", "mdn": "median", "p95": "p95", "p99": "p99"}[last]
		above := strings.Join(path[:len(path)-1], "|")
		if above == "tpot (ms)" {
			g = oldPerToken
		} else if g, ok = guideMetrics[guideColumns[above]]; !ok {
			return
		}
	}
	if stat == "" || g.sum != "" {
		return
	}
	m, ok := read()
	if !ok {
		return
	}
	if m.Value == 0 && g.family != "" {
		zeroFinding(p.run, strings.ToUpper(path[0]))
		return
	}
	g.add(p.run, stat, m)
}

func (t *guideTables) close(d *document) {
	kinds := map[string]int{}
	for _, p := range t.rows {
		kinds[p.run.Config.Get("test")]++
	}
	nth := map[string]int{}
	var runs []*bench.Run
	for _, p := range t.rows {
		r := p.run
		guideCounts(r, func(status string) (bench.Metric, bool) {
			m, ok := p.count[map[string]string{"successful": "comp", "incomplete": "inc", "errored": "err"}[status]]
			return m, ok
		})
		if p.lost > 0 && r.Completed == nil {
			r.Findings = append(r.Findings, bench.Finding{Code: "partial", Severity: bench.Warning,
				Message: "some requests did not complete: " + formatNumber(p.lost) + " tokens are of such"})
		}
		// Without its rate, one load point of a kind is known by its place.
		if kind := r.Config.Get("test"); kinds[kind] > 1 && !r.Config.Has("request_rate") && !r.Config.Has("concurrency") {
			nth[kind]++
			r.Config.Set("test", kind+" #"+strconv.Itoa(nth[kind]), bench.FromLog)
		}
		r.Config.Add("model", redact("", t.model), bench.FromLog)
		guideData(r, t.data, bench.FromLog)
		if !slices.ContainsFunc(r.Metrics, func(m bench.Metric) bool {
			_, _, latency := bench.SplitLatency(m.Name)
			return latency || m.Name == "request_throughput"
		}) {
			continue // only the summary of a run that was cut off
		}
		runs = append(runs, r)
	}
	d.emitTogether(t, runs)
}
