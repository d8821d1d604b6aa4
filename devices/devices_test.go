package devices_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// archs is the list at the end of an error about architectures.
func archs() string {
	var names []string
	for _, a := range mma.Archs {
		names = append(names, a.Name)
	}
	return "(known: " + strings.Join(names, ", ") + ")"
}

func open(t testing.TB, name string) devices.Target {
	t.Helper()
	target, err := devices.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	return target
}

func TestOpen(t *testing.T) {
	for name, want := range map[string]string{
		"hopper": "sim:hopper", "sim:hopper": "sim:hopper", "sim:h100": "sim:hopper", "sm_90a": "sim:hopper",
		"ref:exact": "ref:exact", "oracle:gfx942": "oracle:cdna3",
	} {
		target := open(t, name)
		if target.Name() != want {
			t.Errorf("%s is %s, want %s", name, target.Name(), want)
		}
		if again := open(t, target.Name()); again.Name() != want {
			t.Errorf("%s opens %s", want, again.Name())
		}
		if target.Environment()["kind"] == "" {
			t.Errorf("%s: environment %v", name, target.Environment())
		}
		if err := target.Close(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"", `target "": unknown architecture "" ` + archs()},
		{"hoper", `target "hoper": unknown architecture "hoper" ` + archs()},
		{"sim:hoper", `target "sim:hoper": unknown architecture "hoper" ` + archs()},
		{"oracle:x", `target "oracle:x": unknown architecture "x" ` + archs()},
		{"cuda:0", `target "cuda:0": unknown kind "cuda" (known: exec, model, oracle, ref, replay, sim)`},
		{"Sim:hopper", `target "Sim:hopper": unknown kind "Sim" (known: exec, model, oracle, ref, replay, sim)`},
		{"ref:fma", `target "ref:fma": unknown reference "fma" (known: exact, fma32, fma32-rev, fma64, fma64-rev, mul32, mul32-rev, mul64, mul64-rev, mul)`},
		{"model:absent.json", `target "model:absent.json": open absent.json: no such file or directory`},
		{"replay:absent", `target "replay:absent": open absent: no such file or directory`},
		{"replay:devices_test.go", `target "replay:devices_test.go": devices_test.go: this is not an mmafuzz recording`},
		{"model:devices_test.go", `target "model:devices_test.go": devices_test.go: line 1: 'p' is no JSON: a value should begin there`},
	} {
		target, err := devices.Open(tc.name)
		if err == nil {
			t.Errorf("%s: opened %s", tc.name, target.Name())
		} else if err.Error() != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, err, tc.want)
		}
	}
}

func TestKinds(t *testing.T) {
	kinds := devices.Kinds()
	for _, k := range []string{"sim", "model", "ref", "replay", "oracle"} {
		if !strings.Contains(kinds[k], k+":") {
			t.Errorf("%s: help %q without an example", k, kinds[k])
		}
	}
	defer func() {
		if r := recover(); r != "devices: two backends for sim" {
			t.Errorf("registered twice: %v", r)
		}
	}()
	devices.Register("sim", nil, "again")
}

