package devices_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
)

func TestSelect(t *testing.T) {
	for _, tc := range []struct{ target, selection, want string }{
		{"sim:volta", "mma.m8n8k4.f32.f16.f16.f32", "mma.m8n8k4.f32.f16.f16.f32"},
		{"sim:ampere", "tf32", "mma.m16n8k4.f32.tf32.tf32.f32 mma.m16n8k8.f32.tf32.tf32.f32 mma.sp.m16n8k8.f32.tf32.tf32.f32 mma.sp.m16n8k16.f32.tf32.tf32.f32"},
		{"sim:ampere", "mma*k8*tf32*,mma.m16n8k4*,mma.m*tf32*", "mma.m16n8k8.f32.tf32.tf32.f32 mma.sp.m16n8k8.f32.tf32.tf32.f32 mma.m16n8k4.f32.tf32.tf32.f32"},
		{"sim:hopper", "wgmma*f32.e4m3.e5m2", "wgmma.m64n8k32.f32.e4m3.e5m2"},
		{"sim:cdna3", "E5M2FNUZ", "v_mfma_f32_16x16x32_fp8_bf8 v_mfma_f32_16x16x32_bf8_fp8 v_mfma_f32_16x16x32_bf8_bf8 " +
			"v_mfma_f32_32x32x16_fp8_bf8 v_mfma_f32_32x32x16_bf8_fp8 v_mfma_f32_32x32x16_bf8_bf8"},
	} {
		some, err := devices.Select(open(t, tc.target), tc.selection)
		if err != nil {
			t.Errorf("%s %s: %v", tc.target, tc.selection, err)
		}
		var names []string
		for _, i := range some {
			names = append(names, i.Name)
		}
		if diff := cmp.Diff(tc.want, strings.Join(names, " ")); diff != "" {
			t.Errorf("%s %s: %s", tc.target, tc.selection, diff)
		}
	}
	for selection, want := range map[string]string{
		"fp8":       `sim:ampere has no instruction with operands in fp8`,
		"*e4m3*":    "sim:ampere has no instruction that fits *e4m3*",
		"tf32,fp4":  `sim:ampere has no instruction with operands in fp4`,
		"mma.m16n8": `"mma.m16n8" is the beginning of`,
	} {
		if some, err := devices.Select(open(t, "sim:ampere"), selection); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d instructions, %v, want %s", selection, len(some), err, want)
		}
	}
	if i, err := devices.Find(open(t, "sim:ampere"), "tf32"); err == nil || !strings.Contains(err.Error(), `"tf32" stands for 4 instructions, such as mma.m16n8k4`) {
		t.Errorf("%v, %v", i, err)
	}
}

// TestPairsOfSelections pairs what patterns and formats stand for: what both targets have under
// the same name, or else operands of the same formats, or by value.
func TestPairsOfSelections(t *testing.T) {
	for _, tc := range []struct{ a, b, nameA, nameB, want string }{
		{"sim:ampere", "sim:hopper", "mma.m*tf32*", "", "mma.m16n8k4.f32.tf32.tf32.f32, mma.m16n8k8.f32.tf32.tf32.f32"},
		{"sim:hopper", "sim:cdna3", "wgmma*e4m3.e4m3", "", "wgmma.m64n8k32.f32.e4m3.e4m3 ~ v_mfma_f32_16x16x32_fp8_fp8"},
		{"sim:cdna3", "sim:hopper", "", "wgmma*e4m3.e4m3", "v_mfma_f32_16x16x32_fp8_fp8 ~ wgmma.m64n8k32.f32.e4m3.e4m3"},
		{"ref:exact", "sim:hopper", "*m8n8k4.f64*f64", "", "mma.m8n8k4.f64.f64.f64.f64"},
		{"sim:hopper", "sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "*k16.f32.f16*,*k8.f32.f16*", "mma.m16n8k8.f32.f16.f16.f32"},
	} {
		pairs, err := devices.Pairs(open(t, tc.a), open(t, tc.b), tc.nameA, tc.nameB)
		if err != nil {
			t.Errorf("%+v: %v", tc, err)
		}
		var names []string
		for _, p := range pairs {
			names = append(names, p.Name())
		}
		if diff := cmp.Diff(tc.want, strings.Join(names, ", ")); diff != "" {
			t.Errorf("%+v: %s", tc, diff)
		}
	}
}
