package parse

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

const (
	maxFacts    = 256 // of comments and commands that are remembered
	maxContinue = 60  // lines of one command or argument line
)

// A context is what stands around the results of a document. What stands
// nearer wins, and what stands in the same fence and section wins over what
// does not; what the log itself says beats all of it.
type context struct {
	fence     int    // the code fence we are in, from 1; 0 outside
	fences    int    // how many there were
	fenceMark string // what closes it
	section   int    // counts headings
	headings  []heading
	facts     []fact
	commands  []command
	vars      map[string]string
	exports   []export
	caption   fact // a line of prose that may name the next fence
	cells     htmlTable
	lastRun   int                   // the last line of the last run
	unsettled int                   // likewise, of a table that is still read
	titles    map[*bench.Run]string // the heading above each run

	joined    strings.Builder // a command or argument line over several lines
	joinKind  joinKind
	joinLine  int
	joinCount int
}

type joinKind int

const (
	joinNone joinKind = iota
	joinCommand
	joinArgs
)

// A place is where something stands.
type place struct{ line, fence, section int }

// A heading is one of those that the current line stands under.
type heading struct {
	place
	level int
	fact
}

// A fact is what a comment or heading tells. It is read only when a run below
// it wants to know.
type fact struct {
	place
	text     string
	done     bool // the fields below are read
	from     bench.From
	config   bench.Config
	model    string // the model it names, if any
	replicas int
	bare     bool // it holds nothing but settings, so it is no name for a run
	sub      bool // a comment of several #: it counts for all that follows
}

type export struct {
	place
	name, value string
}

func (c *context) here(line int) place { return place{line, c.fence, c.section} }

// fenceLine reads the lines that open and close code fences.
func (c *context) fenceLine(d *document, b []byte, number int) bool {
	i := skipBlank(b, 0)
	if i >= len(b) || b[i] != '`' && b[i] != '~' {
		return false
	}
	n := i
	for n < len(b) && b[n] == b[i] {
		n++
	}
	if n-i < 3 {
		return false
	}
	mark := string(b[i:n])
	rest := bytes.TrimSpace(b[n:])
	if c.fence > 0 {
		if !strings.HasPrefix(mark, c.fenceMark) || len(rest) > 0 {
			return false
		}
		d.closeBlock()
		d.flushLocust()
		d.flushLlama()
		c.endJoin(d)
		c.fence = 0
		return true
	}
	if bytes.IndexByte(rest, '`') >= 0 {
		return false // code within a line
	}
	d.closeBlock()
	c.endJoin(d)
	c.fences++
	c.fence, c.fenceMark = c.fences, mark
	if c.caption.text != "" && number-c.caption.line <= 3 {
		// `Before:` above a fence names what stands in it.
		f := c.caption
		f.place, f.sub = c.here(number), true
		c.remember(f)
	}
	c.caption = fact{}
	return true
}

// captionOf is a short line of prose that may name what follows, "" if it is
// none: a line that ends in a colon, or a bold one.
func captionOf(text string) string {
	trimmed := strings.TrimSpace(untag(text))
	bold := strings.HasPrefix(trimmed, "**") && strings.HasSuffix(trimmed, "**")
	name := strings.TrimSpace(strings.Trim(trimmed, "*_` "))
	if len(name) < 2 || len(name) > 80 || strings.ContainsAny(name, "|{}") || strings.Contains(name, "://") || strings.ContainsAny(name[len(name)-1:], ".!?,;") {
		return ""
	}
	if !bold && !strings.HasSuffix(name, ":") && len(strings.Fields(name)) > 8 {
		return ""
	}
	name = strings.TrimSpace(strings.TrimRight(name, ":"))
	first, _, _ := strings.Cut(strings.ToLower(name), " ")
	if genericTitles[strings.ToLower(name)] || slices.Contains([]string{"it", "run", "then", "launch", "install", "here", "example", "e.g", "eg", "client", "server", "and"}, first) {
		return "" // says what follows, not what it is
	}
	return name
}

