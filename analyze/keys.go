package analyze

import (
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// MainKeys are the settings by which people name what they compare, in the
// order in which they read them. All other settings are told as differences.
var MainKeys = []string{
	"engine", "model", "quant", "draft_model", "spec_method", "spec_tokens", "tp", "pp", "dp", "replicas", "gpus", "device", "backend", "build",
	"dataset", "task", "metric", "filter", "num_fewshot", "test", "depth", "input_len", "output_len", "num_prompts", "concurrency",
	"request_rate", "stage", "batch", "ubatch", "threads", "ngl", "fa", "dtype", "type_k", "type_v", "endpoint",
}

// Key returns what a run has under a key: its tool, label, input or file, or a
// setting of its configuration. "" stands for nothing.
func Key(r *bench.Run, key string) string {
	switch key {
	case "tool":
		return r.Source.Tool
	case "label":
		return r.Label
	case "input":
		return r.Input
	case "file":
		return r.Source.File
	case "format":
		return r.Source.Format
	case "id":
		return r.ID
	}
	return r.Config.Get(key)
}

// builtinKeys are the keys of Key that are no settings.
var builtinKeys = []string{"tool", "label", "input", "file", "format", "id"}

// Keys are the keys that every run may have, for people to choose from.
func Keys() []string { return slices.Concat(builtinKeys, MainKeys) }

// A keyReader reads some keys of many runs, as Key does. It looks for them only
// in a run whose settings have other keys than those of the run before.
type keyReader struct {
	keys   []string
	last   bench.Config
	places []int // in the configuration of last, or one of those below
	values []string
}

const (
	notSet  = -1
	builtin = -2
)

func newKeyReader(keys []string) *keyReader {
	return &keyReader{keys: keys, values: make([]string, len(keys))}
}

// read returns what a run has under the keys, until the next run is read.
func (k *keyReader) read(r *bench.Run) []string {
	if k.places == nil || !k.last.SameKeys(r.Config) {
		k.last, k.places = r.Config, k.places[:0]
		for _, key := range k.keys {
			place := slices.IndexFunc(r.Config, func(s bench.Setting) bool { return s.Key == key })
			if slices.Contains(builtinKeys, key) {
				place = builtin
			}
			k.places = append(k.places, place)
		}
	}
	for i, place := range k.places {
		switch place {
		case notSet:
			k.values[i] = ""
		case builtin:
			k.values[i] = Key(r, k.keys[i])
		default:
			k.values[i] = r.Config[place].Value
		}
	}
	return k.values
}

// Differing parts the main keys, and the environment variables, into those that
// all runs share and those in which they differ.
func Differing(runs []*bench.Run) (same []bench.Setting, keys []string) {
	all := slices.Clone(MainKeys)
	for i, r := range runs {
		if i > 0 && runs[i-1].Config.SameKeys(r.Config) {
			continue
		}
		for _, s := range r.Config {
			if strings.HasPrefix(s.Key, "env.") && !slices.Contains(all, s.Key) {
				all = append(all, s.Key)
			}
		}
	}
	slices.Sort(all[len(MainKeys):])
	settings := newKeyReader(all)
	first := slices.Clone(settings.read(runs[0]))
	differs := make([]bool, len(all))
	for _, r := range runs[1:] {
		for i, v := range settings.read(r) {
			differs[i] = differs[i] || v != first[i]
		}
	}
	for i, k := range all {
		switch {
		case differs[i]:
			keys = append(keys, k)
		case first[i] != "":
			same = append(same, bench.Setting{Key: k, Value: first[i]})
		}
	}
	return same, keys
}

// Suggest returns the candidate most like a misspelt name, "" if none is near.
func Suggest(name string, candidates []string) string {
	best, at := "", len(name)/3+2
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < at {
			best, at = c, d
		}
	}
	return best
}

// distance is the Levenshtein distance of two short names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(row[j+1]+1, row[j]+1, cost)
		}
	}
	return row[len(b)]
}
