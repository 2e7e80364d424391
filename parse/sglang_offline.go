package parse

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// sglangOffline reads SGLang's benchmarks of fixed work. Which of them a run is
// of, its test says: offline-throughput, one-batch, one-batch-server. The last
// two time single batches, so their figures have names of their own; all their
// times are in seconds.
var sglangOffline = Format{
	Tool:     "sglang-offline",
	Engine:   "sglang",
	Programs: []program{{name: "sglang.bench_offline_throughput"}, {name: "sglang.bench_one_batch"}, {name: "sglang.bench_one_batch_server"}, {name: "sgl_jax.bench_one_batch_server"}, {name: "sglang.bench_latency"}, {name: "sglang.bench_server_latency"}, {name: "sglang.benchmark.offline_throughput"}, {name: "sglang.benchmark.one_batch"}, {name: "sglang.benchmark.one_batch_server"}},
	Reads: "bench_offline_throughput (text block, JSONL); bench_one_batch, earlier bench_latency (text, JSONL); " +
		"bench_one_batch_server, earlier bench_server_latency (text, JSONL, JSON, the table at its end); the nightly tables of SGLang's CI",
	Since:   "v0.1.18 (2024)",
	Example: "Prefill. latency: 0.06105 s, throughput:  16772.50 token/s",
	Derives: "input and output length of a one-batch case from its throughputs and times, where their digits allow only one; else the test has the number of the case",
	Limits: "warm-up cases are left out: by their marks, else the first of several cases of bench_latency that tell a mean, or a first batch of 16 with 1024 input and 16 output tokens; " +
		"the output throughput of bench_one_batch_server since v0.4.6.post4 leaves the time to first token out and is output_throughput_after_ttft; " +
		"ITL and costs in its table follow from its other columns and are not kept; single decode steps and --correct are not read",
	Lines: []Start{
		{Prefix: "====== Offline Throughput Benchmark Result", Read: startOfflineThroughput},
		{Prefix: "Warmup ...", Read: readBatchMark},
		{Prefix: "Benchmark ...", Read: readBatchMark},
		{Prefix: "======== Warmup Begin", Read: readBatchMark},
		{Prefix: "======== Warmup End", Read: readBatchMark},
		{Prefix: "Results are saved to ", Read: readBatchMark},
		{Prefix: "Prefill. latency: ", Read: startOneBatch},
		{Prefix: "batch size: ", Read: startBatchServer},
		{Prefix: "Input lens: (", Read: readBatchLens},
		{Prefix: "| batch size", Read: startBatchTable},
		{Prefix: "|   batch size", Read: startBatchTable},
	},
	Keys:   []string{"successful_requests", "prefill_latency", "overall_throughput"},
	Object: offlineObject,
}

// startOfflineThroughput reads the title of a block that has the lines of a
// serving block.
func startOfflineThroughput(d *document, l line) bool {
	block := newServeBlock(l.number)
	block.framed = true
	block.run.Source.Tool = "sglang-offline"
	block.run.Config.Add("test", "offline-throughput", bench.FromLog)
	d.open(block)
	return true
}

// batchCases is what tells the cases of one program, and its warm-up.
type batchCases struct {
	warmup bool       // between the marks of a warm-up
	marked bool       // the program marks its warm-up
	n      int        // cases read
	first  *bench.Run // the first case of a program without marks
	place  place      // where that stands
	lens   bench.Config
}

// readBatchMark reads the lines that part the warm-up from what is measured.
func readBatchMark(d *document, l line) bool {
	warmup := bytes.HasPrefix(l.msg, []byte("Warmup ...")) || bytes.Contains(l.msg, []byte("Warmup Begin"))
	marked := !bytes.HasPrefix(l.msg, []byte("Results"))
	if len(l.msg) > 80 && marked {
		return false
	}
	d.closeBlock()
	d.batches = batchCases{warmup: warmup, marked: marked}
	return true
}

// readBatchLens reads `Input lens: (1024,). Output lens: (16,).` above a table.
// Several lengths are told by the columns of the table, if at all.
func readBatchLens(d *document, l line) bool {
	d.batches.lens = nil
	for part := range strings.SplitSeq(string(l.msg), ". ") {
		label, list, _ := strings.Cut(part, " lens: (")
		list, _, _ = strings.Cut(list, ")")
		if n := strings.Trim(list, ", "); plainNumber([]byte(n)) {
			d.batches.lens.Add(strings.ToLower(label)+"_len", n, bench.FromLog)
		}
	}
	return true
}

// caseRun is the run of a case that starts at a line.
func caseRun(number int, test, format string) *bench.Run {
	r := &bench.Run{Source: bench.Source{Line: number, EndLine: number, Tool: "sglang-offline", Format: format}}
	r.Config.Add("test", test, bench.FromLog)
	return r
}

