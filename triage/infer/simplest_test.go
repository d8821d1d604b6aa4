package infer

import (
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
