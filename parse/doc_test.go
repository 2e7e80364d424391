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
