package parse

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/benchreport/benchreport/bench"
)

// This is the one way in which the program reads JSON. It exists because no
// decoder reads what our tools write: a record of 200 MB on one line of which
// six numbers are wanted, bare NaN and Infinity, several documents in one file,
// an array with progress messages between its elements or cut off in its
// middle. It works on the buffer of a source, keeps scalars and lists of
// numbers, and hands every object to the formats as soon as it ends.

const (
	maxDepth   = 64       // of nested values
	maxKept    = 64 << 20 // bytes of text kept for one outermost value
	maxString  = 16 << 20 // of a string that may hold a log
	maxNumbers = 64 << 20 // in one list
	shortText  = 4 << 10  // a longer string is kept only to look for a log in it
)

type jsonKind byte

const (
	jsonNull jsonKind = iota
	jsonBool
	jsonNumber
	jsonString
	jsonObject
	jsonList
)

// An object is a JSON object as far as it is kept.
type object struct {
	line, end int
	members   []member
	formats   []*Format // that claim it by one of its keys
}

// A member is one key of an object with its value.
type member struct {
	key    string
	met    *jsonKey // what is known of the key
	kind   jsonKind
	line   int
	text   []byte // of a string, number or boolean; good until the outermost value ends
	object *object
	list   *list
}

// A list is a JSON array: its numbers, those of nested arrays too, and its objects.
type list struct {
	nums    floats
	rows    []row // one for each nested array of numbers
	objects []*object
	filled  []bool // for each string, whether it is not ""
	first   []byte // the first string, as far as it is short
}

type row struct {
	sum float64
	n   int
}

// get returns the member of that key, nil if there is none.
func (o *object) get(key string) *member {
	if o == nil {
		return nil
	}
	for i := range o.members {
		if o.members[i].key == key {
			return &o.members[i]
		}
	}
	return nil
}

// scalar returns a string, number or boolean as text, "" for anything else.
func (o *object) scalar(key string) string {
	if m := o.get(key); m != nil {
		return m.scalar()
	}
	return ""
}

// scalar returns a string, number or boolean as text, "" for anything else.
func (m *member) scalar() string {
	if m.kind == jsonString || m.kind == jsonNumber || m.kind == jsonBool {
		return string(m.text)
	}
	return ""
}

// child returns the object under a key, nil if there is none.
func (o *object) child(key string) *object {
	if m := o.get(key); m != nil {
		return m.object
	}
	return nil
}

// A jsonError tells where a JSON text is broken.
type jsonError struct {
	line int
	text string
}

func (e *jsonError) Error() string { return e.text }

// A jsonReader reads JSON values from a source for a document.
type jsonReader struct {
	d       *document
	s       *source
	keys    map[string]*jsonKey
	arena   []byte
	kept    int
	depth   int
	claimed bool // the value so far holds an object of a known format
	objects spare[object]
	lists   spare[list]
	first   *jsonKey // the key that an object began with last
	scratch []byte
}

// A jsonKey is a key that was met, with the formats that are told by it.
type jsonKey struct {
	name    string
	formats []*Format
	plain   bool     // it is written as it is: without escapes
	next    *jsonKey // the key that stood behind it last

	// What a format made of the values that the key had: most settings of a
	// result are those of another one before, and mostly of the last.
	made map[string]*remembered
	last *remembered
}

// remembered are the settings that were made of a value.
type remembered struct {
	text     string
	settings bench.Config
}

func (k *jsonKey) remembered(text []byte) *remembered {
	if k.last == nil || string(text) != k.last.text {
		known := k.made[string(text)]
		if known == nil {
			return nil
		}
		k.last = known
	}
	return k.last
}

func (k *jsonKey) remember(known *remembered) {
	if k.made == nil {
		k.made = map[string]*remembered{}
	}
	if len(k.made) < maxMade {
		k.made[known.text] = known
	}
	k.last = known
}

