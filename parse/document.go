package parse

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"slices"
	"strings"

	"github.com/benchreport/benchreport/bench"
)

const (
	maxErrors = 50      // told of one file; the rest are counted
	maxRuns   = 1 << 20 // of one file
	maxNested = 2       // logs inside JSON strings inside logs …
)

// A document is one input while it is read: the lines that are open, what was
// said above them, and the runs found so far.
type document struct {
	outcome
	file  string
	src   *source
	depth int // of logs inside JSON strings

	ctx   context
	block block // the result that is being read, nil between results
	json  *jsonReader
	csv   *csvTable

	pending     pending      // what was said for the next run
	pendingArgs bench.Config // room for its arguments
	spec        specLines
	engine      engineLines
	sglang      sglangLines
	batches     batchCases
	cases       map[string]bool // of sglang-offline, printed so far
	turns       *turnStats
	records     pytorchRecords
	untitled    []*bench.Run // serving blocks without a title
	llama       llamaState
	process     llamaProcess
	timings     timings
	ppl         perplexityState
	benchy      benchyState
	locust      locustState
	eval        evalModel
	guide       guideState
	perfPart    int // the line of a title whose table is not read
	room        *room
	inJSON      bool
	lineBase    int // for a nested document: the line its text stands on
}

// An outcome is what is kept of a document that was read.
type outcome struct {
	runs    []*bench.Run
	errs    []bench.Problem
	dropped int // errors beyond maxErrors
	notes   []bench.Problem
	guess   string // what the file looks like, should nothing be found
}

// A room is what a worker uses again for the next file.
type room struct {
	document document
	buffer   []byte
	scrubbed []byte
	head     *bufio.Reader          // to look at how a file begins
	strings  map[string]string      // texts that come again and again
	clean    map[string]string      // texts that were cleaned, as they came
	labels   map[string]*serveLabel // as written
	scratch  bench.Config           // for building that of a run
	leading  bench.Config           // its first settings, which are no members
	args     arguments
	order    keyOrder
}

func newRoom() *room {
	return &room{buffer: make([]byte, bufferSize), head: bufio.NewReaderSize(nil, 4096), strings: map[string]string{}, clean: map[string]string{}, labels: map[string]*serveLabel{}}
}

// maxTexts is how many texts a room remembers.
const maxTexts = 1 << 14

// A block is a result of several lines that is being read.
type block interface {
	// line offers the next line. A block that takes it returns taken; one
	// that does not know it, passed; one that has ended before it, ended.
	line(d *document, l line) verdict
	// close ends the block: it emits its run, if it has one.
	close(d *document)
}

type verdict int

const (
	passed verdict = iota
	taken
	ended     // closed; the line is still to be read
	takenLast // closed with this line
)

// A line is one line of text, or one state of a progress bar.
type line struct {
	text   []byte // as it stands, without escapes and trailing blanks
	msg    []byte // without log prefix, list bullets, quote marks
	number int
	logged bool // it had a log prefix
}

// read reads a whole input.
func (d *document) read() error {
	for {
		if d.block == nil && !d.ctx.joining() {
			d.src.skipServerLog()
		}
		if d.src.atJSON() && d.readJSON() {
			continue
		}
		text, number, ok := d.src.next()
		if !ok {
			break
		}
		if d.lineBase > 0 {
			number = d.lineBase
		}
		d.raw(text, number)
	}
	d.src.close()
	d.finish()
	return d.src.failure()
}

// readJSON reads the JSON value at the source's position. It returns false
// where the line is to be read as text after all.
func (d *document) readJSON() bool {
	if _, ok := d.block.(*llamaTable); !ok { // which may have JSON between its rows
		d.endText()
	}
	d.inJSON = true
	defer func() {
		d.inJSON = false
		d.ctx.settle()
	}()
	if d.json == nil {
		d.json = newJSONReader(d)
	}
	s := d.src
	pos, lineNo, fills := s.pos, s.line, s.fills
	err := d.json.outermost()
	if err == nil {
		return true
	}
	var broken *jsonError
	if errors.As(err, &broken) && d.json.claimed {
		// The break itself is told; what came before it has been kept. Text
		// between the elements of an array is a progress message, no break.
		if d.json.depth > 0 {
			d.errorf(broken.line, "%s", broken.text)
		} else if broken.text == errJSONEnds {
			d.notef(broken.line, "the JSON array has no end: the benchmark may have been interrupted")
		}
	}
	if s.line > lineNo {
		return true
	}
	if s.fills == fills {
		s.pos = pos
		return false
	}
	return false
}

