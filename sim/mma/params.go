// Package mma describes what matrix multiply-accumulate instructions are: the
// parameter program that drives every arithmetic (Params), the catalogue of
// instructions (Instruction), and the flat buffers that they work on (Batch).
// It computes nothing: package sim and package oracle are two independent
// interpreters of Params.
//
// # The parameter program
//
// One output element D is computed from K products a[k]*b[k] and C. The
// program is a fixed sequence; every part of it may be absent.
//
//	In       operands: widening, narrowing, subnormals flushed
//	Passes   parts of operands that are multiplied in several passes
//	Prod     products: exact or rounded; which exponent a product counts as having
//	Order    the sequence in which the K products are taken
//	L        products per step: the K products are taken L at a time
//	per step:
//	  Stage0 groups of products are summed            (Off: absent)
//	  Stage1 groups of those sums are summed          (Off: absent)
//	  Join   what remains and the accumulator are added in one fused sum
//	  Acc    the result is rounded to become the next accumulator
//	Late     additions after the last step: interleaved accumulators (Merge), then C
//	Out      conversion to D's format where Acc does not already give it
//	Special  NaN codes and signs of zero
//
// # Terms
//
// A term is an exact number with a nominal exponent. Nothing is normalised on
// the way: a product of significands in [1,2) has the nominal exponent
// Exp(a)+Exp(b) although its value may be up to 4 times 2 to that power, and a
// subnormal operand counts with its format's emin (arXiv:2511.10909, section
// 4.1.3). A term whose factors include a zero is null: it has no nominal
// exponent and no influence on an alignment, but its sign counts for the sign of
// a zero result. A sum of terms is null if all of them are; a sum that cancels
// is zero but not null and keeps its nominal exponent. The result of a Round is
// normalised: its nominal exponent is max(floor(log2|x|), Emin), and a zero
// result is null.
//
// # A fused sum
//
// Given terms t_i with nominal exponents e_i, and Align{F, Mode, Floor}:
//
//	E   = max over the terms that are not null of e_i, and Floor if set
//	sum = sum of Round_Mode(t_i to a multiple of 2^(E-F))      F = 0: exact
//
// The sum itself is exact; E becomes its nominal exponent (for an exact sum,
// too). If all terms are null, so is the sum. Infinities and NaNs are decided
// before any alignment: a NaN term gives NaN, infinities of both signs give
// NaN, else any infinity gives that infinity. Inf*0 gives a NaN term.
//
// # Integers
//
// Products of integers (fp.Integers) are added up exactly; a Round then brings a sum into the range
// of D, or a smaller one: Frac and Emin are the bits of it besides a sign, Emax is one less,
// Mode is RZ, and Over is OverSat or OverWrap. A program has no other parameters but L, Lanes, Order,
// Start, Stage0, Late, Prod.Xor, and of In the signs and the zero points. These are constants of a
// unit: no instruction has them as operands.
//
// # Adding an arithmetic
//
// Most new units are new values of these fields: add a constructor to
// arithmetic.go and rows to a catalogue file. A unit that needs a new field
// adds it here with its Row, and to both interpreters.
package mma