// maxMade is how many values are remembered of a key.
const maxMade = 256

func newJSONReader(d *document) *jsonReader {
	j := &jsonReader{d: d, s: d.src, keys: make(map[string]*jsonKey, 64)}
	for i := range formats {
		for _, k := range formats[i].Keys {
			key := j.key([]byte(k))
			key.formats = append(key.formats, &formats[i])
		}
	}
	return j
}

// objectIn reads a small JSON object, nil if it is none.
func objectIn(text string) *object {
	src := newSource(strings.NewReader(text), make([]byte, len(text)+16))
	j := &jsonReader{d: &document{depth: maxNested}, s: src, keys: map[string]*jsonKey{}}
	if c, err := j.peek(); err != nil || c != '{' {
		return nil
	}
	o, err := j.object(true)
	if err != nil {
		return nil
	}
	return o
}

// key interns a key: tools write the same few over and over.
func (j *jsonReader) key(b []byte) *jsonKey {
	if k, ok := j.keys[string(b)]; ok {
		return k
	}
	k := &jsonKey{name: string(b), plain: !bytes.ContainsAny(b, "\"\\\n")}
	if len(j.keys) < 1<<16 {
		j.keys[k.name] = k
	}
	return k
}

// outermost reads one value that starts at the source's position.
func (j *jsonReader) outermost() error {
	j.arena, j.kept, j.depth, j.claimed = j.arena[:0], 0, 0, false
	c, err := j.peek()
	if err != nil {
		return err
	}
	if c == '{' {
		_, err = j.object(false)
		return err
	}
	// An outermost array is only a way to write several values: its elements
	// are read one by one and not kept.
	return j.outerArray(0)
}

func (j *jsonReader) outerArray(depth int) error {
	j.s.pos++
	for first := true; ; first = false {
		c, done, err := j.element(first, ']')
		if err != nil || done {
			return err
		}
		switch c {
		case '{':
			j.arena, j.kept = j.arena[:0], 0
			_, err = j.object(false)
		case '[':
			if depth >= maxDepth {
				return j.fail("nested deeper than %d", maxDepth)
			}
			err = j.outerArray(depth + 1)
		default:
			err = j.skipValue()
		}
		if err != nil {
			return err
		}
	}
}

func (j *jsonReader) fail(format string, args ...any) error {
	return &jsonError{j.s.line, fmt.Sprintf(format, args...)}
}

func (j *jsonReader) expected(what string, c byte) error {
	return j.fail("JSON: expected %s, found %q", what, c)
}

var errJSONEnds = "JSON: expected more, found the end of the file"

// peek skips white space and returns the next byte without taking it.
func (j *jsonReader) peek() (byte, error) {
	s := j.s
	for {
		for i, c := range s.buf[s.pos:s.end] {
			switch c {
			case '\n':
				s.line++
			case ' ', '\t', '\r':
			default:
				s.pos += i
				return c, nil
			}
		}
		s.pos = s.end
		if !s.fill() {
			return 0, j.fail("%s", errJSONEnds)
		}
	}
}

// element goes to the next element of an array or object: it takes the comma in
// front of it, or the bracket behind the last one.
func (j *jsonReader) element(first bool, end byte) (c byte, done bool, err error) {
	// As tools write them: a comma, perhaps a line end, blanks.
	if w := j.s.buf[j.s.pos:j.s.end]; !first && len(w) > 2 && w[0] == ',' {
		i, lines := 1, 0
		if w[1] == '\n' {
			i, lines = 2, 1
		}
		for i < len(w) && w[i] == ' ' {
			i++
		}
		if i < len(w) && w[i] > ' ' {
			j.s.pos += i
			j.s.line += lines
			return w[i], false, nil
		}
	}
	if c, err = j.peek(); err != nil {
		return 0, false, err
	}
	if c == end {
		j.s.pos++
		return 0, true, nil
	}
	if first {
		return c, false, nil
	}
	if c != ',' {
		return 0, false, j.expected("a comma or "+string(end), c)
	}
	j.s.pos++
	c, err = j.peek()
	return c, false, err
}

