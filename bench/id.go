package bench

import (
	"math"
	"strconv"
)

// AssignIDs gives every run an id.
func AssignIDs(runs []*Run) { new(IDs).Assign(runs) }

// IDs gives runs ids that are made of what was measured and with what, so that
// they stay the same when a log is moved, renamed or gets more lines above it.
// Runs that are equal in all of that are counted: the second one ends in -2.
type IDs struct {
	seen map[uint64]int
	b    []byte
}

// Assign gives the next runs their ids.
func (ids *IDs) Assign(runs []*Run) {
	if ids.seen == nil {
		ids.seen = make(map[uint64]int, len(runs))
	}
	for _, r := range runs {
		b := append(ids.b[:0], r.Source.Tool...)
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
			if a := math.Abs(m.Raw); a >= 1e-4 && a < 1e6 { // where the next has no exponent either
				b = AppendExact(b, m.Raw)
			} else {
				b = strconv.AppendFloat(b, m.Raw, 'g', -1, 64)
			}
		}
		ids.b = b
		sum := fnv1a(b) >> 16
		ids.seen[sum]++
		r.ID = hex12(sum)
		if n := ids.seen[sum]; n > 1 {
			r.ID += "-" + strconv.Itoa(n)
		}
	}
}

// fnv1a is the 64-bit hash of that name, as hash/fnv has it, without a call a
// run.
func fnv1a(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}

func hex12(x uint64) string {
	var b [12]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = "0123456789abcdef"[x&15]
		x >>= 4
	}
	return string(b[:])
}