func TestSplit(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.rec")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ spec, target, instruction string }{
		{"hopper", "sim:hopper", ""},
		{"sim:hopper", "sim:hopper", ""},
		{"hopper/wgmma", "sim:hopper", "wgmma"},
		{"sim:hopper/mma.m16n8k16.f32.f16.f16.f32", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"},
		{"sim:blackwell/mma.m16n8k32.kind::f8f6f4", "sim:blackwell", "mma.m16n8k32.kind::f8f6f4"},
		{"oracle:hopper/mma", "oracle:hopper", "mma"},
		{"ref:exact", "ref:exact", ""},
		{"ref:exact/mma", "ref:exact", "mma"},
		{"sim:hopper/", "sim:hopper", ""},
		{"cuda:0/mma.m8n8k4.f64.f64.f64.f64", "cuda:0", "mma.m8n8k4.f64.f64.f64.f64"},
		{"replay:dir/file", "replay:dir/file", ""},
		{"replay:" + file, "replay:" + file, ""},
		{"replay:" + file + "/mma.kind::f16", "replay:" + file, "mma.kind::f16"},
		{"model:" + file + "/mma", "model:" + file, "mma"},
		{"model:" + file + "/", "model:" + file, ""},
		{"model:" + file + "/a/b", "model:" + file + "/a/b", ""},
		{"replay:" + dir + "/b.rec", "replay:" + dir + "/b.rec", ""},
		{"exec:" + file + "/mma", "exec:" + file + "/mma", ""},
		{"exec:./sim -x a/b", "exec:./sim -x a/b", ""},
		{"model:/a/b.json", "model:/a/b.json", ""},
		{`model:C:\a\b.json`, `model:C:\a\b.json`, ""},
	} {
		target, instruction := devices.Split(tc.spec)
		if target != tc.target || instruction != tc.instruction {
			t.Errorf("%s: %q and %q, want %q and %q", tc.spec, target, instruction, tc.target, tc.instruction)
		}
	}
}

func TestComparable(t *testing.T) {
	half := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	mx := mma.Formats{A: fp.E4M3, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}
	with := func(f mma.Formats, change func(f *mma.Formats)) mma.Formats {
		change(&f)
		return f
	}
	for _, tc := range []struct {
		a, b mma.Formats
		want string
	}{
		{half, half, ""},
		{mx, mx, ""},
		{with(half, func(f *mma.Formats) { f.A = fp.TF32 }), with(half, func(f *mma.Formats) { f.A = fp.XF32 }), ""},
		{half, with(half, func(f *mma.Formats) { f.A = fp.BF16 }), "A is fp16 on one side and bf16 on the other"},
		{half, with(half, func(f *mma.Formats) { f.B = fp.BF16 }), "B is fp16 on one side and bf16 on the other"},
		{half, with(half, func(f *mma.Formats) { f.C = fp.FP16 }), "C is fp32 on one side and fp16 on the other"},
		{half, with(half, func(f *mma.Formats) { f.C = fp.None }), "C is fp32 on one side and none on the other"},
		{half, with(half, func(f *mma.Formats) { f.D = fp.FP16 }), "D is fp32 on one side and fp16 on the other"},
		{mx, with(mx, func(f *mma.Formats) { f.A = fp.E4M3FNUZ }), "A is e4m3 on one side and e4m3fnuz on the other: the same bits are different numbers (OCP and FNUZ)"},
		{with(mx, func(f *mma.Formats) { f.B = fp.E5M2FNUZ }), with(mx, func(f *mma.Formats) { f.B = fp.E5M2 }),
			"B is e5m2fnuz on one side and e5m2 on the other: the same bits are different numbers (OCP and FNUZ)"},
		{mx, with(mx, func(f *mma.Formats) { f.Scale = fp.UE4M3 }), "scales is ue8m0 on one side and ue4m3 on the other"},
		{mx, with(mx, func(f *mma.Formats) { f.Scale, f.Block = fp.None, 0 }), "scales is ue8m0 on one side and none on the other"},
		{mx, with(mx, func(f *mma.Formats) { f.Block = 16 }), "scales stand for blocks of 32 and of 16"},
		{mx, with(mx, func(f *mma.Formats) { f.Down = 7 }), "products are multiplied by 2^-0 on one side and by 2^-7 on the other"},
	} {
		got := ""
		if err := devices.Comparable(tc.a, tc.b); err != nil {
			got = err.Error()
		}
		if got != tc.want {
			t.Errorf("%s and %s: %q, want %q", tc.a, tc.b, got, tc.want)
		}
	}
}

// pairText writes a pair: the instructions, and K.
func pairText(p devices.Pair) string {
	return p.A.Instruction().FullName() + " " + p.B.Instruction().FullName() + " " + p.Name() + " K=" + string(rune('0'+p.K/10)) + string(rune('0'+p.K%10))
}

