package notes

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// An Edit changes one cell: its figure, or whether it is marked as best.
type Edit struct {
	Cell     Cell
	Old, New string // the figure; "" to leave it
	Mark     int    // 1 to mark the cell, -1 to unmark it
}

// Rewrite applies edits to a note. All bytes but those of the cells stay; where
// a cell outgrows its column, the column of that table is widened if it was
// aligned.
func (n *Note) Rewrite(edits []Edit) []byte {
	type slot struct{ start, end int }
	byCell := map[int][]Edit{}
	for _, e := range edits {
		byCell[e.Cell.Start] = append(byCell[e.Cell.Start], e)
	}
	changed := map[int]string{} // content of cells, by where it starts
	slots := map[int]slot{}     // the place between the bars
	widths := map[int]int{}     // what a slot is to grow by
	toRight := map[int]bool{}   // its content stands on the right
	for _, t := range n.Tables {
		style := n.markStyle(t)
		grown := map[int]int{} // by column
		below := n.lineBelow(t)
		for _, row := range append([]Row{{t.Line, t.Header}}, t.Rows...) {
			for j, c := range row.Cells {
				if c.Start == 0 && c.End == 0 {
					continue
				}
				old := string(n.Source[c.Start:c.End])
				content, touched := old, false
				for _, e := range byCell[c.Start] {
					if c.End > c.Start {
						content, touched = e.apply(content, style), true
					}
				}
				s, e := n.slotOf(c)
				slots[c.Start] = slot{s, e}
				toRight[c.Start] = t.right[j]
				if touched {
					changed[c.Start] = content
					room := runewidth.StringWidth(string(n.Source[s:e])) - runewidth.StringWidth(old)
					if _, dashes := n.delimiter(below, j); len(dashes) > room+runewidth.StringWidth(old) {
						widths[c.Start] = len(dashes) - room - runewidth.StringWidth(old) // it stood out of line
						room += widths[c.Start]
					}
					if need := runewidth.StringWidth(content) - runewidth.StringWidth(old) + 2 - room; need > 0 {
						grown[j] = max(grown[j], need)
					}
				}
			}
		}
		for j, by := range grown {
			if !n.aligned(t, j) {
				continue
			}
			for _, row := range append([]Row{{t.Line, t.Header}}, t.Rows...) {
				if c := row.Cells[j]; c.End > 0 {
					widths[c.Start] += by
					if _, ok := changed[c.Start]; !ok {
						changed[c.Start] = string(n.Source[c.Start:c.End])
					}
				}
			}
			if at, dashes := n.delimiter(below, j); dashes != "" {
				slots[at] = slot{at, at + len(dashes)}
				i := strings.IndexByte(dashes, '-')
				changed[at] = dashes[:i] + strings.Repeat("-", by) + dashes[i:]
				widths[at] = -1 // as it is
			}
		}
	}
	starts := make([]int, 0, len(changed))
	for at := range changed {
		starts = append(starts, at)
	}
	slices.SortFunc(starts, func(a, b int) int { return cmp.Compare(slots[a].start, slots[b].start) })
	var out bytes.Buffer
	last := 0
	for _, at := range starts {
		s := slots[at]
		out.Write(n.Source[last:s.start])
		if widths[at] < 0 {
			out.WriteString(changed[at])
		} else {
			out.WriteString(pad(string(n.Source[s.start:s.end]), changed[at], widths[at], toRight[at]))
		}
		last = s.end
	}
	out.Write(n.Source[last:])
	return out.Bytes()
}

// slotOf is the place of a cell between its bars.
func (n *Note) slotOf(c Cell) (start, end int) {
	start, end = c.Start, c.End
	for start > 0 && (n.Source[start-1] == ' ' || n.Source[start-1] == '\t') {
		start--
	}
	for end < len(n.Source) && (n.Source[end] == ' ' || n.Source[end] == '\t') {
		end++
	}
	if start > 0 && n.Source[start-1] != '|' || end >= len(n.Source) || n.Source[end] != '|' {
		return c.Start, c.End // at the edge of a table without outer bars
	}
	return start, end
}

