package parse

import (
	"path/filepath"
	"runtime"
	"testing"
)

// A label is told from a path on every system: drive letters are no labels.
func TestParseInput(t *testing.T) {
	for arg, want := range map[string]Input{
		"a.log":                     {"", "a.log", 0, false},
		"base=a.log":                {"base", "a.log", 0, false},
		"base=a.log@x4":             {"base", "a.log", 4, false},
		"a.log@x2":                  {"", "a.log", 2, false},
		"base=-":                    {"base", "-", 0, false},
		"out/tp=8/a.log":            {"", "out/tp=8/a.log", 0, false},
		`C:\logs\a.log`:             {"", `C:\logs\a.log`, 0, false},
		`C:/logs/a.log`:             {"", `C:/logs/a.log`, 0, false},
		`base=C:\logs\a.log`:        {"base", `C:\logs\a.log`, 0, false},
		`base=C:\logs\a.log@x4`:     {"base", `C:\logs\a.log`, 4, false},
		`C:\logs\tp=8\a.log`:        {"", `C:\logs\tp=8\a.log`, 0, false},
		`\\host\share\tp=8\a.log`:   {"", `\\host\share\tp=8\a.log`, 0, false},
		`base=\\host\share\a=b.log`: {"base", `\\host\share\a=b.log`, 0, false},
	} {
		got, err := ParseInput(arg)
		if err != nil || got != want {
			t.Errorf("%s: got %+v, %v, want %+v", arg, got, err, want)
		}
	}
}

// A file is shown with slashes on every system, since reports link to it.
func TestShownPath(t *testing.T) {
	path := filepath.Join("logs", "sub", "..", "a.log")
	if got := ShownPath(path); got != "logs/a.log" {
		t.Errorf("%s: got %s", path, got)
	}
	if got := stem(filepath.Join("logs", "a.log.gz")); got != "a" {
		t.Errorf("stem: got %s", got)
	}
	if runtime.GOOS == "windows" {
		if got := ShownPath(`D:\other\a.log`); got != "D:/other/a.log" {
			t.Errorf("got %s", got)
		}
	}
}
