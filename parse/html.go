package parse

import "strings"

// htmlTable follows the tags of an HTML table, in which people put results side
// by side: the names stand in the cells of its first row, the results in those
// below.
type htmlTable struct {
	names []string // by column
	cell  int      // the column of the last cell of this row
}

// read reads a line of tags. It returns the name of the column of the cell that
// the line leaves open, "" for none, and false for a line without such tags.
func (t *htmlTable) read(line string) (name string, ok bool) {
	const most = 16 // columns
	for {
		open := strings.IndexByte(line, '<')
		if open < 0 {
			return name, ok
		}
		line = line[open+1:]
		end := strings.IndexByte(line, '>')
		if end < 0 {
			return name, ok
		}
		tag, _, _ := strings.Cut(strings.ToLower(line[:end]), " ")
		line = line[end+1:]
		switch tag {
		case "table":
			*t = htmlTable{}
			ok = true
		case "tr":
			t.cell, ok = 0, true
		case "/td", "/th", "/tr", "/table":
			ok = true
		case "td", "th":
			ok, name = true, ""
			text, _, closed := strings.Cut(line, "</"+tag+">")
			if text = strings.TrimSpace(untag(text)); closed && t.cell == len(t.names) && t.cell < most {
				t.names = append(t.names, text)
			}
			if !closed && t.cell < len(t.names) {
				name = t.names[t.cell]
			}
			t.cell++
		}
	}
}