// pad puts new content into a slot, on the side of its column.
func pad(slot, content string, grow int, toRight bool) string {
	old := strings.Trim(slot, " \t")
	left := len(slot) - len(strings.TrimLeft(slot, " \t"))
	right := len(slot) - len(strings.TrimRight(slot, " \t"))
	if left == 0 && right == 0 {
		return content
	}
	if old == "" {
		return slot + strings.Repeat(" ", grow)
	}
	spare := grow + runewidth.StringWidth(old) - runewidth.StringWidth(content)
	switch {
	case toRight || left > right:
		left = max(1, left+spare)
	default:
		right = max(1, right+spare)
	}
	return strings.Repeat(" ", left) + content + strings.Repeat(" ", right)
}

// aligned reports whether the bars of a column stand below each other.
func (n *Note) aligned(t *Table, column int) bool {
	width := -1
	for _, row := range append([]Row{{t.Line, t.Header}}, t.Rows...) {
		c := row.Cells[column]
		if c.End == 0 {
			return false
		}
		s, e := n.slotOf(c)
		w := runewidth.StringWidth(string(n.Source[s:e]))
		if width >= 0 && w != width {
			return false
		}
		width = w
	}
	return true
}

// lineBelow is where the line below the header of a table starts.
func (n *Note) lineBelow(t *Table) int {
	start := 0
	for range t.Line {
		i := bytes.IndexByte(n.Source[start:], '\n')
		if i < 0 {
			return len(n.Source)
		}
		start += i + 1
	}
	return start
}

// delimiter is the cell of a column in the line below the header, which starts
// at start.
func (n *Note) delimiter(start, column int) (at int, dashes string) {
	line := n.Source[start:]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	pos := len(line) - len(bytes.TrimLeft(line, " \t>"))
	if pos < len(line) && line[pos] == '|' {
		pos++
	}
	for ; column > 0; column-- {
		i := bytes.IndexByte(line[pos:], '|')
		if i < 0 {
			return 0, ""
		}
		pos += i + 1
	}
	end := len(line)
	if i := bytes.IndexByte(line[pos:], '|'); i >= 0 {
		end = pos + i
	}
	if !bytes.Contains(line[pos:end], []byte("-")) {
		return 0, ""
	}
	return start + pos, string(line[pos:end])
}

// markStyle is how a table marks what is best: what stands before and behind.
func (n *Note) markStyle(t *Table) [2]string {
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if !c.Marked {
				continue
			}
			raw := string(n.Source[c.Start:c.End])
			switch {
			case strings.HasPrefix(raw, "**"):
				return [2]string{"**", "**"}
			case strings.HasPrefix(raw, "__"):
				return [2]string{"__", "__"}
			case strings.HasPrefix(raw, "<b>"):
				return [2]string{"<b>", "</b>"}
			case strings.HasPrefix(raw, "<strong>"):
				return [2]string{"<strong>", "</strong>"}
			}
			for _, sign := range winnerSigns {
				if strings.HasPrefix(raw, sign) {
					return [2]string{sign + " ", ""}
				}
				if strings.HasSuffix(raw, sign) {
					return [2]string{"", " " + sign}
				}
			}
		}
	}
	return [2]string{"**", "**"}
}

var unmark = strings.NewReplacer("**", "", "__", "", "<b>", "", "</b>", "", "<strong>", "", "</strong>", "")

func (e Edit) apply(content string, style [2]string) string {
	if e.Old != "" {
		content = strings.Replace(content, e.Old, e.New, 1)
	}
	switch {
	case e.Mark < 0:
		content = unmark.Replace(content)
		for _, sign := range winnerSigns {
			content = strings.ReplaceAll(content, sign+"\ufe0f", "")
			content = strings.ReplaceAll(content, sign, "")
		}
		content = strings.TrimSpace(content)
	case e.Mark > 0:
		content = style[0] + content + style[1]
	}
	return content
}
