package analyze

import (
	"fmt"

	"github.com/benchreport/benchreport/bench"
)

// CheckLabels reports a label, given to several inputs, that stands for
// different things. Several files under one label are repeats of one thing; a
// mean over two models is none. Paths are those that the user gave each label.
func CheckLabels(runs []*bench.Run, labels []string) error {
	given := map[string]int{}
	for _, l := range labels {
		given[l]++
	}
	models := map[string]map[string]map[string]bool{} // label, file, model
	for _, r := range runs {
		m := r.Config.Get("model")
		if given[r.Input] < 2 || m == "" {
			continue
		}
		if models[r.Input] == nil {
			models[r.Input] = map[string]map[string]bool{}
		}
		if models[r.Input][r.Source.File] == nil {
			models[r.Input][r.Source.File] = map[string]bool{}
		}
		models[r.Input][r.Source.File][m] = true
	}
	firsts := map[string]*bench.Run{}
	for _, r := range runs {
		files := models[r.Input]
		if files == nil || r.Config.Get("model") == "" {
			continue
		}
		first := firsts[r.Input]
		if first == nil {
			firsts[r.Input] = r
			continue
		}
		if first.Source.File != r.Source.File && disjoint(files[first.Source.File], files[r.Source.File]) {
			return fmt.Errorf("the label %s names two things: %s in %s and %s in %s; give each its own with LABEL=PATH",
				r.Input, first.Config.Get("model"), first.Source.File, r.Config.Get("model"), r.Source.File)
		}
	}
	return nil
}

func disjoint(a, b map[string]bool) bool {
	for k := range a {
		if b[k] {
			return false
		}
	}
	return true
}
