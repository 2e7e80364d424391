package analyze

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
	"gonum.org/v1/gonum/stat"
)

// A Report is a comparison: tables, what changed, and what to be careful with.
type Report struct {
	Runs        []*bench.Run
	Sections    []*Section
	Comparisons []Comparison
	Findings    []bench.Finding // about one run or several
	Baseline    string
}

// A Section is one table: runs of one tool, and of one value of each --by key.
type Section struct {
	Tool    string
	By      []bench.Setting
	Same    []bench.Setting // what is the same in all rows
	Keys    []string        // the settings that name a row
	Columns []Column
	Rows    []*Row
	Across  bool   // the columns are variants of one metric: the best is that of a row
	Varies  string // for Across: the key in which the variants differ
	Changes []Change
	Others  []Difference // what differs besides what is compared
	Groups  bool         // rows of unlike workloads: the best is that among equal ones
	Means   []Geomean
	Missing []string // metrics that were asked for and that no run here has

	names *names // kept by Name
}

// A Column is a metric, or a variant of the one metric of the section.
type Column struct {
	Metric  string
	Variant string
}

// A Row is what was measured under one configuration, in one run or in repeats.
type Row struct {
	Label string
	Input string
	Runs  []*bench.Run
	Keys  []string // parallel to the keys of the section
	Cells []Cell   // parallel to its columns
	order int      // its place in the inputs, before sorting

	name    string // kept by Section.Name, for a section of so many rows
	namedIn int
}

// A Cell is a value of a table.
type Cell struct {
	bench.Metric
	Runs []*bench.Run // none for an empty cell
	Best bool
}

// Partial returns completed and attempted of the first run that did not
// complete all its requests.
func (r *Row) Partial() (completed, attempted int, partial bool) {
	for _, run := range r.Runs {
		if isPartial(run) {
			if run.Completed != nil && run.Attempted != nil {
				return *run.Completed, *run.Attempted, true
			}
			return 0, 0, true
		}
	}
	return 0, 0, false
}

// Extrapolated reports whether the row stands for replicas that were not measured.
func (r *Row) Extrapolated() bool { return IsExtrapolated(r.Runs[0]) }

// IsExtrapolated reports whether the values of a run were scaled to its replicas.
func IsExtrapolated(r *bench.Run) bool {
	return r.Replicas > 1 && slices.ContainsFunc(r.Metrics, func(m bench.Metric) bool { return m.Value != m.Raw })
}

func isPartial(r *bench.Run) bool {
	return slices.ContainsFunc(r.Findings, func(f bench.Finding) bool { return f.Code == "partial" })
}

// A Change is a row, or a cell of one, against the baseline.
type Change struct {
	Row  *Row
	Base *Row // nil where there is nothing to compare it with
	By   []Comparison
}

// A Comparison is one metric of one thing against that of the baseline.
type Comparison struct {
	Key       []bench.Setting // the workload and other settings that both have
	Metric    string
	Base      string
	Head      string
	BaseValue float64
	HeadValue float64
	DeltaPct  float64
	N         [2]int
	Evidence  string
	Verdict   string
	Winner    string
	Reason    string

	Tested     bool       // the fields below count
	CIPct      [2]float64 // interval of DeltaPct
	P          float64
	PAdjusted  float64
	RunsNeeded int     // runs a side that would decide it; 0 where that cannot be told
	Small      bool    // significant, but smaller than what matters
	Threshold  float64 // what matters
	Accepted   string  // the reason of a waiver
	test       test
}

// A Geomean is the mean change of a metric over the rows that both sides have.
type Geomean struct {
	Head   string
	Metric string
	Ratio  float64 // oriented so that more than 1 is better
	Rows   int
}

// Passed reports whether nothing regressed and everything could be compared.
func (rep *Report) Passed() bool {
	return !slices.ContainsFunc(rep.Comparisons, func(c Comparison) bool { return c.Verdict == Incomparable || c.Verdict == Regressed })
}

// The verdicts and the evidence behind them.
const (
	Improved     = "improved"
	Regressed    = "regressed"
	Unchanged    = "unchanged"
	Inconclusive = "inconclusive"
	Incomparable = "incomparable"

	EvidenceSingle   = "single"
	EvidenceDeclared = "declared"
	EvidenceRepeats  = "repeats"
	EvidenceProcess  = "within-process"
)

