package infer

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestPlainest checks that what no input shows is not in a program: here a last
// rounding to the format that the results have already.
func TestPlainest(t *testing.T) {
	bf := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	for _, c := range []struct {
		name string
		p    mma.Params
	}{
		{"flushed fused multiply-adds", mma.FMA(fp.FP32)},
		{"products flushed and added in pairs", program(t, "cdna2", "v_mfma_f32_16x16x8bf16")},
	} {
		c.p.Acc.Flush = mma.FlushAfter
		l, err := newLoop(newUnit(t, bf, 4, c.p), Options{})
		if err != nil {
			t.Fatal(err)
		}
		more := c.p
		more.Out = mma.To(fp.FP32, fp.RNE)
		q, err := l.plainest(more)
		if err != nil {
			t.Fatal(err)
		}
		if q.Out != (mma.Round{}) || q.Acc.Flush == mma.NoFlush {
			t.Errorf("%s: %s", c.name, mma.Brief(mma.Diff(&c.p, &q)))
		}
	}
}

// TestRoundedOnce checks that sums which are rounded already are not said to be rounded again in
// another way.
func TestRoundedOnce(t *testing.T) {
	f := mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32}
	const k = 16
	once := mma.Params{L: k, Acc: mma.To(fp.FP32, fp.RZ), Special: mma.Special{NegZero: true}}
	inPairs := once
	inPairs.Leaf, inPairs.Stage0 = mma.LeafFirst, mma.Stage{Sum: mma.Pairwise, Round: once.Acc}
	fused := inPairs
	fused.Stage0.Sum, fused.Acc.Mode = mma.Fused, fp.RNE
	again := inPairs
	again.Acc.Mode = fp.RNE
	for _, c := range []struct {
		name       string
		from, want mma.Params
	}{
		{"a sum of all terms", fused, once},
		{"a tree of additions", again, inPairs},
	} {
		l, err := newLoop(newUnit(t, f, k, c.want), Options{})
		if err != nil {
			t.Fatal(err)
		}
		q, err := l.plainest(c.from)
		if err != nil {
			t.Fatal(err)
		}
		if q != c.want {
			t.Errorf("%s: %s", c.name, mma.Brief(mma.Diff(&c.want, &q)))
		}
	}
}

// TestRoundedProducts checks that the two ways to write that products are rounded become one.
func TestRoundedProducts(t *testing.T) {
	single := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	p := mma.FMA(fp.FP32)
	p.Prod.Round = p.Acc
	l, err := newLoop(newUnit(t, single, 4, p), Options{})
	if err != nil {
		t.Fatal(err)
	}
	staged := p
	staged.Stage0, staged.Prod.Round = mma.Stage{Sum: mma.Fused, Round: p.Prod.Round}, mma.Round{}
	for _, from := range []mma.Params{p, staged} {
		q, err := l.plainest(from)
		if err != nil {
			t.Fatal(err)
		}
		if q != p {
			t.Errorf("%s", mma.Brief(mma.Diff(&p, &q)))
		}
	}
}

// TestChains checks that products, or sums of adjacent ones, which are added one after the other are
// not said to be dealt to accumulators that take turns.
func TestChains(t *testing.T) {
	single := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	pairs := mma.Formats{A: fp.BF16, B: fp.BF16, C: fp.FP32, D: fp.FP32}
	round := mma.To(fp.FP32, fp.RNE)
	cFirst := mma.FMA(fp.FP32)
	cFirst.Prod.Round = round
	cLast := cFirst
	cLast.Start, cLast.Late = mma.StartEmpty, round
	inPairs := mma.FMA(fp.FP32)
	inPairs.L, inPairs.Stage0 = 2, mma.Stage{Sum: mma.Fused, Round: round}
	lanes := func(n uint8, order mma.Order, leaf mma.Leaf, q mma.Params) mma.Params {
		q.Lanes, q.Order, q.Leaf, q.Start, q.Late, q.Stage0, q.L = n, order, leaf, mma.StartEmpty, round, mma.Stage{}, 1
		return q
	}
	tail := lanes(16, mma.Ascending, mma.LeafFirst, cFirst)
	tail.Tail = true
	for _, c := range []struct {
		name       string
		f          mma.Formats
		k          int
		from, want mma.Params
	}{
		{"c first", single, 20, tail, cFirst},
		{"c last", single, 4, lanes(4, mma.Ascending, mma.NoLeaf, mma.FMA(fp.FP32)), cLast},
		{"pairs", pairs, 4, lanes(2, mma.EvenOdd, mma.LeafFirst, mma.FMA(fp.FP32)), inPairs},
	} {
		if c.name == "pairs" {
			c.from.L = 0
		}
		l, err := newLoop(newUnit(t, c.f, c.k, c.want), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if q, err := l.plainest(c.from); q != c.want || err != nil {
			t.Errorf("%s: %s, %v", c.name, mma.Brief(mma.Diff(&c.want, &q)), err)
		}
	}
}

// TestUnlikeMost checks that what is unlike most units in a program is tried as these have it, and
// that it stays only if an input tells the two apart.
func TestUnlikeMost(t *testing.T) {
	usual := program(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32")
	apart := usual
	apart.Join.Apart = true
	for _, c := range []struct {
		k    int
		want mma.Params
	}{{4, apart}, {1, usual}} {
		f := half
		if c.k == 1 { // a product alone has no other to be apart from
			f.C, usual.Start, apart.Start = fp.None, mma.StartZero, mma.StartZero
			c.want = usual
		}
		l, err := newLoop(newUnit(t, f, c.k, apart), Options{})
		if err != nil {
			t.Fatal(err)
		}
		q, all, _, err := l.ruleOutMutants(t.Context(), apart)
		if err != nil {
			t.Fatal(err)
		}
		if q.Join.Apart != c.want.Join.Apart {
			t.Errorf("k = %d: %s", c.k, mma.Brief(mma.Diff(&c.want, &q)))
		}
		told := slices.ContainsFunc(all, func(x *Mutant) bool { return x.Path() == "join.apart" && !x.p.Join.Apart && x.Dot != nil })
		if told != q.Join.Apart {
			t.Errorf("k = %d: an input that tells apart: %v", c.k, told)
		}
	}
}
