package analyze

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// A runCheck looks at one run. It returns what is doubtful about it, with its
// figures, in one sentence; the name of the run is put in front of it.
type runCheck struct {
	code  string
	check func(r *bench.Run) (bench.Severity, string)
}

// A sectionCheck looks at the runs that a table puts side by side.
type sectionCheck struct {
	code  string
	check func(s *Section, add func(severity bench.Severity, message string, runs ...*bench.Run))
}

// The checks. To add one, write a function and a line here.
var (
	runChecks = []runCheck{
		{"inconsistent-arithmetic", arithmetic},
		{"statistics-order", statisticsOrder},
		{"mean-outlier", meanOutlier},
		{"itl-per-chunk", perChunk},
		{"too-few-waves", tooFewWaves},
		{"saturated", saturated},
		{"spec-counters", specCounters},
		{"zero-means-missing", zeroMeansMissing},
	}
	sectionChecks = []sectionCheck{
		{"unlike-workload", unlikeWorkload},
		{"survivor-bias", survivorBias},
		{"same-server-suspect", sameServer},
		{"confounded", confounded},
		{"model-mismatch", modelMismatch},
		{"client-mismatch", clientMismatch},
		{"warm-cache-suspect", warmCache},
		{"confounded", hardlyRepeats},
		{"confounded", foldsDifferent},
		{"coarse-rounding", coarseRounding},
		{"p99-is-max", p99IsMax},
		{"no-spread", noSpread},
	}
)

// check runs all checks over a report.
func check(rep *Report) []bench.Finding {
	var out []bench.Finding
	for _, s := range rep.Sections {
		for _, row := range s.Rows {
			for _, r := range row.Runs {
				for _, c := range runChecks {
					if severity, text := c.check(r); text != "" {
						out = append(out, bench.Finding{Code: c.code, Severity: severity, Message: s.runName(row, r) + ": " + text, Runs: []string{r.ID}})
					}
				}
			}
		}
		for _, c := range sectionChecks {
			c.check(s, func(severity bench.Severity, message string, runs ...*bench.Run) {
				f := bench.Finding{Code: c.code, Severity: severity, Message: message}
				for _, r := range runs {
					f.Runs = append(f.Runs, r.ID)
				}
				out = append(out, f)
			})
		}
	}
	return append(out, labelVsPhysics(rep)...)
}

// runName names a run in a sentence: by its row, and by its line where the row
// has several.
func (s *Section) runName(row *Row, r *bench.Run) string {
	name := s.Name(row)
	if len(row.Runs) > 1 {
		name += " (" + r.Source.File + ":" + strconv.Itoa(r.Source.Line) + ")"
	}
	return name
}

// arithmetic (C8): a throughput is a count over the duration, the total the sum
// of its parts, within what rounding explains.
func arithmetic(r *bench.Run) (bench.Severity, string) {
	for _, of := range [...]struct{ name, what string }{
		{"request_throughput", "completed ÷ duration"}, {"output_throughput", "output tokens ÷ duration"},
		{"input_throughput", "input tokens ÷ duration"}, {"total_token_throughput", "all tokens ÷ duration"},
	} {
		m, ok := r.Metric(of.name)
		if !ok {
			continue
		}
		x, u, ok := recomputed(r, of.name)
		if !ok {
			continue
		}
		if slack := halfUnit(m) + math.Abs(x)*(u+1e-6); math.Abs(x-m.Raw) > 1.01*slack+1e-9 && short(m.Raw) != short(x) {
			return bench.Error, fmt.Sprintf("%s is printed as %s, but %s is %s", of.name, short(m.Raw), of.what, short(x))
		}
	}
	if r.Source.Tool == "guidellm" {
		return "", "" // each of its rates is over a time of its own
	}
	in, ok1 := r.Metric("input_throughput")
	out, ok2 := r.Metric("output_throughput")
	total, ok3 := r.Metric("total_token_throughput")
	if slack := halfUnit(in) + halfUnit(out) + halfUnit(total) + 1e-6*total.Raw; ok1 && ok2 && ok3 && math.Abs(in.Raw+out.Raw-total.Raw) > 1.01*slack && short(in.Raw+out.Raw) != short(total.Raw) {
		return bench.Error, fmt.Sprintf("input and output throughput are %s and %s, but the total is %s", short(in.Raw), short(out.Raw), short(total.Raw))
	}
	return "", ""
}

