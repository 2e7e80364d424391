package analyze

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// This file is the one place that says what may be compared and who is best.

// decisive are the workload keys that decide every figure. The number of
// prompts decides only how long it took; the seed decides nothing by itself.
var decisive = []string{
	"dataset", "input_len", "output_len", "concurrency", "request_rate", requests, "test", "depth", "task", "num_fewshot", "filter", "metric", "limit", "stage",
	"is_pp_shared", "is_tg_separate", "chunks", "n_ctx",
}

// requests is how many requests were sent, where nothing else limits the load:
// all of them at once.
const requests = "requests at once"

// workloadOf is what a run tells of a workload key.
func workloadOf(r *bench.Run, key string) string {
	if serving(r) && !r.Config.Has(key) && tellsArguments(r) {
		switch key {
		case "concurrency":
			return "unlimited"
		case "request_rate":
			return "inf"
		}
	}
	if v := r.Config.Get(key); key == "dataset" && v == "random-ids" {
		return "random" // SGLang's name for what vLLM calls random
	}
	if key != requests {
		return r.Config.Get(key)
	}
	if rate := r.Config.Get("request_rate"); r.Config.Has("concurrency") || rate != "" && rate != "inf" || !serving(r) {
		return ""
	}
	return sentRequests(r)
}

// tellsArguments reports whether the arguments of the client are known: then
// what is not among them was not given.
func tellsArguments(r *bench.Run) bool {
	return slices.ContainsFunc(r.Config, func(s bench.Setting) bool {
		return s.From == bench.FromArgs || s.Key == "num_prompts" && (s.From == bench.FromJSON || s.From == bench.FromCommand)
	})
}

// sentRequests is how many requests a run sent, "" if it does not tell.
func sentRequests(r *bench.Run) string {
	switch {
	case r.Config.Has("num_prompts"):
		return r.Config.Get("num_prompts")
	case r.Attempted != nil:
		return strconv.Itoa(*r.Attempted)
	case r.Completed != nil:
		return strconv.Itoa(*r.Completed)
	}
	return ""
}

// sameSettings reports whether two runs have the same settings but for values
// that decide no figure, and nothing else to tell of their workload.
func sameSettings(a, b *bench.Run) bool {
	if serving(a) || serving(b) || !a.Config.SameKeys(b.Config) {
		return false
	}
	for i := range a.Config {
		if a.Config[i].Value != b.Config[i].Value && slices.Contains(decisive, a.Config[i].Key) {
			return false
		}
	}
	return true
}

// unlikeWorkloads tells the workload key in which two runs differ, "" if they do
// not.
func unlikeWorkloads(a, b *bench.Run) string {
	if sameSettings(a, b) {
		return "" // so are most that are compared, and the rest takes ten times as long
	}
	for _, k := range decisive {
		x, y := workloadOf(a, k), workloadOf(b, k)
		if k == "depth" && (a.Source.Tool == "llama-bench" || a.Source.Tool == "llama-benchy") && x != y || x != "" && y != "" && x != y {
			return fmt.Sprintf("unlike workloads: %s %s and %s", k, orNone(x), orNone(y))
		}
	}
	return ""
}

// reason tells why a metric of two runs cannot be compared, "" if it can.
func reason(a, b *bench.Run, metric string, o Options) string {
	if why := unlikeWorkloads(a, b); why != "" {
		return why
	}
	if x, y := sentRequests(a), sentRequests(b); metric == "duration" && x != "" && y != "" && x != y {
		return fmt.Sprintf("unlike workloads: %s and %s requests", x, y)
	}
	switch {
	case (a.Source.Tool == "llama-server") != (b.Source.Tool == "llama-server"):
		return "one was measured by a client, the other by the server itself"
	case a.Source.Tool == "vllm-engine", a.Source.Tool == "llama-server" && !sameRequests(a, b):
		return "the load behind a server log is not known"
	case metric == "draft_acceptance_rate" || metric == "mean_acceptance_length" || metric == "system_efficiency":
		for _, k := range [...]string{"spec_tokens", "model", "draft_model"} {
			if x, y := a.Config.Get(k), b.Config.Get(k); x != y {
				return fmt.Sprintf("acceptance under another %s (%s and %s)", k, orNone(x), orNone(y))
			}
		}
	}
	if !o.IncludePartial {
		for _, r := range [...]*bench.Run{a, b} {
			if isPartial(r) {
				return partialReason(r)
			}
		}
	}
	if why := unlikeWork(a, b, metric); why != "" && !(o.IncludePartial && (isPartial(a) || isPartial(b))) {
		return why
	}
	if _, family, ok := bench.SplitLatency(metric); ok && family == "itl" {
		for _, r := range [...]*bench.Run{a, b} {
			if q, ok := tokensPerChunk(r); ok && q > maxPerChunk {
				return fmt.Sprintf("ITL is per streamed chunk of about %.1f tokens", q)
			}
		}
	}
	return ""
}

