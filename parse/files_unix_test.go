//go:build unix

package parse

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const served = "============ Serving Benchmark Result ============\nSuccessful requests: 64\nOutput token throughput (tok/s): 72.17\n==================================================\n"

// What is neither a file nor a folder is told by a line and not opened, and the
// rest is read.
func TestWalk(t *testing.T) {
	t.Chdir(t.TempDir())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll("logs/locked", 0o755))
	must(os.MkdirAll("logs/.hidden", 0o755))
	must(os.WriteFile("logs/a.log", []byte(served), 0o644))
	must(os.WriteFile("logs/.hidden/b.log", []byte(served), 0o644))
	must(syscall.Mkfifo("logs/pipe", 0o644))
	must(os.Symlink("loop", "logs/loop"))
	must(os.Symlink("nowhere", "logs/dangling"))
	must(os.Symlink("..", "logs/up"))
	must(os.Symlink("/dev/zero", "logs/zero"))
	socket, err := net.Listen("unix", "logs/socket")
	must(err)
	defer socket.Close()
	must(os.Chmod("logs/locked", 0))
	defer os.Chmod("logs/locked", 0o755)

	want := []string{
		"logs/dangling: no such file or directory",
		"logs/locked: permission denied",
		"logs/loop: too many levels of symbolic links",
		"logs/pipe: neither a file nor a folder: skipped",
		"logs/socket: neither a file nor a folder: skipped",
		"logs/up: a link to a folder is not followed",
		"logs/zero: neither a file nor a folder: skipped",
	}
	if os.Geteuid() == 0 { // who may read everything
		want = slices.DeleteFunc(want, func(s string) bool { return strings.Contains(s, "locked") })
	}
	result := Files([]Input{{Path: "logs"}}, strings.NewReader(""))
	var got []string
	for _, p := range slices.Concat(result.Errors, result.Notes) {
		got = append(got, p.Error())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if len(result.Runs) != 1 || result.Runs[0].Source.File != "logs/a.log" {
		t.Errorf("%d runs", len(result.Runs))
	}
}

// A link to a folder is followed where the user names it, such as results/latest.
func TestNamedLink(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("real/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("real/sub/a.log", []byte(served), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", "latest"); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"latest", filepath.Join(".", "lat*")} {
		result := Files([]Input{{Path: path}}, strings.NewReader(""))
		if len(result.Runs) != 1 || result.Runs[0].Source.File != "latest/sub/a.log" || len(result.Notes)+len(result.Errors) > 0 {
			t.Errorf("%s: %d runs, %v %v", path, len(result.Runs), result.Notes, result.Errors)
		}
	}
}