// emitCase adds a case, unless it is a warm-up. A program without marks warms up
// with its first case, which is known for that when a second one follows.
func (d *document) emitCase(r *bench.Run, mayWarm bool) {
	b := &d.batches
	if b.warmup {
		return
	}
	here := d.ctx.here(r.Source.Line)
	if b.n > 0 && (here.fence != b.place.fence || here.section != b.place.section || d.ctx.commandSince(b.place.line)) {
		*b = batchCases{}
	}
	if b.first != nil && b.first.Config.Get("test") == r.Config.Get("test") {
		d.dropRecent(b.first)
		d.notef(b.first.Source.Line, "the first of several cases is the warm-up: left out")
		b.n--
	}
	b.first, b.place = nil, here
	if b.n++; b.n == 1 && mayWarm && !b.marked {
		b.first = r
	}
	if c := &r.Config; b.n > 1 && !(c.Has("batch") && c.Has("input_len") && c.Has("output_len")) {
		c.Set("test", c.Get("test")+" #"+strconv.Itoa(b.n), bench.FromLog)
	}
	if d.cases == nil {
		d.cases = map[string]bool{}
	}
	d.cases[caseKey(r)] = true
	d.emit(r)
}

// dropRecent takes back a run that was added a moment ago.
func (d *document) dropRecent(r *bench.Run) {
	for i := len(d.runs) - 1; i >= max(0, len(d.runs)-64); i-- {
		if d.runs[i] == r {
			d.runs = slices.Delete(d.runs, i, i+1)
			return
		}
	}
}

// A oneBatch is a case of bench_one_batch while it is read: prefill, decode
// steps, their median, total.
type oneBatch struct {
	run *bench.Run
	gap int
}

func startOneBatch(d *document, l line) bool {
	b := &oneBatch{run: caseRun(l.number, "one-batch", "text")}
	if b.line(d, l) != taken {
		return false
	}
	d.open(b)
	return true
}

func (b *oneBatch) line(d *document, l line) verdict {
	phase, rest, ok := strings.Cut(string(l.msg), ". ")
	names := map[string]string{}
	switch {
	case !ok:
	case phase == "Prefill" && !b.run.Has("prefill_latency"):
		names["latency"], names["throughput"] = "prefill_latency", "prefill_throughput"
	case phase == "Prefill":
		return ended
	case phase == "Decode" || strings.HasPrefix(phase, "Decode "):
		for _, stat := range [...]string{"avg", "median"} {
			names[stat+" latency"], names[stat+" throughput"] = stat+"_decode_latency", stat+"_decode_throughput"
		}
	case phase == "Total":
		names["latency"], names["throughput"] = "batch_latency", "overall_throughput"
	default:
		ok = false
	}
	if !ok {
		if b.gap++; b.gap > 100 {
			return ended
		}
		return passed
	}
	b.gap = 0
	for part := range strings.SplitSeq(rest, ", ") {
		label, value, _ := strings.Cut(part, ":")
		label = strings.TrimSpace(label)
		value, unit, _ := strings.Cut(strings.TrimSpace(value), " ")
		if label == "Batch size" && plainNumber([]byte(value)) {
			b.run.Config.Add("batch", value, bench.FromLog)
		}
		name, ok := names[label]
		if !ok {
			continue
		}
		if unit == "ms" && phase == "Prefill" {
			d.notef(l.number, "%s: the unit is ms, but SGLang of June 2024 printed seconds under it", label)
		}
		if m, ok := d.metric(name, value, l.number, phase+" "+label); ok {
			b.run.Add(m)
		}
	}
	b.run.Source.EndLine = l.number
	if phase == "Total" {
		return takenLast
	}
	return taken
}

func (b *oneBatch) close(d *document) {
	if len(b.run.Metrics) == 0 {
		return
	}
	if n := b.run.Config.Get("batch"); n != "" {
		if in, ok := tokensEach(b.run, "prefill_throughput", "prefill_latency", n); ok {
			b.run.Config.Add("input_len", strconv.Itoa(in), bench.FromDerived)
			if all, ok := tokensEach(b.run, "overall_throughput", "batch_latency", n); ok && all > in {
				b.run.Config.Add("output_len", strconv.Itoa(all-in), bench.FromDerived)
			}
		}
	}
	d.take(b.run)
	// Versions that tell the median mark their warm-up.
	d.emitCase(b.run, b.run.Has("avg_decode_latency"))
}

