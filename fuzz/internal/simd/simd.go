// Package simd has the vector routines of a campaign's loop, except for the models:
// random words and the search for differing codes. Each routine has a portable version,
// which is used on processors without AVX2 and with the build tag purego.
//
//go:generate go -C ../../../sim/internal/simd/gen run ./fuzz -out ../../../../fuzz/internal/simd/routines_amd64.s -stubs ../../../../fuzz/internal/simd/routines_amd64.go -pkg simd
package simd