// ruledTitle is the text between rules, `----- BASELINE -----`, "" if it is none.
func ruledTitle(b []byte) string {
	s := strings.TrimSpace(string(b))
	inner := strings.Trim(s, "-=*~_+ ")
	if len(inner) < 3 || len(inner) > 120 || !strings.HasSuffix(s, s[len(s)-1:]) {
		return ""
	}
	lead, tail := strings.Index(s, inner), len(s)-strings.Index(s, inner)-len(inner)
	if lead < 3 || tail < 3 || serveSections[strings.ToLower(inner)] {
		return ""
	}
	return inner
}

// line reads a line that no format wanted.
func (c *context) line(d *document, l line) {
	b := bytes.TrimLeft(l.text, " \t")
	if len(b) == 0 {
		return
	}
	if b[0] == '#' {
		level := 0
		for level < len(b) && b[level] == '#' {
			level++
		}
		text := strings.TrimSpace(strings.Trim(string(b[level:]), " #\t"))
		if level <= 6 && text != "" && level < len(b) && b[level] == ' ' && !isLogTitle(text) {
			// A note may keep the command and its environment as comments.
			if name, _, ok := assignment(text); ok && len(name) > 3 && name == strings.ToUpper(name) && c.shell(d, "export "+text, l.number) {
				return
			}
			if mayBeCommand(text) && c.shell(d, text, l.number) {
				return
			}
			c.title(d, text, level, l.number)
			return
		}
	}
	if len(b) > 4096 {
		return
	}
	if b[0] == '<' && c.fence == 0 {
		name, table := c.cells.read(string(b))
		if table {
			c.caption = fact{text: printable(name), from: bench.FromComment, place: c.here(l.number)}
		}
		if bytes.Contains(b, []byte("<pre")) && c.caption.text != "" && l.number-c.caption.line <= 3 {
			c.remember(c.caption)
		}
		if table {
			return
		}
	}
	if title := ruledTitle(b); title != "" && !strings.Contains(title, "Benchmark Result") {
		f := fact{text: printable(title), from: bench.FromComment}
		f.place = c.here(l.number)
		c.remember(f)
		return
	}
	text := string(l.msg)
	if c.fence == 0 {
		c.caption = fact{}
	}
	if c.fence == 0 && len(l.msg) == len(b) { // no item of a list: those are remarks
		c.caption = fact{text: printable(captionOf(text)), from: bench.FromComment, place: c.here(l.number)}
	}
	if mayBeCommand(text) || c.fence > 0 || bytes.IndexByte(l.msg, '=') > 0 {
		if c.shell(d, text, l.number) {
			return
		}
	}
	if c.fence == 0 && (len(l.msg) < len(l.text) || b[0] == '*') && len(text) < 80 {
		// A bullet or a bold line that is nothing but settings: `* 1 req/s`.
		f := fact{text: strings.Trim(text, "* "), from: bench.FromComment}
		if !mayBeSettings(f.text) {
			return
		}
		if f.read(); f.bare && len(f.config) > 0 {
			f.place = c.here(l.number)
			c.remember(f)
		}
	}
}

// title reads a heading, or a comment inside a fence.
func (c *context) title(d *document, text string, level, number int) {
	text = printable(strings.NewReplacer("`", "", "**", "").Replace(untag(text)))
	f := fact{text: text, from: bench.FromComment}
	if c.fence > 0 {
		f.place = c.here(number)
		f.sub = level > 1
		c.remember(f)
		return
	}
	d.flushLocust()
	d.flushServerLines()
	c.caption = fact{}
	c.section++
	f.place = c.here(number)
	if !strings.HasPrefix(text, "benchreport:") {
		f.from = bench.FromHeading
	}
	for len(c.headings) > 0 && c.headings[len(c.headings)-1].level >= level {
		c.headings = c.headings[:len(c.headings)-1]
	}
	c.headings = append(c.headings, heading{f.place, level, f})
}

