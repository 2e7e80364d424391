package parse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// The workloads here have the proportions of real ones, at a size that a
// benchmark reads in milliseconds.

func serverLog(version string, size int) []byte {
	var b bytes.Buffer
	prefix, open := "", ""
	if version == "v1" {
		prefix, open = "(APIServer pid=4711) ", "["
	}
	for i := 0; b.Len() < size; i++ {
		for k := range 20 {
			if k%5 < 3 {
				fmt.Fprintf(&b, "%sINFO:     10.1.%d.%d:%d - \"POST /v1/completions HTTP/1.1\" 200 OK\n", prefix, i%4, k, 30000+i%30000)
				continue
			}
			fmt.Fprintf(&b, "%sINFO 12-16 16:46:%02d %slogger.py:37] Received request cmpl-%032x-0: prompt: 'speculative decoding', params: SamplingParams(n=1, temperature=0.7, top_p=1.0, top_k=-1, seed=None, stop=[], max_tokens=%d, logprobs=None), prompt_token_ids: None.\n", prefix, i%60, open, i, 16+k)
		}
		fmt.Fprintf(&b, "%sINFO 12-16 16:46:%02d %smetrics.py:467] Avg prompt throughput: %d.4 tokens/s, Avg generation throughput: %d.8 tokens/s, Running: 8 reqs, Swapped: 0 reqs, Pending: 0 reqs, GPU KV cache usage: 12.3%%, CPU KV cache usage: 0.0%%.\n", prefix, i%60, open, 100+i%900, 500+i%900)
		if i%16 == 0 {
			fmt.Fprintf(&b, "%sINFO 12-16 16:46:%02d %smetrics.py:482] Speculative metrics: Draft acceptance rate: 0.797, System efficiency: 0.640, Number of speculative tokens: 5, Number of accepted tokens: %d, Number of draft tokens: %d, Number of emitted tokens: 190541.\n", prefix, i%60, open, 197711+i, 248165+i)
		}
	}
	return b.Bytes()
}

const smallLog = "INFO 08-31 14:22:17 [__init__.py:242] Automatically detected platform rocm.\n" +
	"Namespace(backend='vllm', base_url=None, host='127.0.0.1', port=8000, endpoint='/v1/completions', dataset_name='sharegpt', dataset_path='./ShareGPT_V3_unfiltered_cleaned_split.json', no_stream=False, max_concurrency=16, model='meta-llama/Llama-2-7b-chat-hf', tokenizer=None, use_beam_search=False, num_prompts=64, logprobs=None, request_rate=inf, burstiness=1.0, seed=0, trust_remote_code=False, disable_tqdm=False, profile=False, save_result=False, metadata=None, goodput=None, percentile_metrics='ttft,tpot,itl', metric_percentiles='99', random_mm_limit_mm_per_prompt={'image': 255, 'video': 0}, temperature=None)\n" +
	"Starting initial single prompt test run...\nTraffic request rate: inf\nMaximum request concurrency: 16\n" +
	"\r  0%|          | 0/64 [00:00<02:35,  2.43s/it]\r100%|██████████| 64/64 [02:35<00:00,  2.43s/it]\n" +
	"============ Serving Benchmark Result ============\nSuccessful requests:                     64        \nMaximum request concurrency:             16        \nBenchmark duration (s):                  155.97    \nTotal input tokens:                      17809     \nTotal generated tokens:                  11256     \nRequest throughput (req/s):              0.41      \nOutput token throughput (tok/s):         72.17     \nTotal Token throughput (tok/s):          186.35    \n" +
	"---------------Time to First Token----------------\nMean TTFT (ms):                          871.62    \nMedian TTFT (ms):                        593.93    \nP99 TTFT (ms):                           2771.88   \n" +
	"-----Time per Output Token (excl. 1st token)------\nMean TPOT (ms):                          162.64    \nMedian TPOT (ms):                        159.98    \nP99 TPOT (ms):                           254.94    \n==================================================\n"

