package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// vllmServe reads benchmark_serving.py and `vllm bench serve`: three
// generations of text and the saved JSON. SGLang's block is the same block with
// other labels, and is told by them.
var vllmServe = Format{
	Tool:     "vllm-serve",
	Programs: []program{{name: "benchmark_serving.py"}, {name: "benchmark_serving_guided.py"}, {name: "benchmark_serving_structured_output.py"}, {name: "benchmark_serving_multi_turn.py"}},
	Reads: "text (all three generations, guided and structured output), JSON (--save-result, --save-detailed, --append-result, *.pytorch.json), CSV made of it; " +
		"vllm bench sweep (summary.csv, summary.json, SLA--*.json); benchmark_serving_multi_turn.py (text, --stats-json-output); " +
		"benchmark_results.md and .json of vLLM's performance suite and nightly comparison, whose other rows are vllm-throughput and vllm-latency",
	Since:   "v0.1.0 (2023)",
	Example: "============ Serving Benchmark Result ============",
	Derives: "attempted requests (num_prompts, the progress bar, or completed + failed); mean, median, std, min, max, p90, p95 and p99 of TTFT, TPOT, ITL and E2EL from the per-request lists, where the file does not give them; all figures of --stats-json-output",
	Limits: "the GPUs in a table of the performance suite are those of the machine; its comparisons of files (HTML, Excel) are not read, nor is the JSON inside its Markdown, which repeats the tables; " +
		"a multi-turn result is of the test multi-turn, and one for each share of warm-up samples; plots of a sweep and vllm bench startup and mm-processor are not read; TPOT of v0.3 includes the first token and is named latency_per_token; latencies of a run in which nothing completed are left out; E2EL mean and median are swapped by v0.6.0 to v0.6.3 themselves",
	Lines: []Start{
		{Anywhere: "Serving Benchmark Result", Read: startServe},
		{Prefix: "Successful requests:", Read: startBareServe},
		{Prefix: "Benchmark duration", Read: startBareServe},
		{Prefix: "Total input tokens:", Read: startBareServe},
		{Prefix: "Request throughput", Read: startBareServe},
		{Prefix: "Total time: ", Read: startFirstServe},
		{Prefix: "Namespace(", Read: readArguments},
		{Prefix: "namespace(", Read: readArguments},      // SGLang called by another script
		{Prefix: "benchmark_args=", Read: readArguments}, // SGLang, before the model is filled in
		{Prefix: "Traffic request rate:", Read: readProgress},
		{Prefix: "Maximum request concurrency:", Read: readProgress},
		{Prefix: "Burstiness factor:", Read: readProgress},
		{Prefix: "correct_rate(%)", Read: readCorrectRate},
		{Prefix: "Parameters:", Read: startMultiTurn},
		{Prefix: "Statistics summary", Read: startMultiTurn},
		{Prefix: "| Test name", Read: startCITable},
		{Anywhere: "it/s", Read: readBar},
		{Anywhere: "s/it", Read: readBar},
	},
	Keys: []string{"request_throughput", "request_inthroughput", "Test name", "approx_cached_percent", "benchmark_values"},
	Object: func(d *document, o *object) bool {
		return serveObject(d, o) || ciObject(d, o) || turnObject(d, o) || pytorchObject(d, o)
	},
	Columns: []string{"request_throughput", "total_token_throughput"},
	Row:     serveRow,
}

// pending is what a benchmark says before its result.
type pending struct {
	args  bench.Config // its argument line
	log   bench.Config // its progress lines
	total int          // requests of the last progress bar
}

// take gives a run what was said for it.
func (d *document) take(r *bench.Run) {
	p := d.pending
	d.pending = pending{}
	const more = 4 // settings that follow from these, or from what stands around
	c := append(make(bench.Config, 0, len(r.Config)+len(p.log)+len(p.args)+more), r.Config...)
	c.Merge(p.log)
	c.Merge(p.args)
	r.Config = c
	if p.total > 0 && r.Completed != nil && p.total >= *r.Completed && !r.Config.Has("num_prompts") && r.Attempted == nil {
		r.Attempted = &p.total
	}
}

// readArguments reads `Namespace(…)`, the arguments of the next run.
func readArguments(d *document, l line) bool {
	if !bytes.Contains(l.msg, []byte("amespace(")) {
		return false
	}
	d.closeBlock()
	d.pending = pending{}
	d.ctx.startArgs(d, l)
	return true
}

