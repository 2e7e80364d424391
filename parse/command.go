package parse

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/benchreport/benchreport/bench"
)

// A command is a shell command line that starts a server or a benchmark.
type command struct {
	place
	role   role
	tool   string // for a client: the tool whose runs it makes
	engine string // for a server
	config bench.Config
	from   bench.From
	used   bool    // it was that of a run in its own section
	format *Format // of a client
}

type role int

const (
	client role = iota
	server
)

// A program is a word by which a command is known. Sub is the word that must
// follow it, if any.
type program struct {
	name, sub string
	role      role
	tool      string
	engine    string
	format    *Format // whose client it is
}

// programs are the servers and clients that a log may name. Those of a format
// stand in its file.
var programs = []program{
	{name: "vllm", sub: "serve", role: server, engine: "vllm"},
	{name: "vllm.entrypoints.openai.api_server", role: server, engine: "vllm"},
	{name: "vllm.entrypoints.api_server", role: server, engine: "vllm"},
	{name: "llama-server", role: server, engine: "llama.cpp"},
	{name: "sglang.launch_server", role: server, engine: "sglang"},
	{name: "sgl_jax.launch_server", role: server, engine: "sglang"}, // its JAX backend
	{name: "sglang", sub: "serve", role: server, engine: "sglang"},
	{name: "text-generation-launcher", role: server, engine: "tgi"},
	{name: "trtllm-serve", role: server, engine: "tensorrt-llm"},
	{name: "lmdeploy", sub: "serve", role: server, engine: "lmdeploy"},

	{name: "vllm", sub: "bench", role: client}, // the third word tells the tool
}

var vllmBench = map[string]string{"serve": "vllm-serve", "throughput": "vllm-throughput", "latency": "vllm-latency"}

// launchers may stand in front of a program.
var launchers = map[string]bool{
	"python": true, "python3": true, "-m": true, "sudo": true, "time": true, "env": true, "nohup": true,
	"numactl": true, "taskset": true, "exec": true, "uv": true, "run": true, "srun": true, "docker": true,
	"podman": true, "bash": true, "-c": true, "stdbuf": true, "nice": true, "timeout": true, "&&": true, "torchrun": true, "uvx": true,
}

// commandWords stand in every command that is read.
var commandWords = sync.OnceValue(func() *finder {
	words := []string{"vllm", "llama-", "benchmark_", "bench_serving", "sglang", "sgl_jax"}
	for _, p := range programs {
		if known := func(w string) bool { return strings.Contains(p.name, w) }; p.format != nil && !slices.ContainsFunc(words, known) {
			words = append(words, p.name)
		}
	}
	return newFinder(words)
})

// mayBeCommand is a quick look whether a line is worth splitting into words.
func mayBeCommand(s string) bool {
	return strings.IndexByte(s, '$') >= 0 || findWords(commandWords(), s) != 0
}

// parseCommand reads a shell command. It returns nil for anything else, prose
// that mentions a program included.
func parseCommand(text string, vars map[string]string, needsFlag bool) *command {
	words := shellWords(text, vars)
	at, prog := findProgram(words)
	if prog == nil {
		return nil
	}
	cmd := &command{role: prog.role, tool: prog.tool, engine: prog.engine, format: prog.format}
	for _, w := range words[:at] {
		if name, value, ok := assignment(w); ok && keepEnv(name) {
			cmd.config.Add("env."+name, redact(name, value), bench.FromCommand)
		}
	}
	if prog.role == client && prog.engine == "llama.cpp" {
		cmd.config.Add("program", prog.name, bench.FromCommand)
	}
	rest := words[at+1:]
	if prog.sub != "" {
		rest = rest[1:]
		if prog.sub == "bench" {
			if len(rest) == 0 {
				return nil
			}
			if cmd.tool = vllmBench[rest[0]]; cmd.tool == "" {
				return nil
			}
			rest = rest[1:]
		}
	}
	flags := cmd.flags(rest, prog)
	if needsFlag && flags == 0 {
		return nil
	}
	return cmd
}

// findProgram finds a known program in command position: in front of it stand
// only a prompt, assignments and launchers.
func findProgram(words []string) (int, *program) {
	for i, w := range words {
		w = w[strings.LastIndexByte(w, '>')+1:] // C:\\bench>llama-bench.exe
		name := strings.TrimSuffix(path.Base(strings.ReplaceAll(w, "\\", "/")), ".exe")
		for p := range programs {
			prog := &programs[p]
			if name != prog.name || prog.sub != "" && (i+1 >= len(words) || words[i+1] != prog.sub) {
				continue
			}
			if commandPosition(words[:i]) {
				return i, prog
			}
		}
	}
	return 0, nil
}

