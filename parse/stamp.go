package parse

import "bytes"

// unstamp cuts what runners put in front of every line: a time stamp of CI or of
// a logger, the name of a container, a rank.
//
//	2025-01-02T03:04:05.1234567Z line
//	[2025-01-02 03:04:05] line
//	2025-01-02 03:04:05,123 - INFO - line
//	2025-01-02 03:04:05.123 | INFO     | module:main:12 - line
//	bench-1  | line
//	[rank0]: line
//	0.01.234.567 I line
func unstamp(b []byte) []byte {
	if len(b) == 0 {
		return b
	}
	if n := stampLen(b); n > 0 {
		return afterLevel(b[skipBlank(b, n):])
	}
	if n := llamaStampLen(b); n > 0 {
		return b[skipBlank(b, n):]
	}
	if n := containerLen(b); n > 0 {
		return b[n:]
	}
	if hasPrefix(b, "[rank") {
		if end := bytes.Index(b[:min(len(b), 14)], []byte("]: ")); end > 0 {
			return b[end+3:]
		}
	}
	return b
}

// stampLen is the length of the time at the start of a line, 0 if there is none.
func stampLen(b []byte) int {
	i := 0
	if b[0] == '[' {
		i = 1
	}
	const shape = "dddd-dd-dd?dd:dd:dd" // with a T or a blank
	if len(b) < i+len(shape)+1 {
		return 0
	}
	for k := range len(shape) {
		c := b[i+k]
		switch shape[k] {
		case 'd':
			if !isDigit(c) {
				return 0
			}
		case '?':
			if c != 'T' && c != ' ' {
				return 0
			}
		default:
			if c != shape[k] {
				return 0
			}
		}
	}
	end := i + len(shape)
	for end < len(b) && (isDigit(b[end]) || bytes.IndexByte([]byte(".,Z+:"), b[end]) >= 0) {
		end++
	}
	if i == 0 {
		return end
	}
	if end < len(b) && b[end] == ']' {
		return end + 1
	}
	return 0
}

// llamaStampLen is the length of what llama.cpp puts in front of a line: the time
// since its start, in minutes, seconds, milli- and microseconds, and a level.
func llamaStampLen(b []byte) int {
	i := 0
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	const shape = ".dd.ddd.ddd "
	if i == 0 || i > 6 || len(b) < i+len(shape)+1 {
		return 0
	}
	for k := range len(shape) {
		if c := b[i+k]; shape[k] == 'd' && !isDigit(c) || shape[k] != 'd' && shape[k] != c {
			return 0
		}
	}
	i += len(shape)
	if bytes.IndexByte([]byte("IWEDT"), b[i]) < 0 || len(b) > i+1 && b[i+1] != ' ' {
		return 0
	}
	return i + 1
}

// afterLevel cuts the level, and the place in the code, that loggers write
// behind the time.
func afterLevel(b []byte) []byte {
	rest := bytes.TrimLeft(b, "-| ")
	level := 0
	for _, l := range [...]string{"INFO", "WARNING", "ERROR", "DEBUG", "CRITICAL"} {
		if hasPrefix(rest, l) {
			level = len(l)
		}
	}
	if level == 0 {
		return b
	}
	behind := rest[skipBlank(rest, level):]
	switch {
	case hasPrefix(behind, "- "):
		return behind[2:]
	case hasPrefix(behind, "| "): // loguru: | module:function:12 - message
		if i := bytes.Index(behind[:min(len(behind), 120)], []byte(" - ")); i > 0 {
			return behind[i+3:]
		}
	}
	return b // vLLM's own line, with its own time
}

// containerLen is the length of `name-1  | ` at the start of a line.
func containerLen(b []byte) int {
	i := bytes.IndexByte(b[:min(len(b), 48)], '|') - 1
	if i < 0 || b[i] != ' ' || i+2 >= len(b) || b[i+2] != ' ' {
		return 0
	}
	name := bytes.TrimRight(b[:i], " ")
	if len(name) < 3 || bytes.IndexByte(name, ' ') >= 0 || bytes.IndexByte(name, '-') < 1 || !isDigit(name[len(name)-1]) {
		return 0
	}
	return i + 3
}
