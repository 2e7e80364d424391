package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/benchreport/benchreport/analyze"
	"github.com/benchreport/benchreport/forge"
	"github.com/benchreport/benchreport/render"
)

type commentCmd struct {
	gateFlags
	Repo   string `help:"The repository (default: of the CI job)." placeholder:"OWNER/NAME"`
	PR     int    `name:"pr" help:"Number of the request (default: of the CI job)." placeholder:"N"`
	Key    string `help:"Which of several comments this is." default:"main"`
	Forge  string `help:"${forges} (default: of the CI job)." placeholder:"FORGE"`
	APIURL string `name:"api-url" help:"The address of the API, used as it is." placeholder:"URL"`
	DryRun bool   `help:"Print the comment, and call nothing."`
	Gate   bool   `help:"Exit 1 where the gate does not pass."`
	From   string `help:"Post the report that --dry-run printed to this." placeholder:"FILE"`
}

// Help is shown behind the flags.
func (commentCmd) Help() string {
	return "The token comes from GITHUB_TOKEN, GITLAB_TOKEN or GITEA_TOKEN.\n\nExamples:\n  benchreport comment --dry-run --base testdata/llama-bench/old.sql \\\n    --head testdata/llama-bench/new.sql\n  benchreport comment --dry-run --base testdata/llama-bench/old.sql \\\n    --head testdata/llama-bench/new.sql --noise 0.1% --key nightly"
}