// A Difference is a setting in which runs differ beside what is compared.
type Difference struct {
	Key    string
	Values []string // "LABEL: value", in the order of the rows
}

// Compare makes a report of runs.
func Compare(runs []*bench.Run, o Options) (*Report, error) {
	if err := o.check(runs); err != nil {
		return nil, err
	}
	runs = dropGroupCopies(runs)
	derive(runs, o)
	rep := &Report{Runs: runs}
	for _, group := range sectionGroups(runs, o.By) {
		rep.Sections = append(rep.Sections, newSection(group, o))
	}
	if rep.Baseline = o.Baseline; rep.Baseline == "" {
		rep.Baseline = runs[0].Input
	}
	for _, s := range rep.Sections {
		s.winners(o)
		s.changes(o)
	}
	decide(rep, o)
	comparisons := 0
	for _, s := range rep.Sections {
		for _, c := range s.Changes {
			comparisons += len(c.By)
		}
	}
	rep.Comparisons = slices.Grow(rep.Comparisons, comparisons)
	for _, s := range rep.Sections {
		for _, c := range s.Changes {
			rep.Comparisons = append(rep.Comparisons, c.By...)
		}
		s.geomeans()
		s.others()
	}
	rep.Findings = check(rep)
	return rep, nil
}

// dropGroupCopies drops the rows of lm-eval's table of groups that stand in its
// table of tasks already.
func dropGroupCopies(runs []*bench.Run) []*bench.Run {
	id := func(r *bench.Run) string {
		m := r.Metrics[0]
		return strings.Join([]string{r.Source.File, r.Config.Get("task"), r.Config.Get("filter"), r.Config.Get("metric"), r.Config.Get("model"), m.Name, m.Text()}, "\x00")
	}
	tasks := map[string]bool{}
	for _, r := range runs {
		if r.Source.Tool == "lm-eval" && !r.Config.Has("group") && len(r.Metrics) > 0 {
			tasks[id(r)] = true
		}
	}
	if len(tasks) == 0 {
		return runs
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r *bench.Run) bool {
		return r.Source.Tool == "lm-eval" && r.Config.Has("group") && len(r.Metrics) > 0 && tasks[id(r)]
	})
}

// sectionGroups parts runs by what they can be beside and by the values of the
// --by keys, in the order of appearance; numbers of one kind are put in order.
func sectionGroups(runs []*bench.Run, by []string) [][]*bench.Run {
	kind := kinds(runs)
	groups := groupBy(runs, func(r *bench.Run) string {
		key := kind(r)
		for _, k := range by {
			key += "\x00" + Key(r, k)
		}
		return key
	})
	if len(by) > 0 {
		slices.SortStableFunc(groups, func(a, b []*bench.Run) int {
			if kind(a[0]) != kind(b[0]) {
				return 0
			}
			for _, k := range by {
				if c := compareValues(Key(a[0], k), Key(b[0], k)); c != 0 {
					return c
				}
			}
			return 0
		})
	}
	return groups
}

// groupBy puts together what has the same key, in order of appearance.
func groupBy[T any](all []T, key func(T) string) [][]T {
	var groups [][]T
	at := map[string]int{}
	for _, x := range all {
		k := key(x)
		i, ok := at[k]
		if !ok {
			i = len(groups)
			at[k] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], x)
	}
	return groups
}

// compareValues orders numbers by size; other values stay as they are.
func compareValues(a, b string) int {
	x, err1 := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	if err1 != nil || err2 != nil {
		return 0
	}
	return cmp.Compare(x, y)
}

