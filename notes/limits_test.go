package notes

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The tests of this file are about the bounds in docs/limits.md.

func TestLimitSize(t *testing.T) {
	if _, err := Read(make([]byte, MaxSize+1)); err == nil || err.Error() != "a note larger than 64 MB: not read" {
		t.Errorf("%v", err)
	}
}

const tableHead = "| Run | Tok/s |\n|---|---|\n"

func TestLimitRows(t *testing.T) {
	note, err := Read([]byte("before\n\n" + tableHead + strings.Repeat("| a | 1 |\n", 2*maxRows) + "\n" + tableHead + "| b | 2 |\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(note.Tables) != 2 {
		t.Fatalf("%d tables, want 2", len(note.Tables))
	}
	// The header and the line below it count too.
	if n := len(note.Tables[0].Rows); n != maxRows-3 {
		t.Errorf("%d rows are read, want %d", n, maxRows-3)
	}
	if last := note.Tables[1]; len(last.Rows) != 1 || last.Rows[0].Cells[0].Text != "b" || last.Rows[0].Line != 2*maxRows+8 {
		t.Errorf("the table behind it: %+v", last)
	}
}

func TestLimitLine(t *testing.T) {
	for _, long := range []string{
		"| " + strings.Repeat("x", longLine) + " | 1 |",
		strings.Repeat(" ", deepLine+1) + "| c | 3 |",
	} {
		note, err := Read([]byte(tableHead + "| a | 1 |\n" + long + "\n\n" + tableHead + "| b | 2 |\n"))
		if err != nil {
			t.Fatal(err)
		}
		if len(note.Tables) != 2 || len(note.Tables[0].Rows) != 1 || len(note.Tables[1].Rows) != 1 {
			t.Errorf("%.20s…: %d tables", long, len(note.Tables))
		}
	}
}

func TestLimitParagraph(t *testing.T) {
	note, err := Read([]byte(strings.Repeat("word\n", 3*maxLines)))
	if err != nil || len(note.Prose) < 3 {
		t.Errorf("%d paragraphs of %d lines: %v", len(note.Prose), 3*maxLines, err)
	}
}

func TestLimitLinks(t *testing.T) {
	var b strings.Builder
	for i := range maxLinks + 50 {
		fmt.Fprintf(&b, "[x](logs/%d.log)\n\n", i)
	}
	note, err := Read([]byte(b.String()))
	if err != nil || len(note.Links) != maxLinks {
		t.Errorf("%d links are kept, want %d: %v", len(note.Links), maxLinks, err)
	}
}

// The figures of docs/limits.md are those of the constants.
func TestLimitsDoc(t *testing.T) {
	text, err := os.ReadFile("../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"MaxSize": fmt.Sprintf("%d MB", MaxSize>>20), "maxRows": fmt.Sprintf("%d,%03d", maxRows/1000, maxRows%1000), "longLine": fmt.Sprintf("%d kB", longLine>>10),
		"deepLine": fmt.Sprint(deepLine), "maxLines": fmt.Sprint(maxLines), "maxLinks": fmt.Sprint(maxLinks),
	} {
		line := regexp.MustCompile("(?m)^\\|.*`" + name + "` \\|$").FindString(string(text))
		if cells := strings.Split(line, " | "); len(cells) < 4 || cells[1] != want {
			t.Errorf("docs/limits.md says of %s %q, want %s", name, line, want)
		}
	}
}