// lazily compiles an expression when it is first used: none is at start-up.
func lazily(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

var keyForm = lazily(`^[A-Za-z0-9._-]{1,64}$`)

// marker is the invisible first line by which a comment is found again. A key
// cannot end it early.
func (c *commentCmd) marker() string { return "<!-- benchreport:" + c.Key + " -->" }

// Run posts the comment.
func (c *commentCmd) Run(a *app) error {
	if !keyForm().MatchString(c.Key) || strings.Contains(c.Key, "--") {
		return fmt.Errorf("--key: expected letters, digits, dots and dashes, found %q", c.Key)
	}
	var client *forge.Client
	if !c.DryRun {
		var err error
		if client, err = c.client(os.Getenv); err != nil {
			return err
		}
	}
	var body string
	var g *analyze.Gate
	if c.From != "" {
		text, err := readReport(c.From)
		if err != nil {
			return err
		}
		body = text
	} else {
		if len(c.Base) == 0 {
			return errors.New("--base: expected the logs of the base")
		}
		var err error
		if g, _, err = c.gate(a); err != nil {
			return err
		}
		var b bytes.Buffer
		if err := render.GateComment(&b, g, c.command(), forge.Limit-256); err != nil {
			return err
		}
		body = b.String()
	}
	text := c.marker() + "\n" + body
	if c.DryRun {
		if _, err := io.WriteString(a.stdout, text); err != nil {
			return fmt.Errorf("writing the report: %w", err)
		}
	} else {
		if err := client.Post(context.Background(), c.marker(), text); err != nil {
			return explained(err)
		}
		if err := c.tellActions(a, g, body); err != nil {
			return err
		}
	}
	if c.Gate && g != nil && !g.Pass && a.status == exitDone {
		a.status = exitFound
	}
	return nil
}

// explained adds what most often is the reason.
func explained(err error) error {
	var status *forge.StatusError
	if errors.As(err, &status) && status.Code == http.StatusForbidden {
		return fmt.Errorf("%w (the token of a pull request from a fork may only read: make the report with --dry-run there, and post it with --from in a second workflow, see docs/ci.md)", err)
	}
	return err
}

// client finds out where to post, from flags and from the environment of a CI
// job.
func (c *commentCmd) client(env func(string) string) (*forge.Client, error) {
	kind := c.Forge
	if kind == "" {
		kind = "github"
		switch {
		case env("GITEA_ACTIONS") == "true":
			kind = "gitea"
		case env("GITLAB_CI") == "true" && env("GITHUB_ACTIONS") != "true":
			kind = "gitlab"
		}
	}
	f := &forge.Client{Kind: kind, API: c.APIURL, Repo: c.Repo, Number: c.PR}
	first := func(have string, names ...string) string {
		for _, n := range names {
			if have == "" {
				have = env(n)
			}
		}
		return have
	}
	number, token := "", ""
	switch kind {
	case "github":
		f.API = first(f.API, "GITHUB_API_URL")
		if f.API == "" {
			f.API = "https://api.github.com"
		}
		f.Repo, token = first(f.Repo, "GITHUB_REPOSITORY"), "GITHUB_TOKEN"
		f.Token = env(token)
	case "gitea":
		f.API = first(f.API, "GITEA_API_URL", "GITHUB_API_URL")
		f.Repo, token = first(f.Repo, "GITHUB_REPOSITORY"), "GITEA_TOKEN"
		f.Token = first("", "GITEA_TOKEN", "GITHUB_TOKEN")
	case "gitlab":
		f.API = first(f.API, "CI_API_V4_URL")
		if f.API == "" {
			f.API = "https://gitlab.com/api/v4"
		}
		f.Repo, token = first(f.Repo, "CI_PROJECT_ID"), "GITLAB_TOKEN"
		f.Token, number = env(token), env("CI_MERGE_REQUEST_IID")
	default:
		return nil, fmt.Errorf("--forge: expected github, gitlab or gitea, found %q%s", kind, didYouMean(kind, forge.Kinds))
	}
	if f.Number == 0 && number != "" {
		f.Number, _ = strconv.Atoi(number)
	}
	if f.Number == 0 && kind != "gitlab" {
		f.Number = eventNumber(env("GITHUB_EVENT_PATH"))
	}
	switch owner, name, ok := strings.Cut(f.Repo, "/"); {
	case f.Token == "":
		return nil, fmt.Errorf("no token: expected one in %s", token)
	case f.API == "":
		return nil, errors.New("--api-url: expected the address of the API")
	case f.Repo == "":
		return nil, errors.New("--repo: expected OWNER/NAME")
	case kind != "gitlab" && (!ok || !repoPart().MatchString(owner) || !repoPart().MatchString(name) || strings.Trim(owner, ".") == "" || strings.Trim(name, ".") == ""):
		return nil, fmt.Errorf("--repo: expected OWNER/NAME, found %q", f.Repo)
	case f.Number <= 0:
		return nil, errors.New("--pr: expected the number of a pull or merge request: this job is not of one")
	}
	return f, nil
}

var repoPart = lazily(`^[A-Za-z0-9._-]+$`)

// eventNumber is the number of the pull request that a GitHub Actions job runs
// for, 0 if none.
func eventNumber(path string) int {
	if path == "" {
		return 0
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var event struct {
		PullRequest struct {
			Number int `json:"number"`
		} `json:"pull_request"`
		WorkflowRun struct {
			PullRequests []struct {
				Number int `json:"number"`
			} `json:"pull_requests"`
		} `json:"workflow_run"`
	}
	if json.Unmarshal(text, &event) != nil {
		return 0
	}
	if n := len(event.WorkflowRun.PullRequests); event.PullRequest.Number == 0 && n == 1 {
		return event.WorkflowRun.PullRequests[0].Number
	}
	return event.PullRequest.Number
}

var (
	anyMarker = lazily(`^<!-- benchreport:[A-Za-z0-9._-]{1,64} -->\n`)
	verdict   = lazily(`^### (🔴|🟢|⚪) (not passed|passed): of [0-9]+ results? `)
	ownParts  = strings.NewReplacer("<details>", "", "</details>", "", "<summary>", "", "</summary>", "", "&lt;", "", "&gt;", "", "&amp;", "")
	escapes   = lazily("\\\\[\\\\\\[\\]!`*_|~${}]")
	// What is never in a report of ours, since it is escaped there: tags and
	// entities, links, pictures, mentions, references, addresses, code.
	foreign = lazily("[<&`]|\\]\\(|\\]\\[|\\]:|!\\[|@[A-Za-z0-9]|#[0-9]|://|(?i:www\\.[a-z0-9])")
)

// readReport reads a report that another step made. That step may have run code
// of strangers, so nothing is posted that a report of ours would not hold.
func readReport(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("--from: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, forge.Limit+1))
	if err != nil {
		return "", fmt.Errorf("--from: %w", err)
	}
	if len(text) > forge.Limit {
		return "", fmt.Errorf("--from: %s: expected a report of at most %d bytes", name, forge.Limit)
	}
	at := anyMarker().FindIndex(text)
	if at == nil || !utf8.Valid(text) || !verdict().Match(text[at[1]:]) {
		return "", fmt.Errorf("--from: %s:1: expected a report made by benchreport comment --dry-run, found something else", name)
	}
	body := string(text[at[1]:])
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "    benchreport ") && i > 1 && lines[i-1] == "" && strings.HasPrefix(lines[i-2], "Left out, ") {
			continue // a command behind a paragraph is code, in which nothing counts
		}
		if bad := foreign().FindString(escapes().ReplaceAllString(ownParts.Replace(line), "")); bad != "" {
			return "", fmt.Errorf("--from: %s:%d: expected what a report holds, found %q", name, i+2, bad)
		}
	}
	if strings.Count(body, "<details>") != strings.Count(body, "</details>") {
		return "", fmt.Errorf("--from: %s: expected closed parts, found an open one", name)
	}
	return body, nil
}

// tellActions shows the report in the summary of a GitHub Actions job, and
// points to the logs whose runs regressed.
func (c *commentCmd) tellActions(a *app, g *analyze.Gate, body string) error {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return nil
	}
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); path != "" {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
		}
		_, err = io.WriteString(f, body+"\n")
		if err := errors.Join(err, f.Close()); err != nil {
			return fmt.Errorf("GITHUB_STEP_SUMMARY: %w", err)
		}
	}
	if g == nil {
		return nil
	}
	told := 0
	for _, r := range g.Results {
		if r.Outcome != analyze.Regressed && r.Outcome != analyze.Incomparable {
			continue
		}
		level := "warning"
		if r.Fails {
			level = "error"
		}
		line := fmt.Sprintf("::%s file=%s,line=%d::%s", level, property(filepath.ToSlash(r.Run.Source.File)), r.Run.Source.Line, data(fmt.Sprintf("%s: %s %s", r.Name, r.Metric, r.Outcome)))
		if told++; told <= 10 { // GitHub shows no more
			fmt.Fprintln(a.stdout, line)
		}
	}
	return nil
}

// data and property escape what stands in a workflow command, so that nothing in
// a log can be one.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
