package parse

import (
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// inferenceMAX reads the rows that InferenceMAX, now InferenceX, makes of
// serving results: the files agg_*.json, arrays of them, and its summary table.
var inferenceMAX = Format{
	Tool:    "inferencemax",
	Reads:   "JSON (agg_*.json, arrays of such, rows whose figures stand under metrics), summary table",
	Since:   "2025-08",
	Example: `{"hw": "h200", "conc": 64, "model": "openai/gpt-oss-120b", "framework": "vllm", "tp": 8, "tput_per_gpu": 1234.5, "mean_ttft": 0.25, …}`,
	Derives: "gpus: prefill and decode GPUs together, or tp × pp × pcp_size",
	Limits: "the raw results beside it are those of vllm-serve and read as such; times have lost the _ms of their names and are in seconds; input and output " +
		"throughput of disaggregated runs are per prefill and per decode GPU, and keep their names; the deviation of interactivity is the inverse of " +
		"one and is left out; the table has medians only; the nested rows of trace replays are not read",
	Lines: []Start{
		{Prefix: "| Hardware ", Read: startMAXTable},
		{Prefix: "| Model ", Read: startMAXTable},
	},
	Keys:   []string{"tput_per_gpu", "conc"},
	Object: maxObject,
}

// maxFigures are the figures that keep their names.
var maxFigures = map[string]bool{
	"tput_per_gpu": true, "output_tput_per_gpu": true, "input_tput_per_gpu": true, "avg_power_w": true, "joules_per_input_token": true,
	"joules_per_output_token": true, "joules_per_total_token": true,
}

// maxSettings are the keys of a row, and what the headers of the table say for
// them; "" drops one.
var maxSettings = map[string]string{
	"hw": "device", "hardware": "device", "precision": "precision", "spec_decoding": "spec_method", "mtp": "spec_method",
	"date": "", "id": "", "run_url": "", "power_valid": "", "is_multinode": "is_multinode",
	"Hardware": "device", "Framework": "framework", "Precision": "precision", "ISL": "input_len", "OSL": "output_len", "TP": "tp", "EP": "ep",
	"DP Attention": "dp_attention", "Conc": "concurrency", "Served Model": "model", "Model": "infmax_model_prefix", "Prefill TP": "prefill_tp",
	"Prefill EP": "prefill_ep", "Prefill DP Attn": "prefill_dp_attention", "Prefill Workers": "prefill_num_workers", "Prefill GPUs": "num_prefill_gpu",
	"Decode TP": "decode_tp", "Decode EP": "decode_ep", "Decode DP Attn": "decode_dp_attention", "Decode Workers": "decode_num_workers",
	"Decode GPUs": "num_decode_gpu",
}

// maxColumns are the figures of the table, medians all.
var maxColumns = map[string]struct {
	name   string
	factor float64
}{
	"TTFT (ms)": {"median_ttft_ms", 1}, "TPOT (ms)": {"median_tpot_ms", 1}, "E2EL (s)": {"median_e2el_ms", 1000},
	"Interactivity (tok/s/user)": {"median_intvty", 1}, "TPUT per GPU": {"tput_per_gpu", 1}, "Output TPUT per GPU": {"output_tput_per_gpu", 1},
	"Input TPUT per GPU": {"input_tput_per_gpu", 1},
}

// maxObject reads a row.
func maxObject(d *document, o *object) bool {
	figures := o
	if m := o.child("metrics"); m != nil {
		figures = m
	}
	if figures.get("tput_per_gpu") == nil || o.get("conc") == nil || o.get("hw") == nil && o.get("hardware") == nil && o.get("framework") == nil {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "inferencemax", Format: "json"}}
	for i := range figures.members {
		m := &figures.members[i]
		name, factor := maxMetric(m.key)
		if name == "" || len(r.Metrics) >= maxStatistics {
			continue
		}
		if metric, ok := d.jsonNumber(m, name); ok {
			r.Add(scaled(metric, factor))
		}
	}
	for i := range o.members {
		if m := &o.members[i]; !isMAXFigure(m.key) {
			maxSet(r, m.key, m.scalar(), bench.FromJSON)
		}
	}
	maxEmit(d, r)
	return true
}

