package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// llamaServer reads the times that programs of llama.cpp tell of themselves: a
// llama-server of each request in its log and in its answers, llama-cli,
// llama-completion and programs built on the library at their end. They are
// those of the server, not of a client: no queue and no network is in them, and
// the speeds are those of one sequence. So they keep names of their own.
//
// A log is one run for each start of a server: a day of requests would be runs
// without number, and requests inside a run are no repeats of it.
var llamaServer = Format{
	Tool:     "llama-server",
	Engine:   "llama.cpp",
	Programs: []program{{name: "llama-cli", engine: "llama.cpp"}, {name: "llama-completion", engine: "llama.cpp"}},
	Reads:    "timing lines of llama-server, llama-cli, llama-completion and programs built on libllama; timings in JSON answers",
	Since:    "2023-03",
	Example:  "slot print_timing: id  0 | task 12 | prompt eval time =      48.12 ms /    64 tokens (    0.75 ms per token,  1330.01 tokens per second)",
	Derives:  "speeds over several requests: tokens by time; acceptance rate from the counts; mean time of prompt evaluation",
	Limits: "the lines of a log are one run for each start of a program (a model that is loaded, a command, a heading or the end of a fence parts them), over all its requests, warm-up " +
		"included: no figure of a serving benchmark, which is why none has such a name; prompt tokens are those that were evaluated, without cached ones; speeds are those of one sequence, " +
		"of which several may run at once; an answer in JSON is a run, and from the 1001st of a file on all are one; what llama-cli prints behind its answers is averaged without weights; " +
		"the program is told where the log or the command does; event streams and /metrics are not read",
	Lines: []Start{
		{Prefix: "slot print_timing: ", Read: readSlotTiming},
		{Prefix: "print_timings:", Read: readTimingBehind},
		{Prefix: "common_perf_print:", Read: readPerf},
		{Prefix: "llama_perf_context_print:", Read: readPerf},
		{Prefix: "llama_print_timings:", Read: readPerf},
		{Prefix: "INFO [", Read: readTimingRecord},
		{Prefix: "prompt eval time", Read: readBareTiming},
		{Prefix: "generation eval time", Read: readBareTiming},
		{Prefix: "eval time", Read: readBareTiming},
		{Prefix: "draft acceptance ", Read: readBareTiming},
		{Prefix: "[ Prompt: ", Read: readChatSpeeds},

		{Prefix: "srv    load_model: loading model ", Read: readModelLoad},
		{Prefix: "load_model: loading model ", Read: readModelLoad},
		{Prefix: "llama_model_loader: loaded meta data with ", Read: readModelLoad},
		{Prefix: "common_speculative_init_result: loading draft model ", Read: readModelLoad},
		{Prefix: "llama_completion: llama backend init", Read: readProcessStart},
		{Prefix: "main: llama backend init", Read: readProcessStart},
		{Prefix: "build: ", Read: readProcessBuild},
		{Prefix: "main: build = ", Read: readProcessBuild},
		{Prefix: "build      : ", Read: readProcessBuild},
		{Prefix: "model      : ", Read: readModelLoad},
	},
	Keys:   []string{"timings", "predicted_per_second", "t_prompt_processing", "t_token_generation"},
	Object: timingsObject,
}

// maxAnswers is how many answers of a file are runs of their own.
const maxAnswers = 1000

// A llamaProcess is what a program of llama.cpp says of itself at its start.
type llamaProcess struct {
	program, model, draft, build string

	used   bool  // a result of it was read: the next start is another process
	result place // its last result: the timing lines behind it say the same again
}

// startProcess begins a new process, if the one before has ended in a result.
func (d *document) startProcess() {
	if d.process.used {
		d.flushTimings()
		d.process = llamaProcess{}
	}
}

// ofProcess gives a run what its process said.
func (d *document) ofProcess(r *bench.Run) {
	p := &d.process
	p.used = true
	c := &r.Config
	c.Add("program", p.program, bench.FromLog)
	c.Add("model", redact("", p.model), bench.FromLog)
	c.Add("draft_model", redact("", p.draft), bench.FromLog)
	c.Add("build", redact("", p.build), bench.FromLog)
	c.Add("device", redact("", strings.Join(d.llama.devices, ", ")), bench.FromLog)
}

