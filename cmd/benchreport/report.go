package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/parse"
	"github.com/benchreport/benchreport/render"
	"github.com/benchreport/benchreport/render/plots"
)

type reportCmd struct {
	inputFlags
	compareFlags
	provenanceFlag
	Output   string   `short:"o" help:"The folder to write." placeholder:"DIR" required:""`
	Force    bool     `help:"Write into a folder that holds something else."`
	Template []string `help:"Your own .md (README) or .html (page) template." placeholder:"FILE" sep:"none"`
}

// Help is shown behind the flags.
func (reportCmd) Help() string {
	return "Examples:\n  benchreport report testdata/vllm-serve/note-tensor-parallel.md -o report\n  benchreport report testdata/vllm-serve/rate-sweep.log -o rates --title Rates"
}

// Run writes a report folder.
func (c *reportCmd) Run(a *app) error {
	own, err := c.templates()
	if err != nil {
		return err
	}
	if err := c.folder(); err != nil {
		return err
	}
	stdin := a.hashStdin()
	runs, _, err := c.load(a)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		a.status = exitTrouble
		return errTold
	}
	if err := analyze.CheckLabels(runs, c.labels()); err != nil {
		return err
	}
	options, err := c.options()
	if err != nil {
		return err
	}
	rep, err := analyze.Compare(runs, options)
	if err != nil {
		return err
	}
	figures := plots.Of(rep)
	info := render.ReportInfo{Title: c.Title, PlotDir: "plots", Command: "benchreport report " + strings.Join(quoted(relative(c.Inputs)), " ") + " -o report"}
	if info.Title == "" {
		info.Title = "Benchmark report"
	}
	for _, r := range rep.Runs {
		if f := filepath.Base(r.Source.File); !slices.Contains(info.Files, f) {
			info.Files = append(info.Files, f)
		}
	}
	// All files are complete before the first gets its name, so that a report is
	// there as a whole. The page comes first: a folder with it is known as ours.
	var done []*output
	for _, f := range []struct {
		name, ext string
		write     func(io.Writer, *analyze.Report, map[*analyze.Section][]plots.Figure, render.ReportInfo) error
	}{
		{"report.html", ".html", render.ReportHTML},
		{"README.md", ".md", render.ReportMarkdown},
	} {
		info.Template = own[f.ext]
		write := func(w io.Writer) error { return f.write(w, rep, figures, info) }
		if f.ext == ".md" {
			plain := write
			write = func(w io.Writer) error { return c.withProvenance(w, &c.inputFlags, &c.compareFlags, stdin(), plain) }
		}
		out, err := writeFile(filepath.Join(c.Output, f.name), write)
		if err != nil {
			return abandonAll(done, err)
		}
		done = append(done, out)
	}
	drawn, err := writePlots(filepath.Join(c.Output, "plots"), rep, figures)
	if err != nil {
		return abandonAll(done, err)
	}
	done = append(done, drawn...)
	unlock, err := lockFolder(c.Output)
	if err != nil {
		return abandonAll(done, err)
	}
	defer unlock()
	return publish(done...)
}

// templates reads the user's own templates, by extension.
func (c *reportCmd) templates() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range c.Template {
		ext := strings.ToLower(filepath.Ext(name))
		if ext != ".md" && ext != ".html" {
			return nil, fmt.Errorf("--template: expected a file that ends in .md or .html, found %q", name)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("--template: %w", err)
		}
		if err := render.CheckTemplate(filepath.Base(name), string(text)); err != nil {
			return nil, fmt.Errorf("--template: %w", err)
		}
		out[ext] = string(text)
	}
	return out, nil
}

// relative are inputs without the folders that only this machine has, and with
// the slashes that every system understands.
func relative(inputs []string) []string {
	var out []string
	for _, arg := range inputs {
		in, err := parse.ParseInput(arg)
		if err != nil {
			in = parse.Input{Path: arg}
		}
		path := in.Path
		if filepath.IsAbs(path) {
			path = filepath.Base(path)
		}
		path = filepath.ToSlash(path)
		if in.Label != "" {
			path = in.Label + "=" + path
		}
		if in.Replicas > 0 {
			path += "@x" + strconv.Itoa(in.Replicas)
		}
		out = append(out, path)
	}
	return out
}

func quoted(words []string) []string {
	var out []string
	for _, w := range words {
		out = append(out, quote(w))
	}
	return out
}

// quote writes a word so that a shell reads it back.
func quote(w string) string {
	if strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=@:,+") == "" && w != "" {
		return w
	}
	return "'" + strings.ReplaceAll(strings.ReplaceAll(w, "'", `'\''`), "\n", " ") + "'"
}

// folder makes sure that the report may be written, before the long work: into
// a new folder, an empty one, or one that holds a report of ours.
func (c *reportCmd) folder() error {
	entries, err := os.ReadDir(c.Output)
	entries = slices.DeleteFunc(entries, func(e os.DirEntry) bool { return isUnfinished(c.Output, e) })
	if err == nil && len(entries) > 0 && !c.Force {
		page, err := os.ReadFile(filepath.Join(c.Output, "report.html"))
		if err != nil || !bytes.Contains(page, []byte(`name="generator" content="benchreport"`)) {
			return fmt.Errorf("%s is not empty and not a report of ours: --force writes into it all the same", c.Output)
		}
	}
	if err := os.MkdirAll(c.Output, 0o755); err != nil {
		return fmt.Errorf("cannot write %s: %w", c.Output, err)
	}
	return nil
}

// isUnfinished reports whether an entry of a folder is of a report that is not
// there yet: another program may be writing it.
func isUnfinished(dir string, e os.DirEntry) bool {
	if e.Name() != "plots" {
		return isTemp(e.Name())
	}
	drawn, err := os.ReadDir(filepath.Join(dir, "plots"))
	return err == nil && !slices.ContainsFunc(drawn, func(e os.DirEntry) bool { return !isTemp(e.Name()) })
}

// writePlots draws the figures of a report, several at once, for publish to
// give them their names.
func writePlots(dir string, rep *analyze.Report, figures map[*analyze.Section][]plots.Figure) ([]*output, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("cannot write %s: %w", dir, err)
	}
	var all []plots.Figure
	for _, s := range rep.Sections {
		all = append(all, figures[s]...)
	}
	outs := make([]*output, len(all))
	errs := make([]error, len(all)) // by figure, so that the first is always the same
	slots := make(chan struct{}, 4)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			outs[i], errs[i] = writeFile(filepath.Join(dir, all[i].Name+".png"), func(w io.Writer) error { return plots.PNG(w, &all[i]) })
		})
	}
	wg.Wait()
	if err := cmp.Or(errs...); err != nil {
		return nil, abandonAll(outs, err)
	}
	return outs, nil
}

// abandonAll removes files that are not complete and hands the error on.
func abandonAll(outs []*output, err error) error {
	for _, o := range outs {
		if o != nil {
			err = o.abandon(err)
		}
	}
	return err
}

// plotLink is the folder of the plots as seen from the report.
func plotLink(dir, report string) string {
	if dir == "" {
		return ""
	}
	if report != "" {
		if rel, err := filepath.Rel(filepath.Dir(report), dir); err == nil {
			dir = rel
		}
	}
	return filepath.ToSlash(dir)
}
