package defect

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// TestPairs has units that add two products of bytes in 16 bits, where only -128 times -128 twice is
// too large.
func TestPairs(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k32.s32.s8.s8.s32")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		i, j int
		sum  func(s int) int
		want string
	}{
		{4, 5, func(s int) int { return int(int16(s)) }, "the sum of products 4 and 5 wraps around in 16 bits"},
		{6, 14, func(s int) int { return min(s, 32767) }, "the sum of products 6 and 14 saturates in 16 bits"},
	}[:tier.Of(1, 1, 2)] {
		u := &Unit{Formats: i.Formats, K: i.K, Program: i.Params, Seed: 1, Budget: &Budget{}}
		u.Ask = func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
			out := make([]uint64, len(dots))
			for n, d := range dots {
				s := int(int8(d.A[test.i]))*int(int8(d.B[test.i])) + int(int8(d.A[test.j]))*int(int8(d.B[test.j]))
				out[n] = uint64(uint32(int(m.Dot(d, nil)) + test.sum(s) - s))
			}
			return out, nil
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 300 {
			d := mma.NewDot(i.Formats, i.K)
			for k := range d.A {
				if d.A[k], d.B[k] = r.Uint64()&0xff, r.Uint64()&0xff; r.IntN(2) == 0 {
					d.A[k], d.B[k] = 0x80, 0x80
				}
			}
			want, _ := u.Ask(t.Context(), []*mma.Dot{d})
			u.Cases = append(u.Cases, Case{d, want[0]})
		}
		c, err := Find(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		if c == nil || c.String() != test.want {
			t.Errorf("%v, want %s", c, test.want)
		}
	}
}
