package parse

import (
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/benchreport/benchreport/bench"
)

// sglangServe reads SGLang's bench_serving. Its block has the shape of vLLM's,
// from which it was forked, and is read with it: see serveLabels. Its JSONL is
// told by keys of its own, since old versions saved no request throughput.
var sglangServe = Format{
	Tool:     "sglang-serve",
	Programs: []program{{name: "sglang.bench_serving"}, {name: "sglang.benchmark.serving"}, {name: "sgl_jax.bench_serving"}, {name: "bench_serving.py"}},
	Reads:    "text block, JSONL (--output-file, with --output-details or without)",
	Since:    "v0.1.22 (2024)",
	Example:  "Total generated tokens (retokenized):    127411",
	Derives:  "attempted requests (num_prompts, the per-request lists, the number in the default file name); request and total throughput, where old versions did not save them",
	Limits:   "the mean concurrency that was measured is mean_concurrency, not a setting; the acceptance length is the average since the server started, not that of the run; ITL is per token, not per chunk as vLLM's, except over an OpenAI endpoint before v0.5.4.post1; a multi-turn run counts rounds and no input tokens; statistics are not computed from the per-request lists; the shares of the cache report are not kept, its counts are",
	Keys:     []string{"total_output_tokens_retokenized", "total_output_retokenized", "median_e2e_latency_ms"},
	Object:   serveOrSglang,
}

// serveOrSglang takes a record by a key that only SGLang writes.
func serveOrSglang(d *document, o *object) bool { return isSglang(o) && sglangObject(d, o) }

// isSglang tells SGLang's record from vLLM's.
func isSglang(o *object) bool {
	if o.get("benchmark_duration") != nil && o.get("total_output_retokenized") != nil {
		return true // until v0.2.11
	}
	if o.get("duration") == nil || o.get("completed") == nil {
		return false
	}
	return o.get("median_e2e_latency_ms") != nil || o.get("mean_e2e_latency_ms") != nil || o.get("total_output_tokens_retokenized") != nil
}

// sglangKeys rename the keys of a saved result. Those of versions before v0.2.12
// have no unit in their name; they hold ms too.
var sglangKeys = map[string]string{
	"total_throughput": "total_token_throughput",
	"accept_length":    "mean_acceptance_length",
	"concurrency":      "mean_concurrency", // measured; the limit is max_concurrency

	"benchmark_duration":       "duration",
	"total_input":              "total_input_tokens",
	"total_output":             "total_output_tokens",
	"total_output_retokenized": "total_output_tokens_retokenized",
	"output_token_throughput":  "output_throughput",
	"mean_e2e_latency":         "mean_e2el_ms",
	"median_e2e_latency":       "median_e2el_ms",
	"median_ttft":              "median_ttft_ms",
	"median_itl":               "median_itl_ms",
}

func sglangName(key string) string {
	if n, ok := sglangKeys[key]; ok {
		return n
	}
	return strings.Replace(key, "_e2e_latency_ms", "_e2el_ms", 1)
}

func sglangObject(d *document, o *object) bool {
	r := &bench.Run{Source: bench.Source{Line: o.line, EndLine: o.end, Tool: "sglang-serve", Format: "json"}}
	d.serveMembers(r, o)
	if tag := o.scalar("tag"); tag != "" && r.Label == "" {
		r.Label = redact("", tag)
	}
	if c := o.get("cache_report"); c != nil && c.object != nil {
		d.cacheReport(r, c.object)
	}
	if s := o.get("server_info"); s != nil {
		serverInfo(&r.Config, s.object)
	}
	// Every request has an entry in the lists of --output-details.
	if e := o.get("errors"); e != nil && e.list != nil && r.Completed != nil && len(e.list.filled) >= *r.Completed {
		n := len(e.list.filled)
		r.Attempted = &n
	}
	if m := sglangFile().FindStringSubmatch(path.Base(d.file)); m != nil {
		r.Config.Add("num_prompts", m[1], bench.FromFile)
	}
	unsaidThroughput(r)
	unsaidInput(r)
	notMeasured(r)
	d.pending = pending{}
	d.emit(r)
	return true
}

