package engine

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// conversion is one from FP32 whose NaNs may have codes that no program gives.
type conversion struct {
	to    fp.ID
	mode  fp.Mode
	limit float64 // from which on the result is the code over; 0: that of IEEE 754
	over  uint64
	nan   uint64 // the result of a NaN
}

// signed in a code of a conversion is not of the code: it has the operand's sign.
const signed = 1 << 32

func (c conversion) unit(t *testing.T) devices.Unit {
	i := &mma.Instruction{Name: "mine", Formats: mma.Formats{A: fp.FP32, B: fp.One, D: c.to}, K: 1}
	p := mma.Params{Start: mma.StartEmpty, Acc: mma.To(c.to, c.mode), Special: mma.Special{NegZero: true, TinySign: true}}
	p.Acc.Over = mma.OverIEEE
	m, err := sim.New(i.Formats, 1, p)
	if err != nil {
		t.Fatal(err)
	}
	return devices.Func(i, func(d *mma.Dot) uint64 {
		x, code := float64(math.Float32frombits(uint32(d.A[0]))), c.over
		switch {
		case x != x:
			code = c.nan
		case c.limit == 0 || math.Abs(x) < c.limit:
			return m.Dot(d, nil)
		}
		if code&signed != 0 && d.A[0]>>31 != 0 {
			code |= c.to.Get().SignBit()
		}
		return code &^ signed
	})
}

// TestNaNsAgainstNumbers compares conversions by bits, of which one makes NaNs where the other gives
// numbers, or which round differently. The codes of NaNs decide the cause of no case but those of two NaNs.
func TestNaNsAgainstNumbers(t *testing.T) {
	tier.SkipUnderRace(t)
	for name, tc := range map[string]struct {
		a, b conversion
		want []string // buckets
		rule string   // a part of the rule of the defect
	}{
		"overflow":  {conversion{fp.E4M3, fp.RNE, 464.1, 0x7e | signed, 0x7f | signed}, conversion{fp.E4M3, fp.RNE, 464.1, 0x7f | signed, 0x7f | signed}, []string{"overflow"}, ""},
		"rounding":  {conversion{fp.FP16, fp.RNE, 0, 0, 0x7e00 | signed}, conversion{fp.FP16, fp.RZ, 0, 0, 0x7e00 | signed}, []string{"output-rounding"}, ""},
		"defect":    {conversion{fp.E5M2, fp.RNE, 61440, 0x7b | signed, 0x7d | signed}, conversion{fp.E5M2, fp.RNE, 61440, 0x7d | signed, 0x7d | signed}, []string{"defect"}, "the result is a NaN where"},
		"two codes": {conversion{fp.E5M2, fp.RNE, 61440, 0x7b | signed, 0x7e}, conversion{fp.E5M2, fp.RNE, 61440, 0x7e | signed, 0x7e | signed}, []string{"defect", "nan-code"}, "the result is a NaN where"},
	} {
		nan := oracle.Bits
		st := runCampaign(t, Config{Pairs: []devices.Pair{{A: tc.a.unit(t), B: tc.b.unit(t), TargetA: "a", TargetB: "b", K: 1}}, Seed: 1, Count: 20000, NaN: &nan}).Pairs[0]
		var got []string
		for _, b := range st.Sorted() {
			got = append(got, b.Name)
		}
		for _, f := range st.Findings {
			if (f.Class == oracle.NaNCode) != (f.Bucket == "nan-code") {
				t.Errorf("%s: a case of class %s is %s", name, f.Class, f.Bucket)
			}
		}
		rule := ""
		if d := st.Defect(); d != nil {
			rule = d.Rule
		}
		slices.Sort(got)
		if !slices.Equal(got, tc.want) || !strings.Contains(rule, tc.rule) {
			t.Errorf("%s: %v, %q", name, got, rule)
		}
	}
}
