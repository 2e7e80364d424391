package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionLine(t *testing.T) {
	built := &debug.BuildInfo{GoVersion: "go1.26.0", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0a98e81"}}}
	for _, tc := range []struct {
		version, commit string
		info            *debug.BuildInfo
		want            string
	}{
		{"v1.2.3", "f58e338", built, "benchreport v1.2.3 (commit f58e338, go1.26.0)\n"}, // a release
		{"", "", built, "benchreport (devel) (commit 0a98e81, go1.26.0)\n"},
		{"", "", nil, "benchreport unknown (commit unknown, unknown)\n"},
	} {
		if got := versionLine(tc.version, tc.commit, tc.info); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
