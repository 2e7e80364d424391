package notes

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/benchreport/benchreport/bench"
)

// A Meaning is what a header says of the cells below it, or beside it.
type Meaning struct {
	Metrics []string        // what they may be, likeliest first; none where the header is no metric
	Factor  float64         // makes their unit that of the metric: 1000 for seconds in place of ms
	Key     string          // the setting that they give, "" where the header is none
	Where   []bench.Setting // what the header says of the runs below it: test=pp512
	Change  bool            // they compare: a difference, a ratio, a speedup
	Better  bench.Better    // the direction that the header itself tells
	Unit    string          // as written: ms, tok/s, %
	Vague   string          // a name for what the header leaves open: TTFT of which statistic, tok/s of which tokens
}

// IsMetric reports whether the header names a metric.
func (m Meaning) IsMetric() bool { return len(m.Metrics) > 0 }

// Headers that do not say of which tokens they are.
const (
	anyTokens = "output_throughput total_token_throughput avg_ts generation_throughput"
	anyPerGPU = "output_throughput_per_gpu total_throughput_per_gpu"
)

// The synonyms of metrics: a line for each, its phrases in lower case, without
// punctuation and without the unit, which stands in the second column. To
// understand one more spelling, add it here.
var metricPhrases = []struct {
	metrics string // likeliest first
	unit    string // "" where headers give none; it must be of this kind where they do
	phrases string // parted by |
}{
	{"duration", "time", "duration|benchmark duration|total duration|test duration|total time|wall time|wall clock|wall clock time|elapsed|elapsed time|runtime|run time"},
	{"completed", "", "successful requests|completed requests|completed|successful|requests completed|num completed|success"},
	{"failed", "", "failed requests|failed|requests failed|num failed"},
	{"total_input_tokens", "", "total input tokens|input tokens|prompt tokens|total prompt tokens"},
	{"total_output_tokens", "", "total generated tokens|generated tokens|output tokens|total output tokens|completion tokens|tokens generated"},
	{"request_throughput", "req/s", "|request throughput|requests|req|throughput|request|tp"},
	{"request_throughput", "", "request throughput"},
	{"request_goodput", "req/s", "goodput|request goodput"},
	{"output_throughput generation_throughput", "tok/s", "output|out|output token throughput|output throughput|output token|output tokens|generated|gen|generation|generation throughput|decode|decode throughput|output tp|out tp|gen throughput|completion|generation speed|decode speed|output speed"},
	{"output_throughput", "", "output token throughput|output throughput"},
	{"total_token_throughput", "tok/s", "total|total token throughput|total throughput|tot|overall|total token|total tokens|combined|combined throughput"},
	{"total_token_throughput", "", "total token throughput|total throughput"},
	{"input_throughput prompt_throughput", "tok/s", "input|prompt|prefill|input token throughput|input throughput|input token|input tokens|prompt throughput|prefill throughput|prompt processing|prefill speed"},
	{anyTokens, "tok/s", "|throughput|token throughput|tokens|speed|tp|token|avg|mean|rate|performance"},
	{"max_output_tokens_per_s", "tok/s", "peak output token throughput|peak output|peak"},
	{"output_throughput_per_gpu", "tok/s/gpu", "output"},
	{anyPerGPU, "tok/s/gpu", "|throughput"},
	{"tok_s_per_user", "tok/s/user", "|output|throughput|interactivity"},
	{"max_concurrent_requests", "", "peak concurrent requests|peak concurrency"},
	{"draft_acceptance_rate", "", "acceptance|acceptance rate|draft acceptance rate|draft acceptance|accept rate|accepted|acc rate"},
	{"mean_acceptance_length", "", "acceptance length|accept length|mean acceptance length|acceptance len|accept len|mean accept length|τ"},
	{"system_efficiency", "", "system efficiency|efficiency"},
	{"accuracy", "", "accuracy|acc"},
	{"perplexity ppl", "", "perplexity|ppl"},
}

// latencyPhrases name the families of latencies. What statistic it is stands
// beside them.
var latencyPhrases = []struct{ family, phrases string }{
	{"ttft", "ttft|time to first token|first token latency|first token|time to 1st token"},
	{"tpot", "tpot|time per output token|per output token|time per output tok"},
	{"itl", "itl|inter token latency|intertoken latency|inter token|time between tokens|tbt"},
	{"e2el", "e2el|e2e|e2e latency|end to end latency|end to end|request latency|e2e lat"},
}

// latencyOnly are headers that say no more than that it is a latency.
var latencyOnly = []string{"latency", "lat", "response time"}

