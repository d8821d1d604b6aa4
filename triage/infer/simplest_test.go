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
