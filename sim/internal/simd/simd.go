// Package simd has the vector routines of package sim for amd64 processors with AVX2,
// written by the program in gen, whose documentation goes from the arithmetic of an
// instruction to its routines.
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
