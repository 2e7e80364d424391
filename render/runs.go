package render

import (
	"io"

	"github.com/benchreport/benchreport/bench"
)

func RunsCSV(out io.Writer, runs []*bench.Run) error      { return nil }
func RunsMarkdown(out io.Writer, runs []*bench.Run) error { return nil }
func RunsText(out io.Writer, runs []*bench.Run) error     { return nil }