// hints are keys that stand early in results of known tools: a text that breaks
// behind one of them has lost a result.
var hints = map[string]bool{"build_commit": true, "model_filename": true, "tokenizer_id": true, "model_id": true}

// object reads an object. Where keep is set it belongs to a larger value, and
// is returned unless a format has made runs of it.
func (j *jsonReader) object(keep bool) (*object, error) {
	if j.depth++; j.depth > maxDepth {
		return nil, j.fail("JSON: nested deeper than %d", maxDepth)
	}
	o := j.objects.take()
	o.line = j.s.line
	runsBefore := len(j.d.runs)
	arena, kept := j.arena, j.kept
	var last *jsonKey
	j.s.pos++
	for first := true; ; first = false {
		c, done, err := j.element(first, '}')
		if err != nil {
			return nil, err
		}
		if done {
			break
		}
		if c != '"' {
			return nil, j.expected("a key in quotes", c)
		}
		key := j.expectedKey(last)
		if key == nil {
			name, err := j.string(shortText)
			if err != nil {
				return nil, err
			}
			key = j.key(name)
			if last != nil {
				last.next = key
			} else {
				j.first = key
			}
		}
		last = key
		if c, err = j.peek(); err != nil {
			return nil, err
		}
		if c != ':' {
			return nil, j.expected("a colon behind a key", c)
		}
		j.s.pos++
		j.claimed = j.claimed || hints[key.name]
		if len(key.formats) > 0 {
			o.formats = append(o.formats, key.formats...)
			j.claimed = true
		}
		if err := j.member(o, key); err != nil {
			return nil, err
		}
	}
	j.depth--
	o.end = j.s.line
	taken := false
	for _, f := range o.formats {
		if f.Object(j.d, o) {
			taken = true
			break
		}
	}
	if !taken && len(j.d.runs) > runsBefore {
		j.d.wrapped(o, j.d.runs[runsBefore:])
	}
	if keep && !taken {
		return o, nil
	}
	// Nobody needs its text any more: a file of a million requests, each taken
	// by its format, keeps that of one of them.
	if cap(j.arena) > 0 && cap(arena) > 0 && &j.arena[:1][0] == &arena[:1][0] {
		j.arena = arena
	} else {
		j.arena = j.arena[:0] // a block that was begun for this object
	}
	j.kept = kept
	j.release(o)
	return nil, nil
}

// expectedKey takes the key that followed the last one before, if that is what
// stands there: the objects of a file have the same keys in the same order.
func (j *jsonReader) expectedKey(last *jsonKey) *jsonKey {
	key := j.first
	if last != nil {
		key = last.next
	}
	if key == nil {
		return nil
	}
	w := j.s.buf[j.s.pos:j.s.end]
	n := len(key.name) + 2
	if len(w) < n || w[n-1] != '"' || string(w[1:n-1]) != key.name || !key.plain {
		return nil
	}
	j.s.pos += n
	return key
}

// spare keeps values that are used again.
type spare[T any] struct{ free []*T }

func (s *spare[T]) take() *T {
	if n := len(s.free); n > 0 {
		v := s.free[n-1]
		s.free = s.free[:n-1]
		return v
	}
	return new(T)
}

func (s *spare[T]) give(v *T) {
	if len(s.free) < 1024 {
		s.free = append(s.free, v)
	}
}

// release takes an object back that nobody needs any more.
func (j *jsonReader) release(o *object) {
	for i := range o.members {
		if m := &o.members[i]; m.object != nil {
			j.release(m.object)
		} else if m.list != nil {
			for _, e := range m.list.objects {
				j.release(e)
			}
			// Only short lists of numbers: the others are rare, or large.
			if l := m.list; len(l.nums.blocks) <= 2 && l.rows == nil && l.objects == nil && l.filled == nil {
				l.nums.reset()
				j.lists.give(l)
			}
		}
	}
	clear(o.members)
	o.members, o.formats = o.members[:0], o.formats[:0]
	j.objects.give(o)
}

