package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
	"github.com/benchreport/benchreport/parse"
	"github.com/benchreport/benchreport/render"
)

// A provenance tells of which logs and with which options tables were made. It
// stands beside them in a comment that no reader sees, so that `audit` can make
// them again.
type provenance struct {
	Inputs  []inputDigest `json:"inputs"`
	Options tableOptions  `json:"options"`
}

// An inputDigest is an input and what was in it.
type inputDigest struct {
	Input  string `json:"input"`
	Files  int    `json:"files"`
	SHA256 string `json:"sha256,omitempty"` // of the file; of all digests where there are several
}

// tableOptions are the flags that decide what a table says. They are data, not
// a command line: a note is not trusted to run anything.
type tableOptions struct {
	Tables      bool     `json:"tables,omitempty"`
	Where       []string `json:"where,omitempty"`
	Replicas    []string `json:"replicas,omitempty"`
	NoNormalize bool     `json:"no_normalize,omitempty"`
	By          []string `json:"by,omitempty"`
	Rows        []string `json:"rows,omitempty"`
	Metrics     []string `json:"metrics,omitempty"`
	Sort        string   `json:"sort,omitempty"`
	Baseline    string   `json:"baseline,omitempty"`
	Partial     string   `json:"partial,omitempty"`
	GPUPrice    float64  `json:"gpu_price,omitempty"`
	Threshold   []string `json:"threshold,omitempty"`
	Alpha       float64  `json:"alpha,omitempty"`
	Noise       float64  `json:"noise,omitempty"`
}

// The comments around the tables. The long one comes last: who reads the source
// of a note reads the tables first.
const (
	provenanceBegin = "<!-- benchreport:tables -->"
	provenanceEnd   = "<!-- /benchreport:tables "
	provenanceClose = " -->"
)

// provenanceFlag is shared by the commands that write tables to be published.
type provenanceFlag struct {
	NoProvenance bool `help:"Leave out the hidden comment by which audit proves the tables."`
}

// withProvenance writes a report between its comments.
func (f provenanceFlag) withProvenance(w io.Writer, in *inputFlags, c *compareFlags, stdin string, write func(io.Writer) error) error {
	if f.NoProvenance {
		return write(w)
	}
	p := provenance{Options: tableOptions{in.Tables, in.Where, in.Replicas, in.NoNormalize, c.By, c.Rows, c.Metrics, c.Sort, c.Baseline, c.Partial, c.GPUPrice, c.Threshold, c.Alpha, float64(c.Noise)}}
	for i, arg := range in.Inputs {
		d := inputDigest{Input: relative(in.Inputs)[i], SHA256: stdin, Files: 1}
		if parsed, err := parse.ParseInput(arg); err == nil && parsed.Path != "-" {
			d.Files, d.SHA256 = digest(parsed)
		}
		p.Inputs = append(p.Inputs, d)
	}
	comment, err := p.comment()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s\n\n", provenanceBegin); err != nil {
		return err
	}
	if err := write(w); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "\n%s\n", comment)
	return err
}

// hashStdin makes standard input tell what was read from it, once it was.
func (a *app) hashStdin() func() string {
	h := sha256.New()
	if a.stdin != nil {
		a.stdin = io.TeeReader(a.stdin, h)
	}
	return func() string { return hex.EncodeToString(h.Sum(nil)) }
}

// comment writes the provenance so that nothing in a name ends the comment,
// mentions anybody or links anything.
func (p provenance) comment() (string, error) {
	b, err := json.Marshal(p)
	if err != nil {
		return "", err
	}
	s := strings.NewReplacer("--", `\u002d\u002d`, "@", `\u0040`, "#", `\u0023`).Replace(string(b))
	return provenanceEnd + s + provenanceClose, nil
}

