package triage_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// TestOnlyCodes has units that differ from a program in signs of zeros and codes of NaNs alone:
// the cause is that, and no rounding, though rounding toward minus infinity would explain the
// zeros: it makes -0 of +0 and -0.
func TestOnlyCodes(t *testing.T) {
	tier.SkipUnderRace(t)
	products := mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32}
	ref := func(name string) *oracle.Reference { r, _ := oracle.FindReference(name); return r }
	multiply := func(nan uint64) func(d *mma.Dot) uint64 {
		return func(d *mma.Dot) uint64 {
			x := math.Float32frombits(uint32(d.A[0])) * math.Float32frombits(uint32(d.B[0]))
			if x != x {
				return nan
			}
			return uint64(math.Float32bits(x))
		}
	}
	for _, tc := range []struct {
		name string
		base mma.Params
		unit func(d *mma.Dot) uint64
		want []triage.Label
	}{
		{"a product, not added to +0", ref("mul32").Program(mma.Formats{D: fp.FP32}), multiply(0x7fc00000), []triage.Label{triage.SignedZero}},
		{"the same with another NaN", ref("mul32").Program(mma.Formats{D: fp.FP32}), multiply(0x7fffffff), []triage.Label{triage.NaNEncoding, triage.SignedZero}},
		{"another NaN", ref("mul").Program(mma.Formats{D: fp.FP32}), multiply(0x7fffffff), []triage.Label{triage.NaNEncoding}},
		{"a product and an addition", ref("mul").Program(mma.Formats{D: fp.FP32}), func(d *mma.Dot) uint64 { return ref("mul32").Eval(products, d) }, []triage.Label{triage.SignedZero}},
	} {
		for _, nan := range []oracle.Strictness{oracle.Bits, oracle.ByClass} {
			pr := &triage.Unknown{Formats: products, K: 1, Base: tc.base, Policy: oracle.Policy{NaN: nan}, Seed: 1, Effort: effort()}
			pr.Questions = infer.Questions
			pr.Ask = func(_ context.Context, dots []*mma.Dot) ([]uint64, error) {
				codes := make([]uint64, len(dots))
				for i, d := range dots {
					codes[i] = tc.unit(d)
				}
				return codes, nil
			}
			m, err := sim.New(products, 1, tc.base)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range gen.Probe(gen.Spec{Formats: products, K: 1}, 1, 0, &tc.base) {
				c := triage.Case{Dot: d, Want: tc.unit(d)}
				if oracle.Compare(fp.FP32, pr.Policy, m.Dot(d, nil), c.Want) == oracle.Same {
					pr.Agree = append(pr.Agree, c)
				} else {
					pr.Differ = append(pr.Differ, c)
				}
			}
			if len(pr.Differ) == 0 {
				continue // in NaNs alone
			}
			want := tc.want
			if nan == oracle.ByClass {
				want = []triage.Label{triage.SignedZero}
			}
			if v := explain(t, pr); !slices.Equal(v.Labels, want) {
				t.Errorf("%s, NaNs by %s: %v by %s, want %v", tc.name, nan, v.Labels, changeText(v.Changes), want)
			}
		}
	}
}
