package parse

// sglangServe reads SGLang's bench_serving. Its block and its JSON have the
// shape of vLLM's, from which they were forked, and are read with them: see
// serveLabels and serveObject.
var sglangServe = Format{
	Tool:    "sglang-serve",
	Reads:   "text block, JSONL (--output-file)",
	Since:   "v0.1.22 (2024)",
	Example: "Total generated tokens (retokenized):    127411",
	Derives: "as for vllm-serve",
	Limits:  "the mean concurrency that was measured is mean_concurrency, not a setting",
}