// digest is the SHA-256 of an input: of its file, or of the list of digests and
// names where it is a folder or a glob. It is "" for what can be read only once.
func digest(in parse.Input) (files int, sum string) {
	paths, err := parse.InputFiles(in)
	if err != nil {
		return 0, ""
	}
	all := sha256.New()
	for _, path := range paths {
		one, err := fileDigest(path)
		if err != nil {
			return len(paths), ""
		}
		if len(paths) == 1 {
			return 1, one
		}
		name, err := filepath.Rel(in.Path, path)
		if err != nil || !filepath.IsLocal(name) {
			name = filepath.Base(path)
		}
		fmt.Fprintf(all, "%s  %s\n", one, filepath.ToSlash(name))
	}
	return len(paths), hex.EncodeToString(all.Sum(nil))
}

func fileDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// A published part of a note is one that benchreport wrote.
type published struct {
	provenance
	first, last int // its lines
}

// findPublished finds the parts of a note that tell their provenance. A comment
// that cannot be read is a finding: somebody has changed it.
func findPublished(source []byte) (parts []published, broken []int) {
	number, begin := 0, 1
	for line := range bytes.Lines(source) {
		number++
		text := strings.TrimSpace(string(line))
		if text == provenanceBegin {
			begin = number
			continue
		}
		body, ok := strings.CutPrefix(text, provenanceEnd)
		if !ok {
			continue
		}
		p := published{first: begin, last: number}
		d := json.NewDecoder(strings.NewReader(strings.TrimSuffix(body, provenanceClose)))
		d.DisallowUnknownFields()
		if err := d.Decode(&p.provenance); err != nil || len(p.Inputs) == 0 || !strings.HasSuffix(text, provenanceClose) {
			broken = append(broken, number)
		} else {
			parts = append(parts, p)
		}
		begin = number + 1
	}
	return parts, broken
}

// prove makes the tables of a published part again and holds them against what
// stands in the note. It returns the findings, and takes the tables that it
// knows out of the note.
func (p published) prove(shown, dir string, note *notes.Note, logs []string) []analyze.AuditFinding {
	var out []analyze.AuditFinding
	add := func(code string, severity bench.Severity, line, table int, column, message string, edits ...notes.Edit) {
		out = append(out, analyze.AuditFinding{Finding: bench.Finding{Code: code, Severity: severity, Message: message}, File: shown, Line: line, Table: table, Column: column, Edits: edits})
	}
	cmd := compareCmd{}
	o := p.Options
	cmd.Tables, cmd.Where, cmd.Replicas, cmd.NoNormalize = o.Tables, o.Where, o.Replicas, o.NoNormalize
	cmd.By, cmd.Rows, cmd.Metrics, cmd.Sort, cmd.Baseline, cmd.Partial = o.By, o.Rows, o.Metrics, o.Sort, o.Baseline, o.Partial
	cmd.GPUPrice, cmd.Threshold, cmd.Alpha, cmd.Noise = o.GPUPrice, o.Threshold, o.Alpha, percent(o.Noise)
	for _, in := range p.Inputs {
		found, same := in.locate(dir, logs)
		if found == "" {
			add("missing-log", bench.Error, p.last, 0, "", fmt.Sprintf("the tables above were made of %s, which is not here: --logs tells where it is", in.Input))
			return out
		}
		if !same {
			add("stale-log", bench.Warning, p.last, 0, "", fmt.Sprintf("%s is not what the tables above were made of", in.Input))
		}
		cmd.Inputs = append(cmd.Inputs, found)
	}
	again, err := cmd.tables()
	if err != nil {
		add("stale-log", bench.Error, p.last, 0, "", fmt.Sprintf("the tables above cannot be made again: %v", err))
		return out
	}
	left := again.Tables
	note.Tables = slices.DeleteFunc(note.Tables, func(t *notes.Table) bool {
		if t.Line < p.first || t.Line > p.last {
			return false
		}
		i := slices.IndexFunc(left, func(o *notes.Table) bool {
			return slices.EqualFunc(o.Header, t.Header, func(a, b notes.Cell) bool { return a.Text == b.Text })
		})
		if i < 0 {
			return false // of a person, or under headers that somebody changed
		}
		sameTable(t, left[i], add)
		left = slices.Delete(slices.Clone(left), i, i+1)
		return true
	})
	if len(left) > 0 && len(left) == len(again.Tables) {
		add("wrong-value", bench.Error, p.last, 0, "", "none of the tables that the logs give stands above")
	}
	return out
}

