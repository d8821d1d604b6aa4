package oracle

import (
	"encoding/json"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestCompare(t *testing.T) {
	bits, loose := Policy{}, Policy{NaN: ByClass, Zero: ByClass}
	for _, c := range []struct {
		x, y            uint64
		strict, lenient Class
	}{
		{0x3C00, 0x3C00, Same, Same},
		{0x3C00, 0x3C01, Value, Value},
		{0x3C00, 0xBC00, Value, Value},
		{0x0000, 0x8000, ZeroSign, Same},
		{0x0000, 0x8001, Value, Value},
		{0x0001, 0x8000, Value, Value},
		{0x7C00, 0x7C00, Same, Same},
		{0x7C00, 0xFC00, Value, Value},
		{0x7C00, 0x7BFF, Inf, Inf},
		{0xFC00, 0x8000, Inf, Inf},
		{0x7C00, 0x7C01, NaN, NaN},
		{0x7E00, 0x0000, NaN, NaN},
		{0x7E00, 0x7E00, Same, Same},
		{0x7E00, 0x7FFF, NaNCode, Same},
		{0x7E00, 0xFE00, NaNCode, Same},
	} {
		for _, swap := range []bool{false, true} {
			x, y := c.x, c.y
			if swap {
				x, y = y, x
			}
			if got := Compare(fp.FP16, bits, x, y); got != c.strict {
				t.Errorf("%04X %04X by bits: %s, want %s", x, y, got, c.strict)
			}
			if got := Compare(fp.FP16, loose, x, y); got != c.lenient {
				t.Errorf("%04X %04X by class: %s, want %s", x, y, got, c.lenient)
			}
		}
	}
	for _, smallest := range []uint64{0, 1 << 31} { // an integer's smallest number is no zero
		if got := Compare(fp.S32, loose, smallest, 1<<31-smallest); got != Value {
			t.Errorf("INT32 %08X and %08X: %s", smallest, 1<<31-smallest, got)
		}
	}
	if got := Compare(fp.FP64, loose, 0x7FF8000000000000, 0xFFFFFFFFFFFFFFFF); got != Same {
		t.Errorf("FP64 NaNs: %s", got)
	}
	if got := Compare(fp.FP32, Policy{Zero: ByClass}, 0x7FC00000, 0x7FFFFFFF); got != NaNCode {
		t.Errorf("NaN by bits, zero by class: %s", got)
	}
}

// TestExplains: the code of a NaN matters beside another NaN alone.
func TestExplains(t *testing.T) {
	for _, c := range []struct {
		got, want, other uint64
		bits, byClass    bool
	}{
		{0xFF, 0xFF, 0x7E, true, true},
		{0x7F, 0xFF, 0xFE, true, true}, // a NaN in the place of a number
		{0x7F, 0xFF, 0x7F, false, true},
		{0x7F, 0xFF, 0xFF, false, true},
		{0x7E, 0xFF, 0xFE, false, false},
		{0x7F, 0x7E, 0xFF, false, false},
		{0x7D, 0x7E, 0xFF, false, false},
	} {
		for nan, want := range map[Strictness]bool{Bits: c.bits, ByClass: c.byClass} {
			x := NewComparer(fp.E4M3, Policy{NaN: nan})
			if got := x.Explains(c.got, c.want, c.other); got != want {
				t.Errorf("%02X for %02X where the other is %02X, by %s: %v", c.got, c.want, c.other, nan, got)
			}
		}
	}
}

// TestCompareAllCodes: the class follows from what the codes stand for.
func TestCompareAllCodes(t *testing.T) {
	for x := range uint64(256) {
		for y := range uint64(256) {
			a, b := decode(fp.E5M2, x), decode(fp.E5M2, y)
			want := Value
			switch {
			case x == y:
				want = Same
			case a.kind == NotANumber && b.kind == NotANumber:
				want = NaNCode
			case a.kind == NotANumber || b.kind == NotANumber:
				want = NaN
			case a.kind != b.kind:
				want = Inf
			case a.isZero() && b.isZero():
				want = ZeroSign
			}
			if got := Compare(fp.E5M2, Policy{}, x, y); got != want {
				t.Fatalf("%02X %02X: %s, want %s", x, y, got, want)
			}
		}
	}
}

func TestDefaultPolicy(t *testing.T) {
	for _, c := range []struct {
		a, b mma.Facets
		want Policy
	}{
		{0, 0, Policy{Bits, Bits}},
		{mma.FacetNaN, 0, Policy{NaN: ByClass}},
		{0, mma.FacetZero, Policy{Zero: ByClass}},
		{mma.FacetNaN, mma.FacetNaN | mma.FacetZero, Policy{ByClass, ByClass}},
	} {
		if got := DefaultPolicy(c.a, c.b); got != c.want {
			t.Errorf("%v, %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

func TestClassText(t *testing.T) {
	classes := []Class{Same, Value, ZeroSign, NaNCode, NaN, Inf, Fault}
	text, err := json.Marshal(classes)
	const want = `["same","value","zero-sign","nan-code","nan","inf","fault"]`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v, want %s", text, err, want)
	}
	var back []Class
	if err := json.Unmarshal(text, &back); err != nil || len(back) != len(classes) || back[6] != Fault {
		t.Errorf("read back as %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["other"]`), &back); err == nil {
		t.Error("no error for an unknown class")
	}
}
