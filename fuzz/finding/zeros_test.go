package finding

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestSignsOfZeros has sums that can be -0, of a unit that has a wrong product too: the change is found
// among cases most of which it does not explain.
func TestSignsOfZeros(t *testing.T) {
	const k, negative = 4, 0x8000
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	f := i.Formats
	dot := func(a, b uint64, c uint64) *mma.Dot {
		d := mma.NewDot(f, k)
		for i := range k {
			d.A[i], d.B[i] = a, b
		}
		d.C = c
		return d
	}
	zeros := []triage.Case{
		{Dot: dot(0, negative, 0x80000000), Want: 0x80000000},
		{Dot: dot(negative, 0, 0x80000000), Want: 0x80000000},
		{Dot: dot(negative, 0x3c00, 0x80000000), Want: 0x80000000},
	}
	wrong := []triage.Case{
		{Dot: dot(0x3c00, 0x3c00, 0), Want: 0x40000000},
		{Dot: dot(0x3c00, 0x4000, 0), Want: 0x40800000},
	}
	opposite := []triage.Case{{Dot: dot(0, 0, 0), Want: 0x80000000}, zeros[0]}
	for _, tc := range []struct {
		name   string
		differ []triage.Case
		want   string
	}{
		{"zeros and numbers", append(wrong, zeros...), "sums can be -0 no→yes"},
		{"zeros alone", zeros, ""},
		{"numbers alone", wrong, ""},
		{"zeros that no change explains", append(wrong, opposite...), ""},
	} {
		pr := &triage.Unknown{Formats: f, K: k, Base: i.Params, Differ: tc.differ}
		m, err := sim.New(f, k, pr.Base)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*mma.Dot{dot(0, negative, 0), dot(0x4000, 0x3c00, 0x3f800000)} {
			pr.Agree = append(pr.Agree, triage.Case{Dot: d, Want: m.Dot(d, nil)})
		}
		v, err := signsOfZeros(t.Context(), pr)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if v != nil {
			got = mma.Brief(v.Changes)
			if v.Differ != len(tc.differ) || v.Explained != len(zeros) || !v.Partial {
				t.Errorf("%s: %+v", tc.name, v)
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
