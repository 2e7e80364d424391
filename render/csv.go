package render

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode/utf8"
)

// A csvWriter writes rows that a spreadsheet may open: a name from a log that
// would begin a formula there gets a ' in front, which spreadsheets do not show.
type csvWriter struct {
	*csv.Writer
	row []string
}

func newCSV(w io.Writer) *csvWriter { return &csvWriter{Writer: csv.NewWriter(w)} }

// Write writes a row.
func (w *csvWriter) Write(row []string) error {
	w.row = w.row[:0]
	for _, cell := range row {
		w.row = append(w.row, defused(cell))
	}
	return w.Writer.Write(w.row)
}

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
