package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	token  = "ghs_secret-token-123"
	marker = "<!-- benchreport:main -->"
)

// A fake is a forge with comments in pages of at most 30, as real ones have.
type fake struct {
	mu       sync.Mutex
	kind     string
	comments []comment
	next     int64
	calls    []string
	fail     func(r *http.Request) (code int, header http.Header, message string) // 0 for none
	after    func()                                                               // behind each call
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.after != nil {
		defer f.after()
	}
	f.calls = append(f.calls, r.Method+" "+r.URL.EscapedPath())
	want := map[string]string{"github": "Bearer " + token, "gitea": "token " + token}[f.kind]
	if got := r.Header.Get("Authorization"); got != want || f.kind == "gitlab" && r.Header.Get("PRIVATE-TOKEN") != token {
		f.answer(w, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	if f.fail != nil {
		if code, header, message := f.fail(r); code != 0 {
			for k, v := range header {
				w.Header()[k] = v
			}
			f.answer(w, code, map[string]string{"message": message})
			return
		}
	}
	list, one := "/repos/o/r/issues/7/comments", "/repos/o/r/issues/comments/"
	change := http.MethodPatch
	if f.kind == "gitlab" {
		list, change = "/projects/o%2Fr/merge_requests/7/notes", http.MethodPut
		one = list + "/"
	}
	var in comment
	if r.Method != http.MethodGet {
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			f.answer(w, http.StatusBadRequest, nil)
			return
		}
		if len(in.Body) > Limit {
			f.answer(w, http.StatusUnprocessableEntity, map[string]string{"message": "body is too long"})
			return
		}
	}
	path := r.URL.EscapedPath()
	switch {
	case path == list && r.Method == http.MethodGet:
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		from, to := min((page-1)*30, len(f.comments)), min(page*30, len(f.comments))
		if to < len(f.comments) {
			if f.kind == "gitlab" {
				w.Header().Set("X-Next-Page", strconv.Itoa(page+1))
			} else {
				w.Header().Set("Link", fmt.Sprintf(`<http://elsewhere.invalid/?page=%d>; rel="next"`, page+1))
			}
		}
		f.answer(w, http.StatusOK, f.comments[from:to])
	case path == list && r.Method == http.MethodPost:
		f.add(in.Body)
		f.answer(w, http.StatusCreated, f.comments[len(f.comments)-1])
	case strings.HasPrefix(path, one) && r.Method == change:
		id, _ := strconv.ParseInt(strings.TrimPrefix(path, one), 10, 64)
		for i := range f.comments {
			if f.comments[i].ID == id {
				f.comments[i].Body = in.Body
				f.answer(w, http.StatusOK, f.comments[i])
				return
			}
		}
		f.answer(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
	default:
		f.answer(w, http.StatusNotFound, map[string]string{"message": "Not Found"})
	}
}

func (f *fake) answer(w http.ResponseWriter, code int, v any) {
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(v)
}

func (f *fake) add(body string) {
	f.next++
	f.comments = append(f.comments, comment{ID: f.next, Body: body, URL: "https://forge.example/" + strconv.FormatInt(f.next, 10)})
}

// start serves a forge and gives a client of it that does not really wait.
func start(t *testing.T, kind string) (*fake, *Client, *time.Duration) {
	t.Helper()
	f := &fake{kind: kind}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	waited := new(time.Duration)
	return f, &Client{Kind: kind, API: server.URL, Token: token, Repo: "o/r", Number: 7, Wait: func(d time.Duration) { *waited += d }}, waited
}

func kinds(t *testing.T, test func(t *testing.T, kind string)) {
	for _, kind := range []string{"github", "gitlab", "gitea"} {
		t.Run(kind, func(t *testing.T) { test(t, kind) })
	}
}

func TestPost(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		f, c, _ := start(t, kind)
		for range 150 {
			f.add("a comment of somebody, with > " + marker)
		}
		for i := range 2 {
			if err := c.Post(context.Background(), marker, fmt.Sprintf("%s\nreport %d", marker, i)); err != nil {
				t.Fatal(err)
			}
		}
		if len(f.comments) != 151 || f.comments[150].Body != marker+"\nreport 1" {
			t.Errorf("%d comments, the last %q", len(f.comments), f.comments[len(f.comments)-1].Body)
		}
		other := "<!-- benchreport:other -->"
		if err := c.Post(context.Background(), other, other+"\nx"); err != nil || len(f.comments) != 152 {
			t.Errorf("another key: %v, %d comments, want one more", err, len(f.comments))
		}
	})
}

func TestTwoAtOnce(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		f, c, _ := start(t, kind)
		posted := false
		f.after = func() { // another job posts between our look and our post
			if !posted {
				posted = true
				f.add(marker + "\nof the other job")
			}
		}
		if err := c.Post(context.Background(), marker, marker+"\nours"); err != nil {
			t.Fatal(err)
		}
		if len(f.comments) != 2 || f.comments[1].Body != marker+"\nours" || f.comments[0].Body != "This report was replaced by [a newer one](https://forge.example/2)." {
			t.Errorf("comments: %+v", f.comments)
		}
	})
}

