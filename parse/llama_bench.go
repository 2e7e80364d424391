package parse

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// llamaBench reads llama-bench in all its output formats. A row is a run. The
// table is printed after its preamble (devices) and before its build line.
var llamaBench = Format{
	Tool:     "llama-bench",
	Engine:   "llama.cpp",
	Programs: []program{{name: "llama-bench"}},
	Reads:    "Markdown, CSV, JSON, JSONL, SQL",
	Since:    "b1003 (2023)",
	Example:  "| llama 7B Q4_0 | 3.56 GiB | 6.74 B | ROCm | 99 | 1 | pp512 | 878.31 ± 4.11 |",
	Derives:  "samples in tok/s from samples_ns, quant, depth",
	Limits:   "a Markdown table does not say how many repetitions were made (n) unless the command above it does; rows without their header keep unknown columns as columnN",
	Lines: []Start{
		{Prefix: "| model", Read: startLlamaTable},
		{Prefix: "|model", Read: startLlamaTable},
		{Prefix: "build: ", Read: readBuild},
		{Prefix: "Build: ", Read: readBuild},
		{Prefix: "Device ", Read: readDevice},
		{Prefix: "ggml_", Read: readDevice},
		{Prefix: "Vulkan", Read: readDevice},
		{Prefix: "INSERT INTO ", Read: readInsert},
		{Anywhere: "iB | ", Read: readLoneRow},
		{Anywhere: " t/s |", Read: startLlamaTable}, // with columns of somebody's own in front
	},
	Keys:    []string{"avg_ts"},
	Object:  llamaObject,
	Columns: []string{"avg_ts", "n_prompt", "n_gen"},
	Row:     llamaRow,
}

// llamaState is what llama-bench says around its tables.
type llamaState struct {
	devices []string
	unbuilt []*bench.Run // rows that wait for their build line
}

// A llamaTable is a Markdown table while it is read.
type llamaTable struct {
	tool     string // llama-bench, or llama-benchy that writes alike
	header   []string
	test, ts int // columns
	device   string
	rows     int
	made     []*bench.Run
	line0    int
}

// onceOnly marks results of one process that was told to repeat nothing: all of
// them have a spread of 0, where repetitions would have left one somewhere.
func onceOnly(runs []*bench.Run) {
	for _, r := range runs {
		if m := &r.Metrics[0]; m.N != 0 || m.HasStd && m.Std != 0 {
			return
		}
	}
	for _, r := range runs {
		if r.Metrics[0].HasStd {
			r.Metrics[0].N = 1
		}
	}
}

func startLlamaTable(d *document, l line) bool {
	header := tableCells(string(l.msg))
	test, ts, model := slices.Index(header, "test"), slices.Index(header, "t/s"), slices.Index(header, "model")
	if test < 0 || ts < 0 || model < 0 || slices.ContainsFunc(header, func(h string) bool { return strings.HasPrefix(h, "ttfr") }) {
		return false
	}
	if model > 0 && (l.msg[0] != '|' || !slices.Contains(header, "params") || !slices.Contains(header, "backend")) {
		return false // a table of somebody's own
	}
	for i := range model {
		header[i] = strings.ReplaceAll(canonicalKey(header[i]), " ", "_")
	}
	d.open(&llamaTable{tool: "llama-bench", header: header, test: test, ts: ts, device: strings.Join(d.llama.devices, ", "), line0: l.number})
	d.llama.devices = nil
	return true
}

// readLoneRow reads a row whose header was not pasted with it. Its first four
// columns and its last two are always the same; ngl follows the backend of a
// GPU; what the others are cannot be told.
func readLoneRow(d *document, l line) bool {
	open := bytes.IndexByte(l.text, '|')
	if open < 0 || open > 8 {
		return false
	}
	cells := tableCells(string(l.text[open:]))
	n := len(cells)
	if t, ok := d.block.(*llamaTable); ok && n == len(t.header) {
		t.row(d, cells, l.number)
		return true
	}
	if n < 6 || !sized(cells[1], "MiB", "GiB") || !sized(cells[2], "M", "B") {
		return false
	}
	if _, spread, ok := meanAndSpread(cells[n-1]); !ok || spread == nil || !setTest(&bench.Run{}, cells[n-2]) {
		return false
	}
	header := []string{"model", "size", "params", "backend"}
	for i := 4; i < n-2; i++ {
		header = append(header, "column"+strconv.Itoa(i+1))
	}
	if n > 6 && !strings.Contains(cells[3], "CPU") && !strings.Contains(cells[3], "BLAS") {
		header[4] = "ngl"
	}
	t := &llamaTable{tool: "llama-bench", header: append(header, "test", "t/s"), test: n - 2, ts: n - 1, device: strings.Join(d.llama.devices, ", ")}
	t.row(d, cells, l.number)
	return true
}

