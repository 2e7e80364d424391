package parse

import (
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// A speculated is the summary of llama-speculative or llama-speculative-simple:
//
//	encoded   26 tokens in    0.130 seconds, speed:  200.000 t/s
//	decoded  240 tokens in    3.000 seconds, speed:   80.000 t/s
//
//	n_draft   = 8
//	n_predict = 240
//	…
//
// It is read as the tool spec-decode. The timing lines of the draft and of the
// target model behind it tell the times of single evaluations, not of the whole.
type speculated struct {
	run *bench.Run
	gap int
}

// speculatedLabels are the labels of the summary and the names of their figures.
var speculatedLabels = map[string]string{
	"n_draft": "", "n_predict": "total_output_tokens", "n_drafted": "num_draft_tokens", "n_accept": "num_accepted_tokens", "accept": "draft_acceptance_rate",
}

func startSpeculated(d *document, l line) bool {
	s := &speculated{run: &bench.Run{Source: bench.Source{Line: l.number, EndLine: l.number, Tool: "spec-decode", Format: "text"}}}
	if s.line(d, l) != taken {
		return false
	}
	d.open(s)
	return true
}

func (s *speculated) line(d *document, l line) verdict {
	text := string(l.msg)
	for label, name := range map[string]string{"encoded ": "prompt_tok_s_per_request", "decoded ": "generation_tok_s_per_request"} {
		if !strings.HasPrefix(text, label) {
			continue
		}
		_, speed, ok := strings.Cut(text, " seconds, speed:")
		speed, ok2 := strings.CutSuffix(strings.TrimSpace(speed), " t/s")
		if !ok || !ok2 || s.run.Has(name) {
			return ended
		}
		if m, ok := d.metric(name, speed, l.number, label+"speed"); ok {
			s.run.Add(m)
		}
		s.run.Source.EndLine = l.number
		return taken
	}
	label, value, ok := strings.Cut(text, "=")
	name, known := speculatedLabels[strings.TrimSpace(label)]
	if !ok || !known {
		if s.gap++; s.gap > 8 {
			return ended
		}
		return passed
	}
	s.run.Source.EndLine = l.number
	value = strings.TrimSpace(value)
	switch {
	case name == "":
		if allDigits(value) {
			s.run.Config.Add("spec_tokens", value, bench.FromLog)
		}
	case name == "draft_acceptance_rate":
		if m, ok := d.metric(name, strings.TrimSuffix(value, "%"), l.number, "accept"); ok {
			s.run.Add(m.Percent())
		}
		return takenLast
	default:
		if m, ok := d.metric(name, value, l.number, strings.TrimSpace(label)); ok {
			s.run.Add(m)
		}
	}
	return taken
}

func (s *speculated) close(d *document) {
	r := s.run
	if !r.Has("num_draft_tokens") {
		return // the speeds alone: lines of something else
	}
	r.Config.Add("engine", "llama.cpp", bench.FromDerived)
	d.ofProcess(r)
	d.emit(r)
	d.resulted(r.Source.EndLine)
}
