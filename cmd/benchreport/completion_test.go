package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// completionScript writes the script for a shell that is installed to a file.
func completionScript(t *testing.T, shell string) string {
	t.Helper()
	if _, err := exec.LookPath(shell); err != nil {
		t.Skip(shell + " is not installed")
	}
	var out, errs bytes.Buffer
	if got := run([]string{"completion", shell}, strings.NewReader(""), &out, &errs); got != exitDone || errs.Len() > 0 {
		t.Fatalf("exit %d: %s", got, errs.String())
	}
	path := filepath.Join(t.TempDir(), "_benchreport")
	if err := os.WriteFile(path, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// ask runs a shell and returns the words that it prints.
func ask(t *testing.T, shell string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(shell, args...)
	cmd.Dir = "../.."
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil || errs.Len() > 0 {
		t.Fatalf("%s: %v: %s", shell, err, errs.String())
	}
	var words []string
	for line := range strings.Lines(string(out)) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t") // fish describes them
		words = append(words, word)
	}
	return words
}

// completed are lines as they stand when tab is pressed, and what is offered.
// Bash offers what replaces the part behind the last = of a word.
var completed = []struct {
	line  string
	words []string
}{
	{"benchreport co", []string{"comment", "compare", "completion"}},
	{"benchreport completion ", []string{"bash", "fish", "zsh"}},
	{"benchreport compare --form", []string{"--format"}},
	{"benchreport compare --format j", []string{"json"}},
	{"benchreport gate --format t", []string{"text"}},
	{"benchreport compare --partial ", []string{"exclude", "include"}},
	{"benchreport compare --sort p95_t", []string{"p95_tpot_ms", "p95_ttft_ms"}},
	{"benchreport compare --metrics accuracy,mean_tt", []string{"accuracy,mean_ttft_ms"}},
	{"benchreport compare --rows tool,conc", []string{"tool,concurrency"}},
	{"benchreport compare --where too", []string{"tool="}},
	{"benchreport gate --fail-on miss", []string{"missing"}},
	{"benchreport comment --forge gitl", []string{"gitlab"}},
	{"benchreport compare --title ", nil},
}

func TestCompletionBash(t *testing.T) {
	script := completionScript(t, "bash")
	ask(t, "bash", "-n", script)
	tests := append(slices.Clone(completed), []struct {
		line  string
		words []string
	}{
		{"benchreport compare --format = j", []string{"json"}}, // bash parts --format=j so
		{"benchreport compare --format =", []string{"csv", "github", "html", "json", "md", "text"}},
		{"benchreport runs testdata/vll", nil}, // left to bash, which knows files
	}...)
	for _, tc := range tests {
		words := strings.Split(tc.line, " ")
		got := ask(t, "bash", append([]string{"--norc", "-c", `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _benchreport
			((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"; complete -p benchreport >/dev/null`, "-", script}, words...)...)
		slices.Sort(got)
		if !slices.Equal(got, tc.words) {
			t.Errorf("%s: %q, want %q", tc.line, got, tc.words)
		}
	}
}

func TestCompletionFish(t *testing.T) {
	script := completionScript(t, "fish")
	ask(t, "fish", "--no-execute", script)
	tests := append(slices.Clone(completed), []struct {
		line  string
		words []string
	}{
		{"benchreport compare --format=j", []string{"--format=json"}},
		{"benchreport runs testdata/vllm-l", []string{"testdata/vllm-latency/"}},
		{"benchreport runs new=testdata/vllm-l", []string{"new=testdata/vllm-latency/"}},
		{"benchreport compare --plots testdata/vllm-l", []string{"testdata/vllm-latency/"}},
		{"benchreport gate testd", nil},
	}...)
	t.Setenv("HOME", t.TempDir())
	for _, tc := range tests {
		got := ask(t, "fish", "--no-config", "--command", `source $argv[1]; complete -C $argv[2]`, script, tc.line)
		slices.Sort(got)
		if !slices.Equal(got, tc.words) {
			t.Errorf("%s: %q, want %q", tc.line, got, tc.words)
		}
	}
}

// Zsh completes in a terminal only; that it knows the function is tested here.
func TestCompletionZsh(t *testing.T) {
	script := completionScript(t, "zsh")
	ask(t, "zsh", "-n", script)
	load := `autoload -Uz compinit; compinit -u -D; `
	if got := ask(t, "zsh", "-f", "-c", load+`source $1; print $_comps[benchreport]`, "-", script); !slices.Equal(got, []string{"_benchreport"}) {
		t.Errorf("sourced: completed by %q", got)
	}
	if got := ask(t, "zsh", "-f", "-c", `fpath=($1 $fpath); `+load+`print $_comps[benchreport]`, "-", filepath.Dir(script)); !slices.Equal(got, []string{"_benchreport"}) {
		t.Errorf("in fpath: completed by %q", got)
	}
}
