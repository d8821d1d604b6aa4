package main

// Exponent codes of one byte: 0 for zero, codeOne for the format's emin and on,
// codeSpecial for Inf and NaN. A product's code is the sum of its factors'.
const (
	codeOne     = 32
	codeSpecial = 127
)
