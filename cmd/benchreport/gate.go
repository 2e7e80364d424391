package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/forge"
	"github.com/benchreport/benchreport/parse"
	"github.com/benchreport/benchreport/render"
)

type gateCmd struct {
	gateFlags
	outputFlags
	SelfTest bool   `help:"Fail if a made-up regression passes."`
	Format   string `help:"How to write it: ${enum}." enum:"md,text,json,github" default:"md"`
}

// gateFlags are what a gate holds against what, and how.
type gateFlags struct {
	sideFlags
	statFlags
	Metrics       []string `help:"What is gated (default: few, by tool)." placeholder:"NAMES"`
	Where         []string `help:"Keep runs by KEY=VALUE,KEY!=VALUE,KEY~REGEX." placeholder:"KEY=VALUE" sep:"none"`
	Partial       string   `help:"May partial runs be compared: ${enum}." enum:"exclude,include" default:"exclude"`
	FailOn        []string `help:"What does not pass, of ${outcomes} (default: ${fail_on})." placeholder:"OUTCOMES"`
	WithinProcess bool     `help:"Count repetitions inside one process as runs."`
	Today         string   `help:"The date for waivers (default: today)." placeholder:"YYYY-MM-DD"`

	selfTest bool // the head is the base, made worse
}

// sideFlags name the two sets of logs that a gate holds against each other.
type sideFlags struct {
	Base    []string `help:"An input of the base; may be repeated." placeholder:"INPUT" sep:"none"`
	Head    []string `help:"An input of the head; may be repeated." placeholder:"INPUT" sep:"none"`
	Lenient bool     `help:"Go on even if some input could not be read."`

	silent []string // what is to be said of files without a result
}

// Help is shown behind the flags.
func (gateCmd) Help() string {
	return "Exit status: 0 passed, 1 not passed, 2 trouble.\n\nExamples:\n  benchreport gate --base testdata/llama-bench/old.sql \\\n    --head testdata/llama-bench/new.sql --noise 0.1%\n  benchreport gate --base testdata/vllm-serve/v0.6.log --self-test --noise 3%"
}

// Run holds the head against the base.
func (c *gateCmd) Run(a *app) error {
	out, err := c.outputFlags.open(a)
	if err != nil {
		return err
	}
	if len(c.Base) == 0 {
		return out.abandon(errors.New("--base: expected the logs of the base"))
	}
	c.selfTest = c.SelfTest
	g, problems, err := c.gate(a)
	if err != nil {
		return out.abandon(err)
	}
	switch c.Format {
	case "json":
		err = render.GateJSON(out, g, problems)
	case "text":
		err = render.GateText(out, g, c.Output == "" && isColourful(a.stdout))
	case "github":
		err = render.GateComment(out, g, c.command(), forge.Limit)
	default:
		err = render.GateMarkdown(out, g)
	}
	if c.SelfTest {
		c.judgeSelf(a, g)
		return out.close(err)
	}
	if !g.Pass && a.status == exitDone {
		a.status = exitFound
	}
	return out.close(err)
}

// command is what shows the whole report.
func (f *sideFlags) command() string {
	words := []string{"benchreport", "gate"}
	for _, b := range relative(f.Base) {
		words = append(words, "--base", quote(b))
	}
	for _, h := range relative(f.Head) {
		words = append(words, "--head", quote(h))
	}
	return strings.Join(words, " ")
}

