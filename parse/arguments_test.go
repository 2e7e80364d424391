package parse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/benchreport/benchreport/bench"
)

// An argument line reads the same behind others as alone, whatever they held.
func TestArgumentLinesInARow(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	keys := []string{"model", "seed", "dataset_name", "random_input_len", "random_input", "sharegpt_output_len", "max_concurrency", "no_stream", "host", "hf_split", "device", "a", "b"}
	values := []string{"'random'", "'sharegpt'", "'image'", "1", "2", "0", "True", "False", "None", "'x y'", "inf", "'no'"}
	var args arguments
	var text string
	for range 5000 {
		if random.IntN(3) > 0 { // else the same line again
			var parts []string
			for range random.IntN(9) {
				parts = append(parts, keys[random.IntN(len(keys))]+"="+values[random.IntN(len(values))])
			}
			if random.IntN(2) == 0 {
				slices.Sort(parts)
			}
			text = "Namespace(" + strings.Join(parts, ", ") + ")"
		}
		alone := (&arguments{}).line(text, bench.FromArgs)
		if got := args.line(text, bench.FromArgs); !slices.Equal(got, alone) {
			t.Fatalf("%s\nis %v, and alone %v", text, got, alone)
		}
	}
}
