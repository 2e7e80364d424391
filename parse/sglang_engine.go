package parse

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/benchreport/benchreport/bench"
)

// sglangEngine reads the lines that an SGLang server logs about its batches: a
// decode line every 40 steps, a prefill line for each batch of prompts. It makes
// one run of those of a log, or one for each data-parallel replica.
var sglangEngine = Format{
	Tool:    "sglang-engine",
	Engine:  "sglang",
	Reads:   "server log lines, aggregated",
	Since:   "v0.2 (2024)",
	Example: "[2025-05-12 10:11:12 TP0] Decode batch. #running-req: 8, #token: 1234, token usage: 0.02, gen throughput (token/s): 812.34, #queue-req: 0",
	Derives: "means over the lines that tell a throughput, maxima, number of decode lines (intervals) and of prefill lines; " +
		"the acceptance length weighted by running requests; the cache hit rate from the tokens of the prefill lines, where they do not tell it",
	Limits: "the first interval after a pause is diluted by it; the accept rate changed its meaning in 2025 and has a name of its own; " +
		"each data-parallel replica is a run of its own; a log with several server starts gives several runs",
	Lines: []Start{
		{Prefix: "Decode batch", Read: readDecodeBatch},
		{Prefix: "Prefill batch", Read: readPrefillBatch},
		{Prefix: "server_args=", Read: readSglangServer},
	},
}

// sglangLines are the lines of a log, for each replica.
type sglangLines []*sglangRank

type sglangRank struct {
	dp          string // which data-parallel replica, "" for the only one
	first, last int

	decodes, active int
	generation      float64 // sum over active intervals
	maxGeneration   float64
	genOver         downsampled

	prefills, told int // prefill lines, and those that tell a throughput
	prompt         float64
	maxPrompt      float64
	promptOver     downsampled

	newTokens, cachedTokens float64
	hits                    float64 // the rate of the last line that tells it
	hasHits                 bool

	maxRunning, maxWaiting, maxKV float64
	hasKV                         bool

	accept, acceptWeight float64
	rate                 float64
	rates                int
}

// rank finds the replica that a line is of: [2025-05-12 10:11:12 DP1 TP1 EP1].
func (s *sglangLines) rank(l line) *sglangRank {
	dp := ""
	if head := l.text[:min(len(l.text), 120)]; l.logged {
		if i := bytes.Index(head, []byte(" DP")); i > 0 {
			end := i + 3
			for end < len(head) && isDigit(head[end]) {
				end++
			}
			dp = string(head[i+3 : end])
		}
	}
	i := slices.IndexFunc(*s, func(r *sglangRank) bool { return r.dp == dp })
	if i < 0 {
		if len(*s) >= 1024 {
			return (*s)[0]
		}
		i = len(*s)
		*s = append(*s, &sglangRank{dp: dp, first: l.number})
	}
	r := (*s)[i]
	r.last = l.number
	return r
}

// batchFields cuts what stands in front of the fields of a line: a dot or a
// comma, with the number of the step or a bracket about a mixed batch before it.
func batchFields(b []byte) []byte {
	b = b[skipBlank(b, 0):]
	if len(b) > 0 && (b[0] == '[' || b[0] == '(') {
		end := bytes.IndexAny(b[:min(len(b), 80)], "])")
		if end < 0 {
			return nil
		}
		b = b[end+1:]
	}
	if len(b) < 2 || b[0] != '.' && b[0] != ',' {
		return nil
	}
	return b[1:]
}

// eachField calls yield with every `name: value` between commas.
func eachField(b []byte, yield func(name, value []byte)) {
	for len(b) > 0 {
		part := b
		if i := bytes.IndexByte(b, ','); i >= 0 {
			part, b = b[:i], b[i+1:]
		} else {
			b = nil
		}
		part = part[skipBlank(part, 0):]
		if i := bytes.Index(part, []byte(": ")); i > 0 {
			yield(part[:i], part[i+2:])
		}
	}
}

func readDecodeBatch(d *document, l line) bool {
	var throughput, accept, rate float64
	var have struct{ throughput, accept, rate bool }
	var load batchLoad
	eachField(batchFields(l.msg[len("Decode batch"):]), func(name, value []byte) {
		switch string(name) {
		case "gen throughput (token/s)":
			throughput, have.throughput = numberAt(value)
		case "accept len":
			accept, have.accept = numberAt(value)
		case "accept rate":
			rate, have.rate = numberAt(value)
		default:
			load.field(name, value)
		}
	})
	if !have.throughput {
		return false
	}
	s := d.sglang.rank(l)
	s.decodes++
	if throughput > 0 {
		s.active++
		s.generation += throughput
	}
	s.maxGeneration = max(s.maxGeneration, throughput)
	s.genOver.add(throughput)
	s.load(load)
	if have.accept && accept > 0 {
		s.accept += accept * max(load.running, 1)
		s.acceptWeight += max(load.running, 1)
	}
	if have.rate {
		s.rate += rate
		s.rates++
	}
	return true
}

