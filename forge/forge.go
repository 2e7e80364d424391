// Package forge keeps one comment on a pull or merge request up to date, on
// GitHub, GitLab and Gitea.
//
// It needs three calls of each: list, create, update. They are made here, with
// one rule for retries, redirects and what may be said of a token, rather than
// with a client library a forge and three sets of such rules.
package forge

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Limit is how long a comment may be, in bytes. GitHub counts characters, so
// this is on the safe side.
const Limit = 65536

// Kinds are the forges that a Client can talk to.
var Kinds = []string{"github", "gitlab", "gitea"}

// A Client talks to a forge about one pull or merge request.
type Client struct {
	Kind   string // one of Kinds
	API    string // where its API is, used as it is given
	Token  string
	Repo   string // OWNER/NAME, or the number of a GitLab project
	Number int    // of the pull or merge request

	HTTP *http.Client        // nil for one with a time limit
	Wait func(time.Duration) // nil for time.Sleep
}

// A comment as all forges write it.
type comment struct {
	ID   int64  `json:"id"`
	Body string `json:"body"`
	URL  string `json:"html_url"`
	User struct {
		Type string `json:"type"`
	} `json:"user"`
}

// Post creates the comment that starts with the marker, or updates it. If
// several have the marker, because two jobs posted at once, the newest stays and
// the others point to it.
func (c *Client) Post(ctx context.Context, marker, body string) error {
	if len(body) > Limit {
		return fmt.Errorf("the comment has %d bytes, a forge takes %d", len(body), Limit)
	}
	ours, err := c.find(ctx, marker)
	if err != nil {
		return err
	}
	if len(ours) > 0 {
		err := c.update(ctx, ours[len(ours)-1].ID, body)
		if notOurs(err) { // deleted in between, or of somebody who put our marker there
			ours = nil
		} else if err != nil {
			return err
		}
	}
	if len(ours) == 0 {
		if err := c.do(ctx, http.MethodPost, c.comments(), map[string]string{"body": body}, nil); err != nil {
			return err
		}
		// Another job may have done the same; and a create whose answer was
		// lost may have been done twice.
		if ours, err = c.find(ctx, marker); err != nil {
			return err
		}
	}
	for i := 0; i+1 < len(ours); i++ {
		note := "This report was replaced by a newer one below."
		if u := ours[len(ours)-1].URL; u != "" {
			note = "This report was replaced by [a newer one](" + u + ")."
		}
		if err := c.update(ctx, ours[i].ID, note); err != nil && !notOurs(err) {
			return err
		}
	}
	return nil
}

// notOurs reports whether a comment could not be changed because it is gone or
// belongs to somebody else.
func notOurs(err error) bool {
	var status *StatusError
	return errors.As(err, &status) && (status.Code == http.StatusNotFound || status.Code == http.StatusForbidden)
}

// find lists the comments that start with the marker, oldest first. A comment
// that merely quotes it is somebody else's.
func (c *Client) find(ctx context.Context, marker string) ([]comment, error) {
	const perPage, mostPages = 100, 1000
	var ours []comment
	seen := map[int64]bool{}
	for page := 1; page <= mostPages; page++ {
		var list []comment
		q := url.Values{"per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)}}
		if c.Kind == "gitea" {
			q.Set("limit", strconv.Itoa(perPage))
		}
		header := http.Header{}
		if err := c.doHeader(ctx, http.MethodGet, c.comments()+"?"+q.Encode(), nil, &list, header); err != nil {
			return nil, err
		}
		fresh := 0
		for _, x := range list {
			if seen[x.ID] {
				continue
			}
			seen[x.ID] = true
			fresh++
			// The token of a GitHub Actions job posts as a bot: a person with our
			// marker could rewrite the report behind our back.
			forged := strings.HasPrefix(c.Token, "ghs_") && x.User.Type == "User"
			if strings.HasPrefix(strings.TrimSpace(x.Body), marker) && !forged {
				ours = append(ours, x)
			}
		}
		more := strings.Contains(header.Get("Link"), `rel="next"`) || header.Get("X-Next-Page") != "" || len(list) >= perPage
		if fresh == 0 || !more { // a server without pages gives the same again
			break
		}
	}
	// By id: forges number comments as they come, and some list the newest first.
	slices.SortFunc(ours, func(a, b comment) int { return cmp.Compare(a.ID, b.ID) })
	return ours, nil
}

func (c *Client) update(ctx context.Context, id int64, body string) error {
	method, path := http.MethodPatch, "/repos/"+c.Repo+"/issues/comments/"+strconv.FormatInt(id, 10)
	if c.Kind == "gitlab" {
		method, path = http.MethodPut, c.comments()+"/"+strconv.FormatInt(id, 10)
	}
	return c.do(ctx, method, path, map[string]string{"body": body}, nil)
}

// comments is the path of the comments of the request.
func (c *Client) comments() string {
	if c.Kind == "gitlab" {
		return "/projects/" + url.PathEscape(c.Repo) + "/merge_requests/" + strconv.Itoa(c.Number) + "/notes"
	}
	return "/repos/" + c.Repo + "/issues/" + strconv.Itoa(c.Number) + "/comments"
}

// A StatusError is an answer that is not what was asked for.
type StatusError struct {
	Forge   string
	Code    int
	Message string
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("%s answered %d %s", e.Forge, e.Code, http.StatusText(e.Code))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	return c.doHeader(ctx, method, path, in, out, nil)
}

// doHeader makes one call, and makes it again where the forge asks to: for at
// most about a minute.
func (c *Client) doHeader(ctx context.Context, method, path string, in, out any, header http.Header) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	const patience = time.Minute
	wait := c.Wait
	if wait == nil {
		wait = time.Sleep
	}
	waited := time.Duration(0)
	for try := 0; ; try++ {
		retry, err := c.call(ctx, method, path, body, out, header)
		if err == nil || retry < 0 || try == 5 {
			return err
		}
		if retry == 0 {
			retry = time.Second << try
		}
		if waited += retry; waited > patience {
			return err
		}
		wait(retry)
	}
}

