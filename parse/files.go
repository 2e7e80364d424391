package parse

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/benchreport/benchreport/bench"
)

// An Input is what a user names on the command line: a file, a folder, a glob
// or - for standard input, maybe with a label and a number of replicas.
type Input struct {
	Label    string // "" for the name of each file
	Path     string
	Replicas int  // 0 where the user does not say
	Tables   bool // read published tables too
}

// ParseInput reads LABEL=PATH@x4. A file of that very name wins over the
// notation.
func ParseInput(arg string) (Input, error) {
	if arg == "" {
		return Input{}, errors.New("an input is a file, a folder, a glob or -, not an empty word")
	}
	in := Input{Path: arg}
	if exists(in.Path) {
		return in, nil
	}
	if label, path, ok := strings.Cut(arg, "="); ok && label != "" && path != "" {
		// A label may be a branch, feature/x; a path with = in a folder is none.
		if plain, _, _ := strings.Cut(path, "@x"); !strings.ContainsAny(label, `/\`) || exists(plain) {
			in.Label, in.Path = printable(label), path
		}
	}
	if exists(in.Path) {
		return in, nil
	}
	if i := strings.LastIndex(in.Path, "@x"); i > 0 {
		n, err := strconv.Atoi(in.Path[i+2:])
		if err != nil || n < 1 || n > 1024 {
			return in, fmt.Errorf("%s: expected a number of replicas from 1 to 1024 behind @x, found %q", arg, in.Path[i+2:])
		}
		in.Path, in.Replicas = in.Path[:i], n
	}
	return in, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return path == "-" || err == nil
}

// A Result is what was read from a set of inputs.
type Result struct {
	Runs   []*bench.Run    // in the order of the inputs; none where Each gave them away
	Errors []bench.Problem // what could not be read
	Notes  []bench.Problem // what is worth knowing and no error

	Files    int // how many were read
	WithRuns int // how many of them hold a result
}

// A file is one input after folders and globs are expanded.
type file struct {
	input  *Input
	path   string // where to read it
	name   string // how it is shown
	walked bool   // found in a folder, not named
	of     string // the name of the input, the same for all files of a label
}

// Progress counts what Files has read so far and of how many files, for a
// program to show while it goes on.
var Progress struct{ Files, Of, Bytes atomic.Int64 }

// counted is a reader whose bytes count as progress.
type counted struct{ io.Reader }

func (r counted) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	Progress.Bytes.Add(int64(n))
	return n, err
}

// Files reads inputs, several at once. The order of the runs is that of the
// inputs, whatever finishes first.
func Files(inputs []Input, stdin io.Reader) *Result {
	var runs []*bench.Run
	result := Each(inputs, stdin, func(some []*bench.Run) { runs = append(runs, some...) })
	result.Runs = runs
	return result
}

// Each reads inputs and gives the runs away in the order of Files, some at a
// time, so that not all of them need to be kept. Where one file may hold a copy
// of a run in another, they are all known before the first is given.
func Each(inputs []Input, stdin io.Reader, yield func([]*bench.Run)) *Result {
	result := &Result{}
	var files []file
	for _, in := range inputs {
		found, err := expand(in, result)
		if err != nil {
			result.Errors = append(result.Errors, bench.Problem{File: in.Path, Message: reason(err)})
			continue
		}
		files = append(files, found...)
	}
	result.Files = len(files)
	Progress.Of.Add(int64(len(files)))
	nameInputs(files)
	atOnce, copies := 128, mayHoldCopies(files)
	if copies {
		atOnce = len(files)
	}
	rooms := make([]*room, min(runtime.GOMAXPROCS(0), len(files)))
	var ids bench.IDs
	empty := 0
	next := readSomeFiles(files[:min(atOnce, len(files))], stdin, rooms)
	for len(files) > 0 {
		some := files[:min(atOnce, len(files))]
		files = files[len(some):]
		outcomes := <-next
		if len(files) > 0 { // they are read while these are looked at
			next = readSomeFiles(files[:min(atOnce, len(files))], stdin, rooms)
		}
		result.Runs = make([]*bench.Run, 0, len(some))
		for i := range outcomes {
			copies = copies || len(outcomes[i].runs) > 1
			result.add(some[i], &outcomes[i], &empty)
		}
		if copies {
			result.dropCopies()
		}
		ids.Assign(result.Runs)
		yield(result.Runs)
	}
	result.Runs = nil
	if empty > 0 {
		result.Notes = append(result.Notes, bench.Problem{Message: fmt.Sprintf("%d other files hold no benchmark result", empty)})
	}
	return result
}

// readSomeFiles reads files, as many at once as there are rooms, and gives what
// was read when all are done.
func readSomeFiles(files []file, stdin io.Reader, rooms []*room) chan []outcome {
	done := make(chan []outcome, 1)
	outcomes := make([]outcome, len(files))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range rooms {
		wg.Go(func() {
			if rooms[i] == nil {
				rooms[i] = newRoom()
			}
			for k := next.Add(1) - 1; k < int64(len(files)); k = next.Add(1) - 1 {
				outcomes[k] = readFile(files[k], stdin, rooms[i])
				Progress.Files.Add(1)
			}
		})
	}
	go func() {
		wg.Wait()
		done <- outcomes
	}()
	return done
}

// mayHoldCopies reports whether a run of one file may be a copy of one in
// another: only then are they of one label or stem, or one sums up others.
func mayHoldCopies(files []file) bool {
	labels, stems := make(map[string]bool, len(files)), make(map[string]bool, len(files))
	for _, f := range files {
		s := stem(f.name)
		if labels[f.of] || stems[s] || isSummary(f.name) {
			return true
		}
		labels[f.of], stems[s] = true, true
	}
	return false
}

// add takes what was read from one file.
func (res *Result) add(f file, d *outcome, empty *int) {
	if len(d.runs) > 0 {
		res.WithRuns++
	}
	res.Errors = append(res.Errors, d.errs...)
	if d.dropped > 0 {
		res.Errors = append(res.Errors, bench.Problem{File: f.name, Message: fmt.Sprintf("and %d more lines that could not be read", d.dropped)})
	}
	res.Notes = append(res.Notes, d.notes...)
	if len(d.runs) == 0 && len(d.errs) == 0 && len(d.notes) == 0 {
		switch {
		case d.guess != "":
			res.Notes = append(res.Notes, bench.Problem{File: f.name, Message: "no benchmark result found: it " + d.guess})
		case !f.walked:
			message := "no benchmark result found"
			if strings.HasSuffix(f.name, ".md") && !f.input.Tables {
				message += " (--tables reads the tables of results that people publish)"
			}
			res.Notes = append(res.Notes, bench.Problem{File: f.name, Message: message})
		default:
			*empty++
		}
	}
	for _, r := range d.runs {
		r.Input = f.of
		if r.Label == "" {
			r.Label = r.Input
		}
		if f.input.Replicas > 0 {
			r.Replicas = f.input.Replicas
			r.Config.Set("replicas", strconv.Itoa(r.Replicas), bench.FromUser)
			r.Config.Sort()
		}
		res.Runs = append(res.Runs, r)
	}
}

// nameInputs names inputs without a label by their files: without folder and
// extension where that tells them apart, with them where it does not.
func nameInputs(files []file) {
	forms := []func(path string) string{
		stem,
		func(path string) string { return printable(filepath.Base(path)) },
		func(path string) string {
			return printable(filepath.ToSlash(filepath.Join(filepath.Base(filepath.Dir(path)), stem(path))))
		},
		printable,
	}
	left := make([]*file, 0, len(files))
	for i := range files {
		f := &files[i]
		if f.of = f.input.Label; f.of == "" {
			left = append(left, f)
		}
	}
	for n, form := range forms {
		// The first file of each name, nil where there are others of it. The same
		// file twice stays one name.
		byName := make(map[string]*file, len(left))
		for _, f := range left {
			name := form(f.name)
			f.of = name
			if other, ok := byName[name]; ok && (other == nil || other.name != f.name) {
				f = nil
			}
			byName[name] = f
		}
		left = slices.DeleteFunc(left, func(f *file) bool { return byName[f.of] != nil || n == len(forms)-1 })
	}
}

// dropCopies drops results that stand in two files under one label, or under
// none: the log of a run beside the JSON that it saved, or a file given twice.
// Counted twice, one run would be a repeat of itself.
func (res *Result) dropCopies() {
	byCounts := map[copyKey][]*bench.Run{}
	drop := map[*bench.Run]bool{}
	for _, r := range res.Runs {
		k, ok := copyKeyOf(r)
		if !ok {
			continue
		}
		for _, o := range byCounts[k] {
			if drop[o] || o.Source.File == r.Source.File && o.Source.Line != r.Source.Line || !sameLabel(o, r) || !sameFigures(o, r) || contradict(o, r) {
				continue
			}
			kept, copied := o, r
			if r.Source.Format == "json" && o.Source.Format != "json" {
				kept, copied = r, o
			}
			drop[copied] = true
			kept.Config.Merge(copied.Config)
			kept.Config.Sort()
			if kept.Attempted == nil {
				kept.Attempted = copied.Attempted
			}
			res.Notes = append(res.Notes, bench.Problem{File: copied.Source.File, Line: copied.Source.Line,
				Message: "the same run as " + kept.Source.File + ":" + strconv.Itoa(kept.Source.Line) + ": counted once"})
			break
		}
		if len(byCounts[k]) < maxAlike {
			byCounts[k] = append(byCounts[k], r)
		}
	}
	res.Runs = slices.DeleteFunc(res.Runs, func(r *bench.Run) bool { return drop[r] })
}

// A copyKey is what two copies of one run have in common whatever their form.
type copyKey struct {
	tool      string
	completed int
	a, b      float64
}

// maxAlike is how many runs of one key others are held against.
const maxAlike = 256

// copyKeyOf is the key of a run, if it tells enough to be known again: counts of
// requests and tokens, or the two figures that every row of InferenceMAX has.
// Tokens that follow from a rounded mean are not those of the other form.
func copyKeyOf(r *bench.Run) (copyKey, bool) {
	if r.Source.Tool == "inferencemax" {
		a, ok := r.Metric("tput_per_gpu")
		b, ok2 := r.Metric("median_tpot_ms")
		return copyKey{r.Source.Tool, 0, a.Raw, b.Raw}, ok && ok2
	}
	in, ok := r.Metric("total_input_tokens")
	out, ok2 := r.Metric("total_output_tokens")
	if !ok || !ok2 || r.Completed == nil || out.Raw == 0 {
		return copyKey{}, false
	}
	if in.Derived || out.Derived {
		return copyKey{r.Source.Tool, *r.Completed, 0, 0}, true
	}
	return copyKey{r.Source.Tool, *r.Completed, in.Raw, out.Raw}, true
}

// sameLabel reports whether two runs are of one label, or both of none: then
// their inputs are named by files of one stem, or one file sums up the other.
func sameLabel(a, b *bench.Run) bool {
	return a.Input == b.Input || stem(a.Source.File) == stem(b.Source.File) || sumsUp(a.Source.File, b.Source.File) || sumsUp(b.Source.File, a.Source.File)
}

// sumsUp reports whether a file is one of those in which vllm bench sweep
// collects the runs that it saves beside and below it.
func sumsUp(summary, file string) bool {
	return isSummary(summary) && strings.HasPrefix(path.Dir(file)+"/", path.Dir(summary)+"/")
}

func isSummary(file string) bool {
	name := path.Base(file)
	return strings.HasPrefix(name, "summary.") || strings.HasPrefix(name, "SLA--")
}

// sameFigures reports whether two runs have the same figures, one of them maybe
// rounded.
func sameFigures(a, b *bench.Run) bool {
	n := 0
	for _, m := range a.Metrics {
		o, ok := b.Metric(m.Name)
		if !ok || m.Derived || o.Derived {
			continue
		}
		decimals := max(m.Decimals, o.Decimals)
		if m.Decimals >= 0 && o.Decimals >= 0 {
			decimals = min(m.Decimals, o.Decimals)
		}
		if decimals < 0 && m.Raw != o.Raw || decimals >= 0 && !roundsTo(m.Raw, o.Raw, decimals) {
			return false
		}
		n++
	}
	return n >= 4
}

// contradict reports whether two runs say that they measured different things. A
// model may have its folder in one and not in the other.
func contradict(a, b *bench.Run) bool {
	for _, key := range [...]string{"model", "concurrency", "request_rate"} {
		x, y := path.Base(a.Config.Get(key)), path.Base(b.Config.Get(key))
		if a.Config.Has(key) && b.Config.Has(key) && !strings.EqualFold(x, y) {
			return true
		}
	}
	return false
}

// stem is the name of a file without folder and extension, the one of a
// compressed log without both.
func stem(name string) string {
	base := filepath.Base(filepath.ToSlash(name))
	for _, ext := range [...]string{".gz", ".zst", ".zstd"} {
		base = strings.TrimSuffix(base, ext)
	}
	if s := strings.TrimSuffix(base, filepath.Ext(base)); s != "" {
		base = s
	}
	return printable(base)
}

// InputFiles are the paths of the files of an input.
func InputFiles(in Input) ([]string, error) {
	files, err := expand(in, &Result{})
	if err != nil {
		return nil, err
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.path
	}
	return paths, nil
}

// InputName is how an input without a label is called.
func InputName(path string) string {
	if path == "-" {
		return "stdin"
	}
	return stem(path)
}

// expand finds the files of an input.
func expand(in Input, result *Result) ([]file, error) {
	if in.Path == "-" {
		return []file{{input: &in, path: "-", name: "stdin"}}, nil
	}
	info, err := os.Stat(in.Path)
	if err != nil {
		if !strings.ContainsAny(in.Path, "*?[") {
			return nil, err
		}
		matches, globErr := filepath.Glob(in.Path)
		if globErr != nil || len(matches) == 0 {
			return nil, errors.New("no file matches")
		}
		slices.Sort(matches)
		var all []file
		for _, m := range matches {
			files, err := expand(Input{in.Label, m, in.Replicas, in.Tables}, result)
			if err != nil {
				result.Errors = append(result.Errors, bench.Problem{File: m, Message: reason(err)})
				continue
			}
			all = append(all, files...)
		}
		return all, nil
	}
	if !info.IsDir() {
		return []file{{input: &in, path: in.Path, name: ShownPath(in.Path)}}, nil
	}
	var files []file
	root, shown := in.Path, ShownPath(in.Path)
	if link, err := os.Lstat(root); err == nil && link.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // a link to a folder that the user names is followed
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			result.Errors = append(result.Errors, bench.Problem{File: ShownPath(path), Message: reason(err)})
			if e != nil && e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if e.IsDir() {
			if name := e.Name(); path != root && strings.HasPrefix(name, ".") {
				return fs.SkipDir
			}
			return nil
		}
		if e.Type().IsRegular() {
			files = append(files, file{input: &in, path: path, name: shownBelow(shown, root, path), walked: true})
			return nil
		}
		info, err := os.Stat(path) // through a symbolic link
		switch {
		case err != nil:
			result.Errors = append(result.Errors, bench.Problem{File: ShownPath(path), Message: reason(err)})
		case info.IsDir():
			result.Notes = append(result.Notes, bench.Problem{File: ShownPath(path), Message: "a link to a folder is not followed"})
		case !info.Mode().IsRegular():
			result.Notes = append(result.Notes, bench.Problem{File: ShownPath(path), Message: "neither a file nor a folder: skipped"})
		default:
			files = append(files, file{input: &in, path: path, name: ShownPath(path), walked: true})
		}
		return nil
	})
	return files, err
}

// shownBelow is how a file below a folder is called, which is called root.
func shownBelow(root, folder, path string) string {
	rel, ok := strings.CutPrefix(path, folder)
	if !ok {
		return ShownPath(path)
	}
	rel = strings.TrimLeft(filepath.ToSlash(rel), "/")
	if root == "." {
		return rel
	}
	root = strings.TrimSuffix(root, "/")
	if len(path) == len(root)+1+len(rel) && strings.HasPrefix(path, root) && path[len(root)] == '/' {
		return path // one string for both
	}
	return root + "/" + rel
}

// ShownPath is how a file is called in reports: as the user named it, and
// relative where it lies below the working folder, so that the same input
// gives the same bytes anywhere.
func ShownPath(path string) string {
	if filepath.IsAbs(path) {
		if wd, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
				path = rel
			}
		}
	}
	return filepath.ToSlash(filepath.Clean(path))
}

// reason is an error without the path, which is told beside it.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}

// readFile reads one file.
func readFile(f file, stdin io.Reader, room *room) outcome {
	in := stdin
	if f.path != "-" {
		open := func(path string) (io.ReadCloser, error) { return os.Open(path) }
		if f.walked {
			open = openFile
		}
		h, err := open(f.path)
		if err != nil {
			return failed(f.name, err)
		}
		defer h.Close()
		in = h
	}
	d, err := read(counted{in}, f.name, room, reading{tables: f.input.Tables, textOnly: f.walked})
	if err != nil {
		d.errs = append(d.errs, bench.Problem{File: f.name, Message: reason(err)})
	}
	return d.outcome
}

func failed(name string, err error) outcome {
	return outcome{errs: []bench.Problem{{File: name, Message: reason(err)}}}
}

// isBinary reports whether a file found in a folder is not text: an image, a
// model. It looks at the first bytes for a zero, which only UTF-16 text and
// compressed logs have.
func isBinary(b []byte) bool {
	if bytes.IndexByte(b, 0) < 0 {
		return bytes.HasPrefix(b, []byte("\x89PNG")) || bytes.HasPrefix(b, []byte("%PDF")) || bytes.HasPrefix(b, []byte("GGUF"))
	}
	for _, magic := range [...]string{"\x1f\x8b", "\x28\xb5\x2f\xfd", "\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(b, []byte(magic)) {
			return false
		}
	}
	b = b[:min(len(b), 64)]
	return !zeros(b, 0) && !zeros(b, 1)
}

// Reader reads one stream under a name, for tests and other programs.
func Reader(r io.Reader, name string) *Result {
	result := &Result{}
	d, err := read(r, name, newRoom(), reading{})
	if err != nil {
		d.errs = append(d.errs, bench.Problem{File: name, Message: reason(err)})
	}
	empty := 0
	result.add(file{input: &Input{}, name: name, of: stem(name)}, &d.outcome, &empty)
	bench.AssignIDs(result.Runs)
	return result
}
