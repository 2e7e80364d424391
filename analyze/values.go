package analyze

import (
	"math"
	"strconv"

	"github.com/benchreport/benchreport/bench"
	"gonum.org/v1/gonum/stat"
)

// center is the mean of repeats: the geometric one, since changes are ratios.
func center(values []float64) float64 {
	for _, x := range values {
		if x <= 0 {
			return stat.Mean(values, nil)
		}
	}
	if len(values) == 1 {
		return values[0]
	}
	return stat.GeometricMean(values, nil)
}

// halfUnit is half of the last digit that a log printed.
func halfUnit(m bench.Metric) float64 {
	if m.Decimals < 0 {
		return 0
	}
	return 0.5 * math.Pow(10, -float64(m.Decimals))
}

// precise returns a metric at the best precision that the run allows. Request
// rates are printed with two decimals, so 0.05 may be anything from 0.045 on;
// completed ÷ duration tells it to four digits.
func precise(r *bench.Run, name string) (value, uncertainty float64, ok bool) {
	m, ok := r.Metric(name)
	if !ok {
		return 0, 0, false
	}
	value = m.Value
	uncertainty = halfUnit(m) / math.Abs(m.Raw)
	if m.Raw == 0 {
		uncertainty = math.Inf(1)
	}
	x, u, ok := recomputed(r, name)
	if !ok || u >= uncertainty {
		return value, uncertainty, true
	}
	// Where the two disagree the printed one stands; the arithmetic is told.
	if math.Abs(x-m.Raw) > halfUnit(m)+math.Abs(x)*u*1.01 {
		return value, uncertainty, true
	}
	return x * scaleOf(r, m), u, true
}

// scaleOf is what normalization did to a metric.
func scaleOf(r *bench.Run, m bench.Metric) float64 {
	if r.Replicas <= 1 || m.Raw == 0 {
		return 1
	}
	return m.Value / m.Raw
}

// recomputed computes a throughput as logged from counts and the duration, with
// its relative uncertainty.
func recomputed(r *bench.Run, name string) (value, uncertainty float64, ok bool) {
	d, ok := r.Metric("duration")
	if !ok || d.Raw <= 0 || !serving(r) {
		return 0, 0, false
	}
	count := func(key string) (float64, bool) {
		m, ok := r.Metric(key)
		return m.Raw, ok && m.Raw > 0
	}
	in, haveIn := count("total_input_tokens")
	out, haveOut := count("total_output_tokens")
	n, haveN := count("completed")
	u := halfUnit(d) / d.Raw
	switch name {
	case "request_throughput":
		return n / d.Raw, u, haveN
	case "output_throughput":
		return out / d.Raw, u, haveOut
	case "input_throughput":
		return in / d.Raw, u, haveIn
	case "total_token_throughput":
		return (in + out) / d.Raw, u, haveIn && haveOut
	}
	return 0, 0, false
}

// serving reports whether a run is of a tool whose throughputs are counts over
// its duration.
func serving(r *bench.Run) bool {
	return r.Source.Tool == "vllm-serve" || r.Source.Tool == "sglang-serve"
}

// perRequest returns the mean input and output tokens of the completed requests.
func perRequest(r *bench.Run) (in, out float64, ok bool) {
	if r.Completed == nil || *r.Completed == 0 {
		return 0, 0, false
	}
	n := float64(*r.Completed)
	i, ok1 := r.Metric("total_input_tokens")
	o, ok2 := r.Metric("total_output_tokens")
	if !ok1 || i.Raw <= 0 {
		return 0, 0, false
	}
	if ok2 {
		out = o.Raw / n
	}
	return i.Raw / n, out, true
}

// isMissing reports whether a zero stands for what was not measured: a latency
// or a rate of completed requests is never 0.
func isMissing(r *bench.Run, m bench.Metric) bool {
	if m.Value < 0 && (bench.Lookup(m.Name).Better != bench.Neither) {
		return true // impossible, so not a measurement
	}
	if m.Value != 0 {
		return false
	}
	if _, _, latency := bench.SplitLatency(m.Name); !latency && r.Completed != nil && *r.Completed == 0 {
		return false // where nothing completed, a rate is really 0
	}
	if x, _, ok := recomputed(r, m.Name); ok && x > 0 && x <= halfUnit(m) {
		return false // so slow that two decimals show nothing
	}
	if stat, _, ok := bench.SplitLatency(m.Name); ok {
		return stat != "std" && stat != "min"
	}
	switch m.Name {
	case "duration", "request_throughput", "output_throughput", "total_token_throughput", "avg_ts", "avg_latency":
		return true
	}
	return false
}

// A derivedMetric is computed on request from what a run has.
type derivedMetric struct {
	name    string
	price   bool // it needs the price of a GPU
	compute func(r *bench.Run, o Options) (float64, bool)
}

var derivedMetrics = []derivedMetric{
	{"output_throughput_per_gpu", false, perGPU("output_throughput")},
	{"total_throughput_per_gpu", false, perGPU("total_token_throughput")},
	{"tok_s_per_user", false, func(r *bench.Run, _ Options) (float64, bool) {
		if m, ok := r.Metric("generation_tok_s_per_request"); ok {
			return m.Value, true // by llama-server's own clock
		}
		m, ok := r.Metric("mean_tpot_ms")
		return 1000 / m.Value, ok && m.Value > 0
	}},
	{"ms_per_output_token", false, func(r *bench.Run, _ Options) (float64, bool) {
		d, ok := r.Metric("duration")
		o, ok2 := r.Metric("total_output_tokens")
		return 1000 * d.Value / o.Value, ok && ok2 && o.Value > 0
	}},
	{"cost_per_million_output_tokens", true, cost("output_throughput")},
	{"cost_per_million_tokens", true, cost("total_token_throughput")},
}

func perGPU(metric string) func(*bench.Run, Options) (float64, bool) {
	return func(r *bench.Run, _ Options) (float64, bool) {
		x, _, ok := precise(r, metric)
		g, ok2 := gpus(r)
		return x / g, ok && ok2
	}
}

func cost(metric string) func(*bench.Run, Options) (float64, bool) {
	return func(r *bench.Run, o Options) (float64, bool) {
		x, _, ok := precise(r, metric)
		g, ok2 := gpus(r)
		return 1e6 * o.GPUPrice * g / (3600 * x), ok && ok2 && x > 0
	}
}

func gpus(r *bench.Run) (float64, bool) {
	g := parseFloat(r.Config.Get("gpus"))
	return g, g > 0
}

// derive adds the derived metrics that are asked for to the runs that allow them.
func derive(runs []*bench.Run, o Options) {
	for _, d := range derivedMetrics {
		// It is the one figure that a client and a server's own log both give.
		wanted := o.Sort == d.name || d.name == "tok_s_per_user" && o.Metrics == nil && serverBesideClient(runs)
		for _, m := range o.Metrics {
			wanted = wanted || m == d.name
		}
		if !wanted {
			continue
		}
		for _, r := range runs {
			r.Drop(func(m bench.Metric) bool { return m.Name == d.name && m.Derived })
			if x, ok := d.compute(r, o); ok && !math.IsNaN(x) && !math.IsInf(x, 0) {
				r.Add(bench.Metric{Name: d.name, Value: x, Decimals: -1, Derived: true})
			}
		}
	}
}

// parseFloat reads a setting as a number, NaN if it is none.
func parseFloat(s string) float64 {
	if s == "" {
		return math.NaN() // most often, and an error takes long to make
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.NaN()
	}
	return x
}
