package analyze

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// This file finds the run behind each subject of a table: by its values first,
// by its names where values leave it open.

// A runIndex finds runs by the value of a metric.
type runIndex map[string][]indexed

type indexed struct {
	value float64
	run   int
}

func indexRuns(runs []*bench.Run) runIndex {
	index := runIndex{}
	for i, r := range runs {
		for _, m := range r.Metrics {
			index[m.Name] = append(index[m.Name], indexed{m.Raw, i})
			if x, _, ok := recomputed(r, m.Name); ok {
				index[m.Name] = append(index[m.Name], indexed{x, i})
			}
		}
	}
	for _, list := range index {
		sort.Slice(list, func(a, b int) bool { return list[a].value < list[b].value })
	}
	return index
}

// between visits the runs whose metric lies in a range.
func (x runIndex) between(metric string, lo, hi float64, visit func(run int)) {
	list := x[metric]
	for i := sort.Search(len(list), func(i int) bool { return list[i].value >= lo }); i < len(list) && list[i].value <= hi; i++ {
		visit(list[i].run)
	}
}

// scaled is what n replicas make of a value.
func scaled(value float64, metric string, n int) float64 {
	switch bench.Lookup(metric).Scale {
	case bench.Times:
		return value * float64(n)
	case bench.Divide:
		return value / float64(n)
	}
	return value
}

// agrees reports whether a figure is the metric of a run: as logged, as counts
// and duration tell it more precisely, or with more digits than the log gives.
func (m *measure) agrees(f notes.Figure, r *bench.Run, metric string, replicas int) bool {
	logged, ok := r.Metric(metric)
	if !ok {
		return false
	}
	factor := m.FactorOf(f.Number, metric)
	if f.About {
		return ratio(f.Value*factor, scaled(logged.Raw, metric, replicas)) < 1.1
	}
	shown := func(x float64) float64 { return scaled(x, metric, replicas) / factor }
	if f.RoundsFrom(shown(logged.Raw), 0) {
		return true
	}
	if x, u, ok := recomputed(r, metric); ok && math.Abs(x)*u < halfUnit(logged) {
		return f.RoundsFrom(shown(x), math.Abs(shown(x))*u) && math.Abs(x-logged.Raw) <= halfUnit(logged)+math.Abs(x)*u*1.01
	}
	// More digits than the log has cannot be disproved.
	half := math.Abs(shown(halfUnit(logged)))
	return logged.Decimals >= 0 && 0.5*math.Pow(10, -float64(f.Decimals)) < half && math.Abs(f.Value-shown(logged.Raw)) <= half
}

// A candidate is a run that some figures of a subject agree with.
type candidate struct {
	run       *bench.Run
	replicas  int
	agree     int
	digits    int // of the figures that agree
	disagree  int
	named     float64 // how well the names fit, from 0 to 1
	contra    bool    // a name says otherwise
	order     int
	nameWords int
}

// link finds the run of each subject, and with them what each measure is.
func (a *auditor) link() {
	t := a.table
	for _, s := range t.subjects {
		a.linkByValue(s, []int{1})
	}
	for _, s := range t.subjects {
		if s.run == nil {
			a.linkByValue(s, replicasOf(s))
		}
	}
	a.decideMeasures()
}

// replicasOf are the numbers of replicas that values may stand for: those that
// the name of the subject tells, and what is usual.
func replicasOf(s *subject) []int {
	all := []int{2, 4, 8, 3, 6, 16}
	if n := toldReplicas(s.Name); n > 1 && !slices.Contains(all, n) {
		all = append(all, n)
	}
	return all
}

// toldReplicas reads x4, ×4 or x 4 from a name.
func toldReplicas(name string) int {
	fields := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(name, "×", "x")), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	for i, w := range fields {
		if j := strings.LastIndexByte(w, 'x'); j >= 0 {
			tail := w[j+1:]
			if tail == "" && i+1 < len(fields) {
				tail = fields[i+1]
			}
			if n, err := strconv.Atoi(tail); err == nil && n > 1 && n <= 1024 {
				return n
			}
		}
	}
	return 0
}

func (a *auditor) linkByValue(s *subject, replicas []int) {
	var best candidate
	for _, n := range replicas {
		if c, ok := a.bestCandidate(s, n); ok && c.enough(n, s) && (best.run == nil || c.better(best)) {
			best = c
		}
	}
	if best.run != nil {
		s.run, s.replicas = best.run, best.replicas
	}
}

// enough reports whether a candidate is the run of a subject beyond doubt.
func (c candidate) enough(replicas int, s *subject) bool {
	named := c.named >= 0.5 && !c.contra
	switch {
	case c.agree == 0:
		return false
	case replicas > 1:
		// Any number is four times some other: several figures must say so.
		return c.agree >= 3 && c.disagree <= 1 && (c.agree >= 4 || toldReplicas(s.Name) == replicas)
	case c.agree > c.disagree && c.digits >= 4:
		return c.agree > 1 || named || c.digits >= 5 || c.nameWords == 0
	}
	return named && c.agree >= c.disagree && c.digits >= 2
}

func (c candidate) better(o candidate) bool {
	switch {
	case c.agree-c.disagree != o.agree-o.disagree:
		return c.agree-c.disagree > o.agree-o.disagree
	case c.contra != o.contra:
		return !c.contra
	case c.named != o.named:
		return c.named > o.named
	case c.digits != o.digits:
		return c.digits > o.digits
	}
	return c.order < o.order
}

// maxAlike is how many runs a figure may fit before it says nothing.
const maxAlike = 256

