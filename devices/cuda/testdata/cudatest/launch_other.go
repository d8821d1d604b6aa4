//go:build !(linux && (amd64 || arm64))

package cudatest

// Register does nothing here: there is no driver to stand in for.
func Register() {}