// cellReason tells why two cells cannot be compared. One run of several that did
// not complete all its requests spoils their mean.
func cellReason(a, b *Cell, metric string, o Options) string {
	if !o.IncludePartial {
		for _, c := range [...]*Cell{a, b} {
			for _, r := range c.Runs {
				if isPartial(r) {
					return partialReason(r)
				}
			}
		}
	}
	return reason(a.Runs[0], b.Runs[0], metric, o)
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func partialReason(r *bench.Run) string {
	for _, f := range r.Findings {
		if f.Code == "partial" {
			return f.Message
		}
	}
	return "partial"
}

// unlikeWork tells whether one side did other work than the other, although
// both were asked for the same: prompts of another length decide what the
// prompts cost; fewer generated tokens make a run shorter. Who did more and was
// faster all the same has won fairly.
func unlikeWork(a, b *bench.Run, metric string) string {
	inA, outA, ok := perRequest(a)
	inB, outB, ok2 := perRequest(b)
	if !ok || !ok2 {
		return ""
	}
	_, family, _ := bench.SplitLatency(metric)
	if d := ratio(inA, inB); !samePrompts(inA, inB) {
		prompts := family == "ttft" || family == "e2el" || slices.Contains([]string{"duration", "request_throughput", "total_token_throughput", "input_throughput"}, metric)
		if prompts || d > 1.10 {
			return fmt.Sprintf("unlike work: %s and %s input tokens a request", short(inA), short(inB))
		}
	}
	if d := ratio(outA, outB); d > 1.05 && (family == "e2el" || metric == "duration" || metric == "request_throughput") {
		x, okA := a.Metric(metric)
		y, okB := b.Metric(metric)
		if okA && okB && isBetter(metric, x.Value, y.Value) == (outA < outB) && x.Value != y.Value {
			return fmt.Sprintf("unlike work: %s and %s output tokens a request", short(outA), short(outB))
		}
	}
	return ""
}

// sameRequests reports whether two logs of llama-server tell of as many requests
// and about as many tokens: nothing else in them tells the load.
func sameRequests(a, b *bench.Run) bool {
	for _, name := range [...]string{"timed_requests", "prompt_tokens_evaluated", "tokens_generated"} {
		x, _ := a.Metric(name)
		y, _ := b.Metric(name)
		if x.Raw != y.Raw && (name == "timed_requests" || ratio(x.Raw, y.Raw) > 1.02) {
			return false
		}
	}
	return true
}

// samePrompts reports whether two mean lengths may be those of the same prompts.
// One client counts the token that begins a sequence, another does not.
func samePrompts(a, b float64) bool {
	return ratio(a, b) <= 1.02 || math.Abs(a-b) <= 1
}

func ratio(a, b float64) float64 {
	if a <= 0 || b <= 0 {
		return 1
	}
	return math.Max(a/b, b/a)
}

// short writes a number for a sentence.
func short(x float64) string {
	switch {
	case math.Abs(x) >= 1000:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

func isBetter(metric string, a, b float64) bool {
	if bench.Lookup(metric).Better == bench.Higher {
		return a > b
	}
	return a < b
}

// winners marks the best cells of a section: of each column among rows of equal
// workload, or of each row where its columns are variants.
func (s *Section) winners(o Options) {
	if s.Across {
		var cells []*Cell
		for _, row := range s.Rows {
			cells = cells[:0]
			for i := range row.Cells {
				cells = append(cells, &row.Cells[i])
			}
			mark(cells, s.Columns[0].Metric, o)
		}
		return
	}
	clusters := s.clusters()
	s.Groups = len(clusters) > 1
	for i, c := range s.Columns {
		for _, rows := range clusters {
			var cells []*Cell
			for _, r := range rows {
				cells = append(cells, &r.Cells[i])
			}
			mark(cells, c.Metric, o)
		}
	}
}

// clusters puts rows of equal workload together. A row that does not tell a key
// goes with the others, if those agree on it.
func (s *Section) clusters() [][]*Row {
	var telling []string
	for _, k := range decisive {
		values := map[string]bool{}
		for _, r := range s.Rows {
			if v := workloadOf(r.Runs[0], k); v != "" {
				values[v] = true
			}
		}
		if len(values) > 1 || k == "depth" && len(values) > 0 {
			telling = append(telling, k)
		}
	}
	return groupBy(s.Rows, func(r *Row) string {
		var key strings.Builder
		for _, k := range telling {
			key.WriteString(workloadOf(r.Runs[0], k) + "\x00")
		}
		return key.String()
	})
}

// mark finds the best of some cells. It must have a rival that it can be
// compared with; all that read the same as it are best too. A partial run does
// not win, and a metric without direction has no winner. Where the best value
// has no fair rival nobody wins: a worse one in bold would be a riddle.
func mark(cells []*Cell, metric string, o Options) {
	if bench.Lookup(metric).Better == bench.Neither {
		return
	}
	cells = slices.DeleteFunc(cells, func(c *Cell) bool {
		return len(c.Runs) == 0 || !o.IncludePartial && slices.ContainsFunc(c.Runs, isPartial)
	})
	slices.SortStableFunc(cells, func(a, b *Cell) int {
		if a.Value == b.Value {
			return 0
		}
		if isBetter(metric, a.Value, b.Value) {
			return -1
		}
		return 1
	})
	if len(cells) == 0 {
		return
	}
	best := cells[0]
	for _, c := range cells[1:] {
		if cellReason(best, c, metric, o) != "" {
			continue
		}
		best.Best = true
		if alike(best, c, metric, o) {
			c.Best = true
		}
	}
}

// alike reports whether two cells read the same, or cannot be told apart where
// they have a spread: no significant difference, or one that does not matter.
func alike(a, b *Cell, metric string, o Options) bool {
	if a.Text() == b.Text() {
		return true
	}
	small := func(t test) bool { return math.Abs(t.ratio-1) < o.threshold(metric) }
	t, _, ok := testWith(func(a, b side, alpha float64) test {
		t := test{ratio: math.Exp(b.mean - a.mean), p: 1, rankP: math.NaN()}
		if small(t) {
			return t // whatever a test says
		}
		if t = difference(a, b); t.p < alpha {
			t.rankP = rankP(a, b, alpha)
		}
		return t
	}, a, b, metric, o)
	return ok && (small(t) || !t.significant(t.p, o.alpha()))
}

// changes compares the rows of a section with the baseline.
func (s *Section) changes(o Options) {
	if s.Across {
		s.changesAcross(o)
		return
	}
	base := s.baseRows(o)
	isBase := map[*Row]bool{}
	for _, row := range base {
		isBase[row] = true
	}
	partner, clusterOf := partners(base), s.clusterOf()
	several := slices.ContainsFunc(s.Rows, func(r *Row) bool { return r.Input != s.Rows[0].Input })
	// A side is called by its input alone, where the key of the comparison tells
	// the rest.
	name := func(row *Row) string {
		if several && clusterOf[row].ofInput[row.Input] == 1 {
			return row.Input
		}
		return s.Name(row)
	}
	for _, row := range s.Rows {
		if isBase[row] {
			continue
		}
		ch := Change{Row: row, Base: partner(row)}
		if declaredReason(ch) != "" {
			// No row of the baseline has this workload: the first that has it will do.
			cluster := clusterOf[row]
			if cluster.first == row && (len(cluster.rows) > 1 || len(s.Rows) > 4) {
				continue // the baseline of its workload, or alone with it among many
			}
			if cluster.first != row {
				ch.Base = cluster.first
			}
		}
		for i, c := range s.Columns {
			if cmp, ok := s.compare(&ch.Base.Cells[i], &row.Cells[i], c.Metric, name(ch.Base), name(row), o); ok {
				cmp.Key = s.sharedKeys(ch.Base, row)
				ch.By = append(ch.By, cmp)
			}
		}
		s.Changes = append(s.Changes, ch)
	}
}

// baseRows are the rows of the baseline: those of the input or label that the
// user names, or of the first input; the first of each workload where all are of
// one input.
func (s *Section) baseRows(o Options) []*Row {
	name := o.Baseline
	if name == "" {
		name = firstRow(s.Rows).Input
	}
	var rows []*Row
	for _, r := range s.Rows {
		if r.Input == name || o.Baseline != "" && r.Label == name {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 || len(rows) == len(s.Rows) {
		rows = nil
		for _, c := range s.clusters() {
			rows = append(rows, firstRow(c))
		}
	}
	return rows
}

// Compared reports whether rows of different inputs have the same workload.
func (s *Section) Compared() bool {
	for _, c := range s.clusters() {
		if slices.ContainsFunc(c, func(r *Row) bool { return r.Input != c[0].Input }) {
			return true
		}
	}
	return false
}

// declaredReason tells that the partner of a row was asked for another workload.
func declaredReason(ch Change) string {
	why := reason(ch.Base.Runs[0], ch.Row.Runs[0], "output_throughput", Options{IncludePartial: true})
	if strings.HasPrefix(why, "unlike workloads") {
		return why
	}
	return ""
}

// A cluster are rows of the same workload.
type cluster struct {
	rows    []*Row
	first   *Row           // in the order of the inputs
	ofInput map[string]int // how many are of an input
}

// clusterOf tells the cluster of each row.
func (s *Section) clusterOf() map[*Row]*cluster {
	of := make(map[*Row]*cluster, len(s.Rows))
	for _, rows := range s.clusters() {
		c := &cluster{rows: rows, first: firstRow(rows), ofInput: map[string]int{}}
		for _, r := range rows {
			of[r] = c
			c.ofInput[r.Input]++
		}
	}
	return of
}

// firstRow is the first of some rows in the order of the inputs.
func firstRow(rows []*Row) *Row {
	return slices.MinFunc(rows, func(a, b *Row) int { return a.order - b.order })
}

// partners finds the row of the baseline that is most like a row: equal in
// workload, then in as many settings as can be. Values have numbers, 0 for none:
// each row is held against each of the baseline.
func partners(base []*Row) func(row *Row) *Row {
	settings := newKeyReader(MainKeys)
	number := map[string]int{"": 0}
	values := func(row *Row) []int {
		out := make([]int, len(MainKeys))
		for i, v := range settings.read(row.Runs[0]) {
			if _, ok := number[v]; !ok {
				number[v] = len(number)
			}
			out[i] = number[v]
		}
		return out
	}
	var mismatch []int // what another value of a key counts
	for _, k := range MainKeys {
		if slices.Contains(decisive, k) {
			mismatch = append(mismatch, -1000)
		} else {
			mismatch = append(mismatch, 0)
		}
	}
	var of [][]int
	for _, b := range base {
		of = append(of, values(b))
	}
	return func(row *Row) *Row {
		mine := values(row)
		best, at := base[0], math.MinInt
		for n, b := range base {
			score := 0
			for i, x := range of[n] {
				switch {
				case x == 0 || mine[i] == 0:
				case x == mine[i]:
					score++
				default:
					score += mismatch[i]
				}
			}
			if b.Label == row.Label {
				score++
			}
			if score > at {
				best, at = b, score
			}
		}
		return best
	}
}

// compare makes the comparison of two cells, if both have a value and the
// metric has a direction.
func (s *Section) compare(base, head *Cell, metric, baseName, headName string, o Options) (Comparison, bool) {
	if len(base.Runs) == 0 || len(head.Runs) == 0 || bench.Lookup(metric).Better == bench.Neither {
		return Comparison{}, false
	}
	c := Comparison{Metric: metric, Base: baseName, Head: headName, Verdict: Inconclusive, Evidence: EvidenceSingle,
		BaseValue: cellValue(base, metric), HeadValue: cellValue(head, metric), N: [2]int{len(base.Runs), len(head.Runs)}}
	c.Threshold = o.threshold(metric)
	c.DeltaPct = 100 * (c.HeadValue/c.BaseValue - 1)
	if c.Reason = cellReason(base, head, metric, o); c.Reason != "" {
		c.Verdict = Incomparable
		return c, true
	}
	if c.test, c.Evidence, c.Tested = testCells(base, head, metric, o); !c.Tested {
		switch {
		case c.N[0] > 1 && c.N[1] > 1 && c.test.ratio != 0:
			c.Reason = "no spread: the runs of each side are copies of each other"
		case c.N[0] > 1 && c.N[1] > 1:
			c.Reason = "a value of 0 has no ratio"
		case c.N[0] > 1 || c.N[1] > 1:
			c.Reason = "one run on one side"
		case o.NoProcess && s.Tool == "llama-bench" && repeatsInside(base.Metric) && repeatsInside(head.Metric):
			c.Reason = "one process each: how its repetitions scatter is not how runs do"
		default:
			c.Reason = "one run each"
		}
		return c, true
	}
	c.DeltaPct = 100 * (c.test.ratio - 1)
	c.CIPct = [2]float64{100 * (c.test.lo - 1), 100 * (c.test.hi - 1)}
	c.P = c.test.p
	return c, true
}

// cellValue is the value of a cell at full precision.
func cellValue(c *Cell, metric string) float64 {
	values := make([]float64, 0, len(c.Runs))
	for _, r := range c.Runs {
		x, _, _ := precise(r, metric)
		values = append(values, x)
	}
	return center(values)
}

// Name is what a row is called in a comparison: its input where there are
// several, its label otherwise, with what tells it from its namesakes.
func (s *Section) Name(row *Row) string {
	if s.names == nil || s.names.rows != len(s.Rows) {
		s.names = s.newNames()
	}
	if row.name == "" || row.namedIn != len(s.Rows) {
		row.name, row.namedIn = s.names.of(row, s.Keys), len(s.Rows)
	}
	return row.name
}

// names are what rows of a section are called.
type names struct {
	rows    int  // that were looked at
	several bool // inputs
	groups  map[string]*nameGroup
}

// A nameGroup are rows of one input, or of one label where all are of one input.
type nameGroup struct {
	first  *Row
	rows   int
	labels map[string]int
	varies []bool // by key
}

func (s *Section) newNames() *names {
	n := &names{rows: len(s.Rows), groups: map[string]*nameGroup{}}
	n.several = slices.ContainsFunc(s.Rows, func(r *Row) bool { return r.Input != s.Rows[0].Input })
	for _, r := range s.Rows {
		g := n.groups[n.short(r)]
		if g == nil {
			g = &nameGroup{first: r, labels: map[string]int{}, varies: make([]bool, len(s.Keys))}
			n.groups[n.short(r)] = g
		}
		g.rows++
		g.labels[r.Label]++
		for i := range s.Keys {
			g.varies[i] = g.varies[i] || r.Keys[i] != g.first.Keys[i]
		}
	}
	return n
}

// short is the name of a row without what tells it from its namesakes.
func (n *names) short(row *Row) string {
	if n.several {
		return row.Input
	}
	return row.Label
}

func (n *names) of(row *Row, keys []string) string {
	name := n.short(row)
	g := n.groups[name]
	if g == nil || g.rows == 1 {
		return name
	}
	if n.several && row.Label != row.Input && g.labels[row.Label] == 1 {
		return name + " " + row.Label
	}
	for i, k := range keys {
		if row.Keys[i] != "" && g.varies[i] {
			name += " " + k + "=" + row.Keys[i]
		}
	}
	return name
}

// sharedKeys are the settings by which a table is parted or its rows are named,
// as far as both rows have them.
func (s *Section) sharedKeys(a, b *Row) []bench.Setting {
	out := append(make([]bench.Setting, 0, len(s.By)+len(s.Keys)), s.By...)
	for i, k := range s.Keys {
		if a.Keys[i] == b.Keys[i] && a.Keys[i] != "" {
			out = append(out, bench.Setting{Key: k, Value: a.Keys[i]})
		}
	}
	return out
}

// othersAcross lists the settings in which the variants of a pivoted section
// differ: those are what is compared, whether the user knows it or not.
func (s *Section) othersAcross() {
	byVariant := make([]map[string]string, len(s.Columns))
	var keys []string
	for i := range s.Columns {
		var runs []*bench.Run
		for _, row := range s.Rows {
			runs = append(runs, row.Cells[i].Runs...)
		}
		byVariant[i] = sharedValues(runs)
		keys = slices.AppendSeq(keys, maps.Keys(byVariant[i]))
	}
	slices.Sort(keys)
	for _, k := range slices.Compact(keys) {
		if slices.Contains(s.Keys, k) || k == s.Varies || k == "quant" || dull[k] && k != "model_filename" || volatile[k] || k == "test" || k == "model" {
			continue
		}
		differ := false
		d := Difference{Key: k}
		for i, c := range s.Columns {
			differ = differ || byVariant[i][k] != byVariant[0][k]
			d.Values = append(d.Values, orNone(byVariant[i][k])+" ("+c.Variant+")")
		}
		if differ {
			s.Others = append(s.Others, d)
		}
	}
}

// sharedValues are the values of all settings of some runs, "various" for those
// that change from run to run or that the first has not.
func sharedValues(runs []*bench.Run) map[string]string {
	const various = "various"
	out := map[string]string{}
	var before bench.Config
	for i, r := range runs {
		known := before.SameKeys(r.Config)
		for k, x := range r.Config {
			if known && x.Value == before[k].Value {
				continue // told of the run before
			}
			if v, ok := out[x.Key]; !ok && i == 0 {
				out[x.Key] = x.Value
			} else if v != x.Value && v != various {
				out[x.Key] = various
			}
		}
		before = r.Config
	}
	return out
}

// others lists the settings in which the runs differ beside what names the rows.
func (s *Section) others() {
	if s.Across {
		s.othersAcross()
		return
	}
	var keys []string
	for _, row := range s.Rows {
		for _, x := range row.Runs[0].Config {
			if !slices.Contains(keys, x.Key) {
				keys = append(keys, x.Key)
			}
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if slices.Contains(s.Keys, k) || slices.Contains(MainKeys, k) || strings.HasPrefix(k, "env.") || dull[k] || volatile[k] || clientKeys[k] {
			continue
		}
		d := Difference{Key: k}
		byValue := map[string][]string{}
		var order []string
		engine := ""
		for _, row := range s.Rows {
			// Flags of two engines are different flags, whatever their names.
			e := row.Runs[0].Config.Get("engine")
			if !tellsFlags(row.Runs[0]) || engine != "" && e != engine {
				continue
			}
			engine = e
			v := row.Runs[0].Config.Get(k)
			if byValue[v] == nil {
				order = append(order, v)
			}
			byValue[v] = append(byValue[v], row.Label)
		}
		if len(order) < 2 {
			continue
		}
		for _, v := range order {
			names := slices.Compact(byValue[v])
			d.Values = append(d.Values, orNone(v)+" ("+strings.Join(names, ", ")+")")
		}
		s.Others = append(s.Others, d)
	}
}

// dull settings differ without meaning.
var dull = map[string]bool{
	"size": true, "params": true, "model_filename": true, "model_size": true, "model_n_params": true, "tokenizer": true, "concurrency_per_replica": true,
	"client": true, "endpoint_type": true, "users": true, "repetitions": true,
}

// tellsFlags reports whether the command of a run's server is known: only then
// does a missing flag mean that it was not given.
func tellsFlags(r *bench.Run) bool {
	from := r.Config.From("engine")
	return from == bench.FromCommand || from == bench.FromLog
}
