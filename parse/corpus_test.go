package parse

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// The corpus of real logs lies beside the repository, if it is there at all.
const corpus = "../../shared/corpus"

// corpusKinds are the tools that a kind in the manifest counts.
var corpusKinds = map[string][]string{
	"serving": {"vllm-serve", "sglang-serve"}, "llama_rows": {"llama-bench", "llama-benchy"}, "throughput": {"vllm-throughput"}, "lmeval_rows": {"lm-eval"},
	"locust_runs": {"locust", "fw-ai"}, "trtllm": {"trtllm-bench"}, "genai_tables": {"genai-perf", "aiperf"},
}

// corpusTools are the folders of the corpus that are read, and their tools.
var corpusTools = map[string][]string{
	"vllm-serving": {"vllm-serve"}, "vllm-json": {"vllm-serve"}, "sglang-serving": {"sglang-serve"}, "llama-bench": {"llama-bench"}, "llama-benchy": {"llama-benchy"},
	"spec-decode": {"spec-decode"}, "engine-log": {"vllm-engine"}, "vllm-throughput": {"vllm-throughput"}, "vllm-latency": {"vllm-latency"},
	"lm-eval": {"lm-eval"}, "locust": {"locust", "fw-ai"},
	"trtllm-bench": {"trtllm-bench"},
	"guidellm":     {"guidellm"}, "genai-perf": {"genai-perf"}, "aiperf": {"aiperf"},
}

// TestCorpus counts the results in real logs. Where a count of the manifest is
// not right, testdata/corpus-exceptions.tsv says the right one and why.
func TestCorpus(t *testing.T) {
	rows := tsv(t, filepath.Join(corpus, "MANIFEST.tsv"))
	if rows == nil {
		t.Skip("no corpus of real logs beside the repository: its counts are not checked")
	}
	exceptions := map[string]string{}
	for _, e := range tsv(t, testdata+"/corpus-exceptions.tsv") {
		exceptions[e["file"]+" "+e["kind"]] = e["count"]
	}
	checked := 0
	for _, row := range rows {
		own, ok := corpusTools[row["tool"]]
		if !ok {
			continue
		}
		f, err := os.Open(filepath.Join(corpus, row["file"]))
		if err != nil {
			t.Error(err)
			continue
		}
		runs := Reader(f, row["file"]).Runs
		_ = f.Close()
		check := func(kind, want string, got float64) {
			if e, ok := exceptions[row["file"]+" "+kind]; ok {
				want = e
			}
			if w, err := strconv.ParseFloat(want, 64); err != nil || got != w {
				t.Errorf("%s: %v results of kind %s, want %s", row["file"], got, kind, want)
			}
			checked++
		}
		counted := false
		for _, c := range strings.Fields(row["counts"]) {
			kind, want, ok := strings.Cut(c, "=")
			switch {
			case !ok || kind == "multiline_records":
				continue
			case kind == "engine":
				check(kind, want, intervals(runs, "vllm-engine"))
			case kind == "spec_new":
				check(kind, want, intervals(runs, "spec-decode"))
			case kind == "spec_old":
				n := 0.0
				for _, r := range runs {
					if r.Has("draft_acceptance_rate") {
						n++
					}
				}
				check(kind, want, n)
			case corpusKinds[kind] == nil:
				continue
			default:
				check(kind, want, count(runs, corpusKinds[kind]))
			}
			counted = true
		}
		if !counted {
			check("-", row["blocks"], count(runs, own))
		}
	}
	t.Logf("%d counts checked", checked)
}

func count(runs []*bench.Run, tools []string) float64 {
	n := 0.0
	for _, r := range runs {
		for _, tool := range tools {
			if r.Source.Tool == tool {
				n++
			}
		}
	}
	return n
}

func intervals(runs []*bench.Run, tool string) float64 {
	n := 0.0
	for _, r := range runs {
		if m, ok := r.Metric("intervals"); ok && r.Source.Tool == tool {
			n += m.Raw
		}
	}
	return n
}

// tsv reads a table with a header, nil if there is no such file.
func tsv(t *testing.T, path string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	var all [][]string
	for line := range strings.Lines(string(text)) {
		all = append(all, strings.Split(strings.TrimRight(line, "\r\n"), "\t"))
	}
	var rows []map[string]string
	for _, line := range all[1:] {
		row := map[string]string{}
		for i, cell := range line {
			if i < len(all[0]) {
				row[all[0][i]] = cell
			}
		}
		rows = append(rows, row)
	}
	return rows
}
