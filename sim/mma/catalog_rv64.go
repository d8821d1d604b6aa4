package mma

import (
	"fmt"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// eight is the columns of a batched dot product: of one vector with each of eight.
var eight = Range{8, 8, 1}

// K is that of VLEN = 128 and LMUL = 1. A is vs2 and B is vs1. A mnemonic with .alt reads
// vs2 as E5M2, others read it as E4M3; for vs1 vtype.altfmt makes that choice. BF16 exists
// with altfmt = 1 only.
var riscvForms = []form{
	{names: "vfwdota.vv", m: one, n: one, k: 8, formats: "f32.bf16.bf16.f32"},
	{names: "vfwbdota.vv", m: one, n: eight, k: 8, formats: "f32.bf16.bf16.f32"},
	{names: "vfqwdota.vv", m: one, n: one, k: 16, formats: "f32.e4m3.e4m3.f32"},
	{names: "vfqwdota.vv", modes: ".e8alt", m: one, n: one, k: 16, formats: "f32.e4m3.e5m2.f32"},
	{names: "vfqwdota.alt.vv", m: one, n: one, k: 16, formats: "f32.e5m2.e4m3.f32"},
	{names: "vfqwdota.alt.vv", modes: ".e8alt", m: one, n: one, k: 16, formats: "f32.e5m2.e5m2.f32"},
	{names: "vfqwbdota.vv", m: one, n: eight, k: 16, formats: "f32.e4m3.e4m3.f32"},
	{names: "vfqwbdota.vv", modes: ".e8alt", m: one, n: eight, k: 16, formats: "f32.e4m3.e5m2.f32"},
	{names: "vfqwbdota.alt.vv", m: one, n: eight, k: 16, formats: "f32.e5m2.e4m3.f32"},
	{names: "vfqwbdota.alt.vv", modes: ".e8alt", m: one, n: eight, k: 16, formats: "f32.e5m2.e5m2.f32"},
}

// The manual leaves a chip the choices that Instruction.Variants lists; the rows are
// what Spike does. The manual's pseudo-code had errors (riscv-isa-manual, pull requests
// 3079 and 3244), which Spike does not have.
const (
	srcRVBNA     = "RISC-V ISA manual, RVBNA and Zvdota, Zvbdota, drafts of 2026, as Spike computes it"
	evSpike      = "recording spike.rec, every bit, not silicon: Spike of 2026-06-25, 4,096 dot products"
	evSpikeMarch = "recording spike-2026-03.rec, every bit, not silicon: Spike of 2026-03, 4,096 dot products"
)

var riscv = []decl{
	{archs: "riscv", names: "vfwdota.vv", params: RVBNA(8), source: srcRVBNA, evidence: evSpike},
	{archs: "riscv", names: "vfwbdota.vv", params: RVBNA(8), source: srcRVBNA, evidence: evSpikeMarch},
	{archs: "riscv", names: "vfqwdota.vv", params: RVBNA(16), source: srcRVBNA, evidence: evSpike},
	{archs: "riscv", names: "vfqwbdota.vv", params: RVBNA(16), source: srcRVBNA, evidence: evSpikeMarch},
	{archs: "riscv", names: "vfqwdota.alt.vv.e8alt", params: RVBNA(16), source: srcRVBNA, evidence: evSpike},
	{archs: "riscv", names: "vfqwbdota.alt.vv.e8alt vf{qw,qwb}dota.vv.e8alt vf{qw,qwb}dota.alt.vv", params: RVBNA(16), source: srcRVBNA, evidence: evSpikeMarch},
}

// RVBNA is RISC-V's bulk normalised dot product of n products: their magnitudes, aligned
// at the largest exponent, are rounded to odd at 23 + ceil(log2 n) bits below it, summed,
// and the sum is rounded to odd to FP32, where it overflows to infinity; c is added to
// that with another such rounding. A zero result is +0, a NaN canonical.
func RVBNA(n int) Params {
	r := To(fp.FP32, fp.RTO)
	return Params{Stage0: Stage{Sum: Fused, Align: bulk(fp.FP32, n), Round: r}, Acc: r, Special: Special{NaN: NaNQuiet}}
}

// bulk is the alignment of n products whose sum is rounded to a format.
func bulk(id fp.ID, n int) Align {
	return Align{F: Frac(int(id.Get().FracBits) + bits.Len(uint(n-1))), Mode: fp.RTO}
}

// Variant is a program that the ISA of an instruction allows beside that of its row.
type Variant struct {
	Choice string // how it differs: "sets of 4 added in pairs, then c"
	Params Params
}

// Variants returns programs that conform to an instruction's ISA as well as the row's
// own does; nil if the ISA leaves no choice. They are those that Params can express of
// what RISC-V's manual allows: the products, exact or rounded to FP32, or the sums of
// equal sets of them, and c are added as vfredusum may add; all of that in FP32 or in
// something wider, which is FP64 here. Every rounding is to odd.
func (i *Instruction) Variants() []Variant {
	if i.Arch != "riscv" {
		return nil
	}
	var all []Variant
	seen := map[Params]bool{i.Params: true}
	add := func(choice string, p Params) {
		p.Special = i.Params.Special
		if !seen[p] && p.Validate(i.Formats, i.K) == nil {
			seen[p] = true
			all = append(all, Variant{choice, p})
		}
	}
	add("the sum of the products kept in FP64", Params{
		Stage0: Stage{Sum: Fused, Align: bulk(fp.FP64, i.K), Round: To(fp.FP64, fp.RTO)}, Acc: To(fp.FP32, fp.RTO)})
	for _, w := range widths {
		for n := i.K / 2; n > 1; n /= 2 {
			runs := Stage{Sum: Fused, Align: bulk(w.term, n), Round: To(w.term, fp.RTO)}
			addChain(add, fmt.Sprintf("sets of %d", n), Params{L: uint8(n), Stage0: runs}, w)
			runs.Group = uint8(n)
			addTrees(add, fmt.Sprintf("sets of %d", n), Params{Stage0: runs}, w)
			runs.Split, runs.Group = Interleaved, uint8(i.K/n)
			addTrees(add, fmt.Sprintf("sets of %d, every %dth product in one", n, i.K/n), Params{Stage0: runs}, w)
		}
		choice, products := "exact products", Params{}
		if w.words = ""; w.sum != fp.FP32 {
			w.words = "; additions in FP64"
		}
		if w.term == fp.FP32 {
			choice, products.Prod.Round = "products rounded to FP32", To(fp.FP32, fp.RTO)
		}
		single := products
		single.L = 1
		addChain(add, choice, single, w)
		addTrees(add, choice, products, w)
	}
	return all
}

// widthChoice is the formats of a conforming unit: term is what sets of products are
// rounded to, sum what sums of these are.
type widthChoice struct {
	term, sum fp.ID
	words     string
}

var widths = []widthChoice{
	{fp.FP32, fp.FP32, ""},
	{fp.FP32, fp.FP64, "; additions in FP64"},
	{fp.FP64, fp.FP32, "; sums of products in FP64"},
	{fp.FP64, fp.FP64, "; all in FP64"},
}

// addChain adds the program that adds what each step leaves to c, one after the other.
func addChain(add func(string, Params), choice string, p Params, w widthChoice) {
	p.Acc = To(w.sum, fp.RTO)
	if w.sum != fp.FP32 {
		p.Out = To(fp.FP32, fp.RTO)
	}
	add(choice+" added to c one after the other"+w.words, p)
}

// addTrees adds the ways in which terms are added before c is.
func addTrees(add func(string, Params), choice string, p Params, w widthChoice) {
	for _, shape := range []struct {
		sum   Sum
		words string
	}{{Sequential, "one after the other"}, {Pairwise, "in pairs"}, {PairHalves, "by halves"}} {
		q := p
		q.Acc = To(fp.FP32, fp.RTO)
		stage := &q.Stage1
		if q.Stage0.Sum == Off {
			stage = &q.Stage0
		}
		*stage = Stage{Sum: shape.sum, Round: To(w.sum, fp.RTO)}
		add(choice+" added "+shape.words+", then c"+w.words, q)
	}
}
