package analyze

import (
	"fmt"

	"github.com/benchreport/benchreport/bench"
)

// CheckLabels reports a label that stands for different things. Several files
// under one label are repeats of one thing; a mean over two models is none.
func CheckLabels(runs []*bench.Run) error {
	type thing struct{ file, tool, model string }
	first := map[string]thing{}
	for _, r := range runs {
		key := r.Input + "\x00" + r.Source.Tool
		t := thing{r.Source.File, r.Source.Tool, r.Config.Get("model")}
		f, ok := first[key]
		if !ok {
			first[key] = t
			continue
		}
		if f.file != t.file && f.model != t.model && f.model != "" && t.model != "" && !sharesModel(runs, r.Input, f.file, t.model) {
			return fmt.Errorf("the label %s names two things: %s in %s and %s in %s; give each its own with LABEL=PATH", r.Input, f.model, f.file, t.model, t.file)
		}
	}
	return nil
}

// sharesModel reports whether a file of an input has a run of that model, too.
func sharesModel(runs []*bench.Run, input, file, model string) bool {
	for _, r := range runs {
		if r.Input == input && r.Source.File == file && r.Config.Get("model") == model {
			return true
		}
	}
	return false
}