// tokensEach tells how many tokens each sequence of a batch had, from a
// throughput and its time, if their digits allow one number only.
func tokensEach(r *bench.Run, throughput, time, batch string) (int, bool) {
	t, ok := r.Metric(throughput)
	s, ok2 := r.Metric(time)
	n, err := strconv.Atoi(batch)
	if !ok || !ok2 || err != nil || n < 1 || t.Decimals < 0 || s.Decimals < 0 {
		return 0, false
	}
	half := func(m bench.Metric) float64 { return 0.5 * math.Pow(10, -float64(m.Decimals)) }
	least := (t.Value - half(t)) * (s.Value - half(s)) / float64(n)
	most := (t.Value + half(t)) * (s.Value + half(s)) / float64(n)
	each := math.Ceil(least)
	if each != math.Floor(most) || each < 1 || each > 1e9 {
		return 0, false
	}
	return int(each), true
}

// A batchServer is a case of bench_one_batch_server while it is read.
type batchServer struct {
	run *bench.Run
	gap int
}

func startBatchServer(d *document, l line) bool {
	b := &batchServer{run: caseRun(l.number, "one-batch-server", "text")}
	if b.line(d, l) != taken {
		return false
	}
	d.open(b)
	return true
}

// batchLabels are the lines of a case, in lower case: some were capitals once.
var batchLabels = map[string]string{
	"latency": "batch_latency", "(input + output) throughput": "overall_throughput", "ttft": "last_ttft", "last_ttft": "last_ttft",
	"last generation throughput": "last_gen_throughput", "input throughput": "prefill_throughput", "output throughput": "output_throughput",
	"acc_length": "mean_acceptance_length", "cache hit rate": "cache_hit_rate",
}

func (b *batchServer) line(d *document, l line) verdict {
	label, value, ok := strings.Cut(string(l.msg), ": ")
	label = strings.ToLower(label)
	value, unit, _ := strings.Cut(strings.TrimSpace(value), " ")
	c := &b.run.Config
	setting := ""
	switch label {
	case "batch size":
		if c.Has("batch") {
			return ended
		}
		setting = "batch"
	case "input_len", "output_len":
		setting = label
	}
	name := batchLabels[label]
	if name == "output_throughput" && unit == "tok/s" {
		name = "output_throughput_after_ttft" // and token/s before that changed
	}
	if !ok || setting == "" && name == "" || setting != "" && !plainNumber([]byte(value)) {
		if b.gap++; b.gap > 100 {
			return ended
		}
		return passed
	}
	b.gap = 0
	b.run.Source.EndLine = l.number
	if setting != "" {
		c.Add(setting, value, bench.FromLog)
	} else if m, ok := d.metric(name, value, l.number, label); ok && m.Value >= 0 { // -1 is unknown
		b.run.Add(m)
	}
	return taken
}

func (b *batchServer) close(d *document) {
	r := b.run
	if !r.Has("batch_latency") || len(r.Metrics) < 2 {
		return // a batch size of something else
	}
	// The warm-up of old versions is always the same case.
	warm := false
	n := r.Config.Get("batch")
	if out, ok := tokensEach(r, "output_throughput", "batch_latency", n); ok && !r.Config.Has("output_len") {
		r.Config.Add("output_len", strconv.Itoa(out), bench.FromDerived)
		in := inputOver(r, out)
		if in > 0 {
			r.Config.Add("input_len", strconv.Itoa(in), bench.FromDerived)
		}
		warm = n == "16" && out == 16 && in == 1024
	}
	d.take(r)
	d.emitCase(r, warm)
}

// inputOver is the input length of a case: the throughputs are as the tokens.
// It is 0 where the digits allow several.
func inputOver(r *bench.Run, out int) int {
	all, ok := r.Metric("overall_throughput")
	some, ok2 := r.Metric("output_throughput")
	if !ok || !ok2 || some.Value <= 0.01 {
		return 0
	}
	const half = 0.005
	least := math.Ceil((all.Value - half) / (some.Value + half) * float64(out))
	most := math.Floor((all.Value + half) / (some.Value - half) * float64(out))
	if least != most || most > 1e9 {
		return 0
	}
	return int(most) - out
}

// A batchTable is the table of cases at the end of bench_one_batch_server, or
// one that SGLang's CI writes. Below the cases themselves it says nothing new.
type batchTable struct {
	columns []string
	model   string
	gpus    string
}

// caseKey is by what a row of the table is known for a case above it.
func caseKey(r *bench.Run) string {
	m, _ := r.Metric("batch_latency")
	return r.Config.Get("batch") + " " + strconv.FormatFloat(m.Value, 'f', 2, 64)
}

func startBatchTable(d *document, l line) bool {
	t := &batchTable{}
	for _, c := range tableCells(string(l.msg)) {
		t.columns = append(t.columns, strings.Join(strings.Fields(strings.ToLower(c)), " "))
	}
	if !slices.Contains(t.columns, "latency (s)") || !slices.Contains(t.columns, "output throughput (tok/s)") {
		return false
	}
	// ### org/model (run name) [8-gpu-h200]
	if n := len(d.ctx.headings); n > 0 {
		name, rest, _ := strings.Cut(d.ctx.headings[n-1].text, " ")
		if strings.Contains(name, "/") {
			t.model = name
			if _, gpus, ok := strings.Cut(rest, "["); ok {
				t.gpus, _, _ = strings.Cut(gpus, "]")
			}
		}
	}
	d.open(t)
	return true
}

