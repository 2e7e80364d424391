package parse

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// llamaPerplexity reads llama-perplexity: how well a model, or a quantization of
// it, predicts a text. The figure is the same for any speed, so it is no tool of
// the timing lines that stand behind it.
var llamaPerplexity = Format{
	Tool:     "llama-perplexity",
	Engine:   "llama.cpp",
	Programs: []program{{name: "llama-perplexity", engine: "llama.cpp"}},
	Reads:    "text: the final estimate, the running one of an interrupted run, KL divergence, Winogrande, multiple choice",
	Since:    "2023-03; final line b1068 (2023-08), KL divergence b2775 (2024-04)",
	Example:  "Final estimate: PPL = 6.1208 +/- 0.03412",
	Derives:  "a run without its final line has the last running estimate, and is partial where chunks are missing",
	Limits:   "the standard error is std; two models on one text share most of it, so it says little about their difference; HellaSwag and the KL output before b2775 are not read",
	Lines: []Start{
		{Prefix: "perplexity: calculating perplexity over ", Read: readPerplexityStart},
		{Prefix: "perplexity_v2: calculating perplexity over ", Read: readPerplexityStart},
		{Prefix: "kl_divergence: computing over ", Read: readPerplexityStart},
		{Prefix: "[1]", Read: readRunning},
		{Prefix: "Final estimate: PPL", Read: readFinalPerplexity},
		{Prefix: "Final Winogrande score(", Read: readFinalScore},
		{Prefix: "Final result: ", Read: readFinalScore},
		{Prefix: "====== Perplexity statistics ======", Read: startDivergence},
	},
}

// perplexityState is what was said before the final line.
type perplexityState struct {
	config  bench.Config
	chunks  int // to be done
	done    int // of the running estimate
	running bench.Metric
	line    int
}

// readPerplexityStart reads `perplexity: calculating perplexity over 14 chunks,
// n_ctx=256, batch_size=512, n_seq=2`.
func readPerplexityStart(d *document, l line) bool {
	d.flushPerplexity()
	d.startProcess()
	_, rest, _ := strings.Cut(string(l.msg), " over ")
	n, rest, _ := strings.Cut(rest, " chunks")
	if !allDigits(n) {
		return false
	}
	p := perplexityState{}
	p.chunks, _ = strconv.Atoi(n)
	p.config.Add("chunks", n, bench.FromLog)
	for part := range strings.SplitSeq(strings.Trim(rest, ", "), ", ") {
		if key, value, ok := strings.Cut(part, "="); ok && allDigits(value) && len(key) < 40 {
			p.config.Add(canonicalKey(key), value, bench.FromLog)
		}
	}
	d.ppl = p
	return true
}

// readRunning reads `[1]4.2301,[2]4.7190,…`: all estimates stand on one line.
func readRunning(d *document, l line) bool {
	b := bytes.TrimRight(l.msg, ", ")
	if len(b) < 4 || !isDigit(b[3]) || len(l.msg) >= maxLine || bytes.IndexByte(l.msg, ',') < 0 {
		return false
	}
	b = b[bytes.LastIndexByte(b, '[')+1:]
	chunk, value, ok := bytes.Cut(b, []byte("]"))
	x, decimals, ok2 := readNumber(string(value))
	if !ok || !ok2 || !allDigits(string(chunk)) {
		return false
	}
	p := &d.ppl
	p.done, _ = strconv.Atoi(string(chunk))
	p.running = bench.Metric{Name: "perplexity", Value: x, Decimals: decimals}
	p.line = l.number
	return true
}

// flushPerplexity makes a run of a running estimate that has no final line:
// those before August 2023, and those that were interrupted.
func (d *document) flushPerplexity() {
	p := d.ppl
	d.ppl = perplexityState{}
	if p.running.Name == "" {
		return
	}
	r := perplexityRun(p.line, p.config)
	r.Add(p.running)
	if p.done < p.chunks {
		r.Findings = append(r.Findings, bench.Finding{Code: "partial", Severity: bench.Warning,
			Message: strconv.Itoa(p.done) + " of " + strconv.Itoa(p.chunks) + " chunks: the last running estimate"})
	}
	d.emitPerplexity(r)
}

