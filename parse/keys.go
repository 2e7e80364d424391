package parse

import (
	"cmp"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/benchreport/benchreport/bench"
)

type valueKind int

const (
	word valueKind = iota
	number
)

// configKeys are the configuration keys of the design, and what their values are.
var configKeys = map[string]valueKind{
	"engine": word, "model": word, "quant": word, "draft_model": word, "spec_tokens": number, "tp": number, "pp": number,
	"replicas": number, "gpus": number, "concurrency": number, "request_rate": number, "num_prompts": number, "dataset": word,
	"input_len": number, "output_len": number, "seed": number, "test": word, "depth": number, "batch": number, "ubatch": number,
	"threads": number, "ngl": number, "fa": word, "device": word, "build": word, "backend": word,
}

// aliases map the tools' names of a setting to ours. Dashes count as underscores.
var aliases = map[string]string{
	"model_id": "model", "model_name": "model", "model_path": "model", "served_model_name": "served_model_name",
	"tokenizer_id": "tokenizer", "tensor_parallel_size": "tp", "tp_size": "tp", "tensor_parallel": "tp",
	"pipeline_parallel_size": "pp", "pp_size": "pp", "data_parallel_size": "dp", "dp_size": "dp",
	"max_concurrency": "concurrency", "dataset_name": "dataset", "num_speculative_tokens": "spec_tokens",
	"num_spec_tokens": "spec_tokens", "speculative_model": "draft_model", "speculative_draft_model_path": "draft_model",
	"speculative_num_draft_tokens": "spec_tokens", "isl": "input_len", "osl": "output_len", "conc": "concurrency",
	"input_length": "input_len", "output_length": "output_len", "num_requests": "num_prompts", "num_prompt": "num_prompts",
	"n_gpu_layers": "ngl", "gpu_layers": "ngl", "flash_attn": "fa", "n_threads": "threads", "n_batch": "batch",
	"batch_size": "batch", "n_ubatch": "ubatch", "ubatch_size": "ubatch", "backends": "backend", "n_depth": "depth",
	"quant_type": "quant", "random_seed": "seed",
}

// dullKeys are arguments that say nothing about what was measured.
var dullKeys = map[string]bool{
	"host": true, "port": true, "base_url": true, "endpoint": true, "dispatch_function": true, "subparser": true, "bench_type": true,
	"save_result": true, "save_detailed": true, "append_result": true, "result_dir": true, "result_filename": true, "output_json": true,
	"output_file": true, "output_details": true, "disable_tqdm": true, "profile": true, "metadata": true, "label": true, "trust_remote_code": true,
	"percentile_metrics": true, "metric_percentiles": true, "dataset_path": true, "disable_log_requests": true, "disable_log_stats": true,
	"uvloop": true, "log_level": true, "download_dir": true, "header": true, "func": true, "config": true, "help": true, "verbose": true,
	"ready_check_timeout_sec": true, "save_to_pytorch_benchmark_format": true, "plot_timeline": true, "plot_dataset_stats": true,
	"served_model_name": true, "chat_template": true, "request_id_prefix": true, "api_key": true, "date": true,
}

// canonicalKey gives the name under which a tool's argument or key is kept.
func canonicalKey(name string) string {
	if !strings.ContainsFunc(name, notInKey) {
		if a, ok := aliases[name]; ok {
			return a
		}
		return name
	}
	key := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), "-", "_"))
	if a, ok := aliases[key]; ok {
		return a
	}
	return key
}

// isSecret reports whether a key or variable of that name may hold a secret.
func isSecret(name string) bool {
	if !soundsSecret(name) {
		return false
	}
	n := strings.ToLower(strings.ReplaceAll(name, "-", "_"))
	for _, s := range [...]string{"api_key", "apikey", "secret", "password", "passwd", "authorization", "credential"} {
		if strings.Contains(n, s) {
			return true
		}
	}
	return n == "token" || strings.HasSuffix(n, "_token") || strings.HasSuffix(n, "_key")
}

// soundsSecret is a quick look at every key that is read: almost none goes on.
func soundsSecret(name string) bool {
	for i := 0; i+3 <= len(name); i++ {
		var w [3]byte
		for k := range w {
			w[k] = name[i+k] | 0x20 // lower case
		}
		switch string(w[:]) {
		case "key", "tok", "sec", "pas", "aut", "cre":
			return true
		}
	}
	return false
}

