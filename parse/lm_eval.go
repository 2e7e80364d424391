package parse

import (
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// lmEval reads the results of lm-evaluation-harness. A row of its table is a
// run; in its JSON a task with a filter is one, with all its metrics.
var lmEval = Format{
	Tool:     "lm-eval",
	Programs: []program{{name: "lm_eval"}, {name: "lm-eval"}},
	Reads:    "table, results JSON",
	Since:    "v0.2 (2022)",
	Example:  "|biology|      0|custom-extract|     5|exact_match|↑  |0.8466|±  |0.0135|",
	Limits:   "acc, exact_match, em and pass@1 are accuracy, all else keeps its name; in the JSON a task and filter is one run, in a table each row; a limited run is partial",
	Lines: []Start{
		{Anywhere: "num_fewshot: ", Read: readEvalModel},
		{Anywhere: "Stderr", Read: startEvalTable},
	},
	Keys:   []string{"results"},
	Object: evalObject,
}

// evalModel is what the line in front of a table says about the model.
type evalModel struct {
	config  bench.Config
	section int
}

// readEvalModel reads `vllm (pretrained=…,dtype=float16), gen_kwargs: (None),
// limit: None, num_fewshot: None, batch_size: 64`. The arguments hold commas
// and brackets themselves.
func readEvalModel(d *document, l line) bool {
	s := string(l.msg)
	kind, rest, ok := strings.Cut(s, " (")
	if !ok || strings.ContainsAny(kind, " |") {
		return false
	}
	end := strings.LastIndex(rest, "), gen_kwargs")
	if end < 0 {
		if end = strings.LastIndex(rest, "), limit"); end < 0 {
			return false
		}
	}
	var c bench.Config
	c.Add("model_type", printable(kind), bench.FromArgs)
	evalArgs(&c, rest[:end], bench.FromArgs)
	for part := range strings.SplitSeq(rest[end+1:], ", ") {
		key, value, ok := strings.Cut(part, ": ")
		if ok && value != "None" && value != "(None)" && key != "provide_description" {
			key = strings.TrimSpace(key)
			if key == "batch_size" {
				c.Add("batch", redact("", value), bench.FromArgs)
				continue
			}
			c.Add(key, redact(key, value), bench.FromArgs)
		}
	}
	d.eval = evalModel{c, d.ctx.section}
	return true
}

// evalArgs reads the model arguments, as `k=v,k=v` or as a Python dictionary.
func evalArgs(c *bench.Config, s string, from bench.From) {
	if strings.HasPrefix(strings.TrimSpace(s), "{") {
		pythonArgs(s, func(key, value string) { evalArg(c, key, value, from) })
		return
	}
	for part := range strings.SplitSeq(s, ",") {
		if key, value, ok := strings.Cut(part, "="); ok {
			evalArg(c, key, value, from)
		}
	}
}

func evalArg(c *bench.Config, key, value string, from bench.From) {
	key = canonicalKey(key)
	switch key {
	case "pretrained", "engine": // engine=text-davinci-003 in old versions
		key = "model"
	}
	if !dullKeys[key] && value != "" && value != "None" {
		c.Add(key, redact(key, value), from)
	}
}

// An evalTable is a table while it is read.
type evalTable struct {
	header                         []string
	task, metric, value, std, shot int
	filter, version                int
	groups                         bool
	last                           string // the task of the row before
}

func startEvalTable(d *document, l line) bool {
	if len(l.msg) == 0 || l.msg[0] != '|' {
		return false
	}
	header := tableCells(string(l.msg))
	at := func(name string) int { return slices.Index(header, name) }
	t := &evalTable{header: header, metric: at("Metric"), value: at("Value"), std: at("Stderr"), shot: at("n-shot"),
		filter: at("Filter"), version: at("Version")}
	if t.task = slices.IndexFunc(header, func(h string) bool { return h == "Tasks" || h == "Task" || h == "Groups" }); t.task != 0 {
		return false
	}
	t.groups = header[0] == "Groups"
	if t.metric < 0 || t.value < 0 || t.std < 0 {
		return false
	}
	d.open(t)
	return true
}

func (t *evalTable) line(d *document, l line) verdict {
	if len(l.msg) == 0 || l.msg[0] != '|' {
		return ended
	}
	cells := tableCells(string(l.msg))
	if isSeparator(cells) {
		return taken
	}
	if len(cells) != len(t.header) {
		d.errorf(l.number, "lm-eval table: expected %d cells as in the header, found %d", len(t.header), len(cells))
		return taken
	}
	if cells[t.metric] == "Metric" {
		return ended
	}
	task := strings.TrimSpace(strings.TrimLeft(cells[t.task], "- "))
	if task == "" {
		task = t.last
	}
	t.last = task
	r := &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "lm-eval", Format: "md"}}
	logged := cells[t.metric]
	if logged == "samples" || logged == "alias" {
		return taken
	}
	m, ok := d.metric(evalMetric(logged), strings.Trim(cells[t.value], "*"), l.number, logged)
	if !ok {
		return taken
	}
	// The writer of the table cuts trailing zeros: 0.848 is 0.8480.
	m.Decimals = max(m.Decimals, 4)
	if std, _, ok := readNumber(strings.Trim(cells[t.std], "*")); ok {
		m.Std, m.HasStd = std, true
	}
	r.Add(m)
	r.Config.Add("task", redact("", task), bench.FromLog)
	r.Config.Add("metric", redact("", logged), bench.FromLog)
	if t.filter >= 0 {
		r.Config.Add("filter", redact("", cells[t.filter]), bench.FromLog)
	}
	if t.shot >= 0 && cells[t.shot] != "None" {
		r.Config.Add("num_fewshot", redact("", cells[t.shot]), bench.FromLog)
	}
	if t.version >= 0 {
		r.Config.Add("version", redact("", cells[t.version]), bench.FromLog)
	}
	if t.groups {
		r.Config.Add("group", "true", bench.FromLog)
	}
	if d.eval.section == d.ctx.section {
		r.Config.Merge(d.eval.config)
	}
	limited(r)
	d.emit(r)
	return taken
}