// gate reads both sides and compares them.
func (c *gateFlags) gate(a *app) (*analyze.Gate, []bench.Problem, error) {
	o := analyze.GateOptions{Options: analyze.Options{Metrics: c.Metrics, IncludePartial: c.Partial == "include"}, FailOn: c.FailOn, Waivers: a.config.waivers, Today: c.Today}
	if err := c.statFlags.apply(&o.Options); err != nil {
		return nil, nil, err
	}
	o.NoProcess = !c.WithinProcess
	if c.FailOn != nil && len(c.FailOn) == 0 || len(c.FailOn) == 1 && c.FailOn[0] == "" {
		return nil, nil, errors.New("--fail-on: expected outcomes such as regressed; a gate that fails on nothing is none")
	}
	for _, f := range c.FailOn {
		if !slices.Contains(analyze.Outcomes, f) {
			return nil, nil, fmt.Errorf("--fail-on: expected an outcome such as regressed or inconclusive, found %q%s", f, didYouMean(f, analyze.Outcomes))
		}
	}
	if o.Today == "" {
		o.Today = time.Now().Format(time.DateOnly)
	} else if _, err := time.Parse(time.DateOnly, o.Today); err != nil {
		return nil, nil, fmt.Errorf("--today: expected a date YYYY-MM-DD, found %q", o.Today)
	}
	keep, err := analyze.ParseWhere(c.Where)
	if err != nil {
		return nil, nil, err
	}
	base, problems, err := c.side(a, c.Base, "base", keep)
	if err != nil {
		return nil, nil, err
	}
	if c.selfTest {
		g, err := analyze.RunGate(base, analyze.Worsen(base, selfTestShare, base[0].Input+", made worse"), o)
		return g, problems, err
	}
	if len(c.Head) == 0 {
		return nil, nil, errors.New("--head: expected the logs of the head")
	}
	head, more, err := c.side(a, c.Head, "head", keep)
	if err != nil {
		return nil, nil, err
	}
	if base[0].Input == head[0].Input {
		return nil, nil, fmt.Errorf("base and head have the same label %q", base[0].Input)
	}
	g, err := analyze.RunGate(base, head, o)
	if err == nil {
		g.Notes = append(g.Notes, c.silent...)
		if sameFiles(base, head) {
			g.Notes = append(g.Notes, "base and head are the same files")
		}
	}
	return g, append(problems, more...), err
}

// sameFiles reports whether both sides were read from the same files.
func sameFiles(base, head []*bench.Run) bool {
	files := func(runs []*bench.Run) []string {
		var out []string
		for _, r := range runs {
			out = append(out, r.Source.File)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	return slices.Equal(files(base), files(head))
}

// side reads the logs of one side under one label.
func (f *sideFlags) side(a *app, args []string, label string, keep analyze.Where) ([]*bench.Run, []bench.Problem, error) {
	var inputs []parse.Input
	for i, arg := range args {
		in, err := parse.ParseInput(arg)
		if err != nil {
			return nil, nil, err
		}
		if in.Label != "" && i == 0 {
			label = in.Label
		}
		inputs = append(inputs, in)
	}
	for i := range inputs {
		inputs[i].Label = label
	}
	result := a.read(inputs)
	a.tell(result)
	if len(result.Errors) > 0 && !f.Lenient {
		a.status = exitTrouble
	}
	analyze.Normalize(result.Runs)
	if n := result.Files - result.WithRuns; n > 0 {
		f.silent = append(f.silent, fmt.Sprintf("%d of %d files of the %s hold no result: did a run crash?", n, result.Files, label))
	}
	if len(result.Runs) == 0 {
		return nil, nil, fmt.Errorf("no benchmark result in the %s", label)
	}
	if err := keep.Check(result.Runs); err != nil {
		return nil, nil, err
	}
	runs := keep.Filter(result.Runs)
	if len(runs) == 0 {
		return nil, nil, fmt.Errorf("none of %d runs of the %s fits --where", len(result.Runs), label)
	}
	return runs, result.Errors, nil
}

// selfTestShare is how much worse the made-up head is.
const selfTestShare = 0.2

// judgeSelf says whether the gate saw the regression that was made up, in every
// result.
func (c *gateCmd) judgeSelf(a *app, g *analyze.Gate) {
	seen := g.Count(analyze.Regressed)
	if seen < len(g.Results) || g.Pass {
		a.status = exitFound
		a.say("self-test: the gate sees a regression of %.0f %% in %d of %d results only; give it repeated runs, or --noise", 100*selfTestShare, seen, len(g.Results))
		return
	}
	a.say("self-test: the gate sees a regression of %.0f %% in all %d results", 100*selfTestShare, seen)
}
