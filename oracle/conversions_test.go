package oracle

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestConversionsOfZero converts zeros of both signs from every format to every other by every
// reference that supports it, by its own way and as a program: the sign stays where there is one.
func TestConversionsOfZero(t *testing.T) {
	tried := 0
	for _, a := range fp.All() {
		for _, d := range fp.All() {
			f := mma.Formats{A: a, B: fp.One, D: d}
			if a.Get().NoZero || f.Validate() != nil {
				continue
			}
			for i := range References {
				r := &References[i]
				if r.Supports(f) != nil {
					continue
				}
				tried++
				p := r.Program(f)
				m, err := sim.New(f, 1, p)
				if err != nil {
					t.Errorf("%s from %s to %s: %v", r.Name, a, d, err)
					continue
				}
				for _, neg := range []bool{false, true} {
					dot := mma.NewDot(f, 1)
					want := uint64(0)
					if neg && a.Get().HasNegZero() {
						dot.A[0] = a.Get().SignBit()
						if d.Get().HasNegZero() {
							want = d.Get().SignBit()
						}
					}
					if got := r.Eval(f, dot); got != want {
						t.Errorf("%s from %s to %s: %x gives %x, want %x", r.Name, a, d, dot.A[0], got, want)
					}
					for by, got := range map[string]uint64{"oracle": Eval(&p, f, 1, dot), "sim": m.Dot(dot, nil)} {
						if got != want {
							t.Errorf("%s of %s from %s to %s: %x gives %x, want %x", by, r.Name, a, d, dot.A[0], got, want)
						}
					}
				}
			}
		}
	}
	if tried < 500 {
		t.Errorf("only %d conversions were tried", tried)
	}
}

// TestPowersOfTwo rounds FP32 to UE8M0, whose numbers have one significant bit: of two that are
// equally near, none is even, and the result is the larger one (IEEE 754-2019, 4.3.1).
func TestPowersOfTwo(t *testing.T) {
	f := mma.Formats{A: fp.FP32, B: fp.One, D: fp.E8M0}
	tried := 0
	for _, c := range []struct{ a, want uint64 }{
		{0x3f800000, 0x7f}, // 1
		{0x3fbfffff, 0x7f}, // below 1.5
		{0x3fc00000, 0x80}, // 1.5: between 1 and 2
		{0x40400000, 0x81}, // 3: between 2 and 4
		{0x00600000, 0x01}, // 1.5 * 2^-127
		{0x005fffff, 0x00},
		{0x00000001, 0x00}, // 2^-127 is the least
		{0x7f3fffff, 0xfe},
		{0x7f400000, 0xff}, // 1.5 * 2^127 is too large: a NaN
	} {
		dot := mma.NewDot(f, 1)
		dot.A[0] = c.a
		for i := range References {
			r := &References[i]
			if r.Supports(f) != nil {
				continue
			}
			tried++
			p := r.Program(f)
			m, err := sim.New(f, 1, p)
			if err != nil {
				t.Fatal(err)
			}
			for by, got := range map[string]uint64{"itself": r.Eval(f, dot), "oracle": Eval(&p, f, 1, dot), "sim": m.Dot(dot, nil)} {
				if got != c.want {
					t.Errorf("%s by %s: %08x gives %02x, want %02x", r.Name, by, c.a, got, c.want)
				}
			}
		}
	}
	if tried == 0 {
		t.Error("no reference supports it")
	}
}
