package parse

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// The lines of a large input are those of the input, wherever the parts end
// that are read ahead: within a line, at its end, or within one that is longer
// than a part.
func TestReadAhead(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var want []string
	for range 60000 {
		length := random.IntN(40)
		if random.IntN(50) == 0 {
			length = random.IntN(2000)
		}
		want = append(want, strings.Repeat(string(rune('a'+random.IntN(26))), length))
	}
	text := strings.Join(want, "\n") + "\nend"
	want = append(want, "end")
	readers := map[string]func(io.Reader) io.Reader{
		"whole":    func(r io.Reader) io.Reader { return r },
		"half":     iotest.HalfReader,
		"one byte": iotest.OneByteReader,
		"last":     iotest.DataErrReader,
	}
	for name, reader := range readers {
		for _, size := range []int{16, 64, 1000} {
			s := newSource(reader(strings.NewReader(text)), make([]byte, size))
			for i, w := range want {
				got, number, ok := s.next()
				if !ok || string(got) != w || number != i+1 {
					t.Fatalf("%s, %d bytes: line %d is %q with number %d, want %q", name, size, i+1, got, number, w)
				}
			}
			if got, _, ok := s.next(); ok || s.failure() != nil {
				t.Errorf("%s, %d bytes: %q behind the end, error %v", name, size, got, s.failure())
			}
			s.close()
		}
	}
}

// What was read before an error counts, and the error is told.
func TestReadAheadFails(t *testing.T) {
	text := strings.Repeat("a line\n", 50000)
	s := newSource(io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)), make([]byte, 64))
	lines := 0
	for {
		if _, _, ok := s.next(); !ok {
			break
		}
		lines++
	}
	if lines != 50000 || s.failure() != io.ErrUnexpectedEOF {
		t.Errorf("%d lines and error %v, want 50000 lines and %v", lines, s.failure(), io.ErrUnexpectedEOF)
	}
	s.close()
}
