//go:build !amd64 || purego

package simd

// Best returns the highest level that the processor and the operating system
// support: this build has no other.
func Best() Level { return Portable }
