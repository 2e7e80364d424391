package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
	"github.com/benchreport/benchreport/parse"
	"github.com/benchreport/benchreport/render"
	"github.com/rogpeppe/go-internal/diff"
)

type auditCmd struct {
	outputFlags
	Files   []string `arg:"" name:"notes" help:"Markdown notes with tables, and with the logs behind them; - for standard input." sep:"none"`
	Logs    []string `help:"Logs of the tables: files, folders or globs. Those that a note holds or links are read without asking." placeholder:"PATH" sep:"none"`
	Fix     bool     `help:"Mend what is certain: marks of winners, mistyped and mis-rounded cells. Every other byte stays."`
	Diff    bool     `help:"Show what --fix changes; without --fix nothing is written."`
	Notes   bool     `help:"Tell also what is worth knowing and no mistake."`
	Lenient bool     `help:"Exit as if all inputs had been read."`
	Format  string   `help:"How to write the findings: ${enum}." enum:"text,json,md,github" default:"text"`
}

// Help is shown behind the flags.
func (auditCmd) Help() string {
	return "Examples:\n  benchreport audit testdata/audit/wrong.md\n  benchreport audit testdata/audit/wrong.md --diff"
}

// Run audits notes.
func (c *auditCmd) Run(a *app) error {
	if c.Diff && c.Format != "text" {
		return fmt.Errorf("--diff is written as text: it does not go with --format %s", c.Format)
	}
	out, err := c.open(a)
	if err != nil {
		return err
	}
	logs, err := readLogs(a, c.Logs)
	if err != nil {
		return out.abandon(err)
	}
	var all analyze.Audited
	problems := logs.Errors
	trouble := slices.ContainsFunc(problems, unreadable)
	for _, name := range c.Files {
		found, err := c.audit(a, name, logs, out)
		if err != nil {
			p := bench.Problem{File: parse.ShownPath(name), Message: cause(err).Error()}
			a.say("%v", p)
			problems, trouble = append(problems, p), true
			continue
		}
		all.Findings = append(all.Findings, found.Findings...)
		all.Tables += found.Tables
		all.Cells += found.Cells
	}
	if all.Tables == 0 && !trouble {
		a.say("no table of benchmark results found")
	}
	switch {
	case trouble && !c.Lenient:
		a.status = exitTrouble
	case slices.ContainsFunc(all.Findings, func(f analyze.AuditFinding) bool { return f.Severity == bench.Error }):
		a.status = exitFound
	}
	shown := all.Findings
	if !c.Notes {
		shown = slices.DeleteFunc(slices.Clone(shown), func(f analyze.AuditFinding) bool { return f.Severity == bench.Note })
	}
	switch c.Format {
	case "json":
		err = render.AuditJSON(out, all.Findings, all.Tables, all.Cells, problems)
	case "md":
		err = render.AuditMarkdown(out, shown)
	case "github":
		err = render.AuditGitHub(out, shown)
	default:
		err = render.AuditText(out, shown)
	}
	return out.close(err)
}

// unreadable reports whether a problem is about a whole file.
func unreadable(p bench.Problem) bool { return p.Line == 0 }

// auditLogs are the logs that the user names.
type auditLogs struct {
	*parse.Result
	paths []string // without labels
}

func readLogs(a *app, paths []string) (*auditLogs, error) {
	logs := &auditLogs{}
	var inputs []parse.Input
	for _, arg := range paths {
		in, err := parse.ParseInput(arg)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
		logs.paths = append(logs.paths, in.Path)
	}
	logs.Result = a.read(inputs)
	a.tell(logs.Result)
	return logs, nil
}

