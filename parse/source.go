package parse

import (
	"bytes"
	"io"
)

const (
	bufferSize = 256 << 10
	// maxLine is how much of a line is kept. The longest lines that matter are
	// argument lines of some kilobytes; JSON of any length is not read by line.
	maxLine = 1 << 20
)

// A source gives the lines of a reader one after another, whatever their
// length, and lets the JSON scanner take over at the start of a line. It keeps
// one buffer, or three for a large input; a line is a view into one, good until
// the next call.
type source struct {
	r    io.Reader
	buf  []byte
	pos  int // next byte to give
	end  int // end of what is buffered
	line int // number of the line that starts at or holds pos, from 1
	err  error

	long  []byte // a line that did not fit the buffer
	clean []byte // a line without its escapes
	fills int    // how often more was read: a view from before is gone
	ahead *readAhead
}

func newSource(r io.Reader, buf []byte) *source {
	return &source{r: r, buf: buf, line: 1}
}

// fill reads more behind what is buffered, which may move. It returns false at
// the end of the input, on an error, and where there is no room for more.
func (s *source) fill() bool {
	if s.err != nil {
		return false
	}
	const small = 512 // reads, 128 MB: what takes less than a tenth of a second needs no other thread
	if s.fills >= small {
		return s.swap()
	}
	if s.pos > 0 {
		copy(s.buf, s.buf[s.pos:s.end])
		s.end -= s.pos
		s.pos = 0
	}
	if s.end == len(s.buf) {
		return false
	}
	s.fills++
	n, err := readSome(s.r, s.buf[s.end:])
	s.end, s.err = s.end+n, err
	return n > 0
}

// swap goes on in the buffer that was read ahead, with what is left of this one
// in front of it.
func (s *source) swap() bool {
	done := s.buf
	if s.ahead == nil {
		s.ahead = startReading(s.r, len(s.buf))
		done = nil // it is not one of those
	}
	room, left := s.ahead.room, s.buf[s.pos:s.end]
	if len(left) > room {
		return false
	}
	s.fills++
	part := <-s.ahead.parts
	s.buf = part.buf
	s.pos = room - len(left)
	copy(s.buf[s.pos:], left)
	s.end, s.err = room+part.n, part.err
	if done != nil {
		s.ahead.free <- done
	}
	return part.n > 0
}

// close ends what was begun for reading.
func (s *source) close() {
	if s.ahead != nil {
		close(s.ahead.free)
	}
}

// A readAhead reads the next part of a large input while the one before is
// looked at.
type readAhead struct {
	room  int // in front of a part, for what is left of the one before
	parts chan part
	free  chan []byte
}

// A part is what was read into a buffer, behind that room.
type part struct {
	buf []byte
	n   int
	err error
}

func startReading(r io.Reader, size int) *readAhead {
	const buffers = 3 // one looked at, one read into, one between
	a := &readAhead{size, make(chan part, buffers), make(chan []byte, buffers)}
	for range buffers {
		a.free <- make([]byte, a.room+2*size)
	}
	go func() {
		for buf := range a.free {
			n, err := readSome(r, buf[a.room:])
			a.parts <- part{buf, n, err}
			if err != nil {
				return
			}
		}
	}()
	return a
}