// newSection makes the table of a group of runs.
func newSection(runs []*bench.Run, o Options) *Section {
	s := &Section{Tool: strings.Join(distinct(runs, func(r *bench.Run) string { return r.Source.Tool }), ", ")}
	for _, k := range o.By {
		s.By = append(s.By, bench.Setting{Key: k, Value: Key(runs[0], k)})
	}
	same, keys := Differing(runs)
	s.Same = slices.DeleteFunc(same, func(x bench.Setting) bool { return slices.Contains(o.By, x.Key) })
	s.Keys = slices.DeleteFunc(keys, func(k string) bool { return slices.Contains(o.By, k) })
	if o.Rows != nil {
		s.Keys = o.Rows
	}
	columns := o.columns(runs)
	for _, m := range columns {
		s.Columns = append(s.Columns, Column{Metric: m})
	}
	s.Missing = slices.DeleteFunc(slices.Clone(o.Metrics), func(m string) bool { return slices.Contains(columns, m) })
	if o.Rows == nil {
		s.Keys = slices.DeleteFunc(s.Keys, func(k string) bool { return k == "quant" && toldByModel(runs) })
		if k := namesakes(runs); k != "" {
			s.Keys = slices.Insert(s.Keys, slices.Index(s.Keys, "model")+1, k)
		}
	}
	if len(s.Columns) == 1 && s.pivot(runs, o) {
		return s
	}
	groups := foldRepeats(runs)
	if o.Rows != nil {
		groups = foldBy(runs, o.Rows)
	}
	for _, repeats := range groups {
		row := &Row{Label: repeats[0].Label, Input: repeats[0].Input, Runs: repeats, order: len(s.Rows)}
		for _, k := range s.Keys {
			row.Keys = append(row.Keys, Key(repeats[0], k))
		}
		for _, c := range s.Columns {
			row.Cells = append(row.Cells, newCell(repeats, c.Metric))
		}
		s.Rows = append(s.Rows, row)
	}
	if o.Rows == nil {
		s.tellApart()
	}
	s.alignDigits()
	s.sort(o)
	return s
}

// namesakes is the key that tells models of one name apart: llama-bench calls
// every model of a size that it does not know "llama ?B". It is "" where names
// suffice.
func namesakes(runs []*bench.Run) string {
	for _, key := range [...]string{"params", "model_n_params"} {
		of := map[string]string{}
		for _, r := range runs {
			model, value := r.Config.Get("model"), r.Config.Get(key)
			if model == "" || value == "" {
				continue
			}
			if first, ok := of[model]; ok && first != value {
				return key
			}
			of[model] = value
		}
	}
	return ""
}

// maxKeys is how many settings name a row before a table is too wide to read.
const maxKeys = 8

// tellApart adds settings to the names of rows that read the same, and drops
// settings where there are too many.
func (s *Section) tellApart() {
	alike := func() bool {
		seen := map[string]bool{}
		for _, r := range s.Rows {
			id := r.Label + "\x00" + r.Input + "\x00" + strings.Join(r.Keys, "\x00")
			if seen[id] {
				return true
			}
			seen[id] = true
		}
		return false
	}
	use := func(keys []string) {
		s.Keys = keys
		for _, r := range s.Rows {
			r.Keys = nil
			for _, k := range keys {
				r.Keys = append(r.Keys, Key(r.Runs[0], k))
			}
		}
	}
	for len(s.Keys) > maxKeys {
		all := s.Keys
		use(slices.Clone(all[:len(all)-1]))
		if alike() {
			use(all)
			break
		}
	}
	if !alike() {
		return
	}
	var more []string
	for _, r := range s.Rows {
		for _, x := range r.Runs[0].Config {
			if !slices.Contains(MainKeys, x.Key) && !slices.Contains(more, x.Key) && !dull[x.Key] && !volatile[x.Key] && !slices.Contains(s.Keys, x.Key) {
				more = append(more, x.Key)
			}
		}
	}
	slices.Sort(more)
	added := 0
	for _, k := range more {
		first := s.Rows[0].Runs[0].Config.Get(k)
		if added < 4 && alike() && slices.ContainsFunc(s.Rows, func(r *Row) bool { return r.Runs[0].Config.Get(k) != first }) {
			use(append(slices.Clone(s.Keys), k))
			added++
		}
	}
}

// alignDigits gives the figures of full precision in a column the digits of
// those beside them.
func (s *Section) alignDigits() {
	align := func(cells []*Cell) {
		decimals := -1
		for _, c := range cells {
			decimals = max(decimals, c.Decimals)
		}
		if decimals < 0 {
			for _, c := range cells {
				if _, after, ok := strings.Cut(c.Text(), "."); ok {
					decimals = max(decimals, min(len(after), 4))
				}
			}
			decimals = max(decimals, 0)
		}
		for _, c := range cells {
			if c.Decimals < 0 {
				c.Decimals = decimals
			}
		}
	}
	for i := range s.Columns {
		var cells []*Cell
		for _, r := range s.Rows {
			if len(r.Cells[i].Runs) > 0 {
				cells = append(cells, &r.Cells[i])
			}
		}
		align(cells)
	}
}

