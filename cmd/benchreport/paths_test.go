package main

import (
	"path/filepath"
	"slices"
	"testing"
)

// The command in a report can be given on another machine: no folders of this
// one, slashes, labels and replicas as they were.
func TestRelative(t *testing.T) {
	dir := t.TempDir()
	got := relative([]string{
		filepath.Join("logs", "a.log"), "base=" + filepath.Join("logs", "a.log") + "@x4",
		filepath.Join(dir, "a.log"), "new=" + filepath.Join(dir, "b.log") + "@x2", filepath.Join(dir, "tp=8", "c.log"), "-", "a.log@xmany",
	})
	want := []string{"logs/a.log", "base=logs/a.log@x4", "a.log", "new=b.log@x2", "c.log", "-", "a.log@xmany"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPlotLink(t *testing.T) {
	for _, tc := range [][3]string{
		{"", "", ""},
		{"plots", "", "plots"},
		{filepath.Join("site", "img"), filepath.Join("site", "table.md"), "img"},
		{filepath.Join("img", "new"), filepath.Join("site", "table.md"), "../img/new"},
	} {
		if got := plotLink(tc[0], tc[1]); got != tc[2] {
			t.Errorf("%s from %s: got %s, want %s", tc[0], tc[1], got, tc[2])
		}
	}
}
