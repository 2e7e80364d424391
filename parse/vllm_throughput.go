package parse

import (
	"bytes"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// vllmThroughput reads benchmark_throughput.py and `vllm bench throughput`.
var vllmThroughput = Format{
	Tool:     "vllm-throughput",
	Programs: []program{{name: "benchmark_throughput.py"}},
	Reads:    "text, JSON (--output-json), rows of the performance suite (see vllm-serve)",
	Since:    "v0.1.0 (2023)",
	Example:  "Throughput: 8.10 requests/s, 3920.11 total tokens/s, 1876.55 output tokens/s",
	Limits:   "tokens per second without requests per second (2023-05) is not read",
	Lines:    []Start{{Prefix: "Throughput: ", Read: startThroughput}},
	Keys:     []string{"requests_per_second"},
	Object:   throughputObject,
}

// throughputBlock waits for the token counts that newer versions print behind
// the throughput.
type throughputBlock struct {
	run *bench.Run
}

func startThroughput(d *document, l line) bool {
	parts := strings.Split(string(l.msg[len("Throughput: "):]), ", ")
	r := &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "vllm-throughput", Format: "text"}}
	for i, p := range parts {
		value, unit, _ := strings.Cut(strings.Trim(p, " `*"), " ")
		name := map[string]string{
			"requests/s": "request_throughput", "tokens/s": "total_token_throughput", "total tokens/s": "total_token_throughput",
			"output tokens/s": "output_throughput",
		}[strings.TrimSpace(unit)]
		if name == "" || i == 0 && name != "request_throughput" {
			return false // a server log of 2023, or prose
		}
		if m, ok := d.metric(name, value, l.number, "Throughput"); ok {
			r.Add(m)
		}
	}
	if len(parts) < 2 || len(r.Metrics) == 0 {
		return false
	}
	d.open(&throughputBlock{r})
	return true
}

func (t *throughputBlock) line(d *document, l line) verdict {
	for label, name := range map[string]string{
		"Total num prompt tokens:": "total_input_tokens", "Total num output tokens:": "total_output_tokens",
	} {
		if hasPrefix(l.msg, label) {
			if m, ok := d.metric(name, string(bytes.TrimSpace(l.msg[len(label):])), l.number, label); ok {
				t.run.Add(m)
			}
			t.run.Source.EndLine = l.number
			return taken
		}
	}
	return ended
}

func (t *throughputBlock) close(d *document) {
	d.take(t.run)
	d.emit(t.run)
}

func throughputObject(d *document, o *object) bool {
	if o.get("elapsed_time") == nil {
		return false
	}
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "vllm-throughput", Format: "json"}}
	names := map[string]string{
		"elapsed_time": "duration", "requests_per_second": "request_throughput", "tokens_per_second": "total_token_throughput",
		"total_num_tokens": "total_tokens",
	}
	d.objectFields(r, o, names)
	d.emit(r)
	return true
}

// objectFields reads the members of a flat result: the named ones as metrics,
// the other scalars as settings.
func (d *document) objectFields(r *bench.Run, o *object, names map[string]string) {
	var args bench.Config
	for i := range o.members {
		m := &o.members[i]
		if name, ok := names[m.key]; ok {
			d.jsonMetric(r, m, name)
		} else if m.kind == jsonString || m.kind == jsonNumber || m.kind == jsonBool {
			args.Add(m.key, boolWord(string(m.text)), bench.FromJSON)
		}
	}
	r.Config.Merge(benchmarkArgs(args, bench.FromJSON))
}
