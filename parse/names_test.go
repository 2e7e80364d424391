package parse

import (
	"slices"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

func TestQuantIn(t *testing.T) {
	for text, want := range map[string]string{
		"/models/gguf/llama-2-7b.Q4_K_M.gguf":              "Q4_K_M",
		"/models/gguf/Llama-2-7b-chat-hf.f16.gguf":         "F16",
		"llama 7B Q4_K - Medium":                           "Q4_K_M",
		"llama 7B mostly Q4_0":                             "Q4_0",
		"gpt-oss 20B MXFP4 MoE":                            "MXFP4",
		"GLM-4.5-Air-UD-Q4_K_XL-00001-of-00002.gguf":       "Q4_K_XL",
		"DeepSeek-V4-Flash-0731-UD-IQ2_XXS-00001-of-00003": "IQ2_XXS",
		"RedHatAI/Llama-2-7b-chat-quantized.w8a8":          "W8A8",
		"TheBloke/Llama-2-7B-Chat-GPTQ":                    "GPTQ",
		"Qwen/Qwen2.5-72B-Instruct-AWQ":                    "AWQ",
		"amd/Llama-3.1-405B-Instruct-FP8-KV":               "FP8",
		"neuralmagic/Meta-Llama-3-8B-Instruct-W4A16":       "W4A16",
		"meta-llama/Llama-2-7b-chat-hf (FP16 - 13.5GB)":    "F16",
		"meta-llama/Llama-3.1-70B-Instruct":                "",
		"Qwen3-235B-A22B":                                  "",
		"float16":                                          "F16",
		"mistral-q5_k_s.gguf":                              "Q5_K_S",
		"sq4_0":                                            "",
		"kwon4a16bit":                                      "",
	} {
		if got := quantIn(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestEngineIn(t *testing.T) {
	for text, want := range map[string]string{
		"fp16 llama.cpp - c=1": "llama.cpp", "vLLM": "vllm", "vLLM vs llama.cpp": "", "TheBloke/Llama-2": "", "TGI 2.3": "tgi", "ExLlamaV2 5.0bpw": "exllamav2",
	} {
		if got := engineIn(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestFact(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		replicas   int
		bare       bool
	}{
		{"c=16", "concurrency=16", 0, true},
		{"tp8", "tp=8", 0, true},
		{"tp2 + pp4", "tp=2 pp=4", 0, true},
		{"tp2 x 4", "tp=2", 4, true},
		{"tp2×4", "tp=2", 4, true},
		{"--max-concurrency = 32 (then multiply throughput x 4)", "concurrency=32", 4, true},
		{"num_speculative_tokens 10", "spec_tokens=10", 0, true},
		{"800 concurrent requests", "concurrency=800", 0, false},
		{"request rate: 4", "request_rate=4", 0, true},
		{"4 x MI100 GPUs", "", 0, false},
		{"fp16 llama.cpp - c=1", "concurrency=1 engine=llama.cpp quant=F16", 0, false},
		{"benchreport: replicas=4 concurrency=32", "concurrency=32", 4, true},
		{"pp512 results", "", 0, false},
		{"sd 1b", "", 0, false},
	} {
		f := fact{text: tc.text}
		f.read()
		var got []string
		for _, s := range f.config {
			got = append(got, s.Key+"="+s.Value)
		}
		if strings.Join(got, " ") != tc.want || f.replicas != tc.replicas || f.bare != tc.bare {
			t.Errorf("%s: %v replicas=%d bare=%v, want %s replicas=%d bare=%v", tc.text, got, f.replicas, f.bare, tc.want, tc.replicas, tc.bare)
		}
	}
}

func TestParseCommand(t *testing.T) {
	vars := map[string]string{"MODEL": "meta-llama/Llama-3.1-8B", "TP": "4"}
	for _, tc := range []struct{ text, tool, want string }{
		{"vllm serve $MODEL --tensor-parallel-size ${TP} --dtype float16", "", "model=meta-llama/Llama-3.1-8B tp=4 dtype=float16"},
		{"(venv) me@host:~/x$ VLLM_USE_TRITON_FLASH_ATTN=0 vllm serve -tp 8 meta-llama/Llama-3.1-70B-Instruct", "", "env.VLLM_USE_TRITON_FLASH_ATTN=0 tp=8 model=meta-llama/Llama-3.1-70B-Instruct"},
		{`python3 benchmark_serving.py --model "a b" --max-concurrency=8 2>&1 | tee x.log`, "vllm-serve", "model=a b concurrency=8"},
		{"ðŸŸ â¯ ROCBLAS_USE_HIPBLASLT=1 build/bin/llama-bench -fa 1 -m /models/x.gguf -r 3", "llama-bench", "env.ROCBLAS_USE_HIPBLASLT=1 fa=1 model=/models/x.gguf repetitions=3"},
		{"llama-bench -p 64,128 -n 16", "llama-bench", "n_gen=16"},
		{"docker run -e HF_TOKEN=hf_abcdefghijklmnopqrstuvwx --gpus all image vllm serve m/x --api-key sk-12345678901234567890 -tp 2", "", "model=m/x api_key tp=2"},
		{`vllm serve m/x --speculative-config '{"model": "d/y", "num_speculative_tokens": 5}'`, "", "model=m/x draft_model=d/y spec_tokens=5"},
		{"trtllm-bench -m org/x --model_path /models/x throughput --dataset ds.jsonl --concurrency 64 --tp 8 --report_json r.json", "trtllm-bench", "model=org/x dataset=ds.jsonl concurrency=64 tp=8"},
		{"python token_benchmark_ray.py --model org/x --num-concurrent-requests 4 --mean-input-tokens 550 --results-dir out", "llmperf", "model=org/x concurrency=4 input_len=550"},
		{"Start the server with vllm serve --help", "", "none"},
		{"genai-perf profile -m gpt2 --service-kind triton --backend vllm --num-prompts 100 --request-count 40 --synthetic-input-tokens-mean 200 --output-tokens-mean 100 --concurrency 2", "genai-perf", "model=gpt2 backend=vllm num_prompts=40 input_len=200 output_len=100 concurrency=2"},
		{"aiperf profile --model m/x --url localhost:8000 --endpoint-type chat --streaming --request-rate 5 --isl 128", "aiperf", "model=m/x endpoint_type=chat streaming=true request_rate=5 input_len=128"},
		{`guidellm benchmark --target http://localhost:8000 --rate-type sweep --rate 10 --max-seconds 30 --data "prompt_tokens=512,output_tokens=128"`, "guidellm", "max_seconds=30 data=prompt_tokens=512,output_tokens=128"},
		{"pip install genai-perf", "", "none"},
		{"vllm is fast", "", "none"},
		{"vllm serve <model> --tensor-parallel-size 4", "", "tp=4"},
	} {
		cmd := parseCommand(tc.text, vars, false)
		var got []string
		if cmd == nil {
			got = []string{"none"}
		} else {
			for _, s := range cmd.config {
				got = append(got, s.Key+"="+s.Value)
			}
			if cmd.tool != tc.tool {
				t.Errorf("%s: tool %q, want %q", tc.text, cmd.tool, tc.tool)
			}
		}
		want := strings.ReplaceAll(tc.want, " api_key", "")
		if strings.Join(got, " ") != want {
			t.Errorf("%s:\n got %s\nwant %s", tc.text, strings.Join(got, " "), want)
		}
	}
}

func TestGuideDataset(t *testing.T) {
	for data, want := range map[string]string{
		"prompt_tokens=512,output_tokens=128":         "input_len=512 output_len=128 dataset=synthetic",
		"prompt_tokens_stdev=9,prompt_tokens=64":      "input_len=64 dataset=synthetic",
		`{"prompt_tokens": 50, "output_tokens": 100}`: "input_len=50 output_len=100 dataset=synthetic",
		"['prompt_tokens=32,output_tokens_min=4']":    "input_len=32 dataset=synthetic",
		"acme/questions": "dataset=acme/questions",
		"":               "",
	} {
		var got []string
		for _, s := range guideDataset(data, bench.FromJSON) {
			got = append(got, s.Key+"="+s.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", data, got, want)
		}
	}
}

// No secret of a log is ever kept, whatever its name or look.
func TestRedact(t *testing.T) {
	for _, tc := range [][3]string{
		{"api_key", "abc", "***"},
		{"env.HF_TOKEN", "abc", "***"},
		{"aws_secret_access_key", "abc", "***"},
		{"x", "hf_AbCdEfGhIjKlMnOpQrStUvWx", "***"},
		{"x", "Authorization: Bearer abcdefghijklmnop", "***"},
		{"base", "http://user:pass@host/v1", "http://***@host/v1"},
		{"spec_tokens", "5", "5"},
		{"max_num_batched_tokens", "65536", "65536"},
		{"tokenizer", "meta-llama/Llama", "meta-llama/Llama"},
		{"model", "a\x00b\nc", "ab c"},
		{"model", "\u202eevil", "evil"},
	} {
		if got := redact(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s=%q: %q, want %q", tc[0], tc[1], got, tc[2])
		}
	}
}

func TestPythonArgs(t *testing.T) {
	var got []string
	pythonArgs(`subparser='bench', dispatch_function=<function A.cmd at 0x7f, x>, seed=0, d={'image': 255, 'b': (1, 2)}, name='it\'s, ok', none=None, rate=inf, l=[1, 2], last='x')`,
		func(k, v string) { got = append(got, k+"="+v) })
	want := []string{"subparser=bench", "seed=0", "name=it's, ok", "rate=inf", "last=x"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStatistic(t *testing.T) {
	for word, want := range map[string]string{
		"mean": "mean", "AVERAGE": "mean", "AVG": "mean", "P50": "median", "median": "median", "MINIMUM": "min", "stddev": "std", "P99": "p99", "p99.9": "p99.9", "p0.1": "p0.1",
	} {
		if got, ok := statistic(word); !ok || got != want {
			t.Errorf("%s: %q, want %q", word, got, want)
		}
	}
	for _, word := range []string{"", "p", "p.5", "p5.", "p-1", "p1e3", "p1.2.3", "pp", "prompts", "p12345678", "count"} {
		if got, ok := statistic(word); ok {
			t.Errorf("%q is read as %s", word, got)
		}
	}
}

func TestReadNumber(t *testing.T) {
	for s, want := range map[string]float64{"1": 1, "-1.50": -1.5, "1e3": 1000, "1,024": 1024, "10,483.07": 10483.07, ".5": .5} {
		if got, _, ok := readNumber(s); !ok || got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	for _, s := range []string{"", "x", "1.2.3", "0x10", "1_000", "inf", "nan", "1e999", "1,02", "1e", "--1", "12abc", "99,99"} {
		if x, _, ok := readNumber(s); ok {
			t.Errorf("%q is read as %v", s, x)
		}
	}
}
