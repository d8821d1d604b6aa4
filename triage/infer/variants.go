package infer

import (
	"fmt"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// variant is a program that the ISA of an instruction allows beside that of its row.
type variant struct {
	choice string // how it differs: "sets of 4 added in pairs, then c"
	params mma.Params
}

// variants returns programs that conform to an instruction's ISA as well as the row's
// own does; nil if the ISA leaves no choice. They are those that Params can express of
// what RISC-V's manual allows: the products, exact or rounded to FP32, or the sums of
// equal sets of them, and c are added as vfredusum may add; all of that in FP32 or in
// something wider, which is FP64 here. Every rounding is to odd.
func variants(i *mma.Instruction) []variant {
	if i.Arch != "riscv" {
		return nil
	}
	var all []variant
	seen := map[mma.Params]bool{i.Params: true}
	add := func(choice string, p mma.Params) {
		p.Special = i.Params.Special
		if !seen[p] && p.Validate(i.Formats, i.K) == nil {
			seen[p] = true
			all = append(all, variant{choice, p})
		}
	}
	add("the sum of the products kept in FP64", mma.Params{
		Stage0: mma.Stage{Sum: mma.Fused, Align: bulk(fp.FP64, i.K), Round: mma.To(fp.FP64, fp.RTO)}, Acc: mma.To(fp.FP32, fp.RTO)})
	for _, w := range widths {
		for n := i.K / 2; n > 1; n /= 2 {
			runs := mma.Stage{Sum: mma.Fused, Align: bulk(w.term, n), Round: mma.To(w.term, fp.RTO)}
			addChain(add, fmt.Sprintf("sets of %d", n), mma.Params{L: uint8(n), Stage0: runs}, w)
			runs.Group = uint8(n)
			addTrees(add, fmt.Sprintf("sets of %d", n), mma.Params{Stage0: runs}, w)
			runs.Split, runs.Group = mma.Interleaved, uint8(i.K/n)
			addTrees(add, fmt.Sprintf("sets of %d, every %dth product in one", n, i.K/n), mma.Params{Stage0: runs}, w)
		}
		choice, products := "exact products", mma.Params{}
		if w.words = ""; w.sum != fp.FP32 {
			w.words = "; additions in FP64"
		}
		if w.term == fp.FP32 {
			choice, products.Prod.Round = "products rounded to FP32", mma.To(fp.FP32, fp.RTO)
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
func addChain(add func(string, mma.Params), choice string, p mma.Params, w widthChoice) {
	p.Acc = mma.To(w.sum, fp.RTO)
	if w.sum != fp.FP32 {
		p.Out = mma.To(fp.FP32, fp.RTO)
	}
	add(choice+" added to c one after the other"+w.words, p)
}

// addTrees adds the ways in which terms are added before c is.
func addTrees(add func(string, mma.Params), choice string, p mma.Params, w widthChoice) {
	for _, shape := range []struct {
		sum   mma.Sum
		words string
	}{{mma.Sequential, "one after the other"}, {mma.Pairwise, "in pairs"}, {mma.PairHalves, "by halves"}} {
		q := p
		q.Acc = mma.To(fp.FP32, fp.RTO)
		stage := &q.Stage1
		if q.Stage0.Sum == mma.Off {
			stage = &q.Stage0
		}
		*stage = mma.Stage{Sum: shape.sum, Round: mma.To(w.sum, fp.RTO)}
		add(choice+" added "+shape.words+", then c"+w.words, q)
	}
}

// bulk is the alignment of n products whose sum is rounded to a format.
func bulk(id fp.ID, n int) mma.Align {
	return mma.Align{F: mma.Frac(int(id.Get().FracBits) + bits.Len(uint(n-1))), Mode: fp.RTO}
}
