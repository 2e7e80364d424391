package docs

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fencePattern finds the fences of a guide: language, what it is, content.
var fencePattern = regexp.MustCompile("(?ms)^```([a-z]+)(?: (\\S+))?\n(.*?)^```$")

// TestGuide follows adding-a-format.md to the letter in a copy of this
// repository: it writes the files, adds the line, runs the commands, and looks at
// what they print.
func TestGuide(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the guide is not followed, which builds the program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: the guide cannot be followed")
	}
	text, err := os.ReadFile("adding-a-format.md")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	copyTree(t, "..", root)
	var commands []string
	printed := map[string]string{}
	files := 0
	for _, m := range fencePattern.FindAllStringSubmatch(string(text), -1) {
		switch language, what, content := m[1], m[2], m[3]; {
		case what == "table":
			addToTable(t, filepath.Join(root, "parse/formats.go"), content)
		case what == "stdout" || what == "stderr":
			printed[what] = content
		case what != "":
			path := filepath.Join(root, what)
			if _, err := os.Stat(path); err == nil {
				t.Fatalf("%s is there already", what)
			}
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			files++
		case language == "sh":
			commands = append(commands, strings.Split(strings.TrimSpace(content), "\n")...)
		}
	}
	if files != 3 || len(commands) != 3 || len(printed) != 2 {
		t.Fatalf("the guide has %d files, %d commands and %d outputs, want 3, 3 and 2", files, len(commands), len(printed))
	}
	for i, command := range commands {
		args := strings.Fields(strings.ReplaceAll(command, "'", ""))
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = root
		// Without paths in what is built, the next run finds it in the cache; make
		// test vets what is not of the guide.
		cmd.Env = append(os.Environ(), "GOFLAGS=-trimpath -vet=off -buildvcs=false")
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		if i < len(commands)-1 {
			if err != nil {
				t.Fatalf("%s: %v\n%s%s", command, err, out.String(), errs.String())
			}
			continue
		}
		// The log has a line that cannot be read, so this one exits with 2.
		if got := trimLines(out.String()); got != printed["stdout"] {
			t.Errorf("%s prints\n%s\nthe guide says\n%s", command, got, printed["stdout"])
		}
		if !strings.HasPrefix(errs.String(), printed["stderr"]) {
			t.Errorf("%s says\n%s\nthe guide says\n%s", command, errs.String(), printed["stderr"])
		}
	}
	doc, err := os.ReadFile(filepath.Join(root, "docs/formats.md"))
	if err != nil || !strings.Contains(string(doc), "## toybench\n") {
		t.Errorf("docs/formats.md does not tell of toybench: %v", err)
	}
}

// addToTable adds a line at the end of the table of formats.
func addToTable(t *testing.T, path, line string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), "func table() []Format {")
	end := strings.Index(after, "\n\t}\n}")
	if !ok || end < 0 {
		t.Fatalf("no table() in %s", path)
	}
	changed := before + "func table() []Format {" + after[:end] + "\n\t\t" + strings.TrimSpace(line) + after[end:]
	if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
		t.Fatal(err)
	}
}

// copyTree copies what the repository holds, but for its history.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case e.IsDir() && rel != "." && strings.HasPrefix(e.Name(), "."):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(target, 0o755)
		case !e.Type().IsRegular() || e.Name() == ".git":
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, content, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// trimLines cuts the blanks at the ends of lines, which a document does not
// keep.
func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