// member reads the value of a key into o.
func (j *jsonReader) member(o *object, key *jsonKey) error {
	c, err := j.peek()
	if err != nil {
		return err
	}
	m := member{key: key.name, met: key, line: j.s.line}
	switch c {
	case '{':
		m.kind = jsonObject
		if m.object, err = j.object(true); err != nil || m.object == nil {
			return err
		}
	case '[':
		m.kind = jsonList
		m.list = j.lists.take()
		if err := j.array(m.list, 0, nil); err != nil {
			return err
		}
	case '"':
		m.kind = jsonString
		text, err := j.string(maxString)
		if err != nil {
			return err
		}
		if len(text) > 200 && bytes.IndexByte(text, '\n') >= 0 {
			// A log inside a string: what wrappers of the tools save.
			j.d.nested(text, m.line)
		}
		if len(text) > shortText {
			text = text[:shortText]
		}
		if m.text, err = j.keep(text); err != nil {
			return err
		}
	default:
		text, kind, err := j.literal(c)
		if err != nil {
			return err
		}
		m.kind = kind
		if m.text, err = j.keep(text); err != nil {
			return err
		}
	}
	o.members = append(o.members, m)
	return nil
}

// keep copies text to where it lasts as long as the outermost value.
func (j *jsonReader) keep(text []byte) ([]byte, error) {
	if j.kept += len(text); j.kept > maxKept {
		return nil, j.fail("JSON: a value with more than %d MB of text", maxKept>>20)
	}
	from := len(j.arena)
	if cap(j.arena)-from < len(text) {
		// What was kept so far stays where it is, in the block before.
		j.arena = make([]byte, 0, max(64<<10, len(text)))
		from = 0
	}
	j.arena = append(j.arena, text...)
	return j.arena[from:len(j.arena):len(j.arena)], nil
}

// array reads an array into l. A nested array of numbers becomes a row.
func (j *jsonReader) array(l *list, depth int, r *row) error {
	if depth+j.depth > maxDepth {
		return j.fail("JSON: nested deeper than %d", maxDepth)
	}
	j.s.pos++
	for first := true; ; first = false {
		c, done, err := j.element(first, ']')
		if err != nil || done {
			return err
		}
		switch c {
		case '{':
			o, err := j.object(true)
			if err != nil {
				return err
			}
			if o != nil {
				if j.kept += 64 + 48*len(o.members); j.kept > maxKept {
					return j.fail("JSON: a value with more than %d MB of text", maxKept>>20)
				}
				l.objects = append(l.objects, o)
			}
		case '[':
			inner := r // the row of a deeper array is that of the outer one
			if depth == 0 {
				inner = &row{}
			}
			if err := j.array(l, depth+1, inner); err != nil {
				return err
			}
			if depth == 0 {
				l.rows = append(l.rows, *inner)
			}
		case '"':
			empty, err := j.listString(l)
			if err != nil {
				return err
			}
			if len(l.filled) < maxNumbers {
				l.filled = append(l.filled, !empty)
			}
		default:
			text := j.digits()
			if text == nil {
				var kind jsonKind
				if text, kind, err = j.literal(c); err != nil {
					return err
				}
				if kind != jsonNumber {
					continue
				}
			}
			// In the lists of lists of a detailed result there are millions, whose
			// last digit is not looked at.
			x, digits, ok := quickFloat(text)
			if !ok || digits > 15 && depth == 0 {
				x, err = strconv.ParseFloat(string(text), 64)
			}
			if err != nil {
				return j.fail("JSON: expected a number, found %q", clip(text))
			}
			if l.nums.n >= maxNumbers {
				return j.fail("JSON: a list of more than %d numbers", maxNumbers)
			}
			l.nums.add(x)
			if r != nil {
				r.sum += x
				r.n++
			}
		}
	}
}

