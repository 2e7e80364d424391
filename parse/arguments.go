package parse

import (
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// pythonArgs reads `Namespace(k=v, …)`, `{'k': v, …}` or `model='x', tp=2, …`
// as Python prints them: quotes, brackets and function objects hold commas.
// Only scalars are kept; None is an argument that was not given.
func pythonArgs(s string, yield func(key, value string)) {
	for i := 0; i < len(s); {
		i = skipAny(s, i, " ,{\t")
		start := i
		for i < len(s) && s[i] != '=' && s[i] != ':' && s[i] != ',' {
			i++
		}
		if i >= len(s) {
			return
		}
		key := strings.Trim(s[start:i], " '\"")
		if s[i] == ',' {
			continue
		}
		i = skipAny(s, i+1, " ")
		value, next := pythonValue(s, i)
		i = next
		key = strings.TrimLeft(key, ". ") // ", ... tensor_parallel_size=3" of a shortened line
		if value != "" && isName(key) {
			yield(key, value)
		}
	}
}

// isName reports whether an argument has a name: no part of a text.
func isName(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case ' ', '(', ')':
			return false
		}
	}
	return s != ""
}

func skipAny(s string, i int, set string) int {
	for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
		i++
	}
	return i
}

// pythonValue reads one value up to its comma. It returns "" for None, and for
// lists, dictionaries and objects, which are passed over.
func pythonValue(s string, i int) (value string, next int) {
	start, depth := i, 0
	for i < len(s) {
		switch c := s[i]; c {
		case '\'', '"':
			end := i + 1
			for end < len(s) && s[end] != c {
				if s[end] == '\\' {
					end++
				}
				end++
			}
			if depth == 0 && i == start && end < len(s) {
				return unescape(s[i+1 : end]), skipToComma(s, end+1)
			}
			i = min(end, len(s)-1)
		case '(', '[', '{', '<':
			depth++
		case ')', ']', '}', '>':
			depth--
			if depth < 0 { // the end of the whole
				return scalar(s[start:i]), len(s)
			}
		case ',':
			if depth == 0 {
				return scalar(s[start:i]), i + 1
			}
		}
		i++
	}
	return scalar(s[start:]), len(s)
}

func skipToComma(s string, i int) int {
	for i < len(s) && s[i] != ',' {
		if s[i] == ')' || s[i] == '}' {
			return len(s)
		}
		i++
	}
	return i + 1
}

func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\'`, `'`, `\"`, `"`, `\n`, " ", `\x00`, "").Replace(s)
}

func scalar(v string) string {
	v = strings.TrimSpace(v)
	if v == "None" {
		return ""
	}
	for i := range len(v) {
		switch v[i] {
		case '(', '[', '{', '<':
			return ""
		}
	}
	return v
}

// argumentLine reads the arguments of a benchmark into settings. The lengths
// that belong to its dataset become input_len and output_len; those of other
// datasets, which argparse fills with defaults, are dropped.
func argumentLine(s string, from bench.From) bench.Config {
	open := strings.IndexAny(s, "({")
	if open < 0 {
		return nil
	}
	all := make(bench.Config, 0, 64)
	pythonArgs(s[open+1:], func(key, value string) { all.Add(key, value, from) })
	return benchmarkArgs(all, from)
}

// datasetArgs are prefixes of arguments that count only for their dataset.
var datasetArgs = []string{"random", "sonnet", "sharegpt", "hf", "custom", "burstgpt", "spec_bench", "blazedit", "prefix_repetition", "gsp", "asr", "image"}

// benchmarkArgs turns the arguments of a benchmark client into settings.
func benchmarkArgs(all bench.Config, from bench.From) bench.Config {
	c := make(bench.Config, 0, 24)
	dataset := all.Get("dataset_name")
	if dataset == "" {
		dataset = all.Get("dataset")
	}
	add := func(key, value string) {
		if fitsKey(key, value) {
			c.Add(key, redact(key, tidyValue(key, value)), from)
		}
	}
	if dataset == "" && strings.Contains(strings.ToLower(all.Get("dataset_path")), "sharegpt") {
		dataset = "sharegpt"
	}
	add("dataset", dataset)
	if dataset != "" {
		kind := datasetKind(dataset)
		for _, which := range [...]string{"input", "output"} {
			add(which+"_len", all.Get(kind+"_"+which+"_len"))
			add(which+"_len", all.Get(kind+"_"+which)) // argparse takes the short form
			if dataset == "image" {                    // SGLang: the text beside the images
				add(which+"_len", all.Get("random_"+which+"_len"))
			}
		}
	}
	for _, s := range all {
		if strings.HasPrefix(s.Key, "env.") {
			add(s.Key, s.Value)
			continue
		}
		key := canonicalKey(s.Key)
		if dullKeys[key] || s.Value == "False" || isOtherDataset(s.Key, dataset) {
			continue
		}
		if s.Value == "True" {
			s.Value = "true"
		}
		// vLLM's --device names a kind, not a device, and a quant of no is none.
		if key == "concurrency" && (s.Value == "0" || s.Value == "-1") || key == "device" && !strings.Contains(s.Value, " ") || key == "quant" && s.Value == "no" {
			continue
		}
		add(key, s.Value)
	}
	return c
}

// datasetKind is the prefix of a dataset's arguments: random for random-ids.
func datasetKind(dataset string) string {
	if dataset == "generated-shared-prefix" { // SGLang
		return "gsp"
	}
	kind, _, _ := strings.Cut(dataset, "-")
	return strings.ReplaceAll(kind, "-", "_")
}

func isOtherDataset(key, dataset string) bool {
	for _, p := range datasetArgs {
		if len(key) > len(p) && key[len(p)] == '_' && key[:len(p)] == p {
			return p != datasetKind(dataset) || strings.HasSuffix(key, "put_len") || strings.HasSuffix(key, "put")
		}
	}
	return strings.HasPrefix(key, "random_mm_") || strings.HasPrefix(key, "no_") || strings.HasPrefix(key, "disable_")
}
