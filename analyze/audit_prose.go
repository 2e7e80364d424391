package analyze

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/notes"
)

// claimPattern finds what prose says of a comparison: 2.3x faster, ~60% higher.
var claimPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)([~≈>]?)\s*(\d+(?:\.\d+)?)\s*(x|×|%)\s+(?:\w+\s+)?(faster|slower|higher|lower|more|less|better|worse|speedup|speed-up|improvement|increase|decrease|reduction|gain|drop)\b`)
})

// prose looks for stated speedups near a table that no two of its cells give.
// Words may mean something else, so this is never more than a note.
func (a *auditor) prose(note *notes.Note, tables []*auditTable) {
	bySection := map[int][]*auditTable{}
	for _, t := range tables {
		bySection[t.Section] = append(bySection[t.Section], t)
	}
	for _, p := range note.Prose {
		near := bySection[p.Section]
		if len(near) == 0 {
			continue
		}
		for _, m := range claimPattern().FindAllStringSubmatch(p.Text, 20) {
			value, err := strconv.ParseFloat(m[2], 64)
			if err != nil || value == 0 {
				continue
			}
			decimals := 0
			if _, after, ok := strings.Cut(m[2], "."); ok {
				decimals = len(after)
			}
			said := statement{value, math.Max(0.5*math.Pow(10, -float64(decimals)), value*0.03), m[3] == "%"}
			if m[1] != "" {
				said.slack = math.Max(said.slack, value*0.1)
			}
			derivable := false
			for _, t := range near {
				derivable = derivable || said.derivable(t)
			}
			if !derivable {
				a.table = near[0]
				a.add("prose-number", bench.Note, p.Line, "", fmt.Sprintf("%q: no two cells of one column in the table give that", strings.TrimSpace(m[0])), nil)
			}
		}
	}
	a.table = nil
}

// A statement is a ratio that prose gives.
type statement struct {
	value, slack float64
	percent      bool
}

func (said statement) derivable(t *auditTable) bool {
	const most = 128 // pairs grow with the square
	for i := range t.measures {
		var values []float64
		for _, s := range t.subjects {
			if f := s.Values[i]; f.Present && f.Value > 0 && len(values) < most {
				values = append(values, f.Value)
			}
		}
		for x, a := range values {
			for _, b := range values[x+1:] {
				for _, r := range [...]float64{a / b, b / a} {
					forms := [...]float64{r, r - 1} // 2.3x as fast, 1.3x faster
					if said.percent {
						forms = [...]float64{100 * (r - 1), 100 * (1 - r)}
					}
					if math.Abs(forms[0]-said.value) <= said.slack || math.Abs(forms[1]-said.value) <= said.slack {
						return true
					}
				}
			}
		}
	}
	return false
}
