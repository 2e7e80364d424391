package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Two reports into one folder: what is there in the end is one of them, and the
// second waits for the first.
func TestReportsDoNotMix(t *testing.T) {
	logs := []string{"../../testdata/vllm-serve/note-tensor-parallel.md", "../../testdata/vllm-serve/rate-sweep.log"}
	write := func(log, dir string) {
		var out, errs bytes.Buffer
		if got := run([]string{"report", log, "-o", dir}, strings.NewReader(""), &out, &errs); got != exitDone {
			t.Errorf("exit %d: %s", got, errs.String())
		}
	}
	read := func(dir string) string {
		var all string
		for _, name := range []string{"README.md", "report.html"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			all += string(text)
		}
		return all
	}
	var want []string
	for _, log := range logs {
		dir := t.TempDir()
		write(log, dir)
		want = append(want, read(dir))
	}
	dir := filepath.Join(t.TempDir(), "report")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() { write(logs[i%2], dir) })
	}
	wg.Wait()
	if got := read(dir); got != want[0] && got != want[1] {
		t.Error("README.md and report.html are of different reports")
	}
	if names, err := filepath.Glob(filepath.Join(dir, "*", tempPrefix+"*")); err != nil || len(names) > 0 {
		t.Errorf("left: %q, %v", names, err)
	}

	dir = t.TempDir()
	unlock, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan bool)
	go func() { write(logs[1], dir); close(done) }()
	select {
	case <-done:
		t.Error("it did not wait for another that writes there")
	case <-time.After(time.Second):
	}
	if _, err := os.Stat(filepath.Join(dir, "README.md")); err == nil {
		t.Error("it wrote although another writes there")
	}
	unlock()
	<-done
	if got := read(dir); got != want[1] {
		t.Error("another report than was asked for")
	}
}

// The lock of a program that died is nobody's.
func TestStaleLock(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, tempPrefix+"lock")
	if err := os.WriteFile(name, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * lockTime)
	if err := os.Chtimes(name, old, old); err != nil {
		t.Fatal(err)
	}
	unlock, err := lockFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	if names, _ := os.ReadDir(dir); len(names) > 0 {
		t.Errorf("left: %v", names)
	}
}
