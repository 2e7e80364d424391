package main

import (
	"fmt"

	"github.com/benchreport/benchreport/parse"
)

type formatsCmd struct{}

// Help is shown behind the flags.
func (formatsCmd) Help() string {
	return "Examples:\n  benchreport formats\n  benchreport formats | grep -A 3 llama-bench"
}

// Run lists the formats.
func (formatsCmd) Run(a *app) error {
	for i, f := range parse.Formats() {
		if i > 0 {
			fmt.Fprintln(a.stdout)
		}
		fmt.Fprintf(a.stdout, "%s\n  reads:   %s\n  since:   %s\n  example: %s\n", f.Tool, f.Reads, f.Since, f.Example)
	}
	return nil
}