// untag removes HTML tags from a heading.
func untag(s string) string {
	for {
		open := strings.IndexByte(s, '<')
		if open < 0 {
			return strings.TrimSpace(s)
		}
		end := strings.IndexByte(s[open:], '>')
		tag := strings.TrimPrefix(s[open+1:], "/")
		if end < 0 || tag == "" || !isAlnum(tag[0]|0x20) || isDigit(tag[0]) {
			return strings.TrimSpace(s) // less than, not a tag
		}
		s = s[:open] + s[open+end+1:]
	}
}

// isLogTitle tells lines of logs that only look like a comment or heading.
func isLogTitle(text string) bool {
	for _, p := range [...]string{"GPU blocks:", "CPU blocks:", "cuda blocks:", "Input tokens:", "Output tokens:", "Maximum request concurrency:", "Traffic request rate:", "Burstiness factor:"} {
		if strings.HasPrefix(text, p) {
			return true
		}
	}
	return false
}

// genericTitles name a part of a page, not what was measured in it.
var genericTitles = map[string]bool{
	"results": true, "result": true, "test result": true, "test results": true, "output": true, "outputs": true, "logs": true, "log": true, "benchmark": true,
	"benchmarks": true, "actual behavior": true, "how would you like to use vllm": true, "raw results": true, "command": true, "details": true, "performance": true,
}

func (c *context) remember(f fact) {
	if len(c.facts) == maxFacts {
		c.facts = append(c.facts[:0], c.facts[maxFacts/2:]...)
	}
	c.facts = append(c.facts, f)
}

// shell reads a command, an assignment or an export. A command that ends in a
// backslash goes on in the next line.
func (c *context) shell(d *document, text string, number int) bool {
	if strings.HasSuffix(text, "\\") {
		c.joinKind, c.joinLine, c.joinCount = joinCommand, number, 0
		c.joined.Reset()
		c.joined.WriteString(strings.TrimSuffix(text, "\\"))
		return true
	}
	return c.command(text, number)
}

func (c *context) command(text string, number int) bool {
	if rest, ok := strings.CutPrefix(text, "export "); ok {
		if name, value, ok := assignment(strings.TrimSpace(rest)); ok {
			value = strings.Trim(value, `"'`)
			c.setVar(name, value)
			if keepEnv(name) && len(c.exports) < maxFacts {
				c.exports = append(c.exports, export{c.here(number), name, value})
			}
			return true
		}
	}
	if name, value, ok := assignment(text); ok && !strings.ContainsAny(value, " \t") {
		c.setVar(name, strings.Trim(value, `"'`))
		return true
	}
	if !mayBeCommand(text) {
		return false
	}
	cmd := parseCommand(text, c.vars, c.fence == 0)
	if cmd == nil {
		return false
	}
	cmd.place, cmd.from = c.here(number), bench.FromCommand
	for _, e := range c.exports {
		if e.section == cmd.section && (e.fence == cmd.fence || cmd.role == server) {
			cmd.config.Add("env."+e.name, redact(e.name, e.value), bench.FromCommand)
		}
	}
	if cmd.role == client {
		cmd.config = benchmarkCommand(cmd)
	}
	c.rememberCommand(*cmd)
	return true
}

// rememberCommand adds a command to those that later runs may be of. Of many, the last
// are kept: a run looks through all of them.
func (c *context) rememberCommand(cmd command) {
	if len(c.commands) >= maxFacts {
		c.commands = append(c.commands[:0], c.commands[maxFacts/2:]...)
	}
	c.commands = append(c.commands, cmd)
}

// fileOf is the last part of a path.
func fileOf(model string) string {
	if i := strings.LastIndexAny(strings.TrimRight(model, "/"), "/\\"); i >= 0 {
		return model[i+1:]
	}
	return model
}