// sized reports whether s is a number and one of the units.
func sized(s string, units ...string) bool {
	x, unit, _ := strings.Cut(s, " ")
	return slices.Contains(units, unit) && plainNumber([]byte(x))
}

// tableCells splits a row of a Markdown table. Backslash-escaped pipes stay.
func tableCells(s string) []string {
	s = strings.TrimSpace(s)
	s = strings.TrimPrefix(s, "|")
	if strings.HasSuffix(s, "|") && !strings.HasSuffix(s, `\|`) {
		s = s[:len(s)-1]
	}
	var cells []string
	for {
		i := strings.IndexByte(s, '|')
		for i > 0 && s[i-1] == '\\' {
			next := strings.IndexByte(s[i+1:], '|')
			if next < 0 {
				i = -1
				break
			}
			i += 1 + next
		}
		if i < 0 {
			return append(cells, strings.TrimSpace(s))
		}
		cells = append(cells, strings.TrimSpace(s[:i]))
		s = s[i+1:]
	}
}

func (t *llamaTable) line(d *document, l line) verdict {
	if len(l.text) == 0 {
		if t.rows > 0 {
			return ended
		}
		return passed
	}
	if len(l.msg) == 0 || l.msg[0] != '|' {
		// Progress and log lines stand between the rows; a heading ends them.
		if l.text[0] == '#' && t.rows > 0 {
			return ended
		}
		return passed
	}
	cells := tableCells(string(l.msg))
	if cells[0] == "model" || slices.Contains(cells, "t/s") {
		return ended // the next one
	}
	if isSeparator(cells) {
		return taken
	}
	// A tensor override may hold pipes, so count from both ends.
	extra := len(cells) - len(t.header)
	if extra > 0 {
		if ot := slices.Index(t.header, "ot"); ot >= 0 {
			joined := strings.Join(cells[ot:ot+extra+1], "|")
			cells = slices.Concat(cells[:ot], []string{joined}, cells[ot+extra+1:])
		}
	}
	if len(cells) != len(t.header) {
		d.errorf(l.number, "%s table: expected %d cells as in the header, found %d", t.tool, len(t.header), len(cells))
		return taken
	}
	t.row(d, cells, l.number)
	return taken
}

func isSeparator(cells []string) bool {
	for _, c := range cells {
		if strings.Trim(c, "-: ") != "" || c == "" {
			return false
		}
	}
	return true
}

// llamaColumns rename the headers of the table and the keys of the other forms.
var llamaColumns = map[string]string{
	"n_gpu_layers": "ngl", "n_threads": "threads", "n_batch": "batch", "n_ubatch": "ubatch", "flash_attn": "fa", "backends": "backend",
	"gpu_info": "device", "model_type": "model", "tensor_split": "ts", "split_mode": "sm", "tensor_buft_overrides": "ot",
	"no_kv_offload": "nkvo", "use_mmap": "mmap", "use_direct_io": "dio", "load_mode": "lm", "embeddings": "embd",
	"starting_depth": "depth", "no_op_offload": "nopo", "no_host": "noh", "devices": "dev", "mul_mat_q": "mmq", "fit_target": "fitt", "fit_min_ctx": "fitc",
}

func (t *llamaTable) row(d *document, cells []string, number int) {
	if t.tool == "llama-benchy" {
		t.benchyRow(d, cells, number)
		return
	}
	r := &bench.Run{Source: bench.Source{Line: number, EndLine: number, Tool: "llama-bench", Format: "md"}}
	avg, std, ok := meanAndSpread(cells[t.ts])
	if !ok {
		if cells[t.ts] != "" && !strings.Contains(cells[t.ts], "...") {
			d.errorf(number, "t/s: expected a number ± a number, found %q", printable(clip(cells[t.ts])))
		}
		return
	}
	m := bench.Metric{Name: "avg_ts", Value: avg.Value, Decimals: avg.Decimals}
	if std != nil {
		m.Std, m.HasStd = std.Value, true
	}
	if !setTest(r, cells[t.test]) {
		d.errorf(number, "test: expected a name like pp512 or tg128, found %q", printable(clip(cells[t.test])))
		return
	}
	for i, h := range t.header {
		if i != t.test && i != t.ts {
			addLlama(r, h, strings.Trim(cells[i], "*` "), bench.FromLog)
		}
	}
	r.Config.Add("device", redact("", t.device), bench.FromLog)
	r.Add(m)
	t.rows++
	t.made = append(t.made, r)
	d.emit(r)
	repetitions(r)
	d.llama.unbuilt = append(d.llama.unbuilt, r)
}