func detailedJSON(requests int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"date": "20250831-142217", "backend": "vllm", "model_id": "meta-llama/Llama-3.1-70B-Instruct", "num_prompts": %d, "request_rate": "inf", "duration": 63.81, "completed": %d, "total_output_tokens": 191043, "request_throughput": 16.05, "output_throughput": 2993.85, "input_lens": [0`, requests, requests)
	list := func(name string, element func(i int)) {
		fmt.Fprintf(&b, `], "%s": [`, name)
		for i := range requests {
			if i > 0 {
				b.WriteString(", ")
			}
			element(i)
		}
	}
	list("output_lens", func(i int) { fmt.Fprint(&b, 200) })
	list("ttfts", func(i int) { fmt.Fprintf(&b, "0.%d", 12345678901234567+i*7919) })
	list("itls", func(i int) {
		b.WriteString("[0.021")
		for k := range 198 {
			fmt.Fprintf(&b, ", 0.0%d", 21345678901234567+(i*199+k)*104729%1000000007*1000)
		}
		b.WriteString("]")
	})
	list("generated_texts", func(i int) {
		b.WriteString(`"` + strings.Repeat(`the model of \"tokens\" and \u65e5\n`, 30) + `"`)
	})
	list("errors", func(i int) { b.WriteString(`""`) })
	b.WriteString("]}")
	return b.Bytes()
}

func llamaJSON(tests int) []byte {
	var b bytes.Buffer
	b.WriteString("[\n")
	for i := range tests {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `  {
    "build_commit": "4d74393bc",
    "build_number": 6327,
    "cpu_info": "AMD RYZEN AI MAX+ 395 w/ Radeon 8060S",
    "gpu_info": "AMD Radeon Graphics",
    "backends": "ROCm",
    "model_filename": "/models/gguf/llama-2-7b.Q4_0.gguf",
    "model_type": "llama 7B Q4_0",
    "model_size": 3825065984,
    "model_n_params": 6738415616,
    "n_batch": 2048,
    "n_ubatch": 512,
    "n_threads": 16,
    "cpu_mask": "0x0",
    "cpu_strict": false,
    "poll": 50,
    "type_k": "f16",
    "type_v": "f16",
    "n_gpu_layers": 99,
    "split_mode": "layer",
    "main_gpu": 0,
    "no_kv_offload": false,
    "flash_attn": true,
    "tensor_split": "0.00",
    "use_mmap": true,
    "embeddings": false,
    "n_prompt": 512,
    "n_gen": 0,
    "n_depth": %d,
    "test_time": "2025-08-31T14:22:17Z",
    "avg_ns": 582941021,
    "stddev_ns": 2731820,
    "avg_ts": 878.311%d,
    "stddev_ts": 4.112030,
    "samples_ns": [ 582941021, 582941022, 582941023, 582941024, 582941025 ],
    "samples_ts": [ 878.305, 878.306, 878.307, 878.308, 878.309 ]
  }`, 64*i, i%1000)
	}
	b.WriteString("\n]\n")
	return b.Bytes()
}

func llamaTableText(rows int) []byte {
	var b bytes.Buffer
	b.WriteString("| model                          |       size |     params | backend    | ngl | fa |            test |                  t/s |\n| ------------------------------ | ---------: | ---------: | ---------- | --: | -: | --------------: | -------------------: |\n")
	for i := range rows {
		fmt.Fprintf(&b, "| llama 7B Q4_0                  |   3.56 GiB |     6.74 B | ROCm       |  99 |  1 |  pp512 @ d%5d |      %d.31 ± 4.11 |\n", 64*i, 500+i%500)
	}
	b.WriteString("\nbuild: 4d74393bc (6327)\n")
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	many := []byte(smallLog)
	for _, bm := range []struct {
		name string
		text []byte
		runs int
	}{
		{"server-log-v0", serverLog("v0", 8<<20), 2},
		{"server-log-v1", serverLog("v1", 8<<20), 2},
		{"small-log", many, 1},
		{"detailed-json", detailedJSON(1900), 1},
		{"llama-json", llamaJSON(2000), 2000},
		{"llama-markdown", llamaTableText(2000), 2000},
	} {
		b.Run(bm.name, func(b *testing.B) {
			b.SetBytes(int64(len(bm.text)))
			b.ReportAllocs()
			room := newRoom()
			for b.Loop() {
				d, err := read(bytes.NewReader(bm.text), "x.log", room, reading{})
				if err != nil || len(d.runs) != bm.runs {
					b.Fatalf("%d runs, %v", len(d.runs), err)
				}
			}
		})
	}
}

func BenchmarkQuantiles(b *testing.B) {
	var s samples
	for i := range 1 << 20 {
		s.add(float64(i*104729%1000003) / 1e6)
	}
	b.SetBytes(8 << 20)
	b.ReportAllocs()
	for b.Loop() {
		s.quantiles([]float64{.5, .9, .99}, nil)
	}
}
