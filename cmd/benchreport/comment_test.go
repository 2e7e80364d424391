package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/goccy/go-yaml"
)

const secret = "secret-token-123"

// A smallForge takes comments of pull and merge requests, and tells where to.
type smallForge struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
	paths  []string
	code   int // to fail with
}

func newForge(t *testing.T) *smallForge {
	t.Helper()
	f := &smallForge{}
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.paths = append(f.paths, r.Method+" "+r.URL.Path)
		if f.code != 0 {
			w.WriteHeader(f.code)
			fmt.Fprint(w, `{"message":"Resource not accessible by integration"}`)
			return
		}
		type comment struct {
			ID   int    `json:"id"`
			Body string `json:"body"`
		}
		if r.Method == http.MethodGet {
			list := []comment{}
			for i, b := range f.bodies {
				list = append(list, comment{i + 1, b})
			}
			_ = json.NewEncoder(w).Encode(list)
			return
		}
		var in comment
		_ = json.NewDecoder(r.Body).Decode(&in)
		if r.Method == http.MethodPost {
			f.bodies = append(f.bodies, in.Body)
		} else {
			f.bodies[0] = in.Body
		}
		_ = json.NewEncoder(w).Encode(in)
	}))
	t.Cleanup(f.Close)
	return f
}

// serveLog is a serving block of a run that took so long.
func serveLog(model string, seconds float64) string {
	return fmt.Sprintf("Namespace(backend='vllm', model='%s', num_prompts=64, max_concurrency=8, dataset_name='sharegpt')\n"+
		"============ Serving Benchmark Result ============\nSuccessful requests:                     64\nBenchmark duration (s):                  %.2f\n"+
		"Total input tokens:                      17809\nTotal generated tokens:                  11150\nRequest throughput (req/s):              %.2f\n"+
		"Output token throughput (tok/s):         %.2f\n---------------Time to First Token----------------\nMean TTFT (ms):                          %.2f\n"+
		"==================================================\n", model, seconds, 64/seconds, 11150/seconds, seconds)
}