// toldByModel reports whether the quantization of every run was read from the
// name of its model, which has a column of its own.
func toldByModel(runs []*bench.Run) bool {
	return !slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Config.From("quant") != bench.FromDerived })
}

// foldRepeats puts runs together that are repeats of one thing: the same input
// and the same settings, and as many requests of the same size.
func foldRepeats(runs []*bench.Run) [][]*bench.Run {
	groups := groupBy(runs, repeatKey)
	var out [][]*bench.Run
	for _, g := range groups {
		out = append(out, sameWork(g)...)
	}
	return out
}

// foldBy puts runs together that agree in the keys that the user names.
func foldBy(runs []*bench.Run, keys []string) [][]*bench.Run {
	return groupBy(runs, func(r *bench.Run) string {
		id := r.Input
		for _, k := range keys {
			id += "\x00" + Key(r, k)
		}
		return id
	})
}

// sameWork parts runs of equal settings whose requests were not of equal size: a
// log does not tell every setting. A partial run goes with the others: it was
// asked for the same.
func sameWork(runs []*bench.Run) [][]*bench.Run {
	if len(runs) == 1 {
		return [][]*bench.Run{runs}
	}
	var parts [][]*bench.Run
	var rest []*bench.Run
	for _, r := range runs {
		in, out, ok := perRequest(r)
		if !ok || isPartial(r) {
			rest = append(rest, r)
			continue
		}
		i := slices.IndexFunc(parts, func(p []*bench.Run) bool {
			x, y, _ := perRequest(p[0])
			return ratio(in, x) <= 1.02 && ratio(out, y) <= 1.10
		})
		if i < 0 {
			i = len(parts)
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], r)
	}
	if len(parts) == 0 {
		return [][]*bench.Run{rest}
	}
	parts[0] = append(parts[0], rest...)
	return parts
}

// volatile settings differ between repeats of one thing.
var volatile = map[string]bool{
	"seed": true, "run_number": true, "date": true, "result_filename": true, "source_file": true, "request_id_prefix": true, "version": true,
}

func repeatKey(r *bench.Run) string {
	var b strings.Builder
	b.WriteString(r.Source.Tool + "\x00" + r.Input)
	for _, s := range r.Config {
		if !volatile[s.Key] {
			b.WriteString("\x00" + s.Key + "=" + s.Value)
		}
	}
	if r.Label != r.Input {
		b.WriteString("\x00" + r.Label)
	}
	// Logs that do not tell their load must not pass for repeats of one.
	if r.Attempted != nil {
		b.WriteString("\x00" + strconv.Itoa(*r.Attempted))
	} else if r.Completed != nil {
		b.WriteString("\x00" + strconv.Itoa(*r.Completed))
	}
	if r.Source.Tool == "lm-eval" {
		for _, m := range r.Metrics {
			b.WriteString("\x00" + m.Name) // the accuracy and the F1 of one task are two things
		}
	}
	return b.String()
}

// newCell folds the values of repeats into one: their mean and spread.
func newCell(runs []*bench.Run, metric string) Cell {
	values := make([]float64, 0, len(runs))
	with := make([]*bench.Run, 0, len(runs))
	c := Cell{}
	for _, r := range runs {
		m, ok := r.Metric(metric)
		if !ok || isMissing(r, m) {
			continue
		}
		if len(with) == 0 {
			c.Metric = m
		}
		c.Metric.Decimals = max(c.Metric.Decimals, m.Decimals)
		values = append(values, m.Value)
		with = append(with, r)
	}
	c.Runs = with
	if len(with) > 1 {
		c.Value, c.Std = center(values), stat.StdDev(values, nil)
		c.HasStd, c.N, c.Samples = true, len(with), values
	}
	return c
}

// sort orders rows by a metric, best first; rows without it come last.
func (s *Section) sort(o Options) {
	if o.Sort == "" {
		return
	}
	better := bench.Lookup(o.Sort).Better
	slices.SortStableFunc(s.Rows, func(a, b *Row) int {
		x, y := newCell(a.Runs, o.Sort), newCell(b.Runs, o.Sort)
		switch {
		case len(x.Runs) == 0 || len(y.Runs) == 0:
			return len(y.Runs) - len(x.Runs)
		case better == bench.Higher:
			return cmp.Compare(y.Value, x.Value)
		}
		return cmp.Compare(x.Value, y.Value)
	})
}
