package analyze

import (
	"os"
	"strings"
	"testing"
)

// TestGateDoc holds what a gate holds against docs/gate.md.
func TestGateDoc(t *testing.T) {
	text, err := os.ReadFile("../docs/gate.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "| tool | gated |\n|:--|:--|\n")
	list, _, _ := strings.Cut(rest, "\n\n")
	told := map[string]string{}
	for line := range strings.Lines(list) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 2 {
			t.Fatalf("docs/gate.md: %q", line)
		}
		tool := cells[0]
		if strings.HasPrefix(tool, "all others") {
			tool = ""
		}
		told[tool] = cells[1]
	}
	for tool, metrics := range gatedMetrics {
		if want := strings.Join(metrics, ", "); told[tool] != want {
			t.Errorf("of %q are gated %s; docs/gate.md says %q", tool, want, told[tool])
		}
	}
	if len(told) != len(gatedMetrics) {
		t.Errorf("docs/gate.md tells of %d tools, the table of %d", len(told), len(gatedMetrics))
	}
}
