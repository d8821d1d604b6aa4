package ptx_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
)

// TestGolden keeps the text of one kernel of each form.
func TestGolden(t *testing.T) {
	for _, tc := range []struct{ arch, name string }{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32"},
		{"turing", "mma.m16n8k8.f16.f16.f16.f16"},
		{"ampere", "mma.m16n8k16.f32.bf16.bf16.f32"},
		{"ampere", "mma.m16n8k8.f32.tf32.tf32.f32"},
		{"ampere", "mma.sp.m16n8k32.f32.f16.f16.f32"},
		{"ada", "mma.m16n8k32.f16.e4m3.e5m2.f16"},
		{"ampere", "mma.m16n8k64.s32.s4.s4.s32.satfinite"},
		{"hopper", "mma.m16n8k8.f64.f64.f64.f64.rz"},
		{"hopper", "wgmma.m64n8k16.f16.f16.f16"},
		{"hopper", "wgmma.m64n8k32.f32.e4m3.e5m2.c0"},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f32.bf16.bf16"},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3"},
		{"thor", "tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32.c0"},
		{"rtx-blackwell", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m1.f32.ue8m0"},
		{"rtx-blackwell", "mma.sp.m16n8k128.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3"},
	} {
		for _, k := range kernelsOf(t, tc.arch, tc.name, 0)[:1] {
			golden.File(t, "testdata/"+k.Entry+".ptx", k.Source)
		}
	}
}

// TestDigest keeps a digest of the text and the tables of each kernel, so that a change shows
// what it touches.
func TestDigest(t *testing.T) {
	rows := map[string]string{}
	for _, k := range all(t) {
		sum := sha256.New()
		if err := json.NewEncoder(sum).Encode([]any{k.Source, k.In, k.Out, k.InBytes, k.OutBytes, k.Driver, k.Needs, k.Threads, k.Tiles}); err != nil {
			t.Fatal(err)
		}
		rows[fmt.Sprintf("%s:%s", k.Target, k.Entry)] += fmt.Sprintf(" %x", sum.Sum(nil)[:4]) // several architectures, if they have one target
	}
	var s strings.Builder
	for _, key := range slices.Sorted(maps.Keys(rows)) { // a row that moves within the catalogue changes nothing
		s.WriteString(key + rows[key] + "\n")
	}
	golden.Rows(t, "testdata/kernels.golden", s.String())
}

// TestTile asks for the tiles of batches of many shapes.
func TestTile(t *testing.T) {
	for _, tc := range []struct {
		arch, name string
		m, n       int
		rows, cols int
	}{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", 1, 1, 8, 8},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", 100, 100, 16, 8},
		{"hopper", "mma.m8n8k4.f64", 1, 1, 8, 8},
		{"hopper", "wgmma.m64n8k16.f32.f16.f16", 1, 1, 64, 8},
		{"hopper", "wgmma.m64n8k16.f32.f16.f16", 1, 9, 64, 16},
		{"hopper", "wgmma.m64n8k16.f32.f16.f16", 1, 1000, 64, 256},
		{"hopper", "wgmma.m64n96k16.f32.f16.f16", 1, 1, 64, 96}, // the name says which
		{"hopper", "wgmma.m64n8k32.s32.s8.s8", 1, 40, 64, 48},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f32.f16.f16", 1, 1, 128, 16},
		{"blackwell", "tcgen05.m64n8k16.kind::f16.f32.f16.f16", 64, 100, 128, 112},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f32.f16.f16", 1, 300, 128, 256},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0", 1, 300, 128, 128},
	} {
		i, err := mma.Lookup(tc.arch, tc.name)
		if err != nil {
			t.Fatal(err)
		}
		if rows, cols := ptx.Tile(i, tc.m, tc.n); rows != tc.rows || cols != tc.cols {
			t.Errorf("%s for %dx%d: %dx%d, want %dx%d", tc.name, tc.m, tc.n, rows, cols, tc.rows, tc.cols)
		}
	}
}