// keyPhrases name settings.
var keyPhrases = []struct{ key, phrases string }{
	{"engine", "engine|backend|framework|server|runtime|inference engine|serving engine|software|stack"},
	{"model", "model|model name|model quant|model file|llm"},
	{"quant", "quant|quantization|precision|quantisation|dtype|format"},
	{"concurrency", "concurrency|max concurrency|concurrent|concurrent requests|concurrent users|users|c|conc|concurrency level|clients|num concurrent|parallel|parallel requests|streams"},
	{"request_rate", "request rate|rate|offered rate|arrival rate|target qps|target rps|request rate req/s"},
	{"num_prompts", "num prompts|prompts|number of prompts|requests|num requests|number of requests|n"},
	{"input_len", "isl|input len|input length|prompt length|prompt len|input size|in len|context"},
	{"output_len", "osl|output len|output length|gen len|generation length|out len"},
	{"tp", "tp|tensor parallel|tensor parallelism|tp size"},
	{"pp", "pp|pipeline parallel|pp size"},
	{"gpus", "gpus|num gpus|number of gpus|gpu count"},
	{"device", "gpu|device|hardware|card|accelerator|machine"},
	{"batch", "batch|batch size|bs"},
	{"spec_tokens", "k|spec tokens|num speculative tokens|draft tokens|speculative tokens"},
	{"draft_model", "draft|draft model"},
	{"test", "test"},
	{"depth", "depth"},
	{"dataset", "dataset"},
	{"task", "task|tasks"},
	{"label", "run|name|config|configuration|variant|setup|case|experiment|label|version|commit|build|mode|method"},
}

var changePhrases = "difference|diff|δ|delta|change|changes|speedup|speed up|ratio|improvement|gain|relative|rel|faster|vs|uplift|increase|decrease|reduction|x faster|scaling"

// phrase finds what a phrase means, by unit where that tells.
var (
	metricsByPhrase = map[[2]string][]string{}
	familyByPhrase  = map[string]string{}
	keyByPhrase     = map[string]string{}
	changes         = map[string]bool{}
)

// learn fills the maps at the first use: most commands read no note.
var learn = sync.OnceFunc(func() {
	for _, line := range metricPhrases {
		for phrase := range strings.SplitSeq(line.phrases, "|") {
			metricsByPhrase[[2]string{phrase, line.unit}] = strings.Fields(line.metrics)
		}
	}
	for _, line := range latencyPhrases {
		for phrase := range strings.SplitSeq(line.phrases, "|") {
			familyByPhrase[phrase] = line.family
		}
	}
	for _, line := range keyPhrases {
		for phrase := range strings.SplitSeq(line.phrases, "|") {
			keyByPhrase[phrase] = line.key
		}
	}
	for phrase := range strings.SplitSeq(changePhrases, "|") {
		changes[phrase] = true
	}
})

// spellings of units, longest first where one is part of another.
var unitSpellings = strings.NewReplacer(
	"tokens per second per gpu", "tok/s/gpu", "tok/s/gpu", "tok/s/gpu", "tps/gpu", "tok/s/gpu", "tok/s per gpu", "tok/s/gpu", "tokens/s/gpu", "tok/s/gpu", "t/s/gpu", "tok/s/gpu", "tput/gpu", "tok/s/gpu",
	"tokens per second per user", "tok/s/user", "tok/s/user", "tok/s/user", "tps/user", "tok/s/user", "tok/s per user", "tok/s/user", "tokens/s/user", "tok/s/user",
	"tokens per second", "tok/s", "tokens / second", "tok/s", "tokens/second", "tok/s", "tokens/sec", "tok/s", "token/sec", "tok/s", "tokens/s", "tok/s", "token/s", "tok/s", "toks/s", "tok/s", "tok/sec", "tok/s", "tok / s", "tok/s", "tkn/s", "tok/s", "tok/s", "tok/s",
	"requests per second", "req/s", "requests/second", "req/s", "requests/sec", "req/s", "requests/s", "req/s", "request/s", "req/s", "reqs/s", "req/s", "req/sec", "req/s", "req / s", "req/s", "req/s", "req/s", "r/s", "req/s",
	"out/s", "output tok/s", "tps", " tok/s ", "t/s", "tok/s", "rps", " req/s ", "qps", " req/s ",
	"milliseconds", "ms", "millisecond", "ms", "msec", "ms", "microseconds", "µs", "μs", "µs", "seconds", "s", "secs", "s",
	"inter-token", "inter token", "time-to-first-token", "time to first token", "end-to-end", "end to end",
)

