package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/forge"
	"github.com/benchreport/benchreport/render"
	"github.com/benchreport/benchreport/render/plots"
)

type compareCmd struct {
	inputFlags
	outputFlags
	compareFlags
	provenanceFlag
	Plots  string `help:"Write PNG plots into this folder; link them." placeholder:"DIR"`
	Format string `help:"How to write it: ${enum}." enum:"md,text,html,csv,json,github" default:"md"`
}

// compareFlags are shared by the commands that compare runs.
type compareFlags struct {
	By       []string `help:"One table for each value of these keys." placeholder:"KEYS"`
	Rows     []string `help:"Keys that name a row (default: what differs)." placeholder:"KEYS"`
	Metrics  []string `help:"The columns (default: what people use)." placeholder:"NAMES"`
	Sort     string   `help:"Sort the rows by this metric, best first." placeholder:"METRIC"`
	Baseline string   `help:"What others are held against (default: first)." placeholder:"LABEL"`
	Partial  string   `help:"May partial runs win: ${enum}." enum:"exclude,include" default:"exclude"`
	GPUPrice float64  `name:"gpu-price" help:"Price of a GPU and hour, for cost_… metrics." placeholder:"2.5"`
	Title    string   `help:"A heading for the report." placeholder:"TEXT"`
	statFlags
}

// statFlags are shared by the commands that give verdicts.
type statFlags struct {
	Threshold []string `help:"Least change that matters (default: throughput 2%, mean and median latency 5%, tails 10%)." placeholder:"[METRIC=]2%" sep:"none"`
	Alpha     float64  `help:"Accepted chance of a false alarm." default:"0.05"`
	Noise     percent  `help:"Declared run-to-run noise, for single runs." placeholder:"3%"`
}

// percent is a number that may be written with a percent sign: 3% or 0.03.
type percent float64

// UnmarshalText reads a percentage.
func (p *percent) UnmarshalText(text []byte) error {
	s, ok := strings.CutSuffix(strings.TrimSpace(string(text)), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if ok {
		x /= 100
	}
	if err != nil || !(x >= 0 && x < 1) {
		return fmt.Errorf("expected a percentage such as 3%%, found %q", text)
	}
	*p = percent(x)
	return nil
}

func (f *compareFlags) options() (analyze.Options, error) {
	o := analyze.Options{By: f.By, Rows: f.Rows, Metrics: f.Metrics, Sort: f.Sort, Baseline: f.Baseline, IncludePartial: f.Partial == "include", GPUPrice: f.GPUPrice}
	return o, f.statFlags.apply(&o)
}

func (f *statFlags) apply(o *analyze.Options) error {
	if !(f.Alpha > 0 && f.Alpha < 0.5) {
		return fmt.Errorf("--alpha: expected a number between 0 and 0.5, found %v", f.Alpha)
	}
	o.Alpha, o.Noise = f.Alpha, float64(f.Noise)
	for _, t := range f.Threshold {
		metric, value, ok := strings.Cut(t, "=")
		if !ok {
			metric, value = "", t
		}
		var p percent
		if err := p.UnmarshalText([]byte(value)); err != nil {
			return fmt.Errorf("--threshold: %w", err)
		}
		if metric != "" && !bench.IsKnown(metric) && bench.Lookup(metric).Better == bench.Neither {
			return fmt.Errorf("--threshold: no metric is called %q%s", metric, didYouMean(metric, bench.Names()))
		}
		if o.Thresholds == nil {
			o.Thresholds = map[string]float64{}
		}
		o.Thresholds[metric] = float64(p)
	}
	return nil
}

// Help is shown behind the flags.
func (compareCmd) Help() string {
	return "Examples:\n  benchreport compare testdata/vllm-serve/note-tensor-parallel.md\n  benchreport compare testdata/vllm-serve/rate-sweep.log --format text"
}

// Run compares the runs of the inputs.
func (c *compareCmd) Run(a *app) error {
	out, err := c.outputFlags.open(a)
	if err != nil {
		return err
	}
	stdin := a.hashStdin()
	runs, problems, err := c.load(a)
	if err != nil {
		return out.abandon(err)
	}
	if len(runs) == 0 {
		if a.status != exitTrouble { // not told yet
			a.status = exitTrouble
		}
		return out.abandon(errTold)
	}
	if err := analyze.CheckLabels(runs, c.labels()); err != nil {
		return out.abandon(err)
	}
	options, err := c.options()
	if err != nil {
		return out.abandon(err)
	}
	rep, err := analyze.Compare(runs, options)
	if err != nil {
		return out.abandon(err)
	}
	var figures map[*analyze.Section][]plots.Figure
	if c.Plots != "" {
		figures = plots.Of(rep)
		drawn, err := writePlots(c.Plots, rep, figures)
		if err == nil {
			err = publish(drawn...)
		}
		if err != nil {
			return out.abandon(err)
		}
	}
	style := render.CompareStyle{Figures: figures, PlotDir: plotLink(c.Plots, c.Output), Title: c.Title, Colour: c.Output == "" && isColourful(a.stdout)}
	switch c.Format {
	case "json":
		err = render.CompareJSON(out, rep, problems)
	case "csv":
		err = render.CompareCSV(out, rep)
	case "github":
		err = render.CompareComment(out, rep, options, "benchreport compare "+strings.Join(quoted(relative(c.Inputs)), " "), forge.Limit)
	case "html":
		err = render.CompareHTML(out, rep, style)
	case "text":
		err = render.CompareText(out, rep, style)
	default:
		err = c.withProvenance(out, &c.inputFlags, &c.compareFlags, stdin(), func(w io.Writer) error { return render.CompareMarkdown(w, rep, style) })
	}
	return out.close(err)
}
