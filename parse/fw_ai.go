package parse

import (
	"bytes"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// fwAI reads the summary of fw-ai's load_test.py, in the log and as CSV. The
// locust tables above it are of the same run.
var fwAI = Format{
	Tool:    "fw-ai",
	Reads:   "summary block, summary CSV (--summary-file), METRIC rows of the locust tables",
	Since:   "2023-11",
	Example: "Time To First Token      : 57.354352397496925",
	Derives: "output_throughput, where the tokens were measured",
	Limits:  "percentiles are bucketed by locust: 1 ms below 100, 10 below 1000, 100 below 10000",
	Lines:   []Start{{Anywhere: "= Summary =", Read: startSummary}},
	Columns: []string{"Num Requests", "Qps", "Provider", "Total Latency"},
	Row:     summaryRow,
}

type summaryBlock struct {
	run *bench.Run
	gap int
}

func newSummary(line, end int, format string) *bench.Run {
	return &bench.Run{Source: bench.Source{Line: line, EndLine: end, Tool: "fw-ai", Format: format}}
}

func startSummary(d *document, l line) bool {
	d.open(&summaryBlock{run: newSummary(l.number, l.number, "text")})
	return true
}

func (s *summaryBlock) line(d *document, l line) verdict {
	if isRule(l.text, '=') {
		s.run.Source.EndLine = l.number
		return takenLast
	}
	i := bytes.Index(l.msg, []byte(": "))
	if i < 0 && bytes.HasSuffix(l.msg, []byte(":")) {
		i = len(l.msg) - 1
	}
	if i < 0 {
		if s.gap++; s.gap > 5 {
			return ended
		}
		return passed
	}
	s.gap = 0
	s.run.Source.EndLine = l.number
	summaryField(d, s.run, string(bytes.TrimSpace(l.msg[:i])), string(bytes.TrimSpace(l.msg[i+1:])), l.number)
	return taken
}

// summaryMetrics are the figures of a summary. A percentile is a P and a number
// in front of a key of the first two.
var summaryMetrics = map[string]string{
	"Time To First Token":       "mean_ttft_ms",
	"Total Latency":             "mean_e2el_ms",
	"Latency Per Token":         "mean_tpot_ms",
	"Overall Latency Per Token": "overall_latency_per_token_ms",
	"Prompt Tokens":             "mean_input_tokens",
	"Num Tokens":                "mean_output_tokens",
	"Completion Tokens":         "mean_output_tokens",
	"Cached Tokens":             "mean_cached_tokens",
	"Latency Per Embedding":     "latency_per_embedding_ms",
	"Num Requests":              "completed",
	"Qps":                       "request_throughput",
}

// summarySettings are its settings.
var summarySettings = map[string]string{
	"Provider": "provider", "Model": "model", "Stream": "stream", "Temperature": "temperature", "Logprobs": "logprobs", "Top K": "top_k",
	"Num Documents": "num_documents", "Tokens Per Document": "tokens_per_document",
}

func summaryField(d *document, r *bench.Run, key, value string, number int) {
	if name, ok := summarySettings[key]; ok {
		if !isNothing(value) {
			r.Config.Add(name, redact(name, value), bench.FromLog)
		}
		return
	}
	switch key {
	case "Concurrency":
		// Users of a closed loop, or the rate of an open one.
		if rest, ok := strings.CutPrefix(value, "QPS "); ok {
			rate, distribution, _ := strings.Cut(rest, " ")
			if plausible("request_rate", rate) {
				r.Config.Add("request_rate", tidyValue("request_rate", rate), bench.FromLog)
				r.Config.Add("distribution", redact("", distribution), bench.FromLog)
			}
		} else if plausible("concurrency", value) {
			r.Config.Add("concurrency", tidyValue("concurrency", value), bench.FromLog)
		}
		return
	case "Generation Tokens":
		// Until 2026 the length that was asked for; since then the mean that
		// was measured, which has a fraction.
		if allDigits(value) {
			r.Config.Add("output_len", value, bench.FromLog)
			return
		}
		if !plainNumber([]byte(value)) {
			r.Config.Add("output_len", redact("", value), bench.FromLog)
			return
		}
		key = "Num Tokens"
	}
	name, ok := summaryMetrics[key]
	if !ok {
		p, of, _ := strings.Cut(key, " ")
		if base := summaryMetrics[of]; strings.HasPrefix(base, "mean_") && (of == "Time To First Token" || of == "Total Latency") {
			name = strings.ToLower(p) + strings.TrimPrefix(base, "mean")
			_, _, ok = bench.SplitLatency(name)
		}
		if !ok {
			return
		}
	}
	m, ok := d.metric(name, value, number, key)
	if !ok {
		return
	}
	if m.Value == 0 && name != "completed" && name != "request_throughput" {
		zeroFinding(r, key) // what it prints for what it did not measure
		return
	}
	if strings.HasPrefix(key, "P") && isDigit(key[1]) {
		m.Decimals = 0 // of a bucket
	} else {
		m.Decimals = -1
	}
	r.Add(m)
}

// zeroFinding tells a zero that stands for nothing, all of them in one finding.
func zeroFinding(r *bench.Run, key string) {
	const code, why = "zero-means-missing", ": printed as 0.0, which stands for not measured"
	for i := range r.Findings {
		if f := &r.Findings[i]; f.Code == code {
			if slices.Contains(strings.Split(strings.TrimSuffix(f.Message, why), ", "), key) {
				return
			}
			f.Message = strings.Replace(f.Message, why, ", "+key+why, 1)
			return
		}
	}
	r.Findings = append(r.Findings, bench.Finding{Code: code, Severity: bench.Note, Message: key + why})
}

func (s *summaryBlock) close(d *document) {
	r := s.run
	if !r.Has("completed") || !r.Has("request_throughput") {
		return // a summary of something else
	}
	finishSummary(r)
	d.locust.into(r)
	d.emit(r)
}

// finishSummary derives the token throughput, which the tool does not print.
func finishSummary(r *bench.Run) {
	counts(r)
	qps, ok := r.Metric("request_throughput")
	tokens, ok2 := r.Metric("mean_output_tokens")
	if ok && ok2 {
		r.Add(bench.Metric{Name: "output_throughput", Value: qps.Value * tokens.Value, Decimals: -1, Derived: true})
	}
}

func summaryRow(d *document, t *csvTable, row csvRow) {
	r := newSummary(row.line, row.end, "csv")
	for i, key := range t.header {
		summaryField(d, r, key, strings.TrimSpace(row.cells[i]), row.line)
	}
	if len(r.Metrics) == 0 {
		return
	}
	finishSummary(r)
	d.emit(r)
}