var batchColumns = map[string]string{
	"latency (s)": "batch_latency", "input throughput (tok/s)": "prefill_throughput", "output throughput (tok/s)": "output_throughput_after_ttft",
	"acc length": "mean_acceptance_length", "cache hit rate": "cache_hit_rate",
}

func (t *batchTable) line(d *document, l line) verdict {
	cells, end := d.tableRow(l, len(t.columns))
	if cells == nil {
		return end
	}
	r := caseRun(l.number, "one-batch-server", "md")
	for i, column := range t.columns {
		cell := strings.TrimSpace(cells[i])
		switch column {
		case "batch size":
			r.Config.Add("batch", tidyValue("batch", redact("", cell)), bench.FromLog)
		case "input len":
			r.Config.Add("input_len", tidyValue("input_len", redact("", cell)), bench.FromLog)
		}
		name, ok := batchColumns[column]
		if !ok {
			continue
		}
		number, percent := strings.CutSuffix(cell, "%")
		m, ok := d.metric(name, number, l.number, column)
		if percent {
			m = m.Percent()
		}
		if ok && m.Value >= 0 {
			r.Add(m)
		}
	}
	if len(r.Metrics) == 0 || d.cases[caseKey(r)] {
		return taken
	}
	r.Config.Merge(d.batches.lens)
	r.Config.Add("model", redact("", t.model), bench.FromHeading)
	r.Config.Add("gpu_config", redact("", t.gpus), bench.FromHeading)
	d.emit(r)
	return taken
}

func (t *batchTable) close(d *document) { d.ctx.settle() }

// offlineObject reads a record of one of the programs. result.jsonl is the
// default file of several, so its rows are told by their keys.
func offlineObject(d *document, o *object) bool {
	var test string
	var names map[string]string
	var always []string // keys that every version writes
	switch {
	case o.get("successful_requests") != nil && o.get("total_latency") != nil:
		test = "offline-throughput"
		names = map[string]string{
			"successful_requests": "completed", "total_latency": "duration", "total_input_tokens": "total_input_tokens", "total_output_tokens": "total_output_tokens",
			"request_throughput": "request_throughput", "input_throughput": "input_throughput", "output_throughput": "output_throughput",
			"total_throughput": "total_token_throughput", "last_gen_throughput": "last_gen_throughput",
		}
		always = []string{"total_output_tokens", "request_throughput", "output_throughput", "total_throughput"}
	case o.get("prefill_latency") != nil && o.get("batch_size") != nil:
		test = "one-batch"
		names = map[string]string{
			"prefill_latency": "prefill_latency", "prefill_throughput": "prefill_throughput", "total_latency": "batch_latency",
			"median_decode_latency": "median_decode_latency", "median_decode_throughput": "median_decode_throughput",
			"avg_decode_latency": "avg_decode_latency", "avg_decode_throughput": "avg_decode_throughput",
			"overall_throughput": "overall_throughput", "total_throughput": "overall_throughput",
		}
		always = []string{"prefill_throughput", "total_latency"}
	case o.get("latency") != nil && o.get("batch_size") != nil && o.get("overall_throughput") != nil:
		test = "one-batch-server"
		names = map[string]string{
			"latency": "batch_latency", "ttft": "last_ttft", "last_ttft": "last_ttft", "input_throughput": "prefill_throughput",
			"output_throughput": "output_throughput", "overall_throughput": "overall_throughput", "last_gen_throughput": "last_gen_throughput",
			"acc_length": "mean_acceptance_length", "cache_hit_rate": "cache_hit_rate",
		}
		if o.get("last_gen_throughput") != nil || o.get("last_ttft") != nil || o.get("ttft") != nil {
			names["output_throughput"] = "output_throughput_after_ttft" // since v0.4.6.post4
		}
		always = []string{"output_throughput"}
	default:
		return false
	}
	r := caseRun(o.line, test, "json")
	r.Source.EndLine = o.end
	d.objectFields(r, o, names)
	for _, key := range always {
		if o.get(key) == nil {
			d.errorf(o.line, "%s: expected a number, found no such key", key)
		}
	}
	r.Drop(func(m bench.Metric) bool { return m.Value < 0 }) // unknown
	r.Config = slices.DeleteFunc(r.Config, func(s bench.Setting) bool {
		return strings.HasPrefix(s.Key, "profile_link") || s.Key == "run_name"
	})
	if name := o.scalar("run_name"); name != "default" {
		r.Label = redact("", name)
	}
	counts(r)
	if len(r.Metrics) > 0 {
		d.emit(r)
	}
	return true
}
