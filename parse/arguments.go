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
		i = skipAny(s, i, &beforeKey)
		start := i
		for i < len(s) && !endsKey[s[i]] {
			i++
		}
		if i >= len(s) {
			return
		}
		key := s[start:i]
		if s[i] == ',' {
			continue
		}
		i = skipAny(s, i+1, &blanks)
		value, next := pythonValue(s, i)
		i = next
		if value == "" {
			continue
		}
		if key == "" || aroundKey[key[0]] || aroundKey[key[len(key)-1]] { // quoted, or ", ... tensor_parallel_size=3" of a shortened line
			key = strings.TrimLeft(strings.Trim(key, " '\""), ". ")
		}
		if isName(key) {
			yield(key, value)
		}
	}
}

// beforeKey are the bytes in front of the key of an argument, endsKey those at
// which it ends, aroundKey those that are no part of it, inValue those within a
// value that are not passed over.
var (
	blanks    = byteSet(" ")
	beforeKey = byteSet(" ,{\t")
	endsKey   = byteSet("=:,")
	aroundKey = byteSet(" '\".")
	inValue   = byteSet("'\"([{<)]}>,")
)

func byteSet(members string) (set [256]bool) {
	for i := range len(members) {
		set[members[i]] = true
	}
	return set
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

func skipAny(s string, i int, set *[256]bool) int {
	for i < len(s) && set[s[i]] {
		i++
	}
	return i
}

// pythonValue reads one value up to its comma. It returns "" for None, and for
// lists, dictionaries and objects, which are passed over.
func pythonValue(s string, i int) (value string, next int) {
	start, depth := i, 0
	for i < len(s) {
		if !inValue[s[i]] {
			i++
			continue
		}
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

// line reads the arguments of a benchmark into settings. The lengths that belong
// to its dataset become input_len and output_len; those of other datasets, which
// argparse fills with defaults, are dropped. They are good until the next call.
func (args *arguments) line(s string, from bench.From) bench.Config {
	open := strings.IndexAny(s, "({")
	if open < 0 {
		return nil
	}
	args.all = args.all[:0]
	pythonArgs(s[open+1:], func(key, value string) { args.all.Add(key, value, from) })
	args.made = args.build(args.made[:0], args.all, from)
	return args.made
}

// datasetArgs are prefixes of arguments that count only for their dataset.
var datasetArgs = []string{"random", "sonnet", "sharegpt", "hf", "custom", "burstgpt", "spec_bench", "blazedit", "prefix_repetition", "gsp", "asr", "image"}

// arguments turns the arguments of benchmark clients into settings. It remembers
// their keys, which are the same from log to log, and the value of each, which
// mostly is.
type arguments struct {
	keys      map[string]*argument
	all, made bench.Config // room for those of one line, and their settings
}

// An argument is what is known of a key: all that does not depend on the other
// arguments.
type argument struct {
	name    string // of the setting
	dull    bool   // it says nothing about what was measured
	dataset string // it counts only for this one
	length  bool   // of that dataset's texts, which is read before
	off     bool   // it turns something off, as all datasets do

	value, setting string // the last value, and what it is as a setting; "" for none
}

func newArgument(key string) *argument {
	a := &argument{name: canonicalKey(key)}
	a.dull = dullKeys[a.name]
	for _, p := range datasetArgs {
		if len(key) > len(p) && key[len(p)] == '_' && key[:len(p)] == p {
			a.dataset, a.length = p, strings.HasSuffix(key, "put_len") || strings.HasSuffix(key, "put")
			return a
		}
	}
	a.off = strings.HasPrefix(key, "random_mm_") || strings.HasPrefix(key, "no_") || strings.HasPrefix(key, "disable_")
	return a
}

// of returns the argument of a key.
func (args *arguments) of(key string) *argument {
	if a := args.keys[key]; a != nil {
		return a
	}
	if args.keys == nil {
		args.keys = map[string]*argument{}
	}
	key = strings.Clone(key)
	a := newArgument(key)
	if len(args.keys) < maxTexts {
		args.keys[key] = a
	}
	return a
}

// is gives the value of an argument as it is kept, "" where it says nothing.
func (a *argument) is(value string) string {
	if value != a.value {
		a.value = strings.Clone(value)
		a.setting = a.read(a.value)
	}
	return a.setting
}

func (a *argument) read(value string) string {
	switch {
	case a.dull || value == "False" || value == "None":
		return ""
	case value == "True":
		value = "true"
	case a.name == "concurrency" && (value == "0" || value == "-1"):
		return ""
	// vLLM's --device names a kind, not a device, and a quant of no is none.
	case a.name == "device" && !strings.Contains(value, " ") || a.name == "quant" && value == "no":
		return ""
	}
	return settingValue(a.name, value)
}

// settingValue is a value as it is kept, "" where it does not fit its key.
func settingValue(key, value string) string {
	if value == "" || !fitsKey(key, value) {
		return ""
	}
	return redact(key, tidyValue(key, value))
}

// benchmarkArgs turns the arguments of a benchmark client into settings.
func benchmarkArgs(all bench.Config, from bench.From) bench.Config {
	return (&arguments{}).settings(all, from)
}

// settings are those that follow from all arguments of a client.
func (args *arguments) settings(all bench.Config, from bench.From) bench.Config {
	const more = 4 // settings that the log or its surroundings add
	args.made = args.build(args.made[:0], all, from)
	return append(make(bench.Config, 0, len(args.made)+more), args.made...)
}

// build adds them to c.
func (args *arguments) build(c, all bench.Config, from bench.From) bench.Config {
	dataset := all.Get("dataset_name")
	if dataset == "" {
		dataset = all.Get("dataset")
	}
	if dataset == "" && strings.Contains(strings.ToLower(all.Get("dataset_path")), "sharegpt") {
		dataset = "sharegpt"
	}
	kind := ""
	if dataset != "" {
		kind = datasetKind(dataset)
		c.Add("dataset", args.of("dataset").is(dataset), from)
		for _, which := range [...]string{"input", "output"} {
			key := which + "_len"
			c.Add(key, settingValue(key, ofDataset(all, kind, key)), from)
			c.Add(key, settingValue(key, ofDataset(all, kind, which)), from) // argparse takes the short form
			if dataset == "image" {                                          // SGLang: the text beside the images
				c.Add(key, settingValue(key, ofDataset(all, "random", key)), from)
			}
		}
	}
	for _, s := range all {
		if strings.HasPrefix(s.Key, "env.") {
			c.Add(s.Key, settingValue(s.Key, s.Value), from)
			continue
		}
		if a := args.of(s.Key); !a.off && (a.dataset == "" || a.dataset == kind && !a.length) {
			c.Add(a.name, a.is(s.Value), from)
		}
	}
	return c
}

// ofDataset is the argument of a kind of dataset: random_input_len.
func ofDataset(all bench.Config, kind, name string) string {
	for i := range all {
		key := all[i].Key
		if len(key) == len(kind)+1+len(name) && key[len(kind)] == '_' && key[:len(kind)] == kind && key[len(kind)+1:] == name {
			return all[i].Value
		}
	}
	return ""
}

// datasetKind is the prefix of a dataset's arguments: random for random-ids.
func datasetKind(dataset string) string {
	if dataset == "generated-shared-prefix" { // SGLang
		return "gsp"
	}
	kind, _, _ := strings.Cut(dataset, "-")
	return strings.ReplaceAll(kind, "-", "_")
}