func perplexityRun(number int, config bench.Config) *bench.Run {
	return &bench.Run{Source: bench.Source{Line: number, EndLine: number, Tool: "llama-perplexity", Format: "text"}, Config: config}
}

func (d *document) emitPerplexity(r *bench.Run) {
	d.ofProcess(r)
	d.emit(r)
	d.resulted(r.Source.EndLine)
}

// readFinalPerplexity reads `Final estimate: PPL = 6.1208 +/- 0.03412`.
func readFinalPerplexity(d *document, l line) bool {
	_, value, ok := strings.Cut(string(l.msg), "= ")
	if !ok {
		return false
	}
	d.final("perplexity", value, "Final estimate", "", l.number)
	return true
}

// readFinalScore reads the results of the tasks, in percent.
func readFinalScore(d *document, l line) bool {
	label, value, ok := strings.Cut(string(l.msg), ": ")
	task := "multiple-choice"
	if strings.Contains(label, "Winogrande") {
		task = "winogrande"
	}
	if _, spread, read := meanAndSpread(value); !ok || !read || spread == nil {
		return false
	}
	d.final("accuracy", value, label, task, l.number)
	return true
}

func (d *document) final(name, value, what, task string, number int) {
	config := d.ppl.config
	d.ppl = perplexityState{}
	mean, spread, ok := meanAndSpread(value)
	if !ok {
		if !isNothing(strings.Fields(value + " -")[0]) {
			d.errorf(number, "%s: expected a number +/- a number, found %q", what, printable(clip(value)))
		}
		return
	}
	m := bench.Metric{Name: name, Value: mean.Value, Decimals: mean.Decimals}
	if spread != nil {
		m.Std, m.HasStd = spread.Value, true
	}
	if task != "" {
		m = m.Percent()
		config.Add("task", task, bench.FromLog)
	}
	r := perplexityRun(number, config)
	r.Add(m)
	d.emitPerplexity(r)
}

// A divergence is the block of a run against the logits of a base model.
type divergence struct {
	run *bench.Run
	gap int
}

// divergenceLabels are its labels, with the blanks of their columns removed.
var divergenceLabels = map[string]string{
	"Mean PPL(Q)": "perplexity", "Mean PPL(base)": "base_perplexity", "Mean PPL(Q)/PPL(base)": "perplexity_ratio",
	"Mean KLD": "mean_kld", "Maximum KLD": "max_kld", "99.9% KLD": "p99.9_kld", "99.0% KLD": "p99_kld", "Median KLD": "median_kld",
	"Mean Δp": "mean_delta_p", "RMS Δp": "rms_delta_p", "Same top p": "same_top_p",
}

func startDivergence(d *document, l line) bool {
	d.ppl.running = bench.Metric{}
	d.open(&divergence{run: perplexityRun(l.number, d.ppl.config)})
	d.ppl = perplexityState{}
	return true
}

func (b *divergence) line(d *document, l line) verdict {
	text := string(l.msg)
	label, value, ok := strings.Cut(text, ":")
	name := divergenceLabels[strings.Join(strings.Fields(label), " ")]
	if strings.HasPrefix(text, "====== Perplexity statistics") {
		return ended
	}
	if !ok || name == "" {
		if b.gap++; b.gap > 20 { // the percentiles that are not read
			return ended
		}
		return passed
	}
	b.gap = 0
	b.run.Source.EndLine = l.number
	value = strings.TrimSpace(value)
	bare, percent := strings.CutSuffix(value, "%")
	mean, spread, ok := meanAndSpread(bare)
	if !ok {
		if !isNothing(strings.Fields(value + " -")[0]) {
			d.errorf(l.number, "%s: expected a number ± a number, found %q", strings.TrimSpace(label), printable(clip(value)))
		}
		return taken
	}
	m := bench.Metric{Name: name, Value: mean.Value, Decimals: mean.Decimals}
	if spread != nil {
		m.Std, m.HasStd = spread.Value, true
	}
	if percent {
		m = m.Percent()
	}
	b.run.Add(m)
	if name == "same_top_p" {
		return takenLast // the last line
	}
	return taken
}

func (b *divergence) close(d *document) {
	if len(b.run.Metrics) > 0 {
		d.emitPerplexity(b.run)
	}
}
