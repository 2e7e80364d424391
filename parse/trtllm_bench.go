package parse

import (
	"bytes"
	"path"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// trtllmBench reads the report of trtllm-bench, as it is printed and as it is
// saved. The printed one is in sections, and what a label means depends on the
// section it stands in.
var trtllmBench = Format{
	Tool:     "trtllm-bench",
	Engine:   "tensorrt-llm",
	Programs: []program{{name: "trtllm-bench"}},
	Flags:    map[string]string{"model_path": "", "report_json": "", "iteration_log": "", "workspace": "", "w": "", "c": "concurrency", "m": "model"},
	Reads:    "text (throughput and latency reports, all spellings), JSON (--report_json)",
	Since:    "2024-07",
	Example:  "= PERFORMANCE OVERVIEW",
	Derives:  "input and output tokens: mean lengths × requests; input_len and output_len where the dataset has one length only",
	Limits: "the issue rate is how fast requests were queued, no request rate, and is not read; the concurrency that is printed is a measured mean, " +
		"mean_concurrency, the limit stands only in the command; total token throughput of the latency report of 2024 counts output tokens, and its " +
		"P90 is the median, so it is left out; acceptance rate and length are means over the requests",
	Lines: []Start{
		{Prefix: "= ENGINE DETAILS", Read: startTRT},
		{Prefix: "= PYTORCH BACKEND", Read: startTRT},
		{Prefix: "= REQUEST DETAILS", Read: startTRT},
		{Prefix: "= WORLD + RUNTIME INFORMATION", Read: startTRT},
		{Prefix: "= GENERAL OVERVIEW", Read: startTRT},
		{Prefix: "= PERFORMANCE OVERVIEW", Read: startTRT},
		{Prefix: "= DATASET DETAILS", Read: startTRT}, // also printed before the run, with no result
	},
	Keys:   []string{"world_info", "streaming_metrics", "request_info"},
	Object: trtObject,
}

// trtSections are the sections of a report.
var trtSections = map[string]bool{
	"ENGINE DETAILS": true, "PYTORCH BACKEND": true, "MACHINE DETAILS": true, "REQUEST DETAILS": true, "WORLD + RUNTIME INFORMATION": true,
	"PERFORMANCE OVERVIEW": true, "STREAMING STATISTICS": true, "DECODING STATISTICS": true, "DATASET DETAILS": true,
	// the latency report of 2024
	"GENERAL OVERVIEW": true, "THROUGHPUT OVERVIEW": true, "LATENCY OVERVIEW": true, "GENERATION LATENCY BREAKDOWN": true, "ACCEPTANCE BREAKDOWN": true,
}

// trtLabels are the labels of figures, in lower case and without the unit in
// brackets behind them, whose spelling changed.
var trtLabels = map[string]string{
	"number of requests":            "completed",
	"number of concurrent requests": "mean_concurrency",
	"average input length":          "mean_input_tokens",
	"average output length":         "mean_output_tokens",
	"request throughput":            "request_throughput",
	"token throughput":              "output_throughput", // 2024
	"total output throughput":       "output_throughput",
	"total token throughput":        "total_token_throughput",
	"generation token throughput":   "mean_gtps", // 2024, latency
	"per user output throughput":    "mean_request_output_throughput",
	"per gpu output throughput":     "output_throughput_per_gpu",
	"per user output speed":         "mean_gtps",
	"total latency":                 "duration",
	"average request latency":       "mean_e2el_ms",
	"average time-to-first-token":   "mean_ttft_ms",
	"average time-per-output-token": "mean_tpot_ms",
	"average inter-token latency":   "mean_tpot_ms",           // 2024: the mean of each request
	"acceptance rate":               "mean_acceptance_length", // 2024: tokens ÷ steps
}

// trtFamilies are the marks in front of the lines of a breakdown.
var trtFamilies = map[string]string{"TPOT": "tpot_ms", "TTFT": "ttft_ms", "Latency": "e2el_ms", "GTPS": "gtps"}

// trtDecoding are the figures of speculative decoding, of which the average is
// kept: by their mark, and by their key in the JSON.
var trtDecoding = map[string]string{
	"DT": "draft_tokens_per_request", "ADT": "accepted_tokens_per_request", "DAR": "draft_acceptance_rate", "AL": "mean_acceptance_length",
	"num_draft_tokens_percentiles": "draft_tokens_per_request", "num_accepted_draft_tokens_percentiles": "accepted_tokens_per_request",
	"draft_acceptance_rate_percentiles": "draft_acceptance_rate", "acceptance_length_percentiles": "mean_acceptance_length",
}

// trtSettings are the labels of settings, and their keys in the JSON.
var trtSettings = map[string]string{
	"model": "model", "engine directory": "engine_dir", "engine_dir": "engine_dir", "tensorrt-llm version": "build", "tensorrt llm version": "build",
	"version": "build", "dtype": "dtype", "kv cache dtype": "kv_cache_dtype", "kv_cache_dtype": "kv_cache_dtype", "quantization": "quantization",
	"max input length": "max_input_length", "max_input_length": "max_input_length", "max sequence length": "max_sequence_length",
	"max_sequence_length": "max_sequence_length", "tp size": "tp", "tp_size": "tp", "pp size": "pp", "pp_size": "pp", "ep size": "ep", "ep_size": "ep",
	"world_size": "gpus", "max runtime batch size": "max_batch_size", "max_batch_size": "max_batch_size", "max runtime tokens": "max_num_tokens",
	"max_num_tokens": "max_num_tokens", "scheduling policy": "scheduling_policy", "scheduling_policy": "scheduling_policy",
	"kv memory percentage": "kv_cache_percentage", "kv_cache_percentage": "kv_cache_percentage",
	"dataset path": "dataset", "dataset_path": "dataset", "number of sequences": "num_prompts", "num_requests": "num_prompts", "backend": "backend",
}

// trtSet adds a setting, the same way from both forms.
func trtSet(r *bench.Run, label, value string, from bench.From) bool {
	key, ok := trtSettings[label]
	if !ok {
		return false
	}
	switch key {
	case "dataset": // the same file lies elsewhere on another machine
		value = path.Base(value)
	case "scheduling_policy":
		value = strings.ToUpper(strings.ReplaceAll(value, " ", "_"))
	case "backend":
		if value = strings.ToLower(value); value == "trt" {
			value = "tensorrt"
		}
	case "kv_cache_percentage": // 90.00% in the text, 0.9 in the JSON
		if p, ok := strings.CutSuffix(value, "%"); ok {
			if x, _, ok := readNumber(p); ok {
				value = formatNumber(x / 100)
			}
		}
	}
	if value != "" && value != "." && value != "None" && fitsKey(key, value) {
		r.Config.Add(key, redact(key, tidyValue(key, value)), from)
	}
	return true
}

// A trtReport is a printed report while it is read.
type trtReport struct {
	run     *bench.Run
	section string
	titled  bool            // the line before was a title
	ruled   bool            // a rule has ended the section: only a title can follow
	seen    map[string]bool // the sections so far
	table   bool            // the lengths of the dataset were read
	low     [2]string       // the least of input and output
	gap     int
}

func startTRT(d *document, l line) bool {
	t := &trtReport{seen: map[string]bool{},
		run: &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "trtllm-bench", Format: "text"}}}
	if t.line(d, l) != taken {
		return false
	}
	d.open(t)
	return true
}

