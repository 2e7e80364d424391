package parse

// aiPerf is NVIDIA AIPerf, which genai_perf.go reads along with its forerunner.
var aiPerf = Format{
	Tool:     "aiperf",
	Programs: []program{{name: "aiperf", sub: "profile"}},
	Flags:    perfFlags,
	Reads:    "console table, CSV (profile_export_aiperf.csv), JSON (profile_export_aiperf.json)",
	Since:    "2025",
	Example:  "┃                               Metric ┃       avg ┃    min ┃    max ┃    p99 ┃    p90 ┃    p75 ┃   std ┃",
	Derives:  "attempted requests = completed + failed",
	Limits: "inter token latency is the mean of a request and so is TPOT here; inter chunk latency is the single gaps, ITL; of per-user rates only the mean is kept; " +
		"figures of the warm-up and of the steady state, GPU telemetry, the records of single requests (profile_export.jsonl) and the summaries of several runs (…_aggregate.json, …_collated.json) are not read",
	Lines: []Start{
		{Prefix: "Metric,avg", Read: startPerfCSV},
		{Prefix: "NVIDIA AIPerf |", Read: readPerfTitle},
	},
}
