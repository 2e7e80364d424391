package parse

import (
	"math"
	"slices"
	"strconv"

	"github.com/benchreport/benchreport/bench"
)

// mergeRestated joins results that stand twice in one document in two forms: a
// table and the JSON of the same process (`llama-bench -o jsonl -oe md`), or a
// note with a table and the full results below. Counted twice, one run would
// look like two that agree. Two results of the same form are two results.
func mergeRestated(runs []*bench.Run) []*bench.Run {
	forms := map[string]string{}
	mixed := false
	for _, r := range runs {
		if r.Source.Tool != "llama-bench" && r.Source.Tool != "lm-eval" {
			continue
		}
		if f, ok := forms[r.Source.Tool]; ok && f != r.Source.Format {
			mixed = true
			break
		}
		forms[r.Source.Tool] = r.Source.Format
	}
	if !mixed {
		return runs
	}
	// Rounded results by what they are; the exact ones look for theirs.
	rounded := map[string][]*bench.Run{}
	for _, r := range runs {
		if r.Source.Format == "md" {
			for _, m := range r.Metrics {
				k := restatedKey(r, m)
				rounded[k] = append(rounded[k], r)
			}
		}
	}
	restated := map[*bench.Run]bool{}
	for _, r := range runs {
		if r.Source.Format == "md" || r.Source.Tool != "llama-bench" && r.Source.Tool != "lm-eval" {
			continue
		}
		var partners []*bench.Run
		for _, m := range r.Metrics {
			k := restatedKey(r, m)
			i := slices.IndexFunc(rounded[k], func(p *bench.Run) bool { return restates(p, r, m.Name) })
			if i < 0 {
				partners = nil
				break
			}
			partners = append(partners, rounded[k][i])
			rounded[k] = slices.Delete(slices.Clone(rounded[k]), i, i+1)
		}
		for _, p := range partners {
			refine(p, r)
		}
		if partners != nil {
			restated[r] = true
		}
	}
	return slices.DeleteFunc(runs, func(r *bench.Run) bool { return restated[r] })
}

// dropQuoted drops serving blocks that lost their title because somebody quoted
// them, where the block itself stands in the document with the very same figures.
func dropQuoted(runs, untitled []*bench.Run) []*bench.Run {
	if len(untitled) == 0 || len(runs) == len(untitled) {
		return runs
	}
	bare := map[*bench.Run]bool{}
	for _, r := range untitled {
		bare[r] = true
	}
	titled := map[string]bool{}
	for _, r := range runs {
		if (r.Source.Tool == "vllm-serve" || r.Source.Tool == "sglang-serve") && !bare[r] {
			titled[figures(r)] = true
		}
	}
	return slices.DeleteFunc(runs, func(r *bench.Run) bool { return bare[r] && titled[figures(r)] })
}

// figures writes all metrics of a run in one line.
func figures(r *bench.Run) string {
	var b []byte
	for _, m := range r.Metrics {
		b = append(b, m.Name...)
		b = append(b, '=')
		b = strconv.AppendFloat(b, m.Raw, 'g', -1, 64)
		b = append(b, ' ')
	}
	return string(b)
}

func restatedKey(r *bench.Run, m bench.Metric) string {
	return r.Source.Tool + "\x00" + r.Config.Get("task") + "\x00" + r.Config.Get("test") + "\x00" + r.Config.Get("depth") + "\x00" + m.Name
}

// restates reports whether a metric of p is that of r, rounded.
func restates(p, r *bench.Run, name string) bool {
	a, _ := p.Metric(name)
	b, _ := r.Metric(name)
	if a.HasStd && b.HasStd && !roundsTo(b.Std, a.Std, a.Decimals) || a.HasStd != b.HasStd {
		return false
	}
	return roundsTo(b.Raw, a.Raw, a.Decimals)
}

func roundsTo(exact, shown float64, decimals int) bool {
	return math.Abs(exact-shown) <= 0.5*math.Pow(10, -float64(decimals))*(1+1e-6)
}

// refine gives a rounded result the exact figures and settings of the other.
func refine(p, exact *bench.Run) {
	for i := range p.Metrics {
		if m, ok := exact.Metric(p.Metrics[i].Name); ok {
			p.Metrics[i] = m
		}
	}
	p.Config.Merge(exact.Config)
	if n := p.Metrics[0].N; n > 0 && p.Config.Has("repetitions") {
		p.Config.Set("repetitions", strconv.Itoa(n), bench.FromJSON)
	}
}
