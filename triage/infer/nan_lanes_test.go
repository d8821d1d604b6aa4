package infer

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestNaNInTwoLanes infers a unit that gives another NaN where two lanes have one given NaN. It is not
// taken for the plain unit.
func TestNaNInTwoLanes(t *testing.T) {
	plain := mma.TFDPA(0, 24, mma.To(fp.FP32, fp.RZ), 0)
	plain.Special.NaN = mma.NaNQuiet
	for _, ofB := range []bool{false, true} {
		u := newUnit(t, half, 8, plain)
		u.spoil = func(d *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
			x := d.A
			if ofB {
				x = d.B
			}
			if x[2] == 0x7d5a && x[5] == 0x7d5a {
				return 0x7fc00001, nil
			}
			return code, nil
		}
		l, err := newLoop(u, Options{})
		if err != nil {
			t.Fatal(err)
		}
		l.p = plain
		if wrong, err := l.refute(t.Context()); err != nil || wrong == 0 {
			t.Errorf("of b: %v: nothing is wrong with the plain program: %v", ofB, err)
		}
	}
}

// TestNaNLanes counts the NaNs, and what a report says of them.
func TestNaNLanes(t *testing.T) {
	for _, c := range []struct {
		a, b fp.ID
		n    int
		says string
	}{
		{fp.FP16, fp.BF16, 2046 + 254, "each NaN of a, then each NaN of b; NaNs that differ"},
		{fp.E4M3, fp.E2M1, 2, "each NaN of a; NaNs that differ"},
		{fp.FP32, fp.FP32, 0, "were only drawn at random: a fault that one code"},
		{fp.E2M1, fp.E2M1, 0, ""},
		{fp.S8, fp.S8, 0, ""},
	} {
		f := mma.Formats{A: c.a, B: c.b, C: fp.FP32, D: fp.FP32}
		dots := nanLanes(f, 4)
		if len(dots) != c.n {
			t.Errorf("%s: %d inputs", f, len(dots))
		}
		for _, d := range dots {
			a, b := c.a.Get().Decode(d.A[3]), c.b.Get().Decode(d.B[3])
			if d.A[0] != d.A[3] || d.B[0] != d.B[3] || (a.Class == fp.NaN) == (b.Class == fp.NaN) {
				t.Fatalf("%s", mma.FormatDot(f, d))
			}
		}
		r := &Report{Formats: f, K: 4}
		if got := r.nansCovered(); (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
			t.Errorf("%s: %s", f, got)
		}
		for _, r := range []*Report{{Formats: f, K: 1}, {Formats: f, K: 4, NaN: oracle.ByClass.String()}} {
			if got := r.nansCovered(); got != "" {
				t.Errorf("%s: %s", f, got)
			}
		}
	}
}
