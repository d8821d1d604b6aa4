package exec_test

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestExact compares models of conversions and of sums of integers with exact arithmetic in Python's
// fractions, which has nothing in common with them: all roundings and overflows between 27 pairs of
// formats, zero points, and accumulators of every kind, in every bit.
func TestExact(t *testing.T) {
	target := open(t, framework(t, "exact", ""))
	if n := len(target.Instructions()); n < 200 {
		t.Errorf("%d instructions", n)
	}
	for _, i := range target.Instructions() {
		u, err := target.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.New(i.Formats, i.K, exactRule(&i))
		if err != nil {
			t.Fatalf("%s: %v", i.Name, err)
		}
		in := exactInputs(&i)
		w := i.D.Width()
		got, want := make([]byte, in.Dots()*w), make([]byte, in.Dots()*w)
		if err := u.Run(t.Context(), in, want); err != nil {
			t.Fatal(err)
		}
		m.Run(in, got)
		dot := mma.NewDot(i.Formats, i.K)
		for n := range in.Dots() {
			if got, want := mma.Load(got, w, n), mma.Load(want, w, n); got != want {
				in.Get(n, dot)
				t.Errorf("%s of %x, %x, %x: the model gives %x, exact arithmetic %x", i.Name, dot.A, dot.B, dot.C, got, want)
				break
			}
		}
	}
}

// exactInputs returns codes of a number or, of wide formats, borders of its results; of integers aimed
// ones. Some special or random ones follow.
func exactInputs(i *mma.Instruction) *mma.Batch {
	sp := gen.Spec{Formats: i.Formats, K: i.K}
	all := gen.Every(sp)
	last, more := all[len(all)-1], "special"
	if i.D.Integer() {
		more = "raw"
	}
	n := uint64(tier.Of(50, 80, 1_000, 20_000))
	if last.Size != nil {
		n = min(n, last.Size(sp))
	}
	const others = 40
	in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: i.K, Tiles: int(n) + others})
	last.Aimed(sp).Fill(in.Part(0, int(n)), 1, 0)
	g, err := gen.Find(more)
	if err != nil {
		panic(err)
	}
	for at := range others {
		in.Set(int(n)+at, g.Aimed(sp).Dot(sp, 1, uint64(at)))
	}
	return in
}

// exactRule is the program of an instruction of the child.
func exactRule(i *mma.Instruction) mma.Params {
	words := strings.Split(i.Name, ".")
	what := words[len(words)-1]
	if i.D.Integer() {
		return exactSum(i.K, what)
	}
	p := mma.FMA(i.D)
	p.Start = mma.StartEmpty
	p.Acc.Mode = modeOf(words[2])
	if p.Acc.Over = mma.OverIEEE; what == "sat" {
		p.Acc.Over = mma.OverSat
	}
	if !i.D.Get().HasNaN() {
		p.Special.NaN = mma.NaNZero
	}
	return p
}

func modeOf(name string) fp.Mode {
	m, err := fp.ParseMode(name)
	if err != nil {
		panic(err)
	}
	return m
}

// exactSum is the program of a sum of integers.
func exactSum(k int, what string) mma.Params {
	p := mma.Params{L: uint8(k), Acc: mma.Round{Frac: 31, Mode: fp.RZ, Emin: 31, Emax: 30, Over: mma.OverWrap}}
	switch what {
	case "sat":
		p.Acc.Over = mma.OverSat
	case "each":
		p.L, p.Acc.Over = 1, mma.OverSat
	case "pairs":
		p.Stage0 = mma.Stage{Sum: mma.Fused, Group: 2, Round: mma.Round{Frac: 15, Mode: fp.RZ, Emin: 15, Emax: 14, Over: mma.OverSat}}
	case "zero":
		p.In.ZeroA, p.In.ZeroB = 128, -3
	}
	return p
}
