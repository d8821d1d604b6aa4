//go:build purego || !(amd64 || arm64 || ppc64le)

package cpu

import "runtime"

// This build has no assembly, and so no instructions: see doc.go.
const arch = ""

var why = "this build has no assembly for " + runtime.GOARCH

var table []native

func control([]string) uint64 { return 0 }

func model() string { return runtime.GOARCH }
