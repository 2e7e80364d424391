package render

import (
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
)

// headline are the metrics that a list shows, in this order.
var headline = []string{
	"duration", "request_throughput", "request_goodput", "input_throughput", "output_throughput", "total_token_throughput", "tput_per_gpu", "mean_ttft_ms", "mean_tpot_ms",
	"mean_e2el_ms", "avg_ts", "draft_acceptance_rate", "mean_acceptance_length", "prompt_throughput", "generation_throughput", "intervals",
	"avg_latency", "p99_latency", "accuracy", "mean_latency_per_token_ms", "mean_prefill_ms", "decode_throughput",
	"speed_pp", "speed_tg", "speed", "prompt_tok_s_per_request", "generation_tok_s_per_request", "timed_requests", "perplexity", "mean_kld",
}

// RunsText lists runs for a terminal, a table a tool.
func RunsText(w io.Writer, runs []*bench.Run) error {
	text := func(t *table, w io.Writer) error { return t.text(w, false) }
	return listRuns(w, runs, text, func(s string) string { return s }, "")
}

// RunsMarkdown lists runs for a note.
func RunsMarkdown(w io.Writer, runs []*bench.Run) error {
	return listRuns(w, runs, (*table).markdown, escapeMarkdown, "## ")
}

func listRuns(w io.Writer, runs []*bench.Run, write func(*table, io.Writer) error, escape func(string) string, heading string) error {
	for i, group := range byTool(runs) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		same, keys := analyze.Differing(group)
		title := group[0].Source.Tool + ": " + count(len(group), "run")
		if file := oneFile(group); file != "" {
			title += " in " + file
		}
		fmt.Fprintf(w, "%s%s\n", heading, escape(title))
		if len(same) > 0 {
			if heading != "" {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "same in all: %s\n", escape(sameLine(same)))
		}
		fmt.Fprintln(w)
		if err := write(runTable(group, keys), w); err != nil {
			return err
		}
		if notes := runNotes(group); len(notes) > 0 {
			fmt.Fprintln(w)
			for _, n := range notes {
				fmt.Fprintf(w, "- %s\n", escape(n))
			}
		}
	}
	return nil
}

// byTool groups runs, in the order in which tools appear.
func byTool(runs []*bench.Run) [][]*bench.Run {
	var groups [][]*bench.Run
	at := map[string]int{}
	for _, r := range runs {
		i, ok := at[r.Source.Tool]
		if !ok {
			i = len(groups)
			at[r.Source.Tool] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], r)
	}
	return groups
}

// sameLine writes the settings that all runs share.
func sameLine(same []bench.Setting) string {
	var parts []string
	for _, s := range same {
		parts = append(parts, s.Key+"="+shownSetting(s.Key, s.Value))
	}
	return strings.Join(parts, " · ")
}

// keyTitle is the header of a setting's column.
func keyTitle(key string) string {
	switch key {
	case "tp", "pp", "dp", "fa", "ngl":
		return strings.ToUpper(key)
	case "gpus":
		return "GPUs"
	case "spec_tokens":
		return "k"
	case "num_prompts":
		return "Prompts"
	case "request_rate":
		return "Rate (req/s)"
	case "num_fewshot":
		return "Shots"
	}
	if name, ok := strings.CutPrefix(key, "env."); ok {
		return name
	}
	title := strings.ReplaceAll(key, "_", " ")
	_, size := utf8.DecodeRuneInString(title)
	return strings.ToUpper(title[:size]) + title[size:]
}