// repetitions takes the number of repetitions from the command above, the only
// place that tells it for a Markdown table.
func repetitions(r *bench.Run) {
	if n, err := strconv.Atoi(r.Config.Get("repetitions")); err == nil && n > 0 {
		r.Metrics[0].N = n
	}
}

func (t *llamaTable) close(d *document) {
	d.ctx.settle()
	onceOnly(t.made)
	notOneFile(t.made)
	if t.rows == 0 && d.guess == "" {
		d.guess = "has a " + t.tool + " table without rows"
	}
}

// notOneFile takes back the file that the command above a table names, where its
// rows are of several models: the command was that of one of them, or an example.
func notOneFile(runs []*bench.Run) {
	several := slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Config.Get("model") != runs[0].Config.Get("model") })
	bits := func(quant string) string { // a dynamic Q4_K_XL is a Q4_K_M to llama-bench
		family, _, _ := strings.Cut(quant, "_")
		return family
	}
	for _, r := range runs {
		if r.Config.From("model_filename") != bench.FromCommand {
			continue
		}
		file, row := bits(quantIn(fileOf(r.Config.Get("model_filename")))), bits(r.Config.Get("quant"))
		if several || file != "" && row != "" && file != row {
			r.Config = slices.DeleteFunc(r.Config, func(s bench.Setting) bool { return s.Key == "model_filename" })
		}
	}
}

// addLlama adds a setting of llama-bench under its name.
func addLlama(r *bench.Run, key, value string, from bench.From) {
	if k, ok := llamaColumns[key]; ok {
		key = k
	}
	switch value {
	case "", "none":
		return
	case "true":
		value = "1"
	case "false":
		value = "0"
	}
	if key == "depth" && value == "0" {
		return
	}
	if key == "model" {
		value = strings.Replace(value, " mostly ", " ", 1)
		r.Config.Add("quant", quantIn(value), bench.FromDerived)
	}
	r.Config.Add(key, redact(key, value), from)
}

// setTest reads a test name in any of its spellings: pp512, pp 512, pp512+tg128,
// tg128 @ d4096, pp512@d4096.
func setTest(r *bench.Run, s string) bool {
	s = strings.ReplaceAll(strings.Trim(s, "*` "), " ", "")
	name, depth, deep := strings.Cut(s, "@d")
	if deep && !allDigits(depth) {
		return false
	}
	for part := range strings.SplitSeq(name, "+") {
		if len(part) < 3 || part[:2] != "pp" && part[:2] != "tg" || !allDigits(part[2:]) {
			return false
		}
	}
	r.Config.Add("test", name, bench.FromLog)
	if depth != "" && depth != "0" {
		r.Config.Add("depth", depth, bench.FromLog)
	}
	return true
}

func allDigits(s string) bool {
	for i := range len(s) {
		if !isDigit(s[i]) {
			return false
		}
	}
	return s != "" && len(s) < 12
}

// meanAndSpread reads `878.31 ± 4.11`, whatever became of the sign on its way:
// the first number is the mean, the last one the spread. A number alone has no
// spread.
func meanAndSpread(s string) (mean bench.Metric, spread *bench.Metric, ok bool) {
	fields := strings.Fields(strings.Trim(s, "*` "))
	if len(fields) == 0 || len(fields) > 3 {
		return mean, nil, false
	}
	read := func(f string) (bench.Metric, bool) {
		x, decimals, ok := readNumber(strings.Trim(f, "*`"))
		return bench.Metric{Value: x, Decimals: decimals}, ok
	}
	if len(fields) == 1 { // 878.31±4.11
		if i := strings.Index(fields[0], "±"); i > 0 {
			fields = []string{fields[0][:i], "±", fields[0][i+len("±"):]}
		}
	}
	if mean, ok = read(fields[0]); !ok || len(fields) == 2 {
		return mean, nil, false
	}
	if len(fields) == 3 {
		s, ok := read(fields[2])
		if !ok || isDigit(fields[1][0]) {
			return mean, nil, false
		}
		return mean, &s, true
	}
	return mean, nil, true
}

