package parse

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
)

// A csvTable is a CSV file, or one pasted into a text, behind its header.
type csvTable struct {
	format *Format
	header []string
	comma  rune
	held   strings.Builder // a row whose quotes are not closed yet
	from   int             // its first line
}

// A csvRow is one row. It has as many cells as the header.
type csvRow struct {
	cells     []string
	line, end int
}

// get returns the cell under a column, "" if there is none.
func (t *csvTable) get(row csvRow, column string) string {
	if i := slices.Index(t.header, column); i >= 0 {
		return strings.TrimSpace(row.cells[i])
	}
	return ""
}

// csvHeader looks whether a line is the header of a CSV format.
func (d *document) csvHeader(b []byte, number int) bool {
	comma := byte(',')
	if bytes.Count(b, []byte{comma}) < 3 {
		comma = '\t'
		if bytes.Count(b, []byte{comma}) < 3 {
			return false
		}
	}
	for i := range formats {
		f := &formats[i]
		if len(f.Columns) == 0 || !bytes.Contains(b, []byte(f.Columns[0])) {
			continue
		}
		header := csvCells(string(b), rune(comma))
		if !slices.ContainsFunc(f.Columns, func(c string) bool { return !slices.Contains(header, c) }) {
			d.closeBlock()
			d.csv = &csvTable{format: f, header: header, comma: rune(comma)}
			return true
		}
	}
	d.guessCSV(b, number)
	return false
}

// guessCSV tells a CSV that has lost what makes it readable.
func (d *document) guessCSV(b []byte, number int) {
	cells := csvCells(string(b), ',')
	if len(cells) < 20 {
		return
	}
	if slices.Contains(cells, "build_commit") && !slices.Contains(cells, "avg_ts") {
		d.errorf(number, "looks like a llama-bench CSV, but the header has no avg_ts column")
	} else if c := cells[0]; len(c) >= 7 && len(c) <= 12 && strings.Trim(c, "0123456789abcdef") == "" && b[0] == '"' {
		d.guess = "looks like a llama-bench CSV without its header"
	}
}

// csvCells splits one complete line.
func csvCells(s string, comma rune) []string {
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord = comma, true, -1
	cells, err := r.Read()
	if err != nil {
		return nil
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// row reads the next line of a table. It returns false when the table is over.
func (t *csvTable) row(d *document, b []byte, number int) bool {
	if t.held.Len() == 0 {
		if bytes.IndexByte(b, byte(t.comma)) < 0 || bytes.HasPrefix(b, []byte("```")) {
			return false
		}
		t.from = number
	} else {
		t.held.WriteByte('\n')
	}
	if t.held.Len()+len(b) > maxLine || number-t.from > 1000 {
		d.errorf(t.from, "CSV: a quote that is not closed")
		t.held.Reset()
		return true
	}
	t.held.Write(b)
	text := t.held.String()
	if strings.Count(text, `"`)%2 != 0 {
		return true // a line end inside quotes
	}
	t.held.Reset()
	cells := csvCells(text, t.comma)
	if slices.Equal(cells, t.header) {
		return true // files written one behind another
	}
	if len(cells) != len(t.header) {
		if len(cells) < 3 {
			return false
		}
		d.errorf(t.from, "CSV: expected %d columns as in the header, found %d", len(t.header), len(cells))
		return true
	}
	t.format.Row(d, t, csvRow{cells, t.from, number})
	return true
}
