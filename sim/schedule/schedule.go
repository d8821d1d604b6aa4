// Package schedule describes how software makes a matrix product D = A*B of the
// instructions of a processor: in which order, in which accumulators and in which formats
// the K products of an element of D are added. It computes nothing: package sim/gemm and
// package oracle are two independent interpreters of a Kernel.
//
// # The schedule of an element
//
// A unit (a matrix instruction, or an IEEE 754 multiply-add) adds products to an
// accumulator. Levels, outermost first, say how the sequence of k = 0..K-1 is cut into
// parts until a part is left to one accumulator, and how the partial sums of the parts
// become one:
//
//	split-K       {"cut": {"by": "count", "n": 4, "grain": 64}, "merge": {"order": "forward"}}
//	blocks of K   {"cut": {"by": "size", "n": 384}, "merge": {"order": "forward"}}
//	promotion     {"cut": {"by": "size", "n": 128}, "merge": {"order": "forward", "start": "zero"}}
//	SIMD lanes    {"cut": {"by": "lanes", "n": 8}, "merge": {"order": "4-2-1"}}
//	K slabs       {"cut": {"by": "size", "n": 8}, "merge": {"order": "chain"}}
//	pairwise sum  {"cut": {"by": "pairwise", "n": 128, "grain": 8}, "merge": {"order": "pairwise"}}
//	stream-K      {"cut": {"by": "stream", "n": 132, "grain": 32, "tile": [128, 128]}, "merge": {"order": "reverse"}}
//
// A part is a sequence again, which the next level cuts. What is left to an accumulator is
// taken in order, as many products at a time as the unit takes, the last step filled up
// with zeros. Where one product holds several schedules, each says at which elements.
//
// A Plan is a schedule for one K, written as a list of operations.
//
// The API of this package is not promised: it may change in any version.
package schedule

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Kernel is a matrix product as a library computes it. Its JSON is a file of these fields
// with "v": 1.
type Kernel struct {
	Name   string `json:"name,omitempty"`
	Source string `json:"source,omitempty"` // where it is published, or how it was found
	// When is where the kernel is known to hold; another shape is refused.
	When When `json:"when,omitzero"`
	// Unit adds the products of all schedules that have none of their own. Without one
	// the kernel is completed by the user's: see WithUnit.
	Unit *Unit `json:"unit,omitempty"`
	// CFirst: the accumulator that begins the sum starts from C instead of zero.
	CFirst bool `json:"c_first,omitempty"`
	// Scales of A and B that are no part of an instruction: Merge.Scale and the steps of
	// Epilogue multiply by them, or Dequantize does.
	ScaleA *Blocks `json:"scale_a,omitempty"`
	ScaleB *Blocks `json:"scale_b,omitempty"`
	// Dequantize: before anything else each element of A and B is multiplied by its scale and rounded to the
	// format of the unit's operand.
	Dequantize *Quantized `json:"dequantize,omitempty"`
	// Schedules are tried in order: that of an element is the first whose Where has it.
	Schedules []Schedule `json:"schedules"`
	Epilogue  []Step     `json:"epilogue,omitempty"` // what becomes of the sum, in order
}

// When is a set of shapes of matrices; the zero When is all of them.
type When struct {
	M Set `json:"m,omitempty"`
	N Set `json:"n,omitempty"`
	K Set `json:"k,omitempty"`
	// Threads is how many threads a library had when the kernel was found; it restricts
	// nothing.
	Threads int `json:"threads,omitempty"`
}

// Blocks is which elements of a matrix share a scale: Lines rows of A or columns of B, and
// K elements along K. 0: all of them.
type Blocks struct {
	Lines int `json:"lines,omitempty"`
	K     int `json:"k,omitempty"`
}

// Quantized is the formats of A and B as they are given.
type Quantized struct {
	A fp.ID `json:"a"`
	B fp.ID `json:"b"`
}

// Schedule is the order in which the products of an element of D are added.
type Schedule struct {
	Name   string  `json:"name,omitempty"`
	Where  []Where `json:"where,omitempty"` // none: everywhere
	Unit   *Unit   `json:"unit,omitempty"`
	Levels []Level `json:"levels,omitempty"` // outermost first; none: one accumulator
	// Missing are the k of products that no accumulator adds, by a defect of the code: K is cut as if it did.
	// An instruction that adds several products has zeros in their place.
	Missing Set `json:"missing,omitempty"`
}

// Where is a part of D: the elements of some rows that are in some columns.
type Where struct {
	Rows    Set `json:"rows,omitempty"`
	Columns Set `json:"columns,omitempty"`
}