func TestPairs(t *testing.T) {
	for _, tc := range []struct{ a, b, nameA, nameB, want string }{
		// the same name
		{"sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32", "",
			"ampere/mma.m16n8k16.f32.f16.f16.f32 hopper/mma.m16n8k16.f32.f16.f16.f32 mma.m16n8k16.f32.f16.f16.f32 K=16"},
		// a prefix
		{"sim:ampere", "sim:hopper", "mma.m16n8k4.f32", "", "ampere/mma.m16n8k4.f32.tf32.tf32.f32 hopper/mma.m16n8k4.f32.tf32.tf32.f32 mma.m16n8k4.f32.tf32.tf32.f32 K=04"},
		// each side its own, with the common multiple of K
		{"sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32",
			"ampere/mma.m16n8k8.f32.f16.f16.f32 hopper/mma.m16n8k16.f32.f16.f16.f32 mma.m16n8k8.f32.f16.f16.f32 ~ mma.m16n8k16.f32.f16.f16.f32 K=16"},
		{"sim:volta", "sim:turing", "mma.m8n8k4.f32.f16.f16.f32", "mma.m16n8k8.f32.f16.f16.f32",
			"volta/mma.m8n8k4.f32.f16.f16.f32 turing/mma.m16n8k8.f32.f16.f16.f32 mma.m8n8k4.f32.f16.f16.f32 ~ mma.m16n8k8.f32.f16.f16.f32 K=08"},
		// the nearest in K where the name is not there
		{"sim:hopper", "sim:cdna3", "mma.m16n8k8.f32.f16.f16.f32", "",
			"hopper/mma.m16n8k8.f32.f16.f16.f32 cdna3/v_mfma_f32_32x32x8_f16 mma.m16n8k8.f32.f16.f16.f32 ~ v_mfma_f32_32x32x8_f16 K=08"},
		{"sim:hopper", "sim:cdna3", "mma.m16n8k16.f32.f16.f16.f32", "",
			"hopper/mma.m16n8k16.f32.f16.f16.f32 cdna3/v_mfma_f32_16x16x16_f16 mma.m16n8k16.f32.f16.f16.f32 ~ v_mfma_f32_16x16x16_f16 K=16"},
		// TF32 and XF32
		{"sim:cdna3", "sim:ampere", "v_mfma_f32_16x16x8_xf32", "",
			"cdna3/v_mfma_f32_16x16x8_xf32 ampere/mma.m16n8k8.f32.tf32.tf32.f32 v_mfma_f32_16x16x8_xf32 ~ mma.m16n8k8.f32.tf32.tf32.f32 K=08"},
		// the other side's name only
		{"sim:hopper", "sim:cdna3", "", "v_mfma_f32_32x32x8_f16",
			"hopper/mma.m16n8k8.f32.f16.f16.f32 cdna3/v_mfma_f32_32x32x8_f16 mma.m16n8k8.f32.f16.f16.f32 ~ v_mfma_f32_32x32x8_f16 K=08"},
		// reference arithmetic takes the simulator's
		{"sim:hopper", "ref:exact", "mma.m16n8k16.f32.bf16.bf16.f32", "",
			"hopper/mma.m16n8k16.f32.bf16.bf16.f32 ref/mma.m16n8k16.f32.bf16.bf16.f32 mma.m16n8k16.f32.bf16.bf16.f32 K=16"},
		{"ref:fma32", "sim:hopper", "", "mma.m16n8k16.f32.bf16.bf16.f32",
			"ref/mma.m16n8k16.f32.bf16.bf16.f32 hopper/mma.m16n8k16.f32.bf16.bf16.f32 mma.m16n8k16.f32.bf16.bf16.f32 K=16"},
		{"ref:fma32", "sim:hopper", "mma.m16n8k16.f32.bf16.bf16.f32", "",
			"ref/mma.m16n8k16.f32.bf16.bf16.f32 hopper/mma.m16n8k16.f32.bf16.bf16.f32 mma.m16n8k16.f32.bf16.bf16.f32 K=16"},
	} {
		ps, err := devices.Pairs(open(t, tc.a), open(t, tc.b), tc.nameA, tc.nameB)
		if err != nil {
			t.Errorf("%s %s %s %s: %v", tc.a, tc.b, tc.nameA, tc.nameB, err)
			continue
		}
		if len(ps) != 1 || pairText(ps[0]) != tc.want || ps[0].TargetA != tc.a || ps[0].TargetB != tc.b {
			t.Errorf("%s %s:\n got %s of %s and %s\nwant %s", tc.a, tc.b, pairText(ps[0]), ps[0].TargetA, ps[0].TargetB, tc.want)
		}
		if ps[0].Formats() != ps[0].A.Instruction().Formats {
			t.Errorf("%s %s: formats %s", tc.a, tc.b, ps[0].Formats())
		}
	}
}

