package main

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the examples in the documents")

// console finds the examples: a fence with a command and what it prints.
var console = regexp.MustCompile("(?s)```console\n\\$ benchreport ([^\n]*)\n(.*?)```")

// TestReadme runs the examples of the documents, so that they stay true.
func TestReadme(t *testing.T) {
	for _, path := range []string{"README.md"} {
		t.Chdir("../..")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		got := console.ReplaceAllStringFunc(string(text), func(s string) string {
			m := console.FindStringSubmatch(s)
			found++
			var out, errs bytes.Buffer
			if status := run(strings.Fields(m[1]), strings.NewReader(""), &out, &errs); status != 0 || errs.Len() > 0 {
				t.Errorf("%s: exit %d: %s", m[1], status, errs.String())
			}
			return "```console\n$ benchreport " + m[1] + "\n" + out.String() + "```"
		})
		if found == 0 {
			t.Errorf("%s has no examples", path)
		}
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got != string(text) {
			t.Errorf("an example of %s prints something else now; make golden writes it", path)
		}
	}
}