// benchmarkCommand reads a client's flags as its argument line would be read.
func benchmarkCommand(cmd *command) bench.Config {
	switch cmd.tool {
	case "llama-bench", "llama-batched-bench", "llama-benchy", "llama-perplexity", "llama-server", "locust":
		return cmd.config
	case "guidellm":
		return guideCommand(benchmarkArgs(cmd.config, bench.FromCommand))
	case "lm-eval":
		var out bench.Config
		for _, s := range cmd.config {
			switch s.Key {
			case "model":
				out.Add("model_type", s.Value, s.From)
			case "model_args":
				evalArgs(&out, s.Value, s.From)
			case "tasks":
			default:
				out.Add(s.Key, s.Value, s.From)
			}
		}
		return out
	case "trtllm-bench":
		out := benchmarkArgs(cmd.config, bench.FromCommand)
		if path := out.Get("dataset"); path != "" { // as its report names it
			out.Set("dataset", fileOf(path), bench.FromCommand)
		}
		return out
	}
	return benchmarkArgs(cmd.config, bench.FromCommand)
}

func (c *context) setVar(name, value string) {
	if c.vars == nil {
		c.vars = map[string]string{}
	}
	if len(c.vars) < 1000 && len(value) < 1000 {
		c.vars[name] = value
	}
}

// joining reports whether a command or argument line waits for its next line.
func (c *context) joining() bool { return c.joinKind != joinNone }

// join adds a line to one that goes on. It returns false if the line does not
// belong to it.
func (c *context) join(d *document, l line) bool {
	text := string(bytes.TrimSpace(l.text))
	if c.joinCount++; c.joinCount > maxContinue || len(text) > maxLine/2 || strings.HasPrefix(text, "```") || l.logged {
		c.endJoin(d)
		return false
	}
	if c.joinKind == joinArgs {
		c.joined.WriteString(text)
		if balanced(c.joined.String()) {
			c.endJoin(d)
		}
		return true
	}
	c.joined.WriteByte(' ')
	more := strings.HasSuffix(text, "\\")
	c.joined.WriteString(strings.TrimSuffix(text, "\\"))
	if !more {
		c.endJoin(d)
	}
	return true
}

func (c *context) endJoin(d *document) {
	kind := c.joinKind
	if kind == joinNone {
		return
	}
	c.joinKind = joinNone
	text := c.joined.String()
	c.joined.Reset()
	if kind == joinArgs {
		d.arguments(text)
		return
	}
	c.command(strings.TrimSpace(text), c.joinLine)
}

// startArgs reads an argument line. A terminal may have wrapped it over several
// lines, so it goes on until its brackets are closed.
func (c *context) startArgs(d *document, l line) {
	text := string(l.msg)
	if balanced(text) {
		d.arguments(text)
		return
	}
	c.joinKind, c.joinLine, c.joinCount = joinArgs, l.number, 0
	c.joined.Reset()
	c.joined.WriteString(text)
}

// balanced reports whether every round bracket outside quotes is closed.
func balanced(s string) bool {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		if !inBalance[s[i]] {
			continue
		}
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			depth--
		}
	}
	return depth <= 0
}

// inBalance are the bytes that balanced looks at.
var inBalance = byteSet("'\"()\\")

// A claim is something of the context that may hold for a run.
type claim struct {
	tier, line int
	config     bench.Config
	from       bench.From
}

// The tiers of nearness, nearest first.
const (
	tierOwn     = iota // same fence and section, since the last run
	tierFence          // same fence and section
	tierHeading        // the heading right above
	tierSection        // same section
	tierAbove          // under a heading further up
	tierFar            // in another section
)

// serves reports whether a server can be that of a run. Some tools talk
// to none; those of vLLM have the engine in their own process, which tells its
// settings in the log.
func serves(cmd *command, r *bench.Run) bool {
	switch r.Source.Tool {
	case "llama-bench", "llama-batched-bench", "llama-perplexity", "lm-eval", "trtllm-bench":
		return false
	case "vllm-throughput", "vllm-latency", "nm-offline":
		return cmd.from == bench.FromLog
	case "sglang-offline":
		return cmd.from == bench.FromLog || strings.HasPrefix(r.Config.Get("test"), "one-batch-server")
	}
	return true
}

