package main

import (
	"runtime"
	"runtime/debug"
)

// version is the release, set by the linker; "" in a plain build.
var version string

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
	a.printf("earshot %s (%s, %s/%s)\n", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// versionJSON is the version as --json writes it.
func versionJSON() map[string]string {
	return map[string]string{"version": buildVersion(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH}
}