// arguments takes a complete argument line.
func (d *document) arguments(text string) {
	d.pendingArgs = append(d.pendingArgs[:0], d.room.args.line(text, bench.FromArgs)...)
	d.pending.args = d.pendingArgs
	client := "benchmark script"
	if strings.Contains(text, "subparser='bench'") {
		client = "vllm bench"
	}
	d.pending.args.Add("client", client, bench.FromArgs)
	d.pendingArgs = d.pending.args
}

// readProgress reads the settings that a client prints before it starts.
func readProgress(d *document, l line) bool {
	label, rest, _ := bytes.Cut(l.msg, []byte(":"))
	rest, _, _ = bytes.Cut(bytes.TrimSpace(rest), []byte(" "))
	key, value := "", d.intern(rest)
	switch string(label) {
	case "Traffic request rate":
		key = "request_rate"
	case "Maximum request concurrency":
		key = "concurrency"
	case "Burstiness factor":
		key = "burstiness"
	}
	if value == "None" || !plausible(key, value) {
		return true
	}
	if d.pending.log == nil {
		const lines = 3
		d.pending.log = make(bench.Config, 0, lines)
	}
	d.pending.log.Set(key, tidyValue(key, value), bench.FromLog)
	return true
}

// readBar reads how many requests a progress bar counts: `64/64 [01:23<00:00`.
func readBar(d *document, l line) bool {
	open := bytes.LastIndex(l.text, []byte(" ["))
	if open < 0 {
		return false
	}
	b := bytes.TrimSpace(l.text[:open])
	slash := bytes.LastIndexByte(b, '/')
	if slash < 0 {
		return false
	}
	if n, err := strconv.Atoi(string(b[slash+1:])); err == nil && n > 0 && n < 1<<30 {
		d.pending.total = n
	}
	return true
}

// A serveBlock is a serving result while it is read.
type serveBlock struct {
	run    *bench.Run
	framed bool // it began with its title
	first  bool // the first generation, in seconds
	gap    int  // lines since the last one that was ours
	cache  bool // SGLang's cache report has begun
	hashed bool // every line has a # in front: it was commented out
}

func newServeBlock(number int) *serveBlock {
	const usual = 16 // figures of a block
	return &serveBlock{run: &bench.Run{Source: bench.Source{Line: number, EndLine: number, Tool: "vllm-serve", Format: "text"}, Metrics: make([]bench.Metric, 0, usual)}}
}

// startServe reads the title of a block. Prose that mentions it has neither
// rules around it nor stands alone.
func startServe(d *document, l line) bool {
	const title = "Serving Benchmark Result"
	if !bytes.Contains(l.text, []byte("==== "+title)) && string(bytes.Trim(l.text, " \t*#>=-")) != title {
		return false
	}
	block := newServeBlock(l.number)
	block.framed = true
	block.hashed = l.text[0] == '#' && bytes.Contains(l.text, []byte("# ="))
	d.open(block)
	return true
}

// startBareServe reads a block without its title: the second generation, or one
// that was cut at the top.
func startBareServe(d *document, l line) bool {
	block := newServeBlock(l.number)
	if block.line(d, l) != taken || len(block.run.Metrics) == 0 && block.run.Completed == nil {
		return false
	}
	d.open(block)
	return true
}

// startFirstServe reads the first generation, which starts `Total time: 123.45 s`.
func startFirstServe(d *document, l line) bool {
	if !bytes.HasSuffix(l.msg, []byte(" s")) {
		return false
	}
	block := newServeBlock(l.number)
	block.first = true
	if block.line(d, l) != taken {
		return false
	}
	d.open(block)
	return true
}

