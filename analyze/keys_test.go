package analyze

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// mixedRuns are runs of few keys and values, most of them with the keys of the
// run before: the same values at the same places, or the same at others, and
// keys that come, go and change places.
func mixedRuns(r *rand.Rand, tool string, n int) []*bench.Run {
	keys := []string{"model", "test", "depth", "env.A", "env.B", "batch", "label", "client"}
	values := []string{"1", "2", "various"}
	var runs []*bench.Run
	order := r.Perm(len(keys))[:4]
	for range n {
		if r.IntN(4) == 0 {
			order = r.Perm(len(keys))[:1+r.IntN(len(keys))]
		}
		run := &bench.Run{Label: "label of " + values[r.IntN(2)], Input: values[r.IntN(2)], Source: bench.Source{Tool: tool}}
		for _, k := range order {
			run.Config.Add(keys[k], values[r.IntN(1+r.IntN(len(values)))], bench.FromJSON)
		}
		runs = append(runs, run)
	}
	return runs
}

func TestKeyReader(t *testing.T) {
	r := rand.New(rand.NewPCG(20240607, 2))
	keys := []string{"test", "label", "model", "depth", "nothing", "env.B", "input"}
	settings := newKeyReader(keys)
	for _, run := range mixedRuns(r, "llama-bench", 2000) {
		got := settings.read(run)
		for i, k := range keys {
			if want := Key(run, k); got[i] != want {
				t.Fatalf("%s of %v: %q, want %q", k, run.Config, got[i], want)
			}
		}
	}
}

func TestDiffering(t *testing.T) {
	r := rand.New(rand.NewPCG(20240607, 3))
	for range 500 {
		runs := mixedRuns(r, "llama-bench", 1+r.IntN(5))
		same, keys := Differing(runs)
		for _, k := range slices.Concat(MainKeys, []string{"env.A", "env.B"}) {
			first := runs[0].Config.Get(k)
			differs := slices.ContainsFunc(runs, func(r *bench.Run) bool { return r.Config.Get(k) != first })
			if got := slices.Contains(keys, k); got != differs {
				t.Errorf("%s of %v differs: %v", k, configs(runs), got)
			}
			if got := slices.Contains(same, bench.Setting{Key: k, Value: first}); got != (first != "" && !differs) {
				t.Errorf("%s of %v is the same: %v", k, configs(runs), got)
			}
		}
	}
}

func TestSharedValues(t *testing.T) {
	r := rand.New(rand.NewPCG(20240607, 4))
	for range 500 {
		runs := mixedRuns(r, "llama-bench", r.IntN(6))
		got := sharedValues(runs)
		for _, k := range []string{"model", "test", "depth", "env.A", "nothing"} {
			want := ""
			for i, run := range runs {
				if v := run.Config.Get(k); i == 0 {
					want = v
				} else if run.Config.Has(k) && v != want {
					want = "various"
				}
			}
			if got[k] != want {
				t.Errorf("%s of %v: %q, want %q", k, configs(runs), got[k], want)
			}
		}
	}
}

// Two runs have the same workload where each key of it says so.
func TestUnlikeWorkloads(t *testing.T) {
	r := rand.New(rand.NewPCG(20240607, 5))
	for range 2000 {
		tool := []string{"llama-bench", "vllm-serve", "lm-eval"}[r.IntN(3)]
		runs := mixedRuns(r, tool, 2)
		a, b := runs[0], runs[1]
		for _, run := range runs {
			run.Attempted = new(int)
			*run.Attempted = r.IntN(2)
		}
		want := slices.ContainsFunc(decisive, func(k string) bool {
			x, y := workloadOf(a, k), workloadOf(b, k)
			return x != y && (x != "" && y != "" || k == "depth" && tool == "llama-bench")
		})
		if got := unlikeWorkloads(a, b); (got != "") != want {
			t.Errorf("%s %v: %q", tool, configs(runs), got)
		}
	}
}

// The partner of a row is the first of those that have most in common with it,
// and none of another workload where one of the same is there.
func TestPartnerOfMixedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(20240607, 8))
	for range 300 {
		var rows []*Row
		for _, run := range mixedRuns(r, "vllm-serve", 2+r.IntN(8)) {
			rows = append(rows, &Row{Label: run.Label, Input: run.Input, Runs: []*bench.Run{run}})
		}
		base := rows[:1+r.IntN(len(rows)-1)]
		partner := partners(base)
		for _, row := range rows[len(base):] {
			score := func(b *Row) (score int) {
				for _, k := range MainKeys {
					x, y := row.Runs[0].Config.Get(k), b.Runs[0].Config.Get(k)
					if x == y && x != "" {
						score++
					} else if x != y && x != "" && y != "" && slices.Contains(decisive, k) {
						score -= 1000
					}
				}
				if b.Label == row.Label {
					score++
				}
				return score
			}
			want := slices.MaxFunc(base, func(a, b *Row) int { return score(a) - score(b) })
			if got := partner(row); got != want {
				t.Errorf("%v: %v, want %v", row.Runs[0].Config, got.Runs[0].Config, want.Runs[0].Config)
			}
		}
	}
}

// A row is called by its input, or by its label where all are of one input; more
// is told where others are called the same.
func TestNames(t *testing.T) {
	r := rand.New(rand.NewPCG(20240607, 9))
	for range 500 {
		s := &Section{Keys: []string{"model", "test", "depth"}}
		for _, run := range mixedRuns(r, "llama-bench", 1+r.IntN(6)) {
			if r.IntN(3) == 0 {
				run.Label = run.Input
			}
			row := &Row{Label: run.Label, Input: run.Input}
			for _, k := range s.Keys {
				row.Keys = append(row.Keys, run.Config.Get(k))
			}
			s.Rows = append(s.Rows, row)
			s.Name(row) // what is kept must not outlive the rows it was made of
		}
		for _, row := range s.Rows {
			want := row.Label
			several := slices.ContainsFunc(s.Rows, func(o *Row) bool { return o.Input != row.Input })
			if several {
				want = row.Input
			}
			var others []*Row
			for _, o := range s.Rows {
				if o != row && (several && o.Input == row.Input || !several && o.Label == row.Label) {
					others = append(others, o)
				}
			}
			switch {
			case len(others) == 0:
			case several && row.Label != row.Input && !slices.ContainsFunc(others, func(o *Row) bool { return o.Label == row.Label }):
				want += " " + row.Label
			default:
				for i, k := range s.Keys {
					if row.Keys[i] != "" && slices.ContainsFunc(others, func(o *Row) bool { return o.Keys[i] != row.Keys[i] }) {
						want += " " + k + "=" + row.Keys[i]
					}
				}
			}
			if got := s.Name(row); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

func configs(runs []*bench.Run) (out []bench.Config) {
	for _, r := range runs {
		out = append(out, r.Config)
	}
	return out
}
