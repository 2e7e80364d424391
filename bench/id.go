package bench

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// AssignIDs gives every run an id made of what was measured and with what, so
// that it stays the same when a log is moved, renamed or gets more lines above
// it. Runs that are equal in all of that are counted: the second one ends in -2.
func AssignIDs(runs []*Run) {
	seen := make(map[uint64]int, len(runs))
	var b []byte
	for _, r := range runs {
		h := fnv.New64a()
		b = append(b[:0], r.Source.Tool...)
		for _, s := range r.Config {
			if s.From == FromFile || s.From == FromUser {
				continue
			}
			b = append(b, 0)
			b = append(b, s.Key...)
			b = append(b, '=')
			b = append(b, s.Value...)
		}
		for _, m := range r.Metrics {
			b = append(b, 1)
			b = append(b, m.Name...)
			b = strconv.AppendFloat(b, m.Raw, 'g', -1, 64)
		}
		_, _ = h.Write(b)
		sum := h.Sum64() >> 16
		seen[sum]++
		r.ID = fmt.Sprintf("%012x", sum)
		if n := seen[sum]; n > 1 {
			r.ID += "-" + strconv.Itoa(n)
		}
	}
}