// secretValue finds what is a secret by its look: the tokens of model hubs,
// forges and clouds, and bearer headers.
var secretValue = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i:authorization:\s*\w+|bearer)\s+[A-Za-z0-9._~+/=-]{8,}|\b(?:hf|sk|pk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abprs]|nvapi|AKIA|ASIA)[-_]?[A-Za-z0-9_-]{16,}|://[^/\s:@]+:[^/\s@]+@`)
})

// redact hides secrets in a value that comes from a log.
func redact(key, value string) string {
	if value == "" {
		return value
	}
	if key != "" && isSecret(strings.TrimPrefix(key, "env.")) {
		return "***"
	}
	if len(value) >= 16 && mayHoldSecret(value) {
		value = secretValue().ReplaceAllStringFunc(value, func(s string) string {
			if strings.HasPrefix(s, "://") {
				return "://***@"
			}
			return "***"
		})
	}
	return printable(value)
}

// mayHoldSecret is a quick look before the regular expression.
func mayHoldSecret(v string) bool {
	for _, s := range [...]string{"hf_", "sk-", "pk-", "gh", "glpat", "xox", "nvapi", "AKIA", "ASIA", "earer", "uthorization", "@"} {
		if strings.Contains(v, s) {
			return true
		}
	}
	return false
}

// printable makes a value from a log one line of visible text.
func printable(s string) string {
	clean := utf8.ValidString(s)
	if clean {
		for _, c := range s {
			if !shown(c) {
				clean = false
				break
			}
		}
	}
	if clean {
		return s
	}
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t' || c == '\r':
			return ' '
		case !shown(c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD")))
}

// shown leaves out control characters and those that turn the direction of text.
func shown(c rune) bool {
	return unicode.IsPrint(c) || c == '\u00a0' || c == '\u3000'
}

// formatNumber writes a number as people do: 5, not 5.0 or 5e+00.
func formatNumber(x float64) string {
	if x == math.Trunc(x) && math.Abs(x) < 1e15 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// tidyValue writes a configuration value the one way: 64.00 and 64.0 as 64.
func tidyValue(key, v string) string {
	v = strings.TrimSpace(v)
	if configKeys[key] == number && strings.ContainsAny(v, ".eE") && plainNumber([]byte(v)) {
		if x, err := strconv.ParseFloat(v, 64); err == nil {
			return formatNumber(x)
		}
	}
	return v
}

// baseName is the last part of a model name or path, for comparing.
func baseName(model string) string {
	m := strings.TrimRight(strings.ReplaceAll(model, "\\", "/"), "/")
	m = strings.ToLower(path.Base(m))
	return strings.TrimSuffix(m, ".gguf")
}

func sameModel(a, b string) bool { return baseName(a) == baseName(b) }

func isGGUF(model string) bool { return strings.HasSuffix(strings.ToLower(model), ".gguf") }

// engineNames are the words by which people name an engine.
var engineNames = []struct{ word, engine string }{
	{"llama.cpp", "llama.cpp"}, {"llamacpp", "llama.cpp"}, {"llama-server", "llama.cpp"}, {"llama-cpp", "llama.cpp"},
	{"vllm", "vllm"}, {"sglang", "sglang"}, {"exllamav2", "exllamav2"}, {"exllama", "exllamav2"}, {"tensorrt-llm", "tensorrt-llm"},
	{"trt-llm", "tensorrt-llm"}, {"trt", "tensorrt-llm"}, {"trtllm", "tensorrt-llm"}, {"lmdeploy", "lmdeploy"}, {"mlc-llm", "mlc"}, {"mlc", "mlc"},
	{"tgi", "tgi"}, {"text-generation-inference", "tgi"}, {"ollama", "ollama"},
}

var engineWords = sync.OnceValue(func() *finder {
	var words []string
	for _, e := range engineNames {
		words = append(words, e.word)
	}
	return newFinder(words)
})

// engineIn finds the one engine that a text names; none if it names several.
func engineIn(text string) string {
	text = strings.ToLower(text)
	if findWords(engineWords(), text) == 0 {
		return "" // most texts
	}
	found := ""
	for _, e := range engineNames {
		if containsWord(text, e.word) {
			if found != "" && found != e.engine {
				return ""
			}
			found = e.engine
		}
	}
	return found
}

// containsWord reports whether word stands in text with no letter or digit beside it.
func containsWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(word):])
		if !(unicode.IsLetter(before) || unicode.IsDigit(before)) && !(unicode.IsLetter(after) || unicode.IsDigit(after)) {
			return true
		}
		from = i + 1
	}
}