// TestAllPairs pairs all instructions of two targets: those that both have under one
// name with a model that was compared with results, where there are such.
func TestAllPairs(t *testing.T) {
	for _, tc := range []struct{ a, b string }{
		{"sim:ampere", "sim:ada"}, {"sim:ada", "sim:ampere"}, {"sim:hopper", "sim:hopper"}, {"sim:hopper", "sim:cdna3"},
		{"sim:hopper", "ref:fma32"}, {"sim:hopper", "ref:exact"},
	} {
		a, b := open(t, tc.a), open(t, tc.b)
		ps, err := devices.Pairs(a, b, "", "")
		if err != nil {
			t.Errorf("%s %s: %v", tc.a, tc.b, err)
			continue
		}
		got := map[string]bool{}
		for _, p := range ps {
			if got[p.Name()] {
				t.Errorf("%s %s: %s twice", tc.a, tc.b, p.Name())
			}
			got[p.Name()] = true
			if err := devices.Comparable(p.A.Instruction().Formats, p.B.Instruction().Formats); err != nil {
				t.Errorf("%s: %v", pairText(p), err)
			}
		}
		for _, i := range a.Instructions() {
			want := i.Refuse == "" && (devices.Usual(i) || i.D.Integer()) && takes(b, &i)
			if j, err := devices.Find(b, i.Name); b.Instructions() != nil {
				want = want && i.Checked() && err == nil && j.Name == i.Name && j.Refuse == "" && j.Checked()
			}
			if want && !got[i.Name] {
				t.Errorf("%s %s: no pair of %s", tc.a, tc.b, i.Name)
			}
			delete(got, i.Name)
		}
		for name := range got { // of instructions without one of the same name
			if tc.b != "sim:cdna3" {
				t.Errorf("%s %s: a pair %s", tc.a, tc.b, name)
			}
		}
		if len(ps) == 0 {
			t.Errorf("%s %s: no pairs", tc.a, tc.b)
		}
	}
}

// refusing is a target without a model of one of its instructions.
type refusing struct {
	devices.Target
	name string
}

func (r refusing) Instructions() []mma.Instruction {
	all := r.Target.Instructions()
	for n := range all {
		if all[n].Name == r.name {
			all[n].Refuse = "nobody knows"
		}
	}
	return all
}

// TestPairsRefused pairs an instruction with the nearest one where there is no model of
// the one of its name.
func TestPairsRefused(t *testing.T) {
	const name = "mma.m16n8k16.f32.f16.f16.f32"
	ps, err := devices.Pairs(open(t, "sim:ampere"), refusing{open(t, "sim:hopper"), name}, name, "")
	if err != nil {
		t.Fatal(err)
	}
	const want = "ampere/mma.m16n8k16.f32.f16.f16.f32 hopper/wgmma.m64n8k16.f32.f16.f16 mma.m16n8k16.f32.f16.f16.f32 ~ wgmma.m64n8k16.f32.f16.f16 K=16"
	if len(ps) != 1 || pairText(ps[0]) != want {
		t.Errorf("got %s\nwant %s", pairText(ps[0]), want)
	}
}

