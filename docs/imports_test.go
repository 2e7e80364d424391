// Package docs holds tests that keep the documents true.
package docs

import (
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/benchreport/benchreport/"

// TestImports holds the imports between packages against how-it-works.md.
func TestImports(t *testing.T) {
	text, err := os.ReadFile("how-it-works.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "```imports\n")
	list, _, _ = strings.Cut(list, "```")
	told := map[string]string{}
	for line := range strings.Lines(list) {
		name, imports, ok := strings.Cut(line, "→")
		if !ok {
			t.Errorf("how-it-works.md: expected PACKAGE → IMPORTS, found %q", line)
		}
		told[strings.TrimSpace(name)] = strings.TrimSpace(imports)
	}
	found := packages(t)
	for name, imports := range found {
		if got, ok := told[name]; !ok || got != strings.Join(imports, ", ") {
			t.Errorf("%s imports %q; how-it-works.md says %q", name, strings.Join(imports, ", "), got)
		}
		for _, other := range imports {
			if strings.HasPrefix(other, "cmd/") || slices.Contains(found[other], name) {
				t.Errorf("%s imports %s: imports run one way", name, other)
			}
		}
	}
	for name := range told {
		if _, ok := found[name]; !ok {
			t.Errorf("how-it-works.md tells of a package %s, which is not there", name)
		}
	}
}

// packages are the packages of this module, each with those of ours that it
// imports.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		if name := e.Name(); name == "testdata" || path != ".." && strings.HasPrefix(name, ".") {
			return fs.SkipDir
		}
		p, err := build.ImportDir(path, 0)
		if err != nil || len(p.GoFiles) == 0 {
			return nil // no package, or one of tests alone
		}
		name, _ := filepath.Rel("..", path)
		ours := []string{}
		for _, i := range p.Imports {
			if other, ok := strings.CutPrefix(i, module); ok {
				ours = append(ours, other)
			}
		}
		found[filepath.ToSlash(name)] = ours
		return nil
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d packages: %v", len(found), err)
	}
	return found
}
