package infer

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestIntegers infers units that add up integers: those of integerPrograms must be found, no others.
func TestIntegers(t *testing.T) {
	in := func(id fp.ID, over mma.Over) mma.Round {
		r := mma.To(id, fp.RZ)
		r.Over = over
		return r
	}
	bytes := mma.Formats{A: fp.U8, B: fp.S8, C: fp.S32, D: fp.S32}
	wraps, saturates := mma.Params{Acc: in(fp.S32, mma.OverWrap)}, mma.Params{Acc: in(fp.S32, mma.OverSat)}
	with := func(p mma.Params, change func(p *mma.Params)) mma.Params {
		change(&p)
		return p
	}
	pairs := mma.Stage{Sum: mma.Fused, Group: 2, Round: in(fp.S16, mma.OverSat)}
	for n, c := range []struct {
		name  string
		f     mma.Formats
		k     int
		p     mma.Params
		spoil func(d *mma.Dot, code uint64) uint64 // makes it a unit that is not to be found
	}{
		{"wraps", bytes, 4, wraps, nil},
		{"saturates", bytes, 4, saturates, nil},
		{"pairs", bytes, 4, with(wraps, func(p *mma.Params) { p.Stage0 = pairs }), nil},
		{"interleaved pairs", bytes, 4, with(wraps, func(p *mma.Params) { p.Stage0 = pairs; p.Stage0.Split = mma.Interleaved }), nil},
		{"steps", bytes, 8, with(saturates, func(p *mma.Params) { p.L = 2 }), nil},
		{"steps from the end", bytes, 4, with(saturates, func(p *mma.Params) { p.L, p.Order = 1, mma.Descending }), nil},
		{"sign of b", mma.Formats{A: fp.S4, B: fp.S4, C: fp.S32, D: fp.S32}, 8, with(wraps, func(p *mma.Params) { p.In.OtherSignB = true }), nil},
		{"exclusive or", mma.Formats{A: fp.B1, B: fp.B1, C: fp.S32, D: fp.S32}, 128, with(wraps, func(p *mma.Params) { p.Prod.Xor = true }), nil},
		{"no signs", mma.Formats{A: fp.U8, B: fp.U8, C: fp.U32, D: fp.U32}, 4, mma.Params{Acc: in(fp.U32, mma.OverSat)}, nil},
		{"16 bits", mma.Formats{A: fp.U8, B: fp.S8, D: fp.S16}, 2, mma.Params{Acc: in(fp.S16, mma.OverSat)}, nil},
		{"24 bits, in steps", bytes, 4, mma.Params{L: 2, Acc: mma.Round{Frac: 23, Mode: fp.RZ, Emin: 23, Emax: 22, Over: mma.OverSat}}, nil},
		{"zero point of a", bytes, 4, with(wraps, func(p *mma.Params) { p.In.ZeroA = 128 }), nil},
		{"zero points, saturating", bytes, 8, with(saturates, func(p *mma.Params) { p.In.ZeroA, p.In.ZeroB = 3, -77 }), nil},
		{"zero points, pairs", bytes, 4, with(wraps, func(p *mma.Params) { p.In.ZeroA, p.Stage0 = 128, pairs }), nil},
		{"zero points of words", mma.Formats{A: fp.U16, B: fp.S16, C: fp.S32, D: fp.S32}, 2, with(wraps, func(p *mma.Params) { p.In.ZeroA, p.In.ZeroB = 32768, -5 }), nil},
		{"zero point that a sign tells apart", mma.Formats{A: fp.S4, B: fp.U4, C: fp.S32, D: fp.S32}, 8, with(wraps, func(p *mma.Params) { p.In.OtherSignA, p.In.ZeroA, p.In.ZeroB = true, 8, 15 }), nil},
		{"two accumulators of 16 bits", bytes, 8, with(saturates, func(p *mma.Params) { // which are written as two groups
			p.Stage0 = mma.Stage{Sum: mma.Sequential, Split: mma.Interleaved, Group: 2, Round: in(fp.S16, mma.OverSat)}
		}), nil},
		{"three accumulators that wrap, c beside", bytes, 16, mma.Params{Lanes: 3, Start: mma.StartZero, Acc: in(fp.S16, mma.OverWrap), Late: in(fp.S32, mma.OverWrap)}, nil},
		{"one accumulator of 18 bits, c beside", bytes, 16, with(saturates, func(p *mma.Params) { // which is written as a group
			p.Stage0 = mma.Stage{Sum: mma.Sequential, Group: 16, Round: rangeOf(17, mma.OverSat)}
		}), nil},
		{"two accumulators, c in the first", mma.Formats{A: fp.S8, B: fp.S8, C: fp.S32, D: fp.S32}, 8, mma.Params{L: 1, Lanes: 2, Acc: in(fp.S32, mma.OverSat), Late: in(fp.S32, mma.OverSat)}, nil},
		{"groups that saturate one addition after the other", bytes, 16, with(wraps, func(p *mma.Params) {
			p.Stage0 = mma.Stage{Sum: mma.Sequential, Group: 4, Round: in(fp.S16, mma.OverSat)}
		}), nil},
		{"a tree that saturates", bytes, 8, with(wraps, func(p *mma.Params) {
			p.Stage0 = mma.Stage{Sum: mma.PairHalves, Group: 8, Round: in(fp.S16, mma.OverSat)}
		}), nil},
		{"two accumulators, of which one wraps", bytes, 8, mma.Params{L: 1, Lanes: 2, Start: mma.StartZero, Acc: in(fp.S16, mma.OverSat), Late: in(fp.S32, mma.OverSat)}, func(d *mma.Dot, code uint64) uint64 {
			sums := [2]int{}
			for k := range d.A {
				sum := int(uint8(d.A[k]))*int(int8(d.B[k])) + sums[k%2]
				if sums[k%2] = max(-1<<15, min(1<<15-1, sum)); k%2 == 1 {
					sums[1] = int(int16(sum))
				}
			}
			return uint64(uint32(max(-1<<31, min(1<<31-1, int(int32(d.C))+sums[0]+sums[1]))))
		}},
		{"a high bit that is lost", bytes, 4, wraps, func(_ *mma.Dot, code uint64) uint64 { return code &^ (1 << 24) }},
		{"a product that is wrong", bytes, 4, wraps, func(d *mma.Dot, code uint64) uint64 {
			if d.A[3] == 0xff && d.B[3] == 0x80 {
				code ^= 1
			}
			return code
		}},
	} {
		if n%tier.Of(9, 9, 1) != tier.Of(8, 8, 0) {
			continue
		}
		u := newUnit(t, c.f, c.k, c.p)
		if c.spoil != nil {
			u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) { return c.spoil(d, code), nil }
		}
		r := inferred(t, u, Options{Seed: 3, Checks: few})
		switch {
		case c.spoil != nil && (r.Verdict != Unexplained || r.Witness == nil):
			t.Errorf("%s: %s", c.name, r.Verdict)
		case c.spoil == nil && (r.Verdict != Found || r.Params != c.p):
			t.Errorf("%s: %s, %s", c.name, r.Verdict, mma.Brief(mma.Diff(&c.p, &r.Params)))
		case c.spoil == nil && !slices.ContainsFunc(r.Mutants, func(x *Mutant) bool { return x.Dot != nil && x.Got != x.Would }):
			t.Errorf("%s: no input rules out another value", c.name)
		}
	}
}

// TestDocOfParts checks that a report says what the cases of each part of the evidence are.
func TestDocOfParts(t *testing.T) {
	for _, name := range append(slices.Clone(directed), treeName, closeUpName, refutations, zeroPoints) {
		if docOf(name) == "" {
			t.Errorf("%s: nothing is said of it", name)
		}
	}
}