// nested reads a log that stands in a JSON string.
func (d *document) nested(text []byte, lineNo int) {
	if d.depth >= maxNested {
		return
	}
	inner := &document{file: d.file, depth: d.depth + 1, lineBase: lineNo, room: d.room}
	inner.src = newSource(bytes.NewReader(text), make([]byte, min(bufferSize, len(text)+1024)))
	_ = inner.read() // from memory: it cannot fail
	for _, r := range inner.runs {
		r.Source.Line, r.Source.EndLine = lineNo, lineNo
		if len(d.runs) >= maxRuns {
			d.errorf(lineNo, "more than %d results in one file: not read further", maxRuns)
			break
		}
		d.runs = append(d.runs, r)
	}
	for _, e := range inner.errs {
		d.errorf(e.Line, "%s", e.Message)
	}
	d.dropped += inner.dropped
	for _, n := range inner.notes {
		d.notef(n.Line, "%s", n.Message)
	}
}

// wrapped adds what an unknown object says about the runs found inside it: the
// names and known settings that a wrapper script saves beside a result.
func (d *document) wrapped(o *object, runs []*bench.Run) {
	for i := range o.members {
		m := &o.members[i]
		key := canonicalKey(m.key)
		_, known := configKeys[key]
		if m.kind == jsonNumber && !known || m.kind != jsonString && m.kind != jsonNumber {
			continue
		}
		if len(m.text) == 0 || len(m.text) > 80 || bytes.IndexByte(m.text, '\n') >= 0 || len(runs) > 64 {
			continue
		}
		for _, r := range runs {
			if key == "name" || key == "label" {
				if r.Label == "" {
					r.Label = redact("", string(m.text))
				}
				continue
			}
			r.Config.Add(key, redact(key, string(m.text)), bench.FromJSON)
		}
	}
}

// raw reads one line as it stands in the input. Lines of a server log, which
// come by the million, go their way at once; all others are cleaned first of
// what a terminal would have interpreted.
func (d *document) raw(b []byte, number int) {
	if b = trimEnd(b); len(b) == 0 {
		d.blank(number)
		return
	}
	if s, ok := d.block.(*serveBlock); ok && d.csv == nil && !d.ctx.joining() && s.quick(d, b, number) {
		return
	}
	msg, logged, uninteresting := logMessage(b)
	switch {
	case uninteresting:
	case logged:
		d.text(line{text: b, msg: msg, number: number, logged: true})
	case !unclean(b):
		if b = unstamp(b); len(b) == 0 {
			d.blank(number)
			return
		}
		d.unstamped(b, number)
	default:
		// A carriage return parts the states of a progress bar.
		for state := range bytes.SplitSeq(d.src.scrub(b), []byte{'\r'}) {
			if state = unstamp(trimEnd(state)); len(state) == 0 {
				continue
			}
			d.unstamped(state, number)
		}
	}
}

// unstamped takes a line whose stamp is gone: behind it may stand a logger's
// prefix, or the mark of a list.
func (d *document) unstamped(b []byte, number int) {
	l := line{text: b, number: number}
	var uninteresting bool
	if l.msg, l.logged, uninteresting = logMessage(b); uninteresting {
		return
	}
	if !l.logged {
		l.msg = unbullet(b)
	}
	d.text(l)
}

func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

// trimBytes is bytes.Trim with a set that need not be made for each line.
func trimBytes(b []byte, set *[256]bool) []byte {
	for len(b) > 0 && set[b[len(b)-1]] {
		b = b[:len(b)-1]
	}
	for len(b) > 0 && set[b[0]] {
		b = b[1:]
	}
	return b
}

// text reads one clean line.
func (d *document) text(l line) {
	b, number := l.text, l.number
	if d.ctx.joining() {
		if d.ctx.join(d, l) {
			return
		}
	}
	if !l.logged {
		if d.csv != nil {
			if d.csv.row(d, b, number) {
				return
			}
			d.csv = nil
			d.ctx.settle()
		}
		if d.ctx.fenceLine(d, b, number) {
			return
		}
	}
	if d.block != nil {
		switch d.block.line(d, l) {
		case taken:
			return
		case takenLast:
			d.closeBlock()
			return
		case ended:
			d.closeBlock()
		}
	}
	if len(l.msg) > 0 {
		first, starts := headOf(l.msg), index.byFirst[l.msg[0]]
		for i := range starts {
			if st := &starts[i]; first&st.mask == st.head && hasPrefix(l.msg, st.Prefix) && st.Read(d, l) {
				return
			}
		}
	}
	if l.logged && !countsEngines(l.msg) {
		return
	}
	for found := findWords(index.words, b); found != 0; found &= found - 1 {
		if index.anywhere[bits.TrailingZeros64(found)].Read(d, l) {
			return
		}
	}
	if l.logged || d.csvHeader(b, number) {
		return
	}
	d.ctx.line(d, l)
}

