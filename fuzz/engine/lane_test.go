package engine

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// modelOf opens an instruction of a target, with the model that it is.
func modelOf(t *testing.T, target, inst string) (devices.Unit, *sim.Model) {
	t.Helper()
	u, err := devices.OpenUnit(target, inst, "")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.New(u.Instruction().Formats, u.Instruction().K, *u.Model())
	if err != nil {
		t.Fatal(err)
	}
	return u, m
}

// TestOneOperand gives one operand of each product what the catalogue has for both: a change of the arithmetic would
// say that of the other one, too, which hardly any input shows where it is about zeros.
func TestOneOperand(t *testing.T) {
	tier.LongOnly(t)
	i := &mma.Instruction{Name: "chain", Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, K: 8}
	chain, err := sim.New(i.Formats, i.K, mma.Params{L: 1, Acc: mma.To(fp.FP32, fp.RNE), Special: mma.Special{NegZero: true, TinySign: true}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		meets func(a uint64) bool
		want  string
	}{
		{func(a uint64) bool { return a == 0x8000 }, "the sign bit of a of each product is stuck at 0 where a is zero"},
		{func(a uint64) bool { return a&0x7c00 == 0 }, "a of each product is +0 where a is zero or subnormal"},
	} {
		of := func(change bool) devices.Unit {
			return devices.Func(i, func(d *mma.Dot) uint64 {
				d = d.Clone()
				for k, a := range d.A {
					if change && tc.meets(a) {
						d.A[k] = 0
					}
				}
				return chain.Dot(d, nil)
			})
		}
		st := runCampaign(t, Config{Pairs: []devices.Pair{{A: of(false), B: of(true), TargetA: "a", TargetB: "b", K: i.K}}, Seed: 1, Count: 20_000}).Pairs[0]
		if v := st.Verdict; v == nil || v.Defect == nil || v.Defect.Rule.String() != tc.want {
			t.Errorf("%d cases: %+v, want %q", st.Mismatches(), v, tc.want)
		}
	}
}

// TestRareLane gives one of many products a defect that a single exponent, or a single code, of an operand
// shows: a short campaign has a few cases of it. Its rule is found without an effort beyond the default.
func TestRareLane(t *testing.T) {
	tier.SkipUnderRace(t)
	negated := func(d *mma.Dot, lane int) { d.A[lane] ^= 1 << 15 }
	inverted := func(d *mma.Dot, lane int) { d.B[lane] ^= 1 }
	lost := func(d *mma.Dot, lane int) { d.A[lane], d.B[lane] = 0, 0 }
	exponent := func(x, e uint64) bool { return x>>3&15 == e } // of E4M3
	const half, eight = "mma.m16n8k16.f32.f16.f16.f32", "wgmma.m64n8k32.f32.e4m3.e4m3"
	for _, tc := range []struct {
		inst  string
		lane  int
		meets func(a, b uint64) bool
		do    func(d *mma.Dot, lane int)
		want  string
	}{
		{half, 5, func(a, _ uint64) bool { return a == 0x4000 }, negated, "product 5 has the wrong sign where a is 4000"},
		{eight, 8, func(a, _ uint64) bool { return exponent(a, 15) }, inverted, "bit 0 of b of product 8 is inverted where the exponent of a is 8"},
		{half, 11, func(a, _ uint64) bool { return a == 0x3c01 }, lost, "product 11 is lost where a is 3c01"}, // of which there is one case
		{half, 2, func(_, b uint64) bool { return b == 0x3c00 }, lost, "product 2 is lost where b is 3c00"},
		{eight, 2, func(_, b uint64) bool { return exponent(b, 0) }, lost, "product 2 is lost where b is zero or subnormal"},
	}[:tier.Of(1, 2, 3, 5)] {
		u, m := modelOf(t, "sim:hopper", tc.inst)
		i := u.Instruction()
		broken := devices.Func(&mma.Instruction{Name: "own", Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 {
			if tc.meets(d.A[tc.lane], d.B[tc.lane]) {
				d = d.Clone()
				tc.do(d, tc.lane)
			}
			return m.Dot(d, nil)
		})
		st := runCampaign(t, Config{Pairs: []devices.Pair{{A: u, B: broken, TargetA: "a", TargetB: "b", K: i.K}}, Seed: 1, Count: testCount}).Pairs[0]
		if v := st.Verdict; v == nil || v.Defect == nil || v.Defect.Rule.String() != tc.want {
			t.Errorf("%d cases: %+v, want %q", st.Mismatches(), v, tc.want)
		}
	}
}