func (t *trtReport) line(d *document, l line) verdict {
	if len(l.msg) == 0 {
		return passed
	}
	if isRule(l.msg, '=') {
		if t.table {
			return takenLast // the end of the last section
		}
		t.ruled, t.titled = !t.titled, false
		return taken
	}
	if hasPrefix(l.msg, "--") {
		return taken
	}
	if title, ok := bytes.CutPrefix(l.msg, []byte("= ")); ok && len(title) < 80 {
		return t.title(string(bytes.TrimSpace(title)), l.number)
	}
	t.titled = false
	if t.ruled || !t.field(d, string(l.msg), l.number) {
		// Lines of the engine may stand between those of the report.
		if t.gap++; t.gap > 40 {
			return ended
		}
		return passed
	}
	t.gap = 0
	t.run.Source.EndLine = l.number
	return taken
}

// title reads the title of a section. One that was there already is that of the
// next report.
func (t *trtReport) title(title string, number int) verdict {
	section, mode, _ := strings.Cut(title, " (")
	if !trtSections[section] {
		t.section, t.titled, t.ruled = "", true, false
		return taken
	}
	if t.seen[section] {
		return ended
	}
	t.seen[section], t.section, t.gap = true, section, 0
	t.titled, t.ruled = true, false
	t.run.Source.EndLine = number
	switch section {
	case "ENGINE DETAILS":
		t.run.Config.Add("backend", "tensorrt", bench.FromLog)
	case "PYTORCH BACKEND":
		t.run.Config.Add("backend", "pytorch", bench.FromLog)
	case "DECODING STATISTICS":
		t.run.Config.Add("spec_method", redact("", strings.TrimSuffix(mode, ")")), bench.FromLog)
	}
	return taken
}