// takes reports whether a target opens an instruction.
func takes(target devices.Target, i *mma.Instruction) bool {
	if target.Instructions() != nil {
		return true
	}
	_, err := target.Open(i)
	return err == nil
}

func TestPairsErrors(t *testing.T) {
	for _, tc := range []struct{ a, b, nameA, nameB, want string }{
		{"ref:exact", "ref:fma32", "", "", "two reference arithmetics: name an instruction of a simulator on one side"},
		{"sim:ampere", "sim:hopper", "mma.m16n8k99", "", `sim:ampere has no instruction "mma.m16n8k99"; nearest: mma.m16n8k8.f32.f16.f16.f32, mma.m16n8k8.f16.f16.f16.f16, mma.m16n8k16.f32.f16.f16.f32, mma.m16n8k16.f16.f16.f16.f16, ...`},
		{"sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32", "x", `sim:ampere and sim:hopper: sim:hopper has no instruction "x"; nearest: mma.m8n8k4.f64.f64.f64.f64, wgmma.m64n8k16.f32.f16.f16, wgmma.m64n8k16.f16.f16.f16, mma.m8n8k4.f32.f16.f16.f32, ...`},
		{"sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k8.f32.bf16.bf16.f32",
			"sim:ampere and sim:hopper: ampere/mma.m16n8k8.f32.f16.f16.f32 and hopper/mma.m16n8k8.f32.bf16.bf16.f32 cannot be compared: A is fp16 on one side and bf16 on the other"},
		{"sim:hopper", "sim:cdna3", "wgmma.m64n8k32.f16.e4m3.e5m2", "",
			"sim:hopper and sim:cdna3: sim:cdna3 has no instruction with the formats of wgmma.m64n8k32.f16.e4m3.e5m2 (fp16.e4m3.e5m2.fp16)"},
		{"sim:ada", "sim:cdna3", "mma.m16n8k32.f32.e4m3.e5m2.f32", "v_mfma_f32_16x16x32_fp8_fp8",
			"sim:ada and sim:cdna3: ada/mma.m16n8k32.f32.e4m3.e5m2.f32 and cdna3/v_mfma_f32_16x16x32_fp8_fp8 cannot be compared: A is e4m3 on one side and e4m3fnuz on the other: the same bits are different numbers (OCP and FNUZ)"},
		{"sim:blackwell", "sim:ampere", "tcgen05.m128n8k64.kind::mxf4.", "",
			"sim:blackwell and sim:ampere: sim:ampere has no instruction with the formats of tcgen05.m128n8k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0 (fp32.e2m1.e2m1.fp32.block32.ue8m0)"},
		{"sim:hopper", "sim:hopper", "wgmma.m64n8k16.f32.f16.f16", "wgmma.m64n8k16.f32.f16.f16.c0",
			"sim:hopper and sim:hopper: hopper/wgmma.m64n8k16.f32.f16.f16 and hopper/wgmma.m64n8k16.f32.f16.f16.c0 cannot be compared: C is fp32 on one side and none on the other"},
		{"sim:rdna4", "sim:hopper", "v_wmma_f32_16x16x16_f16", "",
			"sim:rdna4 and sim:hopper: rdna4/v_wmma_f32_16x16x16_f16 cannot be simulated: the arithmetic of RDNA4 is unknown"},
		{"sim:rdna4", "sim:hopper", "", "", "sim:rdna4 and sim:hopper: no instructions"},
		{"sim:rdna3", "sim:rdna4", "bf16", "",
			"sim:rdna3 and sim:rdna4: rdna4/v_wmma_f32_16x16x16_bf16 cannot be simulated: the arithmetic of RDNA4 is unknown"},
		{"sim:blackwell", "sim:cdna4", "fp4", "",
			"sim:blackwell and sim:cdna4: cdna4/v_mfma_f32_16x16x128_f8f6f4_fp8_fp4 cannot be simulated: the arithmetic of CDNA4 is unknown; do not assume CDNA3's"},
		{"sim:blackwell", "sim:blackwell-ultra", "tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32", "",
			"sim:blackwell and sim:blackwell-ultra: blackwell-ultra/tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32 cannot be simulated: " +
				"no data for sm_103; Blackwell (sm_100) is the likely model: use sim:blackwell"},
		{"sim:ampere", "ref:fma32", "mma.m8n8k4.f64.f64.f64.f64", "",
			"sim:ampere and ref:fma32: ref:fma32: an FP32 chain cannot hold fp64"},
		{"sim:cdna2", "sim:ampere", "v_mfma_f32_32x32x2f32", "",
			"sim:cdna2 and sim:ampere: sim:ampere has no instruction with the formats of v_mfma_f32_32x32x2f32; for example mma.m16n8k4.f32.tf32.tf32.f32: A is fp32 on one side and tf32 on the other"},
	} {
		ps, err := devices.Pairs(open(t, tc.a), open(t, tc.b), tc.nameA, tc.nameB)
		if err == nil {
			t.Errorf("%s %s %s %s: %d pairs", tc.a, tc.b, tc.nameA, tc.nameB, len(ps))
		} else if err.Error() != tc.want {
			t.Errorf("%s %s %s %s:\n got %s\nwant %s", tc.a, tc.b, tc.nameA, tc.nameB, err, tc.want)
		}
	}
}

