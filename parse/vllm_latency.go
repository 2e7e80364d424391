package parse

import (
	"bytes"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// vllmLatency reads benchmark_latency.py and `vllm bench latency`. Its times
// are those of a whole batch, in seconds.
var vllmLatency = Format{
	Tool:     "vllm-latency",
	Engine:   "vllm",
	Programs: []program{{name: "benchmark_latency.py"}},
	Reads:    "text, JSON (--output-json), rows of the performance suite (see vllm-serve)",
	Since:    "v0.1.0 (2023)",
	Example:  "Avg latency: 1.2345678901234 seconds",
	Limits:   "the times are those of a whole batch",
	Lines:    []Start{{Prefix: "Avg latency: ", Read: startLatency}},
	Keys:     []string{"avg_latency"},
	Object:   latencyObject,
}

type latencyBlock struct{ run *bench.Run }

func startLatency(d *document, l line) bool {
	value, ok := bytes.CutSuffix(l.msg[len("Avg latency: "):], []byte(" seconds"))
	if !ok {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "vllm-latency", Format: "text"}}
	m, ok := d.metric("avg_latency", string(value), l.number, "Avg latency")
	if !ok {
		return true
	}
	r.Add(m)
	d.open(&latencyBlock{r})
	return true
}

func (t *latencyBlock) line(d *document, l line) verdict {
	p, rest, ok := strings.Cut(string(l.msg), "% percentile latency: ")
	value, ok2 := strings.CutSuffix(rest, " seconds")
	if !ok || !ok2 || !plainNumber([]byte(p)) {
		return ended
	}
	if m, ok := d.metric("p"+p+"_latency", value, l.number, p+"% percentile latency"); ok {
		t.run.Add(m)
	}
	t.run.Source.EndLine = l.number
	return taken
}

func (t *latencyBlock) close(d *document) {
	d.take(t.run)
	d.emit(t.run)
}

func latencyObject(d *document, o *object) bool {
	if o.get("latencies") == nil && o.get("percentiles") == nil {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "vllm-latency", Format: "json"}}
	d.objectFields(r, o, map[string]string{"avg_latency": "avg_latency"})
	if len(r.Metrics) == 1 {
		r.Metrics[0].Samples = o.numbers("latencies")
		r.Metrics[0].N = len(r.Metrics[0].Samples)
	}
	if p := o.get("percentiles"); p != nil && p.object != nil {
		for i := range p.object.members {
			if m := &p.object.members[i]; plainNumber([]byte(m.key)) {
				d.jsonMetric(r, m, "p"+m.key+"_latency")
			}
		}
	}
	if len(r.Metrics) == 0 {
		return true // told by then
	}
	d.emit(r)
	return true
}
