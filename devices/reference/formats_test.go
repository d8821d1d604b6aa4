package reference_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// everyFormat returns formats that a child may announce: each format in the place of each
// operand, of all of them, of the scales, and of the result of operands of its own.
func everyFormat() []mma.Formats {
	var all []mma.Formats
	for _, id := range fp.All() {
		all = append(all,
			mma.Formats{A: id, B: fp.FP16, C: fp.FP32, D: fp.FP32},
			mma.Formats{A: fp.FP16, B: id, C: fp.FP32, D: fp.FP32},
			mma.Formats{A: fp.FP16, B: fp.FP16, C: id, D: fp.FP32},
			mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: id},
			mma.Formats{A: id, B: id, C: fp.None, D: fp.FP32},
			mma.Formats{A: id, B: id, C: fp.None, D: id},
			mma.Formats{A: id, B: id, C: id, D: id},
			mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: id, Block: 2},
			mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32, Down: 3, Scale: id, Block: 4})
	}
	return all
}

// TestEveryFormat has every reference for all formats: it refuses them when it is opened, with a
// sentence that says which format it cannot have, or it computes inputs of every generator.
func TestEveryFormat(t *testing.T) {
	for _, ref := range oracle.References {
		t.Run(ref.Name, func(t *testing.T) {
			t.Parallel()
			target, err := devices.Open("ref:" + ref.Name)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range everyFormat() {
				u, err := target.Open(&mma.Instruction{Name: "child", Formats: f, K: 4})
				if err == nil {
					runEveryGenerator(t, u)
				} else if !strings.HasPrefix(err.Error(), "ref:"+ref.Name+": ") {
					t.Errorf("%s: %v", f, err)
				}
			}
		})
	}
}

// TestRefusedResults has the sentences about results that no reference can give.
func TestRefusedResults(t *testing.T) {
	for _, tc := range []struct {
		target string
		d      fp.ID
		want   string
	}{
		{"ref:exact", fp.E8M0, "ref:exact: a sum can be negative or zero, which ue8m0 cannot hold"},
		{"ref:exact", fp.UE4M3, "ref:exact: a sum can be negative or zero, which ue4m3 cannot hold"},
		{"ref:exact", fp.E2M1, "ref:exact: a sum can be a NaN, which e2m1 does not have"},
		{"ref:exact", fp.E3M2, "ref:exact: a sum can be a NaN, which e3m2 does not have"},
		{"ref:fma32", fp.E2M1, "ref:fma32: a chain can give infinities, which e2m1 does not have"},
	} {
		target, err := devices.Open(tc.target)
		if err != nil {
			t.Fatal(err)
		}
		f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: tc.d}
		if _, err := target.Open(&mma.Instruction{Name: "child", Formats: f, K: 4}); err == nil || err.Error() != tc.want {
			t.Errorf("%s, results in %s: %v, want %s", tc.target, tc.d, err, tc.want)
		}
	}
}

// runEveryGenerator runs a unit on a tile or some of each generator.
func runEveryGenerator(t *testing.T, u devices.Unit) {
	t.Helper()
	f := u.Instruction().Formats
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", f, r)
		}
	}()
	for _, g := range gen.All() {
		b := mma.NewBatch(f, mma.Shape{M: g.M, N: g.N, K: 4, Tiles: 1 + 16/(g.M*g.N)})
		g.Aimed(gen.Spec{Formats: f, K: 4}).Fill(b, 1, 0)
		out := make([]byte, b.Dots()*f.D.Width())
		if err := u.Run(context.Background(), b, out); err != nil {
			t.Fatal(err)
		}
		for i := range b.Dots() {
			if code := mma.Load(out, f.D.Width(), i); code&^f.D.Get().CodeMask() != 0 {
				t.Errorf("%s: %x is no code of %s", f, code, f.D)
			}
		}
	}
}