// TestPairsOfModels: a model has its instruction under any name, but a name that the other
// target does not have either is a mistake.
func TestPairsOfModels(t *testing.T) {
	const k8, k16 = "mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32"
	i, err := mma.Lookup("hopper", k16)
	if err != nil {
		t.Fatal(err)
	}
	mine := *i
	mine.Arch, mine.Name = "model", "mine"
	model, other, hopper := simulated.Target("model:mine", mine), simulated.Target("model:other", mine), open(t, "sim:hopper")
	for _, tc := range []struct {
		a, b       devices.Target
		name, want string
	}{
		{model, hopper, "mine", "model/mine hopper/" + k16 + " mine ~ " + k16 + " K=16"},
		{model, hopper, k8, "model/mine hopper/" + k8 + " mine ~ " + k8 + " K=16"},
		{hopper, model, k8, "hopper/" + k8 + " model/mine " + k8 + " ~ mine K=16"},
		{model, open(t, "ref:exact"), "mine", "model/mine ref/mine mine K=16"},
		{model, other, "mine", "model/mine model/mine mine K=16"},
		{model, other, "x", `model:mine has no instruction "x"; nearest: mine`},
		{model, open(t, "ref:exact"), "x", `model:mine has no instruction "x"; nearest: mine`},
		{model, hopper, "mma.m16n8k99", `sim:hopper has no instruction "mma.m16n8k99"; nearest: mma.m16n8k8.f32.f16.f16.f32, mma.m16n8k8.f16.f16.f16.f16, mma.m16n8k4.f64.f64.f64.f64, mma.m16n8k8.f64.f64.f64.f64, ...`},
	} {
		ps, err := devices.Pairs(tc.a, tc.b, tc.name, "")
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = pairText(ps[0])
		}
		if got != tc.want {
			t.Errorf("%s %s %s:\n got %s\nwant %s", tc.a.Name(), tc.b.Name(), tc.name, got, tc.want)
		}
	}
}

