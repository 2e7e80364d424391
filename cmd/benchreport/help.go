package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/bench"
	"github.com/benchreport/benchreport/forge"
)

// description heads the help, and the manual page.
const description = `Turns raw LLM-inference benchmark logs into reports people can trust.

An INPUT is a file, a folder, a glob, or - for standard input; LABEL=PATH names it, LABEL=PATH@x4 says it is one of 4 replicas. It may hold any mix of the formats that benchreport formats lists.

Examples:
  benchreport compare testdata/vllm-serve/note-tensor-parallel.md
  benchreport report testdata/vllm-serve/note-tensor-parallel.md -o report`

// choices are the words that a value may be, by the placeholder of a flag. They
// are filled from the tables that the program works with.
func choices(placeholder string) []string {
	switch placeholder {
	case "NAMES", "METRIC":
		return bench.Names()
	case "KEYS":
		return analyze.Keys()
	case "OUTCOMES":
		return analyze.Outcomes
	case "FORGE":
		return forge.Kinds
	}
	return nil
}

// vars are the lists that stand in help texts.
func vars() kong.Vars {
	return kong.Vars{
		"outcomes": strings.Join(analyze.Outcomes, ", "),
		"fail_on":  strings.Join(analyze.FailOn, ", "),
		"forges":   strings.Join(forge.Kinds, ", "),
	}
}

// didYouMean is the end of a message about a misspelt name, "" if nothing is
// like it.
func didYouMean(name string, candidates []string) string {
	if s := analyze.Suggest(name, candidates); s != "" {
		return fmt.Sprintf(" (did you mean %s?)", s)
	}
	return ""
}