// apply adds to a run what stands around it.
func (c *context) apply(d *document, r *bench.Run) {
	here := c.here(r.Source.Line)
	var claims []claim
	if len(c.commands) > 0 {
		claims = c.commandClaims(r, here, c.stated(r, here))
	}
	c.reserve(here.section)
	model := r.Config.Get("model")
	for _, cl := range claims {
		if model == "" {
			model = cl.config.Get("model")
		}
	}
	agrees := func(f *fact) bool { return f.model == "" || model == "" || sameModel(f.model, model) }
	label, labelTier := "", tierFar
	name := func(f *fact, tier int) {
		if tier < labelTier && f.text != "" && (!f.bare || tier == tierHeading) {
			label, labelTier = f.text, tier
		}
	}
	for i := len(c.facts) - 1; i >= 0; i-- {
		f := &c.facts[i]
		if f.section != here.section || f.line > here.line {
			continue
		}
		tier := tierOwn
		switch {
		case f.fence == 0 && here.fence > 0: // a list in the prose of the section
			tier = tierSection
		case f.fence != here.fence:
			continue
		case f.line <= c.lastRun:
			if tier = tierFence; !f.sub {
				continue
			}
		}
		if f.read(); !agrees(f) {
			continue
		}
		claims = append(claims, claim{tier, f.line, f.config, f.from})
		name(f, tier)
		c.replicate(r, f)
	}
	for i := len(c.headings) - 1; i >= 0; i-- {
		h := &c.headings[i]
		tier := tierHeading
		if i < len(c.headings)-1 {
			tier = tierFar
		}
		if h.read(); !agrees(&h.fact) {
			continue
		}
		claims = append(claims, claim{tier, h.fact.line, h.config, h.from})
		if tier == tierHeading {
			c.replicate(r, &h.fact)
		}
		if tier == tierHeading || len(c.headings)-i <= 2 && label == "" {
			if !genericTitles[strings.ToLower(h.text)] || i == 0 {
				name(&h.fact, tierHeading)
			}
		}
	}
	slices.SortStableFunc(claims, func(a, b claim) int {
		return cmp.Or(cmp.Compare(a.tier, b.tier), cmp.Compare(b.line, a.line))
	})
	// The name of a model tells its weights better than what stands around.
	if !r.Config.Has("quant") {
		r.Config.Add("quant", quantIn(fileOf(model)), bench.FromDerived)
	}
	for _, cl := range claims {
		for _, s := range cl.config {
			r.Config.Add(s.Key, tidyValue(s.Key, s.Value), cl.from)
		}
	}
	if n := len(c.headings); n > 0 {
		// A comment that says what the heading says is written as the heading.
		title := redact("", c.headings[n-1].text)
		if strings.EqualFold(label, title) {
			label = title
		}
		if c.titles == nil {
			c.titles = map[*bench.Run]string{}
		}
		c.titles[r] = title
	}
	if r.Label == "" {
		r.Label = redact("", label)
	}
	c.unsettled = max(c.unsettled, r.Source.EndLine)
	if d.block == nil && d.csv == nil && !d.inJSON {
		c.settle()
	}
}

// settle ends the results read so far: what stands above them is no longer
// right above the next one. The rows of one table are settled together.
func (c *context) settle() { c.lastRun = max(c.lastRun, c.unsettled) }

// distinguish names runs by their headings where the comments above them name
// them all alike, as a script does that writes the same title each time.
func (c *context) distinguish(runs []*bench.Run) {
	if len(c.titles) == 0 {
		return
	}
	byLabel := map[string][]*bench.Run{}
	for _, r := range runs {
		byLabel[r.Label] = append(byLabel[r.Label], r)
	}
	labels := map[string]int{} // how many runs under a heading would have its name
	for label, group := range byLabel {
		under := map[string]bool{}
		for _, r := range group {
			under[c.titles[r]] = true
		}
		if len(under) == 1 || len(group) > 1000 {
			if under[label] { // it has that name
				labels[label]++
			}
			delete(byLabel, label)
			continue
		}
		for title := range under {
			labels[title]++
		}
	}
	for _, group := range byLabel {
		if slices.ContainsFunc(group, func(r *bench.Run) bool { return labels[c.titles[r]] > 1 }) {
			continue // they tell the runs under a heading apart
		}
		for _, r := range group {
			if t := c.titles[r]; t != "" {
				r.Label = t
			}
		}
	}
}