func hasPrefix(b []byte, p string) bool { return len(b) >= len(p) && string(b[:len(p)]) == p }

// blank reads an empty line: some blocks end there.
func (d *document) blank(number int) {
	if d.block != nil {
		switch d.block.line(d, line{number: number}) {
		case ended, takenLast:
			d.closeBlock()
		}
	}
}

// open starts a block, ending the one before.
func (d *document) open(b block) {
	d.closeBlock()
	d.block = b
}

func (d *document) closeBlock() {
	if b := d.block; b != nil {
		d.block = nil
		b.close(d)
	}
}

// endText ends what a line of text may have begun, before JSON or the end.
func (d *document) endText() {
	d.closeBlock()
	d.csv = nil
	d.ctx.endJoin(d)
}

// finish ends the document: what is still open is emitted, and what can only be
// told at the end is derived.
func (d *document) finish() {
	d.endText()
	d.flushLocust()
	d.flushServerLines()
	d.flushTurns()
	d.runs = mergeRestated(dropQuoted(d.runs, d.untitled))
	// What is aggregated over a log is made at its end, but stands at its line.
	slices.SortStableFunc(d.runs, func(a, b *bench.Run) int { return a.Source.Line - b.Source.Line })
	if d.depth > 0 {
		return
	}
	if len(d.runs) == 0 {
		return
	}
	d.ctx.distinguish(d.runs)
	onceOnly(slices.DeleteFunc(slices.Clone(d.runs), func(r *bench.Run) bool {
		return r.Source.Tool != "llama-bench" || r.Source.Format == "md" || r.Metrics[0].N > 0
	}))
	file := fileFacts(d.file)
	for _, r := range d.runs {
		complete(r, file)
		d.room.order.sort(r.Config)
	}
}

// emit adds a run, with what was said above it.
func (d *document) emit(r *bench.Run) {
	if len(d.runs) >= maxRuns {
		d.errorf(r.Source.Line, "more than %d results in one file: not read further", maxRuns)
		return
	}
	r.Source.File = d.file
	if r.Source.EndLine < r.Source.Line {
		r.Source.EndLine = r.Source.Line
	}
	r.Config.Add("engine", index.engines[r.Source.Tool], bench.FromDerived)
	d.runs = append(d.runs, r)
	d.ctx.apply(d, r)
}

// emitTogether adds the runs of one block: what stands above it stands above
// each of them.
func (d *document) emitTogether(b block, runs []*bench.Run) {
	d.block = b
	for _, r := range runs {
		d.emit(r)
	}
	d.block = nil
	d.ctx.settle()
}

// intern gives a text as a string, the same one for the same text: the rows of
// a table repeat their settings.
func (d *document) intern(b []byte) string {
	if s, ok := d.room.strings[string(b)]; ok {
		return s
	}
	s := string(b)
	if len(s) <= 128 && len(d.room.strings) < maxTexts {
		d.room.strings[s] = s
	}
	return s
}

// clean is a text without secrets and what cannot be shown, remembered as it
// comes again and again.
func (d *document) clean(text string) string {
	if s, ok := d.room.clean[text]; ok {
		return s
	}
	s := redact("", text)
	if len(d.room.clean) < maxTexts {
		d.room.clean[text] = s
	}
	return s
}

func (d *document) errorf(line int, format string, args ...any) {
	if len(d.errs) >= maxErrors {
		d.dropped++
		return
	}
	d.errs = append(d.errs, bench.Problem{File: d.file, Line: line, Message: fmt.Sprintf(format, args...)})
}

// notef tells something that is worth knowing and no error.
func (d *document) notef(line int, format string, args ...any) {
	if len(d.notes) < maxErrors {
		d.notes = append(d.notes, bench.Problem{File: d.file, Line: line, Message: fmt.Sprintf(format, args...)})
	}
}