func commandPosition(before []string) bool {
	for i := len(before) - 1; i >= 0; i-- {
		w := before[i]
		if isPrompt(w) {
			return true
		}
		if _, _, ok := assignment(w); ok || launchers[path.Base(w)] || strings.HasPrefix(w, "-") || w == ";" {
			continue
		}
		// An argument of a launcher: `numactl -N 0`, `docker run … image`.
		if i > 0 && strings.HasPrefix(before[i-1], "-") || slices.Contains(before[:i], "docker") || slices.Contains(before[:i], "podman") {
			continue
		}
		return false
	}
	return true
}

// isPrompt reports whether a word ends a shell prompt: `user@host:~/x$`, `#`, or
// only signs, such as ❯, an emoji, or what became of them on the way.
func isPrompt(w string) bool {
	if w == "" || w[0] == '-' {
		return false
	}
	return strings.ContainsAny(w[len(w)-1:], "$#%>") || strings.IndexFunc(w, func(c rune) bool { return c < 0x80 }) < 0
}

// flags reads the arguments of a command, and returns how many flags it has.
func (c *command) flags(words []string, prog *program) int {
	n := 0
	positional := 0
	seen := map[string]int{}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if isShellEnd(w) {
			break
		}
		if !isFlag(w) {
			if positional++; positional == 1 && prog.role == server && prog.name == "vllm" {
				c.set("model", w)
			}
			continue
		}
		n++
		name, value, ok := strings.Cut(strings.TrimLeft(w, "-"), "=")
		if !ok {
			value = "true"
			if i+1 < len(words) && !isFlag(words[i+1]) && !isShellEnd(words[i+1]) {
				value = words[i+1]
				i++
			}
		}
		key := c.flagKey(name, prog)
		if key == "" {
			continue
		}
		if c.tool == "sglang-offline" && i+1 < len(words) && !isFlag(words[i+1]) && !isShellEnd(words[i+1]) {
			continue // --batch-size 1 16 64: the case tells which
		}
		if seen[key]++; seen[key] > 1 { // given twice: a sweep, no single value
			c.drop(key)
			continue
		}
		if key == "speculative_config" {
			c.speculative(value)
			continue
		}
		c.set(key, value)
	}
	if users := c.config.Get("concurrency"); c.tool == "locust" && users != "" && c.config.Has("request_rate") {
		c.drop("concurrency") // an open loop: the users are a pool, not the load
		c.set("users", users)
	}
	return n
}

func (c *command) set(key, value string) {
	if c.tool == "llama-bench" && strings.Contains(value, ",") && key != "rpc" {
		return // a sweep: the row tells which value it has
	}
	if !plausible(key, value) {
		return
	}
	c.config.Add(key, redact(key, value), bench.FromCommand)
}

func (c *command) drop(key string) {
	c.config = slices.DeleteFunc(c.config, func(s bench.Setting) bool { return s.Key == key })
}

// speculative reads vLLM's --speculative-config, a JSON object.
func (c *command) speculative(value string) {
	o := objectIn(value)
	c.set("draft_model", o.scalar("model"))
	c.set("spec_method", o.scalar("method"))
	c.set("spec_tokens", o.scalar("num_speculative_tokens"))
}

// plausible rejects placeholders and shell leftovers: `<model>`, `$MODEL`,
// `$((c*10))`, and words where a number belongs.
func plausible(key, value string) bool {
	if value == "" || len(value) > 300 || strings.ContainsAny(value, "$<>`\n") {
		return false
	}
	return fitsKey(key, value)
}

// fitsKey reports whether a value is a number where its key wants one. A trace
// has its own request rate.
func fitsKey(key, value string) bool {
	return configKeys[key] != number || value == "inf" || plainNumber([]byte(value)) || key == "request_rate" && value == "trace"
}

func isFlag(w string) bool {
	return len(w) > 1 && w[0] == '-' && !isDigit(w[1]) && w[1] != '.'
}

func isShellEnd(w string) bool {
	switch w {
	case "|", ">", ">>", "<", "&", "&&", "||", ";", "2>&1", "2>", "&>", "#", "done", ")":
		return true
	}
	return false
}

