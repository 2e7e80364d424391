package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	linkPattern = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`)
	pathPattern = regexp.MustCompile("`([a-z]+/[a-z_/]+\\.(?:go|md|html|css))`")
)

// TestLinks finds links to documents, and names of source files, that are not
// there.
func TestLinks(t *testing.T) {
	files, err := filepath.Glob("*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d documents: %v", len(files), err)
	}
	for _, file := range append(files, "../README.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linkPattern.FindAllStringSubmatch(string(text), -1) {
			if to := m[1]; strings.HasSuffix(to, ".md") {
				if _, err := os.Stat(filepath.Join(filepath.Dir(file), to)); err != nil {
					t.Errorf("%s links %s: %v", file, to, err)
				}
			}
		}
		for _, m := range pathPattern.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil && m[1] != "parse/toybench.go" {
				t.Errorf("%s tells of %s: %v", file, m[1], err)
			}
		}
	}
}