// reading is how a file is read.
type reading struct {
	tables   bool // published tables too
	textOnly bool // a file that was not named is passed over if it is no text
}

// read reads one input under the name file. It returns what could be read
// beside an error of the reader; the document is good until the next one.
func read(r io.Reader, file string, room *room, how reading) (*document, error) {
	d := &room.document
	*d = document{file: file, room: room, pendingArgs: d.pendingArgs}
	room.head.Reset(r)
	if how.textOnly {
		if head, _ := room.head.Peek(512); isBinary(head) {
			return d, nil
		}
	}
	in, err := decode(room.head)
	if err != nil {
		return d, err
	}
	keep := &keeper{in: in}
	if how.tables {
		in = keep
	}
	d.src = newSource(in, room.buffer)
	d.src.clean = room.scrubbed
	err = d.read()
	room.scrubbed = d.src.clean
	if how.tables && err == nil {
		d.readTables(keep)
	}
	if err != nil && strings.Contains(err.Error(), "unexpected EOF") {
		err = fmt.Errorf("the compressed data ends too early")
	}
	return d, err
}

// logMessage cuts the prefix of a server or client log line:
//
//	INFO 12-16 16:46:04 metrics.py:482] message
//	(APIServer pid=123) INFO 03-20 10:11:12 [loggers.py:123] message
//	[2024-12-26 09:48:53,123] host/INFO/locust.stats_logger: message
//	[2025-05-12 10:11:12 TP0] message
//
// Access log lines, the bulk of a server log, are told as uninteresting.
func logMessage(b []byte) (msg []byte, logged, uninteresting bool) {
	rest := b
	if rest[0] == '(' {
		end := bytes.IndexByte(rest[:min(len(rest), 80)], ')')
		if end < 0 {
			return b, false, false
		}
		rest = rest[skipBlank(rest, end+1):]
		if len(rest) == 0 || levelLen(rest) == 0 && !bytes.Contains(b[:end], []byte("pid=")) {
			return b, false, false
		}
	}
	switch rest[0] {
	case 'I', 'W', 'E', 'D', 'C':
		n := levelLen(rest)
		if n == 0 {
			break
		}
		if rest[n] == ':' {
			return rest, true, true
		}
		if msg, ok := stampedMessage(rest[n:]); ok {
			return msg, true, false
		}
		return b, false, false
	case '[':
		if n := serverTag(rest); n > 0 {
			return rest[n:], true, false
		}
		if len(rest) < 24 || !isDigit(rest[1]) || rest[5] != '-' {
			return b, false, false
		}
		i := bytes.Index(rest[:min(len(rest), 160)], []byte("locust.stats_logger: "))
		if i < 0 {
			return b, false, false
		}
		return rest[i+len("locust.stats_logger: "):], true, false
	}
	if len(rest) < len(b) { // a line of a server process without a level
		return rest, true, false
	}
	return b, false, false
}

// stampedMessage cuts ` 12-16 16:46:04 file.py:482] `, or that with an opening
// bracket, which stands behind the level of a line.
func stampedMessage(b []byte) ([]byte, bool) {
	if len(b) < 20 || b[0] != ' ' || b[3] != '-' || !isDigit(b[1]) || !isDigit(b[4]) {
		return nil, false
	}
	end := bytes.IndexByte(b[15:min(len(b), 120)], ']')
	if end < 0 {
		return nil, false
	}
	return b[skipBlank(b, 15+end+1):], true
}

func levelLen(b []byte) int {
	level := ""
	switch b[0] {
	case 'I':
		level = "INFO"
	case 'W':
		level = "WARNING"
	case 'E':
		level = "ERROR"
	case 'D':
		level = "DEBUG"
	case 'C':
		level = "CRITICAL"
	default:
		return 0
	}
	if hasPrefix(b, level) && len(b) > len(level) && (b[len(level)] == ' ' || b[len(level)] == ':') {
		return len(level)
	}
	return 0
}

// unbullet cuts what Markdown puts in front of a line: quote marks, bullets, blanks.
func unbullet(b []byte) []byte {
	i := 0
	for i < len(b) {
		switch c := b[i]; {
		case c == ' ' || c == '\t' || c == '>':
			i++
		case (c == '*' || c == '-' || c == '+') && i+1 < len(b) && b[i+1] == ' ':
			i += 2
		default:
			return b[i:]
		}
	}
	return b[i:]
}