// audit audits one note, and mends it if that is asked for.
func (c *auditCmd) audit(a *app, name string, logs *auditLogs, out io.Writer) (*analyze.Audited, error) {
	source, err := readNote(a, name)
	if err != nil {
		return nil, err
	}
	shown := parse.ShownPath(name)
	if name == "-" {
		shown = "stdin"
	}
	before, note, err := auditSource(shown, filepath.Dir(name), source, logs)
	if err != nil || !c.Fix && !c.Diff {
		return before, err
	}
	mended, found := source, before
	// Mending a cell may move the winner of its column, so it is done again
	// until nothing is left; each round mends something.
	for range 8 {
		var edits []notes.Edit
		for _, f := range found.Findings {
			edits = append(edits, f.Edits...)
		}
		if len(edits) == 0 {
			break
		}
		next := note.Rewrite(edits)
		if bytes.Equal(next, mended) {
			break
		}
		mended = next
		if found, note, err = auditSource(shown, filepath.Dir(name), mended, logs); err != nil {
			return nil, err
		}
	}
	if bytes.Equal(mended, source) {
		return found, nil
	}
	if c.Diff {
		for line := range bytes.Lines(diff.Diff(shown, source, shown+" (mended)", mended)) {
			// A line with a secret loses it; all others stay as they are.
			if clean := parse.Redact(string(line)); strings.Count(clean, "***") > strings.Count(string(line), "***") {
				line = []byte(clean + "\n")
			}
			if _, err := out.Write(line); err != nil {
				return nil, err
			}
		}
	}
	if c.Fix {
		if name == "-" {
			return nil, errors.New("standard input cannot be mended in place")
		}
		return found, replaceFile(name, mended)
	}
	return before, nil // the file is as it was, and so is what is wrong with it
}

// readNote reads a note as a whole.
func readNote(a *app, name string) ([]byte, error) {
	in := a.stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return nil, errors.New("a folder, where a note was expected")
		}
		in = f
	}
	source, err := io.ReadAll(io.LimitReader(in, notes.MaxSize+1))
	if err != nil {
		return nil, err
	}
	return source, nil
}

// auditSource holds the tables of a note against the logs in it, those that it
// links, and those that the user gave.
func auditSource(shown, dir string, source []byte, logs *auditLogs) (*analyze.Audited, *notes.Note, error) {
	note, err := notes.Read(source)
	if err != nil {
		return nil, nil, err
	}
	all := *note // with the tables that are ours, for mending
	note.Tables = slices.Clone(note.Tables)
	parts, broken := findPublished(source)
	var proven []analyze.AuditFinding
	for _, line := range broken {
		proven = append(proven, analyze.AuditFinding{Finding: bench.Finding{Code: "stale-log", Severity: bench.Error, Message: "the comment that tells of which logs the tables above were made cannot be read"}, File: shown, Line: line})
	}
	before := len(note.Tables)
	for _, p := range parts {
		proven = append(proven, p.prove(shown, dir, note, logs.paths)...)
	}
	own := parse.Reader(bytes.NewReader(source), shown)
	linked := parse.Files(linkedLogs(note, dir), nil)
	runs := slices.Concat(own.Runs, linked.Runs, logs.Runs)
	bench.AssignIDs(runs)
	found := analyze.Audit(shown, note, runs)
	found.Tables += before - len(note.Tables)
	found.Findings = append(proven, found.Findings...)
	slices.SortStableFunc(found.Findings, func(x, y analyze.AuditFinding) int { return x.Line - y.Line })
	for i := range found.Findings {
		f := &found.Findings[i] // which quotes the note
		f.Message, f.Column = parse.Redact(f.Message), parse.Redact(f.Column)
	}
	return found, &all, nil
}

// linkedLogs are the files that a note links and that lie below its folder or
// the working folder: a note must not make us read what lies elsewhere.
func linkedLogs(note *notes.Note, dir string) []parse.Input {
	var inputs []parse.Input
	for _, link := range note.Links {
		u, err := url.Parse(link)
		if err != nil || u.Scheme != "" || u.Host != "" || u.Path == "" || !isLogName(u.Path) {
			continue
		}
		path := filepath.FromSlash(u.Path)
		local := filepath.IsLocal(path)
		path = filepath.Join(dir, path)
		if !local && !filepath.IsLocal(path) {
			continue
		}
		if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
			continue
		}
		inputs = append(inputs, parse.Input{Path: path})
	}
	return inputs
}

func isLogName(path string) bool {
	for _, ext := range [...]string{".gz", ".zst", ".zstd"} {
		path = strings.TrimSuffix(path, ext)
	}
	return slices.Contains([]string{".log", ".txt", ".json", ".jsonl", ".csv", ".out", ".md"}, strings.ToLower(filepath.Ext(path)))
}

// replaceFile puts new content in the place of a file, all of it or nothing.
func replaceFile(name string, content []byte) error {
	out, err := writeFile(name, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	return publish(out)
}