// shortFlags are the one-dash flags of each program family that matter.
var shortFlags = map[string]map[string]string{
	"vllm": {"tp": "tp", "pp": "pp", "dp": "dp", "q": "quantization", "O": "compilation_config"},
	"llama.cpp": {
		"m": "model", "md": "draft_model", "ngl": "ngl", "fa": "fa", "c": "ctx_size", "np": "parallel", "t": "threads",
		"b": "batch", "ub": "ubatch", "ctk": "type_k", "ctv": "type_v", "sm": "sm", "mg": "main_gpu", "ts": "ts", "hf": "model",
		"model-draft": "draft_model", "draft-max": "spec_tokens", "draft": "spec_tokens", "n-gpu-layers": "ngl", "gpu-layers": "ngl",
		"flash-attn": "fa", "threads": "threads", "batch-size": "batch", "ubatch-size": "ubatch", "parallel": "parallel",
		"ctx-size": "ctx_size", "cache-type-k": "type_k", "cache-type-v": "type_v", "hf-repo": "model",
		"p": "n_prompt", "n": "n_gen", "r": "repetitions", "repetitions": "repetitions", "d": "n_depth", "pg": "pg",
		"cb": "cont_batching", "o": "", "oe": "",
	},
	// Where these differ from llama-bench: a prompt is a text there, not a length,
	// and what is swept stands in the rows.
	"llama-cli": {
		"p": "", "prompt": "", "f": "", "file": "", "r": "", "d": "", "i": "", "n": "n_predict", "s": "seed", "npp": "", "ntg": "", "npl": "", "pps": "",
		"no-cnv": "", "st": "", "v": "", "lv": "", "color": "", "log-prefix": "", "log-timestamps": "", "output-format": "", "spec-draft-n-max": "spec_tokens",
	},
}

func (c *command) flagKey(name string, prog *program) string {
	family := c.engine
	switch {
	case c.tool == "llama-bench":
		family = "llama.cpp"
	case c.format != nil && c.format.Flags != nil:
		if key, ok := c.format.Flags[name]; ok {
			return key
		}
		family = ""
	case c.tool == "llama-perplexity" && (name == "f" || name == "file"):
		return "dataset"
	case prog.role == client && prog.engine == "llama.cpp":
		if key, ok := shortFlags["llama-cli"][name]; ok {
			return key
		}
	case family == "" || family == "sglang":
		family = "vllm"
	}
	if key, ok := shortFlags[family][name]; ok {
		return key
	}
	if len(name) == 1 {
		return ""
	}
	key := canonicalKey(name)
	if dullKeys[key] {
		return ""
	}
	return key
}

// keepEnv reports whether an environment variable may matter for speed.
func keepEnv(name string) bool {
	switch name {
	case "HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "PATH", "HOME", "PWD", "USER", "LD_LIBRARY_PATH", "PYTHONPATH",
		"MODEL", "PORT", "HOST":
		return false
	}
	return !isSecret(name)
}

// assignment reads NAME=value as a shell does.
func assignment(w string) (name, value string, ok bool) {
	name, value, ok = strings.Cut(w, "=")
	if !ok || name == "" || isDigit(name[0]) {
		return "", "", false
	}
	for _, c := range name {
		if c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return "", "", false
		}
	}
	return name, value, true
}

// shellWords splits a command line into words, with quotes, backslashes and
// variables that were assigned above. Backticks around a command are dropped.
func shellWords(s string, vars map[string]string) []string {
	var words []string
	var w strings.Builder
	in, quote := false, byte(0)
	flush := func() {
		if in {
			words = append(words, w.String())
			w.Reset()
			in = false
		}
	}
	for i := 0; i < len(s) && len(words) < 400; i++ {
		c := s[i]
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n' || c == '`'):
			flush()
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case c == quote && quote != 0:
			quote = 0
		case c == '\\' && quote != '\'':
			if i+1 < len(s) && strings.IndexByte("\"'\\$ `", s[i+1]) >= 0 {
				i++
				if s[i] != ' ' || quote == 0 && i+1 < len(s) {
					w.WriteByte(s[i])
					in = true
				}
			} else if i+1 < len(s) {
				w.WriteByte(c) // a Windows path
				in = true
			}
		case c == '$' && quote != '\'':
			name, n := variable(s[i+1:])
			if v, ok := vars[name]; ok && name != "" {
				w.WriteString(v)
				i += n
			} else {
				w.WriteByte(c)
			}
			in = true
		default:
			w.WriteByte(c)
			in = true
		}
	}
	flush()
	return words
}

// variable reads the name of a variable behind a $, and how long it stands.
func variable(s string) (string, int) {
	if strings.HasPrefix(s, "{") {
		if end := strings.IndexByte(s, '}'); end > 0 {
			return s[1:end], end + 1
		}
		return "", 0
	}
	n := 0
	for n < len(s) && (s[n] == '_' || s[n] >= 'A' && s[n] <= 'Z' || s[n] >= 'a' && s[n] <= 'z' || n > 0 && isDigit(s[n])) {
		n++
	}
	return s[:n], n
}
