package parse

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// specDecode reads what a vLLM server says about speculative decoding. The
// lines of the old engine are cumulative, so the last one counts; those of the
// new one are per interval and are summed. They belong to the serving run that
// follows in the same section; without one they are a run of their own.
var specDecode = Format{
	Tool:     "spec-decode",
	Engine:   "vllm",
	Programs: []program{{name: "llama-speculative", engine: "llama.cpp"}, {name: "llama-speculative-simple", engine: "llama.cpp"}},
	Reads:    "server log lines of vLLM (V0 and V1), its offline example's summary, the summary of llama-speculative and llama-speculative-simple",
	Since:    "vLLM v0.4.1 (2024), llama.cpp 2023",
	Example:  "INFO 12-16 16:46:04 metrics.py:482] Speculative metrics: Draft acceptance rate: 0.797, System efficiency: 0.640, …",
	Derives:  "acceptance rate, mean acceptance length and counts summed over the intervals of V1; num_drafts only where the lines tell it",
	Limits:   "lines behind their serving run are a run of their own; the mean acceptance length of v0.8.5 lacks the bonus token; the timing lines of the draft and target model behind llama-speculative are not read",
	Lines: []Start{
		{Prefix: "Speculative metrics: ", Read: readSpecTotal},
		{Prefix: "SpecDecodeWorker stage times: ", Read: readStageTimes},
		{Prefix: "SpecDecoding metrics: ", Read: readSpecInterval},
		{Anywhere: "Speculative metrics: ", Read: readSpecTotal},
		{Anywhere: "SpecDecoding metrics: ", Read: readSpecInterval},
		{Prefix: "total_num_output_tokens: ", Read: startSpecSummary},
		{Prefix: "mean acceptance length", Read: startSpecSummary},
		{Prefix: "encoded ", Read: startSpeculated},
	},
}

// specLines is what was said about speculative decoding since the last run.
type specLines struct {
	first, last int
	n           int // V1 intervals, or V0 lines
	v0          bool
	metrics     []bench.Metric // of the last V0 line
	stages      []bench.Metric
	tokens      string // draft tokens a step

	accepted, drafted, drafts float64
	lengths                   float64   // mean acceptance lengths, weighted by drafted
	positions                 []float64 // accepted at each draft position, weighted likewise
	unsure                    bool      // the number of drafts could not be told
	rate                      downsampled
}

func (s *specLines) at(number int) {
	if s.first == 0 {
		s.first = number
	}
	s.last = number
}

// readSpecTotal reads a line of the old engine.
func readSpecTotal(d *document, l line) bool {
	i := bytes.Index(l.text, []byte("Speculative metrics: "))
	if i < 0 {
		return false
	}
	s := &d.spec
	var metrics []bench.Metric
	tokens := ""
	for _, part := range strings.Split(strings.TrimRight(string(l.text[i+len("Speculative metrics: "):]), ",. "), ", ") {
		label, value, ok := strings.Cut(part, ": ")
		if !ok {
			continue
		}
		name := ""
		switch strings.Replace(label, "tokens tokens", "tokens", 1) {
		case "Draft acceptance rate":
			name = "draft_acceptance_rate"
		case "System efficiency":
			name = "system_efficiency"
		case "Number of accepted tokens":
			name = "num_accepted_tokens"
		case "Number of draft tokens":
			name = "num_draft_tokens"
		case "Number of emitted tokens":
			name = "num_emitted_tokens"
		case "Number of speculative tokens":
			if plainNumber([]byte(value)) {
				tokens = value
			}
			continue
		default:
			continue
		}
		if m, ok := d.metric(name, value, l.number, label); ok {
			metrics = append(metrics, m)
		}
	}
	if len(metrics) == 0 {
		return true
	}
	s.at(l.number)
	s.v0 = true
	s.n++
	s.metrics, s.tokens = metrics, tokens
	s.rate.add(metrics[0].Value)
	return true
}

// readStageTimes reads the times of the old engine's last step, in ms.
func readStageTimes(d *document, l line) bool {
	d.spec.stages = d.spec.stages[:0]
	for _, part := range strings.Fields(string(l.msg[len("SpecDecodeWorker stage times: "):])) {
		name, value, _ := strings.Cut(part, "=")
		if !bench.IsKnown(name) {
			continue
		}
		if m, ok := d.metric(name, value, l.number, name); ok {
			d.spec.stages = append(d.spec.stages, m)
		}
	}
	return true
}

// readSpecInterval reads a line of the new engine.
func readSpecInterval(d *document, l line) bool {
	i := bytes.Index(l.text, []byte("SpecDecoding metrics: "))
	if i < 0 {
		return false
	}
	b := l.text[i:]
	accepted, ok := valueAfter(b, ", Accepted: ")
	if !ok {
		accepted, ok = valueAfter(b, "metrics: Accepted: ")
	}
	drafted, ok2 := valueAfter(b, "Drafted: ")
	if !ok || !ok2 {
		d.notef(l.number, "SpecDecoding metrics: expected Accepted and Drafted, found %q", printable(clip(b)))
		return true
	}
	s := &d.spec
	s.at(l.number)
	s.n++
	s.accepted += accepted
	s.drafted += drafted
	rates := perPosition(b)
	mean, hasMean := valueAfter(b, "Mean acceptance length: ")
	drafts, sure := draftsOf(accepted, drafted, mean, hasMean, len(rates))
	if !sure {
		s.unsure = true
	}
	s.drafts += drafts
	s.lengths += mean * drafted
	for k, rate := range rates {
		if k >= 256 {
			break
		}
		for len(s.positions) <= k {
			s.positions = append(s.positions, 0)
		}
		s.positions[k] += rate * drafted
	}
	if drafted > 0 {
		s.rate.add(accepted / drafted)
	}
	return true
}