// readBuild reads the line behind a table: `build: 4d74393bc (6327)`. It counts
// for the rows above it that have none.
func readBuild(d *document, l line) bool {
	if len(d.llama.unbuilt) == 0 {
		return false
	}
	hash, rest, _ := strings.Cut(strings.ReplaceAll(string(l.msg[len("build: "):]), "`", ""), " ")
	number := strings.Trim(rest, " ()")
	if len(hash) < 5 || len(hash) > 40 || number != "" && !allDigits(number) {
		return false
	}
	build := hash
	if number != "" {
		build += " (" + number + ")"
	}
	for _, r := range d.llama.unbuilt {
		r.Config.Set("build", redact("", build), bench.FromLog)
	}
	d.llama.unbuilt = nil
	d.closeBlock()
	return true
}

// readDevice reads the preamble that names the devices.
func readDevice(d *document, l line) bool {
	s := string(l.msg)
	switch {
	case strings.Contains(s, "found ") && strings.Contains(s, " devices"), strings.Contains(s, "Found ") && strings.Contains(s, " devices"):
		d.llama.devices = nil
		d.llama.unbuilt = nil // a new process: rows above were never built
	case strings.HasPrefix(s, "Device "):
		_, name, ok := strings.Cut(s, ": ")
		if !ok {
			return false
		}
		d.device(cutAny(name, ", compute capability", ", VMM", ", Wave Size", ", VRAM"))
	case strings.HasPrefix(s, "ggml_vulkan: "), strings.HasPrefix(s, "Vulkan"):
		_, name, ok := strings.Cut(s, " = ")
		if !ok {
			if _, name, ok = strings.Cut(s, ": "); !ok || !strings.Contains(name, " | uma") {
				return false
			}
		}
		d.device(cutAny(name, " | "))
	case strings.Contains(s, "GPU name:"):
		_, name, _ := strings.Cut(s, "GPU name:")
		d.device(name)
	default:
		return strings.HasPrefix(s, "ggml_")
	}
	return true
}

func (d *document) device(name string) {
	if name = strings.TrimSpace(name); name != "" && len(d.llama.devices) < 64 {
		d.llama.devices = append(d.llama.devices, name)
	}
}

// cutAny cuts a text at the first of several marks.
func cutAny(s string, marks ...string) string {
	for _, m := range marks {
		s, _, _ = strings.Cut(s, m)
	}
	return s
}

// llamaObject reads one test of the JSON and JSONL output.
func llamaObject(d *document, o *object) bool {
	if o.get("n_prompt") == nil || o.get("n_gen") == nil {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "llama-bench", Format: "json"}}
	// It is built over the settings of the test before. As long as its keys are
	// theirs, none of them is there twice.
	before := d.room.scratch
	r.Config = before[:0]
	d.llamaFields(r, o.scalar, func(add func(key, value string)) {
		same := r.Config.SameKeys(d.room.leading)
		d.room.leading = append(d.room.leading[:0], r.Config...)
		for i := range o.members {
			m := &o.members[i]
			if m.kind != jsonString && m.kind != jsonNumber && m.kind != jsonBool {
				continue
			}
			known := m.met.remembered(m.text)
			if known == nil {
				if isLlamaFigure(m.key) {
					continue // another one each time
				}
				config := r.Config
				r.Config = nil
				text := d.intern(m.text)
				add(m.key, text)
				known = &remembered{text, r.Config}
				r.Config = config
				m.met.remember(known)
			}
			for _, s := range known.settings {
				if n := len(r.Config); same && n < len(before) && before[n].Key == s.Key {
					r.Config = append(r.Config, s)
				} else {
					same = false
					r.Config.Add(s.Key, s.Value, s.From)
				}
			}
		}
	}, o.line)
	if len(r.Metrics) == 0 {
		return true
	}
	// Built where the one before was; kept with room for what the context adds.
	d.room.scratch = r.Config
	r.Config = append(make(bench.Config, 0, len(d.room.scratch)+2), d.room.scratch...)
	m := &r.Metrics[0]
	if ns := o.numbers("samples_ns"); len(ns) > 0 {
		// samples_ts has six digits; the times are exact.
		tokens := number64(o.scalar("n_prompt")) + number64(o.scalar("n_gen"))
		m.N, m.Samples = len(ns), make([]float64, 0, len(ns))
		for _, x := range ns {
			if ts := 1e9 * tokens / x; finite(ts) && ts > 0 {
				m.Samples = append(m.Samples, ts)
			}
		}
	} else if ts := o.numbers("samples_ts"); len(ts) > 0 {
		m.N, m.Samples = len(ts), ts
	}
	d.emit(r)
	return true
}

func number64(s string) float64 {
	x, _, ok := readNumber(s)
	if !ok {
		return math.NaN()
	}
	return x
}