func TestDeletedInBetween(t *testing.T) {
	kinds(t, func(t *testing.T, kind string) {
		f, c, _ := start(t, kind)
		f.add(marker + "\nold")
		deleted := false
		f.after = func() {
			if !deleted {
				deleted = true
				f.comments = nil
			}
		}
		if err := c.Post(context.Background(), marker, marker+"\nnew"); err != nil {
			t.Fatal(err)
		}
		if len(f.comments) != 1 || f.comments[0].Body != marker+"\nnew" {
			t.Errorf("comments: %+v", f.comments)
		}
	})
}

// TestForged holds that a person who posts our marker does not get our report
// into a comment that they can edit, nor keeps it from being posted.
func TestForged(t *testing.T) {
	f, c, _ := start(t, "github")
	f.add(marker + "\nall is well")
	f.comments[0].User.Type = "User"
	if err := c.Post(context.Background(), marker, marker+"\nours"); err != nil {
		t.Fatal(err)
	}
	if len(f.comments) != 2 || f.comments[0].Body != marker+"\nall is well" || f.comments[1].Body != marker+"\nours" {
		t.Errorf("comments: %+v", f.comments)
	}

	f, c, _ = start(t, "gitlab")
	f.add(marker + "\nall is well")
	f.fail = func(r *http.Request) (int, http.Header, string) {
		if r.Method == http.MethodPut {
			return 403, nil, "not your note"
		}
		return 0, nil, ""
	}
	if err := c.Post(context.Background(), marker, marker+"\nours"); err != nil || len(f.comments) != 2 || f.comments[1].Body != marker+"\nours" {
		t.Errorf("%v, comments: %+v", err, f.comments)
	}
}

func TestRetries(t *testing.T) {
	for _, tc := range []struct {
		name    string
		code    int
		header  http.Header
		message string
		times   int // that it fails
		calls   int // of the first request
		waits   time.Duration
		ok      bool
	}{
		{"bad gateway", 502, nil, "", 2, 3, 3 * time.Second, true},
		{"unavailable", 503, nil, "", 1, 2, time.Second, true},
		{"gateway timeout", 504, nil, "", 1, 2, time.Second, true},
		{"too many", 429, http.Header{"Retry-After": {"20"}}, "", 1, 2, 20 * time.Second, true},
		{"too many for long", 429, http.Header{"Retry-After": {"20"}}, "", 9, 4, 60 * time.Second, false},
		{"too long", 429, http.Header{"Retry-After": {"600"}}, "", 9, 1, 0, false},
		{"secondary limit", 403, nil, "You have exceeded a secondary rate limit", 1, 2, time.Second, true},
		{"forbidden", 403, nil, "Resource not accessible by integration", 9, 1, 0, false},
		{"not found", 404, nil, "Not Found", 9, 1, 0, false},
		{"internal error", 500, nil, "", 9, 1, 0, false},
		{"redirect", 302, http.Header{"Location": {"https://elsewhere.invalid/"}}, "", 9, 1, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, c, waited := start(t, "github")
			left := tc.times
			f.fail = func(*http.Request) (int, http.Header, string) {
				if left == 0 {
					return 0, nil, ""
				}
				left--
				return tc.code, tc.header, tc.message
			}
			err := c.Post(context.Background(), marker, marker)
			if (err == nil) != tc.ok {
				t.Fatalf("error %v", err)
			}
			if *waited != tc.waits {
				t.Errorf("waited %v, want %v", *waited, tc.waits)
			}
			first := 0
			for _, call := range f.calls {
				if call != f.calls[0] {
					break
				}
				first++
			}
			if !tc.ok && first != tc.calls || tc.ok && first < tc.calls {
				t.Errorf("%d calls, want %d: %v", first, tc.calls, f.calls)
			}
			if err != nil && (!strings.Contains(err.Error(), strconv.Itoa(tc.code)) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("error %q: want one line with the status", err)
			}
		})
	}
}

func TestTokenIsNotSaid(t *testing.T) {
	f, c, _ := start(t, "github")
	f.fail = func(*http.Request) (int, http.Header, string) {
		return 400, nil, "bad token " + token + "\n" + strings.Repeat("x", 5000)
	}
	err := c.Post(context.Background(), marker, marker)
	if err == nil || strings.Contains(err.Error(), token) || len(err.Error()) > 1000 || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q", err)
	}
	c.Token = "wrong"
	if err := c.Post(context.Background(), marker, marker); err == nil || !strings.Contains(err.Error(), "401 Unauthorized: Bad credentials") {
		t.Errorf("error %v", err)
	}
}

func TestTooLong(t *testing.T) {
	f, c, _ := start(t, "github")
	if err := c.Post(context.Background(), marker, marker+strings.Repeat("x", Limit)); err == nil || len(f.calls) != 0 {
		t.Errorf("error %v, calls %v", err, f.calls)
	}
}

func TestSlow(t *testing.T) {
	stop := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer server.Close()
	defer close(stop)
	c := &Client{Kind: "github", API: server.URL, Token: token, Repo: "o/r", Number: 7, HTTP: &http.Client{Timeout: 10 * time.Millisecond}, Wait: func(time.Duration) {}}
	if err := c.Post(context.Background(), marker, marker); err == nil || !strings.Contains(err.Error(), "exceeded") {
		t.Errorf("error %v", err)
	}
}