// sides writes five runs of a base and of a head that is 20 % slower.
func sides(t *testing.T, dir, model string) (base, head string) {
	t.Helper()
	for i := range 5 {
		for side, seconds := range map[string]float64{"base": 100, "head": 120} {
			name := filepath.Join(dir, side, fmt.Sprintf("run-%d.log", i))
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(serveLog(model, seconds+0.3*float64(i))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return filepath.Join(dir, "base"), filepath.Join(dir, "head")
}

// environment sets the variables of a CI job, and no others.
func environment(t *testing.T, set map[string]string) {
	t.Helper()
	for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_TOKEN", "GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_EVENT_PATH", "GITHUB_STEP_SUMMARY",
		"GITLAB_CI", "GITLAB_TOKEN", "CI_API_V4_URL", "CI_PROJECT_ID", "CI_MERGE_REQUEST_IID", "GITEA_ACTIONS", "GITEA_TOKEN", "GITEA_API_URL"} {
		t.Setenv(name, set[name])
	}
}

func comment(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = run(append([]string{"comment"}, args...), strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

func TestComment(t *testing.T) {
	f := newForge(t)
	dir := t.TempDir()
	base, head := sides(t, dir, "m")
	summary, event := filepath.Join(dir, "summary.md"), filepath.Join(dir, "event.json")
	if err := os.WriteFile(event, []byte(`{"pull_request":{"number":9}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	environment(t, map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_TOKEN": secret, "GITHUB_API_URL": f.URL, "GITHUB_REPOSITORY": "a/b", "GITHUB_EVENT_PATH": event, "GITHUB_STEP_SUMMARY": summary})
	for range 2 {
		status, stdout, stderr := comment("--base", base, "--head", head)
		if status != 0 || strings.Contains(stdout+stderr, secret) {
			t.Fatalf("status %d, stdout %q, stderr %q", status, stdout, stderr)
		}
		if !regexp.MustCompile(`(?m)^::error file=\S*run-0.log,line=\d+::.*output_throughput regressed$`).MatchString(stdout) {
			t.Errorf("no annotation: %q", stdout)
		}
	}
	if len(f.bodies) != 1 || !strings.HasPrefix(f.bodies[0], "<!-- benchreport:main -->\n### 🔴 not passed: of ") || f.paths[0] != "GET /repos/a/b/issues/9/comments" {
		t.Errorf("comments %q, calls %q", f.bodies, f.paths)
	}
	// 11150 ÷ 100.6 and ÷ 120.6 are the medians; the change of the means is −16.6 %.
	if !strings.Contains(f.bodies[0], "| 🔴 |") || !strings.Contains(f.bodies[0], "−16.6 %") {
		t.Errorf("the comment does not tell the change: %s", f.bodies[0])
	}
	if text, err := os.ReadFile(summary); err != nil || strings.Count(string(text), "### 🔴 not passed") != 2 {
		t.Errorf("summary %q, %v", text, err)
	}
	if status, _, _ := comment("--base", base, "--head", head, "--gate"); status != 1 {
		t.Errorf("--gate: status %d, want 1", status)
	}
	calls := len(f.paths)
	if status, stdout, _ := comment("--base", base, "--head", head, "--dry-run"); status != 0 || !strings.HasPrefix(stdout, "<!-- benchreport:main -->\n") || len(f.paths) != calls {
		t.Errorf("--dry-run: status %d, %q, %d calls", status, stdout, len(f.paths)-calls)
	}
	f.code = http.StatusForbidden
	if status, _, stderr := comment("--base", base, "--head", head); status != 2 || !strings.Contains(stderr, "github answered 403 Forbidden: Resource not accessible by integration (the token of a pull request from a fork") {
		t.Errorf("403: status %d, %q", status, stderr)
	}
}

func TestCommentErrors(t *testing.T) {
	base, head := sides(t, t.TempDir(), "m")
	for _, tc := range []struct{ env, args, want string }{
		{"", "--repo a/b --pr 1", "no token: expected one in GITHUB_TOKEN"},
		{"GITLAB_CI=true", "--repo a/b --pr 1", "no token: expected one in GITLAB_TOKEN"},
		{"GITHUB_TOKEN=x", "--pr 1", "--repo: expected OWNER/NAME"},
		{"GITHUB_TOKEN=x", "--repo a/../b --pr 1", "--repo: expected OWNER/NAME, found"},
		{"GITHUB_TOKEN=x", "--repo a/b", "--pr: expected the number"},
		{"GITHUB_TOKEN=x", "--repo a/b --pr 1 --key x--y", "--key: expected"},
		{"GITHUB_TOKEN=x", "--repo a/b --pr 1 --forge svn", "--forge: expected github, gitlab or gitea"},
		{"GITEA_TOKEN=x", "--repo a/b --pr 1 --forge gitea", "--api-url: expected"},
		{"GITHUB_TOKEN=x", "--repo a/b --pr 1 --from nothing.md", "--from: open nothing.md"},
	} {
		env := map[string]string{}
		if name, value, ok := strings.Cut(tc.env, "="); ok {
			env[name] = value
		}
		environment(t, env)
		status, _, stderr := comment(append([]string{"--base", base, "--head", head}, strings.Fields(tc.args)...)...)
		if status != 2 || !strings.Contains(stderr, tc.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s %s: status %d, %q, want %q", tc.env, tc.args, status, stderr, tc.want)
		}
	}
}

// TestCommentFrom posts what another step made, and nothing that a stranger put
// into it.
func TestCommentFrom(t *testing.T) {
	f := newForge(t)
	dir := t.TempDir()
	base, head := sides(t, dir, `org/@somebody #12 <b> [x](http://www.example.com) | ![i](y) fixes #3 &#64;x </details> <!-- benchreport:main -->`)
	for side, seconds := range map[string]float64{base: 100, head: 100} { // with a second model the first has a name
		if err := os.WriteFile(filepath.Join(side, "other.log"), []byte(serveLog("other", seconds)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	environment(t, map[string]string{"GITHUB_TOKEN": secret, "GITHUB_API_URL": f.URL, "GITHUB_REPOSITORY": "a/b"})
	status, report, stderr := comment("--base", base, "--head", head, "--dry-run", "--key", "fork")
	if status != 0 {
		t.Fatal(stderr)
	}
	from := func(text string) (int, string) {
		name := filepath.Join(dir, "report.md")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		status, _, stderr := comment("--from", name, "--pr", "7")
		return status, stderr
	}
	if !strings.Contains(report, "somebody") {
		t.Fatalf("the hostile name is not in the report: %s", report)
	}
	if status, stderr := from(report); status != 0 {
		t.Fatalf("our own report: %s\n%s", stderr, report)
	}
	if want := strings.Replace(report, "benchreport:fork", "benchreport:main", 1); len(f.bodies) != 1 || f.bodies[0] != want {
		t.Errorf("posted %q", f.bodies)
	}
	for _, bad := range []string{
		"hello", "", "### 🟢 passed: of 1 result 1 unchanged\n",
		report + "\n@everyone\n", report + "\n[x](y)\n", report + "\n<img src=x>\n", report + "\nfixes #12\n", report + "\nhttps://example.com\n",
		report + "\n<!-- benchreport:other -->\n", report + "\n<details>\n", report + "\n```\n", report + "\n![x][y]\n", report + strings.Repeat("x", 70000),
		report + "\n\\@everyone\n", report + "\n&#64;everyone\n", report + "\n\\#12\n", report + "\n- x\n\n    @everyone\n", report + "\n    benchreport @everyone\n", report + "\nwww.example.com\n",
		"<!-- benchreport:fork -->\n# hi\n", report + "\n\xff\n",
	} {
		if status, stderr := from(bad); status != 2 || !strings.Contains(stderr, "--from: ") {
			t.Errorf("%.200q: status %d, %q", strings.TrimPrefix(bad, report), status, stderr)
		}
	}
	if len(f.bodies) != 1 {
		t.Errorf("%d comments", len(f.bodies))
	}
}

// TestCommentSize holds that one regression of 1,200 pairs is still told.
func TestCommentSize(t *testing.T) {
	dir := t.TempDir()
	var base, head strings.Builder
	for i := range 1200 {
		seconds := 100.0
		if i == 777 {
			seconds = 150
		}
		base.WriteString(serveLog(fmt.Sprintf("org/model-%04d", i), 100) + "\n")
		head.WriteString(serveLog(fmt.Sprintf("org/model-%04d", i), seconds) + "\n")
	}
	for name, text := range map[string]string{"base.log": base.String(), "head.log": head.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	status, out, stderr := comment("--base", filepath.Join(dir, "base.log"), "--head", filepath.Join(dir, "head.log"), "--noise", "2%", "--dry-run")
	if status != 0 || len(out) > 65536 {
		t.Fatalf("status %d, %d bytes, %s", status, len(out), stderr)
	}
	if !strings.Contains(out, "model-0777") || !strings.Contains(out, "Left out, as a comment has only so much room: ") || !strings.Contains(out, "    benchreport gate --base base.log --head head.log") {
		t.Errorf("the regression, or what was left out, is not told: %.600s", out)
	}
}

// A step is what the tests need of a step of a workflow or an action.
type step struct {
	Run string            `yaml:"run"`
	Env map[string]string `yaml:"env"`
}

// TestAction runs the shell steps of action.yml against a forge.
func TestAction(t *testing.T) {
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"inputs"`
		Runs struct {
			Using string `yaml:"using"`
			Steps []step `yaml:"steps"`
		} `yaml:"runs"`
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	if action.Runs.Using != "composite" {
		t.Errorf("using %q", action.Runs.Using)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		comment string
		bodies  int
	}{{"true", 1}, {"false", 0}} {
		f := newForge(t)
		dir := t.TempDir()
		base, head := sides(t, dir, "m")
		summary := filepath.Join(dir, "summary.md")
		given := map[string]string{"base": base, "head": head, "comment": tc.comment, "threshold": "2%\nmean_ttft_ms=5%", "token": secret}
		env := append(os.Environ(), "RUNNER_TEMP="+dir, "GITHUB_ACTIONS=true", "GITHUB_API_URL="+f.URL, "GITHUB_REPOSITORY=a/b", "GITHUB_EVENT_PATH="+eventFile(t, dir), "GITHUB_STEP_SUMMARY="+summary)
		var out []byte
		var failed error
		for _, s := range action.Runs.Steps {
			if s.Run == "" {
				continue
			}
			stepEnv := env
			for name, value := range s.Env {
				stepEnv = append(stepEnv, name+"="+expression.ReplaceAllStringFunc(value, func(e string) string {
					what := expression.FindStringSubmatch(e)[1]
					if what == "github.action_path" {
						return root
					}
					input := strings.TrimPrefix(what, "inputs.")
					if v, ok := given[input]; ok {
						return v
					}
					return action.Inputs[input].Default
				}))
			}
			if strings.Contains(s.Run, "${{") {
				t.Errorf("an expression is part of a script: %s", s.Run)
			}
			if out, failed = bash(t, dir, s.Run, stepEnv); failed != nil {
				break
			}
		}
		var exit *exec.ExitError
		if failed == nil || !asExit(failed, &exit) || exit.ExitCode() != 1 {
			t.Errorf("comment %s: %v, want exit status 1 of a regression: %s", tc.comment, failed, out)
		}
		if len(f.bodies) != tc.bodies {
			t.Errorf("comment %s: %d comments, want %d", tc.comment, len(f.bodies), tc.bodies)
		}
		if text, err := os.ReadFile(summary); err != nil || !strings.Contains(string(text), "### 🔴 not passed") {
			t.Errorf("summary %q, %v", text, err)
		}
		if bytes.Contains(out, []byte(secret)) {
			t.Error("the token is printed")
		}
	}
}

var expression = regexp.MustCompile(`\$\{\{ ([^ ]+) \}\}`)

func eventFile(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "event.json")
	if err := os.WriteFile(name, []byte(`{"pull_request":{"number":7}}`), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

func bash(t *testing.T, dir, script string, env []string) ([]byte, error) {
	t.Helper()
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here: the scripts are not run")
	}
	cmd := exec.Command(shell, "-eo", "pipefail", "-c", script)
	cmd.Dir, cmd.Env = dir, env
	return cmd.CombinedOutput()
}

// TestWorkflows runs the shell steps of the workflows in docs/ci.md, in a folder
// with a base and a benchmark that is slower.
func TestWorkflows(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := newForge(t)
	dir := t.TempDir()
	_, head := sides(t, dir, "m")
	if err := os.Rename(head, filepath.Join(dir, "measured")); err != nil {
		t.Fatal(err)
	}
	benchmark := "#!/bin/sh\nn=$(cat n 2>/dev/null || echo 0)\necho $(((n + 1) % 5)) > n\ncat measured/run-$n.log\n"
	if err := os.WriteFile(filepath.Join(dir, "run-benchmark.sh"), []byte(benchmark), 0o755); err != nil {
		t.Fatal(err)
	}
	// The test binary is the program when it is called so.
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "bin", "benchreport")); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "BASE_BRANCH=main", "HEAD_SHA=abc",
		"GITHUB_TOKEN="+secret, "GITHUB_API_URL="+f.URL, "GITHUB_REPOSITORY=a/b", "GITHUB_EVENT_PATH="+eventFile(t, dir))
	gitlab := append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "GITLAB_CI=true", "GITLAB_TOKEN="+secret, "CI_API_V4_URL="+f.URL, "CI_PROJECT_ID=42", "CI_MERGE_REQUEST_IID=5", "GITHUB_ACTIONS=")
	const prelude = "go() { :; }; gh() { echo 7; }\n"

	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(blocks) != 6 {
		t.Fatalf("%d workflows, want 6", len(blocks))
	}
	// For the audit: a table that was published, and its logs in another folder.
	if out, err := bash(t, dir, "benchreport compare measured/run-0.log > README.md && mkdir docs && mv README.md docs && echo '# x' > README.md && cp -r measured results", env); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, b := range blocks {
		var w struct {
			Jobs map[string]struct {
				Steps []step `yaml:"steps"`
			} `yaml:"jobs"`
			Performance struct {
				Script []string `yaml:"script"`
			} `yaml:"performance"`
			Steps []step `yaml:"steps"`
		}
		if err := yaml.Unmarshal([]byte(b[1]), &w); err != nil {
			t.Errorf("workflow %d: %v", i+1, err)
			continue
		}
		scripts, with := []string{}, env
		for _, job := range w.Jobs {
			w.Steps = append(w.Steps, job.Steps...)
		}
		for _, s := range w.Steps {
			if s.Run != "" {
				scripts = append(scripts, s.Run)
			}
		}
		if len(w.Performance.Script) > 0 {
			scripts, with = append(scripts, strings.Join(w.Performance.Script, "\n")), gitlab
		}
		if len(scripts) == 0 {
			t.Errorf("workflow %d has no script", i+1)
		}
		for _, s := range scripts {
			out, err := bash(t, dir, prelude+s, with)
			var exit *exec.ExitError
			gates := strings.Contains(s, "--gate") || strings.Contains(s, "benchreport gate")
			if gates && (!asExit(err, &exit) || exit.ExitCode() != 1) || !gates && err != nil {
				t.Errorf("workflow %d: %v\n%s\n%s", i+1, err, s, out)
			}
		}
	}
	// The fork's comment and the note of GitLab; the action is tested on its own.
	want := []string{"POST /repos/a/b/issues/7/comments", "POST /projects/42/merge_requests/5/notes", "PUT /projects/42/merge_requests/5/notes/1"}
	calls := strings.Join(f.paths, "\n")
	if !strings.Contains(calls, want[0]) || !strings.Contains(calls, want[1]) && !strings.Contains(calls, want[2]) {
		t.Errorf("calls %q", f.paths)
	}
}
