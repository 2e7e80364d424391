// Package analyze turns runs into facts: normalized values, comparisons,
// findings. It does no input or output and no formatting.
package analyze

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// Normalize makes the values of runs that were measured on one of several
// replicas stand for all of them: throughputs × N, the duration ÷ N, the
// concurrency × N, latencies as they are. The logged value stays in Raw, and a
// finding tells the arithmetic.
func Normalize(runs []*bench.Run) {
	for _, r := range runs {
		n := r.Replicas
		if n <= 1 {
			continue
		}
		example := ""
		for i := range r.Metrics {
			m := &r.Metrics[i]
			info := bench.Lookup(m.Name)
			factor := 1.0
			switch info.Scale {
			case bench.Times:
				factor = float64(n)
			case bench.Divide:
				factor = 1 / float64(n)
			default:
				continue
			}
			m.Value = m.Raw * factor
			if info.Scale == bench.Divide {
				m.Value = m.Raw / float64(n)
			}
			m.Std *= factor
			for k := range m.Samples {
				m.Samples[k] *= factor
			}
			if m.Name == "output_throughput" {
				example = fmt.Sprintf(" (%s → %s output tok/s)", formatFloat(m.Raw), formatFloat(m.Value))
			}
		}
		if c := r.Config.Get("concurrency"); c != "" {
			if x, err := strconv.Atoi(c); err == nil && x > 0 && x < 1<<20 {
				r.Config.Set("concurrency", strconv.Itoa(x*n), r.Config.From("concurrency"))
				r.Config.Add("concurrency_per_replica", c, bench.FromDerived)
				r.Config.Sort()
			}
		}
		r.Findings = append(r.Findings, bench.Finding{
			Code:     "extrapolated",
			Severity: bench.Note,
			Message:  fmt.Sprintf("one of %d replicas was measured: throughput × %d%s, duration ÷ %d, latencies as measured", n, n, example, n),
		})
	}
}

// SetReplicas takes `4` for all runs or `LABEL=4` for those of one input.
func SetReplicas(runs []*bench.Run, words []string) error {
	for _, w := range words {
		label, number, ok := strings.Cut(w, "=")
		if !ok {
			label, number = "", w
		}
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > 1024 {
			return fmt.Errorf("--replicas: expected a number from 1 to 1024, found %q", w)
		}
		found := false
		for _, r := range runs {
			if !ok || r.Input == label || r.Label == label {
				found = true
				r.Replicas = n
				r.Config.Set("replicas", strconv.Itoa(n), bench.FromUser)
				r.Config.Sort()
				updateGPUs(r)
			}
		}
		if !found && len(runs) > 0 {
			return fmt.Errorf("--replicas: no input or run is called %q", label)
		}
	}
	return nil
}

// updateGPUs counts the devices again after the replicas were changed.
func updateGPUs(r *bench.Run) {
	if r.Config.From("gpus") != bench.FromDerived {
		return
	}
	n := r.Replicas
	for _, k := range [...]string{"tp", "pp", "dp"} {
		if x, err := strconv.Atoi(r.Config.Get(k)); err == nil && x > 0 {
			n *= x
		}
	}
	r.Config.Set("gpus", strconv.Itoa(n), bench.FromDerived)
}

// formatFloat writes a figure without the noise of binary fractions.
func formatFloat(x float64) string {
	return strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64)
}