// units and the kind that each is of.
var unitKinds = map[string]string{
	"ms": "time", "s": "time", "sec": "time", "µs": "time", "us": "time", "ns": "time", "min": "time",
	"tok/s": "tok/s", "req/s": "req/s", "tok/s/gpu": "tok/s/gpu", "tok/s/user": "tok/s/user", "%": "%", "x": "x", "×": "x",
}

// milliseconds are in one of each unit of time.
var milliseconds = map[string]float64{"ms": 1, "s": 1000, "sec": 1000, "µs": 0.001, "us": 0.001, "ns": 1e-6, "min": 60000}

var statWords = map[string]string{
	"mean": "mean", "avg": "mean", "average": "mean", "median": "median", "med": "median", "min": "min", "max": "max", "std": "std", "stddev": "std",
}

// fillers say nothing about what a header means.
var fillers = map[string]bool{
	"the": true, "of": true, "in": true, "is": true, "better": true, "higher": true, "lower": true, "excl": true, "1st": true, "client": true, "server": true, "serving": true,
	"percentile": true, "value": true, "score": true, "best": true, "single": true, "aggregate": true, "aggregated": true, "measured": true,
}

// Understand tells what a header means.
func Understand(header string) Meaning {
	learn()
	var m Meaning
	lower := strings.ToLower(header)
	switch {
	case strings.Contains(lower, "↑"), strings.Contains(lower, "higher is better"), strings.Contains(lower, "higher better"):
		m.Better = bench.Higher
	case strings.Contains(lower, "↓"), strings.Contains(lower, "lower is better"), strings.Contains(lower, "lower better"):
		m.Better = bench.Lower
	}
	for _, aside := range [...]string{"(excl. 1st token)", "(excl. first token)", "higher is better", "lower is better", "higher better", "lower better", "↑", "↓", "⬆", "⬇"} {
		lower = strings.ReplaceAll(lower, aside, " ")
	}
	lower = unitSpellings.Replace(" " + lower + " ")
	words := wordsOf(lower)
	if m.llamaTest(words) {
		return m
	}
	stat := ""
	var rest []string
	for _, w := range words {
		switch {
		case unitKinds[w] != "" && m.Unit == "" && !(w == "s" && len(words) == 1):
			m.Unit = w
		case unitKinds[w] != "":
		case stat == "" && isStat(w):
			stat = canonicalStat(w)
		case fillers[w] && len(words) > 1:
		default:
			rest = append(rest, w)
		}
	}
	phrase := strings.Join(rest, " ")
	kind := unitKinds[m.Unit]
	if m.change(phrase, rest, kind) || m.latency(phrase, stat, kind) {
		return m
	}
	if stat == "max" {
		phrase = strings.TrimSpace("max " + phrase) // max concurrency
	}
	if metrics := metricsByPhrase[[2]string{phrase, kind}]; metrics != nil && (stat == "" || stat == "mean") {
		m.Metrics, m.Factor = metrics, 1
	} else if metrics := metricsByPhrase[[2]string{phrase, ""}]; metrics != nil && phrase != "" && (kind == "" || kind == "%") && (stat == "" || stat == "mean") {
		m.Metrics, m.Factor = metrics, 1
		if kind == "%" {
			m.Factor = 0.01
		}
	} else if metrics := metricsByPhrase[[2]string{phrase, "time"}]; metrics != nil && (kind == "" || kind == "time") && stat == "" {
		m.Metrics, m.Factor = metrics, 1
	} else if key := keyByPhrase[strings.TrimSpace(phrase+" "+unitOfRate(m.Unit))]; key != "" {
		m.Key = key
	} else if key := keyByPhrase[phrase]; key != "" && kind == "" {
		m.Key = key
	}
	switch strings.Join(m.Metrics, " ") {
	case anyTokens:
		m.Vague = "throughput_tok_s"
	case anyPerGPU:
		m.Vague = "throughput_tok_s_per_gpu"
	}
	if m.IsMetric() && kind == "time" { // a duration is in seconds
		m.Factor = milliseconds[m.Unit] / 1000
	}
	return m
}

// wordsOf parts a header into words and units.
func wordsOf(header string) []string {
	var words []string
	for _, w := range strings.FieldsFunc(header, func(c rune) bool {
		return !(unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("/%.@+×", c))
	}) {
		w = strings.Trim(w, "./")
		switch before, percent := strings.CutSuffix(w, "%"); {
		case w == "":
		case unitKinds[w] != "":
			words = append(words, w)
		case percent:
			words = append(words, before, "%")
		default:
			words = append(words, strings.FieldsFunc(w, func(c rune) bool { return c == '/' })...)
		}
	}
	return words
}