// statisticsOrder (C9): percentiles rise, and the mean lies below the highest.
func statisticsOrder(r *bench.Run) (bench.Severity, string) {
	severity := bench.Error
	if r.Source.Tool == "locust" || r.Source.Tool == "fw-ai" {
		severity = bench.Note // its percentiles are rounded to buckets
	}
	for _, family := range [...]string{"ttft", "tpot", "itl", "e2el"} {
		type point struct {
			p float64
			m bench.Metric
		}
		var points []point
		var mean *bench.Metric
		for i := range r.Metrics {
			m := r.Metrics[i]
			stat, f, ok := bench.SplitLatency(m.Name)
			if !ok || f != family || isMissing(r, m) {
				continue
			}
			switch stat {
			case "mean":
				mean = &r.Metrics[i]
			case "std":
			case "min":
				points = append(points, point{0, m})
			case "median":
				points = append(points, point{50, m})
			case "max":
				points = append(points, point{101, m})
			default:
				points = append(points, point{parseFloat(stat[1:]), m})
			}
		}
		slices.SortStableFunc(points, func(a, b point) int { return int(math.Copysign(1, a.p-b.p)) })
		for i, b := range points {
			for _, a := range points[:i] {
				if a.p < b.p && a.m.Raw > b.m.Raw+halfUnit(a.m)+halfUnit(b.m) {
					return severity, fmt.Sprintf("%s %s is above %s %s", a.m.Name, short(a.m.Raw), b.m.Name, short(b.m.Raw))
				}
			}
		}
		if n := len(points); mean != nil && n > 0 && points[n-1].p >= 99 {
			if top := points[n-1]; mean.Raw > top.m.Raw+halfUnit(*mean)+halfUnit(top.m) {
				return severity, fmt.Sprintf("%s %s is above %s %s", mean.Name, short(mean.Raw), top.m.Name, short(top.m.Raw))
			}
			// The maximum may hide that the mean is above every percentile.
			for _, pt := range points {
				if pt.p >= 99 && pt.p <= 100 && mean.Raw > pt.m.Raw+halfUnit(*mean)+halfUnit(pt.m) {
					return severity, fmt.Sprintf("%s %s is above %s %s", mean.Name, short(mean.Raw), pt.m.Name, short(pt.m.Raw))
				}
			}
		}
	}
	peak, ok := r.Metric("max_output_tokens_per_s")
	out, ok2 := r.Metric("output_throughput")
	if ok && ok2 && peak.Raw > 0 && peak.Raw < 0.9*out.Raw && !speculative(r) {
		return bench.Error, fmt.Sprintf("the peak of %s output tok/s is below the mean of %s", short(peak.Raw), short(out.Raw))
	}
	return "", ""
}

// speculative reports whether a run decodes speculatively: then what is
// streamed is a chunk of tokens.
func speculative(r *bench.Run) bool {
	return r.Has("draft_acceptance_rate") || r.Config.Has("draft_model") || r.Config.Has("spec_tokens") || r.Config.Has("spec_method")
}

// middles are the latencies whose mean is held against their median.
var middles = [...]struct{ title, mean, median string }{
	{"TTFT", "mean_ttft_ms", "median_ttft_ms"}, {"TPOT", "mean_tpot_ms", "median_tpot_ms"}, {"E2EL", "mean_e2el_ms", "median_e2el_ms"},
}

// meanOutlier (C10): a mean far above its median is that of a few requests.
func meanOutlier(r *bench.Run) (bench.Severity, string) {
	var parts []string
	for _, of := range middles {
		mean, ok := r.Metric(of.mean)
		median, ok2 := r.Metric(of.median)
		if ok && ok2 && median.Raw > 0 && mean.Raw > 3*median.Raw {
			parts = append(parts, fmt.Sprintf("mean %s %s ms is %.1f× its median %s ms", of.title, short(mean.Raw), mean.Raw/median.Raw, short(median.Raw)))
		}
	}
	if parts != nil {
		return bench.Warning, strings.Join(parts, ", ") + ": a few requests decide the mean, so compare the median"
	}
	for _, of := range middles {
		mean, ok := r.Metric(of.mean)
		median, ok2 := r.Metric(of.median)
		if ok && ok2 && mean.Raw > 0 && median.Raw > 1.3*mean.Raw {
			return bench.Warning, fmt.Sprintf("median %s %s ms is %.1f× its mean %s ms: there are two kinds of requests", of.title, short(median.Raw), median.Raw/mean.Raw, short(mean.Raw))
		}
	}
	return "", ""
}

// maxPerChunk is how many tokens a streamed chunk may hold before its latency
// is not that of a token.
const maxPerChunk = 1.2

