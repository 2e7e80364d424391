package parse

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFormatsDoc keeps docs/formats.md what the table of formats says.
func TestFormatsDoc(t *testing.T) {
	const path = "../docs/formats.md"
	var b strings.Builder
	b.WriteString("# Formats\n\nMade from the table of formats by `make golden`; do not edit.\n")
	for _, f := range Formats() {
		fmt.Fprintf(&b, "\n## %s\n\n", f.Tool)
		for _, p := range [][2]string{{"Reads", f.Reads}, {"Since", f.Since}, {"Derived", f.Derives}, {"Limits", f.Limits}} {
			if p[1] != "" {
				fmt.Fprintf(&b, "- **%s:** %s\n", p[0], p[1])
			}
		}
		fmt.Fprintf(&b, "\n      %s\n", f.Example)
	}
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the table of formats says (%v); make golden writes it", path, err)
	}
}

// TestReadmeFormats keeps the list in the README what the table of formats says.
func TestReadmeFormats(t *testing.T) {
	const path, begin, end = "../README.md", "<!-- formats: made by make golden -->\n", "<!-- /formats -->"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the formats", path)
	}
	var b strings.Builder
	b.WriteString("| Tool | Reads |\n|:--|:--|\n")
	for _, f := range Formats() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Tool, strings.ReplaceAll(f.Reads, "|", `\|`))
	}
	want := head + begin + b.String() + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("the formats in %s are not those of the table; make golden writes them", path)
	}
}