// unitOfRate is req/s where that is the unit: QPS may be what was offered.
func unitOfRate(unit string) string {
	if unit == "req/s" {
		return unit
	}
	return ""
}

func isStat(w string) bool { return canonicalStat(w) != "" }

// canonicalStat is how metrics call a statistic: p99 for P99, 99th and 99%ile.
func canonicalStat(w string) string {
	if s := statWords[w]; s != "" {
		return s
	}
	for _, suffix := range [...]string{"th", "%ile", "%", "%tile"} {
		if digits, ok := strings.CutSuffix(w, suffix); ok && allDigits(digits) && suffix != "%" {
			return "p" + digits
		}
	}
	if len(w) >= 3 && w[0] == 'p' && allDigits(strings.Replace(w[1:], ".", "", 1)) && w[1] >= '1' {
		return w
	}
	return ""
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// latency understands a family of latencies with its statistic.
func (m *Meaning) latency(phrase, stat, kind string) bool {
	family := familyByPhrase[phrase]
	if family == "" {
		if s, ok := strings.CutSuffix(phrase, " latency"); ok {
			family = familyByPhrase[s]
		}
	}
	only := family == "" && slices.Contains(latencyOnly, phrase)
	if family == "" && !only || kind != "" && kind != "time" {
		return false
	}
	stats := []string{stat}
	switch stat {
	case "":
		stats = []string{"mean", "median", "p50"}
		if m.Vague = family + "_ms"; only {
			m.Vague = "e2el_ms"
		}
	case "median":
		stats = []string{"median", "p50"}
	case "p50":
		stats = []string{"p50", "median"}
	}
	for _, s := range stats {
		if only {
			m.Metrics = append(m.Metrics, s+"_e2el_ms")
			continue
		}
		m.Metrics = append(m.Metrics, s+"_"+family+"_ms")
	}
	m.Factor = 1
	if f, ok := milliseconds[m.Unit]; ok {
		m.Factor = f
	}
	return true
}

// change understands columns that compare others.
func (m *Meaning) change(phrase string, words []string, kind string) bool {
	if changes[phrase] || phrase == "" && (kind == "x" || kind == "%") && m.Unit != "" {
		m.Change = true
		return true
	}
	for _, w := range words {
		if changes[w] {
			m.Change = true
			return true
		}
	}
	return false
}

// llamaTest understands the tests of llama-bench: pp512, tg128 @ d4096.
func (m *Meaning) llamaTest(words []string) bool {
	if len(words) == 0 || !IsLlamaTest(words[0]) {
		return false
	}
	m.Where = append(m.Where, bench.Setting{Key: "test", Value: words[0]})
	for i, w := range words[1:] {
		depth := strings.TrimPrefix(w, "@")
		switch {
		case w == "@" || w == "depth":
		case strings.HasPrefix(depth, "d") && allDigits(depth[1:]):
			m.Where = append(m.Where, bench.Setting{Key: "depth", Value: depth[1:]})
		case unitKinds[w] != "":
			m.Unit = w
		case changes[w]:
			m.Change, m.Where = true, nil
			return true
		case i > 3:
			return false
		}
	}
	m.Metrics, m.Factor = []string{"avg_ts"}, 1
	return true
}

// IsLlamaTest reports whether a word is the name of a llama-bench test.
func IsLlamaTest(w string) bool {
	head, tail, both := strings.Cut(w, "+")
	if both {
		return strings.HasPrefix(head, "pp") && IsLlamaTest(head) && strings.HasPrefix(tail, "tg") && IsLlamaTest(tail)
	}
	return (strings.HasPrefix(w, "pp") || strings.HasPrefix(w, "tg")) && allDigits(w[2:])
}

// FactorOf is what makes the unit behind a figure that of the metric, where the
// cell gives one; otherwise it is that of the header.
func (m Meaning) FactorOf(n Number, metric string) float64 {
	unit := strings.TrimSpace(n.Unit)
	switch {
	case unit == "":
		return m.Factor
	case milliseconds[unit] != 0 && strings.HasSuffix(metric, "_ms"):
		return milliseconds[unit]
	case milliseconds[unit] != 0 && bench.Lookup(metric).Unit == "s":
		return milliseconds[unit] / 1000
	case unit == "%":
		return 0.01
	}
	return m.Factor
}
