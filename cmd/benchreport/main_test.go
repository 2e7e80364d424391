package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"benchreport": main})
}

// TestScripts runs testdata/cmd/*.txtar, each a story of a user.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:           "../../testdata/cmd",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			env.Setenv("ROOT", root)
			return nil
		},
	})
}

// A script accepts any failure; the number counts.
func TestExitStatus(t *testing.T) {
	const good = "../../testdata/vllm-serve/v0.6.log"
	for _, tc := range []struct {
		args   string
		want   int
		stderr string
	}{
		{"runs " + good, 0, ""},
		{"runs --format json " + good, 0, ""},
		{"formats", 0, ""},
		{"version", 0, ""},
		{"--help", 0, ""},
		{"runs", 2, "expected"},
		{"runs --nope " + good, 2, "unknown flag"},
		{"runs --format xml " + good, 2, "--format must be one of"},
		{"runs --where model " + good, 2, "--where: expected KEY=VALUE"},
		{"runs does-not-exist.log", 2, "does-not-exist.log: no such file"},
		{"runs does-not-exist.log " + good, 2, "does-not-exist.log: no such file"},
		{"runs --lenient does-not-exist.log " + good, 0, "does-not-exist.log: no such file"},
		{"runs x=" + good + "@x0", 2, "expected a number of replicas"},
		{"runs main.go", 2, "no benchmark result"},
		{"runs main.go " + good, 0, "main.go: no benchmark result found"},
		{"runs -o /does/not/exist/x.md " + good, 2, "cannot write"},
		{"nonsense", 2, "unexpected argument"},
	} {
		var out, errs bytes.Buffer
		got := run(strings.Fields(tc.args), strings.NewReader(""), &out, &errs)
		if got != tc.want {
			t.Errorf("%s: exit %d, want %d\n%s", tc.args, got, tc.want, errs.String())
		}
		if tc.stderr == "" && errs.Len() > 0 || !strings.Contains(errs.String(), tc.stderr) {
			t.Errorf("%s: stderr %q, want %q in it", tc.args, errs.String(), tc.stderr)
		}
		if got == 0 && out.Len() == 0 {
			t.Errorf("%s: nothing on stdout", tc.args)
		}
	}
}

func TestStdin(t *testing.T) {
	log, err := os.Open("../../testdata/vllm-serve/v0.6.log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var out, errs bytes.Buffer
	if got := run([]string{"runs", "--format", "json", "mine=-"}, log, &out, &errs); got != 0 || !strings.Contains(out.String(), `"input":"mine"`) {
		t.Errorf("exit %d: %s%s", got, out.String(), errs.String())
	}
}

// The same input gives the same bytes, however many files are read at once.
func TestDeterministic(t *testing.T) {
	var first string
	for i := range 5 {
		var out, errs bytes.Buffer
		run([]string{"runs", "--format", "json", "../../testdata/vllm-serve", "../../testdata/llama-bench"}, strings.NewReader(""), &out, &errs)
		if i == 0 {
			first = out.String() + errs.String()
		} else if out.String()+errs.String() != first {
			t.Fatal("differs from run to run")
		}
	}
}