func (s *serveBlock) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		return s.stray()
	}
	if s.hashed {
		if l.text[0] != '#' {
			return ended
		}
		l.msg = bytes.TrimLeft(l.text, "# ")
	}
	if isRule(l.msg, '=') {
		s.run.Source.EndLine = l.number
		return takenLast
	}
	if bytes.Contains(l.text, []byte("Serving Benchmark Result")) {
		return ended
	}
	if len(l.msg) > 0 && l.msg[0] == '#' {
		if serveSections[strings.ToLower(strings.Trim(string(l.msg), "# "))] {
			return taken
		}
		return ended
	}
	if hasPrefix(l.msg, "--") && bytes.HasSuffix(l.msg, []byte("--")) {
		s.gap = 0
		return taken
	}
	colon := bytes.LastIndexByte(l.msg, ':')
	if colon <= 0 || colon > 60 {
		return s.stray()
	}
	label := d.serveLabel(trimBytes(l.msg[:colon], &aroundLabel))
	value := string(trimBytes(l.msg[colon+1:], &aroundValue))
	if hasPrefix(l.msg, "Namespace(") || !s.set(d, label, value, l.number) {
		return s.stray()
	}
	s.gap = 0
	s.run.Source.EndLine = l.number
	return taken
}

// aroundLabel and aroundValue are what Markdown and blanks put around them.
var aroundLabel, aroundValue = byteSet("*_` "), byteSet(" \t`*")

// A serveLabel is what is known of a label in a serving block, whatever its value.
type serveLabel struct {
	text         string // in lower case
	sglang, sure bool   // it stands in sglangLabels, with true
	setting      string // of serveSettings
	metric       string // of serveLabels, or the latency that it names
	behind       string // the latency that it names where the unit stands behind the value
	plain        bool   // it names its metric whatever else the block holds
}

// serveLabel looks a label up: there are a few dozen, which come in every block.
func (d *document) serveLabel(b []byte) *serveLabel {
	if l, ok := d.room.labels[string(b)]; ok {
		return l
	}
	l := &serveLabel{text: strings.ToLower(string(b))}
	l.sure, l.sglang = sglangLabels[l.text]
	l.setting = serveSettings[l.text]
	if name, ok := serveLabels[l.text]; ok {
		l.metric, l.behind = name, name
	} else {
		l.metric, l.behind = latencyLabel(l.text, false), latencyLabel(l.text, true)
	}
	switch l.text {
	case "total cached tokens", "concurrency", "throughput", "input throughput", "output throughput", "total throughput",
		"total time", "average latency", "average latency per token", "average latency per output token":
	default:
		l.plain = l.metric != "" && l.setting == "" && !l.sglang && !strings.HasSuffix(l.text, "(%)")
	}
	if len(d.room.labels) < maxTexts {
		d.room.labels[string(b)] = l
	}
	return l
}

// quick reads a line that is nothing but a label which was read before and a
// figure, as most of a block are: set would do the same with it.
func (s *serveBlock) quick(d *document, b []byte, number int) bool {
	colon := bytes.IndexByte(b, ':')
	if colon < 0 || s.hashed || s.cache {
		return false
	}
	label := d.room.labels[string(b[:colon])]
	if label == nil || !label.plain {
		return false
	}
	figure := trimBytes(b[colon+1:], &blanks)
	x, digits, ok := quickFloat(figure)
	if !ok || digits > 15 {
		return false
	}
	m := bench.Metric{Name: label.metric, Value: x, Raw: x}
	if dot := bytes.IndexByte(figure, '.'); dot >= 0 {
		m.Decimals = len(figure) - dot - 1
	}
	s.run.Add(m)
	s.gap, s.run.Source.EndLine = 0, number
	return true
}

// stray counts lines that are not ours. Server logs may stand between the lines
// of a block, but a block that has lost its end must not swallow what follows.
func (s *serveBlock) stray() verdict {
	s.gap++
	if s.framed && s.gap > 40 || !s.framed && s.gap > 2 {
		return ended
	}
	return passed
}

func isRule(b []byte, c byte) bool {
	b = bytes.TrimSpace(b)
	if len(b) < 20 {
		return false
	}
	for _, x := range b {
		if x != c {
			return false
		}
	}
	return true
}

var serveSections = map[string]bool{
	"time to first token": true, "time per output token (excl. 1st token)": true, "inter-token latency": true,
	"end-to-end latency": true, "speculative decoding": true, "probe requests": true, "diffusion decoding": true,
}

