package oracle

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/vectors"
)

// specVectors reads the vectors that the simulators are tested with, too.
func specVectors(t testing.TB) []vectors.Vector {
	file, err := os.Open("../sim/testdata/spec.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	vectors, err := vectors.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestSpecVectors(t *testing.T) {
	vectors := specVectors(t)
	const least = 100 // a truncated file is a failure
	if len(vectors) < least {
		t.Fatalf("%d vectors, want at least %d", len(vectors), least)
	}
	seen := map[string]bool{}
	for _, v := range vectors {
		if seen[v.ID] {
			t.Errorf("line %d: %s is there twice", v.Line, v.ID)
		}
		seen[v.ID] = true
		got := Eval(&v.Inst.Params, v.Inst.Formats, v.Inst.K, v.Dot)
		if v.AnyNaN && isNaN(v.Inst.D, got) {
			continue
		}
		if got != v.Want {
			t.Errorf("line %d: %s %s = %0*X, want %0*X", v.Line, v.ID, v.Inst.FullName(),
				v.Inst.D.Get().Digits(), got, v.Inst.D.Get().Digits(), v.Want)
		}
	}
}

func isNaN(id fp.ID, code uint64) bool { return decode(id, code).kind == NotANumber }

func TestReadVectors(t *testing.T) {
	const text = "# comment\n\n" +
		"x volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3C00,0000,0000,0000,3C00 00000001 = nan # a of one, b of five\n" +
		"y hopper/wgmma.m64n256k16.f32.f16.f16.c0 0000 0000 - = 00000000\n"
	v, err := vectors.Read(strings.NewReader(text))
	if err != nil || len(v) != 2 {
		t.Fatalf("%v, %v", v, err)
	}
	x := v[0]
	if x.ID != "x" || x.Line != 3 || !x.AnyNaN || !isNaN(fp.FP32, x.Want) || x.Inst.Arch != "volta" {
		t.Errorf("%+v", x)
	}
	if len(x.Dot.A) != 8 || len(x.Dot.B) != 8 || x.Dot.A[0] != 0x3C00 || x.Dot.B[4] != 0x3C00 || x.Dot.C != 1 {
		t.Errorf("%+v", *x.Dot)
	}
	if v[1].AnyNaN || v[1].Line != 4 || v[1].Inst.C != fp.None {
		t.Errorf("%+v", v[1])
	}
}

func TestReadVectorsErrors(t *testing.T) {
	const volta, mx = "volta/mma.m8n8k4.f32.f16.f16.f32", "blackwell/tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"
	all := mma.Catalog()
	refused := all[slices.IndexFunc(all, func(i mma.Instruction) bool { return i.Refuse != "" })].FullName()
	for _, c := range []struct{ line, want string }{
		{"x", "line 1: not of the form"},
		{"x " + volta + " 3C00 3C00 00000000 00000000", "not of the form"},
		{"x volta/mma.none 3C00 3C00 00000000 = 00000000", "nearest"},
		{"x nowhere/mma.none 3C00 3C00 00000000 = 00000000", "nowhere"},
		{"x " + refused + " 3C00 3C00 00000000 = 00000000", "no model"},
		{"x " + volta + " 3C 3C00 00000000 = 00000000", `a: "3C"`},
		{"x " + volta + " 3C00 3C00, 00000000 = 00000000", `b: ""`},
		{"x " + volta + " 3C00 3C0G 00000000 = 00000000", `b: "3C0G"`},
		{"x " + volta + " 3C00 3C00 - = 00000000", `c: "-"`},
		{"x " + volta + " 3C00 3C00 00000000 = 0000", `d: "0000"`},
		{"x " + volta + " 3C00 3C00 00000000 sa=7F sb=7F = 00000000", "no scales"},
		{"x " + mx + " 02 02 00000000 = 00000000", "sa=.. sb=.."},
		{"x " + mx + " 12 02 00000000 sa=7F,7F sb=7F,7F = 00000000", "e2m1"},
		{"x " + mx + " 02 02 00000000 sb=7F,7F sa=7F,7F = 00000000", "sa="},
		{"x " + mx + " 02 02 00000000 sa=7F,7F sb=7F = 00000000", "sb: 1 scales for 2 blocks"},
		{"x hopper/wgmma.m64n8k16.f32.f16.f16.c0 0000 0000 0000 = 00000000", `c: "0000"`}, // a needless c is still checked
	} {
		_, err := vectors.Read(strings.NewReader(c.line))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
}
