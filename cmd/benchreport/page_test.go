package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// hostile is a name that would run, load or break out where it is not text.
const hostile = `<img src=x onerror=document.title='owned'><script>document.title='owned'</script>"'|[x](http://example.com)`

// hostileLog is a concurrency sweep with the hostile name as its headings.
func hostileLog() string {
	var b strings.Builder
	for i, throughput := range []string{"120.50", "90.25", "300.75", "200.10", "250.30"} {
		fmt.Fprintf(&b, "## %s %d\n\nNamespace(backend='vllm', model='m', num_prompts=64, max_concurrency=%d)\n\n", hostile, i, 1<<i)
		fmt.Fprintf(&b, "============ Serving Benchmark Result ============\nSuccessful requests:                     64\nBenchmark duration (s):                  10.00\n")
		fmt.Fprintf(&b, "Total input tokens:                      6400\nTotal generated tokens:                  6400\nRequest throughput (req/s):              6.40\nOutput token throughput (tok/s):         %s\nTotal Token throughput (tok/s):          900.00\n", throughput)
		fmt.Fprintf(&b, "---------------Time to First Token----------------\nMean TTFT (ms):                          %d.50\nMedian TTFT (ms):                        20.00\nP99 TTFT (ms):                           90.00\n==================================================\n\n", 20+i)
	}
	return b.String()
}

// TestPage opens a report in a browser: it must sort, filter and open rows, and
// nothing of a log may run or be requested.
func TestPage(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "headless-shell"} {
		if p, err := exec.LookPath(name); err == nil {
			browser = p
			break
		}
	}
	if browser == "" {
		t.Skip("no Chromium here: the page is not opened (Debian package chromium)")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "sweep.md"), filepath.Join(dir, "out")
	if err := os.WriteFile(in, []byte(hostileLog()), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	if status := run([]string{"report", in, "-o", out, "--title", hostile}, os.Stdin, &strings.Builder{}, &stderr); status != 0 {
		t.Fatalf("report: status %d: %s", status, stderr.String())
	}

	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.WindowSize(1280, 900))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	defer stop()
	ctx, stop = chromedp.NewContext(ctx)
	defer stop()
	ctx, stop = context.WithTimeout(ctx, time.Minute)
	defer stop()
	if err := chromedp.Run(ctx); err != nil {
		t.Skipf("Chromium does not start here, so the page is not opened: %v", err)
	}
	defer chromedp.Cancel(ctx) //nolint:errcheck // waits until the browser has ended

	var mu sync.Mutex
	var troubles []string
	page := "file://" + filepath.Join(out, "report.html")
	chromedp.ListenTarget(ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			if u := strings.TrimSuffix(e.Request.URL, "#report"); u != page {
				troubles = append(troubles, "requests "+u)
			}
		case *runtime.EventExceptionThrown:
			troubles = append(troubles, "throws "+e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			troubles = append(troubles, "writes to the console")
		case *log.EventEntryAdded:
			troubles = append(troubles, "logs "+e.Entry.Text)
		}
	})

	const column = `[...document.querySelector(".table table").tHead.rows[0].cells].findIndex(c => c.textContent === "Output tok/s")`
	const values = `[...document.querySelector(".table table").tBodies[0].rows].filter(r => !r.hidden && r.className !== "opened").map(r => r.cells[` + column + `].textContent).join(" ")`
	const sort = `document.querySelector(".table table").tHead.rows[0].cells[` + column + `].querySelector("button").click()`
	filter := func(text string) string {
		return `(() => { const f = document.querySelector(".filter"); f.value = "` + text + `"; f.dispatchEvent(new Event("input")); return ` + values + `})()`
	}
	var title, heading, before, up, down, filtered, all, opened, closed, wide string
	var images, scripts, figures int
	err := chromedp.Run(ctx,
		network.Enable(), log.Enable(), runtime.Enable(),
		chromedp.Navigate(page),
		chromedp.Title(&title),
		chromedp.Text("h1", &heading),
		chromedp.Evaluate(`document.images.length`, &images),
		chromedp.Evaluate(`document.scripts.length`, &scripts),
		chromedp.Evaluate(`document.querySelectorAll("figure svg").length`, &figures),
		chromedp.Evaluate(values, &before),
		chromedp.Evaluate(sort+"; "+values, &up),
		chromedp.Evaluate(sort+"; "+values, &down),
		chromedp.Evaluate(filter("300.75"), &filtered),
		chromedp.Evaluate(filter(""), &all),
		chromedp.Evaluate(`document.querySelector("button.open").click(); document.querySelector("tr.opened").textContent`, &opened),
		chromedp.Evaluate(`document.querySelector("button.open").click(); String(document.querySelector("tr.opened"))`, &closed),
		chromedp.EmulateViewport(390, 800),
		chromedp.Evaluate(`String(document.documentElement.scrollWidth <= 390)`, &wide),
	)
	if err != nil {
		t.Fatal(err)
	}
	if title != hostile || heading != hostile {
		t.Errorf("title %q, heading %q: not the text that was given", title, heading)
	}
	if images != 0 || scripts != 1 {
		t.Errorf("%d images and %d scripts, want none and ours", images, scripts)
	}
	if figures == 0 {
		t.Error("no figures")
	}
	for _, c := range []struct{ what, got, want string }{
		{"as written", before, "120.50 90.25 300.75 200.10 250.30"},
		{"sorted", up, "90.25 120.50 200.10 250.30 300.75"},
		{"sorted again", down, "300.75 250.30 200.10 120.50 90.25"},
		{"filtered", filtered, "300.75"},
		{"unfiltered", all, "300.75 250.30 200.10 120.50 90.25"},
		{"closed row", closed, "null"},
		{"fits a phone", wide, "true"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.what, c.got, c.want)
		}
	}
	for _, want := range []string{"sweep.md:", "output_throughput300.75tok/s", "concurrency4args"} {
		if !strings.Contains(opened, want) {
			t.Errorf("an opened row does not say %q: %q", want, opened)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for _, trouble := range troubles {
		t.Error("the page " + trouble)
	}
}