// quantWords are the quantizations that are a word, and the word for each.
var quantWords = map[string]string{
	"mxfp4": "MXFP4", "nvfp4": "NVFP4", "gptq": "GPTQ", "awq": "AWQ", "exl2": "EXL2", "exl3": "EXL3", "fp8": "FP8", "fp4": "FP4", "int8": "INT8",
	"int4": "INT4", "bnb": "BNB", "bitsandbytes": "BNB", "aqlm": "AQLM", "bf16": "BF16", "bfloat16": "BF16", "fp16": "F16", "f16": "F16", "float16": "F16", "f32": "F32", "fp32": "F32",
}

// quantIn finds the quantization that a model name or a note tells: the first
// that stands apart from letters and digits.
func quantIn(text string) string {
	s := strings.ToLower(text)
	for i := 0; i < len(s); i++ {
		if i > 0 && isAlnum(s[i-1]) || !isAlnum(s[i]) {
			continue
		}
		end := i
		for end < len(s) && isAlnum(s[end]) {
			end++
		}
		if q, ok := quantWords[s[i:end]]; ok {
			return q
		}
		if q := quantGGUF(s, i, end); q != "" {
			return q
		}
		if w := s[i:end]; len(w) >= 4 && w[0] == 'w' { // w8a8, w4a16
			if a := strings.IndexByte(w, 'a'); a > 1 && allDigits(w[1:a]) && allDigits(w[a+1:]) {
				return strings.ToUpper(w)
			}
		}
		i = end
	}
	return ""
}

// quantGGUF reads the quantizations of llama.cpp: Q4_0, Q4_K_M, UD-Q4_K_XL,
// IQ2_XXS, TQ1_0, and as its tables write them `Q4_K - Medium`.
func quantGGUF(s string, i, end int) string {
	w := strings.TrimPrefix(strings.TrimPrefix(s[i:end], "i"), "t")
	if len(w) != 2 || w[0] != 'q' || !isDigit(w[1]) || end == len(s) || s[end] != '_' {
		return ""
	}
	// The parts behind underscores, as far as they are ones of a quantization.
	last := end
	for parts := 0; parts < 2 && last < len(s) && s[last] == '_'; parts++ {
		next := last + 1
		for next < len(s) && isAlnum(s[next]) {
			next++
		}
		switch s[last+1 : next] {
		case "0", "1", "k", "s", "m", "l", "xl", "xs", "xxs", "nl":
			last = next
			continue
		}
		break
	}
	if last == end {
		return ""
	}
	q := strings.ToUpper(s[i:last])
	for _, size := range [...]string{" - small", " - medium", " - large"} {
		if strings.HasPrefix(s[last:], size) {
			return q + "_" + strings.ToUpper(size[3:4])
		}
	}
	return q
}

func isAlnum(c byte) bool { return c >= 'a' && c <= 'z' || isDigit(c) }

// backendEngine names the engine behind the client's backend, where it tells
// one: openai and the like are only a protocol.
func backendEngine(backend string) string {
	switch b := strings.ToLower(backend); {
	case strings.HasPrefix(b, "vllm"):
		return "vllm"
	case strings.HasPrefix(b, "sglang") || b == "srt" || b == "sgl-jax":
		return "sglang"
	case strings.HasPrefix(b, "lmdeploy"):
		return "lmdeploy"
	case b == "tgi":
		return "tgi"
	case strings.HasPrefix(b, "trt") || strings.HasPrefix(b, "tensorrt"):
		return "tensorrt-llm"
	case b == "llama.cpp":
		return "llama.cpp"
	case b == "hf":
		return "transformers"
	}
	return ""
}