func (a *auditor) bestCandidate(s *subject, replicas int) (candidate, bool) {
	votes := map[int]*candidate{}
	for i, m := range a.table.measures {
		f := s.Values[i]
		if !f.Present || f.About {
			continue
		}
		fits := map[int]bool{}
		for _, metric := range m.Metrics {
			factor := m.FactorOf(f.Number, metric)
			// A whole unit to each side: a cell with more digits than the log.
			unit := math.Pow(10, -float64(f.Decimals)) + 1e-9*math.Abs(f.Value)
			lo, hi := (f.Value-unit)*factor, (f.Value+unit)*factor
			if scale := scaled(1, metric, replicas); scale != 0 {
				lo, hi = lo/scale, hi/scale
			}
			slack := max(0, 0.005-(hi-lo)/2)
			a.index.between(metric, lo-slack, hi+slack, func(run int) {
				if len(fits) <= maxAlike && !fits[run] && m.agrees(f, a.runs[run], metric, replicas) {
					fits[run] = true
				}
			})
		}
		if len(fits) > maxAlike {
			continue
		}
		for run := range fits {
			if votes[run] == nil {
				votes[run] = &candidate{run: a.runs[run], replicas: replicas, order: run}
			}
			votes[run].agree++
			votes[run].digits += f.Digits
		}
	}
	var best candidate
	found := false
	for _, run := range sortedKeys(votes) {
		c := votes[run]
		if !fitsWhere(c.run, s.Where) {
			continue
		}
		for i, m := range a.table.measures {
			if f := s.Values[i]; f.Present && !f.About && !slices.ContainsFunc(m.Metrics, func(metric string) bool { return m.agrees(f, c.run, metric, replicas) }) &&
				slices.ContainsFunc(m.Metrics, c.run.Has) {
				c.disagree++
			}
		}
		c.named, c.nameWords, c.contra = nameFit(s, c.run)
		if !found || c.better(best) {
			best, found = *c, true
		}
	}
	return best, found
}

func sortedKeys(m map[int]*candidate) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// fitsWhere reports whether a run is one of those that a column is about.
func fitsWhere(r *bench.Run, where []bench.Setting) bool {
	depth := false
	for _, s := range where {
		depth = depth || s.Key == "depth"
		if r.Config.Get(s.Key) != s.Value {
			return false
		}
	}
	return len(where) == 0 || depth || r.Config.Get("depth") == "" || r.Config.Get("depth") == "0"
}

// nameFit tells how well the names of a subject fit a run: the share of its
// words that the run knows, and whether a setting that both tell differs.
func nameFit(s *subject, r *bench.Run) (share float64, words int, contra bool) {
	known := runWords(r)
	hits := 0
	for _, k := range s.Keys {
		if len(k.Where) > 0 {
			continue // fitsWhere has looked at it
		}
		if says := k.Number(); says != "" {
			if has := r.Config.Get(k.Key); has != "" {
				words++
				if has == says || k.Key == "concurrency" && r.Config.Get("concurrency_per_replica") == says {
					hits++
				} else {
					contra = true
				}
				continue
			}
		}
		for _, w := range nameWords(k.Text) {
			words++
			if known[w] {
				hits++
			}
		}
	}
	if words == 0 {
		return 0, 0, contra
	}
	return float64(hits) / float64(words), words, contra
}

// nameWords are the words of a name that tell something.
func nameWords(text string) []string {
	words := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '.' })
	for i := range words {
		words[i] = strings.Trim(words[i], ".")
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}

func runWords(r *bench.Run) map[string]bool {
	known := map[string]bool{}
	add := func(text string) {
		for _, w := range nameWords(text) {
			known[w] = true
			for _, part := range strings.Split(w, ".") {
				known[part] = true
			}
		}
	}
	add(r.Label)
	add(r.Source.File)
	add(r.Source.Tool)
	for _, s := range r.Config {
		if slices.Contains(MainKeys, s.Key) || strings.HasPrefix(s.Key, "env.") {
			add(s.Value)
			if s.Value == "1" || s.Value == "true" {
				add(s.Key)
			}
		}
	}
	if r.Config.Get("quant") == "" && strings.Contains(strings.ToLower(r.Config.Get("engine")), "vllm") {
		known["fp16"], known["bf16"] = true, true
	}
	return known
}

// decideMeasures settles which of several metrics a measure is: the one that
// most figures of linked subjects agree with.
func (a *auditor) decideMeasures() {
	for i, m := range a.table.measures {
		most := 0
		for _, metric := range m.Metrics {
			n := 0
			for _, s := range a.table.subjects {
				if s.run == nil || !s.Values[i].Present || !s.run.Has(metric) {
					continue
				}
				if m.agrees(s.Values[i], s.run, metric, s.replicas) {
					n++
				}
			}
			if n > most {
				most, m.metric = n, metric
			}
		}
		if most == 0 && m.Vague == "" {
			m.metric = a.onlyMetric(i, m)
		}
	}
}

// onlyMetric is the one of the metrics of a measure that the runs have, "" if
// they have several or none.
func (a *auditor) onlyMetric(i int, m *measure) string {
	var has []string
	for _, metric := range m.Metrics {
		if len(m.Metrics) == 1 || slices.ContainsFunc(a.table.subjects, func(s *subject) bool { return s.run != nil && s.Values[i].Present && s.run.Has(metric) }) {
			has = append(has, metric)
		}
	}
	if len(has) == 1 {
		return has[0]
	}
	return ""
}
