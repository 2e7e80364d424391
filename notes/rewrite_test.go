package notes

import (
	"strings"
	"testing"
)

// edit makes the edits of a test: "row,column:what" where what is + to mark, -
// to unmark, or old>new.
func edit(t *testing.T, note *Note, words string) []Edit {
	t.Helper()
	var out []Edit
	for w := range strings.FieldsSeq(words) {
		place, what, _ := strings.Cut(w, ":")
		row, column := int(place[0]-'0'), int(place[2]-'0')
		e := Edit{Cell: note.Tables[0].Rows[row].Cells[column]}
		switch what {
		case "+":
			e.Mark = 1
		case "-":
			e.Mark = -1
		default:
			e.Old, e.New, _ = strings.Cut(what, ">")
		}
		out = append(out, e)
	}
	return out
}

func TestRewrite(t *testing.T) {
	for _, tc := range []struct{ name, note, edits, want string }{
		{"marks in a padded table", "| a | b      |\n|---|--------|\n| x | **1**  |\n| y | 2      |\n", "0,1:- 1,1:+", "| a | b      |\n|---|--------|\n| x | 1      |\n| y | **2**  |\n"},
		{"numbers on the right", "| a |     b |\n|---|------:|\n| x | **1** |\n| y |     2 |\n", "0,1:- 1,1:+", "| a |     b |\n|---|------:|\n| x |     1 |\n| y | **2** |\n"},
		{"a column that grows", "| a | b |\n|---|---|\n| x | 1 |\n| y | 2 |\n", "1,1:+", "| a | b     |\n|---|-------|\n| x | 1     |\n| y | **2** |\n"},
		{"a table that is not aligned", "|a|b|\n|-|-|\n|xxx|**1**|\n|y|2|\n", "0,1:- 1,1:+", "|a|b|\n|-|-|\n|xxx|1|\n|y|**2**|\n"},
		{"figures", "| a | b |\n|---|---|\n| x | **49.41** tok/s |\n", "0,1:49.41>59.41", "| a | b |\n|---|---|\n| x | **59.41** tok/s |\n"},
		{"signs", "| a | b |\n|---|---|\n| x | 1 🏆 |\n| y | 2 |\n", "0,1:- 1,1:+", "| a | b |\n|---|---|\n| x | 1    |\n| y | 2 🏆 |\n"},
		{"tags", "| a | b |\n|---|---|\n| x | <b>1</b> |\n| y | 2 |\n", "0,1:- 1,1:+", "| a | b |\n|---|---|\n| x | 1        |\n| y | <b>2</b> |\n"},
		{"no outer bars", "a | b\n---|---\nx | **1**\ny | 2\n", "0,1:- 1,1:+", "a | b\n---|---\nx | 1\ny | **2**\n"},
		{"in a quote, with line ends of Windows", "> | a | b |\r\n> |---|---|\r\n> | x | **1** |\r\n> | y | 2 |\r\n", "0,1:-", "> | a | b |\r\n> |---|---|\r\n> | x | 1     |\r\n> | y | 2 |\r\n"},
	} {
		note, err := Read([]byte("# x\n\n" + tc.note + "\nend\xff\n"))
		if err != nil || len(note.Tables) != 1 {
			t.Errorf("%s: %v, %d tables", tc.name, err, len(note.Tables))
			continue
		}
		if got, want := string(note.Rewrite(edit(t, note, tc.edits))), "# x\n\n"+tc.want+"\nend\xff\n"; got != want {
			t.Errorf("%s:\n%s\nwant:\n%s", tc.name, got, want)
		}
	}
}

// FuzzRead asks that reading a note never fails, that cells lie inside of it,
// and that rewriting without edits changes nothing.
func FuzzRead(f *testing.F) {
	f.Add([]byte("| a | b |\n|---|---|\n| x | **1** |\n"))
	f.Add([]byte("a|b\n-|-\n\\||`|`\n"))
	f.Add([]byte("> | a | b |\r\n> |:-:|--:|\r\n> | <b>x</b> | 🏆 1,234.5 ± 0.1 [^1] |\r\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		note, err := Read(source)
		if err != nil {
			t.Fatal(err)
		}
		var edits []Edit
		for _, table := range note.Tables {
			for _, row := range append([]Row{{table.Line, table.Header}}, table.Rows...) {
				if len(row.Cells) != len(table.Header) {
					t.Fatalf("a row of %d cells under %d headers", len(row.Cells), len(table.Header))
				}
				for _, c := range row.Cells {
					if c.Start < 0 || c.End < c.Start || c.End > len(source) {
						t.Fatalf("a cell at %d to %d of %d", c.Start, c.End, len(source))
					}
					ParseNumber(c.Text)
					Understand(c.Text)
					edits = append(edits, Edit{Cell: c, Mark: 1})
				}
			}
		}
		if got := note.Rewrite(nil); string(got) != string(source) {
			t.Fatalf("rewriting nothing changed %q to %q", source, got)
		}
		note.Rewrite(edits)
	})
}