// listString reads a string of a list: the first one is kept, as the name of the
// one model in a list of models; the others are passed over.
func (j *jsonReader) listString(l *list) (empty bool, err error) {
	if len(l.filled) > 0 {
		return j.skipString()
	}
	text, err := j.string(256)
	if err != nil {
		return false, err
	}
	l.first, err = j.keep(text)
	return len(text) == 0, err
}

// digits reads a number that is wholly buffered, nil if there is none: the fast
// way through lists of millions.
func (j *jsonReader) digits() []byte {
	s := j.s
	for i := s.pos; i < s.end; i++ {
		switch c := s.buf[i]; {
		case isDigit(c) || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E':
		case c == ',' || c == ']' || c == ' ' || c == '\n':
			if i == s.pos {
				return nil
			}
			text := s.buf[s.pos:i]
			s.pos = i
			return text
		default:
			return nil
		}
	}
	return nil
}

// literal reads a number, true, false, null, or the NaN and Infinity of Python,
// which count as null: not measured.
func (j *jsonReader) literal(c byte) ([]byte, jsonKind, error) {
	text, err := j.word()
	if err != nil {
		return nil, 0, err
	}
	switch string(text) {
	case "true", "false":
		return text, jsonBool, nil
	case "null", "NaN", "nan", "-nan", "Infinity", "-Infinity", "inf", "-inf":
		return text, jsonNull, nil
	}
	if c != '-' && (c < '0' || c > '9') || !plainNumber(text) {
		return nil, 0, j.fail("JSON: expected a value, found %q", clip(text))
	}
	return text, jsonNumber, nil
}

// word reads up to the next delimiter.
func (j *jsonReader) word() ([]byte, error) {
	s := j.s
	for i := s.pos; ; i++ {
		if i == s.end {
			n := i - s.pos
			if n > 512 {
				return nil, j.fail("JSON: expected a value, found %q", clip(s.buf[s.pos:i]))
			}
			if !s.fill() {
				return nil, j.fail("%s", errJSONEnds)
			}
			i = s.pos + n
		}
		switch s.buf[i] {
		case ',', ']', '}', ' ', '\n', '\r', '\t', ':', '"', '{', '[':
			if i == s.pos {
				return nil, j.expected("a value", s.buf[i])
			}
			text := s.buf[s.pos:i]
			s.pos = i
			return text, nil
		}
	}
}

// string reads a string and returns it decoded, at most limit bytes of it. The
// result is good until the next string.
func (j *jsonReader) string(limit int) ([]byte, error) {
	s := j.s
	s.pos++
	out := j.scratch[:0]
	for {
		w := s.buf[s.pos:s.end]
		quote := bytes.IndexByte(w, '"')
		if quote >= 0 {
			w = w[:quote]
		}
		slash := bytes.IndexByte(w, '\\')
		if slash >= 0 {
			w = w[:slash]
		}
		if bytes.IndexByte(w, '\n') >= 0 {
			return nil, j.fail("JSON: a line end inside a string")
		}
		if len(out) < limit {
			out = appendUpTo(out, w, limit)
		}
		s.pos += len(w)
		switch {
		case slash >= 0:
			var err error
			if out, err = j.escape(out, limit); err != nil {
				return nil, err
			}
		case quote >= 0:
			s.pos++
			j.scratch = out
			return out, nil
		default:
			if !s.fill() {
				return nil, j.fail("%s", errJSONEnds)
			}
		}
	}
}

