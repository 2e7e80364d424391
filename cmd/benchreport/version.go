package main

import (
	"fmt"
	"runtime/debug"
)

type versionCmd struct{}

// Help is shown behind the flags.
func (versionCmd) Help() string {
	return "Examples:\n  benchreport version\n  benchreport version | cut -d ' ' -f 2"
}

// Run prints version, commit and Go version, as far as the build knows them.
func (versionCmd) Run(a *app) error {
	version, commit, goVersion := "unknown", "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version, goVersion = info.Main.Version, info.GoVersion
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	fmt.Fprintf(a.stdout, "benchreport %s (commit %s, %s)\n", version, commit, goVersion)
	return nil
}
