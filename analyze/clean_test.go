package analyze

import (
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// faster is clean in 90 s: 1024/90 = 11.38, 131072/90 = 1456.36, 393216/90 =
// 4369.07. By Little's law a request takes 16/11.378 = 1406 ms, which is a TTFT of
// 180 ms and 127 tokens of 9.66 ms.
const faster = "1024/1024 90.00 262144 131072 11.38 1456.36 4369.07 180.00 171.00 360.00 9.66 9.60 11.00 9.68 9.50 13.00"

// A fair comparison is left alone: no warning, no error, and nothing in it is
// called incomparable.
func TestCleanComparisons(t *testing.T) {
	const config = "engine=vllm model=Llama-3.1-8B-Instruct tp=1 gpus=1 dataset=random input_len=256 output_len=128 num_prompts=1024 seed=0 client=vllm-bench max_num_seqs=256 "
	repeats := func(input, figures string, durations ...string) (runs []*bench.Run) {
		for i, d := range durations {
			// The rates that follow from the durations are left out.
			r := without(with(serve(input, config+"concurrency=16", figures), "duration="+d), "request_throughput", "output_throughput", "total_token_throughput")
			r.Source.Line = 1 + 30*i
			runs = append(runs, r)
		}
		return runs
	}
	llama := func(input, build, test, ts string) *bench.Run {
		return newRun("llama-bench", input, "engine=llama.cpp model=llama_7B_Q4_0 model_filename=llama-2-7b.Q4_0.gguf backend=ROCm ngl=99 fa=1 build="+build+" test="+test, "avg_ts="+ts)
	}
	eval := func(input, model, score string) *bench.Run {
		return newRun("lm-eval", input, "model="+model+" task=mmlu_pro_biology num_fewshot=5", "accuracy="+score)
	}
	for name, runs := range map[string][]*bench.Run{
		"two builds":   {serve("a", config+"concurrency=16 build=v0.9.0", clean), serve("b", config+"concurrency=16 build=v0.9.1", faster)},
		"one flag":     {serve("a", config+"concurrency=16", clean), set(serve("b", config+"concurrency=16", faster), "max_num_seqs=512")},
		"the same":     {serve("a", config+"concurrency=16", clean), serve("b", config+"concurrency=16", clean)},
		"a quant":      {serve("a", config+"concurrency=16", clean), set(serve("b", config+"concurrency=16", faster), "model=Llama-3.1-8B-Instruct-FP8 quant=fp8")},
		"another seed": {serve("a", config+"concurrency=16", clean), set(serve("b", config+"concurrency=16", faster), "seed=1")},
		"two engines":  {serve("a", config+"concurrency=16", clean), set(serve("b", config+"concurrency=16", faster), "engine=sglang mem_fraction_static=0.9 chunked_prefill_size=4096")},
		"two sweeps": {serve("a", config+"concurrency=16", clean), serve("a", config+"concurrency=64", faster),
			serve("b", config+"concurrency=16", faster), serve("b", config+"concurrency=64", clean)},
		// 12 offered, 10.24 and 11.38 served
		"open loop": {serve("a", config+"request_rate=12", clean), serve("b", config+"request_rate=12", faster)},
		"repeats":   append(repeats("a", clean, "100.00", "101.00", "99.50"), repeats("b", faster, "90.00", "91.00", "90.20")...),
		// One of 2 replicas at 8 stands for 16.
		"replicas": {serve("a", config+"concurrency=16", clean), replicated(serve("b", config+"concurrency=8", faster), 2)},
		// llama-bench of the same file at another build; figures of seed 001, two
		// environments there.
		"llama-bench": {llama("old", "5740", "pp512", "878.2±1.7"), llama("old", "5740", "tg128", "39.33±0.05"), llama("new", "5800", "pp512", "902.1±2.0"), llama("new", "5800", "tg128", "39.23±0.06")},
		// Seed 003.
		"lm-eval": {eval("fp16", "Llama-3.1-70B-Instruct", "0.8466±0.0135"), eval("fp8", "Llama-3.1-70B-Instruct-FP8-KV", "0.848±0.0134")},
	} {
		t.Run(name, func(t *testing.T) {
			rep, err := Compare(runs, Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range rep.Findings {
				if f.Severity != bench.Note {
					t.Errorf("%s %s: %s", f.Severity, f.Code, f.Message)
				}
			}
			if len(rep.Comparisons) == 0 {
				t.Error("nothing is compared")
			}
			for _, c := range rep.Comparisons {
				if c.Verdict == Incomparable {
					t.Errorf("%s of %s and %s is incomparable: %s", c.Metric, c.Base, c.Head, c.Reason)
				}
			}
			if !rep.Passed() {
				t.Error("it does not pass")
			}
		})
	}
}
