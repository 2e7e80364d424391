// Package parse reads benchmark logs as they really are: several formats in one
// file, pasted into notes, with progress bars, colours and broken characters,
// and turns them into runs.
//
// It reads a file once, as a stream. A format is one file here and one line in
// the table of formats: the lines that begin its results, the keys that tell
// its JSON, the columns that tell its CSV. What stands around a result
// (headings, comments, commands, argument lines) is kept by the context, the
// same for all formats. The package knows nothing of statistics.
package parse

// A Format is one kind of result that can be read.
type Format struct {
	Tool    string // what its runs carry as their tool
	Reads   string // in which forms, for people
	Since   string // the versions that write it
	Example string // a line that is typical of it
	Engine  string // the one that it measures, whatever stands around; "" if it may be any

	// Programs are the clients that write it, as they stand in a command, and
	// Flags the settings that their flags give where the name does not tell: ""
	// for a flag that gives none.
	Programs []program
	Flags    map[string]string

	Derives string // what is computed rather than read
	Limits  string // what it does not read, or reads with care

	// Lines are the lines of text that begin or are a result.
	Lines []Start

	// Keys tell a JSON object of this format: one of them stands in each.
	// Object makes runs of it, or returns false if it is not of this format
	// after all.
	Keys   []string
	Object func(d *document, o *object) bool

	// Columns tell the header of a CSV file of this format: all of them are
	// in it. Row makes a run of a row.
	Columns []string
	Row     func(d *document, t *csvTable, row csvRow)
}

// A Start is a line that begins a result: the message of a line has that
// prefix, or the line holds the text anywhere. Read takes the line, or returns
// false if it is something else after all.
type Start struct {
	Prefix   string
	Anywhere string
	Read     func(d *document, l line) bool
}

// table is the table of formats. Where two could take the same line, the first
// does.
func table() []Format {
	return []Format{
		vllmServe,
		sglangServe,
		sglangOffline,
		sglangEngine,
		vllmThroughput,
		vllmLatency,
		specDecode,
		vllmEngine,
		llamaBench,
		llamaBatched,
		llamaServer,
		llamaPerplexity,
		llamaBenchy,
		fwAI,
		locust,
		lmEval,
		nmOffline,
		trtllmBench,
		inferencePerf,
		llmPerf,
		inferenceMAX,
		guideLLM,
		genaiPerf,
		aiPerf,
		tgiBench,
	}
}

// formats is the table, and index finds the formats that may start at a line.
// Both are filled at start-up, since formats refer to functions that refer to
// them.
var (
	formats []Format
	index   struct {
		byFirst  [256][]prefixed
		heads    headSet   // of prefixes
		short    [256]bool // first bytes of those that are shorter
		anywhere []Start
		words    *finder           // those of anywhere
		engines  map[string]string // of tools that measure one
	}
)

// prefixed is a start with the first four bytes of its prefix, which tell most
// lines from it before anything is compared. The mask is that of a prefix of
// fewer.
type prefixed struct {
	head, mask uint32
	Start
}

// headOf is the first four bytes of a line, zeros behind a shorter one.
func headOf[T string | []byte](s T) uint32 {
	if len(s) >= 4 {
		return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
	}
	var head uint32
	for i := range len(s) {
		head |= uint32(s[i]) << (8 * i)
	}
	return head
}

// mayStart reports whether a message of a server may be one that is read: of
// those that come by the million, hardly any.
func mayStart(msg []byte) bool {
	return len(msg) > 0 && (index.heads.has(headOf(msg)) || index.short[msg[0]] || countsEngines(msg))
}

// headSet holds the heads of prefixes, and takes few others for one of them.
type headSet [16]uint64

func (s *headSet) at(head uint32) (word *uint64, bit uint64) {
	hash := head * 2654435761 >> 22 // Knuth's, of 10 bits
	return &s[hash>>6], 1 << (hash & 63)
}

func (s *headSet) has(head uint32) bool {
	word, bit := s.at(head)
	return *word&bit != 0
}

func (s *headSet) add(head uint32) {
	word, bit := s.at(head)
	*word |= bit
}

// countsEngines reports whether a message may be one of a server that
// aggregates: it begins with the number of its engines.
func countsEngines(msg []byte) bool { return len(msg) > 0 && isDigit(msg[0]) }

func init() {
	formats = table()
	index.engines = map[string]string{}
	var words []string
	for i := range formats {
		f := &formats[i]
		if f.Engine != "" {
			index.engines[f.Tool] = f.Engine
		}
		for _, p := range f.Programs {
			p.role, p.tool, p.format = client, f.Tool, f
			programs = append(programs, p)
		}
		for _, st := range f.Lines {
			if st.Anywhere != "" {
				index.anywhere, words = append(index.anywhere, st), append(words, st.Anywhere)
				continue
			}
			c := st.Prefix[0]
			mask := ^uint32(0) >> (8 * max(0, 4-len(st.Prefix)))
			index.byFirst[c] = append(index.byFirst[c], prefixed{headOf(st.Prefix), mask, st})
			if len(st.Prefix) < 4 {
				index.short[c] = true
			} else {
				index.heads.add(headOf(st.Prefix))
			}
		}
	}
	index.words = newFinder(words)
}

// Formats lists what can be read.
func Formats() []Format { return formats }
