package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMakeFuzz holds the fuzz targets against those that make fuzz runs.
func TestMakeFuzz(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	found := 0
	err = filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range target.FindAllStringSubmatch(string(text), -1) {
			found++
			dir, _ := filepath.Rel("..", filepath.Dir(path))
			if want := "go test ./" + filepath.ToSlash(dir) + " -run '^$$' -fuzz '^" + m[1] + "$$'"; !strings.Contains(string(makefile), want) {
				t.Errorf("make fuzz does not run %s of %s", m[1], path)
			}
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d targets: %v", found, err)
	}
}