// resulted notes a result of a process whose timing lines are not to be read.
func (d *document) resulted(number int) {
	d.process.used = true
	d.process.result = d.ctx.here(number)
}

// restated reports whether timing lines stand right behind the result of the
// process that writes them.
func (d *document) restated(number int) bool {
	p := d.process.result
	return p.line > 0 && number-p.line < 60 && p.fence == d.ctx.fence && p.section == d.ctx.section
}

func readProcessStart(d *document, l line) bool {
	d.startProcess()
	if hasPrefix(l.msg, "llama_completion:") {
		d.process.program = "llama-completion"
	}
	return true
}

// readProcessBuild reads the build in its spellings: `build: 6327 (4d74393bc)
// with …`, `main: build = 6327 (4d74393bc)`, `build      : b6327-4d74393bc`.
func readProcessBuild(d *document, l line) bool {
	s := string(l.msg)
	if rest, ok := strings.CutPrefix(s, "build      : "); ok {
		build := fingerprint(rest)
		if build == "" {
			return false
		}
		d.startProcess()
		d.process.program, d.process.build = "llama-cli", build
		return true
	}
	s = strings.TrimPrefix(strings.TrimPrefix(s, "build: "), "main: build = ")
	number, rest, _ := strings.Cut(s, " (")
	hash, _, ok := strings.Cut(rest, ")")
	if !ok || !allDigits(number) || !isHash(hash) {
		return false
	}
	d.startProcess()
	d.process.build = hash + " (" + number + ")"
	return true
}

// fingerprint writes b6327-4d74393bc as llama-bench does, 4d74393bc (6327).
func fingerprint(s string) string {
	number, hash, ok := strings.Cut(strings.TrimPrefix(s, "b"), "-")
	if !ok || !allDigits(number) || !isHash(hash) {
		return ""
	}
	return hash + " (" + number + ")"
}