// field reads one line of a section.
func (t *trtReport) field(d *document, text string, number int) bool {
	if t.section == "MACHINE DETAILS" {
		name, _, ok := strings.Cut(text, ", memory ")
		if ok {
			t.run.Config.Add("device", redact("", name), bench.FromLog)
		}
		return ok
	}
	label, value, ok := strings.Cut(text, ":")
	if !ok || len(label) > 80 {
		return false
	}
	label, value = strings.TrimSpace(label), strings.TrimSpace(value)
	if mark, stat, ok := strings.Cut(label, "] "); ok && strings.HasPrefix(mark, "[") {
		return t.breakdown(d, mark[1:], strings.TrimSpace(stat), value, number)
	}
	plain := strings.ToLower(label)
	if i := strings.IndexAny(plain, "[("); i > 0 {
		plain = strings.TrimSpace(plain[:i])
	}
	switch t.section {
	case "ENGINE DETAILS", "PYTORCH BACKEND", "WORLD + RUNTIME INFORMATION":
		return trtSet(t.run, plain, value, bench.FromLog) || plain == "issue rate" || plain == "model path"
	case "DATASET DETAILS":
		return trtSet(t.run, plain, value, bench.FromLog) || t.lengths(plain, value)
	case "GENERATION LATENCY BREAKDOWN":
		stat, ok := statistic(plain)
		if ok && plain != "p90" {
			t.add(d, stat+"_generation_latency_ms", label, value, number)
		}
		return ok
	case "ACCEPTANCE BREAKDOWN":
		_, ok := statistic(plain)
		return ok
	}
	name, ok := trtLabels[plain]
	switch {
	case !ok:
		return false
	case plain == "total token throughput" && t.section == "THROUGHPUT OVERVIEW":
		name = "output_throughput"
	case plain == "per user output speed" && strings.Contains(label, "[1/TPOT]"):
		name = "tok_s_per_user" // of the mean TPOT, not the mean of speeds
	}
	t.add(d, name, label, value, number)
	return true
}

// breakdown reads `[TTFT] P99    : 123.4567`.
func (t *trtReport) breakdown(d *document, mark, word, value string, number int) bool {
	stat, ok := statistic(word)
	if name := trtDecoding[mark]; ok && name != "" {
		if stat == "mean" {
			t.add(d, name, mark, value, number)
		}
		return true
	}
	family := trtFamilies[mark]
	if !ok || family == "" {
		return false
	}
	t.add(d, stat+"_"+family, mark+" "+word, value, number)
	return true
}

// lengths reads a row of the table of the dataset: input, output and both. A
// dataset whose least length is its greatest has one length.
func (t *trtReport) lengths(row, value string) bool {
	cells := strings.Fields(value)
	if _, ok := statistic(row); !ok || len(cells) != 3 {
		return false
	}
	t.table = true
	switch row {
	case "min":
		t.low = [2]string{cells[0], cells[1]}
	case "max":
		for i, key := range [...]string{"input_len", "output_len"} {
			if cells[i] == t.low[i] && fitsKey(key, cells[i]) {
				t.run.Config.Add(key, tidyValue(key, cells[i]), bench.FromLog)
			}
		}
	}
	return true
}

// add adds a figure. Times are printed in ms; the duration of a run is in
// seconds for us.
func (t *trtReport) add(d *document, name, label, value string, number int) {
	m, ok := d.metric(name, value, number, label)
	if !ok || len(t.run.Metrics) >= maxStatistics {
		return
	}
	if name == "duration" {
		m = scaled(m, 0.001)
	}
	t.run.Add(m)
}