func (t *evalTable) close(d *document) { d.ctx.settle() }

// evalMetric names a metric: what counts right answers is the accuracy, all
// else keeps its name.
func evalMetric(name string) string {
	switch name {
	case "acc", "exact_match", "em", "pass@1", "pass_at_1":
		return "accuracy"
	}
	return printable(name)
}

// limited tells a run that evaluated only a part of the task.
func limited(r *bench.Run) {
	limit := r.Config.Get("limit")
	if slices.ContainsFunc(r.Findings, func(f bench.Finding) bool { return f.Code == "partial" }) {
		return
	}
	if limit != "" && limit != "None" {
		r.Findings = append(r.Findings, bench.Finding{Code: "partial", Severity: bench.Warning,
			Message: "limit " + limit + ": only a part of each task was evaluated, so this is not a full score"})
	}
}

// evalObject reads a results file: a run for each task and filter.
func evalObject(d *document, o *object) bool {
	results := o.get("results")
	if results == nil || results.object == nil || o.get("versions") == nil && o.get("configs") == nil && o.get("config") == nil {
		return false
	}
	var shared bench.Config
	limit := ""
	if config := o.get("config"); config != nil && config.object != nil {
		c := config.object
		shared.Add("model_type", redact("", c.scalar("model")), bench.FromJSON)
		evalArgs(&shared, c.scalar("model_args"), bench.FromJSON)
		if args := c.get("model_args"); args != nil && args.object != nil {
			for i := range args.object.members {
				key := args.object.members[i].key
				evalArg(&shared, key, args.object.scalar(key), bench.FromJSON)
			}
		}
		shared.Add("batch", redact("", c.scalar("batch_size")), bench.FromJSON)
		shared.Add("num_fewshot", redact("", c.scalar("num_fewshot")), bench.FromJSON)
		limit = c.scalar("limit")
	}
	shared.Add("model", redact("", o.scalar("model_name")), bench.FromJSON)
	for i := range results.object.members {
		task := &results.object.members[i]
		if task.object == nil {
			continue
		}
		evalTask(d, o, task, shared, limit)
	}
	return true
}

// evalTask makes a run of each filter of a task. Keys are `acc,none` and
// `acc_stderr,none`, before v0.4 `acc` and `acc_stderr`.
func evalTask(d *document, o *object, task *member, shared bench.Config, limit string) {
	var runs []*bench.Run
	byFilter := func(filter string) *bench.Run {
		for _, r := range runs {
			if r.Config.Get("filter") == filter {
				return r
			}
		}
		r := &bench.Run{Source: bench.Source{Line: task.line, EndLine: task.object.end, Tool: "lm-eval", Format: "json"}}
		r.Config.Add("task", redact("", task.key), bench.FromJSON)
		r.Config.Add("filter", redact("", filter), bench.FromJSON)
		for _, of := range [...]struct{ table, key string }{{"n-shot", "num_fewshot"}, {"versions", "version"}} {
			if t := o.get(of.table); t != nil {
				r.Config.Add(of.key, redact("", t.object.scalar(task.key)), bench.FromJSON)
			}
		}
		r.Config.Merge(shared)
		if limit != "" {
			r.Config.Add("limit", limit, bench.FromJSON)
		}
		runs = append(runs, r)
		return r
	}
	for i := range task.object.members {
		m := &task.object.members[i]
		name, filter, _ := strings.Cut(m.key, ",")
		if m.kind != jsonNumber || strings.HasSuffix(name, "_stderr") || name == "sample_len" || name == "sample_count" || name == "samples" {
			continue
		}
		r := byFilter(filter)
		metric, ok := d.metric(evalMetric(name), string(m.text), m.line, m.key)
		if !ok {
			continue
		}
		metric.Decimals = -1
		key := name + "_stderr"
		if filter != "" {
			key += "," + filter
		}
		if std, _, ok := readNumber(task.object.scalar(key)); ok {
			metric.Std, metric.HasStd = std, true
		}
		r.Add(metric)
	}
	for _, r := range runs {
		if len(r.Metrics) > 0 {
			limited(r)
			d.emit(r)
		}
	}
}
