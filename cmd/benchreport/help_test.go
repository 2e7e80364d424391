package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// model is the command line of the program, for tests that walk it.
func model(t *testing.T) *kong.Application {
	t.Helper()
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, config: &config{}}
	parser, err := a.parser(&commands{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// helpLines is how long a help may be: it is read on one screen.
const helpLines = 40

// The help of every command fits a screen, and its examples work when they are
// pasted in a clone of the repository.
func TestHelp(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.Symlink(filepath.Join(root, "testdata"), "testdata"); err != nil {
		t.Skip(err)
	}
	t.Setenv("COLUMNS", "80")
	pages := [][]string{{"--help"}}
	for _, c := range model(t).Leaves(true) {
		pages = append(pages, []string{c.Name, "--help"})
	}
	for _, args := range pages {
		var out, errs bytes.Buffer
		if got := run(args, strings.NewReader(""), &out, &errs); got != exitDone || errs.Len() > 0 {
			t.Errorf("%s: exit %d: %s", args, got, errs.String())
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines) > helpLines {
			t.Errorf("%s: %d lines, at most %d fit a screen", args, len(lines), helpLines)
		}
		for _, l := range lines {
			if utf8.RuneCountInString(l) > 80 {
				t.Errorf("%s: wider than 80: %q", args, l)
			}
		}
		examples := pasted(lines)
		if len(examples) < 2 {
			t.Errorf("%s: %d examples, expected two", args, len(examples))
		}
		for _, e := range examples {
			// A gate may find something: then its status is 1.
			cmd := exec.Command("sh", "-c", e)
			said, err := cmd.CombinedOutput()
			if status := cmd.ProcessState.ExitCode(); err != nil && status != exitFound {
				t.Errorf("%s: exit %d: %s", e, status, said)
			}
		}
	}
}

// pasted are the commands among the lines of a help: those set in by four, with
// the lines that continue them.
func pasted(lines []string) []string {
	var out []string
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "    benchreport "):
			out = append(out, l)
		case len(out) > 0 && strings.HasSuffix(lines[i-1], `\`):
			out[len(out)-1] += "\n" + l
		}
	}
	return out
}

// A misspelt name is answered with the nearest.
func TestNearest(t *testing.T) {
	const log = "../../testdata/vllm-serve/v0.6.log"
	gate := "gate --base " + log + " --head pr=" + log
	for _, tc := range []struct{ args, stderr string }{
		{"comapre " + log, `unexpected argument comapre, did you mean "compare"?`},
		{"compare --metrcs x " + log, `unknown flag --metrcs, did you mean "--metrics"?`},
		{"compare --metrics output_troughput " + log, "(did you mean output_throughput?)"},
		{"compare --sort p99_tft_ms " + log, "(did you mean p99_ttft_ms?)"},
		{"compare --where tol=vllm-serve " + log, "(did you mean tool?)"},
		{"compare --rows modle " + log, "(did you mean model?)"},
		{"compare --by concurency " + log, "(did you mean concurrency?)"},
		{"compare --baseline v0.7 " + log, "(did you mean v0.6?)"},
		{"compare --threshold otput_throughput=3% " + log, "(did you mean output_throughput?)"},
		{"compare --format jsn " + log, `--format must be one of "md","text","html","csv","json","github"`},
		{"plan --noise 3% --metrics mean_tft_ms " + log, "(did you mean mean_ttft_ms?)"},
		{gate + " --metrics mean_tft_ms", "(did you mean mean_ttft_ms?)"},
		{gate + " --where modle=x", "(did you mean model?)"},
		{gate + " --fail-on regresed", "(did you mean regressed?)"},
		{"comment --forge githab --base " + log, "(did you mean github?)"},
	} {
		var out, errs bytes.Buffer
		if got := run(strings.Fields(tc.args), strings.NewReader(""), &out, &errs); got != exitTrouble || !strings.Contains(errs.String(), tc.stderr) {
			t.Errorf("%s: exit %d: %q, want %q in it", tc.args, got, errs.String(), tc.stderr)
		}
	}
	log0, err := filepath.Abs(log)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for text, want := range map[string]string{
		"treshold: 3%\n": ".benchreport.yaml: unknown key treshold (did you mean threshold?)",
		"waiver: []\n":   ".benchreport.yaml: unknown key waiver (did you mean waivers?)",
		"waivers: [{metrc: accuracy, reason: x}]": `unknown key "metrc" (did you mean metric?)`,
		"xyzzyplugh: 1\n":                         ".benchreport.yaml: unknown key xyzzyplugh\n",
	} {
		if err := os.WriteFile(configName, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		if got := run([]string{"runs", log0}, strings.NewReader(""), &out, &errs); got != exitTrouble || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: exit %d: %q, want %q in it", text, got, errs.String(), want)
		}
	}
}