// serveLabels are the labels of a block, in lower case since their case changed
// over the years. Latencies follow from their parts in latencyLabel.
var serveLabels = map[string]string{
	"successful requests":                  "completed",
	"failed requests":                      "failed",
	"benchmark duration (s)":               "duration",
	"benchmark duration":                   "duration",
	"total input tokens":                   "total_input_tokens",
	"total generated tokens":               "total_output_tokens",
	"request throughput (req/s)":           "request_throughput",
	"request throughput":                   "request_throughput",
	"request goodput (req/s)":              "request_goodput",
	"input throughput (inputs/s)":          "input_sequence_throughput",
	"input token throughput (tok/s)":       "input_throughput",
	"input token throughput":               "input_throughput",
	"output token throughput (tok/s)":      "output_throughput",
	"output token throughput":              "output_throughput",
	"total token throughput (tok/s)":       "total_token_throughput",
	"input throughput (tok/s)":             "input_throughput",
	"output throughput (tok/s)":            "output_throughput",
	"total throughput (tok/s)":             "total_token_throughput",
	"input throughput":                     "input_throughput",
	"output throughput":                    "output_throughput",
	"total throughput":                     "total_token_throughput",
	"peak output token throughput (tok/s)": "max_output_tokens_per_s",
	"peak concurrent requests":             "max_concurrent_requests",
	"rtfx (inverse real-time factor)":      "rtfx",
	"probe requests completed":             "probe_completed",
	"probe requests failed":                "probe_failed",
	"committed throughput (tok/s)":         "diffusion_committed_throughput",
	"denoising steps per canvas":           "diffusion_steps_per_canvas",
	"committed per denoising step":         "diffusion_committed_per_step",
	"committed tokens":                     "diffusion_committed_tokens",
	"denoising steps":                      "diffusion_denoising_steps",
	"canvas positions evaluated":           "diffusion_canvas_positions",
	"acceptance rate (%)":                  "draft_acceptance_rate",
	"acceptance length":                    "mean_acceptance_length",
	"accept length":                        "mean_acceptance_length",
	"drafts":                               "num_drafts",
	"draft tokens":                         "num_draft_tokens",
	"accepted tokens":                      "num_accepted_tokens",
	"accuracy rate (%)":                    "accuracy",

	// the first generation
	"total time":                       "duration",
	"throughput":                       "request_throughput",
	"average latency":                  "avg_latency",
	"average latency per token":        "avg_latency_per_token",
	"average latency per output token": "avg_latency_per_output_token",

	// SGLang
	"total generated tokens (retokenized)": "total_output_tokens_retokenized",
	"total input text tokens":              "total_input_text_tokens",
	"total input vision tokens":            "total_input_vision_tokens",
	"concurrency":                          "mean_concurrency",
	"last generation throughput (tok/s)":   "last_gen_throughput",
	"total prompt tokens":                  "total_prompt_tokens",
	"total cached tokens":                  "total_cached_tokens",
}

// serveSettings are the labels that say how a run was made.
var serveSettings = map[string]string{
	"maximum request concurrency": "concurrency", "request rate configured (rps)": "request_rate",
	"max reqeuest concurrency": "concurrency", "max request concurrency": "concurrency", "traffic request rate": "request_rate",
	"backend": "backend",
}

// sglangLabels stand only in SGLang's block. Those that are set to true are told
// even where the title of the block is lost.
var sglangLabels = map[string]bool{
	"backend": false, "max reqeuest concurrency": true, "max request concurrency": false, "total generated tokens (retokenized)": true,
	"concurrency": false, "traffic request rate": false, "mean e2e latency (ms)": true,
}

// set reads one labelled value into the run. It returns false for a label that
// is not one of a serving result.
func (s *serveBlock) set(d *document, known *serveLabel, value string, number int) bool {
	label := known.text
	if label == "traffic request rate" && (!s.framed || len(s.run.Metrics) > 0) {
		return false // a progress line of the next run, not one of a block
	}
	if known.sglang && (s.framed || known.sure) && s.run.Source.Tool == "vllm-serve" {
		s.run.Source.Tool = "sglang-serve"
	}
	if label == "concurrency" && s.run.Source.Tool == "vllm-serve" {
		return false // a setting that somebody wrote above quoted lines
	}
	if key := known.setting; key != "" {
		if value != "" && value != "None" && plausible(key, value) && !strings.Contains(value, " ") {
			s.run.Config.Add(key, tidyValue(key, value), bench.FromLog)
		}
		return true
	}
	if s.cacheTier(d, label, value, number) {
		return true
	}
	unit := ""
	if i := strings.IndexByte(value, ' '); i > 0 {
		value, unit = value[:i], strings.TrimSpace(value[i:])
	}
	name := known.metric
	if unit == "ms" {
		name = known.behind
	}
	if name == "" {
		return s.position(d, label, value, number) || label == "per-position acceptance (%)"
	}
	switch label {
	case "total time", "average latency", "average latency per token", "average latency per output token":
		if !s.first || unit != "s" {
			return false
		}
	case "throughput":
		if !s.first || unit != "requests/s" {
			return false
		}
	case "input throughput", "output throughput", "total throughput":
		if unit != "tok/s" && unit != "tokens/s" {
			return false
		}
	}
	m, ok := d.metric(name, value, number, label)
	if !ok {
		return true
	}
	if strings.HasSuffix(label, "(%)") {
		m = m.Percent()
	}
	s.run.Add(m)
	return true
}

