package main

import (
	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/render"
)

type planCmd struct {
	inputFlags
	outputFlags
	Metrics []string `help:"What to plan for (default: what people use)." placeholder:"NAMES"`
	Effect  percent  `help:"Tell how many runs this change needs." placeholder:"3%"`
	Noise   percent  `help:"Declared run-to-run noise, for single runs." placeholder:"3%"`
	Format  string   `help:"How to write it: ${enum}." enum:"md,text,csv,json" default:"text"`
}

// Help is shown behind the flags.
func (planCmd) Help() string {
	return "Examples:\n  benchreport plan testdata/llama-bench/lines.jsonl --effect 3%\n  benchreport plan testdata/vllm-serve/v0.6.log --noise 3%"
}

// Run tells what a number of runs can find.
func (c *planCmd) Run(a *app) error {
	out, err := c.outputFlags.open(a)
	if err != nil {
		return err
	}
	runs, _, err := c.load(a)
	if err != nil {
		return out.abandon(err)
	}
	if len(runs) == 0 {
		return out.abandon(errTold)
	}
	plans, err := analyze.MakePlan(runs, analyze.Options{Metrics: c.Metrics, Noise: float64(c.Noise)}, float64(c.Effect))
	if err != nil {
		return out.abandon(err)
	}
	switch c.Format {
	case "json":
		err = render.PlanJSON(out, plans)
	case "csv":
		err = render.PlanCSV(out, plans)
	case "md":
		err = render.PlanMarkdown(out, plans, float64(c.Effect))
	default:
		err = render.PlanText(out, plans, float64(c.Effect), c.Output == "" && isColourful(a.stdout))
	}
	return out.close(err)
}
