package finding

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// TestAsOverflows asks what an inferred program does with sums that are too large: the largest number is
// its result only where it is the unit's, and no input shows that the program has an infinity there.
func TestAsOverflows(t *testing.T) {
	const largest, infinity = 0x7f7fffff, 0x7f800000
	program := mma.TFDPA(4, 24, mma.To(fp.FP32, fp.RZ), -132)
	for _, tc := range []struct {
		name     string
		a        fp.ID
		want     uint64 // a result of the unit
		inferred bool
		over     mma.Over
	}{
		{"sums of products of FP16 are never too large", fp.FP16, largest, true, mma.OverMax},
		{"the largest number with a sign", fp.FP16, 1<<31 | largest, true, mma.OverMax},
		{"those of BF16 may be", fp.BF16, largest, true, mma.OverInf},
		{"the unit gives infinities", fp.FP16, infinity, true, mma.OverInf},
		{"the program is a model's", fp.FP16, largest, false, mma.OverInf},
	} {
		f := mma.Formats{A: tc.a, B: tc.a, D: fp.FP32}
		p := program
		p.Start = mma.StartEmpty
		x := &pairTriage{st: &PairState{}, d: &Gathered{}}
		if tc.inferred {
			x.st.Inferred = []Inferred{{Side: "a", Verdict: infer.Found, Params: &p}}
		}
		pr := &triage.Unknown{Formats: f, K: 4, Seed: 1, Differ: []triage.Case{{Dot: mma.NewDot(f, 4), Want: tc.want}}}
		q, err := x.asOverflows(t.Context(), pr, p)
		if err != nil || q.Acc.Over != tc.over {
			t.Errorf("%s: overflow %v, %v, want %v", tc.name, q.Acc.Over, err, tc.over)
		}
	}
}

// TestSigns gives an inferred program the signs of zeros of IEEE 754 where no input shows others: where the second
// of two accumulators begins with +0, no sum is -0.
func TestSigns(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	for lanes, hidden := range map[uint8]bool{1: false, 2: true} {
		p := mma.FMA(fp.FP32)
		if p.Special.NegZero = false; lanes > 1 {
			p.Lanes, p.Late = lanes, p.Acc
		}
		q, words := withSigns(t.Context(), f, 4, p, 1)
		if q.Special.NegZero != hidden || slices.Contains(words, "special.negzero=") != hidden {
			t.Errorf("%d accumulators: %v, hidden %v", lanes, q.Special, words)
		}
	}
}
