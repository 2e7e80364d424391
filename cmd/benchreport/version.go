package main

import (
	"cmp"
	"fmt"
	"runtime/debug"
)

// A release sets these with -ldflags "-X main.version=…"; other builds know
// them from what Go records.
var version, commit string

type versionCmd struct{}

// Help is shown behind the flags.
func (versionCmd) Help() string {
	return "Examples:\n  benchreport version\n  benchreport version | cut -d ' ' -f 2"
}

// Run prints version, commit and Go version.
func (versionCmd) Run(a *app) error {
	info, _ := debug.ReadBuildInfo()
	return a.print(versionLine(version, commit, info))
}

// versionLine tells of a build as far as is known.
func versionLine(version, commit string, info *debug.BuildInfo) string {
	goVersion := ""
	if info != nil {
		version, goVersion = cmp.Or(version, info.Main.Version), info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = cmp.Or(commit, s.Value)
			}
		}
	}
	return fmt.Sprintf("benchreport %s (commit %s, %s)\n", cmp.Or(version, "unknown"), cmp.Or(commit, "unknown"), cmp.Or(goVersion, "unknown"))
}