func isHash(s string) bool {
	return len(s) >= 5 && len(s) <= 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// readModelLoad reads the lines that name the file of a model. The second one of
// a process is that of its draft model.
func readModelLoad(d *document, l line) bool {
	s := string(l.msg)
	name := ""
	switch {
	case strings.HasPrefix(s, "llama_model_loader:"):
		_, name, _ = strings.Cut(s, " tensors from ")
		name, _, _ = strings.Cut(name, " (version")
	case strings.HasPrefix(s, "model      : "):
		if !isGGUF(s) {
			return false
		}
		name = s[len("model      : "):]
	default:
		_, rest, _ := strings.Cut(s, "'")
		name, _, _ = strings.Cut(rest, "'")
	}
	if name = strings.TrimSpace(name); name == "" || len(name) > 300 {
		return true
	}
	draft := strings.Contains(s, "draft model")
	if !draft {
		d.startProcess()
	}
	switch p := &d.process; {
	case draft:
		p.draft = name
	case p.model == "":
		p.model = name
	case !sameModel(p.model, name):
		p.draft = name
	}
	return true
}

// The kinds of lines that one run is made of.
const (
	slotLines = "llama-server"
	perfLines = "libllama"
	chatLines = "llama-cli"
	manyJSON  = "answers" // more than are runs of their own
)

// timings sums the times of a log.
type timings struct {
	place
	last int
	kind string

	prompt, generated speedSum
	load              bench.Metric
	draft             draftSum
	over              downsampled // generation speed, request by request
	answers           int         // in JSON
}

// A speedSum sums the speed of one phase over requests.
type speedSum struct {
	lines  int // those without a time count too
	n      int
	tokens float64
	ms     float64
	work   float64 // speed × ms: the tokens that the speed is about, times 1000
	only   bench.Metric
}

// add adds a request. Its speed is as the program says it, not tokens by ms:
// newer servers leave out the first token, which comes with the prompt.
func (s *speedSum) add(tokens, ms float64, speed bench.Metric) {
	s.n++
	s.tokens += tokens
	s.ms += ms
	s.work += speed.Value * ms
	s.only = speed
}

// speed is that of the one request, or that of all by their time.
func (s *speedSum) speed(name string) (bench.Metric, bool) {
	if s.n == 0 || s.ms <= 0 {
		return bench.Metric{}, false
	}
	m := s.only
	if s.n > 1 {
		m = bench.Metric{Value: s.work / s.ms, Decimals: -1, Derived: true}
	}
	m.Name = name
	return m, finite(m.Value)
}

// A draftSum sums speculative decoding over requests.
type draftSum struct {
	n                           int
	accepted, drafted, verified float64 // verified: steps of the target model
	unsure                      bool    // not all requests tell their steps
	positions                   []float64
	rate, length                bench.Metric
}

func readSlotTiming(d *document, l line) bool {
	// slot print_timing: id  0 | task 12 | prompt eval time = …
	s := l.msg
	for range 2 {
		if i := bytes.IndexByte(s, '|'); i >= 0 {
			s = s[i+1:]
		}
	}
	d.timing(bytes.TrimLeft(s, " "), slotLines, l.number)
	return true
}

func readTimingBehind(d *document, l line) bool {
	d.timing(bytes.TrimLeft(l.msg[len("print_timings:"):], " "), slotLines, l.number)
	return true
}

// readTimingRecord reads `INFO [           print_timings] prompt eval time …`.
func readTimingRecord(d *document, l line) bool {
	end := bytes.IndexByte(l.msg[:min(len(l.msg), 48)], ']')
	if end < 0 || !bytes.HasSuffix(l.msg[:end], []byte("print_timings")) {
		return false
	}
	d.timing(bytes.TrimLeft(l.msg[end+1:], " "), slotLines, l.number)
	return true
}

// readBareTiming reads a line of a block whose prefix stands above it, or that
// somebody pasted without.
func readBareTiming(d *document, l line) bool {
	if i := bytes.IndexByte(l.msg, '='); i < 0 || i > 24 || !bytes.Contains(l.msg, []byte(" ms ")) && !bytes.Contains(l.msg, []byte(" accepted /")) {
		return false
	}
	return d.timing(l.msg, slotLines, l.number)
}

func readPerf(d *document, l line) bool {
	d.flushPerplexity()
	if d.restated(l.number) {
		return true
	}
	_, s, _ := bytes.Cut(l.msg, []byte(":"))
	d.timing(bytes.TrimLeft(s, " "), perfLines, l.number)
	return true
}

// readChatSpeeds reads what llama-cli prints behind an answer. It does not tell
// how many tokens there were, nor how long they took.
func readChatSpeeds(d *document, l line) bool {
	prompt, generation, ok := strings.Cut(strings.Trim(string(l.msg), "[] "), " | ")
	if !ok || !strings.HasPrefix(generation, "Generation: ") {
		return false
	}
	t := d.timingsAt(chatLines, l.number)
	read := func(sum *speedSum, text, label string) {
		sum.lines++
		value := strings.TrimSuffix(strings.TrimPrefix(text, label+": "), " t/s")
		if m, ok := d.metric("", value, l.number, label); ok && m.Value > 0 {
			sum.add(0, 1, m) // no time, so all weigh the same
		}
	}
	read(&t.prompt, prompt, "Prompt")
	before := t.generated.n
	if read(&t.generated, generation, "Generation"); t.generated.n > before {
		t.over.add(t.generated.only.Value)
	}
	return true
}

// timingsAt gives the sum to which a line of a kind belongs. Lines of another
// kind, in another section or behind another command are those of another run.
func (d *document) timingsAt(kind string, number int) *timings {
	t := &d.timings
	if t.kind != "" {
		c := &d.ctx
		n := len(c.commands)
		if t.kind != kind || t.fence != c.fence || t.section != c.section || n > 0 && c.commands[n-1].line > t.last {
			d.flushTimings()
		}
	}
	if t.kind == "" {
		t.kind, t.place = kind, d.ctx.here(number)
		d.process.used = true
	}
	t.last = number
	return t
}

// timing reads one line from its label on. It returns false where that is none.
func (d *document) timing(s []byte, kind string, number int) bool {
	label, value, ok := bytes.Cut(s, []byte("="))
	label, value = bytes.TrimRight(label, " "), bytes.TrimLeft(value, " ")
	if !ok {
		return false
	}
	switch string(label) {
	case "prompt eval time":
		t := d.timingsAt(kind, number)
		d.evalTime(&t.prompt, value, string(label), number)
	case "eval time", "generation eval time":
		t := d.timingsAt(kind, number)
		if speed, ok := d.evalTime(&t.generated, value, string(label), number); ok {
			t.over.add(speed)
		}
	case "load time":
		if ms, ok := numberAt(value); ok && ms > 0 {
			if t := d.timingsAt(kind, number); t.load.Name == "" {
				t.load = bench.Metric{Name: "load_ms", Value: ms, Decimals: decimalsAt(value)}
			}
		}
	case "draft acceptance rate", "draft acceptance":
		d.draftLine(&d.timingsAt(kind, number).draft, value, number)
	case "acc per pos":
		if t := &d.timings; t.draft.n > 0 {
			t.draft.at(value)
		}
	case "total time", "sample time", "sampling time", "samplers time", "unaccounted time", "graphs reused":
	default:
		return false
	}
	return true
}

// evalTime reads `48.12 ms /    64 tokens (    0.75 ms per token,  1330.01 tokens
// per second)`. The speed is missing in 2023, and inf where no time was taken.
func (d *document) evalTime(sum *speedSum, b []byte, label string, number int) (float64, bool) {
	sum.lines++
	ms, ok := numberAt(b)
	_, rest, ok2 := bytes.Cut(b, []byte("/"))
	tokens, ok3 := numberAt(bytes.TrimLeft(rest, " "))
	if !ok || !ok2 || !ok3 {
		if !isNothing(string(bytes.TrimSuffix(b, []byte(" ms")))) {
			d.errorf(number, "%s: expected a time in ms and a number of tokens, found %q", label, printable(clip(b)))
		}
		return 0, false
	}
	if ms <= 0 || tokens <= 0 {
		return 0, false // not measured: --no-perf, or a prompt from the cache
	}
	speed := bench.Metric{Value: 1000 * tokens / ms, Decimals: -1, Derived: true}
	if i := bytes.Index(rest, []byte(" tokens per second")); i > 0 {
		text := rest[:i]
		text = text[bytes.LastIndexAny(text, " ,(")+1:]
		x, decimals, ok := readNumber(string(text))
		if !ok {
			if !isNothing(string(text)) {
				d.errorf(number, "%s: expected a number of tokens per second, found %q", label, printable(clip(text)))
			}
			return 0, false
		}
		speed = bench.Metric{Value: x, Decimals: decimals}
	}
	sum.add(tokens, ms, speed)
	return speed.Value, true
}

// decimalsAt counts the digits behind the point of the number at the start of b.
func decimalsAt(b []byte) int {
	n := 0
	for n < len(b) && (isDigit(b[n]) || b[n] == '.') {
		n++
	}
	if dot := bytes.IndexByte(b[:n], '.'); dot >= 0 {
		return n - dot - 1
	}
	return 0
}

// draftLine reads `0.57576 (  171 accepted /   297 generated), mean len =  2.41`.
func (d *document) draftLine(s *draftSum, b []byte, number int) {
	open := bytes.IndexByte(b, '(')
	slash := bytes.IndexByte(b, '/')
	if open < 0 || slash < open {
		return // the rate alone: not to be summed
	}
	accepted, ok := numberAt(bytes.TrimLeft(b[open+1:], " "))
	drafted, ok2 := numberAt(bytes.TrimLeft(b[slash+1:], " "))
	if !ok || !ok2 {
		d.errorf(number, "draft acceptance: expected numbers of accepted and generated tokens, found %q", printable(clip(b)))
		return
	}
	if drafted <= 0 {
		return
	}
	s.n++
	s.accepted += accepted
	s.drafted += drafted
	if x, ok := numberAt(b); ok {
		s.rate = bench.Metric{Value: x, Decimals: decimalsAt(b)}
	}
	s.length = bench.Metric{}
	for _, label := range [...]string{"mean len =", "mean acceptance length ="} {
		if i := bytes.Index(b, []byte(label)); i >= 0 {
			at := bytes.TrimLeft(b[i+len(label):], " ")
			if x, ok := numberAt(at); ok {
				s.length = bench.Metric{Value: x, Decimals: decimalsAt(at)}
			}
		}
	}
	// The mean length is 1 + accepted by steps, so it tells the steps.
	if s.length.Value > 1 && accepted > 0 {
		s.verified += accepted / (s.length.Value - 1)
	} else {
		s.unsure = true
	}
	if _, rest, ok := bytes.Cut(b, []byte("acceptance rate per position = ")); ok {
		s.at(rest)
	}
}

// at takes the acceptance by position, (0.812, 0.604), of the one request.
func (s *draftSum) at(b []byte) {
	s.positions = s.positions[:0]
	for part := range strings.SplitSeq(strings.Trim(string(b), "() "), ",") {
		x, _, ok := readNumber(strings.TrimSpace(part))
		if !ok || len(s.positions) == 256 {
			return
		}
		s.positions = append(s.positions, x)
	}
}

func (s *draftSum) addTo(r *bench.Run) {
	if s.n == 0 {
		return
	}
	rate, length := s.rate, s.length
	if s.n > 1 {
		rate = bench.Metric{Value: s.accepted / s.drafted, Decimals: -1, Derived: true}
		length = bench.Metric{}
		if !s.unsure {
			length = bench.Metric{Value: 1 + s.accepted/s.verified, Decimals: -1, Derived: true}
		}
	}
	rate.Name = "draft_acceptance_rate"
	r.Add(rate)
	if length.Value > 0 {
		length.Name = "mean_acceptance_length"
		r.Add(length)
	}
	r.Add(bench.Metric{Name: "num_accepted_tokens", Value: s.accepted, Derived: s.n > 1})
	r.Add(bench.Metric{Name: "num_draft_tokens", Value: s.drafted, Derived: s.n > 1})
	if s.n == 1 {
		for k, x := range s.positions {
			r.Add(bench.Metric{Name: "acceptance_rate_pos" + strconv.Itoa(k), Value: x, Decimals: -1})
		}
	}
}

// flushLlama makes runs of what llama.cpp said and did not end with a result.
func (d *document) flushLlama() {
	d.flushPerplexity()
	d.flushTimings()
}

// flushTimings makes a run of the times read so far.
func (d *document) flushTimings() {
	t := d.timings
	d.timings = timings{answers: t.answers}
	if t.kind == "" {
		return
	}
	r := &bench.Run{Source: bench.Source{Line: t.line, EndLine: t.last, Tool: "llama-server", Format: "text"}}
	if t.kind == manyJSON {
		r.Source.Format = "json"
	}
	t.addTo(r)
	if len(r.Metrics) == 0 {
		d.guess = "has timing lines of llama.cpp without times"
		return
	}
	if t.generated.n > 1 {
		r.Series = []bench.Series{t.over.series("generation_tok_s_per_request")}
	}
	if t.kind == slotLines || t.kind == chatLines {
		r.Config.Add("program", t.kind, bench.FromLog)
	}
	d.ofProcess(r)
	d.emit(r)
}

// addTo gives a run the speeds, counts and times.
func (t *timings) addTo(r *bench.Run) {
	if m, ok := t.prompt.speed("prompt_tok_s_per_request"); ok {
		r.Add(m)
	}
	if m, ok := t.generated.speed("generation_tok_s_per_request"); ok {
		r.Add(m)
	}
	if p := t.prompt; p.tokens > 0 {
		r.Add(bench.Metric{Name: "prompt_tokens_evaluated", Value: p.tokens, Derived: p.n > 1})
		r.Add(bench.Metric{Name: "mean_prompt_eval_ms", Value: p.ms / float64(p.n), Decimals: -1, Derived: p.n > 1})
	}
	if g := t.generated; g.tokens > 0 {
		r.Add(bench.Metric{Name: "tokens_generated", Value: g.tokens, Derived: g.n > 1})
	}
	t.draft.addTo(r)
	if len(r.Metrics) == 0 {
		return
	}
	if t.load.Name != "" {
		r.Add(t.load)
	}
	r.Add(bench.Metric{Name: "timed_requests", Value: float64(max(t.prompt.lines, t.generated.lines))})
}

// timingsObject reads the times in an answer of the server, and the records of
// its log where that is JSON.
func timingsObject(d *document, o *object) bool {
	switch {
	case o.get("t_prompt_processing") != nil:
		return d.timingObject(o, "t_prompt_processing", "n_prompt_tokens_processed")
	case o.get("t_token_generation") != nil:
		return d.timingObject(o, "t_token_generation", "n_decoded")
	}
	times := o
	if m := o.get("timings"); m != nil {
		times = m.object
	} else if d.json.depth > 0 {
		return false // the object around it tells more
	}
	if times.get("predicted_n") == nil || times.get("predicted_per_second") == nil && times.get("predicted_ms") == nil {
		return false
	}
	t := &timings{}
	d.timings.answers++
	many := d.timings.answers > maxAnswers
	if many {
		if d.timings.answers == maxAnswers+1 {
			d.notef(o.line, "more than %d answers of llama-server: those from here on are one run", maxAnswers)
		}
		t = d.timingsAt(manyJSON, o.line)
	}
	d.answerPhase(&t.prompt, times, "prompt")
	if d.answerPhase(&t.generated, times, "predicted") {
		t.over.add(t.generated.only.Value)
	}
	d.answerDraft(&t.draft, times)
	if many {
		return true
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "llama-server", Format: "json"}}
	t.addTo(r)
	if len(r.Metrics) == 0 {
		return true
	}
	r.Config.Add("program", "llama-server", bench.FromDerived)
	r.Config.Add("model", redact("", o.scalar("model")), bench.FromJSON)
	r.Config.Add("build", fingerprint(o.scalar("system_fingerprint")), bench.FromJSON)
	d.emit(r)
	return true
}

