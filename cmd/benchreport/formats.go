package main

import (
	"fmt"
	"strings"

	"github.com/benchreport/benchreport/parse"
)

type formatsCmd struct{}

// Help is shown behind the flags.
func (formatsCmd) Help() string {
	return "Examples:\n  benchreport formats\n  benchreport formats | grep -A 3 llama-bench"
}

// Run lists the formats.
func (formatsCmd) Run(a *app) error {
	var b strings.Builder
	for i, f := range parse.Formats() {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s\n  reads:   %s\n  since:   %s\n  example: %s\n", f.Tool, f.Reads, f.Since, f.Example)
	}
	return a.print(b.String())
}