// TestUnchained has instructions whose D is not C's format: they cannot be
// executed twice, so not with another K.
func TestUnchained(t *testing.T) {
	i, err := mma.Lookup("volta", "mma.m8n8k4.f32.f16.f16.f16")
	if err != nil {
		t.Fatal(err)
	}
	wide := *i
	wide.Arch, wide.Name, wide.K = "model", "wide", 8
	a, b := open(t, "sim:volta"), simulated.Target("model:wide", wide)
	_, err = devices.Pairs(a, b, i.Name, "")
	want := "sim:volta and model:wide: volta/mma.m8n8k4.f32.f16.f16.f16 (K = 4) and model/wide (K = 8) cannot be compared: " +
		"D's format is not C's, so no longer dot product can be chained"
	if err == nil || err.Error() != want {
		t.Errorf("\n got %v\nwant %s", err, want)
	}
	if ps, err := devices.Pairs(b, simulated.Target("model:wide2", wide), "", ""); err != nil || len(ps) != 1 || ps[0].K != 8 {
		t.Errorf("with itself: %v, %v", ps, err)
	}
}

// TestFind finds instructions of targets; one that has a single instruction has
// it under any name.
func TestFind(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	single := simulated.Target("model:x", *i)
	for _, tc := range []struct {
		target     devices.Target
		name, want string
	}{
		{open(t, "sim:hopper"), "wgmma.m64n256k16.f32.f16.f16", "wgmma.m64n256k16.f32.f16.f16"},
		{open(t, "sim:cdna3"), "v_mfma_f32_16x16x16f16", "v_mfma_f32_16x16x16_f16"},
		{single, "mma.m16n8k16.f32.f16.f16.f32", i.Name},
		{single, "anything", i.Name},
		{single, "", i.Name},
	} {
		got, err := devices.Find(tc.target, tc.name)
		if err != nil || got.Name != tc.want {
			t.Errorf("%s %q: %v, %v, want %s", tc.target.Name(), tc.name, got, err, tc.want)
		}
	}
}

func TestOpenUnit(t *testing.T) {
	for _, tc := range []struct{ target, instruction, like, want string }{
		{"sim:hopper", "mma.m16n8k4.f32", "", "hopper/mma.m16n8k4.f32.tf32.tf32.f32"},
		{"ref:exact", "whatever", "hopper/mma.m16n8k4.f32", "ref/mma.m16n8k4.f32.tf32.tf32.f32"},
		{"ref:exact", "", "hopper/x", `sim:hopper has no instruction "x"; nearest: ` +
			"mma.m8n8k4.f64.f64.f64.f64, wgmma.m64n8k16.f32.f16.f16, wgmma.m64n8k16.f16.f16.f16, mma.m8n8k4.f32.f16.f16.f32, ..."},
		{"ref:exact", "", "x", `ref:exact works on any formats: name a unit that has them, as in ref:exact/sim:hopper/mma.m16n8k16.f32.f16.f16.f32, instead of "x"`},
		{"ref:exact", "", "none/x", `target "none": unknown architecture "none" ` + archs()},
		{"sim:none", "", "", `target "sim:none": unknown architecture "none" ` + archs()},
		{"sim:volta", "mma.m8n8k4.f16.x", "", `sim:volta has no instruction "mma.m8n8k4.f16.x"; nearest: mma.m8n8k4.f32.f16.f16.f32, mma.m8n8k4.f16.f16.f16.f16, mma.m8n8k4.f32.f16.f16.f16`},
	} {
		u, err := devices.OpenUnit(tc.target, tc.instruction, tc.like)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = u.Instruction().FullName()
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s %s %s:\n%s", tc.target, tc.instruction, tc.like, diff)
		}
	}
}

func TestFaultError(t *testing.T) {
	err := &devices.FaultError{Target: "cuda:0", What: "illegal instruction"}
	if got := err.Error(); got != "cuda:0: illegal instruction" {
		t.Error(got)
	}
	if err := devices.Refused(&mma.Instruction{Arch: "a", Name: "b"}); err != nil {
		t.Error(err)
	}
	if err := devices.Refused(&mma.Instruction{Arch: "a", Name: "b", Refuse: "c"}); err == nil || err.Error() != "a/b cannot be simulated: c" {
		t.Error(err)
	}
}

