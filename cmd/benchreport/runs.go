package main

import (
	"github.com/benchreport/benchreport/render"
)

type runsCmd struct {
	inputFlags
	outputFlags
	Format string `help:"How to write them: ${enum}." enum:"text,md,csv,json" default:"text"`
}

// Help is shown behind the flags.
func (runsCmd) Help() string {
	return "Examples:\n  benchreport runs testdata/vllm-latency/\n  benchreport runs testdata/vllm-throughput/ --format csv > runs.csv"
}

// Run lists the runs.
func (c *runsCmd) Run(a *app) error {
	out, err := c.open(a)
	if err != nil {
		return err
	}
	if c.Format == "json" {
		w := render.NewRunsWriter(out)
		problems, err := c.each(a, w.Write)
		if err != nil {
			return out.abandon(err)
		}
		return out.close(w.Close(problems))
	}
	runs, _, err := c.load(a)
	if err != nil {
		return out.abandon(err)
	}
	switch c.Format {
	case "csv":
		err = render.RunsCSV(out, runs)
	case "md":
		err = render.RunsMarkdown(out, runs)
	default:
		err = render.RunsText(out, runs)
	}
	return out.close(err)
}
