package main

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd is hidden: people read docs/benchreport.1, which make golden writes.
type manCmd struct{}

// Run prints the manual page, in mdoc(7), made of what the help is made of.
func (manCmd) Run(a *app, ctx *kong.Context) error { return a.print(manual(ctx.Model)) }

// manDate is when the page last changed in more than its wording.
const manDate = "November 15, 2026"

func manual(app *kong.Application) string {
	var b strings.Builder
	about, _ := parts(app.Help)
	title, about, _ := strings.Cut(about, "\n\n")
	fmt.Fprintf(&b, ".\\\" Made by make golden from the help texts.\n.Dd %[2]s\n.Dt %[3]s 1\n.Os\n.Sh NAME\n.Nm %[1]s\n.Nd %[4]s\n",
		app.Name, manDate, strings.ToUpper(app.Name), roff(strings.ToLower(title[:1])+strings.TrimSuffix(title[1:], ".")))
	fmt.Fprintf(&b, ".Sh SYNOPSIS\n.Nm\n.Ar command\n.Op Ar flags\n.Op Ar input ...\n.Sh DESCRIPTION\n%s.Pp\n%s", paragraphs(about), paragraphs(manText))
	b.WriteString(".Sh COMMANDS\n")
	examples := ""
	for _, c := range app.Leaves(true) {
		fmt.Fprintf(&b, ".Ss %s\\&\n%s", c.Summary(), paragraphs(c.Help))
		detail, commands := parts(c.Detail)
		if detail != "" {
			fmt.Fprintf(&b, ".Pp\n%s", paragraphs(detail))
		}
		if len(c.Flags) > 0 {
			b.WriteString(".Bl -tag -width Ds\n")
			for _, f := range c.Flags {
				if !f.Hidden {
					b.WriteString(".It " + manFlag(f) + "\n" + paragraphs(f.Help))
				}
			}
			b.WriteString(".El\n")
		}
		examples += commands
	}
	b.WriteString(".Sh ENVIRONMENT\n.Bl -tag -width Ds\n")
	for _, e := range manEnvironment {
		fmt.Fprintf(&b, ".It Ev %s\n%s", e[0], paragraphs(e[1]))
	}
	fmt.Fprintf(&b, ".El\n.Sh FILES\n.Bl -tag -width Ds\n.It Pa %s\n%s.El\n", configName, paragraphs("Defaults for flags by their names, and waivers of the gate; looked for in the working folder and those above it."))
	b.WriteString(".Sh EXIT STATUS\n.Bl -tag -width Ds\n")
	for _, s := range manStatus {
		fmt.Fprintf(&b, ".It %s\n%s", s[0], paragraphs(s[1]))
	}
	fmt.Fprintf(&b, ".El\n.Sh EXAMPLES\nIn a clone of the repository:\n.Bd -literal -offset indent\n%s.Ed\n", examples)
	return b.String()
}

// What the help leaves to other pages.
const manText = `The report goes to standard output, everything that is said about it to standard error. A file appears under its name when it is complete, and not before.`

var manEnvironment = [][2]string{
	{"NO_COLOR", "Set to anything: no colours in a terminal."},
	{"GITHUB_TOKEN , GITLAB_TOKEN , GITEA_TOKEN", "With which comment talks to a forge. Repository and number come from the variables of the CI job."},
}

var manStatus = [][2]string{
	{"0", "Done."},
	{"1", "A gate did not pass."},
	{"2", "Wrong use, an input that could not be read, or no result in any input."},
	{"141", "Nobody reads standard output any more. A signal ends the program as it ends others; files that are not complete are removed."},
}

// manFlag is a flag as the tag of a list.
func manFlag(f *kong.Flag) string {
	out := "Fl -" + f.Name
	if f.Short != 0 {
		out = "Fl " + string(f.Short) + " , " + out
	}
	if !f.IsBool() {
		out += " Ns = Ns Ar " + roff(strings.Trim(f.FormatPlaceHolder(), `"`))
	}
	return out
}

// parts cuts a help text into its paragraphs and its examples, those as lines of
// a literal display.
func parts(help string) (text, examples string) {
	text, list, _ := strings.Cut(help, "Examples:\n")
	for line := range strings.Lines(list) {
		line = strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "  ")
		examples += strings.ReplaceAll(roff(line), "-", `\-`) + "\n"
	}
	return strings.TrimSpace(text), examples
}

// paragraphs writes text in short lines, with a new one for each sentence, which
// is how mdoc likes it.
func paragraphs(text string) string {
	var b strings.Builder
	for i, p := range strings.Split(text, "\n\n") {
		if i > 0 {
			b.WriteString(".Pp\n")
		}
		width := 0
		for _, word := range strings.Fields(roff(p)) {
			switch {
			case width == 0:
			case width+1+len(word) > 78 || strings.HasSuffix(b.String(), "."):
				b.WriteString("\n")
				width = 0
			default:
				b.WriteString(" ")
				width++
			}
			if width == 0 && word[0] == '.' {
				b.WriteString(`\&`) // no request
			}
			b.WriteString(word)
			width += len(word)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// roff escapes what a manual page would take for something else.
func roff(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r > 126:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