// Places says in words which elements schedule n of a kernel computes.
func (k *Kernel) Places(n int) string {
	var parts []string
	for _, w := range k.Schedules[n].Where {
		var of []string
		if len(w.Rows) > 0 {
			of = append(of, "rows "+w.Rows.String())
		}
		if len(w.Columns) > 0 {
			of = append(of, "columns "+w.Columns.String())
		}
		parts = append(parts, strings.Join(of, " in "))
	}
	switch {
	case parts != nil:
		return strings.Join(parts, "; ")
	case len(k.Schedules) == 1:
		return "all elements"
	}
	return "all other elements"
}

// Unit is what adds products to an accumulator: one of Instruction, Model, Op and Given.
type Unit struct {
	// Instruction is ARCH/NAME of the catalogue.
	Instruction string `json:"instruction,omitempty"`
	// Model is a model file.
	Model Raw `json:"model,omitempty"`
	// Op is an IEEE 754 operation on one product at a time: fma, or mul-add, which rounds
	// the product to Product before it is added. A and B have the format In, and the
	// accumulator has the format Acc; without In and Product these have the format Acc.
	Op      string `json:"op,omitempty"`
	In      fp.ID  `json:"in,omitzero"`
	Product fp.ID  `json:"product,omitzero"`
	Acc     fp.ID  `json:"acc,omitzero"`
	// CastA and CastB are casts of the operands A and B of op before they are multiplied, as where
	// numbers in FP32 are multiplied in TF32 or BF16.
	CastA *Cast `json:"cast_a,omitempty"`
	CastB *Cast `json:"cast_b,omitempty"`
	// Sum is a wider format to which every sum is rounded before it is rounded to Acc, as where
	// an FMA in FP32 is computed in FP64.
	Sum fp.ID `json:"sum,omitzero"`
	// Start is what the first product of an accumulator is added to: zero, or with
	// "empty" nothing, which differ in the sign of a zero; with "second" the second product,
	// which is rounded: compilers make fma(a, b, c*d) of a*b + c*d.
	Start string `json:"start,omitempty"`
	// Subnormals is what becomes of subnormal operands and results of op and of the sums of
	// its partial sums: "" they are numbers, or "zero" of their sign (DAZ and FTZ of x86).
	Subnormals string `json:"subnormals,omitempty"`
	// Given is an instruction that is in no file, such as that of a target.
	Given *mma.Instruction `json:"-"`
}

// Level cuts a sequence of products into parts, whose partial sums it merges.
type Level struct {
	// Head is how many of the first products the first part has before its own, as where code
	// takes whole vectors from the first aligned address on. Only what follows is cut.
	Head  int   `json:"head,omitempty"`
	Cut   Cut   `json:"cut"`
	Tail  *Tail `json:"tail,omitempty"` // what is done apart before the sequence is cut
	Merge Merge `json:"merge"`
}

// Cut says how a sequence of n products is cut.
type Cut struct {
	// By is one of
	//
	//	size      runs of N products; Rest says where a shorter one is
	//	count     N runs of ceil(ceil(n/Grain)/N)*Grain products; the last are shorter, or absent
	//	spread    N runs of whole Grains, the lengths of which differ by one Grain at most:
	//	          run i begins at Grain i*ceil(n/Grain)/N, rounded down
	//	pairwise  more than N products are halved, the first half being rounded down to whole
	//	          Grains, and so is each half, until none has more than N
	//	lanes     N parts that are dealt Vector products at a time
	//	stream    stream-K: the Grains of all tiles of D, row after row of tiles, are spread
	//	          over N workers, and a tile is cut where one worker follows another
	By     string `json:"by"`
	N      int    `json:"n"`
	Grain  int    `json:"grain,omitempty"`  // 0: 1
	Vector int    `json:"vector,omitempty"` // 0: 1
	Tile   [2]int `json:"tile,omitzero"`    // rows and columns of a tile
	// Rest is where the run of size that is shorter stands: last (default) or first; or
	// what is left when it is less than two runs is halved: halve rounds half of it up,
	// halve-down down, and both then up to whole Grains. Of pairwise, halve rounds the first
	// half up to whole Grains.
	Rest string `json:"rest,omitempty"`
}