// isLlamaFigure reports whether a key is read by itself and no setting.
func isLlamaFigure(key string) bool {
	switch key {
	case "avg_ts", "stddev_ts", "avg_ns", "stddev_ns", "n_prompt", "n_gen", "n_depth", "build_commit", "build_number", "test_time",
		"samples_ts", "samples_ns":
		return true
	}
	return false
}

// llamaFields reads the fields that CSV, JSON and SQL share.
func (d *document) llamaFields(r *bench.Run, get func(string) string, all func(func(key, value string)), number int) {
	m, ok := d.metric("avg_ts", get("avg_ts"), number, "avg_ts")
	if !ok {
		if isNothing(get("avg_ts")) {
			d.errorf(number, "avg_ts: expected a number, found %q", clip(get("avg_ts")))
		}
		return
	}
	if std, ok := d.metric("std", get("stddev_ts"), number, "stddev_ts"); ok {
		m.Std, m.HasStd = std.Value, true
	}
	m.Decimals = -1
	r.Add(m)
	test := ""
	for _, part := range [...]struct{ prefix, key string }{{"pp", "n_prompt"}, {"tg", "n_gen"}} {
		if n := get(part.key); allDigits(n) && n != "0" {
			if test != "" {
				test += "+"
			}
			test += part.prefix + n
		}
	}
	r.Config.Add("test", test, bench.FromJSON)
	if depth := get("n_depth"); allDigits(depth) && depth != "0" {
		r.Config.Add("depth", depth, bench.FromJSON)
	}
	if hash := get("build_commit"); hash != "" {
		if n := get("build_number"); n != "" {
			hash += " (" + n + ")"
		}
		r.Config.Add("build", d.clean(hash), bench.FromJSON)
	}
	all(func(key, value string) {
		if !isLlamaFigure(key) {
			addLlama(r, key, value, bench.FromJSON)
		}
	})
	if !r.Config.Has("device") {
		r.Config.Add("device", d.clean(get("cpu_info")), bench.FromJSON)
	}
}

// llamaRow reads a row of the CSV output, or of a table derived from it.
func llamaRow(d *document, t *csvTable, row csvRow) {
	r := &bench.Run{Source: bench.Source{Line: row.line, EndLine: row.end, Tool: "llama-bench", Format: "csv"}}
	d.llamaFields(r, func(key string) string { return t.get(row, key) }, func(yield func(key, value string)) {
		for i, key := range t.header {
			yield(key, row.cells[i])
		}
	}, row.line)
	if len(r.Metrics) == 0 {
		return
	}
	// Tables that people derive from the JSON keep its samples in a cell.
	if cell := t.get(row, "samples_ts"); strings.HasPrefix(cell, "[") {
		for part := range strings.SplitSeq(strings.Trim(cell, "[]"), ",") {
			if x, _, ok := readNumber(strings.TrimSpace(part)); ok {
				r.Metrics[0].Samples = append(r.Metrics[0].Samples, x)
			}
		}
		r.Metrics[0].N = len(r.Metrics[0].Samples)
	}
	d.emit(r)
}

// readInsert reads a row of the SQL output. Quotes inside values are not
// escaped by the tool, so values are told apart by the quotes between them.
func readInsert(d *document, l line) bool {
	columns, values, ok := strings.Cut(string(l.msg), ") VALUES (")
	_, columns, ok2 := strings.Cut(columns, "(")
	if !ok || !ok2 || !bytes.Contains(l.msg, []byte("avg_ts")) {
		return false
	}
	keys := strings.Split(columns, ", ")
	values = strings.TrimRight(values, ");\r\n ")
	cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(values, "'"), "'"), "', '")
	if len(cells) != len(keys) {
		d.errorf(l.number, "SQL: expected %d values, found %d", len(keys), len(cells))
		return true
	}
	r := &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "llama-bench", Format: "sql"}}
	t := &csvTable{header: keys}
	row := csvRow{cells, l.number, l.number}
	d.llamaFields(r, func(key string) string { return t.get(row, key) }, func(yield func(key, value string)) {
		for i, key := range keys {
			yield(key, cells[i])
		}
	}, l.number)
	if len(r.Metrics) > 0 {
		d.emit(r)
	}
	return true
}

// tableRow gives the cells of a row of a Markdown table with so many columns.
// Where the line is none, it tells what becomes of the table.
func (d *document) tableRow(l line, columns int) ([]string, verdict) {
	if len(l.msg) == 0 || l.msg[0] != '|' {
		return nil, ended
	}
	cells := tableCells(string(l.msg))
	if isSeparator(cells) {
		return nil, taken
	}
	if len(cells) != columns {
		d.errorf(l.number, "expected %d columns as in the header, found %d", columns, len(cells))
		return nil, taken
	}
	return cells, taken
}