// answerPhase adds one of the two phases of an answer.
func (d *document) answerPhase(sum *speedSum, o *object, phase string) bool {
	return d.phase(sum, o, phase+"_ms", phase+"_n", phase+"_per_second")
}

// timingObject adds a record of a server that logs JSON.
func (d *document) timingObject(o *object, time, count string) bool {
	if o.get(count) == nil {
		return false // the record that sums up the two before it
	}
	t := d.timingsAt(slotLines, o.line)
	if time == "t_prompt_processing" {
		d.phase(&t.prompt, o, time, count, "n_tokens_second")
	} else if d.phase(&t.generated, o, time, count, "n_tokens_second") {
		t.over.add(t.generated.only.Value)
	}
	return true
}

// phase adds a time, a number of tokens and a speed that stand under three keys.
func (d *document) phase(sum *speedSum, o *object, time, count, speed string) bool {
	sum.lines++
	ms, ok := d.numberAt(o, time)
	tokens, ok2 := d.numberAt(o, count)
	if !ok || !ok2 || tokens <= 0 || ms <= 0 {
		return false
	}
	m := bench.Metric{Value: 1000 * tokens / ms, Decimals: -1, Derived: true}
	if x, ok := d.numberAt(o, speed); ok && x > 0 {
		m = bench.Metric{Value: x, Decimals: -1}
	}
	sum.add(tokens, ms, m)
	return true
}

func (d *document) answerDraft(s *draftSum, o *object) {
	drafted, ok := d.numberAt(o, "draft_n")
	accepted, ok2 := d.numberAt(o, "draft_n_accepted")
	if ok && ok2 && drafted > 0 {
		s.n++
		s.drafted += drafted
		s.accepted += accepted
		s.unsure = true
		s.rate = bench.Metric{Value: accepted / drafted, Decimals: -1, Derived: true}
	}
}

// numberAt reads a number, and tells where there is something else.
func (d *document) numberAt(o *object, key string) (float64, bool) {
	m := o.get(key)
	if m == nil {
		return 0, false
	}
	metric, ok := d.jsonNumber(m, key)
	return metric.Value, ok
}
