package probe

// Papers lists the papers in the order of their tables: the key by which Ask knows
// a paper, and its title.
var Papers = []struct{ Key, Title string }{
	{"fasi", "Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores (2021), section 3"},
	{"fttn", "Li et al.: FTTN (2024), section III"},
	{"smt", "Valpey et al.: An SMT formalization of mixed-precision matrix multiplication (2025), section 4"},
	{"clfp", "Xie et al.: Bit-accurate modeling of GPU matrix multiply-accumulate units (arXiv:2511.10909), section 3"},
}

// question is a row of the table of questions.
type question struct {
	paper, id, text string
	scale           scale // which power of two stands for 1
	find            func(*Prober) finding
}

// questions is the table. A paper's questions are asked in this order; what they
// have in common is asked of the unit once.
//
//   - fasi: section 3.1, with constants that follow from the bits that the unit
//     keeps, as section 3.2 asks.
//   - fttn: the workflow of section III; see also Table IV. An ulp is that of
//     results at 1.
//   - smt: what the authors found beyond the others: their Algorithm 1, section 4.2
//     (truncation is not rounding toward zero), and the special values of 4.4.
//   - clfp: closed-loop feature probing (section 3.1), and the details that the
//     models of section 4 distinguish.
var questions = []question{
	{"fasi", "3.1.1 inputs", "subnormal a and b are numbers", unscaled, (*Prober).inputsKept},
	{"fasi", "3.1.1 c", "subnormal c is a number", unscaled, (*Prober).cKept},
	{"fasi", "3.1.1 results", "subnormal results of normal operands", unscaled, (*Prober).sumsKept},
	{"fasi", "3.1.2 products", "products are exact", unscaled, (*Prober).productsExact},
	{"fasi", "3.1.2 roundings", "terms of a sum with 1 that are lost one by one", productScale, (*Prober).lostTerms},
	{"fasi", "3.1.2 order", "the place of the largest term decides what is lost", productScale, (*Prober).largestFirst},
	{"fasi", "3.1.3 sum", "rounding direction of the sum", unscaled, (*Prober).sumDirection},
	{"fasi", "3.1.3 result", "rounding direction of the result", unscaled, (*Prober).resultDirection},
	{"fasi", "3.1.4 extra bits", "bits below the last of d to which terms are aligned", unscaled, (*Prober).extraBits},
	{"fasi", "3.1.4 addition", "partial sums are normalised after a carry", cScale, (*Prober).normalisedUp},
	{"fasi", "3.1.4 subtraction", "partial sums are normalised after a cancellation", productScale, (*Prober).normalisedDown},
	{"fasi", "3.1.4 carry", "bits for carries", unscaled, (*Prober).carryBits},
	{"fasi", "3.1.4 monotonicity", "a larger c never gives a smaller result", cScale, (*Prober).monotone},

	{"fttn", "T_si_no", "subnormal a and b give a normal product", unscaled, (*Prober).inputsKept},
	{"fttn", "T_ni_so", "normal a and b give a subnormal result", unscaled, (*Prober).resultsKept},
	{"fttn", "T_sa", "a subnormal c comes back", unscaled, (*Prober).cReturns},
	{"fttn", "T_1_bit", "1 - ulp/2 is exact: there is an extra bit at least", cScale, (*Prober).oneBit},
	{"fttn", "T_rnd_dir", "direction in which 1 + x is rounded", unscaled, (*Prober).sumDirection},
	{"fttn", "T_3_bits_fin_rnd", "extra bits of the sum", productScale, (*Prober).threeBits},
	{"fttn", "T_prod", "direction in which a single product is rounded, with c = 0", unscaled, (*Prober).productDirection},
	{"fttn", "T_blk_fma_width", "products that are added before they are rounded", unscaled, (*Prober).blockWidth},
	{"fttn", "T_pres_extra_acc", "extra bits are preserved: 1 + 3 ulp/2 is above 1", cScale, (*Prober).preserved},
	{"fttn", "T_acc_order", "the order of 1 and four times ulp/4 matters", productScale, (*Prober).orderMatters},

	{"smt", "Step 1", "products are exact", unscaled, (*Prober).productsExact},
	{"smt", "Step 2c", "bits of padding below d's last", unscaled, (*Prober).extraBits},
	{"smt", "Step 3", "2 - 2^-40: aligned terms are truncated before they are added", cScale, (*Prober).truncates},
	{"smt", "Step 4", "bits of padding above", unscaled, (*Prober).carryBits},
	{"smt", "Step 5", "the order of terms matters", productScale, (*Prober).largestFirst},
	{"smt", "Step 6", "partial sums are normalised", cScale, (*Prober).normalisedUp},
	{"smt", "Step 8", "rounding direction of the result", unscaled, (*Prober).resultDirection},
	{"smt", "zero: x-x", "sign of the zero 1 - 1", unscaled, (*Prober).cancelledSign},
	{"smt", "zero: -0", "sign of a sum of negative zeros", unscaled, (*Prober).negativeZeros},
	{"smt", "zero: tiny", "sign of a negative result too small for d", unscaled, (*Prober).tinySign},
	{"smt", "NaN operand", "code for each kind of NaN operand", unscaled, (*Prober).nanOperands},
	{"smt", "NaN Inf*0", "code for Inf*0", unscaled, (*Prober).infTimesZero},
	{"smt", "NaN Inf-Inf", "code for Inf-Inf", unscaled, (*Prober).infMinusInf},

	{"clfp", "1 determinism", "the same input gives the same result again", unscaled, (*Prober).deterministic},
	{"clfp", "1 position", "all outputs of a tile are computed alike", unscaled, (*Prober).positions},
	{"clfp", "2 order", "summation tree: ( ) adds, [ ] fused sums, { } exact ones", unscaled, (*Prober).formula},
	{"clfp", "2 L", "products of a step", unscaled, (*Prober).stepLength},
	{"clfp", "3 F", "fraction bits to which products are aligned", unscaled, (*Prober).productBits},
	{"clfp", "3 F of c", "fraction bits to which c is aligned", unscaled, measured((*Prober).cWidth)},
	{"clfp", "3 F2", "fraction bits of the sum of products beside a larger c: the fewer of F and of those to which the sum with c is rounded, where diff has both", cScale, (*Prober).besideC},
	{"clfp", "3 align", "direction in which products are cut", unscaled, (*Prober).productCut},
	{"clfp", "3 align c", "direction in which c is cut", unscaled, (*Prober).cCut},
	{"clfp", "3 add", "rounding direction of the sum of two terms", unscaled, (*Prober).sumDirection},
	{"clfp", "3 output", "rounding direction of the result", unscaled, (*Prober).resultDirection},
	{"clfp", "3 bits", "fraction bits of results", unscaled, measured((*Prober).fraction)},
	{"clfp", "rho", "conversion of the sum to the result", unscaled, (*Prober).conversion},
	{"clfp", "zero exponent", "lower bound of the exponent to which terms are aligned", unscaled, (*Prober).leastExponent},
	{"clfp", "product exponent", "products are normalised before the alignment", unscaled, (*Prober).productNormalised},
	{"clfp", "subnormal exponent", "subnormal operands are normalised first", unscaled, (*Prober).subnormalNormalised},
	{"clfp", "product overflow", "a product beyond d's range, taken back by another", unscaled, (*Prober).productOverflow},
	{"clfp", "product underflow", "a product below d's normal range, added to a normal number", unscaled, (*Prober).productUnderflow},
	{"clfp", "overflow", "a result beyond d's largest number", unscaled, (*Prober).overflow},
}
