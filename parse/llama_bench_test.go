package parse

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// The settings of a test are its own, whatever those of the test before were:
// each of a row of tests reads as it does alone.
func TestLlamaTestsInARow(t *testing.T) {
	var lines []string
	for i := range 64 {
		var members []string
		for bit, m := range []string{
			`"build_commit": "abc", "build_number": 7`, fmt.Sprintf(`"n_depth": %d`, i%3), `"depth": 5`, `"test": "mine"`, `"n_ubatch": 64`, `"ubatch": "65"`,
		} {
			if i>>bit&1 == 1 {
				members = append(members, m)
			}
		}
		members = append(members, fmt.Sprintf(`"model_type": "m%d Q4_0", "n_prompt": %d, "n_gen": 0, "avg_ts": 1%d.5, "stddev_ts": 0.5`, i%2, 100+i, i))
		lines = append(lines, "{"+strings.Join(members, ", ")+"}")
	}
	row := Reader(strings.NewReader(strings.Join(lines, "\n")), "row.jsonl").Runs
	if len(row) != len(lines) {
		t.Fatalf("%d runs, want %d", len(row), len(lines))
	}
	for i, line := range lines {
		alone := Reader(strings.NewReader(line), "row.jsonl").Runs
		if len(alone) != 1 || !reflect.DeepEqual(row[i].Config, alone[0].Config) {
			t.Errorf("%s\nin a row: %v\nalone:    %v", line, row[i].Config, alone[0].Config)
		}
	}
}