import (
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Params is the arithmetic of one instruction: a plain comparable value. The
// zero value of every field means "absent".
type Params struct {
	In    Input   `json:"in,omitzero"`
	Prod  Product `json:"prod,omitzero"`
	Scale scaleAt `json:"scale,omitzero"`
	// ScaleRound: the two scales of a block are multiplied, and their product is rounded,
	// before anything is multiplied by it. Zero: what is scaled is multiplied by both.
	ScaleRound Round `json:"scaleround,omitzero"`
	// Passes multiplies parts of the operands instead of operands: In.A and In.B say
	// what a part is. Each step takes its products in every pass if Together, else every
	// pass has steps of its own, one pass after the other.
	Passes   Passes `json:"passes,omitzero"`
	Together bool   `json:"together,omitzero"`
	Order    Order  `json:"order,omitzero"`
	L        uint8  `json:"l,omitzero"`     // products per step (of one lane), at most; 0: all K
	Lanes    uint8  `json:"lanes,omitzero"` // interleaved accumulators: lane r sums the products r, r+Lanes, ... of the sequence; 0 and 1: one
	Merge    Merge  `json:"merge,omitzero"` // how the lanes are added after the last step
	// Tail: the lanes take only the first Lanes*floor(K/Lanes) products of the sequence. The
	// others are left to steps that go on from the sum of the lanes, L at a time.
	Tail  bool  `json:"tail,omitzero"`
	Start Start `json:"start,omitzero"`
	// Bare: the lanes other than lane 0, which has c, begin with nothing and not with +0, which shows
	// where all of their products are -0. It needs StartC and several lanes of several products.
	Bare    bool    `json:"bare,omitzero"`
	Leaf    Leaf    `json:"leaf,omitzero"` // c as a term of a stage, or of the sum of the lanes
	Stage0  Stage   `json:"stage0,omitzero"`
	Stage1  Stage   `json:"stage1,omitzero"`
	Join    Join    `json:"join,omitzero"`
	Acc     Round   `json:"acc,omitzero"`
	Late    Round   `json:"late,omitzero"`
	Out     Round   `json:"out,omitzero"`
	Special Special `json:"special,omitzero"`
}

var paramRows = []Row{
	{key: "scale", Label: "product-handling", Words: "where block scales are applied", Brief: "scales applied to", Size: 2, Encoded: int(ScaleGroup)},
	{key: "passes", Label: "operand-rounding", Words: "parts of a and b whose products are added, one pass after the other", Brief: "parts of operands multiplied", Size: 3, Refined: 1, Encoded: anyValue},
	{key: "together", Label: "fusion-width", Words: "whether a step has all passes of its products", Brief: "all passes in a step", Size: 1, Encoded: anyValue},
	{key: "order", Label: "summation-order", Words: "order in which products are taken", Brief: "order of products", Size: 2, Encoded: int(Halves)},
	{key: "l", Label: "fusion-width", Words: "number of products added in one step (fusion width, L)", Brief: "products in a step (L)", Size: 2, Encoded: anyValue,
		span: func(u *use) (lo, hi int) { return 1, u.k }},
	{key: "lanes", Label: "summation-order", Words: "number of accumulators that take turns", Brief: "accumulators in turn", Encoded: anyValue,
		span: func(u *use) (lo, hi int) { return 2, min(maxLanes, u.k) }},
	{key: "merge", Label: "summation-order", Words: "how the accumulators are added: the distances between two that are added", Brief: "addition of the accumulators (distances)", Size: 2, Refined: 1, Encoded: anyValue},
	{key: "tail", Label: "summation-order", Words: "whether products beyond whole rounds of the accumulators are added after these", Brief: "products left over added last", Size: 2, Refined: 1, Encoded: anyValue},
	{key: "start", Label: "accumulate-placement", Words: "what the first step begins with", Brief: "first step begins with", Size: 2, Encoded: int(StartEmpty)},
	{key: "bare", Label: "signed-zero", Words: "whether accumulators other than that of c begin with nothing, and not with +0", Brief: "other accumulators begin with nothing", Size: 1, Refined: 1, Encoded: anyValue, Alone: "zero sign of lanes",
		used: func(p *Params, _ Formats) bool { return p.Lanes > 1 && p.Start == StartC && p.Special.NegZero }},
	{key: "leaf", Label: "accumulate-placement", Words: "place of c among the terms", Brief: "place of c among the terms", Size: 2, Refined: 1, Encoded: int(SumLast)},
}

// Weight returns the exponent of the power of two by which every product is multiplied, besides
// its scales.
func (p *Params) Weight(f Formats) int { return int(p.Prod.Shift) - int(f.Down) }

// Step returns the number of products of a step (of one lane) on k elements.
func (p *Params) Step(k int) int {
	if p.L == 0 || int(p.L) > k {
		return k
	}
	return int(p.L)
}

// Input is the conditioning of operands before they are multiplied.
type Input struct {
	// Widen, if set, is a format to which every finite a and b is converted
	// exactly before anything else: a subnormal may become normal and then
	// counts with its own exponent. The FNUZ format of A stands for that of each operand.
	Widen fp.ID `json:"widen,omitzero"`
	// Sub is what happens to subnormal a and b (in the format after Widen), and
	// with FlushPlus also to zeros: they become +0.
	Sub InFlush `json:"sub,omitzero"`
	// C is the same for c, subnormal in C's format: as first accumulator and in
	// Late. Acc is the same for the accumulator that a step hands to the next,
	// subnormal in D's format.
	C   InFlush `json:"c,omitzero"`
	Acc InFlush `json:"acc,omitzero"`
	// A and B narrow the operands, after Widen and before Sub, and NarrowC c before C:
	// as first accumulator and in Late. With Passes, part 0 of an operand is the operand
	// narrowed, and each further part is what the parts before it leave, narrowed: +0 if
	// they add up to the operand. A NaN, and an infinity that stays one, leave +0 or, with
	// Rest, a NaN.
	Rest    bool   `json:"rest,omitzero"`
	A       Narrow `json:"a,omitzero"`
	B       Narrow `json:"b,omitzero"`
	NarrowC Narrow `json:"narrowc,omitzero"`
	// NaNInf: a NaN of a, b or c counts as an infinity of its sign, before anything else.
	NaNInf bool `json:"naninf,omitzero"`
	// InfNaN: an infinity of a, b or c counts as a quiet NaN of its sign without a payload, before
	// anything else. It is for units whose numbers saturate (Acc.Over), although their results have
	// a code for infinities, and excludes NaNInf.
	InfNaN bool `json:"infnan,omitzero"`
	// OtherSignA and OtherSignB: integers of a, and of b, are read as if their format had a sign
	// if it has none, and the other way round.
	OtherSignA bool `json:"othersigna,omitzero"`
	OtherSignB bool `json:"othersignb,omitzero"`
	// ZeroA and ZeroB are the integers of a, and of b, that stand for 0: they are subtracted, with
	// all bits of the difference, before operands are multiplied. They have no more bits than the
	// operand, and either sign.
	ZeroA int32 `json:"zeroa,omitzero"`
	ZeroB int32 `json:"zerob,omitzero"`
}

var inputRows = []Row{
	{key: "in.widen", Label: "product-handling", Words: "format to which operands are converted first", Brief: "operands converted to", Size: 2, Encoded: anyValue},
	{key: "in.sub", Words: "what becomes of subnormal operands a and b", Brief: "subnormal inputs", Size: 2, Encoded: int(FlushPlus)},
	{key: "in.c", Words: "what becomes of a subnormal c", Brief: "subnormal c", Size: 2, Encoded: int(FlushPlus)},
	{key: "in.acc", Words: "what becomes of a subnormal accumulator between steps", Brief: "subnormal accumulator", Encoded: int(FlushPlus)},
	{key: "in.rest", Label: "operand-rounding", Words: "whether parts of an infinity or a NaN leave a NaN to the next part", Brief: "NaN left by infinities", Size: 1, Encoded: anyValue},
	{key: "in.naninf", Label: "nan-encoding", Words: "whether NaN operands count as infinities", Brief: "NaN operands as infinities", Size: 2, Refined: 1, Encoded: anyValue},
	{key: "in.infnan", Label: "nan-encoding", Words: "whether infinite operands count as NaNs", Brief: "infinite operands as NaNs", Size: 2, Refined: 1, Encoded: anyValue, Alone: "infinities as nans",
		used: func(_ *Params, f Formats) bool {
			return f.A.Get().HasInf() || f.B.Get().HasInf() || f.C != fp.None && f.C.Get().HasInf()
		}},
	{key: "in.othersigna", Label: "signedness", Words: "whether integers of a are read as signed if they are unsigned, and the other way round", Brief: "other signedness of a", Size: 2, Refined: 1, Alone: "sign of a"},
	{key: "in.othersignb", Label: "signedness", Words: "whether integers of b are read as signed if they are unsigned, and the other way round", Brief: "other signedness of b", Size: 2, Refined: 1, Alone: "sign of b"},
	{key: "in.zeroa", Label: "zero-point", Words: "integer that is subtracted from each a", Brief: "zero point of a", Size: 2, Refined: 1, Alone: "zero points", span: zeroSpan, used: hasZeroPoint},
	{key: "in.zerob", Label: "zero-point", Words: "integer that is subtracted from each b", Brief: "zero point of b", Size: 2, Refined: 1, Alone: "zero points", span: zeroSpan, used: hasZeroPoint},
}

// InFlush is what happens to subnormal inputs.
type InFlush = Enum[inFlushNames]

// The input flushes.
const (
	KeepSub   InFlush = iota // gradual underflow: subnormals are numbers
	FlushSign                // subnormals become zeros of the same sign (DAZ)
	FlushPlus                // subnormals and zeros become +0
)

// Product describes how a product is formed.
type Product struct {
	Exp   ProdExp `json:"exp,omitzero"`
	Round Round   `json:"round,omitzero"` // zero: the product is exact
	// Shift: every product, and its nominal exponent, is multiplied by 2^Shift before it is
	// rounded, as by Formats.Down. That is an operand of the instruction, this is the unit's.
	Shift Exp `json:"shift,omitzero"`
	// Up: the nominal exponent of an exact product is one more, as if every product of
	// significands, which lies in [1,4), were at least 2.
	Up bool `json:"up,omitzero"`
	// Zeros: a product with a zero factor has a nominal exponent like any other, in which
	// a zero counts with its format's emin; it is not null, unless a scale is zero.
	Zeros bool `json:"zeros,omitzero"`
	Gate  Gate `json:"gate,omitzero"`
	// FirstOver: a product that Round made infinite counts only in a sum without NaNs and
	// other infinities; the first of several such products is the sum.
	FirstOver bool `json:"firstover,omitzero"`
	// Xor: a product of bits (fp.B1) is 1 if one of them is, and not both.
	Xor bool `json:"xor,omitzero"`
}

var productRows = []Row{
	{key: "prod.exp", Words: "exponent by which a product is aligned", Brief: "exponent of %s", Size: 2, Encoded: int(Normalised)},
	{key: "prod.shift", Words: "exponent of the power of two by which every product is multiplied", Brief: "exponent of a factor of all %s", Size: 2, Refined: 1, Encoded: anyValue,
		span: func(*use) (lo, hi int) { return -maxDown, maxDown }},
	{key: "prod.up", Words: "whether a product is aligned as if it were at least 2", Brief: "%s aligned as if at least 2", Size: 2, Refined: 1, Encoded: anyValue},
	{key: "prod.zeros", Label: "zero-exponent", Words: "whether zero products have an exponent", Brief: "zero %s have an exponent", Size: 2, Refined: 1, Encoded: anyValue, Alone: "exponent of zeros"},
	{key: "prod.gate", Words: "whether zero times infinity or NaN is zero", Brief: "zero times infinity or NaN is zero", Size: 2, Refined: 1, Encoded: int(GateSkipNumbers), Alone: "zero gate"},
	{key: "prod.firstover", Label: "overflow", Words: "whether the first product that is too large decides", Brief: "first overflow of %s decides", Size: 1, Refined: 1, Encoded: anyValue},
	{key: "prod.xor", Words: "whether the product of two bits is their exclusive or", Brief: "exclusive or of bits", Size: 2, Refined: 1, Alone: "exclusive or"},
}

// ProdExp describes what nominal exponent an exact product has. A rounded product
// (Round.Frac != 0) is normalised by its rounding in any case.
type ProdExp = Enum[prodExpNames]

// The product exponents.
const (
	FieldSum   ProdExp = iota // Exp(a)+Exp(b), nothing normalised
	OperandSum                // floor(log2|a|)+floor(log2|b|): subnormal operands are normalised first
	Normalised                // floor(log2|a*b|): the product is normalised
)

// scaleAt describes where block scales take effect (instructions with scales only).
type scaleAt = Enum[scaleAtNames]

// The places of scales.
const (
	// ScaleProduct: each product is multiplied by its scales, before Prod.Round;
	// their exponent fields add to its nominal exponent.
	ScaleProduct scaleAt = iota
	// ScaleGroup: each sum of Stage0, after its Round, is multiplied by the
	// scales of its block. A group with a zero scale is null. Inf times a zero
	// scale is NaN.
	ScaleGroup
)

// Order is the sequence in which products are taken.
type Order = Enum[orderNames]

// The orders, as permutations of 0..K-1. A last element without a partner keeps
// its place in SwapPairs and Halves.
const (
	Ascending  Order = iota // 0 1 2 3 ...
	Descending              // K-1 ... 1 0
	SwapPairs               // 1 0 3 2 5 4 ... (high half of each 32-bit pair first)
	Split4                  // k mod 4 in {0,1} ascending, then k mod 4 in {2,3}
	EvenOdd                 // 0 2 4 ... 1 3 5 ...
	Halves                  // 0 h 1 h+1 ... with h = K/2 rounded down
)

// Start describes what the accumulator holds before the first step.
type Start = Enum[startNames]

// The starts. With StartZero and StartEmpty, C (if the instruction has one) is
// added after the last step: d = Late(sum + c). With several lanes, StartC
// gives c to lane 0 and +0 to the others, or nothing if Bare; after the last step the lanes are
// added first, s = Late(s + lane[r]) for r = 1, 2, ... unless Merge has another
// order, then what Tail left, then c. These additions are exact sums of two terms,
// rounded by Late. A lane without products is +0.
//
// For a dot product longer than K the instruction is executed repeatedly with C
// = the previous D. If the instruction has no C of its own (Formats.C is None)
// and Start is not StartC, that D is added with the rounding Acc.
const (
	StartC     Start = iota // c
	StartZero               // +0: a null term that takes part in the sign of a zero
	StartEmpty              // nothing: the first step has no accumulator term
)

// Stage sums groups of terms.
type Stage struct {
	Sum   Sum   `json:"sum,omitzero"` // Off: the stage is absent
	Split Split `json:"split,omitzero"`
	Group uint8 `json:"group,omitzero"` // Adjacent: terms per group, 0 for all; Interleaved: number of groups
	// Deep: the sums of the groups are summed in the same way again, until one is left.
	// Group is then the number of terms per group with both splits: n interleaved
	// terms are dealt to ceil(n/Group) groups.
	Deep  bool  `json:"deep,omitzero"`
	Sort  Sort  `json:"sort,omitzero"` // order of the terms of a group
	Align Align `json:"align,omitzero"`
	// Fixed: the sum of a group is fixed point: its nominal exponent is 0, plus
	// that of scales applied to it.
	Fixed bool  `json:"fixed,omitzero"`
	Plus  bool  `json:"plus,omitzero"`  // a sum that is zero is +0, as that of integers is
	Round Round `json:"round,omitzero"` // rounding of each sum; with Sequential and pairwise, of each addition
}

var stageRows = []Row{
	{key: "stage.sum", Label: "summation-order", Words: "how the terms are added", Brief: "%s", Size: 6, Encoded: int(PairHalves)},
	{key: "stage.split", Label: "summation-order", Words: "how the terms are divided into groups", Brief: "groups of %s", Size: 1, Encoded: int(Interleaved)},
	{key: "stage.group", Label: "fusion-width", Words: "size or number of the groups", Brief: "size or number of groups of %s", Size: 1, Encoded: anyValue,
		span: func(u *use) (lo, hi int) { return 2, u.k - 1 }},
	{key: "stage.deep", Label: "summation-order", Words: "whether the sums of groups are grouped again, until one is left", Brief: "groups of groups of %s", Size: 1, Refined: 1, Encoded: anyValue},
	{key: "stage.sort", Label: "summation-order", Words: "order of the terms of a group, by magnitude", Brief: "terms of %s sorted", Size: 2, Refined: 1, Encoded: int(Falling)},
	{key: "stage.fixed", Label: "product-handling", Words: "whether partial sums are fixed point", Brief: "fixed point in %s", Size: 1, Encoded: anyValue},
	{key: "stage.plus", Label: "signed-zero", Words: "whether a zero sum is always +0", Brief: "zero is +0 in %s", Size: 1, Refined: 1, Encoded: anyValue},
}

// Sum is how the terms of a group are added.
type Sum = Enum[sumNames]

// The sums. Sequential and the pairwise sums are made of fused sums of two
// terms, each with the stage's Align and Round; a group of one term is that
// term, neither aligned nor rounded. A Fused group of one term is aligned and
// rounded like any other.
const (
	Off        Sum = iota
	Fused          // all terms in one fused sum, then one Round
	Sequential     // ((t0+t1)+t2)+...
	Pairwise       // neighbours: (t0+t1)+(t2+t3); an odd last term is carried up
	PairHalves     // halves: with n terms and h = ceil(n/2), t[i]+t[i+h], repeated; an odd middle term is carried up
)

// Split is how terms are divided into groups.
type Split = Enum[splitNames]

// The splits.
const (
	Adjacent    Split = iota // runs of Group terms; the last may be shorter
	Interleaved              // Group groups; group r has the terms r, r+Group, ...
)

// Align is the alignment of a fused sum: see the package comment.
type Align struct {
	F     Frac    `json:"f,omitzero"`
	Mode  fp.Mode `json:"mode,omitzero"`  // how a term is cut at 2^(E-F); required if F is set
	Floor Exp     `json:"floor,omitzero"` // lower bound of E
	// How an adder deviates from a sum of integers: see Sticky and Negate. Bits is the
	// size of the adder: in units of its grid the sum is at least -2^Bits and below 2^Bits;
	// any other sum wraps around or, with Saturate, becomes the nearest of these numbers.
	// 0: as large as needed. All of these fields require F.
	Sticky   Sticky `json:"sticky,omitzero"`
	Negate   Negate `json:"negate,omitzero"`
	Bits     uint8  `json:"bits,omitzero"`
	Saturate bool   `json:"saturate,omitzero"`
	// Drop: a term counts as +0 if its nominal exponent is below E-Drop, as in a unit
	// whose shifter reaches no farther. 0: never.
	Drop Frac `json:"drop,omitzero"`
}

var alignRows = []Row{
	{key: "align.f", Label: "truncation-width", Words: "bits kept below the largest exponent of a term (F)", Brief: "kept bits (F)", Size: 3, Encoded: anyValue, most: MaxF, span: fracSpan},
	{key: "align.mode", Label: "alignment-rounding", Words: "how terms are rounded where they are cut", Brief: "rounding of cut terms", Encoded: int(fp.RTO)},
	{key: "align.floor", Label: "zero-exponent", Words: "least exponent to which terms are aligned, which zero has (e_zero)", Brief: "least exponent (e_zero)", Size: 2, Encoded: anyValue, span: floorSpan},
	{key: "align.sticky", Label: "alignment-rounding", Words: "what becomes of the bits that are cut off", Brief: "use of bits cut off", Size: 2, Refined: 1, Encoded: int(StickyLast)},
	{key: "align.negate", Label: "complement-negation", Words: "how terms are negated", Brief: "negation of terms", Size: 2, Refined: 1, Encoded: int(NegateFrameNumbers)},
	{key: "align.bits", Label: "overflow", Words: "bits of the sum", Brief: "bits of the sum without its sign", Size: 2, Refined: 1, Encoded: anyValue, most: MaxBits,
		span: func(*use) (lo, hi int) { return 1, MaxBits }},
	{key: "align.saturate", Label: "overflow", Words: "whether a sum that is too large becomes the largest one", Brief: "saturation of a sum", Size: 1, Encoded: anyValue},
	{key: "align.drop", Label: "special-truncation", Words: "how far below the largest exponent a term is dropped altogether", Brief: "distance of dropped terms", Size: 2, Refined: 1, Encoded: anyValue, most: MaxF, span: fracSpan},
}

// Join is the last fused sum of a step: of what the stages left and of the
// accumulator. All terms share E. The accumulator may be cut differently: this
// is where CDNA3's asymmetry comes from (arXiv:2511.10909, Alg. 10 and 11).
type Join struct {
	Align Align `json:"align,omitzero"` // of the terms, and of the accumulator where CF and CMode do not say otherwise
	// CF, CMode: the accumulator is cut at 2^(E-CF) by CMode. 0: like the terms.
	CF    Frac    `json:"cf,omitzero"`
	CMode fp.Mode `json:"cmode,omitzero"`
	// CDrop: the accumulator counts as +0 if its nominal exponent is below
	// E-CDrop (E still includes it, which then changes nothing). 0: never.
	CDrop Frac `json:"cdrop,omitzero"`
	// CNorm: the nominal exponent of the accumulator is floor(log2|x|), also where it is
	// subnormal.
	CNorm bool `json:"cnorm,omitzero"`
	// CBeside: E is the largest exponent of the other terms, and that of the accumulator
	// only if these are all null. An accumulator above E keeps its upper bits, unless
	// Align.Bits takes them.
	CBeside bool `json:"cbeside,omitzero"`
	// CLost: an infinite or NaN accumulator counts as +0 beside finite terms if the largest
	// of their nominal exponents is CLost or more: where emulators take its exponent from
	// frexp, which gives 0, they drop it as if it were small. 0: never.
	CLost Exp `json:"clost,omitzero"`
	// CGrid: E is the exponent of the accumulator, however large the other terms are; that
	// of a zero is emin of D's format. Terms above E keep their upper bits.
	CGrid bool `json:"cgrid,omitzero"`
	// Apart: the positive and the negative terms are summed apart, and each of the two sums
	// is rounded by Post, or by Acc where Post is absent, before they are added.
	Apart bool `json:"apart,omitzero"`
	// Plus: a sum that is zero is +0, as that of integers is, although the additions after the
	// last step have the signs of Special.NegZero, without which, or without such additions, no
	// program has it.
	Plus bool `json:"plus,omitzero"`
	// Post normalises and rounds the sum before Acc does.
	Post Round `json:"post,omitzero"`
}

var joinRows = []Row{
	{key: "join.cf", Label: "truncation-width", Words: "bits of the accumulator kept below the largest exponent", Brief: "kept bits (F) of c", Size: 2, Encoded: anyValue, most: MaxF, span: fracSpan},
	{key: "join.cmode", Label: "alignment-rounding", Words: "how the accumulator is rounded where it is cut", Brief: "rounding of a cut c", Size: 2, Encoded: int(fp.RTO)},
	{key: "join.cdrop", Label: "special-truncation", Words: "how far below the largest exponent the accumulator is dropped altogether", Brief: "distance of a dropped c", Size: 2, Encoded: anyValue, most: MaxF, span: fracSpan},
	{key: "join.cnorm", Label: "zero-exponent", Words: "whether a subnormal accumulator has its own exponent", Brief: "own exponent of a subnormal c", Size: 2, Refined: 1, Encoded: anyValue, Alone: "normalised c"},
	{key: "join.cbeside", Label: "truncation-width", Words: "whether the terms are aligned without the accumulator", Brief: "terms aligned without c", Size: 2, Refined: 1, Encoded: anyValue, Alone: "c beside"},
	{key: "join.clost", Label: "lost-infinity", Words: "exponent of finite terms from which an infinite or NaN accumulator is dropped", Brief: "exponent that drops an infinite c", Size: 2, Refined: 1, Encoded: anyValue,
		span: func(u *use) (lo, hi int) {
			lo, _ = u.exponents()
			return lo, int(u.f.A.Get().Emax()+u.f.B.Get().Emax()) + 1
		}},
	{key: "join.cgrid", Label: "truncation-width", Words: "whether the terms are aligned with the accumulator alone", Brief: "terms aligned with c alone", Size: 2, Refined: 1, Encoded: anyValue},
	{key: "join.apart", Label: "intermediate-rounding", Words: "whether positive and negative terms are summed and rounded apart", Brief: "signs summed apart", Size: 2, Refined: 1, Encoded: anyValue},
	{key: "join.plus", Label: "signed-zero", Words: "whether a zero sum of a step is always +0", Brief: "zero is +0 in steps", Size: 1, Refined: 1, Encoded: anyValue, Alone: "zero sums of steps",
		used: func(p *Params, _ Formats) bool { return p.Special.NegZero && p.Late != (Round{}) }},
}

// Frac is a number of fraction bits; 0 means exact (nothing is cut).
type Frac uint8

// Exp is an exponent bound; 0 means none.
type Exp int16

// Round is a rounding of a number to Frac fraction bits at its own exponent,
// as conversion to a floating-point format does. With e = max(floor(log2|x|),
// Emin) the result is a multiple of 2^(e-Frac). The zero Round changes nothing.
type Round struct {
	Frac  Frac     `json:"frac,omitzero"` // 0: not rounded (Emax and Flush still apply), but see Powers
	Mode  fp.Mode  `json:"mode,omitzero"` // required if Frac is set
	Emin  Exp      `json:"emin,omitzero"` // 0: none, no gradual underflow (but see HasEmin)
	Emax  Exp      `json:"emax,omitzero"` // 0: none, no overflow
	Flush OutFlush `json:"flush,omitzero"`
	// Over is what a result of exponent above Emax becomes. OverMax, OverIEEE and OverSat
	// give the largest number of Frac+1 significant bits and exponent Emax. Where D's
	// format (for ScaleRound that of the scales) has a NaN in the place of this number
	// (E4M3: 480), and Frac and Emax are those of the format, the number below it is the
	// largest.
	Over Over `json:"over,omitzero"`
}

var roundRows = []Row{
	{key: "round.frac", Words: "fraction bits kept in rounding", Brief: "fraction bits of %s", Size: 2, Encoded: anyValue, most: MaxFrac, span: (*use).roundingSpan},
	{key: "round.mode", Words: "rounding mode", Brief: "rounding of %s", Encoded: int(fp.RTO)},
	{key: "round.emin", Words: "least exponent of normal numbers", Brief: "least exponent of %s", Encoded: anyValue, span: (*use).rangeSpan},
	{key: "round.emax", Label: "overflow", Words: "largest exponent", Brief: "largest exponent of %s", Encoded: anyValue, span: (*use).rangeSpan},
	{key: "round.flush", Label: "output-ftz", Words: "when a tiny result is flushed to zero", Brief: "flush to zero of %s", Size: 1, Encoded: int(FlushResult)},
	{key: "round.over", Label: "overflow", Words: "what becomes of a number that is too large", Brief: "overflow of %s", Size: 1, Encoded: int(OverSat)},
}

// HasEmin reports whether a rounding has gradual underflow: Emin is not 0, or the range ends
// so low, at 2^7, that Emin is 0 as in E2M1 and E2M3.
func (r *Round) HasEmin() bool {
	return r.Emin != 0 || r.Frac != 0 && 0 < r.Emax && r.Emax < 7
}

// powers reports whether a rounding makes powers of two of magnitudes: it has a Mode and Frac is 0,
// in a conversion to a format of such numbers (E8M0).
func (r *Round) powers(d fp.ID) bool {
	return r.Frac == 0 && r.Mode != 0 && d != fp.None && d.Get().PowersOfTwo()
}

// OutFlush specifies when a result counts as tiny (below 2^Emin) and is flushed to
// zero. It requires Emin.
type OutFlush = Enum[outFlushNames]

// The output flushes.
const (
	NoFlush     OutFlush = iota
	FlushBefore          // tiny if |x| < 2^Emin before rounding
	FlushAfter           // tiny if x rounded to Frac bits with no lower exponent bound is below 2^Emin (IEEE "after rounding", x86)
	FlushResult          // tiny if the result, rounded with gradual underflow, is below 2^Emin
)

// Over is an overflow rule.
type Over = Enum[overNames]

// The overflow rules.
const (
	OverInf  Over = iota // infinity whatever the rounding mode (NVIDIA truncates to Inf)
	OverIEEE             // infinity or the largest number, as IEEE 754 gives for the mode; round-to-odd: the largest number
	OverMax              // the largest number
	OverSat              // the largest number, which infinities become as well; of integers, the nearest in range
	OverWrap             // of integers: the lowest bits
)

// Special is the treatment of special values.
type Special struct {
	NaN NaNRule `json:"nan,omitzero"`
	// NegZero: a sum that is zero has the sign that IEEE 754 section 6.3 gives:
	// if all terms are zeros of one sign, that sign; else +0, but -0 if the Round
	// that follows the sum (of the stage; Post, or Acc where Post is absent;
	// Late) has Mode RD. A term that vanishes in an alignment is a zero of the
	// term's sign. False: a zero sum is +0.
	NegZero bool `json:"negzero,omitzero"`
	// ZerosOnly: a sum is -0 only if all of its terms are zeros, or with RD: one of which every
	// term vanishes in the alignment has the sign of a cancellation, as in a unit that looks at
	// its operands for the sign of a zero and at a two's complement sum for any other. It needs
	// NegZero, and no Join.Apart.
	ZerosOnly bool `json:"zerosonly,omitzero"`
	// TinySign: a non-zero number that a Round makes zero, by rounding or by
	// flushing, keeps its sign. False: it becomes +0.
	TinySign bool `json:"tinysign,omitzero"`
	// CLeft: where C is added after the last step it is the left operand, which decides
	// which of two NaNs is the result. It needs a Start other than StartC, and a NaN
	// rule that is an order of operands.
	CLeft bool `json:"cleft,omitzero"`
	// BFirst: b goes before a where the NaN rule is an order of operands.
	BFirst bool `json:"bfirst,omitzero"`
	// Ones is how many bits at the top of its fraction are ones in a NaN that a product or a
	// sum makes, and in all NaNs with NaNQuiet and NaNQuietNeg. 0: one.
	Ones uint8 `json:"ones,omitzero"`
}

var specialRows = []Row{
	{key: "special.nan", Label: "nan-encoding", Words: "code of a NaN result", Brief: "NaN code", Refined: int(NaNOfC), Encoded: int(NaNZero)},
	{key: "special.negzero", Words: "whether sums can be -0", Brief: "sums can be -0", Encoded: anyValue},
	{key: "special.zerosonly", Words: "whether a sum is -0 only if all of its terms are zeros, and not where they are cut to nothing", Brief: "-0 only of zeros", Size: 2, Refined: 1, Encoded: anyValue, Alone: "zero sign of cut sums",
		used: func(p *Params, _ Formats) bool { return p.Special.NegZero && p.cuts() }},
	{key: "special.tinysign", Words: "whether a result that underflows to zero keeps its sign", Brief: "sign of underflow kept", Encoded: anyValue},
	{key: "special.cleft", Label: "nan-encoding", Words: "whether c is the left operand of its addition", Brief: "c is the left operand", Size: 1, Encoded: anyValue},
	{key: "special.bfirst", Label: "nan-encoding", Words: "whether a NaN of b goes before one of a", Brief: "NaN of b first", Size: 1, Refined: 1, Encoded: anyValue},
	{key: "special.ones", Label: "nan-encoding", Words: "ones at the top of the fraction of a NaN that an operation makes", Brief: "ones of a new NaN", Size: 1, Refined: 1, Encoded: anyValue,
		used: func(_ *Params, f Formats) bool { return f.D.Get().HasInf() },
		span: func(u *use) (lo, hi int) { return 1, int(u.f.D.Get().FracBits) }},
}

// NaNRule specifies which code a NaN result has.
type NaNRule = Enum[nanRuleNames]

// The NaN rules. "Quiet" is the code with only the top fraction bit set. In a format that has no
// NaN, such as E2M1, NaNOnes is the largest number and NaNZero +0.
const (
	NaNOnes     NaNRule = iota // sign 0, exponent and fraction all ones (NVIDIA: 7FFFFFFF, 7FFF)
	NaNQuiet                   // positive quiet (7FC00000)
	NaNQuietNeg                // negative quiet (FFC00000)
	// NaNFirst: the first NaN operand, made quiet, its payload left-aligned in
	// D's format and its sign kept; if there is none (Inf*0, Inf-Inf), negative
	// quiet. First is a, b, then their scales within a product, products in
	// sequence, then the accumulator; and in a sum of two the left one (x86,
	// Intel SDM table 4-7). What an earlier Round has rounded is an operand.
	NaNFirst
	// NaNSignal: a NaN operand as with NaNFirst, but any signalling one goes before
	// all quiet ones, the accumulator goes before the products, and Inf*0 goes
	// before a quiet accumulator. If there is none, positive quiet (Arm ARM,
	// FPProcessNaNs3 and FPMulAdd). A NaN is signalling if its format has
	// infinities, the top bit of its fraction is 0, and no Round has seen it.
	NaNSignal
	// NaNMulAdd: a NaN operand as with NaNFirst, except in a sum with products that no
	// Round has seen: there the last of these products that is a NaN counts as that of
	// a multiply-add, so that its a goes before the other terms, and these go before
	// its b. An Inf*0 among the other terms is an operand. If there is no NaN operand,
	// positive quiet (Power ISA, multiply-add: A, then what is added, then B).
	NaNMulAdd
	// NaNLarger: of the NaN operands of a product or a sum, a quiet one goes before
	// signalling ones, then one with a larger fraction in D's format, then a positive
	// one. If there is none, negative quiet (the x87 rule of Intel SDM table 4-7, which
	// QEMU applies to SSE too). The result of an operation is an operand of the next.
	NaNLarger
	// NaNOfC: a NaN of c is the result, code for code: nothing makes it quiet. Any other NaN
	// is positive quiet. C must have D's format.
	NaNOfC
	// NaNZero: a Round with Frac makes +0 of a NaN. An infinity that D does not have is a NaN
	// all the same.
	NaNZero
)

// OperandNaN reports whether a NaN result is one of the NaN operands, if there are any:
// then the result depends on their order.
func (s *Special) OperandNaN() bool { return s.NaN >= NaNFirst && s.NaN <= NaNLarger }

// NegativeNaN reports whether a NaN that an operation makes is negative.
func (s *Special) NegativeNaN() bool {
	return s.NaN == NaNQuietNeg || s.NaN == NaNFirst || s.NaN == NaNLarger
}