// served has some instructions of another target under a name of its own.
type served struct {
	devices.Target
	name  string
	insts []mma.Instruction
}

func (s served) Name() string                    { return s.name }
func (s served) Instructions() []mma.Instruction { return s.insts }

// TestPairsSelected compares a recording or a child process on all that it has, sums of integers and
// conversions among them; two simulators on these only where they are named, and it is said.
func TestPairsSelected(t *testing.T) {
	ampere, hopper := open(t, "sim:ampere"), open(t, "sim:hopper")
	names := []string{"mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k32.s32.s8.s8.s32", "cvt.rn.bf16.f32"}
	var insts []mma.Instruction
	for _, i := range ampere.Instructions() {
		if slices.Contains(names, i.Name) {
			insts = append(insts, i)
		}
	}
	for _, tc := range []struct {
		a, b devices.Target
		want []string
	}{
		{served{ampere, "exec:child", insts}, hopper, names},
		{hopper, served{ampere, "exec:child", insts}, names},
		{served{ampere, "replay:a.rec", insts}, served{ampere, "replay:b.rec", insts[1:]}, names[1:]},
		{served{ampere, "sim:other", insts}, served{ampere, "sim:another", insts}, names[:1]},
	} {
		ps, err := devices.Pairs(tc.a, tc.b, "", "")
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range ps {
			got = append(got, p.Name())
		}
		slices.Sort(got)
		if want := slices.Sorted(slices.Values(tc.want)); !slices.Equal(got, want) {
			t.Errorf("%s and %s are compared on %v, want %v", tc.a.Name(), tc.b.Name(), got, want)
		}
		left := devices.Unusual(tc.a, tc.b, ps)
		if len(left)+len(ps) != len(tc.want) && len(tc.want) > 1 || len(tc.want) == 1 && len(left) != 2 {
			t.Errorf("%s and %s: %v are said to be left out", tc.a.Name(), tc.b.Name(), left)
		}
	}
}

// TestPairsOfSelection pairs all that is selected: an instruction without a namesake with the nearest
// that is meant for the same.
func TestPairsOfSelection(t *testing.T) {
	for _, tc := range []struct{ a, b, inst, one string }{
		{"sim:hopper", "sim:blackwell", "fp8,bf16", "wgmma.m64n8k32.f32.e4m3.e4m3 ~ tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3"},
		{"sim:hopper", "sim:blackwell", "fp8,bf16", "wgmma.m64n8k16.f32.bf16.bf16 ~ tcgen05.m128n8k16.kind::f16.f32.bf16.bf16"},
		{"sim:hopper", "sim:blackwell", "fp8,bf16", "mma.m16n8k16.f32.bf16.bf16.f32"},
		{"sim:blackwell", "sim:hopper", "fp8", "tcgen05.m128n8k32.kind::f8f6f4.f32.e5m2.e4m3.c0 ~ wgmma.m64n8k32.f32.e5m2.e4m3.c0"},
		{"sim:hopper", "sim:ampere", "bf16", "wgmma.m64n8k16.f32.bf16.bf16 ~ mma.m16n8k16.f32.bf16.bf16.f32"},
		{"sim:rtx-blackwell", "sim:hopper", "mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32", "mma.m16n8k32.kind::f8f6f4.f32.e4m3.e4m3.f32 ~ wgmma.m64n8k32.f32.e4m3.e4m3"},
	} {
		ps, err := devices.Pairs(open(t, tc.a), open(t, tc.b), tc.inst, "")
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range ps {
			names = append(names, p.Name())
		}
		if !slices.Contains(names, tc.one) {
			t.Errorf("%s and %s, %s: no %s among %v", tc.a, tc.b, tc.inst, tc.one, names)
		}
	}
}