// Tail is what becomes of the last len mod Of products of a sequence.
type Tail struct {
	Of int `json:"of"`
	// Into is one of
	//
	//	lane   they are added by the accumulator of the first part, after its own
	//	deal   they are dealt to the accumulators of all parts, one product at a time
	//	after  an accumulator goes on from the sum of the parts
	//	apart  an accumulator of their own, whose sum is added to that of the parts
	//	drop   they are forgotten: a defect
	Into string `json:"into"`
	// Front: they are the first products instead, as where code begins with what is left over.
	// lane and deal add them before the others of a part.
	Front bool `json:"front,omitempty"`
	// Last: lane is that of the last part instead of the first, and deal ends at the last part
	// instead of beginning at the first.
	Last bool `json:"last,omitempty"`
	// Reverse: they are added last first, as where code counts them down. deal has no such order.
	Reverse bool  `json:"reverse,omitempty"`
	Unit    *Unit `json:"unit,omitempty"` // what adds them; none: what adds the others
	// Format is that of apart's addition. The result is rounded to that of the level.
	Format fp.ID `json:"format,omitzero"`
}

// Merge says how partial sums become one.
type Merge struct {
	// Order is one of
	//
	//	forward         first + second, + third, ...
	//	reverse         last + the one before it, ...
	//	neighbours      ((0+1)+(2+3)) + ...
	//	halves          ((0+4)+(2+6)) + ((1+5)+(3+7)): a butterfly
	//	4-2-1           any distances: for each d in turn, part i becomes i + (i+d)
	//	pairwise        of a pairwise cut: the sum of one half + that of the other
	//	chain           no sums: each accumulator starts from what the one before it gave
	//	chain-reverse   the same, last part first
	Order  string `json:"order"`
	Format fp.ID  `json:"format,omitzero"` // of sums, to nearest even; none: that of the unit's results
	// Parts is a format to which partial sums are rounded before they are added, and Store
	// one to which every sum is (in a chain: what is handed on).
	Parts fp.ID `json:"parts,omitzero"`
	Store fp.ID `json:"store,omitzero"`
	// Only says of which parts this is true: "2" of the second, "last" of the last, "not-2" and "not-last" of all
	// others; "" of all. Store then rounds the sum to which such a part was added, or in a chain what it hands
	// on. Sums have the format that they have without Store, and no tree has such sums.
	Only  string `json:"only,omitempty"`
	Start string `json:"start,omitempty"` // of forward and reverse: what the first is added to: "" nothing, or zero
	// Scale multiplies each partial sum p by the scales of A and B of its first k, sa and sb:
	// (sa*sb)*p, sa*(sb*p) or sb*(sa*p), every product rounded to Format. Sums of integers, in int32, are
	// rounded to Format before: it is FP32 or FP64. With Fused, the
	// last multiplication and the addition are one fused multiply-add.
	Scale string `json:"scale,omitempty"`
	Fused bool   `json:"fused,omitempty"`
}

// Step is an operation of the epilogue on the sum x. Each result is rounded to nearest even
// in Format; none: that of x.
type Step struct {
	// Op is one of
	//
	//	cast         x
	//	alpha        alpha * x: Factor if there is one, else a number that is given with the matrices
	//	scale-a      sa * x, with the scale of A of row and k = 0
	//	scale-b      sb * x
	//	scale-ab     (sa*sb) * x
	//	c            x + C
	//	beta-c       fma(beta, C, x)
	//	beta-c-mul   x + beta*C, the product rounded
	//	alpha-beta   fma(alpha, x, beta*C), the product rounded
	//	bias         x + bias of the column
	//	relu         max(x, 0): +0 instead of a negative number
	Op     string `json:"op"`
	Format fp.ID  `json:"format,omitzero"`
	// Factor is alpha, or beta of beta-c and beta-c-mul, where code multiplies by a number of its own. It is rounded
	// to FP32, or where sums are in FP64 to that.
	Factor float64 `json:"factor,omitempty"`
	// Zeroes is what else relu makes +0, in which code differs: -0, nan, or both as "-0 nan".
	Zeroes string `json:"zeroes,omitempty"`
	Rounding
}

// Rounding is how the result of a step is rounded.
type Rounding struct {
	// Saturate: what is too large, and an infinity, becomes the largest number.
	Saturate bool `json:"saturate,omitempty"`
	// Round is how a cast rounds: "" to nearest even; to nearest "away" from zero where two are as near, as
	// code does that adds half a unit in the last place; or to "zero", as code does that drops bits.
	Round string `json:"round,omitempty"`
	// Subnormals is what becomes of subnormal numbers before and after a cast: "" they are numbers, or
	// "zero" of their sign.
	Subnormals string `json:"subnormals,omitempty"`
}
