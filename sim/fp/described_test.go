package fp_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// TestDescribed looks at formats that names describe, with facts written by hand.
func TestDescribed(t *testing.T) {
	for _, tc := range []struct {
		name, is    string
		width, bits int
		one, most   uint64
		largest     float64
		inf, nan    bool
	}{
		{"e5m3", "e5m3", 2, 9, 15 << 3, 0xf7, 61440, true, true},
		{"E5M10-B15-Finite", "e5m10-finite", 2, 16, 0x3c00, 0x7fff, 131008, false, false}, // Arm's alternative half precision
		{"e4m3-b11-fnuz", "e4m3-b11-fnuz", 1, 8, 11 << 3, 0x7f, 30, false, true},
		{"e3m4", "e3m4", 1, 8, 3 << 4, 0x6f, 15.5, true, true},
		{"e4m3-ieee", "e4m3-ieee", 1, 8, 7 << 3, 0x77, 240, true, true},
		{"e8m23-ieee", "fp32", 4, 32, 0x3f800000, 0x7f7fffff, 0x1.fffffep127, true, true},
		{"e4m3-fn", "e4m3", 1, 8, 0x38, 0x7e, 448, false, true},
		{"e4m3-fnuz", "e4m3-fnuz", 1, 8, 7 << 3, 0x7f, 480, false, true},
		{"e4m3-b8-fnuz", "e4m3fnuz", 1, 8, 8 << 3, 0x7f, 240, false, true},
		{"ue5m10", "ue5m10", 2, 15, 0x3c00, 0x7bff, 65504, true, true},
		{"ue4m3-fn", "ue4m3", 1, 7, 0x38, 0x7e, 448, false, true},
		{"e6m13", "e6m13", 4, 20, 31 << 13, 0x7dfff, 0x1.fff8p31, true, true},
	} {
		id, err := fp.Parse(tc.name)
		if err != nil {
			t.Fatal(err)
		}
		f := id.Get()
		if again, err := fp.Parse(f.Name); f.Name != tc.is || again != id || err != nil {
			t.Errorf("%s is %s, and that is %s, %v", tc.name, f.Name, again, err)
		}
		if int(f.Width) != tc.width || int(f.Bits()) != tc.bits || f.HasInf() != tc.inf || f.HasNaN() != tc.nan {
			t.Errorf("%s: %+v", tc.name, *f)
		}
		if one, most := f.Float64(tc.one), f.Float64(f.MaxFinite()); one != 1 || f.MaxFinite() != tc.most || most != tc.largest {
			t.Errorf("%s: %x is %v, the largest number %x is %v", tc.name, tc.one, one, f.MaxFinite(), most)
		}
		for code := range uint64(1 << min(f.Bits()+f.Low, 16)) { // every number is itself
			if n := f.Decode(code); n.Class < fp.Inf && f.Encode(f.Dyadic(n), fp.RZ, fp.OverInf) != code {
				t.Fatalf("%s: code %x is read and written as %x", tc.name, code, f.Encode(f.Dyadic(n), fp.RZ, fp.OverInf))
			}
		}
	}
	for _, name := range []string{"e9m1", "e5m0", "e5m24", "e5m3-b256", "e5m3-b1234", "e5m3-none", "e8m23x", "e1m2", "ue4m3-fnuz"} {
		if id, err := fp.Parse(name); err == nil {
			t.Errorf("%s is read as %s", name, id)
		}
	}
	for _, name := range []string{"fp32-flags", "fp32-flags-vax", "e4m3-flags-arm", "tf32-flags-arm", "-flags-arm", "e2m1-flags-x86", "fp32-flags-arm-flags-arm"} {
		if id, err := fp.Parse(name); err == nil {
			t.Errorf("%s is read as %s", name, id)
		}
	}
	for _, of := range []fp.ID{fp.FP64, fp.FP32, fp.BF16, fp.E5M2} {
		id, err := fp.Parse(of.String() + "-flags-riscv")
		if err != nil || id.Flags() != fp.FlagsRISCV || id.Result() != of || id.Width() != 1 || id.Get().Emin() != of.Get().Emin() {
			t.Errorf("%s: %s with results in %s, %v", of, id, id.Result(), err)
		}
		if again, err := id.Result().WithFlags(id.Flags()); again != id || err != nil || of.Flags() != 0 {
			t.Errorf("%s is declared again as %s, %v", id, again, err)
		}
	}
	if got := fp.Flags(0x13).String() + " " + fp.Flags(0).String(); got != "invalid+underflow+inexact none" {
		t.Error(got)
	}
	for id, want := range map[fp.ID]string{fp.FP16: "ue5m10", fp.BF16: "ue8m7", fp.E4M3: "ue4m3", fp.E2M1: "ue2m1-finite"} {
		if got, err := id.Unsigned(); got.String() != want || err != nil {
			t.Errorf("%s without a sign is %s, %v, want %s", id, got, err, want)
		}
	}
	describeAll(t) // last: none can be described after it
}

// describeAll describes formats until there are too many, from several goroutines.
func describeAll(t *testing.T) {
	var wg sync.WaitGroup
	var refused atomic.Int32
	for bias := range 4 {
		wg.Go(func() {
			for n := range 3 * 23 {
				id, err := fp.Parse(fmt.Sprintf("e%dm%d-b%d", 6+n%3, 1+n/3, 1+bias))
				if err != nil {
					refused.Add(1)
				} else if got, err := fp.Parse(id.String()); got != id || err != nil {
					t.Errorf("%s is %s, %v", id, got, err)
				}
			}
		})
	}
	if wg.Wait(); refused.Load() == 0 {
		t.Error("276 formats were described, and none was refused")
	}
}
