package analyze

import (
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

// pivot turns a section with one metric, as llama-bench's, into a table with a
// column for each input, or where there is one input for each value of the
// setting in which its runs differ. It returns false where no such key parts
// the runs.
func (s *Section) pivot(runs []*bench.Run, o Options) bool {
	if s.Tool != "llama-bench" {
		return false
	}
	metric := s.Columns[0].Metric
	keys, columns := s.Keys, s.Columns
	variant, varies := func(r *bench.Run) string { return r.Input }, "input"
	inputs := distinct(runs, variant)
	if len(inputs) < 2 {
		varies = pivotKey(runs, keys)
		if varies == "" {
			return false
		}
		variant = func(r *bench.Run) string { return variantName(varies, r.Config.Get(varies)) }
	}
	variants := distinct(runs, variant)
	// What differs only from input to input does not name a row: it is what is
	// compared.
	s.Keys = nil
	for _, k := range keys {
		if k != varies && (o.Rows != nil || k == "model" || k == "test" || differsWithin(runs, variant, k)) {
			s.Keys = append(s.Keys, k)
		}
	}
	s.Across, s.Varies = true, varies
	s.Columns = nil
	for _, v := range variants {
		s.Columns = append(s.Columns, Column{Metric: metric, Variant: v})
	}
	at := make(map[string]int, len(runs)/len(variants))
	var cells [][][]*bench.Run // by row and variant
	settings := newKeyReader(s.Keys)
	var id []byte
	for _, r := range runs {
		values := settings.read(r)
		id = id[:0]
		for _, v := range values {
			id = append(append(id, v...), 0)
		}
		n, ok := at[string(id)]
		if !ok {
			n = len(s.Rows)
			at[string(id)] = n
			s.Rows = append(s.Rows, &Row{Label: r.Label, Input: r.Input, Keys: slices.Clone(values), Runs: make([]*bench.Run, 0, len(variants))})
			cells = append(cells, make([][]*bench.Run, len(variants)))
		}
		s.Rows[n].Runs = append(s.Rows[n].Runs, r)
		i := slices.Index(variants, variant(r))
		cells[n][i] = append(cells[n][i], r)
	}
	for n, row := range s.Rows {
		row.Cells = make([]Cell, 0, len(variants))
		for _, group := range cells[n] {
			if o.Rows == nil && len(group) > 1 && len(foldRepeats(group)) > 1 {
				// One cell would hold what are no repeats of one thing.
				s.Keys, s.Columns, s.Rows, s.Across, s.Varies = keys, columns, nil, false, ""
				return false
			}
			row.Cells = append(row.Cells, newCell(group, metric))
		}
	}
	s.alignDigits()
	s.sort(o)
	return true
}

// distinct lists what f gives for the runs, in order of appearance.
func distinct(runs []*bench.Run, f func(*bench.Run) string) []string {
	var out []string
	seen := map[string]bool{}
	for _, r := range runs {
		if v := f(r); !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}

// pivotKey finds the setting that a file of llama-bench rows compares: one that
// takes several values while everything else stays the same.
func pivotKey(runs []*bench.Run, keys []string) string {
	for _, k := range keys {
		switch k {
		case "model", "params", "model_n_params", "quant", "test", "depth", "engine":
			continue
		}
		groups := map[string]map[string]bool{}
		for _, r := range runs {
			var id strings.Builder
			for _, other := range keys {
				if other != k {
					id.WriteString(r.Config.Get(other) + "\x00")
				}
			}
			if groups[id.String()] == nil {
				groups[id.String()] = map[string]bool{}
			}
			groups[id.String()][r.Config.Get(k)] = true
		}
		complete := true
		for _, values := range groups {
			complete = complete && len(values) > 1
		}
		if complete {
			return k
		}
	}
	return ""
}

// differsWithin reports whether a setting differs among the runs of one variant.
func differsWithin(runs []*bench.Run, variant func(*bench.Run) string, key string) bool {
	first := map[string]string{}
	for _, r := range runs {
		v := variant(r)
		if x, ok := first[v]; ok && x != r.Config.Get(key) {
			return true
		}
		first[v] = r.Config.Get(key)
	}
	return false
}

// variantName is the header of a column: `base` where the setting is not given.
func variantName(key, value string) string {
	if value == "" {
		return "base"
	}
	return strings.TrimPrefix(key, "env.") + "=" + value
}

// changesAcross compares the columns of a pivoted section with its baseline
// column, row by row.
func (s *Section) changesAcross(o Options) {
	base := 0
	for i, c := range s.Columns {
		if c.Variant == o.Baseline && o.Baseline != "" {
			base = i
		}
	}
	s.Changes = make([]Change, 0, len(s.Rows))
	for _, row := range s.Rows {
		ch := Change{Row: row, Base: row, By: make([]Comparison, 0, len(s.Columns)-1)}
		for i, c := range s.Columns {
			if i == base {
				continue
			}
			if cmp, ok := s.compare(&row.Cells[base], &row.Cells[i], c.Metric, s.Columns[base].Variant, c.Variant, o); ok {
				cmp.Key = s.sharedKeys(row, row)
				ch.By = append(ch.By, cmp)
			}
		}
		s.Changes = append(s.Changes, ch)
	}
}
