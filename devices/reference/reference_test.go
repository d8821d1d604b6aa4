package reference_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func open(t testing.TB, target, like string) devices.Unit {
	t.Helper()
	source, name, _ := strings.Cut(like, "/")
	u, err := devices.OpenUnit(target, name, "sim:"+source+"/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const (
	half   = "ampere/mma.m16n8k8.f32.f16.f16.f32"
	single = "cdna1/v_mfma_f32_16x16x4f32"
	double = "ampere/mma.m8n8k4.f64.f64.f64.f64"
	noC    = "hopper/wgmma.m64n8k16.f16.f16.f16.c0"

	// -2^23, -1/2, -1/4, -1/8 and c = 2^23.
	eq10 = "f000,b800,b400,b000 6400,3c00,3c00,3c00 4b000000"
	// (1+2^-12)^2 - 1 = 2^-11 + 2^-24
	square = "3f800800 3f800800 bf800000"
	// The same with 2^-27, in FP64: 2^-26 + 2^-54
	square64 = "3ff0000002000000 3ff0000002000000 bff0000000000000"
)

// TestReferences has results that were worked out by hand.
func TestReferences(t *testing.T) {
	for _, tc := range []struct{ target, like, dot, want string }{
		// -7/8 in order. The last first: 2^23-1/8 and 2^23-1/4 round to 2^23, 1/2 is left.
		{"ref:exact", half, eq10, "bf600000"},
		{"ref:fma32", half, eq10, "bf600000"},
		{"ref:fma32-rev", half, eq10, "bf000000"},
		{"ref:fma64", half, eq10, "bf600000"},
		{"ref:fma64-rev", half, eq10, "bf600000"},
		{"ref:mul32", half, eq10, "bf600000"},
		{"ref:mul32-rev", half, eq10, "bf000000"},
		{"ref:mul64", half, eq10, "bf600000"},
		{"ref:mul64-rev", half, eq10, "bf600000"},
		// The square's last bit is a tie when it is rounded.
		{"ref:exact", single, square, "3a000400"},
		{"ref:fma32", single, square, "3a000400"},
		{"ref:mul32", single, square, "3a000000"},
		{"ref:mul64", single, square, "3a000400"},
		{"ref:exact", double, square64, "3e50000001000000"},
		{"ref:fma64", double, square64, "3e50000001000000"},
		{"ref:mul64", double, square64, "3e50000000000000"},
		// Rounded once: 1 + 2^-11 + 2^-24 is above the tie of FP16, and no more
		// after it was rounded to FP32.
		{"ref:exact", noC, "3c00,2400,1000 3c00,2400,0400 -", "3c00"},
		{"ref:exact", noC, "3c00,1000,0001 3c00,3c00,3c00 -", "3c01"},
		{"ref:fma32", noC, "3c00,1000,0001 3c00,3c00,3c00 -", "3c00"},
	} {
		u := open(t, tc.target, tc.like)
		if u.Model() != nil {
			t.Errorf("%s: its arithmetic is known as %v", tc.target, u.Model())
		}
		if got := devicetest.One(t, u, tc.dot); got != tc.want {
			t.Errorf("%s %s %s: %s, want %s", tc.target, tc.like, tc.dot, got, tc.want)
		}
	}
}

// TestUnit checks what a reference says about itself.
func TestUnit(t *testing.T) {
	for target, unknown := range map[string]mma.Facets{"ref:exact": mma.FacetNaN | mma.FacetZero, "ref:fma32": mma.FacetNaN} {
		i := open(t, target, half).Instruction()
		ref, _ := oracle.FindReference(strings.TrimPrefix(target, "ref:"))
		if i.Arch != "ref" || i.Params != ref.Program(i.Formats) || i.Unknown != unknown || i.K != 8 || i.Name != "mma.m16n8k8.f32.f16.f16.f32" {
			t.Errorf("%s: %+v", target, i)
		}
	}
	// It can stand in for what has no model.
	u := open(t, "ref:exact", "rdna4/v_wmma_f32_16x16x16_f16")
	if got := devicetest.One(t, u, "3c00 3c00 00000000"); got != "3f800000" {
		t.Errorf("1*1 is %s", got)
	}
}

func TestRefused(t *testing.T) {
	for _, tc := range []struct{ target, like, want string }{
		{"ref:fma32", double, "ref:fma32: an FP32 chain cannot hold fp64"},
		{"ref:mul32-rev", double, "ref:mul32-rev: an FP32 chain cannot hold fp64"},
		{"oracle:rdna4", "rdna4/v_wmma_f32_16x16x16_f16", "rdna4/v_wmma_f32_16x16x16_f16 cannot be simulated: the arithmetic of RDNA4 is unknown"},
	} {
		source, name, _ := strings.Cut(tc.like, "/")
		if _, err := devices.OpenUnit(tc.target, name, "sim:"+source+"/"+name); err == nil || err.Error() != tc.want {
			t.Errorf("%s %s: %v, want %s", tc.target, tc.like, err, tc.want)
		}
	}
}

// TestOracle runs the slow interpreter as a target.
func TestOracle(t *testing.T) {
	for _, tc := range []struct{ target, inst, want string }{
		{"oracle:volta", "mma.m8n8k4.f32.f16.f16.f32", "00000000"},
		{"oracle:turing", "mma.m16n8k8.f32.f16.f16.f32", "bf000000"},
		{"oracle:h100", "mma.m16n8k8.f32.f16.f16.f32", "bf400000"},
	} {
		u, err := devices.OpenUnit(tc.target, tc.inst, "")
		if err != nil {
			t.Fatal(err)
		}
		if u.Model() == nil {
			t.Errorf("%s: its arithmetic is not known", tc.target)
		}
		if got := devicetest.One(t, u, eq10); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.target, got, tc.want)
		}
	}
}

// TestConcurrent runs one unit in many goroutines, on batches of different
// sizes, and breaks off.
func TestConcurrent(t *testing.T) {
	for _, u := range []devices.Unit{open(t, "ref:fma32", half), open(t, "oracle:ampere", half)} {
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				i := u.Instruction()
				b := mma.NewBatch(i.Formats, mma.Shape{M: 2, N: 2, K: i.K * (1 + n%2), Tiles: 3})
				for k := range len(b.A) / 2 {
					mma.Store(b.A, 2, k, 0x3c00)
				}
				for k := range len(b.B) / 2 {
					mma.Store(b.B, 2, k, 0x3c00)
				}
				out := make([]byte, 4*b.Dots())
				if err := u.Run(context.Background(), b, out); err != nil {
					t.Error(err)
				}
				for d := range b.Dots() { // 8 or 16 times 1
					if got, want := mma.Load(out, 4, d), uint64(0x41000000+n%2*0x800000); got != want {
						t.Errorf("%x, want %x", got, want)
					}
				}
			})
		}
		wg.Wait()
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		b := mma.NewBatch(u.Instruction().Formats, mma.Shape{M: 1, N: 1, K: 8, Tiles: 1})
		if err := u.Run(ctx, b, make([]byte, 4)); !errors.Is(err, context.Canceled) {
			t.Errorf("broken off: %v", err)
		}
	}
}