func runTable(runs []*bench.Run, keys []string) *table {
	t := &table{}
	file := oneFile(runs)
	if file == "" {
		t.column("Where", false)
	} else {
		t.column("Line", true)
	}
	named := slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Label != runs[0].Label || r.Replicas > 1 })
	if named {
		t.column("Run", false)
	}
	for _, k := range keys {
		t.column(keyTitle(k), numeric(runs, k))
	}
	done := slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Completed != nil })
	if done {
		t.column("Done", true)
	}
	var metrics []string
	for _, m := range headline {
		if slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Has(m) }) {
			metrics = append(metrics, m)
			t.column(bench.Lookup(m).Title, true)
		}
	}
	other := slices.ContainsFunc(runs, func(r *bench.Run) bool { return !hasAny(r, metrics) })
	if other {
		t.column("Value", true)
	}
	for _, r := range runs {
		row := []string{strconv.Itoa(r.Source.Line)}
		if file == "" {
			row[0] = r.Source.File + ":" + row[0]
		}
		if named {
			label := shorten(r.Label, 44)
			if r.Replicas > 1 {
				label += " †"
			}
			row = append(row, label)
		}
		for _, k := range keys {
			row = append(row, shorten(shownSetting(k, r.Config.Get(k)), 44))
		}
		if done {
			row = append(row, doneCell(r))
		}
		for _, name := range metrics {
			cell := ""
			if m, ok := r.Metric(name); ok {
				cell = withSpread(m)
			}
			row = append(row, cell)
		}
		if other {
			cell := ""
			if !hasAny(r, metrics) && len(r.Metrics) > 0 {
				cell = r.Metrics[0].Name + " " + withSpread(r.Metrics[0])
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// oneFile is the file of the runs, "" if there are several.
func oneFile(runs []*bench.Run) string {
	for _, r := range runs {
		if r.Source.File != runs[0].Source.File {
			return ""
		}
	}
	return runs[0].Source.File
}

// shownSetting is a setting as a table shows it: a model file without its folder.
func shownSetting(key, value string) string {
	if key != "model" && key != "draft_model" {
		return value
	}
	if windows := strings.ReplaceAll(value, `\`, "/"); strings.HasPrefix(value, "/") || len(windows) > 2 && windows[1:3] == ":/" {
		return path.Base(windows)
	}
	return value
}

func hasAny(r *bench.Run, names []string) bool { return slices.ContainsFunc(names, r.Has) }

// numeric reports whether a setting is a number in all runs that have it.
func numeric(runs []*bench.Run, key string) bool {
	for _, r := range runs {
		v := r.Config.Get(key)
		if _, err := strconv.ParseFloat(v, 64); v != "" && err != nil {
			return false
		}
	}
	return true
}

// doneCell writes completed and attempted requests, with a mark where they differ.
func doneCell(r *bench.Run) string {
	switch {
	case r.Completed == nil:
		return ""
	case r.Attempted == nil:
		return strconv.Itoa(*r.Completed)
	case *r.Attempted == *r.Completed:
		return strconv.Itoa(*r.Completed)
	}
	return fmt.Sprintf("⚠ %d/%d", *r.Completed, *r.Attempted)
}

// maxNotes is how many findings a list spells out.
const maxNotes = 20

// runNotes spells out the findings, the same one for several runs once.
func runNotes(runs []*bench.Run) []string {
	type note struct {
		text  string
		where []string
	}
	var notes []*note
	at := map[string]*note{}
	for _, r := range runs {
		for _, f := range r.Findings {
			key := f.Code + ": " + f.Message
			n := at[key]
			if n == nil {
				n = &note{text: key}
				at[key] = n
				notes = append(notes, n)
			}
			n.where = append(n.where, r.Source.File+":"+strconv.Itoa(r.Source.Line))
		}
	}
	var out []string
	for i, n := range notes {
		if i == maxNotes {
			out = append(out, fmt.Sprintf("and %s (see --format json)", count(len(notes)-i, "more finding")))
			break
		}
		where := n.where[0]
		if len(n.where) > 1 {
			where += " and " + strconv.Itoa(len(n.where)-1) + " more"
		}
		out = append(out, n.text+" ("+where+")")
	}
	return out
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// RunsCSV writes every setting and metric of every run, a row a run. Settings
// have the prefix config. and a spread the suffix _std.
func RunsCSV(w io.Writer, runs []*bench.Run) error {
	config, metrics, spreads := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var before bench.Config
	for _, r := range runs {
		if !r.Config.SameKeys(before) {
			for i := range r.Config {
				config[r.Config[i].Key] = true
			}
			before = r.Config
		}
		for i := range r.Metrics {
			m := &r.Metrics[i]
			if m.Name == "completed" {
				continue // has its column
			}
			metrics[m.Name] = true
			if m.HasStd {
				spreads[m.Name] = true
			}
		}
	}
	configKeys, metricNames := sortedKeys(config), sortedKeys(metrics)
	slices.SortStableFunc(metricNames, func(a, b string) int { return bench.Rank(a) - bench.Rank(b) })
	row := []string{"id", "label", "input", "file", "line", "end_line", "tool", "format", "completed", "attempted", "replicas"}
	fixed := len(row)
	for _, k := range configKeys {
		row = append(row, "config."+k)
	}
	place := make(map[string]int, len(row))
	for i, k := range configKeys {
		place["config."+k] = fixed + i
	}
	for _, m := range metricNames {
		place[m] = len(row)
		row = append(row, m)
		if spreads[m] {
			row = append(row, m+"_std")
		}
	}
	row = append(row, "findings")
	out := newCSV(w)
	if err := out.Write(row); err != nil {
		return err
	}
	configPlace := make(map[string]int, len(configKeys))
	for _, k := range configKeys {
		configPlace[k] = place["config."+k]
	}
	var places []int // of the settings of the run before
	before = nil
	for _, r := range runs {
		clear(row)
		copy(row, []string{r.ID, r.Label, r.Input, r.Source.File, strconv.Itoa(r.Source.Line), strconv.Itoa(r.Source.EndLine), r.Source.Tool, r.Source.Format,
			optionalInt(r.Completed), optionalInt(r.Attempted), strconv.Itoa(max(r.Replicas, 1))})
		if !r.Config.SameKeys(before) {
			before, places = r.Config, places[:0]
			for i := range r.Config {
				places = append(places, configPlace[r.Config[i].Key])
			}
		}
		for i := range r.Config {
			row[places[i]] = r.Config[i].Value
		}
		for i := range r.Metrics {
			m := &r.Metrics[i]
			at, ok := place[m.Name]
			if !ok {
				continue
			}
			row[at] = strconv.FormatFloat(m.Value, 'f', -1, 64)
			if m.HasStd {
				row[at+1] = strconv.FormatFloat(m.Std, 'f', -1, 64)
			}
		}
		var codes []string
		for _, f := range r.Findings {
			codes = append(codes, f.Code)
		}
		row[len(row)-1] = strings.Join(codes, ";")
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func optionalInt(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

func sortedKeys(m map[string]bool) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
