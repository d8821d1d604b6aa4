package byvalue

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestShared looks at every code of the formats of OCP: those whose value the FNUZ format has are
// shared, and the others become shared ones.
func TestShared(t *testing.T) {
	for _, tc := range []struct {
		ocp, fnuz fp.ID
		shared    int
	}{
		{fp.E4M3, fp.E4M3FNUZ, 2*0x77 + 1}, // up to 240
		{fp.E5M2, fp.E5M2FNUZ, 2*0x7b + 1}, // up to 57344
	} {
		n := 0
		f, g := tc.ocp.Get(), tc.fnuz.Get()
		for code := range uint64(256) {
			v := f.Float64(code)
			has := f.Decode(code).Class <= fp.Finite && code != f.SignBit() && g.Float64(g.FromFloat64(v)) == v
			s := shared(tc.ocp, code)
			if (s == code) != has || shared(tc.ocp, s) != s {
				t.Errorf("%s %02x becomes %02x; its value is one of both: %v", tc.ocp, code, s, has)
			}
			if !has {
				continue
			}
			if n++; g.Float64(toFNUZ(tc.ocp, code)) != v {
				t.Errorf("%s %02x is %g, %s %02x is not", tc.ocp, code, v, tc.fnuz, toFNUZ(tc.ocp, code))
			}
		}
		if n != tc.shared {
			t.Errorf("%s and %s share %d codes, want %d", tc.ocp, tc.fnuz, n, tc.shared)
		}
	}
}

// TestFormats gives formats that can be compared by value, and others.
func TestFormats(t *testing.T) {
	of := func(a, b, c, d fp.ID) mma.Formats { return mma.Formats{A: a, B: b, C: c, D: d} }
	ocp, amd := of(fp.E4M3, fp.E4M3, fp.FP32, fp.FP32), of(fp.E4M3FNUZ, fp.E4M3FNUZ, fp.FP32, fp.FP32)
	for _, tc := range []struct {
		f, g mma.Formats
		ok   bool
	}{
		{ocp, amd, true}, {amd, ocp, true}, {ocp, ocp, false}, {amd, amd, false},
		{of(fp.E4M3, fp.E5M2, fp.FP32, fp.FP32), of(fp.E4M3FNUZ, fp.E5M2FNUZ, fp.FP32, fp.FP32), true},
		{of(fp.E4M3, fp.E5M2, fp.FP32, fp.FP32), of(fp.E5M2FNUZ, fp.E4M3FNUZ, fp.FP32, fp.FP32), false},
		{of(fp.E4M3, fp.E4M3, fp.FP32, fp.FP32), of(fp.E4M3FNUZ, fp.E4M3FNUZ, fp.None, fp.FP32), false},
		{of(fp.E4M3, fp.E4M3, fp.FP16, fp.FP16), amd, false}, {of(fp.FP16, fp.FP16, fp.FP32, fp.FP32), amd, false},
	} {
		want := tc.f
		if want.Common = true; want.A.FNUZ() == fp.None {
			want.A, want.B = tc.g.A, tc.g.B
		}
		got, ok := Formats(tc.f, tc.g)
		if ok != tc.ok || ok && got != want {
			t.Errorf("%s and %s: %s, %v", tc.f, tc.g, got, ok)
		}
	}
}
