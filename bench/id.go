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
		h := fnv1a(fnvStart, r.Source.Tool)
		for i := range r.Config {
			s := &r.Config[i]
			if s.From == FromFile || s.From == FromUser {
				continue
			}
			h = fnv1a(fnv1a(h, "\x00"), s.Key)
			h = fnv1a(fnv1a(h, "="), s.Value)
		}
		for i := range r.Metrics {
			m := &r.Metrics[i]
			if a := math.Abs(m.Raw); a >= 1e-4 && a < 1e6 { // where the next has no exponent either
				ids.b = AppendExact(ids.b[:0], m.Raw)
			} else {
				ids.b = strconv.AppendFloat(ids.b[:0], m.Raw, 'g', -1, 64)
			}
			h = fnv1a(fnv1a(fnv1a(h, "\x01"), m.Name), ids.b)
		}
		sum := h >> 16
		ids.seen[sum]++
		r.ID = hex12(sum)
		if n := ids.seen[sum]; n > 1 {
			r.ID += "-" + strconv.Itoa(n)
		}
	}
}

// fnv1a goes on with the 64-bit hash of that name, as hash/fnv has it, without a
// call a byte.
func fnv1a[T string | []byte](h uint64, text T) uint64 {
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * 1099511628211
	}
	return h
}

const fnvStart = 14695981039346656037

func hex12(x uint64) string {
	var b [12]byte
	for i := len(b) - 1; i >= 0; i-- {
		b[i] = "0123456789abcdef"[x&15]
		x >>= 4
	}
	return string(b[:])
}
