package render

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"
)

// A csvWriter writes rows that a spreadsheet may open: a name from a log that
// would begin a formula there gets a ' in front, which spreadsheets do not show.
type csvWriter struct {
	*csv.Writer
	out  *bufio.Writer // into which the other writes too
	row  []string
	line []byte
}

func newCSV(w io.Writer) *csvWriter {
	out := bufio.NewWriterSize(w, 64<<10)
	return &csvWriter{Writer: csv.NewWriter(out), out: out}
}

// Write writes a row. Most have cells of letters and digits alone, which are
// written as they are.
func (w *csvWriter) Write(row []string) error {
	line, plain := w.line[:0], true
	for i := 0; i < len(row) && plain; i++ {
		line = append(append(line, row[i]...), ',')
		plain = isPlainCell(row[i])
	}
	if w.line = line; plain {
		line[len(line)-1] = '\n'
		_, err := w.out.Write(line)
		return err
	}
	w.row = w.row[:0]
	for _, cell := range row {
		w.row = append(w.row, defused(cell))
	}
	return w.Writer.Write(w.row)
}

// isPlainCell reports whether a cell needs neither quotes nor to be defused.
func isPlainCell(cell string) bool {
	for i := range len(cell) {
		if !plainCell[cell[i]] {
			return false
		}
	}
	return cell == "" || !beginsSpecial[cell[0]]
}

// plainCell are the bytes that a cell may hold, beginsSpecial those of them with
// which it may not begin.
var plainCell, beginsSpecial = func() (plain, special [256]bool) {
	for c := 0x20; c < 0x7f; c++ {
		plain[c] = c != '"' && c != ',' && c != '\\'
	}
	for _, c := range " =+-@" {
		special[c] = true
	}
	return plain, special
}()

// defused is a cell that no spreadsheet takes for a formula. The first letters
// are those of the OWASP page on CSV injection; a number may begin with a sign.
func defused(cell string) string {
	first, _ := utf8.DecodeRuneInString(cell)
	if cell == "" || !strings.ContainsRune("=+-@\t\r\n＝＋－＠", first) || isNumber(cell) {
		return cell
	}
	return "'" + cell
}

// isNumber reports whether a spreadsheet reads a cell as a plain number.
func isNumber(s string) bool {
	s = strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	mantissa, exponent, scaled := strings.Cut(strings.ToLower(s), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if scaled {
		exponent = strings.TrimPrefix(strings.TrimPrefix(exponent, "-"), "+")
		if exponent == "" {
			return false
		}
	}
	return whole+fraction != "" && strings.Trim(whole+fraction+exponent, "0123456789") == ""
}
