package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Random parameter programs, for tests.

// oneOf draws a value, the first of which means "absent", half of the time.
func oneOf[T any](g generator, absent T, others ...T) T {
	if g.IntN(2) == 0 {
		return absent
	}
	return others[g.IntN(len(others))]
}

func (g generator) mode() fp.Mode { return fp.Modes()[g.IntN(6)] }

func (g generator) round(absent mma.Round, id fp.ID) mma.Round {
	r := mma.To(id, g.mode())
	r.Frac -= mma.Frac(g.IntN(int(r.Frac)))
	r.Emin += mma.Exp(g.IntN(8))
	r.Emax -= mma.Exp(g.IntN(8))
	r.Over = mma.Over(g.IntN(3))
	r.Flush = mma.OutFlush(g.IntN(4))
	return oneOf(g, absent, r)
}

func (g generator) align() mma.Align {
	a := mma.Align{F: mma.Frac(1 + g.IntN(40)), Mode: g.mode()}
	a.Floor = oneOf(g, mma.Exp(0), -140, -20, -1, 5, 60)
	return oneOf(g, mma.Align{}, a)
}

func (g generator) stage() mma.Stage {
	s := mma.Stage{
		Sum:   mma.Sum(1 + g.IntN(4)),
		Split: mma.Split(g.IntN(2)),
		Group: uint8(1 + g.IntN(4)),
		Align: g.align(),
		Round: g.round(mma.Round{}, fp.FP32),
	}
	s.Fixed = s.Round == (mma.Round{}) && g.IntN(2) == 0
	return oneOf(g, mma.Stage{}, s)
}

// program draws a program; not all are valid.
func (g generator) program(d fp.ID) mma.Params {
	to := mma.To(d, g.mode())
	p := mma.Params{
		In: mma.Input{
			Widen: oneOf(g, fp.None, fp.FP32, fp.FP64),
			Sub:   mma.InFlush(g.IntN(3)), C: mma.InFlush(g.IntN(3)), Acc: mma.InFlush(g.IntN(3)),
		},
		Prod:   mma.Product{Exp: mma.ProdExp(g.IntN(3)), Round: g.round(mma.Round{}, fp.FP32)},
		Scale:  oneOf(g, mma.ScaleProduct, mma.ScaleGroup),
		Order:  oneOf(g, mma.Ascending, mma.Descending, mma.SwapPairs, mma.Split4, mma.EvenOdd, mma.Halves),
		L:      uint8(g.IntN(6)),
		Lanes:  oneOf(g, uint8(0), 2, 3, 9),
		Start:  mma.Start(g.IntN(3)),
		Stage0: g.stage(),
		Stage1: g.stage(),
		Join:   mma.Join{Align: g.align(), CF: mma.Frac(g.IntN(20)), CMode: g.mode(), CDrop: mma.Frac(g.IntN(30)), Post: g.round(mma.Round{}, fp.FP64)},
		Acc:    g.round(to, d),
		Late:   oneOf(g, mma.Round{}, to),
		Out:    oneOf(g, mma.Round{}, to),
	}
	p.Special = mma.Special{NaN: mma.NaNRule(g.IntN(3)), NegZero: g.IntN(2) == 0, TinySign: g.IntN(2) == 0}
	return p
}

// TestRandomPrograms runs valid programs of all kinds: none may panic, as products commute,
// so do A and B, and an Evaluator keeps nothing of earlier dot products.
func TestRandomPrograms(t *testing.T) {
	g := newGenerator(9)
	formats := append([]mma.Formats{{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}}, exactFormats...)
	valid, goal := 0, 5000
	if testing.Short() {
		goal /= 10
	}
	for i := 0; valid < goal; i++ {
		f := formats[i%len(formats)]
		p := g.program(f.D)
		const k = 8
		if p.Validate(f, k) != nil {
			continue
		}
		valid++
		e, d := NewEvaluator(&p, f, k), g.dot(f, 2*k, g.IntN(numStyles))
		e.Eval(g.dot(f, k, g.IntN(numStyles)))
		got := e.Eval(d)
		d.A, d.B, d.SA, d.SB = d.B, d.A, d.SB, d.SA
		f.A, f.B = f.B, f.A
		if other := Eval(&p, f, k, d); other != got {
			t.Fatalf("%+v %v %X: %X, with A and B swapped %X", p, f, *d, other, got)
		}
	}
}
