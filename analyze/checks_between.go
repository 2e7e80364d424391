package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// sideBySide gives the clusters of rows that a table compares: of equal
// declared workload, at least two.
func (s *Section) sideBySide() [][]*Row {
	if s.Across {
		return nil
	}
	return slices.DeleteFunc(s.clusters(), func(rows []*Row) bool { return len(rows) < 2 })
}

// reference is the row that the others of a cluster are held against: the first
// that completed all its requests.
func reference(rows []*Row) *Row {
	for _, r := range rows {
		if _, _, partial := r.Partial(); !partial {
			return r
		}
	}
	return rows[0]
}

// unlikeWorkload (C3, C14): runs beside each other that were not asked for the
// same, or did not do the same.
func unlikeWorkload(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	for _, c := range s.Changes {
		if s.Across || c.Base == nil || c.Base.Input == c.Row.Input {
			continue
		}
		if why := reason(c.Base.Runs[0], c.Row.Runs[0], "output_throughput", Options{IncludePartial: true}); strings.HasPrefix(why, "unlike workloads") {
			add(bench.Error, fmt.Sprintf("%s and %s are %s: nothing is compared", s.Name(c.Base), s.Name(c.Row), strings.Replace(why, "unlike workloads: ", "unlike workloads, ", 1)), c.Base.Runs[0], c.Row.Runs[0])
		}
	}
	for _, rows := range s.sideBySide() {
		ref := reference(rows)
		in, out, ok := perRequest(ref.Runs[0])
		if !ok {
			continue
		}
		for _, row := range rows {
			i, o, ok := perRequest(row.Runs[0])
			if !ok || row == ref {
				continue
			}
			if x, y := ignoresEOS(row.Runs[0]), ignoresEOS(ref.Runs[0]); x != "" && y != "" && x != y {
				add(bench.Warning, fmt.Sprintf("%s ran with ignore_eos %s, %s with %s: outputs are not of the same length", s.Name(row), x, s.Name(ref), y), row.Runs[0], ref.Runs[0])
			}
			if !samePrompts(i, in) {
				add(bench.Error, fmt.Sprintf("%s had %s input tokens a request, %s had %s: not the same prompts", s.Name(row), short(i), s.Name(ref), short(in)), row.Runs[0], ref.Runs[0])
			} else if ratio(o, out) > 1.05 {
				add(bench.Warning, fmt.Sprintf("%s generated %s tokens a request, %s %s: duration and req/s are not like for like", s.Name(row), short(o), s.Name(ref), short(out)), row.Runs[0], ref.Runs[0])
			}
		}
	}
}

// ignoresEOS tells whether a run was told to go on behind the end of an answer,
// "" where its arguments are not known.
func ignoresEOS(r *bench.Run) string {
	if v := r.Config.Get("ignore_eos"); v != "" {
		return strings.ToLower(v)
	}
	if slices.ContainsFunc(r.Config, func(s bench.Setting) bool { return s.From == bench.FromArgs }) {
		return "false"
	}
	return ""
}

// survivorBias (C4): the requests that failed were not like those that completed.
func survivorBias(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	for _, rows := range s.sideBySide() {
		ref := reference(rows)
		in, _, ok := perRequest(ref.Runs[0])
		if _, _, partial := ref.Partial(); !ok || partial {
			continue
		}
		for _, row := range rows {
			n, of, partial := row.Partial()
			i, _, ok := perRequest(row.Runs[0])
			if partial && ok && of > 0 && i < 0.8*in {
				add(bench.Error, fmt.Sprintf("%s completed %d of %d requests, with %s input tokens each where all have %s: the short prompts survived", s.Name(row), n, of, short(i), short(in)), row.Runs[0], ref.Runs[0])
			}
		}
	}
}

