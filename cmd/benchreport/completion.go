package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" help:"The shell: ${enum}." enum:"bash,zsh,fish"`
}

// Help is shown behind the flags.
func (completionCmd) Help() string {
	return `Load it in ~/.bashrc with source <(benchreport completion bash), in ~/.zshrc behind compinit with source <(benchreport completion zsh), in fish with benchreport completion fish | source.

Examples:
  benchreport completion bash > benchreport.bash
  benchreport completion zsh > _benchreport`
}

// Run prints a script that completes the command line. It is static, so that a
// tab starts no process.
func (c *completionCmd) Run(a *app, ctx *kong.Context) error {
	var b strings.Builder
	map[string]func(io.Writer, *kong.Application){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell](&b, ctx.Model)
	return a.print(b.String())
}

// A wanted is what completes a value: words, files or folders, or nothing that
// a shell could know.
type wanted struct {
	words   []string
	list    bool // several words, joined by commas
	partial bool // more follows a word without a blank
	files   bool
	folders bool
}

// wantedOf tells what completes a value of a flag or of an argument, by its
// placeholder where it has one.
func wantedOf(v *kong.Value) wanted {
	w := wanted{list: v.IsSlice() && v.Tag.Sep != -1}
	if v.Enum != "" {
		w.words = v.EnumSlice()
		return w
	}
	if v.Flag == nil {
		w.files = true
		return w
	}
	switch p := v.Flag.PlaceHolder; p {
	case "FILE", "INPUT":
		w.files = true
	case "DIR":
		w.folders = true
	case "KEY=VALUE":
		w.partial = true
		for _, k := range choices("KEYS") {
			w.words = append(w.words, k+"=")
		}
	default:
		w.words = choices(p)
	}
	return w
}

// flagsOf are the flags of a command that people see, those of the program
// first.
func flagsOf(command *kong.Node) []*kong.Flag {
	var out []*kong.Flag
	for _, group := range command.AllFlags(true) {
		out = append(out, group...)
	}
	return out
}

// spellings are the ways to write a flag.
func spellings(f *kong.Flag) []string {
	if f.Short == 0 {
		return []string{"--" + f.Name}
	}
	return []string{"-" + string(f.Short), "--" + f.Name}
}

// bashCompletion writes a function for bash, 3.2 or later.
func bashCompletion(w io.Writer, app *kong.Application) {
	var names []string
	for _, c := range app.Leaves(true) {
		names = append(names, c.Name)
	}
	fmt.Fprintf(w, `# bash completion of %[1]s
_%[1]s() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= words= kind= head= i
    COMPREPLY=()
    # A word is parted at =, as in --format=json and LABEL=PATH.
    if [[ $cur == = ]]; then
        cur=
    elif [[ $prev == = && COMP_CWORD -gt 1 ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        %[2]s) command=${COMP_WORDS[i]}; break ;;
        esac
    done
    case $command:$prev in
`, app.Name, strings.Join(names, "|"))
	for _, c := range app.Leaves(true) {
		for _, f := range flagsOf(c) {
			if f.IsBool() {
				continue
			}
			patterns := spellings(f)
			for i := range patterns {
				patterns[i] = c.Name + ":" + patterns[i]
			}
			fmt.Fprintf(w, "    %s) %s ;;\n", strings.Join(patterns, "|"), bashWanted(wantedOf(f.Value)))
		}
	}
	fmt.Fprintf(w, "    *)\n        case $command:$cur in\n        :-*) words=--help ;;\n        :*) words='%s' ;;\n", strings.Join(names, " "))
	for _, c := range app.Leaves(true) {
		var flags []string
		for _, f := range flagsOf(c) {
			flags = append(flags, "--"+f.Name)
		}
		fmt.Fprintf(w, "        %s:-*) words='%s' ;;\n", c.Name, strings.Join(flags, " "))
		rest := wanted{}
		if len(c.Positional) > 0 {
			rest = wantedOf(c.Positional[0])
		}
		fmt.Fprintf(w, "        %s:*) %s ;;\n", c.Name, bashWanted(rest))
	}
	fmt.Fprintf(w, `        esac ;;
    esac
    case $kind in
    files) return ;;
    folders) compopt -o dirnames 2>/dev/null; return ;;
    esac
    compopt +o default 2>/dev/null
    if [[ $kind == list ]]; then
        compopt -o nospace 2>/dev/null
        [[ $cur == *,* ]] && head=${cur%%,*},
        cur=${cur##*,}
    elif [[ $kind == partial ]]; then
        compopt -o nospace 2>/dev/null
    fi
    COMPREPLY=($(compgen -P "$head" -W "$words" -- "$cur"))
}
complete -o default -F _%[1]s %[1]s
`, app.Name)
}