// draftsOf tells how many drafts an interval had, if every draft had all its
// tokens: drafted over the number of positions. That must be whole and agree
// with the mean acceptance length, 1 + accepted/drafts, since some methods
// draft fewer. Only v0.8.5 left the 1 out.
func draftsOf(accepted, drafted, mean float64, hasMean bool, positions int) (float64, bool) {
	if drafted == 0 {
		return 0, true
	}
	if !hasMean {
		return 0, false
	}
	const half = 0.005 // of the last printed digit
	if n := drafted / float64(positions); positions > 0 && n == math.Trunc(n) {
		for _, bonus := range [...]float64{1, 0} {
			if math.Abs(bonus+accepted/n-mean) <= half+1e-9 {
				return n, true
			}
		}
	}
	return 0, false
}

// perPosition reads the acceptance rates at each draft position, a list that
// holds the same commas as the line around it.
func perPosition(b []byte) []float64 {
	const label = "Per-position acceptance rate: "
	i := bytes.Index(b, []byte(label))
	if i < 0 {
		return nil
	}
	var rates []float64
	for part := range strings.SplitSeq(string(b[i+len(label):]), ", ") {
		x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !plainNumber([]byte(strings.TrimSpace(part))) {
			break
		}
		rates = append(rates, x)
	}
	return rates
}

// result makes metrics of the lines since the last run.
func (s *specLines) result() []bench.Metric {
	if s.v0 {
		return append(s.metrics, s.stages...)
	}
	var out []bench.Metric
	add := func(name string, x float64, derived bool) {
		if finite(x) { // a server that drafted nothing tells rates all the same
			out = append(out, bench.Metric{Name: name, Value: x, Decimals: -1, Derived: derived})
		}
	}
	if s.drafted > 0 {
		add("draft_acceptance_rate", s.accepted/s.drafted, true)
	}
	if s.drafts > 0 && !s.unsure {
		add("mean_acceptance_length", 1+s.accepted/s.drafts, true)
	} else if s.lengths > 0 {
		add("mean_acceptance_length", s.lengths/s.drafted, true)
	}
	add("num_accepted_tokens", s.accepted, true)
	add("num_draft_tokens", s.drafted, true)
	if s.drafts > 0 && !s.unsure {
		add("num_drafts", s.drafts, true)
	}
	for k, x := range s.positions {
		add("acceptance_rate_pos"+strconv.Itoa(k), x/s.drafted, true)
	}
	return out
}

// attachSpec gives a serving run what was said about speculative decoding
// before it, unless it says that itself.
func (d *document) attachSpec(r *bench.Run) {
	s := d.spec
	d.spec = specLines{}
	if s.n == 0 || r.Has("draft_acceptance_rate") {
		return
	}
	for _, m := range s.result() {
		r.Add(m)
	}
	r.Config.Add("spec_tokens", s.tokens, bench.FromLog)
	r.Series = append(r.Series, s.rate.series("draft_acceptance_rate"))
}

// flushSpec makes a run of lines that belong to no serving run.
func (d *document) flushSpec() {
	s := d.spec
	d.spec = specLines{}
	if s.n == 0 {
		return
	}
	r := &bench.Run{Source: bench.Source{Line: s.first, EndLine: s.last, Tool: "spec-decode", Format: "text"}}
	for _, m := range s.result() {
		r.Add(m)
	}
	r.Add(bench.Metric{Name: "intervals", Value: float64(s.n)})
	r.Config.Add("spec_tokens", s.tokens, bench.FromLog)
	r.Series = []bench.Series{s.rate.series("draft_acceptance_rate")}
	d.emit(r)
}

// A specSummary is what vLLM's offline speculative decoding example prints.
type specSummary struct {
	run *bench.Run
}

func startSpecSummary(d *document, l line) bool {
	s := &specSummary{&bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "spec-decode", Format: "text"}}}
	if s.line(d, l) != taken {
		return false
	}
	d.open(s)
	return true
}

func (s *specSummary) line(d *document, l line) verdict {
	label, value, ok := strings.Cut(string(l.msg), ":")
	if len(l.text) == 0 || isRule(l.text, '-') {
		return taken
	}
	if !ok {
		return ended
	}
	value = strings.TrimSpace(value)
	name := label
	switch label {
	case "total_num_output_tokens":
		name = "total_output_tokens"
	case "num_drafts", "num_draft_tokens", "num_accepted_tokens":
	case "mean acceptance length", "mean acceptance length (including bonus tokens)":
		name = "mean_acceptance_length"
	default:
		k, ok := strings.CutPrefix(label, "acceptance at token ")
		if !ok || !plainNumber([]byte(k)) {
			return ended
		}
		name = "acceptance_rate_pos" + k
	}
	if s.run.Has(name) || !plainNumber([]byte(value)) {
		return ended
	}
	if m, ok := d.metric(name, value, l.number, label); ok {
		s.run.Add(m)
	}
	s.run.Source.EndLine = l.number
	return taken
}

func (s *specSummary) close(d *document) {
	r := s.run
	if len(r.Metrics) < 2 {
		return
	}
	accepted, ok := r.Metric("num_accepted_tokens")
	drafted, ok2 := r.Metric("num_draft_tokens")
	if ok && ok2 && drafted.Value > 0 {
		r.Add(bench.Metric{Name: "draft_acceptance_rate", Value: accepted.Value / drafted.Value, Decimals: -1, Derived: true})
	}
	d.emit(r)
}
