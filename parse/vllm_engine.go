package parse

import (
	"bytes"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// vllmEngine reads the statistics lines of a vLLM server, one every 5 or 10
// seconds, and makes one run of those of a log.
var vllmEngine = Format{
	Tool:    "vllm-engine",
	Engine:  "vllm",
	Reads:   "server log lines, aggregated",
	Since:   "v0.1.0 (2023)",
	Example: "INFO 12-16 16:46:04 metrics.py:467] Avg prompt throughput: 123.4 tokens/s, Avg generation throughput: 567.8 tokens/s, Running: 8 reqs, …",
	Derives: "the mean over intervals in which something was processed, maxima, number of intervals",
	Limits:  "the first and last interval are diluted by idle time; a log with several server starts gives several runs",
	Lines: []Start{
		{Prefix: "Avg prompt throughput: ", Read: readEngine},
		{Prefix: "Engine ", Read: readEngine},
		{Prefix: "Throughput: ", Read: readEngine},
		{Anywhere: "Avg prompt throughput: ", Read: readEngine}, // behind a prefix of another kind
		{Prefix: "Initializing a", Read: readEngineStart},
		{Prefix: "non-default args: ", Read: readServerArgs},
		{Prefix: "args: Namespace(", Read: readServerArgs},
		{Prefix: "vLLM API server version ", Read: readServerVersion},
		{Prefix: "vLLM server version ", Read: readServerVersion},
	},
}

// engineLines aggregates the statistics lines of a log.
type engineLines struct {
	first, last         int
	n, active           int
	prompt, generation  float64 // sums over active intervals
	maxPrompt, maxGen   float64
	maxRunning          float64
	maxWaiting, maxKV   float64
	prefixHits          float64
	hasKV, hasPrefix    bool
	hasQueue            bool
	promptOver, genOver downsampled
	place               place
}

func readEngine(d *document, l line) bool {
	start := len(l.text) - len(l.msg)
	if !hasPrefix(l.msg, "Avg prompt") {
		if start = bytes.Index(l.text, []byte("hroughput: ")); start < 0 {
			return false
		}
		for start > 0 && l.text[start-1] != ':' && l.text[start-1] != ']' && l.text[start-1] != ',' {
			start--
		}
	}
	var prompt, generation, running, waiting, usage, hits float64
	var have struct{ prompt, generation, waiting, usage, hits, swapped bool }
	for rest := l.text[start:]; len(rest) > 0; {
		part := rest[skipBlank(rest, 0):]
		if i := bytes.IndexByte(part, ','); i >= 0 {
			part, rest = part[:i], part[i+1:]
		} else {
			rest = nil
		}
		if len(part) == 0 {
			continue
		}
		const (
			avgPrompt = "Avg prompt throughput: "
			avgTokens = "Avg generation throughput: "
			total     = "Throughput: " // v0.1.0: prompt and generated tokens together
			inFlight  = "Running: "
			queued    = "Waiting: " // or Pending
			cache     = "GPU KV cache usage: "
			prefix    = "Prefix cache hit rate: "
		)
		switch part[0] {
		case 'A':
			if hasPrefix(part, avgPrompt) {
				prompt, have.prompt = numberAt(part[len(avgPrompt):])
			} else if hasPrefix(part, avgTokens) {
				generation, have.generation = numberAt(part[len(avgTokens):])
			}
		case 'T':
			if hasPrefix(part, total) {
				generation, have.generation = numberAt(part[len(total):])
			}
		case 'R':
			if hasPrefix(part, inFlight) {
				running, _ = numberAt(part[len(inFlight):])
			}
		case 'W', 'P':
			if hasPrefix(part, prefix) {
				hits, have.hits = numberAt(part[len(prefix):])
			} else if hasPrefix(part, queued) || hasPrefix(part, "Pending: ") {
				waiting, have.waiting = numberAt(part[len(queued):])
				// v0.7.1 forgot a comma here.
				if x, ok := valueAfter(part, cache); ok {
					usage, have.usage = x, ok
				}
			}
		case 'S':
			have.swapped = have.swapped || hasPrefix(part, "Swapped: ")
		case 'G':
			if hasPrefix(part, cache) {
				usage, have.usage = numberAt(part[len(cache):])
			}
		}
	}
	if !have.generation || !have.prompt && !have.swapped {
		return false
	}
	e := &d.engine
	if e.n == 0 {
		e.first, e.place = l.number, d.ctx.here(l.number)
	}
	e.n++
	e.last = l.number
	e.maxRunning = max(e.maxRunning, running)
	e.hasQueue = e.hasQueue || have.waiting
	e.maxWaiting = max(e.maxWaiting, waiting)
	e.hasKV = e.hasKV || have.usage
	e.maxKV = max(e.maxKV, usage/100)
	if have.hits {
		e.hasPrefix, e.prefixHits = true, hits/100
	}
	if prompt > 0 || generation > 0 {
		e.active++
		e.prompt += prompt
		e.generation += generation
	}
	e.maxPrompt, e.maxGen = max(e.maxPrompt, prompt), max(e.maxGen, generation)
	e.promptOver.add(prompt)
	e.genOver.add(generation)
	return true
}

// flushServerLines makes runs of the server lines read so far.
func (d *document) flushServerLines() {
	d.flushSpec()
	d.flushLlama()
	d.flushSglang()
	e := d.engine
	d.engine = engineLines{}
	if e.n == 0 {
		return
	}
	r := &bench.Run{Source: bench.Source{Line: e.first, EndLine: e.last, Tool: "vllm-engine", Format: "text"}}
	add := func(name string, x float64, derived bool) {
		r.Add(bench.Metric{Name: name, Value: x, Decimals: -1, Derived: derived})
	}
	if e.active > 0 {
		add("prompt_throughput", e.prompt/float64(e.active), true)
		add("generation_throughput", e.generation/float64(e.active), true)
	}
	add("max_prompt_throughput", e.maxPrompt, false)
	add("max_generation_throughput", e.maxGen, false)
	add("intervals", float64(e.n), false)
	add("active_intervals", float64(e.active), false)
	add("max_running_requests", e.maxRunning, false)
	if e.hasQueue {
		add("max_waiting_requests", e.maxWaiting, false)
	}
	if e.hasKV {
		add("max_kv_cache_usage", e.maxKV, false)
	}
	if e.hasPrefix {
		add("prefix_cache_hit_rate", e.prefixHits, false)
	}
	r.Series = []bench.Series{e.promptOver.series("prompt_throughput"), e.genOver.series("generation_throughput")}
	d.emit(r)
}

// maxPoints bounds what is kept of a series: more than a plot has pixels.
const maxPoints = 2048

// downsampled keeps a series of any length in at most maxPoints values: when it
// is full, neighbours are averaged and each value stands for twice as many.
type downsampled struct {
	step   int
	values []float64
	sum    float64
	held   int
}

func (s *downsampled) add(x float64) {
	s.step = max(s.step, 1)
	s.sum += x
	if s.held++; s.held < s.step {
		return
	}
	if len(s.values) == maxPoints {
		for i := range maxPoints / 2 {
			s.values[i] = (s.values[2*i] + s.values[2*i+1]) / 2
		}
		s.values = s.values[:maxPoints/2]
		s.step *= 2
		return // the value just summed is half of the next point
	}
	s.values = append(s.values, s.sum/float64(s.held))
	s.sum, s.held = 0, 0
}

func (s *downsampled) series(name string) bench.Series {
	values := s.values
	if s.held > 0 {
		values = append(values, s.sum/float64(s.held))
	}
	return bench.Series{Name: name, Step: max(s.step, 1), Values: values}
}

// readEngineStart reads `Initializing a V1 LLM engine (v0.10.2) with config:
// model='X', …`: a new server, so the lines before it were another's.
func readEngineStart(d *document, l line) bool {
	i := bytes.Index(l.msg, []byte(" with config: "))
	if i < 0 || !bytes.Contains(l.msg[:i], []byte("LLM engine")) {
		return false
	}
	cmd := command{role: server, engine: "vllm"}
	if open := bytes.IndexByte(l.msg[:i], '('); open > 0 {
		if build := strings.Trim(string(l.msg[open:i]), "() "); strings.ContainsAny(build, "0123456789") {
			cmd.config.Add("build", build, bench.FromLog)
		}
	}
	text := string(l.msg[i+len(" with config: "):])
	pythonArgs(text, func(key, value string) {
		switch key {
		case "model", "tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size", "dtype", "quantization", "max_seq_len",
			"kv_cache_dtype", "enforce_eager", "enable_prefix_caching", "chunked_prefill_enabled", "enable_chunked_prefill", "num_scheduler_steps":
			key = canonicalKey(key)
			cmd.config.Add(key, redact(key, strings.TrimPrefix(value, "torch.")), bench.FromLog)
		}
	})
	if _, rest, ok := strings.Cut(text, "speculative_config=SpeculativeConfig("); ok {
		rest, _, _ = strings.Cut(rest, ")")
		pythonArgs(rest, func(key, value string) {
			switch key {
			case "draft_model", "model":
				cmd.config.Add("draft_model", redact("", value), bench.FromLog)
			case "num_spec_tokens":
				cmd.config.Add("spec_tokens", value, bench.FromLog)
			case "method":
				cmd.config.Add("spec_method", value, bench.FromLog)
			}
		})
	}
	d.serverSays(cmd, l.number)
	return true
}

// readServerArgs reads the arguments that a server prints at its start.
func readServerArgs(d *document, l line) bool {
	cmd := command{role: server, engine: "vllm"}
	for _, s := range d.room.args.line(string(l.msg), bench.FromLog) {
		if _, known := configKeys[s.Key]; known || hasPrefix(l.msg, "non-default") {
			cmd.config.Add(s.Key, s.Value, bench.FromLog)
		}
	}
	d.serverSays(cmd, l.number)
	return true
}

func readServerVersion(d *document, l line) bool {
	_, rest, _ := strings.Cut(string(l.msg), " version ")
	version, _, _ := strings.Cut(rest, " ")
	cmd := command{role: server, engine: "vllm"}
	cmd.config.Add("build", redact("", strings.Trim(version, ",")), bench.FromLog)
	if _, model, ok := strings.Cut(rest, "serving model "); ok {
		cmd.config.Add("model", redact("", strings.TrimSpace(model)), bench.FromLog)
	}
	d.serverSays(cmd, l.number)
	return true
}

// serverSays remembers what a server says of itself at its start, together with
// what it said right before. The statistics above are those of another server.
func (d *document) serverSays(cmd command, number int) {
	if d.engine.n > 0 || d.spec.n > 0 || len(d.sglang) > 0 {
		d.flushServerLines()
	}
	c := &d.ctx
	cmd.place, cmd.from = c.here(number), bench.FromLog
	if n := len(c.commands); n > 0 {
		last := &c.commands[n-1]
		near := last.role == server && last.engine == cmd.engine && last.line > c.lastRun && last.section == cmd.section && number-last.line < 200
		if a, b := last.config.Get("model"), cmd.config.Get("model"); near && (a == "" || b == "" || sameModel(a, b)) {
			cmd.config.Merge(last.config)
			*last = cmd
			return
		}
	}
	c.rememberCommand(cmd)
}
