//go:build !amd64 || purego

package sim

// newVector returns nil: there are no vector instructions.
func newVector(*narrow) kernel { return nil }
