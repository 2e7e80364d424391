package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const findingsDoc = "docs/findings.md"

// codePattern is how a code is written: words with dashes.
var codePattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// TestFindingsDocumented holds the codes in the source against the sections of
// docs/findings.md.
func TestFindingsDocumented(t *testing.T) {
	t.Chdir("../..")
	source := findingCodes(t)
	text, err := os.ReadFile(findingsDoc)
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^### `([^`]+)`$").FindAllStringSubmatch(string(text), -1) {
		if documented[m[1]] {
			t.Errorf("%s stands twice in %s", m[1], findingsDoc)
		}
		documented[m[1]] = true
		if source[m[1]] == "" {
			t.Errorf("%s tells of %s, which nothing emits", findingsDoc, m[1])
		}
	}
	for code, at := range source {
		if !documented[code] {
			t.Errorf("%s (%s) has no section in %s", code, at, findingsDoc)
		}
	}
	for _, section := range strings.Split(string(text), "\n### ")[1:] {
		code, _, _ := strings.Cut(strings.Trim(section, "`"), "`")
		if !strings.Contains(section, "\n    $ benchreport ") || !strings.Contains(section, "\n*What to do:*") {
			t.Errorf("%s: %s has no example, or does not say what to do", findingsDoc, code)
		}
	}
}

// findingCodes collects the codes that the program can emit, each with where it
// stands: the text in the field Code of a Finding, in a table of checks, and
// the first argument of a function add or a constant named code.
func findingCodes(t *testing.T) map[string]string {
	t.Helper()
	codes := map[string]string{}
	for _, dir := range []string{"parse", "analyze", "cmd/benchreport"} {
		files, err := filepath.Glob(dir + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			found := func(e ast.Expr) {
				lit, ok := e.(*ast.BasicLit)
				if !ok || lit.Kind != token.STRING {
					return
				}
				if code, err := strconv.Unquote(lit.Value); err == nil && codePattern.MatchString(code) {
					codes[code] = set.Position(lit.Pos()).String()
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Code" {
						found(n.Value)
					}
				case *ast.CallExpr:
					if name, ok := called(n); ok && name == "add" && len(n.Args) >= 6 {
						found(n.Args[0])
					}
				case *ast.ValueSpec:
					for i, name := range n.Names {
						switch {
						case name.Name == "code" && i < len(n.Values):
							found(n.Values[i])
						case strings.HasSuffix(name.Name, "Checks") && i < len(n.Values):
							for _, check := range n.Values[i].(*ast.CompositeLit).Elts {
								found(check.(*ast.CompositeLit).Elts[0])
							}
						}
					}
				}
				return true
			})
		}
	}
	if len(codes) < 20 {
		t.Fatalf("only %d codes in the source", len(codes))
	}
	return codes
}

func called(c *ast.CallExpr) (string, bool) {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name, true
	case *ast.SelectorExpr:
		return f.Sel.Name, true
	}
	return "", false
}

// TestFindingsExamples runs the examples of docs/findings.md: each line below a
// command begins a line that the command prints.
func TestFindingsExamples(t *testing.T) {
	t.Chdir("../..")
	text, err := os.ReadFile(findingsDoc)
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string][]string{}
	command, examples := "", 0
	for number, line := range strings.Split(string(text), "\n") {
		line, ok := strings.CutPrefix(line, "    ")
		if !ok {
			command = ""
			continue
		}
		if c, ok := strings.CutPrefix(line, "$ benchreport "); ok {
			if command = c; printed[command] == nil {
				var out, errs bytes.Buffer
				run(strings.Fields(command), strings.NewReader(""), &out, &errs)
				printed[command] = strings.Split(out.String(), "\n")
			}
			continue
		}
		examples++
		if !slices.ContainsFunc(printed[command], func(s string) bool { return strings.HasPrefix(s, line) }) {
			t.Errorf("%s:%d: benchreport %s does not print %q", findingsDoc, number+1, command, line)
		}
	}
	if examples < 25 {
		t.Errorf("%s has only %d examples", findingsDoc, examples)
	}
}