func readPrefillBatch(d *document, l line) bool {
	var throughput, tokens, cached, hits float64
	var have struct{ throughput, tokens, hits bool }
	var load batchLoad
	eachField(batchFields(l.msg[len("Prefill batch"):]), func(name, value []byte) {
		switch string(name) {
		case "input throughput (token/s)":
			throughput, have.throughput = numberAt(value)
		case "#new-token":
			tokens, have.tokens = numberAt(value)
		case "#cached-token":
			cached, _ = numberAt(value)
		case "cache hit rate":
			hits, have.hits = numberAt(value)
		default:
			load.field(name, value)
		}
	})
	if !have.tokens {
		return false
	}
	s := d.sglang.rank(l)
	s.prefills++
	s.newTokens += tokens
	s.cachedTokens += cached
	if have.hits {
		s.hits, s.hasHits = hits/100, true
	}
	if have.throughput && throughput > 0 {
		s.told++
		s.prompt += throughput
		s.maxPrompt = max(s.maxPrompt, throughput)
		s.promptOver.add(throughput)
	}
	s.load(load)
	return true
}

// A batchLoad is what both kinds of batch lines tell of the load.
type batchLoad struct {
	running, waiting, usage float64
	hasUsage                bool
}

func (b *batchLoad) field(name, value []byte) {
	switch string(name) {
	case "#running-req":
		b.running, _ = numberAt(value)
	case "#queue-req":
		b.waiting, _ = numberAt(value)
	case "token usage", "full token usage":
		b.usage, b.hasUsage = numberAt(value)
	}
}

func (s *sglangRank) load(b batchLoad) {
	s.maxRunning, s.maxWaiting = max(s.maxRunning, b.running), max(s.maxWaiting, b.waiting)
	s.maxKV, s.hasKV = max(s.maxKV, b.usage), s.hasKV || b.hasUsage
}

// flushSglang makes runs of the lines read so far.
func (d *document) flushSglang() {
	ranks := d.sglang
	d.sglang = nil
	for _, s := range ranks {
		r := &bench.Run{Source: bench.Source{Line: s.first, EndLine: s.last, Tool: "sglang-engine", Format: "text"}}
		if len(ranks) > 1 {
			r.Config.Add("dp_rank", s.dp, bench.FromLog)
		}
		s.metrics(r)
		d.emit(r)
	}
}

func (s *sglangRank) metrics(r *bench.Run) {
	add := func(name string, x float64, derived bool) {
		r.Add(bench.Metric{Name: name, Value: x, Decimals: -1, Derived: derived})
	}
	if s.told > 0 {
		add("prompt_throughput", s.prompt/float64(s.told), true)
		add("max_prompt_throughput", s.maxPrompt, false)
		r.Series = append(r.Series, s.promptOver.series("prompt_throughput"))
	}
	if s.active > 0 {
		add("generation_throughput", s.generation/float64(s.active), true)
		add("max_generation_throughput", s.maxGeneration, false)
		r.Series = append(r.Series, s.genOver.series("generation_throughput"))
	}
	if s.decodes > 0 {
		add("intervals", float64(s.decodes), false)
		add("active_intervals", float64(s.active), false)
	}
	if s.prefills > 0 {
		add("prefill_batches", float64(s.prefills), false)
	}
	add("max_running_requests", s.maxRunning, false)
	add("max_waiting_requests", s.maxWaiting, false)
	if s.hasKV {
		add("max_kv_cache_usage", s.maxKV, false)
	}
	if s.hasHits {
		add("prefix_cache_hit_rate", s.hits, false)
	} else if all := s.newTokens + s.cachedTokens; all > 0 {
		add("prefix_cache_hit_rate", s.cachedTokens/all, true)
	}
	if s.acceptWeight > 0 {
		add("mean_acceptance_length", s.accept/s.acceptWeight, true)
	}
	if s.rates > 0 {
		add("accept_rate", s.rate/float64(s.rates), true)
	}
}

// readSglangServer reads `server_args=ServerArgs(model_path='X', …)`, which a
// server prints at its start.
func readSglangServer(d *document, l line) bool {
	i := bytes.Index(l.msg, []byte("ServerArgs("))
	if i < 0 {
		return false
	}
	cmd := command{role: server, engine: "sglang"}
	pythonArgs(string(l.msg[i+len("ServerArgs("):]), func(key, value string) {
		sglangSetting(&cmd.config, key, value, bench.FromLog)
	})
	d.serverSays(cmd, l.number)
	return true
}

// serverTag is the length of the time and the ranks that SGLang puts in front of
// the lines of its workers, 0 if there are none:
//
//	[2025-05-12 10:11:12 DP1 TP1 EP1] message
//	[10:11:12 TP0] message
//	[gpu_id=0] message
func serverTag(b []byte) int {
	end := bytes.IndexByte(b[:min(len(b), 64)], ']')
	if end < 9 || end+2 >= len(b) || b[end+1] != ' ' {
		return 0
	}
	inner := b[1:end]
	if rest, ok := bytes.CutPrefix(inner, []byte("gpu_id=")); ok {
		if _, err := strconv.Atoi(string(rest)); err == nil {
			return end + 2
		}
		return 0
	}
	if !isDigit(inner[0]) {
		return 0
	}
	tag := inner[bytes.LastIndexByte(inner, ' ')+1:]
	for _, rank := range [...]string{"TP", "DP", "PP", "EP"} {
		if hasPrefix(tag, rank) && len(tag) > 2 && isDigit(tag[2]) {
			return end + 2
		}
	}
	return 0
}
