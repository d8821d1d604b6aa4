//go:build !linux

package cudatest

// Register does nothing here: there is no driver to stand in for.
func Register() {}