// readSome reads at least one byte, or returns an error.
func readSome(r io.Reader, b []byte) (int, error) {
	for range 100 {
		if n, err := r.Read(b); n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.ErrNoProgress
}

// failure is the error that ended reading, nil at an ordinary end.
func (s *source) failure() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// skipServerLog passes over the buffered lines of a server that are none of a
// result: its access log, and messages that begin like none that is read.
func (s *source) skipServerLog() {
	rest, line := s.buf[s.pos:s.end], s.line
	for {
		access := hasPrefix(rest, "INFO:   ")
		if !access && !hasPrefix(rest, "INFO ") {
			break
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			break
		}
		if !access {
			if msg, ok := stampedMessage(rest[len("INFO"):end]); !ok || mayStart(msg) {
				break
			}
		}
		rest = rest[end+1:]
		line++
	}
	s.pos, s.line = s.end-len(rest), line
}

// next returns the next line without its end, and its number.
func (s *source) next() (text []byte, number int, ok bool) {
	number = s.line
	text, ok = s.rawLine()
	return text, number, ok
}

func (s *source) rawLine() ([]byte, bool) {
	if i := bytes.IndexByte(s.buf[s.pos:s.end], '\n'); i >= 0 {
		text := s.buf[s.pos : s.pos+i]
		s.pos += i + 1
		s.line++
		return text, true
	}
	s.long = s.long[:0]
	for searched := s.end - s.pos; ; {
		if !s.fill() {
			if s.err != nil {
				break
			}
			// The buffer is full of one line: set aside what may be kept.
			s.long = appendUpTo(s.long, s.buf[s.pos:s.end], maxLine)
			s.pos, searched = s.end, 0
			continue
		}
		if i := bytes.IndexByte(s.buf[s.pos+searched:s.end], '\n'); i >= 0 {
			text := s.buf[s.pos : s.pos+searched+i]
			s.pos += searched + i + 1
			s.line++
			if len(s.long) > 0 {
				s.long = appendUpTo(s.long, text, maxLine)
				text = s.long
			}
			return text, true
		}
		searched = s.end - s.pos
	}
	text := s.buf[s.pos:s.end]
	s.pos = s.end
	if len(s.long) > 0 {
		s.long = appendUpTo(s.long, text, maxLine)
		text = s.long
	}
	return text, len(text) > 0
}

func appendUpTo(dst, src []byte, limit int) []byte {
	if room := limit - len(dst); len(src) > room {
		src = src[:max(room, 0)]
	}
	return append(dst, src...)
}

// unclean reports whether a line holds what only a terminal understands.
func unclean(b []byte) bool {
	return bytes.IndexByte(b, 0x1b) >= 0 || bytes.IndexByte(b, '\r') >= 0 || bytes.IndexByte(b, 0) >= 0
}

// scrub removes escape sequences and NULs from a line.
func (s *source) scrub(text []byte) []byte {
	if bytes.IndexByte(text, 0x1b) < 0 && bytes.IndexByte(text, 0) < 0 {
		return text
	}
	out := s.clean[:0]
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case 0:
			i++
		case 0x1b:
			i += escapeLen(text[i:])
		default:
			out = append(out, c)
			i++
		}
	}
	s.clean = out
	return out
}

// escapeLen is the length of the terminal escape sequence at the start of b:
// CSI (colours, cursor), OSC (titles, links) or a two-byte one.
func escapeLen(b []byte) int {
	if len(b) < 2 {
		return len(b)
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1
			}
			if b[i] < 0x20 || b[i] > 0x7e {
				return i
			}
		}
		return len(b)
	case ']':
		for i := 2; i < len(b); i++ {
			if b[i] == 7 {
				return i + 1
			}
			if b[i] == 0x1b {
				if i+1 < len(b) && b[i+1] == '\\' {
					return i + 2
				}
				return i
			}
		}
		return len(b)
	}
	return 2
}

// atJSON reports whether a JSON object, or an array of objects, seems to start
// at the beginning of the next line. It looks at what is buffered: enough to
// tell `{"` and `[ {"` from a log line in brackets or a Python dictionary.
func (s *source) atJSON() bool {
	if s.pos < s.end {
		if c := s.buf[s.pos]; c > ' ' && c != '{' && c != '[' {
			return false // nearly every line
		}
	}
	if s.end-s.pos < 512 && s.err == nil {
		s.fill()
	}
	b := s.buf[s.pos:s.end]
	i := skipBlank(b, 0)
	if i == len(b) {
		return false
	}
	switch b[i] {
	case '[':
		for i < len(b) && b[i] == '[' {
			i = skipSpace(b, i+1)
			if i > 4096 {
				return false
			}
		}
		if i == len(b) || b[i] != '{' {
			return false
		}
	case '{':
	default:
		return false
	}
	i = skipSpace(b, i+1)
	return i < len(b) && (b[i] == '"' || b[i] == '}')
}

// skipBlank skips blanks within a line, skipSpace also line ends.
func skipBlank(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
		i++
	}
	return i
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}