// sameServer (C6): two names, one result. A server answers with whatever model
// it has loaded, so the client's model name proves nothing.
func sameServer(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	for _, rows := range s.sideBySide() {
		byTokens := map[[2]float64][]*Row{}
		var order [][2]float64
		for _, row := range rows {
			in, ok := row.Runs[0].Metric("total_input_tokens")
			out, ok2 := row.Runs[0].Metric("total_output_tokens")
			if !ok || !ok2 {
				continue
			}
			k := [2]float64{in.Raw, out.Raw}
			if byTokens[k] == nil {
				order = append(order, k)
			}
			byTokens[k] = append(byTokens[k], row)
		}
		for _, k := range order {
			same := byTokens[k]
			for i := 1; i < len(same); i++ {
				a, b := same[i-1].Runs[0], same[i].Runs[0]
				if !differ(a, b, "model") && !differ(a, b, "quant") {
					continue
				}
				if means, n := farthest(a, b, true); n >= 4 && means <= 1.02 {
					if all, n := farthest(a, b, false); all <= 1.05 {
						add(bench.Warning, fmt.Sprintf("%s and %s have equal token counts (%s in, %s out), means within %.1f %% and all %d figures within %.1f %%: very likely one server measured twice",
							s.Name(same[i-1]), s.Name(same[i]), short(k[0]), short(k[1]), 100*(means-1), n, 100*(all-1)), a, b)
					}
				}
			}
		}
	}
}

// differ reports whether both runs tell a setting, and not the same.
func differ(a, b *bench.Run, key string) bool {
	x, y := a.Config.Get(key), b.Config.Get(key)
	return x != "" && y != "" && x != y
}

// foldsDifferent: a row that folds runs which differ in a key that it does not
// show.
func foldsDifferent(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	check := func(row *Row, runs []*bench.Run) {
		var names []string
		for _, k := range configKeysOf(runs) {
			if volatile[k] || dull[k] || slices.Contains(s.Keys, k) {
				continue
			}
			values := distinct(runs, func(r *bench.Run) string { return orNone(r.Config.Get(k)) })
			if len(values) > 1 {
				names = append(names, fmt.Sprintf("%s (%s)", k, strings.Join(values[:min(len(values), 4)], ", ")))
			}
		}
		if names != nil {
			add(bench.Warning, fmt.Sprintf("%s folds %d runs that differ in %s", s.Name(row), len(runs), strings.Join(names, ", ")), runs...)
		}
	}
	for _, row := range s.Rows {
		if !s.Across {
			check(row, row.Runs)
			continue
		}
		for i := range row.Cells {
			check(row, row.Cells[i].Runs)
		}
	}
}

