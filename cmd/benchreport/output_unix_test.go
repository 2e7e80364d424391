//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A full disk is told in one line, whatever is written.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	const log = "../../testdata/vllm-serve/v0.6.log"
	const gate = " --base " + log + " --head pr=" + log
	tests := []string{"formats", "version", "man", "completion bash", "--help", "compare --help", "comment --dry-run" + gate}
	for _, f := range []string{"md", "text", "html", "csv", "json", "github"} {
		tests = append(tests, "compare --format "+f+" "+log)
	}
	for _, f := range []string{"md", "text", "csv", "json"} {
		tests = append(tests, "runs --format "+f+" "+log, "plan --noise 3% --format "+f+" "+log)
	}
	for _, f := range []string{"md", "text", "json", "github"} {
		tests = append(tests, "gate --format "+f+gate)
	}
	for _, args := range tests {
		var errs bytes.Buffer
		got := run(strings.Fields(args), strings.NewReader(""), full, &errs)
		if got != exitTrouble || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "no space left on device") {
			t.Errorf("%s: exit %d: %q", args, got, errs.String())
		}
	}
	var out, errs bytes.Buffer
	if got := run([]string{"runs", log, "-o", "/dev/full"}, strings.NewReader(""), &out, &errs); got != exitTrouble || errs.String() != "benchreport: writing /dev/full: no space left on device\n" {
		t.Errorf("-o: exit %d: %q", got, errs.String())
	}
}

// A reader that has gone is no trouble to tell, and the status is that of a
// program that died of it. Files are written all the same.
func TestReaderGone(t *testing.T) {
	log, err := filepath.Abs("../../testdata/vllm-serve/v0.6.log")
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	for _, args := range []string{"runs", "runs --format json", "runs --format csv", "compare", "compare --format html", "formats", "--help"} {
		var errs bytes.Buffer
		words := strings.Fields(args)
		if !strings.HasSuffix(args, "s") && !strings.HasPrefix(args, "--") || words[0] == "runs" {
			words = append(words, log)
		}
		cmd := exec.Command("benchreport", words...)
		cmd.Stdout, cmd.Stderr = w, &errs
		_ = cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != exitPipe || errs.Len() > 0 {
			t.Errorf("%s: exit %d: %q, want %d", words, got, errs.String(), exitPipe)
		}
	}
	dir := t.TempDir()
	cmd := exec.Command("benchreport", "runs", "missing.log", log, "--lenient", "-o", "out.txt")
	cmd.Dir, cmd.Stderr = dir, w
	if err := cmd.Run(); err != nil {
		t.Errorf("nobody reads stderr: %v", err)
	}
	if names := list(t, dir); names != "out.txt" {
		t.Errorf("left: %s", names)
	}
}

// list are the names in a folder.
func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

// An interrupted program dies of the signal, and leaves nothing behind.
func TestInterrupted(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		dir := t.TempDir()
		cmd := exec.Command("benchreport", "runs", "-", "-o", "out.txt")
		cmd.Dir = dir
		stdin, err := cmd.StdinPipe() // which never ends
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for range 500 {
			if list(t, dir) != "" {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if got := list(t, dir); !strings.HasPrefix(got, tempPrefix) {
			t.Fatalf("while it runs: %q", got)
		}
		if err := cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		stdin.Close()
		if status := cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != s {
			t.Errorf("%v: died of %v", s, cmd.ProcessState)
		}
		if got := list(t, dir); got != "" {
			t.Errorf("%v: left %s", s, got)
		}
	}
}

// A pipe or a device is written, not replaced by a file, and a link stays one.
func TestOutputNoFile(t *testing.T) {
	log, err := filepath.Abs("../../testdata/vllm-serve/v0.6.log")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("pipe", 0o644); err != nil {
		t.Skip(err)
	}
	read := make(chan string)
	go func() {
		f, err := os.Open("pipe")
		if err != nil {
			close(read)
			return
		}
		defer f.Close()
		text, _ := io.ReadAll(f)
		read <- string(text)
	}()
	var out, errs bytes.Buffer
	if got := run([]string{"runs", log, "-o", "pipe"}, strings.NewReader(""), &out, &errs); got != exitDone {
		t.Fatalf("exit %d: %s", got, errs.String())
	}
	select {
	case text := <-read:
		if !strings.Contains(text, "72.17") {
			t.Errorf("through the pipe: %q", text)
		}
	case <-time.After(10 * time.Second):
		t.Error("nothing came through the pipe")
	}
	if err := os.WriteFile("old.txt", []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old.txt", "link.txt"); err != nil {
		t.Fatal(err)
	}
	if got := run([]string{"runs", log, "-o", "link.txt"}, strings.NewReader(""), &out, &errs); got != exitDone {
		t.Fatalf("exit %d: %s", got, errs.String())
	}
	text, err := os.ReadFile("old.txt")
	if info, _ := os.Lstat("link.txt"); err != nil || info.Mode()&os.ModeSymlink == 0 || !strings.Contains(string(text), "72.17") {
		t.Errorf("behind the link: %q, %v", text, err)
	}
	if got := list(t, "."); got != "link.txt old.txt pipe" {
		t.Errorf("left: %s", got)
	}
	errs.Reset()
	if got := run([]string{"runs", log, "-o", "."}, strings.NewReader(""), &out, &errs); got != exitTrouble || errs.String() != "benchreport: cannot write .: it is a folder\n" {
		t.Errorf("a folder: exit %d: %q", got, errs.String())
	}
}
