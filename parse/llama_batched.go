package parse

import (
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// llamaBatched reads llama-batched-bench. A row is a run: one measurement, no
// repetitions. Its speeds are over one phase and over all sequences, which is
// neither what a serving benchmark nor what llama-bench calls throughput, so
// they keep the names of its JSONL.
var llamaBatched = Format{
	Tool:     "llama-batched-bench",
	Engine:   "llama.cpp",
	Programs: []program{{name: "llama-batched-bench", engine: "llama.cpp"}},
	Reads:    "Markdown, JSONL",
	Since:    "2023-10; JSONL 2024-09",
	Example:  "|   512 |    128 |    4 |   2560 |    0.250 |  8192.00 |    2.000 |   256.00 |    2.250 |  1137.78 |",
	Derives:  "is_pp_shared from N_KV where the settings above the table are missing",
	Limits: "PP, TG and B are input_len, output_len and concurrency; speed_pp counts a shared prompt once; speed_tg is that of all sequences together; " +
		"the model is told by the command alone; the timing lines behind the table say the same again and are not read",
	Lines: []Start{
		{Prefix: "main: n_kv_max = ", Read: readBatchedSettings},
		{Prefix: "llama_batched_bench: n_kv_max = ", Read: readBatchedSettings},
		{Prefix: "|    PP |", Read: startBatchedTable},
		{Prefix: "| PP |", Read: startBatchedTable},
		{Prefix: "|PP|", Read: startBatchedTable},
	},
	Keys:   []string{"speed_pp"},
	Object: batchedObject,
}

// batchedColumns are the keys of the columns, in the words of the JSONL.
var batchedColumns = map[string]string{
	"PP": "pp", "TG": "tg", "B": "pl", "N_KV": "n_kv", "T_PP s": "t_pp", "S_PP t/s": "speed_pp", "T_TG s": "t_tg", "S_TG t/s": "speed_tg",
	"T s": "t", "S t/s": "speed",
}

var batchedMetrics = []string{"speed_pp", "speed_tg", "speed", "t_pp", "t_tg", "t"}

// maxBatchedSettings is more than the tool has.
const maxBatchedSettings = 64

// A batchedTable is a Markdown table while it is read.
type batchedTable struct {
	header   []string
	settings bench.Config // from the line above it
	rows     int
}

// readBatchedSettings reads the line above the table: `main: n_kv_max = 4096,
// n_batch = 2048, flash_attn = 1, …`.
func readBatchedSettings(d *document, l line) bool {
	d.startProcess()
	_, list, _ := strings.Cut(string(l.msg), ": ")
	t := &batchedTable{}
	var r bench.Run
	for part := range strings.SplitSeq(list, ", ") {
		if key, value, ok := strings.Cut(part, " = "); ok && len(key) < 40 && len(value) < 40 {
			addLlama(&r, key, value, bench.FromLog)
		}
		if len(r.Config) == maxBatchedSettings {
			break
		}
	}
	t.settings = r.Config
	d.open(t)
	return true
}

func startBatchedTable(d *document, l line) bool {
	var header []string
	for _, cell := range tableCells(string(l.msg)) {
		header = append(header, batchedColumns[cell])
	}
	t := &batchedTable{header: header}
	for _, key := range [...]string{"pp", "tg", "pl", "speed_pp"} {
		if t.cell(header, key) == "" {
			return false
		}
	}
	if above, ok := d.block.(*batchedTable); ok && above.header == nil {
		t.settings = above.settings
	}
	d.open(t)
	return true
}

// cell is the cell of a row under a column, "" if there is none.
func (t *batchedTable) cell(cells []string, key string) string {
	for i, h := range t.header {
		if h == key && i < len(cells) {
			return cells[i]
		}
	}
	return ""
}

func (t *batchedTable) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		if t.rows > 0 {
			return ended
		}
		return passed
	}
	if t.header == nil || len(l.msg) == 0 || l.msg[0] != '|' {
		if l.text[0] == '#' {
			return ended
		}
		return passed // lines of the log stand between the rows
	}
	cells := tableCells(string(l.msg))
	if isSeparator(cells) {
		return taken
	}
	if len(cells) > 0 && cells[0] == "PP" {
		return ended
	}
	if len(cells) != len(t.header) {
		d.errorf(l.number, "llama-batched-bench table: expected %d cells as in the header, found %d", len(t.header), len(cells))
		return taken
	}
	r := &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "llama-batched-bench", Format: "md"}}
	for _, name := range batchedMetrics {
		if m, ok := d.metric(name, t.cell(cells, name), l.number, name); ok {
			r.Add(m)
		}
	}
	get := func(key string) string { return t.cell(cells, key) }
	r.Config = append(r.Config, t.settings...)
	if d.batchedRow(r, get, bench.FromLog) {
		t.rows++
	}
	return taken
}

func (t *batchedTable) close(d *document) {
	if t.rows > 0 {
		d.ctx.settle()
	} else if d.guess == "" {
		d.guess = "has a llama-batched-bench table without rows"
	}
}

// batchedRow adds the load of a row and emits it.
func (d *document) batchedRow(r *bench.Run, get func(key string) string, from bench.From) bool {
	number := r.Source.Line
	for _, s := range [...]struct{ key, name string }{{"pp", "input_len"}, {"tg", "output_len"}, {"pl", "concurrency"}} {
		value := get(s.key)
		if !allDigits(value) {
			d.errorf(number, "%s: expected a whole number, found %q", s.key, printable(clip(value)))
			return false
		}
		r.Config.Add(s.name, value, from)
	}
	if len(r.Metrics) == 0 {
		return false // told by then
	}
	// With a shared prompt its cells are counted once.
	pp, tg, b, cells := number64(get("pp")), number64(get("tg")), number64(get("pl")), number64(get("n_kv"))
	if b > 1 && pp > 0 && cells == pp+b*tg {
		r.Config.Add("is_pp_shared", "1", bench.FromDerived)
	}
	r.Config.Add("n_kv", get("n_kv"), from)
	d.ofProcess(r)
	d.emit(r)
	d.resulted(number)
	return true
}

func batchedObject(d *document, o *object) bool {
	if o.get("pp") == nil || o.get("tg") == nil || o.get("pl") == nil {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "llama-batched-bench", Format: "json"}}
	for _, name := range batchedMetrics {
		if m := o.get(name); m != nil {
			d.jsonMetric(r, m, name)
		} else {
			d.errorf(o.line, "%s: expected a number, found no such key", name)
		}
	}
	for i := range o.members {
		switch m := &o.members[i]; {
		case len(r.Config) == maxBatchedSettings:
		case m.kind != jsonString && m.kind != jsonNumber && m.kind != jsonBool:
		case m.key == "pp" || m.key == "tg" || m.key == "pl" || m.key == "n_kv" || r.Has(m.key):
		default:
			addLlama(r, m.key, d.intern(m.text), bench.FromJSON)
		}
	}
	d.batchedRow(r, o.scalar, bench.FromJSON)
	return true
}