func bashWanted(w wanted) string {
	kind := ""
	switch {
	case w.files:
		return "kind=files"
	case w.folders:
		return "kind=folders"
	case w.words == nil:
		return "words="
	case w.list:
		kind = " kind=list"
	case w.partial:
		kind = " kind=partial"
	}
	return "words='" + strings.Join(w.words, " ") + "'" + kind
}

// zshCompletion writes a function for zsh, to be sourced or put in a folder of
// fpath under the name _benchreport.
func zshCompletion(w io.Writer, app *kong.Application) {
	fmt.Fprintf(w, `#compdef %[1]s
# zsh completion of %[1]s
_%[1]s() {
    local curcontext="$curcontext" state line
    typeset -A opt_args
    local -a commands
    commands=(
`, app.Name)
	for _, c := range app.Leaves(true) {
		fmt.Fprintf(w, "        %s\n", quoteAlways(c.Name+":"+c.Help))
	}
	fmt.Fprintf(w, `    )
    _arguments -C '(-h --help)'{-h,--help}'[Show context-sensitive help.]' '1:command:->command' '*::argument:->argument'
    case $state in
    command) _describe -t commands '%s command' commands ;;
    argument)
        case $words[1] in
`, app.Name)
	inHelp := strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)
	for _, c := range app.Leaves(true) {
		fmt.Fprintf(w, "        %s)\n            _arguments", c.Name)
		for _, f := range flagsOf(c) {
			names, value := spellings(f), ""
			if !f.IsBool() {
				names[len(names)-1] += "="
				value = ":" + f.Name + ":" + zshWanted(wantedOf(f.Value))
			}
			once := "(" + strings.Join(spellings(f), " ") + ")"
			if f.IsSlice() {
				once = "*"
			}
			for _, n := range names {
				fmt.Fprintf(w, " \\\n                %s", quoteAlways(once+n+"["+inHelp.Replace(f.Help)+"]"+value))
			}
		}
		for _, p := range c.Positional {
			place := "1"
			if p.IsCumulative() {
				place = "*"
			}
			fmt.Fprintf(w, " \\\n                %s", quoteAlways(place+":"+p.Name+":"+zshWanted(wantedOf(p))))
		}
		fmt.Fprint(w, " ;;\n")
	}
	fmt.Fprintf(w, `        esac ;;
    esac
}
if [[ $funcstack[1] == _%[1]s ]]; then
    _%[1]s "$@"
else
    compdef _%[1]s %[1]s
fi
`, app.Name)
}

func zshWanted(w wanted) string {
	switch {
	case w.files: // behind LABEL=
		return `{ compset -P "*="; _files }`
	case w.folders:
		return "_files -/"
	case w.words == nil:
		return " "
	case w.list:
		return "{ _sequence compadd - " + strings.Join(w.words, " ") + " }"
	case w.partial:
		return `{ compadd -S "" - ` + strings.Join(w.words, " ") + " }"
	}
	return "(" + strings.Join(w.words, " ") + ")"
}

// fishCompletion writes what fish completes.
func fishCompletion(w io.Writer, app *kong.Application) {
	fmt.Fprintf(w, "# fish completion of %[1]s\ncomplete -c %[1]s -f\ncomplete -c %[1]s -s h -l help -d 'Show context-sensitive help.'\n", app.Name)
	for _, c := range app.Leaves(true) {
		fmt.Fprintf(w, "complete -c %s -n __fish_use_subcommand -a %s -d %s\n", app.Name, c.Name, fishQuote(c.Help))
	}
	for _, c := range app.Leaves(true) {
		in := fmt.Sprintf("complete -c %s -n '__fish_seen_subcommand_from %s'", app.Name, c.Name)
		for _, f := range c.Flags {
			if f.Hidden {
				continue
			}
			fmt.Fprint(w, in)
			if f.Short != 0 {
				fmt.Fprintf(w, " -s %c", f.Short)
			}
			fmt.Fprintf(w, " -l %s", f.Name)
			if !f.IsBool() {
				fmt.Fprint(w, fishWanted(wantedOf(f.Value)))
			}
			fmt.Fprintf(w, " -d %s\n", fishQuote(f.Help))
		}
		for _, p := range c.Positional {
			if want := wantedOf(p); want.files {
				fmt.Fprintf(w, "%s -F\n", in)
			} else {
				fmt.Fprintf(w, "%s -a %s\n", in, fishQuote(strings.Join(want.words, " ")))
			}
		}
	}
}

func fishWanted(w wanted) string {
	switch {
	case w.files:
		return " -r -F"
	case w.folders:
		return " -x -a '(__fish_complete_directories)'"
	case w.words == nil:
		return " -x"
	case w.list:
		return " -x -a '(__fish_append , " + strings.Join(w.words, " ") + ")'"
	}
	return " -x -a '" + strings.Join(w.words, " ") + "'"
}

// quoteAlways writes a word in single quotes for a shell, fishQuote for fish.
func quoteAlways(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
