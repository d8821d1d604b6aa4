// Package simd has the vector routines of package sim for amd64 processors with
// AVX2, written by the program in gen.
//
//go:generate go -C gen run . -out ../routines_amd64.s -stubs ../routines_amd64.go -pkg simd
package simd

// Level is a set of vector instructions.
type Level int

// The levels. Each includes those before it.
const (
	Portable Level = iota
	AVX2           // with F16C and FMA
	AVX512         // F, BW, DQ and VL
)

var names = [...]string{"portable", "avx2", "avx512"}

func (l Level) String() string { return names[l] }

var level = Best()

// Current returns the level that new kernels use: the best that the processor
// has, unless Use has changed it.
func Current() Level { return level }

// Use changes the level, for tests and measurements. It must not exceed Best, and
// no other goroutine may be in this package's callers.
func Use(l Level) { level = min(l, Best()) }