func (t *trtReport) close(d *document) {
	d.pending = pending{} // its progress bars were those of this run
	trtEmit(d, t.run)
}

func trtEmit(d *document, r *bench.Run) {
	if !r.Has("request_throughput") && !r.Has("output_throughput") && !r.Has("duration") && !r.Has("mean_e2el_ms") {
		return
	}
	counts(r)
	totals(r)
	d.emit(r)
}

// trtKeys are the figures of the saved report, by section and key.
var trtKeys = map[string]map[string]string{
	"request_info": {"num_requests": "completed", "avg_num_concurrent_requests": "mean_concurrency", "avg_input_length": "mean_input_tokens",
		"avg_output_length": "mean_output_tokens"},
	"performance": {"request_throughput_req_s": "request_throughput", "system_output_throughput_tok_s": "output_throughput",
		"system_total_throughput_tok_s": "total_token_throughput", "output_throughput_per_user_tok_s": "mean_request_output_throughput",
		"output_throughput_per_gpu_tok_s": "output_throughput_per_gpu", "total_latency_ms": "duration", "avg_request_latency_ms": "mean_e2el_ms"},
	"streaming_metrics": {"token_output_speed_tok_s": "mean_gtps", "avg_ttft_ms": "mean_ttft_ms", "avg_tpot_ms": "mean_tpot_ms"},
	"energy":            {"total_energy_j": "total_energy_j", "average_gpu_power": "average_gpu_power", "output_tps_per_w": "output_tps_per_w"},
}

// trtObject reads a saved report.
func trtObject(d *document, o *object) bool {
	perf := o.child("performance")
	if perf == nil || perf.get("request_throughput_req_s") == nil && perf.get("system_output_throughput_tok_s") == nil && perf.get("total_latency_ms") == nil {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "trtllm-bench", Format: "json"}}
	for _, section := range [...]string{"request_info", "performance", "streaming_metrics", "energy"} {
		s := o.child(section)
		if s == nil {
			continue
		}
		for i := range s.members {
			name, ok := trtKeys[section][s.members[i].key]
			if !ok {
				continue
			}
			if name == "mean_gtps" && s.get("gen_tps_percentiles") == nil {
				name = "tok_s_per_user" // before there were such, of the mean TPOT
			}
			m, ok := d.jsonNumber(&s.members[i], name)
			if !ok {
				continue
			}
			if name == "duration" {
				m = scaled(m, 0.001)
			}
			r.Add(m)
		}
	}
	streaming := o.child("streaming_metrics")
	d.jsonStatistics(r, perf, "request_latency_percentiles_ms", "e2el_ms", 1)
	d.jsonStatistics(r, streaming, "ttft_percentiles", "ttft_ms", 1)
	d.jsonStatistics(r, streaming, "tpot_percentiles", "tpot_ms", 1)
	d.jsonStatistics(r, streaming, "gen_tps_percentiles", "gtps", 1)
	if decoding := o.child("decoding_stats"); decoding != nil {
		r.Config.Add("spec_method", redact("", decoding.scalar("mode")), bench.FromJSON)
		for i := range decoding.members {
			m := &decoding.members[i]
			if average := m.object.get("average"); average != nil && trtDecoding[m.key] != "" {
				d.jsonMetric(r, average, trtDecoding[m.key])
			}
		}
	}
	for _, section := range [...]string{"engine", "world_info"} {
		s := o.child(section)
		if s == nil {
			continue
		}
		for i := range s.members {
			trtSet(r, s.members[i].key, s.members[i].scalar(), bench.FromJSON)
		}
	}
	for _, key := range [...]string{"dataset_path", "num_requests"} {
		trtSet(r, key, o.child("dataset").scalar(key), bench.FromJSON)
	}
	r.Config.Add("device", redact("", o.child("machine").scalar("name")), bench.FromJSON)
	for stats, key := range map[string]string{"isl_stats": "input_len", "osl_stats": "output_len"} {
		s := o.child("dataset").child(stats)
		if low := s.scalar("minimum"); low != "" && low == s.scalar("maximum") && fitsKey(key, low) {
			r.Config.Add(key, tidyValue(key, low), bench.FromJSON)
		}
	}
	if len(r.Metrics) > 0 {
		trtEmit(d, r)
	}
	return true
}
