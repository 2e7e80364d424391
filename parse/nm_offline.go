package parse

import (
	"bytes"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// nmOffline reads benchmark_offline.py: a list between two rules.
var nmOffline = Format{
	Tool:     "nm-offline",
	Programs: []program{{name: "benchmark_offline.py"}},
	Reads:    "text",
	Since:    "2024",
	Example:  "* Generation Tok / Sec:         4198.43",
	Lines:    []Start{{Prefix: "Total Time:", Read: startOffline}},
}

var offlineLabels = map[string]string{
	"Total Time":            "duration",
	"Total Generations":     "completed",
	"Generations / Sec":     "request_throughput",
	"Generation Tok / Sec":  "output_throughput",
	"Prompt Tok / Sec":      "input_throughput",
	"Avg Generation Tokens": "mean_output_tokens",
	"Avg Prompt Tokens":     "mean_input_tokens",
}

type offlineBlock struct {
	run *bench.Run
	gap int
}

func startOffline(d *document, l line) bool {
	b := &offlineBlock{run: &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "nm-offline", Format: "text"}}}
	if b.line(d, l) != taken {
		return false
	}
	d.open(b)
	return true
}

func (b *offlineBlock) line(d *document, l line) verdict {
	if isRule(l.msg, '=') {
		b.run.Source.EndLine = l.number
		return takenLast
	}
	label, value, ok := strings.Cut(string(bytes.Trim(l.msg, "* ")), ":")
	name := offlineLabels[label]
	if !ok || name == "" {
		if b.gap++; b.gap > 5 {
			return ended
		}
		return passed
	}
	b.gap = 0
	b.run.Source.EndLine = l.number
	if m, ok := d.metric(name, strings.TrimSpace(value), l.number, label); ok {
		b.run.Add(m)
	}
	return taken
}

func (b *offlineBlock) close(d *document) {
	if !b.run.Has("output_throughput") && !b.run.Has("request_throughput") {
		return // `Total Time:` of something else
	}
	counts(b.run)
	d.emit(b.run)
}