// complete derives what follows from the settings of a run: engine, quant,
// gpus, how many requests were attempted, and whether all of them completed.
func complete(r *bench.Run, file bench.Config) {
	c := &r.Config
	model := c.Get("model")
	switch r.Source.Tool {
	case "vllm-throughput", "nm-offline":
		c.Add("engine", backendEngine(c.Get("backend")), bench.FromDerived)
		if !c.Has("backend") {
			c.Add("engine", "vllm", bench.FromDerived)
		}
	case "lm-eval":
		c.Add("engine", backendEngine(c.Get("model_type")), bench.FromDerived)
		limited(r)
	default:
		// What the client says of itself is not what was served.
		if isGGUF(model) {
			if e := c.Get("engine"); e == "" || e == "vllm" && c.From("engine") != bench.FromCommand {
				c.Set("engine", "llama.cpp", bench.FromDerived)
			}
		}
		c.Add("engine", file.Get("engine"), bench.FromFile)
		if !c.Has("engine") {
			for _, key := range [...]string{"backend", "endpoint_type", "provider"} {
				c.Add("engine", backendEngine(c.Get(key)), bench.FromDerived)
			}
		}
	}
	if !c.Has("quant") {
		for _, key := range [...]string{"model_filename", "model", "quantization", "dtype"} {
			c.Add("quant", quantIn(c.Get(key)), bench.FromDerived)
		}
	}
	for _, s := range file {
		if !strings.HasPrefix(r.Source.Tool, "llama-") || s.Key != "tp" && s.Key != "pp" { // there pp and tg are tests
			c.Add(s.Key, s.Value, s.From)
		}
	}
	gpus(r)
	attempted(r)
}

// A keyOrder sorts the settings of runs, which mostly have the same keys as
// those of the run before.
type keyOrder struct {
	keys   []string // before sorting
	places []int
	room   bench.Config
}

func (o *keyOrder) sort(c bench.Config) {
	same := len(c) == len(o.keys)
	for i := 0; same && i < len(c); i++ {
		same = c[i].Key == o.keys[i]
	}
	if !same {
		o.keys, o.places = o.keys[:0], o.places[:0]
		for i, s := range c {
			o.keys, o.places = append(o.keys, s.Key), append(o.places, i)
		}
		slices.SortFunc(o.places, func(a, b int) int { return cmp.Compare(o.keys[a], o.keys[b]) })
	}
	o.room = append(o.room[:0], c...)
	for i, from := range o.places {
		c[i] = o.room[from]
	}
}

// gpus counts the devices a run used: tensor × pipeline × replicas.
func gpus(r *bench.Run) {
	tp := r.Config.Get("tp")
	if tp == "" {
		return
	}
	pp, dp := r.Config.Get("pp"), r.Config.Get("dp")
	if r.Config.Get("enable_dp_attention") == "true" {
		dp = "" // SGLang: the replicas of the attention share the devices
	}
	n := max(r.Replicas, 1)
	for _, v := range [...]string{tp, pp, dp} {
		if x, err := strconv.Atoi(v); err == nil && x > 0 && x <= 1<<16 {
			n *= x
		}
	}
	r.Config.Add("gpus", strconv.Itoa(n), bench.FromDerived)
}

// attempted derives how many requests were sent, and tells a run that did not
// complete all of them.
func attempted(r *bench.Run) {
	if r.Completed == nil {
		return
	}
	if r.Attempted == nil {
		if f, ok := r.Metric("failed"); ok {
			n := *r.Completed + int(f.Raw)
			r.Attempted = &n
		}
		if n, err := strconv.Atoi(r.Config.Get("num_prompts")); err == nil && n > 0 {
			// Multi-turn and sampled datasets may send more than num_prompts.
			if n >= *r.Completed && (r.Attempted == nil || *r.Attempted < n) {
				r.Attempted = &n
			}
		}
	}
	if r.Attempted == nil || *r.Completed >= *r.Attempted {
		return
	}
	r.Findings = append(r.Findings, bench.Finding{
		Code:     "partial",
		Severity: bench.Warning,
		Message:  strconv.Itoa(*r.Completed) + " of " + strconv.Itoa(*r.Attempted) + " requests completed",
	})
}

// notInKey reports whether a character has no place in the name of a setting as
// we write it.
func notInKey(c rune) bool {
	return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '.'
}

// Redact is a text without the secrets in it, and without what cannot be shown.
func Redact(text string) string { return redact("", text) }
