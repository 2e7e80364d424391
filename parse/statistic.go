package parse

import (
	"math"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// statisticWords are the words by which tools name a statistic.
var statisticWords = map[string]string{
	"mean": "mean", "avg": "mean", "average": "mean", "median": "median", "p50": "median", "min": "min", "minimum": "min",
	"max": "max", "maximum": "max", "std": "std", "stddev": "std",
}

// statistic gives the name of a statistic in our metrics: mean, median, min,
// max, std or a percentile such as p99.9.
func statistic(word string) (string, bool) {
	word = strings.ToLower(word)
	if s, ok := statisticWords[word]; ok {
		return s, true
	}
	p, ok := strings.CutPrefix(word, "p")
	return word, ok && len(p) <= 6 && plainNumber([]byte(p)) && strings.Trim(p, "0123456789.") == "" && isDigit(p[0]) && isDigit(p[len(p)-1])
}

// scaled is a metric in another unit: 1000 for seconds that become ms, 0.001
// for ms that become seconds.
func scaled(m bench.Metric, factor float64) bench.Metric {
	if factor == 1 {
		return m
	}
	// To 15 digits, so that 0.3784 s is 378.4 ms and not 378.40000000000003.
	if x, err := strconv.ParseFloat(strconv.FormatFloat(m.Value*factor, 'g', 15, 64), 64); err == nil {
		m.Value, m.Raw = x, x
	}
	if m.Decimals >= 0 {
		m.Decimals = max(0, m.Decimals-int(math.Round(math.Log10(factor))))
	}
	return m
}

// maxStatistics is how many statistics of one measurement, and figures of one
// flat result, are read. Tools write a dozen of the first and some fifty of the
// second.
const maxStatistics = 100

// jsonStatistics adds the statistics of the object under a key, {"mean": …,
// "p99": …}, as those of a family: mean_ttft_ms for the family ttft_ms.
func (d *document) jsonStatistics(r *bench.Run, o *object, key, family string, factor float64) {
	m := o.get(key)
	switch {
	case m == nil || m.kind == jsonNull:
		return
	case m.object == nil:
		d.errorf(m.line, "%s: expected an object, found %s", printable(clip(m.key)), kindName(m.kind))
		return
	}
	stats := m.object.members
	for i := range stats[:min(len(stats), maxStatistics)] {
		stat, ok := statistic(stats[i].key)
		if !ok {
			continue
		}
		if metric, ok := d.jsonNumber(&stats[i], stat+"_"+family); ok {
			r.Add(scaled(metric, factor))
		}
	}
}

// totals derives how many tokens a run took in and gave out from the means over
// its requests.
func totals(r *bench.Run) {
	if r.Completed == nil {
		return
	}
	for _, of := range [...][2]string{{"mean_input_tokens", "total_input_tokens"}, {"mean_output_tokens", "total_output_tokens"}} {
		if m, ok := r.Metric(of[0]); ok && m.Value > 0 {
			if n := math.Round(m.Value * float64(*r.Completed)); finite(n) {
				r.Add(bench.Metric{Name: of[1], Value: n, Derived: true})
			}
		}
	}
}