// escape decodes the escape sequence at the source's position.
func (j *jsonReader) escape(out []byte, limit int) ([]byte, error) {
	s := j.s
	for s.end-s.pos < 12 && s.fill() { // room for a surrogate pair
	}
	w := s.buf[s.pos:s.end]
	if len(w) < 2 {
		return nil, j.fail("%s", errJSONEnds)
	}
	n := 2
	var c rune
	switch w[1] {
	case 'n':
		c = '\n'
	case 't':
		c = '\t'
	case 'r':
		c = '\r'
	case 'b', 'f':
		c = ' '
	case 'u':
		if len(w) < 6 {
			return nil, j.fail("%s", errJSONEnds)
		}
		v, err := strconv.ParseUint(string(w[2:6]), 16, 16)
		if err != nil {
			return nil, j.fail("JSON: expected four hex digits behind \\u, found %q", w[2:6])
		}
		c, n = rune(v), 6
		if utf16.IsSurrogate(c) && len(w) >= 12 && w[6] == '\\' && w[7] == 'u' {
			if v, err := strconv.ParseUint(string(w[8:12]), 16, 16); err == nil {
				if p := utf16.DecodeRune(c, rune(v)); p != utf8.RuneError {
					c, n = p, 12
				}
			}
		}
	case '"', '\\', '/':
		c = rune(w[1])
	default:
		return nil, j.fail("JSON: expected an escape sequence, found %q", w[:2])
	}
	s.pos += n
	if len(out) < limit {
		out = utf8.AppendRune(out, c)
	}
	return out, nil
}

// skipString passes over a string without looking at it.
func (j *jsonReader) skipString() (empty bool, err error) {
	s := j.s
	s.pos++
	empty = true
	for slashes := 0; ; {
		w := s.buf[s.pos:s.end]
		quote := bytes.IndexByte(w, '"')
		if quote >= 0 {
			w = w[:quote]
		}
		if bytes.IndexByte(w, '\n') >= 0 {
			return false, j.fail("JSON: a line end inside a string")
		}
		if len(w) > 0 {
			empty = false
			n := trailingSlashes(w)
			if n == len(w) {
				n += slashes
			}
			slashes = n
		}
		s.pos += len(w)
		if quote >= 0 {
			s.pos++
			if slashes%2 == 0 {
				return empty, nil
			}
			slashes = 0
			continue
		}
		if !s.fill() {
			return false, j.fail("%s", errJSONEnds)
		}
	}
}

func trailingSlashes(b []byte) int {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n
}

// skipValue passes over a scalar in an outermost array.
func (j *jsonReader) skipValue() error {
	c, err := j.peek()
	if err != nil {
		return err
	}
	if c == '"' {
		_, err = j.skipString()
	} else {
		_, _, err = j.literal(c)
	}
	return err
}

// clip shortens text for a message.
func clip[T string | []byte](b T) string {
	const most = 40
	s := string(b)
	if len(s) > most {
		cut := most
		for cut > 0 && !utf8.RuneStart(s[cut]) {
			cut--
		}
		s = s[:cut] + "…"
	}
	return s
}

// floats is a long list of numbers in blocks, so that growing does not copy.
type floats struct {
	blocks [][]float64
	n      int
}

func (f *floats) add(x float64) {
	last := len(f.blocks) - 1
	if last < 0 || len(f.blocks[last]) == cap(f.blocks[last]) {
		size := 8
		if last >= 0 {
			size = min(4*cap(f.blocks[last]), 1<<16)
		}
		f.blocks = append(f.blocks, make([]float64, 0, size))
		last++
	}
	f.blocks[last] = append(f.blocks[last], x)
	f.n++
}

// reset empties the list and keeps the largest block for what comes.
func (f *floats) reset() {
	if last := len(f.blocks) - 1; last >= 0 {
		f.blocks[0] = f.blocks[last][:0]
		f.blocks = f.blocks[:1]
	}
	f.n = 0
}

// slice returns the numbers in one piece.
func (f *floats) slice() []float64 {
	if f.n == 0 {
		return nil
	}
	out := make([]float64, 0, f.n)
	for _, b := range f.blocks {
		out = append(out, b...)
	}
	return out
}