// replicate notes that a run is one of several replicas, as notes say.
func (c *context) replicate(r *bench.Run, f *fact) {
	if f.replicas > 1 && r.Replicas == 0 {
		r.Replicas = f.replicas
		r.Config.Add("replicas", strconv.Itoa(f.replicas), bench.FromComment)
	}
}

// stated are the settings that a run has, and those that the comments and the
// heading right above it name.
func (c *context) stated(r *bench.Run, here place) bench.Config {
	config := slices.Clone(r.Config)
	for i := len(c.facts) - 1; i >= 0; i-- {
		f := &c.facts[i]
		if f.section == here.section && f.fence == here.fence && f.line <= here.line && f.line > c.lastRun {
			f.read()
			config.Merge(f.config)
		}
	}
	if n := len(c.headings); n > 0 {
		c.headings[n-1].read()
		config.Merge(c.headings[n-1].config)
	}
	return config
}

// onlyModel reports whether no other command of that role names another model:
// only then can one of another section tell the model of a run.
func (c *context) onlyModel(cmd *command) bool {
	model := cmd.config.Get("model")
	return model == "" || !slices.ContainsFunc(c.commands, func(o command) bool {
		m := o.config.Get("model")
		return o.role == cmd.role && m != "" && !sameModel(m, model)
	})
}

// reserve keeps the commands of a section that has a result to that section.
func (c *context) reserve(section int) {
	for i := range c.commands {
		if c.commands[i].section == section {
			c.commands[i].used = true
		}
	}
}

// commandClaims picks the nearest client command and the nearest server command
// that can be those of the run. A command counts as a whole. One that stands in
// another section, and was that of a run there, is not that of this one.
func (c *context) commandClaims(r *bench.Run, here place, stated bench.Config) []claim {
	var claims []claim
	model := r.Config.Get("model")
	var have [2]bool
	// A run with an argument line needs no client command: it says all of it.
	// Only the environment is not in it.
	said := slices.ContainsFunc(r.Config, func(s bench.Setting) bool { return s.From == bench.FromArgs })
	for pass := range 2 {
		for i := len(c.commands) - 1; i >= 0 && !(have[client] && have[server]); i-- {
			cmd := &c.commands[i]
			tier := c.tier(cmd, here)
			if (pass == 0) != (tier < tierFar) || have[cmd.role] || cmd.line > here.line || tier == tierFar && cmd.used {
				continue
			}
			if cmd.role == client && !sameTool(cmd.tool, r.Source.Tool) || cmd.role == server && !serves(cmd, r) {
				continue
			}
			if !cmd.fits(r, model, stated, tier) || tier == tierFar && model == "" && !c.onlyModel(cmd) {
				continue
			}
			have[cmd.role] = true
			config := slices.Clone(cmd.config)
			if n := cmd.config.Get("num_prompts"); cmd.role == client && tier >= tierSection && r.Completed != nil && n != strconv.Itoa(sent(r)) {
				// An example, or one of several: it does not tell that requests failed.
				config = slices.DeleteFunc(config, func(s bench.Setting) bool { return s.Key == "num_prompts" })
			}
			switch {
			case cmd.role == server:
				config = append(config, bench.Setting{Key: "engine", Value: cmd.engine})
				if file := cmd.config.Get("model"); model != "" && file != "" && !sameModel(model, file) {
					config = append(config, bench.Setting{Key: "model_filename", Value: file})
				}
			case said:
				config = slices.DeleteFunc(config, func(s bench.Setting) bool { return tier == tierFar || !strings.HasPrefix(s.Key, "env.") })
			case r.Source.Tool == "llama-bench":
				config = llamaCommand(config)
			}
			claims = append(claims, claim{tier, cmd.line, config, cmd.from})
			if model == "" {
				model = cmd.config.Get("model")
			}
		}
	}
	return claims
}

