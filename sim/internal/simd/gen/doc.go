// Gen writes the assembly of package simd with avo:
//
//	go generate ./sim/internal/simd
//
// It is a module of its own, so that the project does not depend on avo. This page goes
// from the arithmetic of an instruction to the routines that compute it. Algorithms have
// the numbers of arXiv:2511.10909, argument types are those of package simd, and the
// kernels that call the routines are sim/kernel_*.go.
//
//	arithmetic             kernel    files
//	FMA, FTZ-AddMul (1-4)  chain     chain, chain_subnormal, widen
//	E-FDPA (6)             efdpa     efdpa, widen, convert
//	T-FDPA (7), narrow     vector    tfdpa32_*, largest_exponent
//	(S)T-FDPA (7, 8)       tfdpa64   tfdpa64_*, largest_exponent, convert
//	GST-FDPA (9)           gstfdpa   gstfdpa, chain; tfdpa64_round
//	(G)TR-FDPA (10, 11)    trfdpa    trfdpa_join, trfdpa_fused; tfdpa64_*
//	other orders, late C   arranged  arranged
//	between two of these   word      program
//	exact sums of FP16     exact     program; efdpa
//	integers               integer   integer
//
// # Layout
//
// Outputs are in groups of 8 columns of one tile: [tile][group][row][column]. Rows of A are
// [tile][row][k], and transpose turns the columns of B into [tile][group][k][column], so
// that 8 columns of one k are one vector of float32 with AVX2 and one of float64 with
// AVX-512. A value of A is broadcast to the 8 columns. The loops over tiles and groups, and
// over the rows of a group, are code.grid in routine.go.
//
// # A step of T-FDPA
//
// A step adds L products a*b to the accumulator C: it shifts all terms to the largest
// exponent E, truncates them at F bits below it, sums what is left exactly, and rounds.
//
//   - Decode (tfdpa32_decode, tfdpa64_operands, tfdpa64_codes): an operand becomes a value
//     and an exponent code. Products of narrow formats (FP16 and less) are exact in
//     float32, all others in float64. A code is 0 for zero, counts up from emin, and stands
//     out for Inf and NaN, in one byte (narrow) or two.
//   - Largest exponent (largest_exponent): the code of a product is the sum of two codes, so
//     E of the products is a maximum over sums of integers. A bias turns it into an exponent
//     field. The exponent of C joins in step or prepare.
//   - Shift and truncate: narrow steps multiply value and product by 2^(F-E) and convert to
//     int32, which truncates. Others do no shift: a sum begins at U = 2^52 units of the last
//     bit that is kept, and with MXCSR rounding toward zero a fused multiply-add of a
//     magnitude adds the whole units that it has. That takes magnitudes: one accumulator
//     gets those of all products, the other those of the negative products, twice of which
//     is subtracted in the end.
//   - Sum: narrow steps sum in two int32, which makes 32 bits and a sign. Others sum in the
//     two accumulators, as long as the sum stays below 2^52 units.
//   - Normalise and round: narrow steps convert the integer to float32 by truncation, or to
//     odd and then to FP16 to nearest, and multiply by 2^(E-F). Others add 2^52 units of the
//     result's last place and subtract them (truncation), or convert (storeFP32, toNearest).
//   - Exceptions: where E stands out, or C is Inf or NaN, the sum in plain floating point
//     decides: of the products themselves (narrow, if Inf may occur), or of kinds
//     (tfdpa64_kinds), which are 0, 1, Inf or NaN with the factor's sign.
//
// # Routines of a step
//
// Narrow (float32, int32): transpose, decodeHalf or decodeByte, largest8, and step, fitting
// or half: truncated to FP32, the same if no sum overflows int32, or rounded to FP16. A
// vector of a step is one row by 8 columns (AVX2) or two rows by 8 columns (AVX-512, where
// a vector of products is two values of k by 8 columns: B is [k/2][column][2]).
//
// Others (float64): transpose, rows and columns, exponents, perhaps scaleRows and
// scaleColumns, largest16; then prepare (U and accumulators, with C), dot (the products),
// finish (the sum). Between these three each group of 8 outputs has three vectors in
// memory: U, and the accumulators all (of all products) and neg (of the negative ones).
// With AVX-512 fused does all three for four rows at a time, in registers: U, all and neg
// of four rows are 12 vectors, which leaves room for B, A and constants.
//
// TR-FDPA and GTR-FDPA sum products by the same routines without C (of even and odd k
// apart for GTR-FDPA, and larger16 for the two E), then join adds C by rounding down and
// closing rounds to FP32. The routine joined is fused, join and closing in one. GST-FDPA
// sums groups exactly as chains of FMAs, and groups sums the scaled sums and C.
//
// # Programs between two
//
// The kernels word and exact, for any fused sums, have other layouts: outputs that need not have
// anything in common lie side by side, one in each lane, and each has its own products. A nominal
// exponent is a power of two in float64, and a term is cut by VRNDSCALEPD or VROUNDPD.
//
// # Instruction sets
//
// A routine's name ends in its instruction set (isa.go). Code for both is one function with
// isa as its receiver, which branches where AVX-512 has masks or an instruction of its own.
// Where the arithmetic differs there are two functions, with the suffixes 2 and 512: in
// steps, as AVX-512 converts unsigned integers in any rounding mode, and in exponents and
// kinds.
//
// TestKernels and its like in package sim compare the routines of each instruction set that
// the processor has with the general path.
package main
