package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The manual page in the documents is the one of this program.
func TestManual(t *testing.T) {
	const path = "../../docs/benchreport.1"
	got := manual(model(t))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("docs/benchreport.1 is another page now; make golden writes it")
	}
	if _, err := exec.LookPath("mandoc"); err != nil {
		t.Skip("mandoc is not installed")
	}
	if out, err := exec.Command("mandoc", "-Tlint", path).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("mandoc -Tlint: %v\n%s", err, out)
	}
}

func TestParagraphs(t *testing.T) {
	got := paragraphs(".md is \\ a form. It's ~/x…\n\n" + strings.Repeat("seventeen letters ", 5))
	want := "\\&.md is \\e a form.\nIt\\(aqs \\(ti/x\\[u2026]\n.Pp\nseventeen letters seventeen letters seventeen letters seventeen letters\nseventeen letters\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
