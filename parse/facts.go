package parse

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/benchreport/benchreport/bench"
)

// factPatterns are the ways in which people write settings into headings,
// comments and file names. The first group is the value.
var factPatterns = sync.OnceValue(func() []factPattern {
	p := func(key, words, expr string) factPattern {
		return factPattern{key, strings.Split(words, "|"), sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)` + expr) })}
	}
	return []factPattern{
		p("replicas", "tp", `\btp\s*=?\s*\d+\s*[x×]\s*(\d+)\b`),
		p("replicas", "multiply", `\bmultiply(?: the)? throughputs?\s*(?:by|x|×)?\s*(\d+)\b`),
		p("tp", "tp", `(?:\b|_)tp\s*[=:]?\s*(\d{1,2})(?:\b|_)`),
		p("pp", "pp", `(?:\b|_)pp\s*[=:]?\s*(\d{1,2})(?:\b|_)`),
		p("concurrency", "=", `(?:\b|_)c\s*=\s*(\d+)\b`),
		p("concurrency", "conc", `(?:\b|_)(?:max[ _-])?(?:concurrency|conc|concurrent requests?|concurrent users?)\s*[:=_-]?\s*(\d+)(?:\b|_)`),
		p("concurrency", "concurrent", `\b(\d+)\s+concurrent\b`),
		p("spec_tokens", "speculative", `\bnum_speculative_tokens\s*[=:]?\s*(\d+)`),
		p("spec_tokens", "=", `(?:\b|_)k\s*=\s*(\d+)\b`),
		p("request_rate", "rate", `\brequest[ _-]rate\s*[:=]?\s*(\d+(?:\.\d+)?|inf)\b`),
		p("request_rate", "qps|rps", `(?:\b|_)(?:qps|rps)\s*[:=_]?\s*(\d+(?:\.\d+)?|inf)(?:\b|_)`),
		p("request_rate", "qps|rps", `(?:\b|_)(\d+(?:\.\d+)?|inf)\s*(?:qps|rps)(?:\b|_)`),
		p("request_rate", "req/s", `^(\d+(?:\.\d+)?)\s*req/s$`),
		p("num_prompts", "prompt", `\bnum[ _-]prompts?\s*[:=]?\s*(\d+)\b`),
		p("input_len", "len|isl", `(?:\b|_)(?:input[ _-]?len(?:gth)?|isl)\s*[:=]?\s*(\d+)(?:\b|_)`),
		p("output_len", "len|osl", `(?:\b|_)(?:output[ _-]?len(?:gth)?|osl)\s*[:=]?\s*(\d+)(?:\b|_)`),
	}
})

type factPattern struct {
	key   string
	words []string // one of which stands in every match
	expr  func() *regexp.Regexp
}

// factWords are the words of all patterns, but for the = of some.
var factWords = sync.OnceValue(func() *finder {
	var words []string
	for _, p := range factPatterns() {
		words = append(words, p.words...)
	}
	slices.Sort(words)
	return newFinder(slices.DeleteFunc(slices.Compact(words), func(w string) bool { return w == "=" }))
})

// factsIn are the patterns that a text in lower case may match: most match none.
func factsIn(lower string) []factPattern {
	if strings.IndexByte(lower, '=') < 0 && findWords(factWords(), lower) == 0 {
		return nil
	}
	return factPatterns()
}

// find returns what a text says of the key: the match and its value. The text is
// given in lower case too, in which its words are looked for first: most texts
// say nothing.
func (p *factPattern) find(text, lower string) (match, value string) {
	for _, w := range p.words {
		if strings.Contains(lower, w) {
			if m := p.expr().FindStringSubmatch(text); m != nil {
				return m[0], m[1]
			}
			break
		}
	}
	return "", ""
}

var (
	flagPattern  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`--([a-z][a-z0-9_-]*)\s*[= ]\s*([^\s(),;]+)`) })
	modelPattern = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:^|[\s(\x60"'])((?:[\w.-]+/)+[\w.-]*[A-Za-z][\w.-]*-[\w.-]+|[\w./-]+\.gguf)\b`)
	})
	letters = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[\p{L}]{2,}`) })
)

// mayBeSettings is a quick look whether a line of a list is worth reading.
func mayBeSettings(s string) bool {
	if !strings.ContainsAny(s, "0123456789") {
		return false
	}
	for _, w := range [...]string{"=", "onc", "tp", "pp", "req", "qps", "rps", "ate", "rompts", "len", "isl", "osl", "--", "QPS", "RPS", "TP", "/"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// read reads what a comment or heading tells.
func (f *fact) read() {
	text := f.text
	if f.done || len(text) > 400 {
		return
	}
	f.done = true
	if rest, ok := strings.CutPrefix(text, "benchreport:"); ok {
		f.directive(rest)
		return
	}
	left := text
	take := func(key, value, span string) {
		if key == "replicas" {
			if n, err := strconv.Atoi(value); err == nil && n > 1 && n <= 1024 && f.replicas == 0 {
				f.replicas = n
			}
		} else if plausible(key, value) {
			f.config.Add(key, redact(key, value), bench.FromComment)
		}
		left = strings.Replace(left, span, " ", 1)
	}
	var flags [][]string
	if strings.Contains(text, "--") {
		flags = flagPattern().FindAllStringSubmatch(text, -1)
	}
	for _, m := range flags {
		if key := canonicalKey(m[1]); !dullKeys[key] {
			take(key, m[2], m[0])
		}
	}
	lower := strings.ToLower(text)
	for _, p := range factsIn(lower) {
		if match, value := p.find(text, lower); value != "" {
			take(p.key, value, match)
		}
	}
	if m := modelPattern().FindStringSubmatch(text); m != nil && !strings.Contains(text, "://") {
		if f.model = m[1]; f.model == strings.Trim(text, "`*\"' ") {
			f.config.Add("model", redact("", f.model), f.from)
			left = ""
		}
	}
	if e := engineIn(text); e != "" && len(text) <= 60 {
		f.config.Add("engine", e, bench.FromComment)
	}
	// The type of the KV cache is not that of the weights.
	if q := quantIn(text); q != "" && !strings.Contains(strings.ToLower(text), "kv") {
		f.config.Add("quant", q, bench.FromComment)
	}
	f.bare = (len(f.config) > 0 || f.replicas > 0) && (!letters().MatchString(left) || strings.HasPrefix(text, "--"))
}

