package infer

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestDroppedBits looks for bits that a format drops.
func TestDroppedBits(t *testing.T) {
	tf := mma.Formats{A: fp.TF32, B: fp.TF32, C: fp.FP32, D: fp.FP32}
	for _, c := range []struct {
		f    mma.Formats
		a, b uint64
		want string
	}{
		{tf, 0x3f802000, 0x3f800000, ""},
		{tf, 0x3f801000, 0x3f800000, "it has bits of a that tf32 drops: if the unit reads all bits of its registers, declare a as fp32"},
		{tf, 0x3f801000, 0x3f800001, "it has bits of a and b that tf32 drops: if the unit reads all bits of its registers, declare a and b as fp32"},
		{mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}, 0x3f801000, 0x3f800001, ""},
	} {
		d := mma.NewDot(c.f, 2)
		d.A[1], d.B[1], d.C = c.a, c.b, 1
		if got := droppedBits(c.f, d); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
}

// TestReadsWholeRegisters infers a unit of TF32 that reads all bits of its registers: the report says
// how to declare it.
func TestReadsWholeRegisters(t *testing.T) {
	if tier.Of(0, 0, 1) == 0 {
		t.Skip("takes long")
	}
	plain := mma.FMA(fp.FP32)
	single := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	m, err := sim.New(single, 2, plain)
	if err != nil {
		t.Fatal(err)
	}
	u := newUnit(t, mma.Formats{A: fp.TF32, B: fp.TF32, C: fp.FP32, D: fp.FP32}, 2, plain)
	u.spoil = func(d *mma.Dot, _ uint64, _, _ int, _ bool) (uint64, error) { return m.Dot(d, nil), nil }
	r := inferred(t, u, Options{Effort: 2})
	report, err := r.Report(t.Context(), "x", "y", 1)
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != Unexplained || report.dropped == "" {
		t.Errorf("%s, %+v, %q", r.Verdict, r.Witness, report.dropped)
	}
}