// sglangFile is the name that bench_serving gives its file:
// backend_monthday_prompts_….jsonl
var sglangFile = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z][a-z-]*_(?:0[1-9]|1[0-2])[0-3]\d_(\d{1,9})_[\w.-]+\.jsonl(?:\.gz|\.zst)?$`)
})

// unsaidThroughput computes what old versions printed but did not save.
func unsaidThroughput(r *bench.Run) {
	d, ok := r.Metric("duration")
	if n := r.Completed; ok && d.Value > 0 && n != nil && *n > 0 {
		r.Add(bench.Metric{Name: "request_throughput", Value: float64(*n) / d.Value, Decimals: -1, Derived: true})
	}
	in, ok := r.Metric("input_throughput")
	out, ok2 := r.Metric("output_throughput")
	if ok && ok2 && in.Value > 0 {
		r.Add(bench.Metric{Name: "total_token_throughput", Value: in.Value + out.Value, Decimals: -1, Derived: true})
	}
}

// unsaidInput drops the input tokens of a multi-turn run of SGLang, which counts
// none and prints 0, and the total that leaves them out.
func unsaidInput(r *bench.Run) {
	in, ok := r.Metric("total_input_tokens")
	if r.Source.Tool != "sglang-serve" || !ok || in.Value != 0 || r.Completed == nil || *r.Completed == 0 {
		return
	}
	r.Drop(func(m bench.Metric) bool {
		switch m.Name {
		case "total_input_tokens", "total_input_text_tokens", "input_throughput":
			return m.Value == 0
		case "total_token_throughput":
			return true
		}
		return false
	})
}

// cacheTier reads the lines of the cache report that have one word: the tokens
// found in each tier. They stand a second time as shares, in percent.
func (s *serveBlock) cacheTier(d *document, label, value string, number int) bool {
	if label == "total cached tokens" {
		s.cache = true
	}
	if !s.cache {
		return false
	}
	share, percent := strings.CutSuffix(value, "%")
	tier, backend, _ := strings.Cut(label, " (")
	switch tier {
	case "cache hit rate":
		if m, ok := d.metric("cache_hit_rate", share, number, label); ok && percent {
			s.run.Add(m.Percent())
		}
		return true
	case "device", "host", "storage":
		if m, ok := d.metric(tier+"_cached_tokens", share, number, label); ok && !percent {
			s.run.Add(m)
		}
		s.run.Config.Add("storage_backend", redact("", strings.TrimSuffix(backend, ")")), bench.FromLog)
		return true
	}
	return false
}

// cacheReport reads the same from a saved result.
func (d *document) cacheReport(r *bench.Run, o *object) {
	for i := range o.members {
		m := &o.members[i]
		switch m.key {
		case "total_prompt_tokens", "total_cached_tokens", "device_cached_tokens", "host_cached_tokens", "storage_cached_tokens":
			d.jsonMetric(r, m, m.key)
		case "cache_hit_rate_pct":
			d.jsonMetric(r, m, "cache_hit_rate")
		case "storage_backend":
			r.Config.Add(m.key, redact("", o.scalar(m.key)), bench.FromJSON)
		}
	}
}

// sglangServer are the arguments of a server that tell what was measured, and
// the names under which they are kept.
var sglangServer = map[string]string{
	"model_path": "model", "version": "build", "tp_size": "tp", "pp_size": "pp", "dp_size": "dp", "ep_size": "ep", "dtype": "dtype",
	"quantization": "quantization", "kv_cache_dtype": "kv_cache_dtype", "attention_backend": "attention_backend",
	"context_length": "context_length", "mem_fraction_static": "mem_fraction_static", "chunked_prefill_size": "chunked_prefill_size",
	"max_running_requests": "max_running_requests", "schedule_policy": "schedule_policy", "enable_dp_attention": "enable_dp_attention",
	"disable_radix_cache": "disable_radix_cache", "disable_cuda_graph": "disable_cuda_graph", "enable_torch_compile": "enable_torch_compile",
	"speculative_algorithm": "spec_method", "speculative_draft_model_path": "draft_model", "speculative_num_draft_tokens": "spec_tokens",
	"speculative_num_steps": "speculative_num_steps", "speculative_eagle_topk": "speculative_eagle_topk",
}

// sglangSetting adds one argument of a server, unless it is left to the server
// or switched off.
func sglangSetting(c *bench.Config, key, value string, from bench.From) {
	name, ok := sglangServer[key]
	if !ok {
		return
	}
	switch value {
	case "", "None", "auto", "False", "false", "null":
		return
	case "True":
		value = "true"
	}
	if name == "spec_method" {
		value = strings.ToLower(value)
	}
	if fitsKey(name, value) {
		c.Add(name, redact(name, tidyValue(name, value)), from)
	}
}

// serverInfo reads what the server said of itself, which the client saves. A
// router in front of disaggregated servers lists them instead: what all of them
// say holds for the run, and their devices add up.
func serverInfo(c *bench.Config, o *object) {
	if o == nil {
		return
	}
	servers := []*object{o}
	prefill, decode := o.get("prefill"), o.get("decode")
	if prefill != nil && decode != nil && prefill.list != nil && decode.list != nil {
		servers = append(append([]*object{}, prefill.list.objects...), decode.list.objects...)
		c.Add("prefill_servers", strconv.Itoa(len(prefill.list.objects)), bench.FromJSON)
		c.Add("decode_servers", strconv.Itoa(len(decode.list.objects)), bench.FromJSON)
		gpus := 0
		for _, s := range servers {
			gpus += serverDevices(s)
		}
		if gpus > 0 {
			c.Add("gpus", strconv.Itoa(gpus), bench.FromJSON)
		}
	}
	for key := range sglangServer {
		value := ""
		for i, s := range servers {
			if v := s.scalar(key); i == 0 {
				value = v
			} else if v != value {
				value = ""
			}
		}
		sglangSetting(c, key, value, bench.FromJSON)
	}
}

// serverDevices is how many devices a server has: with data-parallel attention
// the replicas share those of the tensor-parallel group.
func serverDevices(o *object) int {
	n := 1
	for _, key := range [...]string{"tp_size", "pp_size", "dp_size"} {
		if key == "dp_size" && o.scalar("enable_dp_attention") == "true" {
			continue
		}
		if x, err := strconv.Atoi(o.scalar(key)); err == nil && x > 0 && x <= 1<<12 {
			n *= x
		}
	}
	return n
}