// call makes one call. How long to wait before another is negative where another
// is of no use, and 0 where the forge does not say.
func (c *Client) call(ctx context.Context, method, path string, body []byte, out any, header http.Header) (time.Duration, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.API, "/")+path, bytes.NewReader(body))
	if err != nil {
		return -1, fmt.Errorf("--api-url: %w", err)
	}
	req.Header.Set("User-Agent", "benchreport")
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	switch c.Kind {
	case "gitlab":
		req.Header.Set("PRIVATE-TOKEN", c.Token)
	case "gitea":
		req.Header.Set("Authorization", "token "+c.Token)
	default:
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	client := http.Client{Timeout: 30 * time.Second}
	if c.HTTP != nil {
		client = *c.HTTP
	}
	// A redirect could carry the token elsewhere, and would turn a POST into a GET.
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := client.Do(req)
	if err != nil {
		return 0, errors.New(c.clean(err.Error()))
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, 64<<20))
	if err != nil {
		return 0, errors.New(c.clean(err.Error()))
	}
	if res.StatusCode/100 == 2 {
		for k, v := range res.Header {
			if header != nil {
				header[k] = v
			}
		}
		if out != nil {
			if err := json.Unmarshal(text, out); err != nil {
				return -1, fmt.Errorf("%s: expected JSON from %s, found something else: is that its API?", c.Kind, c.API)
			}
		}
		return 0, nil
	}
	failure := &StatusError{Forge: c.Kind, Code: res.StatusCode}
	var said struct {
		Message any `json:"message"`
	}
	if json.Unmarshal(text, &said) == nil && said.Message != nil {
		failure.Message = c.clean(fmt.Sprint(said.Message))
	}
	if res.StatusCode/100 == 3 {
		failure.Message = "it redirects, and a token is not sent elsewhere: give the address of the API with --api-url"
		return -1, failure
	}
	return c.retryAfter(res, failure), failure
}

// retryAfter is how long to wait before a call is made again.
func (c *Client) retryAfter(res *http.Response, failure *StatusError) time.Duration {
	limited := res.StatusCode == http.StatusForbidden &&
		(res.Header.Get("Retry-After") != "" || strings.Contains(strings.ToLower(failure.Message), "rate limit"))
	switch {
	case limited:
	case res.StatusCode == http.StatusTooManyRequests, res.StatusCode == http.StatusBadGateway,
		res.StatusCode == http.StatusServiceUnavailable, res.StatusCode == http.StatusGatewayTimeout:
	default:
		return -1
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil && s > 0 {
		return time.Duration(min(s, 3600)) * time.Second
	}
	return 0
}

// clean makes one short line of what a server said, without the token.
func (c *Client) clean(s string) string {
	if c.Token != "" {
		s = strings.ReplaceAll(s, c.Token, "***")
	}
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if r := []rune(s); len(r) > 300 {
		s = string(r[:300]) + "…"
	}
	return s
}
