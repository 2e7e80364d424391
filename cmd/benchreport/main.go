// Benchreport turns raw LLM-inference benchmark logs into reports people can
// trust.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// The exit statuses.
const (
	exitDone    = 0
	exitFound   = 1 // a gate or an audit found what it looks for
	exitTrouble = 2 // wrong use, unreadable input, or no run in any input
)

// An app is the program with its streams, so that tests need no process.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	status         int
	config         *config
}

func main() {
	collectLater()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type commands struct {
	Compare compareCmd `cmd:"" help:"Compare the runs of the inputs: tables with the best in bold, changes against a baseline, and what to be careful with."`
	Runs    runsCmd    `cmd:"" help:"List every benchmark result that was found, with where it stands, its configuration and its metrics."`
	Gate    gateCmd    `cmd:"" help:"Regression gate: hold the runs of a head against those of a base; exit status 1 where it does not pass."`
	Comment commentCmd `cmd:"" help:"Create or update one comment on a pull or merge request that says what changed."`
	Audit   auditCmd   `cmd:"" help:"Check hand-written tables against the raw logs beside them; exit status 1 where something is wrong."`
	Plan    planCmd    `cmd:"" help:"Tell how small a change a number of runs can find, and how many runs a change needs."`
	Report  reportCmd  `cmd:"" help:"Write a report folder: README.md, plots, and report.html, one file that works offline."`
	Formats formatsCmd `cmd:"" help:"List the formats that are read, with an example line of each."`
	Version versionCmd `cmd:"" help:"Print the version."`
}

// run is the program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	var cmds commands
	exited := false
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	if a.config, err = findConfig(dir); err != nil {
		a.say("%v", err)
		return exitTrouble
	}
	parser, err := kong.New(&cmds,
		kong.Name("benchreport"),
		kong.Description("Turns raw LLM-inference benchmark logs into reports people can trust.\n\nAn INPUT is a file, a folder, a glob or - for standard input; LABEL=PATH names it, LABEL=PATH@x4 says it is one of 4 replicas."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(int) { exited = true }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(a),
		kong.Resolvers(a.config),
	)
	if err != nil {
		panic(err) // a mistake in the tags above
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if exited {
		return exitDone // --help
	}
	if err == nil {
		err = ctx.Run(a)
	}
	if err != nil {
		if !errors.Is(err, errTold) {
			a.say("%v", err)
		}
		return exitTrouble
	}
	return a.status
}

// errTold is an error that the user has been told of already.
var errTold = errors.New("told")

// say tells something about the report on stderr.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, "benchreport: "+format+"\n", args...)
}
