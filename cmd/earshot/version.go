package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// What a release is made of, set by the linker; "" in a plain build.
var (
	version string // as in 0.1.0
	commit  string // the whole hash
	date    string // of the commit, in RFC 3339, so that a build twice gives the same bytes
)

type versionCmd struct{}

// buildVersion names the release, else the revision that was built.
func buildVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

func (c *versionCmd) Run(a *app) error {
	if a.json {
		return a.writeJSON(versionJSON())
	}
	of := ""
	if commit != "" {
		of = fmt.Sprintf(", commit %.12s of %s", commit, date)
	}
	a.printf("earshot %s (%s, %s/%s%s)\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH, of)
	return nil
}

// versionJSON is the version as --json writes it.
func versionJSON() map[string]string {
	facts := map[string]string{"version": buildVersion(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
	if commit != "" {
		facts["commit"], facts["date"] = commit, date
	}
	return facts
}