// locate finds an input again: as it was given, from the folder of the note or
// the working folder, or among the logs that the user names, by what is in it.
func (d inputDigest) locate(dir string, logs []string) (arg string, same bool) {
	in, err := parse.ParseInput(d.Input)
	if err != nil || in.Path == "" {
		return "", false
	}
	label, replicas := "", ""
	if in.Label != "" {
		label = in.Label + "="
	}
	if i := strings.LastIndex(d.Input, "@x"); i > 0 && in.Replicas > 0 {
		replicas = d.Input[i:]
	}
	named := in.Path
	var candidates []string
	if filepath.IsLocal(named) && named != "-" {
		// A report lies in a folder of its own below the one it was made in.
		for up, at := 0, dir; up < 4; up, at = up+1, filepath.Join(at, "..") {
			candidates = append(candidates, filepath.Join(at, named))
		}
		candidates = append(candidates, named)
	}
	candidates = append(candidates, logs...)
	fallback := ""
	for i, path := range candidates {
		if _, err := os.Stat(path); err != nil {
			continue
		}
		files, sum := digest(parse.Input{Path: path})
		if sum == d.SHA256 && files == d.Files && sum != "" {
			if label == "" && files == 1 && filepath.Base(path) != filepath.Base(named) {
				label = parse.InputName(named) + "=" // a copy under another name
			}
			return label + path + replicas, true
		}
		if fallback == "" && (i < len(candidates)-len(logs) || filepath.Base(path) == filepath.Base(named)) {
			fallback = label + path + replicas
		}
	}
	return fallback, false
}

// tables makes the tables of a comparison again.
func (c *compareCmd) tables() (*notes.Note, error) {
	var said bytes.Buffer
	quiet := &app{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &said}
	runs, _, err := c.load(quiet)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, errors.New("no benchmark result in the logs")
	}
	options, err := c.options()
	if err != nil {
		return nil, err
	}
	rep, err := analyze.Compare(runs, options)
	if err != nil {
		return nil, err
	}
	var md bytes.Buffer
	if err := render.CompareMarkdown(&md, rep, render.CompareStyle{}); err != nil {
		return nil, err
	}
	return notes.Read(md.Bytes())
}

// sameTable tells where a table is not what the logs give.
func sameTable(got, want *notes.Table, add func(code string, severity bench.Severity, line, table int, column, message string, edits ...notes.Edit)) {
	if len(got.Rows) != len(want.Rows) {
		add("wrong-value", bench.Error, got.Line, got.Number, "", fmt.Sprintf("the table has %d rows, the logs give %d", len(got.Rows), len(want.Rows)))
		return
	}
	for i, row := range got.Rows {
		for j, c := range row.Cells {
			w := want.Rows[i].Cells[j]
			column := got.Header[j].Text
			switch {
			case c.Text != w.Text:
				edit := notes.Edit{Cell: c, Old: c.Text, New: w.Text}
				if c.Text == "" || w.Text == "" {
					add("wrong-value", bench.Error, row.Line, got.Number, column, fmt.Sprintf("%s: the table says %q, the logs give %q", column, c.Text, w.Text))
					continue
				}
				add("wrong-value", bench.Error, row.Line, got.Number, column, fmt.Sprintf("%s: the table says %q, the logs give %q", column, c.Text, w.Text), edit)
			case c.Marked && !w.Marked:
				add("wrong-winner", bench.Error, row.Line, got.Number, column, fmt.Sprintf("%s: %s is marked as best, and the logs do not make it so", column, c.Text), notes.Edit{Cell: c, Mark: -1})
			case !c.Marked && w.Marked:
				add("wrong-winner", bench.Error, row.Line, got.Number, column, fmt.Sprintf("%s: %s is best by the logs, and not marked", column, c.Text), notes.Edit{Cell: c, Mark: 1})
			}
		}
	}
}
