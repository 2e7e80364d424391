package analyze

import (
	"slices"

	"github.com/benchreport/benchreport/bench"
)

// kindOfTool tells which tools measure the same kind of thing: their runs may
// stand in one table, as far as they have the same figures.
var kindOfTool = map[string]string{
	"vllm-serve": serves, "sglang-serve": serves, "guidellm": serves, "aiperf": serves, "genai-perf": serves, "trtllm-bench": serves,
	"inference-perf": serves, "llmperf": serves, "inferencemax": serves, "llama-server": serves, "fw-ai": serves, "locust": serves, "table": serves,
	"vllm-throughput": offline, "sglang-offline": offline, "nm-offline": offline,
	"llama-bench": speeds,
}

const (
	serves  = "serving"
	offline = "offline"
	speeds  = "speed"
)

func kindOf(r *bench.Run) string {
	if r.Source.Tool == "table" && r.Has("avg_ts") {
		return speeds
	}
	return kindOfTool[r.Source.Tool]
}

// kinds tells the table in which a run stands. That is the table of its tool.
// Tools of one kind share a table where each input is of one of them, and where
// they have figures in common: somebody compares engines. A note that holds the
// results of several tools keeps them apart.
func kinds(runs []*bench.Run) func(r *bench.Run) string {
	toolOf := map[[2]string]string{} // by kind and input
	apart := map[string]bool{}
	for _, r := range runs {
		k := kindOf(r)
		id := [2]string{k, r.Input}
		if tool, ok := toolOf[id]; ok && tool != definitionsOf(r) {
			apart[k] = true
		}
		toolOf[id] = definitionsOf(r)
	}
	byKind := map[string][]*bench.Run{}
	for _, r := range runs {
		byKind[kindOf(r)] = append(byKind[kindOf(r)], r)
	}
	for k, of := range byKind {
		if k == "" || len(sharedColumns(of)) == 0 {
			apart[k] = true
		}
	}
	// A tool without any figure of the others stays apart.
	joins := map[string]bool{}
	for _, of := range byKind {
		for _, m := range sharedColumns(of) {
			for _, r := range of {
				joins[r.Source.Tool] = joins[r.Source.Tool] || r.Has(m)
			}
		}
	}
	return func(r *bench.Run) string {
		if k := kindOf(r); !apart[k] && joins[r.Source.Tool] {
			return k
		}
		return definitionsOf(r)
	}
}

// definitionsOf names the tool by whose definitions a run was measured: the
// client of SGLang began as that of vLLM.
func definitionsOf(r *bench.Run) string {
	if serving(r) {
		return "vllm-serve"
	}
	return r.Source.Tool
}

// serverBesideClient reports whether the log of a llama-server is compared with
// what clients measured.
func serverBesideClient(runs []*bench.Run) bool {
	server := slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Source.Tool == "llama-server" })
	return server && slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Source.Tool != "llama-server" && kindOf(r) == serves })
}

// sharedMetrics are the figures that people compare engines by.
var sharedMetrics = []string{
	"duration", "request_throughput", "output_throughput", "total_token_throughput", "input_throughput", "avg_ts",
	"tok_s_per_user", "mean_ttft_ms", "median_ttft_ms", "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "p99_tpot_ms", "mean_itl_ms", "median_itl_ms", "mean_e2el_ms", "median_e2el_ms", "p99_e2el_ms",
}

// sharedColumns are the metrics that runs of at least two tools have: only those
// can be compared between them.
func sharedColumns(runs []*bench.Run) []string {
	const most = 8
	tool := func(r *bench.Run) string { return r.Source.Tool }
	if len(distinct(runs, tool)) < 2 {
		return nil
	}
	var out []string
	for _, m := range sharedMetrics {
		with := slices.DeleteFunc(slices.Clone(runs), func(r *bench.Run) bool { return !r.Has(m) })
		if len(out) < most && len(distinct(with, tool)) > 1 {
			out = append(out, m)
		}
	}
	return out
}