// TestTargets checks what a chip and an instruction make of the head of a module,
// and the errors where a chip has no such instruction.
func TestTargets(t *testing.T) {
	for _, tc := range []struct{ arch, name, chip, want string }{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "sm_70", "6.4 sm_70 10010"},
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "sm_72", "6.4 sm_72 10010"},
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", "sm_90", "7.8 sm_90 11080"},
		{"turing", "mma.m16n8k8.f32.f16.f16.f32", "sm_75", "6.5 sm_75 10020"},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "sm_80", "7.0 sm_80 11000"},
		{"turing", "mma.m8n8k16.s32.s8.u8.s32", "sm_75", "6.5 sm_75 10020"},
		{"ampere", "mma.m16n8k128.s32.b1.b1.s32.and.popc", "sm_80", "7.1 sm_80 11010"},
		{"hopper", "wgmma.m64n8k32.s32.s8.u8", "sm_90", "8.4 sm_90a 12040"},
		{"blackwell", "tcgen05.m128n8k32.kind::i8.s32.u8.s8", "sm_100", "8.6 sm_100a 12070"},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "sm_86", "7.1 sm_86 11010"},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "sm_87", "7.4 sm_87 11040"},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "sm_88", "9.0 sm_88 13000"},
		{"ada", "mma.m16n8k32.f32.e4m3.e4m3.f32", "sm_89", "8.4 sm_89 12040"},
		{"ada", "mma.m16n8k32.f16.e4m3.e4m3.f16", "sm_89", "8.7 sm_89 12080"},
		{"ada", "mma.m16n8k16.f32.e4m3.e4m3.f32", "sm_89", "8.7 sm_89 12080"},
		{"hopper", "mma.m16n8k4.f64", "sm_90", "7.8 sm_90 11080"},
		{"hopper", "mma.m8n8k4.f64", "sm_80", "7.0 sm_80 11000"},
		{"hopper", "wgmma.m64n8k8.f32.tf32.tf32", "sm_90", "8.0 sm_90a 12000"},
		{"hopper", "wgmma.m64n8k8.f32.tf32.tf32", "sm_90a", "8.0 sm_90a 12000"},
		{"ampere", "mma.sp.m16n8k32.f32.f16.f16.f32", "sm_80", "8.5 sm_80 12050"},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f32.f16.f16", "sm_100", "8.6 sm_100a 12070"},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f32.f16.f16", "sm_103", "8.8 sm_103a 12090"},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f32.f16.f16", "sm_110", "9.0 sm_110a 13000"},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "sm_100", "8.7 sm_100a 12080"},
		{"rtx-blackwell", "mma.m16n8k32.kind::f8f6f4.f32.e3m2.e2m1.f32", "sm_120", "8.7 sm_120a 12080"},
		{"rtx-blackwell", "mma.m16n8k32.kind::f8f6f4.f32.e3m2.e2m1.f32", "sm_121", "8.8 sm_121a 12090"},
		{"rtx-blackwell", "mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue8m0", "sm_120", "9.1 sm_120a 13010"},

		{"ampere", "mma.m8n8k128.s32.b1.b1.s32.and.popc", "sm_75", "sm_75 has no mma.m8n8k128.s32.b1.b1.s32.and.popc: sm_80 and newer chips have it"},
		{"turing", "mma.m16n8k8.f32.f16.f16.f32", "sm_70", "sm_70 has no mma.m16n8k8.f32.f16.f16.f32: sm_75 and newer chips have it"},
		{"hopper", "mma.m16n8k4.f64", "sm_80", "sm_80 has no mma.m16n8k4.f64.f64.f64.f64: sm_90 and newer chips have it"},
		{"hopper", "wgmma.m64n8k8.f32.tf32.tf32", "sm_100", "sm_100 has no wgmma.m64n8k8.f32.tf32.tf32: only sm_90a have it"},
		{"blackwell", "tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32", "sm_120", "sm_120 has no tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32: only sm_100a, sm_103a, sm_110a have it"},
		{"rtx-blackwell", "mma.m16n8k32.kind::f8f6f4.f32.e3m2.e2m1.f32", "sm_100", "sm_100 has no mma.m16n8k32.kind::f8f6f4.f32.e3m2.e2m1.f32: only sm_120a, sm_121a have it"},
		{"hopper", "mma.m16n8k4.f64", "sm_60", `no PTX is known for chip "sm_60"`},
		{"hopper", "mma.m16n8k4.f64", "gfx942", `no PTX is known for chip "gfx942"`},
		{"cdna3", "v_mfma_f32_32x32x8_f16", "sm_90", "cdna3/v_mfma_f32_32x32x8_f16 is not a PTX instruction"},
	} {
		i, err := mma.Lookup(tc.arch, tc.name)
		if err != nil {
			t.Fatal(err)
		}
		m, n := ptx.Tile(i, 1, 1)
		k, err := ptx.Kernel(i, tc.chip, m, n)
		var got string
		if err != nil {
			got = err.Error()
		} else {
			version, _, _ := strings.Cut(strings.TrimPrefix(k.Source, ".version "), "\n")
			got = fmt.Sprintf("%s %s %d", version, k.Target, k.Driver)
		}
		if got != tc.want {
			t.Errorf("%s for %s:\n got %s\nwant %s", tc.name, tc.chip, got, tc.want)
		}
	}
}

// TestShapes asks for tiles that cannot be.
func TestShapes(t *testing.T) {
	for _, tc := range []struct {
		arch, name string
		m, n       int
		want       string
	}{
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", 16, 16, "mma.m16n8k16.f32.f16.f16.f32: no kernel has tiles of 16x16: rows are 16, columns 8"},
		{"hopper", "wgmma.m64n8k16.f32.f16.f16", 64, 12, "wgmma.m64n8k16.f32.f16.f16: no kernel has tiles of 64x12: rows are 64, columns 8..256 step 8"},
		{"blackwell", "tcgen05.m128n8k16.kind::f16.f32.f16.f16", 64, 16, "tcgen05.m128n8k16.kind::f16.f32.f16.f16: no kernel has tiles of 64x16: rows are 128, columns 16..256 step 16"},
	} {
		i, err := mma.Lookup(tc.arch, tc.name)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := mma.FindArch(tc.arch)
		if _, err := ptx.Kernel(i, a.Chip, tc.m, tc.n); err == nil || err.Error() != tc.want {
			t.Errorf("%s, %dx%d:\n got %v\nwant %s", tc.name, tc.m, tc.n, err, tc.want)
		}
	}
	for _, name := range []string{"", "mma", "mma.sp", "x.y", "mma.m16.f32"} {
		if _, err := ptx.Kernel(&mma.Instruction{Arch: "hopper", Name: name}, "sm_90", 16, 8); err == nil {
			t.Errorf("%q is an instruction", name)
		}
	}
	odd := mma.Instruction{Arch: "hopper", Name: "mma.m16n8k16.f32.bf16.f16.f32", K: 16, Formats: mma.Formats{}}
	if _, err := ptx.Kernel(&odd, "sm_90", 16, 8); err == nil || err.Error() != "PTX has no instruction mma.m16n8k16.f32.bf16.f16.f32" {
		t.Errorf("a made-up instruction: %v", err)
	}
}
