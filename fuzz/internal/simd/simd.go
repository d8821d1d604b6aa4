// Package simd has what the loop of a campaign does with vector instructions,
// besides the models: random words and the search for differing codes. Each routine
// has a portable twin, which is used on processors without AVX2 and with the build
// tag purego.
//
//go:generate go -C ../../../sim/internal/simd/gen run ./fuzz -out ../../../../fuzz/internal/simd/routines_amd64.s -stubs ../../../../fuzz/internal/simd/routines_amd64.go -pkg simd
package simd