func configKeysOf(runs []*bench.Run) []string {
	var keys []string
	if len(runs) < 2 {
		return nil
	}
	for _, r := range runs {
		for _, x := range r.Config {
			if !slices.Contains(keys, x.Key) {
				keys = append(keys, x.Key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

// hardlyRepeats: runs that are told to be the same, and differ far more than
// repeats of one thing do.
func hardlyRepeats(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	for _, row := range s.Rows {
		for i, c := range row.Cells {
			if len(c.Runs) < 2 || bench.Lookup(s.Columns[i].Metric).Better == bench.Neither {
				continue
			}
			lo, hi := slices.Min(c.Samples), slices.Max(c.Samples)
			if lo > 0 && hi/lo > 1.5 {
				add(bench.Warning, fmt.Sprintf("%s: %d runs with the same settings differ by a factor of %.1f in %s (%s to %s): something that the logs do not tell differs between them",
					s.Name(row), len(c.Runs), hi/lo, s.Columns[i].Metric, short(lo), short(hi)), c.Runs...)
				break
			}
		}
	}
}

// farthest is the largest ratio between two runs over the figures both have, or
// over those that are no percentiles, which scatter more.
func farthest(a, b *bench.Run, means bool) (worst float64, n int) {
	worst = 1
	for _, m := range a.Metrics {
		if stat, _, ok := bench.SplitLatency(m.Name); ok && means && stat != "mean" {
			continue
		}
		o, ok := b.Metric(m.Name)
		if !ok || m.Raw <= 0 || o.Raw <= 0 || bench.Lookup(m.Name).Better == bench.Neither {
			continue
		}
		n++
		// Figures of one or two digits differ by rounding alone.
		if slack := halfUnit(m) + halfUnit(o); math.Abs(m.Raw-o.Raw) > slack {
			worst = math.Max(worst, ratio(m.Raw, o.Raw))
		}
	}
	return worst, n
}

// features group the settings that are one decision.
var features = map[string]string{
	"tp": "parallelism", "pp": "parallelism", "dp": "parallelism", "replicas": "parallelism", "gpus": "parallelism",
	"draft_model": "speculative decoding", "spec_tokens": "speculative decoding", "spec_method": "speculative decoding",
	"draft_min": "speculative decoding", "draft_max": "speculative decoding", "draft_p_min": "speculative decoding", "draft_p_split": "speculative decoding", "ngld": "speculative decoding",
	"model": "the model", "quant": "the model", "quantization": "the model", "dtype": "the model", "model_filename": "the model", "served_model_name": "the model",
	"engine": "the engine", "build": "the engine", "device": "the device",
}

// clientKeys belong to the client, not to the server.
var clientKeys = map[string]bool{
	"backend": true, "tokenizer": true, "burstiness": true, "client": true, "endpoint_type": true, "endpoint": true, "tokenizer_mode": true, "best_of": true,
	"use_beam_search": true, "ignore_eos": true, "temperature": true, "top_p": true, "users": true, "spawn_rate": true, "run_time": true, "provider": true,
	"stream": true, "distribution": true, "logprobs": true, "goodput": true, "concurrency_per_replica": true, "repetitions": true,
	"num_warmups": true, "extra_request_body": true, "backend_name": true,
}

// confounded (C15): more than one thing differs, so a change is that of none of
// them alone. Flags of two engines are not compared: they are different flags.
func confounded(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	type group struct {
		base  string
		text  string
		names []string
		runs  []*bench.Run
	}
	var groups []*group
	for _, c := range s.Changes {
		if c.Base == nil || c.Base == c.Row {
			continue
		}
		a, b := c.Base.Runs[0], c.Row.Runs[0]
		if !tellsFlags(a) || !tellsFlags(b) || a.Config.Get("engine") != b.Config.Get("engine") {
			continue
		}
		text := differences(a, b)
		if text == "" {
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.text == text && g.base == s.Name(c.Base) })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &group{base: s.Name(c.Base), text: text, runs: []*bench.Run{a}})
		}
		groups[i].names = append(groups[i].names, s.Name(c.Row))
		groups[i].runs = append(groups[i].runs, b)
	}
	for _, g := range groups {
		add(bench.Warning, fmt.Sprintf("%s and %s differ in %s: the change is not that of one of them alone", g.base, strings.Join(g.names, ", "), g.text), g.runs...)
	}
}

// differences names what differs between two servers, "" where that is one
// thing or nothing.
func differences(a, b *bench.Run) string {
	var names []string
	seen := map[string]bool{}
	visit := func(key string) {
		x, y := a.Config.Get(key), b.Config.Get(key)
		if x == y || bench.IsWorkload(key) || clientKeys[key] || volatile[key] || seen[key] {
			return
		}
		seen[key] = true
		if f, ok := features[key]; ok {
			if !seen[f] {
				seen[f] = true
				names = append(names, f)
			}
			return
		}
		if dull[key] {
			return
		}
		names = append(names, fmt.Sprintf("%s (%s, %s)", key, orNone(x), orNone(y)))
	}
	for _, s := range a.Config {
		visit(s.Key)
	}
	for _, s := range b.Config {
		visit(s.Key)
	}
	if len(names) < 2 {
		return ""
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// chatWords tell a model that was trained to answer.
var chatWords = map[string]bool{"chat": true, "instruct": true, "it": true, "sft": true, "dpo": true}

// modelCore parts a model name into what the model is and whether it is a chat
// model. Packaging and quantization do not count.
func modelCore(name string) (core string, chat bool) {
	name = strings.ToLower(name)
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	var parts []string
	quant := false
	for _, w := range strings.FieldsFunc(strings.TrimSuffix(name, ".gguf"), func(c rune) bool { return strings.ContainsRune("-_. ", c) }) {
		switch {
		case chatWords[w]:
			chat = true
		case slices.Contains([]string{"hf", "gguf", "gptq", "awq", "quantized", "fp8", "bf16", "fp16", "f16", "int8", "int4"}, w),
			strings.HasPrefix(w, "w8a") || strings.HasPrefix(w, "w4a"):
		case len(w) >= 2 && len(w) <= 3 && strings.TrimLeft(w, "iq") != w && len(strings.Trim(strings.TrimLeft(w, "iq"), "0123456789")) == 0:
			quant = true // q4, and behind it _k_m
			continue
		case quant && slices.Contains([]string{"0", "1", "k", "s", "m", "l", "xl", "xs", "xxs", "nl"}, w):
			continue
		default:
			parts = append(parts, w)
		}
		quant = false
	}
	return strings.Join(parts, "-"), chat
}

// modelMismatch (C16): a base model beside its chat version, which stops
// elsewhere.
func modelMismatch(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	type side struct{ base, chat *Row }
	for _, rows := range s.sideBySide() {
		byCore := map[string]*side{}
		var order []string
		for _, row := range rows {
			model := row.Runs[0].Config.Get("model")
			if model == "" || row.Runs[0].Source.Tool == "llama-bench" {
				continue
			}
			core, chat := modelCore(model)
			if byCore[core] == nil {
				byCore[core] = &side{}
				order = append(order, core)
			}
			if p := byCore[core]; chat && p.chat == nil {
				p.chat = row
			} else if !chat && p.base == nil {
				p.base = row
			}
		}
		for _, core := range order {
			if p := byCore[core]; p.base != nil && p.chat != nil {
				add(bench.Warning, fmt.Sprintf("%s is a base model, %s its chat version: they stop at different lengths", p.base.Runs[0].Config.Get("model"), p.chat.Runs[0].Config.Get("model")), p.base.Runs[0], p.chat.Runs[0])
			}
		}
	}
}

// clientMismatch (C17): runs that were measured with different clients.
func clientMismatch(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	byClient := map[string][]*Row{}
	var order []string
	tools := map[string]bool{}
	for _, row := range s.Rows {
		tools[row.Runs[0].Source.Tool] = true
	}
	for _, row := range s.Rows {
		c := row.Runs[0].Config.Get("client")
		if len(tools) > 1 {
			c = row.Runs[0].Source.Tool
		}
		if c == "" {
			continue
		}
		if byClient[c] == nil {
			order = append(order, c)
		}
		byClient[c] = append(byClient[c], row)
	}
	if len(order) < 2 {
		return
	}
	var parts []string
	var runs []*bench.Run
	for _, c := range order {
		rows := byClient[c]
		name := s.Name(rows[0])
		if len(rows) > 1 {
			name += fmt.Sprintf(" and %d more", len(rows)-1)
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", c, name))
		for _, r := range rows {
			runs = append(runs, r.Runs[0])
		}
	}
	add(bench.Note, "measured with different clients: "+strings.Join(parts, ", "), runs...)
}

// warmCache (C18): repeats whose first token comes sooner each time.
func warmCache(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	for _, row := range s.Rows {
		if len(row.Runs) < 3 || s.Across {
			continue
		}
		var ttft []float64
		for _, r := range row.Runs {
			if m, ok := r.Metric("mean_ttft_ms"); ok && m.Raw > 0 {
				ttft = append(ttft, m.Raw)
			}
		}
		falling := len(ttft) >= 3
		for i := 1; i < len(ttft); i++ {
			falling = falling && ttft[i] < ttft[i-1]
		}
		if falling && ttft[len(ttft)-1] < 0.7*ttft[0] {
			add(bench.Warning, fmt.Sprintf("%s: mean TTFT falls from run to run (%s to %s ms over %d runs): a cache may answer for the prompts of the run before", s.Name(row), short(ttft[0]), short(ttft[len(ttft)-1]), len(ttft)), row.Runs...)
		}
	}
}

// coarseRounding (C19): rates printed with fewer than three digits.
func coarseRounding(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	var shown []string
	var runs []*bench.Run
	recomputable := true
	for _, row := range s.Rows {
		for _, r := range row.Runs {
			m, ok := r.Metric("request_throughput")
			if !ok || m.Decimals < 0 || m.Raw <= 0 || m.Raw >= 99.5*math.Pow(10, -float64(m.Decimals)) {
				continue
			}
			if _, _, ok := recomputed(r, m.Name); !ok {
				recomputable = false
			}
			runs = append(runs, r)
			if t := bench.FormatDecimals(m.Raw, m.Decimals); !slices.Contains(shown, t) {
				shown = append(shown, t)
			}
		}
	}
	if runs == nil || len(s.Rows) < 2 {
		return
	}
	if len(shown) > 4 {
		shown = append(shown[:3], "…")
	}
	then := "changes are computed from completed ÷ duration"
	if !recomputable {
		then = "its changes are no more precise than that"
	}
	add(bench.Note, "req/s is printed with fewer than three digits ("+strings.Join(shown, ", ")+"): "+then, runs...)
}

// p99IsMax: a P99 over fewer than 100 requests is nearly their maximum.
func p99IsMax(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	if !slices.ContainsFunc(s.Columns, func(c Column) bool { return strings.HasPrefix(c.Metric, "p99_") }) {
		return
	}
	var runs []*bench.Run
	least := math.MaxInt
	for _, row := range s.Rows {
		if r := row.Runs[0]; r.Completed != nil && *r.Completed > 0 && *r.Completed < 100 {
			runs = append(runs, r)
			least = min(least, *r.Completed)
		}
	}
	if runs != nil {
		add(bench.Note, fmt.Sprintf("P99 over fewer than 100 requests (%d) is nearly the maximum", least), runs...)
	}
}

// noSpread: nothing that was compared has more than one number a side, so no
// difference is tested.
func noSpread(s *Section, add func(bench.Severity, string, ...*bench.Run)) {
	var runs []*bench.Run
	compared := 0
	for _, c := range s.Changes {
		for _, cmp := range c.By {
			if cmp.Verdict == Incomparable {
				continue
			}
			if cmp.Evidence != EvidenceSingle {
				return
			}
			compared++
		}
		runs = append(runs, c.Row.Runs...)
	}
	if compared > 0 {
		add(bench.Note, "one run a side: no spread, so no difference is tested", runs...)
	}
}

// labelVsPhysics (C7): a server that generates at another speed than llama-bench
// measured for the file it is said to serve.
func labelVsPhysics(rep *Report) []bench.Finding {
	speeds := map[string][]float64{} // by file: tokens a second
	for _, r := range rep.Runs {
		if r.Source.Tool != "llama-bench" || !strings.HasPrefix(r.Config.Get("test"), "tg") || r.Config.Has("depth") {
			continue
		}
		if m, ok := r.Metric("avg_ts"); ok && m.Raw > 0 {
			file := fileName(r.Config.Get("model_filename"))
			speeds[file] = append(speeds[file], m.Raw)
		}
	}
	var out []bench.Finding
	for _, r := range rep.Runs {
		tpot, ok := r.Metric("mean_tpot_ms")
		known := speeds[fileName(r.Config.Get("model"))]
		if !ok || tpot.Raw <= 0 || len(known) == 0 || r.Config.Get("concurrency") != "1" || r.Config.Get("model") == "" || speculative(r) {
			continue
		}
		best := known[0]
		for _, x := range known {
			if ratio(1000/x, tpot.Raw) < ratio(1000/best, tpot.Raw) {
				best = x
			}
		}
		if ratio(1000/best, tpot.Raw) > 1.15 {
			out = append(out, bench.Finding{Code: "label-vs-physics", Severity: bench.Warning, Runs: []string{r.ID},
				Message: fmt.Sprintf("%s: mean TPOT is %s ms, but llama-bench generates with %s at %s t/s, one token in %s ms: it may not be the model that was served",
					r.Label, short(tpot.Raw), fileName(r.Config.Get("model")), short(best), short(1000/best))})
		}
	}
	return out
}

func fileName(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		path = path[i+1:]
	}
	return path
}
