package versions

import (
	"runtime"
	"runtime/debug"
)

const module = "github.com/mmafuzz/mmafuzz"

// Program returns the version of this module, or devel.
func Program() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	version := ""
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module {
			version = m.Version
		}
	}
	if version == "" || version == "(devel)" {
		return "devel"
	}
	return version
}

// Environment describes the program and the machine, for bundles and recordings.
func Environment() map[string]string {
	return map[string]string{
		"mmafuzz": Program(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
	}
}