func isMAXFigure(key string) bool {
	name, _ := maxMetric(key)
	return name != "" || key == "std_intvty"
}

// maxMetric gives the metric of a key: mean_ttft in seconds is mean_ttft_ms.
func maxMetric(key string) (name string, factor float64) {
	if maxFigures[key] {
		return key, 1
	}
	if _, _, ok := bench.SplitLatency(key + "_ms"); ok {
		return key + "_ms", 1000
	}
	if stat, ok := strings.CutSuffix(key, "_intvty"); ok && stat != "std" {
		if stat, ok := statistic(stat); ok {
			return stat + "_intvty", 1
		}
	}
	return "", 0
}

// maxSet adds a setting.
func maxSet(r *bench.Run, key, value string, from bench.From) {
	if renamed, ok := maxSettings[key]; ok {
		key = renamed
	} else {
		key = canonicalKey(key)
	}
	if key == "" || dullKeys[key] || len(value) > 300 || len(r.Config) >= maxStatistics || !fitsKey(key, value) {
		return
	}
	if key == "device" || key == "framework" || key == "precision" || strings.HasSuffix(key, "dp_attention") {
		value = strings.ToLower(value) // the table writes them in capitals, Python writes True
	}
	if key == "spec_method" {
		switch value = strings.ToLower(value); value {
		case "none", "off", "false":
			return
		case "on", "true":
			value = "mtp" // the only method there was
		}
	}
	r.Config.Add(key, redact(key, tidyValue(key, value)), from)
}

func maxEmit(d *document, r *bench.Run) {
	if len(r.Metrics) == 0 {
		return
	}
	c := &r.Config
	c.Add("engine", engineIn(c.Get("framework")), bench.FromDerived)
	c.Add("quant", quantIn(c.Get("precision")), bench.FromDerived)
	if n := maxGPUs(c); n > 0 {
		c.Add("gpus", strconv.Itoa(n), bench.FromDerived)
	}
	d.emit(r)
}

// maxGPUs counts the GPUs of a run. Prefill and decode have their own where
// they are disaggregated; else they share them, and both numbers are of the same.
func maxGPUs(c *bench.Config) int {
	number := func(key string) int {
		if n, err := strconv.Atoi(c.Get(key)); err == nil && n > 0 && n <= 1<<16 {
			return n
		}
		return 0
	}
	if n := number("num_gpus"); n > 0 {
		return n
	}
	prefill, decode := number("num_prefill_gpu"), number("num_decode_gpu")
	switch {
	case prefill+decode > 0 && c.Get("disagg") == "false" && c.Get("is_multinode") != "true":
		return max(prefill, decode)
	case prefill+decode > 0:
		return prefill + decode
	}
	return number("tp") * max(number("pp"), 1) * max(number("pcp_size"), 1)
}

// A maxTable is the summary table while it is read.
type maxTable struct{ header []string }

func startMAXTable(d *document, l line) bool {
	header := tableCells(string(l.msg))
	if !slices.Contains(header, "Conc") || !slices.Contains(header, "TPUT per GPU") {
		return false
	}
	d.open(&maxTable{header})
	return true
}

func (t *maxTable) line(d *document, l line) verdict {
	if len(l.msg) == 0 || l.msg[0] != '|' {
		return ended
	}
	cells := tableCells(string(l.msg))
	if isSeparator(cells) {
		return taken
	}
	if slices.Contains(cells, "TPUT per GPU") {
		return ended // the header of the next one
	}
	if len(cells) != len(t.header) {
		d.errorf(l.number, "InferenceMAX table: expected %d cells as in the header, found %d", len(t.header), len(cells))
		return taken
	}
	r := &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "inferencemax", Format: "md"}}
	for i, h := range t.header {
		if column, ok := maxColumns[h]; ok {
			if m, ok := d.metric(column.name, cells[i], l.number, h); ok {
				r.Add(scaled(m, column.factor))
			}
		} else if _, ok := maxSettings[h]; ok {
			if h == "Model" && !slices.Contains(t.header, "Served Model") {
				h = "model"
			}
			maxSet(r, h, cells[i], bench.FromLog)
		}
	}
	maxEmit(d, r)
	return taken
}

func (t *maxTable) close(d *document) { d.ctx.settle() }