// position reads the acceptance at one draft position.
func (s *serveBlock) position(d *document, label, value string, number int) bool {
	i, ok := strings.CutPrefix(strings.TrimSpace(label), "position ")
	if !ok || len(i) > 3 || !plainNumber([]byte(i)) {
		return false
	}
	if m, ok := d.metric("acceptance_rate_pos"+i, value, number, label); ok {
		s.run.Add(m.Percent())
	}
	return true
}

// latencyLabel turns `P99.9 TTFT (ms)` into p99.9_ttft_ms. In the second
// generation the unit stood behind the value, and TPOT was the whole latency
// over all tokens: another thing, so it has another name. It is "" for other labels.
func latencyLabel(label string, unitBehind bool) string {
	rest, inLabel := strings.CutSuffix(label, " (ms)")
	if inLabel == unitBehind {
		return ""
	}
	stat, family, ok := strings.Cut(rest, " ")
	if !ok {
		return ""
	}
	probe := ""
	if f, ok := strings.CutPrefix(family, "probe "); ok {
		probe, family = "probe_", f
	}
	switch family {
	case "e2e latency":
		family = "e2el"
	case "tpot":
		if unitBehind {
			family = "latency_per_token"
		}
	}
	name := probe + stat + "_" + family + "_ms"
	if _, _, ok := bench.SplitLatency(name); !ok {
		return ""
	}
	return name
}

// metric reads a number of a log. Words that stand for nothing (None, nan, N/A)
// give no metric; anything else that is no number is told.
func (d *document) metric(name, value string, number int, what string) (bench.Metric, bool) {
	x, decimals, ok := readNumber(value)
	if ok {
		return bench.Metric{Name: name, Value: x, Raw: x, Decimals: decimals}, true
	}
	if !isNothing(value) {
		d.errorf(number, "%s: expected a number, found %q", printable(clip(what)), printable(clip(value)))
	}
	return bench.Metric{}, false
}

func (s *serveBlock) close(d *document) {
	r := s.run
	counts(r)
	unsaidInput(r)
	least := 1
	if !s.framed {
		least = 3
	}
	if len(r.Metrics) < least || !r.Has("request_throughput") && !r.Has("output_throughput") && !r.Has("duration") && !r.Has("mean_ttft_ms") {
		return
	}
	d.take(r)
	d.attachSpec(r)
	notMeasured(r)
	if !s.framed {
		d.untitled = append(d.untitled, r)
	}
	d.emit(r)
}

// counts moves the number of completed requests to its own field.
func counts(r *bench.Run) {
	if m, ok := r.Metric("completed"); ok && m.Value >= 0 && m.Value < 1<<40 {
		n := int(m.Value)
		r.Completed = &n
	}
}

// notMeasured drops the latencies of a run in which nothing completed: they are
// printed as 0.00 and would win every comparison.
func notMeasured(r *bench.Run) {
	if r.Completed == nil || *r.Completed > 0 {
		return
	}
	r.Drop(func(m bench.Metric) bool {
		_, _, latency := bench.SplitLatency(m.Name)
		return latency && m.Value == 0
	})
}

// readCorrectRate reads the share of right answers that the benchmark of
// structured output prints behind its block.
func readCorrectRate(d *document, l line) bool {
	value := strings.TrimSpace(string(l.msg[len("correct_rate(%)"):]))
	n := len(d.runs)
	if n == 0 || d.runs[n-1].Source.Tool != "vllm-serve" || l.number-d.runs[n-1].Source.EndLine > 5 {
		return false
	}
	if m, ok := d.metric("correct_rate", value, l.number, "correct_rate(%)"); ok {
		d.runs[n-1].Add(m.Percent())
	}
	return true
}
