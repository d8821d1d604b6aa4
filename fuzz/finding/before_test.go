package finding

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// adder is a sum of a product and c, as code arithmetic. A stale one loses c after a question with a
// result of at least 100, a wrong one always.
type adder struct {
	stale, wrong bool
	before       byte
}

func (u *adder) Instruction() *mma.Instruction { return &mma.Instruction{} }
func (u *adder) Model() *mma.Params            { return nil }

func (u *adder) Run(_ context.Context, in *mma.Batch, out []byte) error {
	d := mma.NewDot(in.Formats, in.K)
	for i := range out {
		in.Get(i, d)
		if u.wrong || u.stale && u.before >= 100 {
			d.C = 0
		}
		out[i] = byte(d.A[0]*d.B[0] + d.C)
		u.before = out[i]
	}
	return nil
}

// TestBeforeMatters: a case that shows no difference after zeros depends on the question before it; one
// that always shows it does not.
func TestBeforeMatters(t *testing.T) {
	for _, tc := range []struct {
		unit adder
		want string
	}{{adder{stale: true}, "layout"}, {adder{wrong: true}, ""}} {
		x := &pairTriage{t: &Finder{}, p: &Pair{}, st: &PairState{}, d: &Gathered{}}
		x.p.Spec.Formats, x.p.Spec.K, x.p.K = mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.E4M3, D: fp.E4M3}, 1, 1
		x.p.A, x.p.B = &adder{}, &tc.unit
		s := Sample{CaseRef: CaseRef{Source: "raw@1", Index: 3}}
		if d := x.p.Dot(0, s.CaseRef); d.C == 0 {
			t.Fatal("a case without c")
		}
		labels := map[CaseRef]string{}
		if err := x.beforeMatters(t.Context(), []Sample{s}, labels); err != nil || labels[s.CaseRef] != tc.want {
			t.Errorf("%+v: %q, %v; want %q", tc.unit, labels[s.CaseRef], err, tc.want)
		}
	}
}