// directive reads `benchreport: replicas=4 concurrency=32`: what a user writes
// into a note for us.
func (f *fact) directive(text string) {
	f.text, f.bare = "", true // it names a run only where it says so
	for _, w := range shellWords(text, nil) {
		key, value, ok := strings.Cut(w, "=")
		if !ok {
			continue
		}
		switch key = canonicalKey(key); key {
		case "replicas":
			if n, err := strconv.Atoi(value); err == nil && n > 0 && n <= 1024 {
				f.replicas = n
			}
		case "label":
			f.text, f.bare = printable(value), false
		default:
			if plausible(key, value) {
				f.config.Add(key, redact(key, value), bench.FromComment)
			}
		}
	}
}

var fileConcurrency = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[-_.])c(\d+)(?:$|[-_.])`) })

// fileFacts reads what the name of a file tells, the least trusted origin.
func fileFacts(file string) bench.Config {
	base := path.Base(strings.ReplaceAll(file, "\\", "/"))
	for ext := path.Ext(base); len(ext) > 1 && len(ext) < 7 && !isDigit(ext[1]); ext = path.Ext(base) {
		base = strings.TrimSuffix(base, ext)
		if base == "" {
			return nil
		}
	}
	var c bench.Config
	lower := strings.ToLower(base)
	for _, p := range factsIn(lower) {
		if p.key == "replicas" || p.key == "num_prompts" {
			continue
		}
		if _, value := p.find(base, lower); value != "" {
			c.Add(p.key, value, bench.FromFile)
		}
	}
	if strings.IndexByte(base, 'c') >= 0 {
		if m := fileConcurrency().FindStringSubmatch(base); m != nil {
			c.Add("concurrency", m[1], bench.FromFile)
		}
	}
	c.Add("quant", quantIn(base), bench.FromFile)
	c.Add("engine", engineIn(base), bench.FromFile)
	return c
}