// tokensPerChunk estimates how many tokens one streamed chunk holds.
func tokensPerChunk(r *bench.Run) (float64, bool) {
	itl, ok := r.Metric("mean_itl_ms")
	if !ok || itl.Raw <= 0 {
		return 0, false
	}
	e2e, ok1 := r.Metric("mean_e2el_ms")
	ttft, ok2 := r.Metric("mean_ttft_ms")
	out, ok3 := r.Metric("total_output_tokens")
	if ok1 && ok2 && ok3 && r.Completed != nil && e2e.Raw > ttft.Raw && out.Raw > float64(*r.Completed) {
		n := float64(*r.Completed)
		return (out.Raw - n) * itl.Raw / (n * (e2e.Raw - ttft.Raw)), true
	}
	tpot, ok := r.Metric("mean_tpot_ms")
	if !ok || tpot.Raw <= 0 {
		return 0, false
	}
	return itl.Raw / tpot.Raw, true
}

// perChunk (C11): the ITL of a stream that sends several tokens at once.
func perChunk(r *bench.Run) (bench.Severity, string) {
	if q, ok := tokensPerChunk(r); ok && q > maxPerChunk {
		return bench.Warning, fmt.Sprintf("a streamed chunk holds about %.1f tokens (from mean ITL and TPOT), so its ITL is not per token and is not compared", q)
	}
	return "", ""
}

// tooFewWaves (C12): a run that is mostly ramp-up and tail.
func tooFewWaves(r *bench.Run) (bench.Severity, string) {
	if !serving(r) {
		return "", ""
	}
	var parts []string
	c := parseFloat(r.Config.Get("concurrency"))
	if p := parseFloat(r.Config.Get("concurrency_per_replica")); p > 0 {
		c = p
	}
	if r.Attempted != nil && c > 1 && float64(*r.Attempted)/c < 8 {
		parts = append(parts, fmt.Sprintf("%d requests at concurrency %g are %.3g waves (8 or more show the steady state)", *r.Attempted, c, float64(*r.Attempted)/c))
	}
	d, ok := r.Metric("duration")
	if ok && d.Raw > 0 {
		if p99, ok := r.Metric("p99_e2el_ms"); ok && p99.Raw/1000 > 0.5*d.Raw {
			parts = append(parts, fmt.Sprintf("P99 E2EL is %.0f %% of the duration, so the longest request decides it", p99.Raw/10/d.Raw))
		}
		if d.Raw < 30 {
			parts = append(parts, fmt.Sprintf("it lasted %s s", short(d.Raw)))
		}
	}
	if parts == nil {
		return "", ""
	}
	return bench.Warning, strings.Join(parts, "; ")
}

// saturated (C13): more was offered than served, so latencies are those of the
// queue.
func saturated(r *bench.Run) (bench.Severity, string) {
	offered := parseFloat(r.Config.Get("request_rate"))
	m, ok := r.Metric("request_throughput")
	served := m.Raw // by the replica that the requests were offered to
	if x, _, ok := recomputed(r, "request_throughput"); ok {
		served = x
	}
	if !ok || !(offered > 0) || math.IsInf(offered, 0) || offered <= 1.5*served || served <= 0 {
		return "", ""
	}
	return bench.Warning, fmt.Sprintf("%g req/s were offered, %s served: TTFT is the wait in the queue", offered, short(served))
}

// specCounters (C20): the server's counters and the client's are not of the same
// requests.
func specCounters(r *bench.Run) (bench.Severity, string) {
	emitted, ok := r.Metric("num_emitted_tokens")
	out, ok2 := r.Metric("total_output_tokens")
	if !ok || !ok2 || r.Completed == nil || out.Raw <= 0 {
		return "", ""
	}
	if least := 0.9 * (out.Raw - float64(*r.Completed)); emitted.Raw <= out.Raw && emitted.Raw >= least {
		return "", ""
	}
	return bench.Warning, fmt.Sprintf("the server emitted %s tokens, the client counted %s: not the same requests, so acceptance is not exactly that of this run", short(emitted.Raw), short(out.Raw))
}

// zeroMeansMissing (C21): a zero for what cannot be zero.
func zeroMeansMissing(r *bench.Run) (bench.Severity, string) {
	var names []string
	what := "0 for "
	for _, m := range r.Metrics {
		if isMissing(r, m) {
			names = append(names, m.Name)
			if m.Value < 0 {
				what = "less than 0 for "
			}
		}
	}
	if names == nil {
		return "", ""
	}
	if len(names) > 4 {
		names = append(names[:3], fmt.Sprintf("%d more", len(names)-3))
	}
	return bench.Warning, what + strings.Join(names, ", ") + ": not measured, and not compared"
}
