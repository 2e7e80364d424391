package main

import (
	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/parse"
)

// inputFlags are shared by the commands that read logs.
type inputFlags struct {
	Inputs  []string `arg:"" name:"input" help:"A file, a folder, a glob, or - for standard input; LABEL=PATH names it, LABEL=PATH@x4 says it is one of 4 replicas." sep:"none"`
	Where   []string `help:"Keep runs by KEY=VALUE,KEY!=VALUE,KEY~REGEX." placeholder:"KEY=VALUE" sep:"none"`
	Lenient bool     `help:"Exit 0 even if some input could not be read."`

	Tables      bool     `help:"Read published Markdown tables of results too."`
	Replicas    []string `help:"The runs (of LABEL) are of one of N replicas." placeholder:"[LABEL=]N" sep:"none"`
	NoNormalize bool     `help:"Leave values of replicas as they were logged."`
}

// tell says what was wrong with the inputs, and what is worth knowing.
func (a *app) tell(result *parse.Result) {
	for _, p := range result.Errors {
		a.say("%v", p)
	}
	const most = 20
	for i, p := range result.Notes {
		if i == most {
			a.say("and %d more notes", len(result.Notes)-most)
			break
		}
		a.say("%v", p)
	}
}

// labels are those that the user gave.
func (f *inputFlags) labels() []string {
	var out []string
	for _, arg := range f.Inputs {
		if in, err := parse.ParseInput(arg); err == nil && in.Label != "" {
			out = append(out, in.Label)
		}
	}
	return out
}

// load reads the inputs, tells what was wrong with them, and returns the runs
// that the user asked for.
func (f *inputFlags) load(a *app) ([]*bench.Run, []bench.Problem, error) {
	keep, err := analyze.ParseWhere(f.Where)
	if err != nil {
		return nil, nil, err
	}
	var all []*bench.Run
	result, err := f.read(a, func(some []*bench.Run) { all = append(all, some...) })
	if err != nil {
		return nil, nil, err
	}
	if err := analyze.SetReplicas(all, f.Replicas); err != nil {
		return nil, nil, err
	}
	f.normalize(all)
	if len(all) > 0 {
		if err := keep.Check(all); err != nil {
			return nil, nil, err
		}
	}
	runs := keep.Filter(all)
	if len(runs) == 0 && len(all) > 0 {
		a.say("none of %d runs fits --where", len(all))
		a.status = exitTrouble
	}
	return runs, result.Errors, nil
}

// each does what load does, and gives the runs away as they are read, some at a
// time, where nothing is asked that only all of them can answer.
func (f *inputFlags) each(a *app, yield func([]*bench.Run)) ([]bench.Problem, error) {
	if len(f.Where) > 0 || len(f.Replicas) > 0 || isTerminal(a.stdout) { // which shows the progress too
		runs, problems, err := f.load(a)
		yield(runs)
		return problems, err
	}
	result, err := f.read(a, func(some []*bench.Run) {
		f.normalize(some)
		yield(some)
	})
	if err != nil {
		return nil, err
	}
	return result.Errors, nil
}

func (f *inputFlags) normalize(runs []*bench.Run) {
	if !f.NoNormalize {
		analyze.Normalize(runs)
	}
}

// read reads the inputs and tells what was wrong with them.
func (f *inputFlags) read(a *app, yield func([]*bench.Run)) (*parse.Result, error) {
	var inputs []parse.Input
	for _, arg := range f.Inputs {
		in, err := parse.ParseInput(arg)
		if err != nil {
			return nil, err
		}
		in.Tables = f.Tables
		inputs = append(inputs, in)
	}
	runs := 0
	result := a.readEach(inputs, func(some []*bench.Run) {
		runs += len(some)
		yield(some)
	})
	a.tell(result)
	if result.WithRuns < len(f.Inputs) && result.WithRuns > 0 {
		a.say("found results in %d of %d inputs", result.WithRuns, len(f.Inputs))
	}
	if runs == 0 {
		a.say("no benchmark result in any input (benchreport formats lists what is read)")
		a.status = exitTrouble
	} else if len(result.Errors) > 0 && !f.Lenient {
		a.status = exitTrouble
	}
	return result, nil
}
