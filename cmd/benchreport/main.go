// Benchreport turns raw LLM-inference benchmark logs into reports people can
// trust.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

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
	catchSignals()
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

type commands struct {
	Compare compareCmd `cmd:"" help:"Compare the runs of the inputs; the best of a column is bold."`
	Runs    runsCmd    `cmd:"" help:"List every result that was found, with settings and metrics."`
	Gate    gateCmd    `cmd:"" help:"Hold a head against a base; exit 1 where something regressed."`
	Comment commentCmd `cmd:"" help:"Keep one comment on a pull or merge request up to date."`
	Audit   auditCmd   `cmd:"" help:"Check hand-written tables against the logs beside them."`
	Plan    planCmd    `cmd:"" help:"Tell how small a change so many runs can find."`
	Report  reportCmd  `cmd:"" help:"Write a report folder: README.md, plots and report.html."`
	Formats formatsCmd `cmd:"" help:"List the formats that are read, with an example line of each."`

	Completion completionCmd `cmd:"" help:"Print a script that completes commands, flags and values."`
	Version    versionCmd    `cmd:"" help:"Print version, commit and Go version."`

	Man manCmd `cmd:"" hidden:"" help:"Print the manual page."`
}

// run is the program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	exited := false
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	if a.config, err = findConfig(dir); err != nil {
		a.say("%v", err)
		return exitTrouble
	}
	parser, err := a.parser(a.model(args), func(int) { exited = true })
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
	switch {
	case isReaderGone(err):
		return exitPipe // it has what it wanted
	case err != nil:
		if !errors.Is(err, errTold) {
			a.say("%v", err)
		}
		return exitTrouble
	}
	return a.status
}

// model is what a command line is read into: all commands, or the one that is
// named, where nothing is asked about the others. Reading the tags of all of
// them takes longer than comparing two logs.
func (a *app) model(args []string) any {
	all := &commands{}
	if len(args) == 0 || !a.config.empty() || slices.ContainsFunc(args, func(w string) bool { return w == "-h" || strings.HasPrefix(w, "--help") }) {
		return all
	}
	field, ok := reflect.TypeOf(*all).FieldByNameFunc(func(name string) bool { return strings.ToLower(name) == args[0] })
	if !ok || args[0] == "completion" || args[0] == "man" {
		return all
	}
	return reflect.New(reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: field.Type, Tag: field.Tag}})).Interface()
}

// parser reads the command line of this program into cmds.
func (a *app) parser(cmds any, exit func(int)) (*kong.Kong, error) {
	return kong.New(cmds,
		kong.Name("benchreport"),
		kong.Description(description),
		vars(),
		kong.Writers(a.stdout, a.stderr),
		kong.Exit(exit),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true}),
		kong.Bind(a),
		kong.Resolvers(a.config),
	)
}

// errTold is an error that the user has been told of already.
var errTold = errors.New("told")

// print writes what is no report to stdout.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.stdout, text)
	return err
}

// say tells something about the report on stderr.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, "benchreport: "+format+"\n", args...)
}