// sameTool lets locust commands stand for the benchmark that is built on it.
func sameTool(a, b string) bool { return a == b || a == "locust" && b == "fw-ai" }

// commandSince reports whether a command stands below a line.
func (c *context) commandSince(line int) bool {
	n := len(c.commands)
	return n > 0 && c.commands[n-1].from == bench.FromCommand && c.commands[n-1].line > line
}

// tier tells how near a command stands to a place. What stands under a heading
// counts for the sections under that heading too.
func (c *context) tier(cmd *command, here place) int {
	switch {
	case cmd.fence == here.fence && cmd.section == here.section && cmd.line > c.lastRun:
		return tierOwn
	case cmd.fence == here.fence && cmd.section == here.section:
		return tierFence
	case cmd.section == here.section:
		return tierSection
	}
	if cmd.section == 0 || slices.ContainsFunc(c.headings, func(h heading) bool { return h.place.section == cmd.section }) {
		return tierAbove
	}
	return tierFar
}

// fits reports whether a command can have made a run: same model, same engine,
// and as many prompts as were completed.
func (cmd *command) fits(r *bench.Run, model string, stated bench.Config, tier int) bool {
	other := cmd.config.Get("model")
	if model != "" && other != "" && !sameModel(model, other) {
		// llama-bench tables name the kind of model, its command the file; a
		// client of llama-server names the model whose tokenizer it uses.
		if r.Source.Tool != "llama-bench" && !(cmd.engine == "llama.cpp" && tier <= tierSection && sameFamily(model, other)) {
			return false
		}
	}
	if cmd.role == server && isGGUF(model) && cmd.engine != "llama.cpp" && !sameModel(model, other) {
		return false
	}
	if cmd.role == client && cmd.engine != "" && r.Config.Get("engine") != cmd.engine {
		return false
	}
	if e := stated.Get("engine"); cmd.role == server && e != "" && e != cmd.engine {
		return false
	}
	if e := backendEngine(r.Config.Get("backend")); cmd.role == server && e != "" && e != "vllm" && e != cmd.engine {
		return false
	}
	if tier >= tierAbove && cmd.role == server {
		// What is said right above the run is not what this server was.
		for _, key := range [...]string{"tp", "pp", "draft_model", "spec_tokens"} {
			if v := stated.Get(key); v != "" && v != cmd.config.Get(key) {
				return false
			}
		}
	}
	if r.Source.Tool == "llama-bench" && tier == tierFar {
		return false // its table says all that the command said
	}
	if n, err := strconv.Atoi(cmd.config.Get("num_prompts")); err == nil && cmd.role == client && r.Completed != nil {
		if n < *r.Completed || n != sent(r) && tier >= tierAbove {
			return false
		}
	}
	return true
}

// sent is how many requests a run tells that it sent.
func sent(r *bench.Run) int {
	n := *r.Completed
	if f, ok := r.Metric("failed"); ok {
		n += int(f.Raw)
	}
	return n
}

// sameFamily reports whether a file is one of a model: Qwen2.5-7B-Q8_0.gguf of
// Qwen/Qwen2.5-7B.
func sameFamily(model, file string) bool {
	return strings.HasPrefix(baseName(file), baseName(model)) || strings.HasPrefix(baseName(model), baseName(file))
}

// llamaCommand keeps what a llama-bench command says beyond its table.
func llamaCommand(c bench.Config) bench.Config {
	var out bench.Config
	for _, s := range c {
		switch {
		case strings.HasPrefix(s.Key, "env."), s.Key == "repetitions", s.Key == "rpc", s.Key == "numa":
			out = append(out, s)
		case s.Key == "model":
			out = append(out, bench.Setting{Key: "model_filename", Value: s.Value})
		}
	}
	return out
}
