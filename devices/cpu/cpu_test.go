package cpu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// open opens cpu:0, or skips where the machine has no instructions.
func open(t testing.TB) devices.Target {
	t.Helper()
	target, err := devices.Open("cpu:0")
	if err != nil {
		t.Skipf("THE PROCESSOR IS NOT TESTED: %v", err)
	}
	return target
}

// unit opens an instruction, or skips where the processor does not have it.
func unit(t testing.TB, name string) devices.Unit {
	t.Helper()
	if !slices.ContainsFunc(mma.Catalog(), func(i mma.Instruction) bool { return i.Name == name || i.Alias == name }) {
		t.Fatalf("no processor has %s", name)
	}
	target := open(t)
	i, err := devices.Find(target, name)
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	u, err := target.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// silicon skips a test of facts that an emulator may have otherwise.
func silicon(t testing.TB) {
	t.Helper()
	if e := emulator(open(t)); e != "" {
		t.Skipf("THE PROCESSOR IS NOT TESTED: this is %s", e)
	}
}

// emulator names the emulator of a target that is no processor, "" for silicon.
func emulator(target devices.Target) string { return target.Environment()["emulator"] }

func TestOpen(t *testing.T) {
	for _, name := range []string{"cpu:", "cpu:1", "cpu:x86"} {
		if _, err := devices.Open(name); err == nil || !strings.HasSuffix(err.Error(), "there is only cpu:0, the processor that this program runs on") {
			t.Errorf("%s: %v", name, err)
		}
	}
	all, err := cpu.Instructions()
	target, openErr := devices.Open("cpu:0")
	if err != nil {
		if all != nil || openErr == nil || !strings.HasSuffix(openErr.Error(), err.Error()) || !strings.Contains(err.Error(), "because this build has no assembly for ") {
			t.Errorf("%v, %v; open: %v", all, err, openErr)
		}
		t.Skipf("THE PROCESSOR IS NOT TESTED: %v", err)
	}
	if openErr != nil {
		t.Fatal(openErr)
	}
	n := 0 // without those of flags
	for _, i := range all {
		t.Logf("%-12s %2d modes  %s", i.Mnemonic, i.Modes, i.Missing)
		if i.Missing == "" {
			n += i.Modes
		}
		for _, name := range []string{i.Mnemonic, i.Mnemonic + ".ru"} {
			if got := cpu.Missing(name); got != i.Missing {
				t.Errorf("%s: missing because %q, not %q", name, got, i.Missing)
			}
		}
		if i.Missing == "" && i.Modes < 1 {
			t.Errorf("%s is executed, but has no row in the catalogue", i.Mnemonic)
		}
		if !slices.ContainsFunc(mma.Catalog(), func(row mma.Instruction) bool { return strings.HasPrefix(row.Name+".", i.Mnemonic+".") }) {
			t.Errorf("%s has no row of any architecture in the catalogue", i.Mnemonic)
		}
	}
	if got := cpu.Missing("mma.m16n8k16.f32.f16.f16.f32"); got != "" {
		t.Errorf("an instruction of a GPU is missing because %q", got)
	}
	rows := slices.DeleteFunc(slices.Clone(target.Instructions()), func(i mma.Instruction) bool { return i.D.Flags() != 0 })
	if target.Name() != "cpu:0" || len(rows) != n || target.Environment()["processor"] == "" {
		t.Errorf("%s, %d instructions, want %d; %v", target.Name(), len(rows), n, target.Environment())
	}
	if _, err := target.Open(&mma.Instruction{Name: "mma.m16n8k16.f32.f16.f16.f32"}); err == nil {
		t.Error("an instruction of a GPU was opened")
	}
}

// TestBlackBox checks that a unit does not claim to compute as the catalogue says.
func TestBlackBox(t *testing.T) {
	target := open(t)
	u, err := target.Open(&target.Instructions()[0])
	if err != nil {
		t.Fatal(err)
	}
	if u.Model() != nil {
		t.Error("the arithmetic of silicon is known")
	}
}

// TestFacts has single results that the rules of VDPBF16PS, of VFMADD231PS under
// its modes, of DPPS and of TDPBF16PS rest on. The pairs of elements are low, high.
func TestFacts(t *testing.T) {
	for _, tc := range []struct{ name, inst, dot, want string }{
		// The high pair first, two roundings: c=1, 2^24 and 1 in either place.
		{"high pair of 1, low of 2^24", "vdpbf16ps", "4b80,3f80 3f80,3f80 3f800000", "4b800001"},
		{"high pair of 2^24, low of 1", "vdpbf16ps", "3f80,4b80 3f80,3f80 3f800000", "4b800000"},
		{"the product is not rounded or flushed", "vdpbf16ps", "0000,2000 0000,1f80 00800000", "00c00000"},
		{"the sum in between is flushed", "vdpbf16ps", "2000,a000 2000,2000 00c00000", "00800000"},
		{"the sum in between overflows", "vdpbf16ps", "df80,5f80 5f80,5f80 3f800000", "7f800000"},
		{"the product is unbounded", "vdpbf16ps", "0000,5f80 0000,5f80 ff7fffff", "73800000"},
		{"subnormal c", "vdpbf16ps", "8000,8000 0000,0000 807fffff", "80000000"},
		{"subnormal element", "vdpbf16ps", "007f 7f00 00000000", "00000000"},
		{"inf times subnormal", "vdpbf16ps", "7f80 0001 00000000", "ffc00000"},
		{"low NaN before high", "vdpbf16ps", "7f81,7f82 3f80,3f80 7f800003", "7fc10000"},
		{"inf*0 in the high pair, low NaN", "vdpbf16ps", "7f81,7f80 3f80,0000 3f800000", "7fc10000"},
		{"inf*0 and c", "vdpbf16ps", "0000,7f80 0000,0000 7f800003", "7fc00003"},
		{"made NaN", "vdpbf16ps", "7f80 0000 3f800000", "ffc00000"},
		// Tininess after rounding.
		{"just below the smallest normal, flushed", "vfmadd231ps.daz.ftz", "00800000 15a6b52f 80800000", "80800000"},
		{"to nearest", "vfmadd231ps", "3f800000 33800000 3f800000", "3f800000"},
		{"up", "vfmadd231ps.ru", "3f800000 33800000 3f800000", "3f800001"},
		{"down", "vfmadd231ps.rd", "3f800000 b3000000 3f800000", "3f7fffff"},
		{"toward zero, overflow", "vfmadd231ps.rz", "7f7fffff 7f7fffff 00000000", "7f7fffff"},
		{"subnormal kept", "vfmadd231ps", "00000001 3f800000 00000001", "00000002"},
		{"subnormal operands flushed", "vfmadd231ps.daz", "00000001 4b800000 00000001", "00000000"},
		{"subnormal result flushed", "vfmadd231ps.ftz", "00400000 3f800000 00000001", "00000000"},
		{"cancellation, down", "vfmadd231ps.rd", "3f800000 3f800000 bf800000", "80000000"},
		{"double", "vfmadd231pd.ru", "3ff0000000000000 3c90000000000000 3ff0000000000000", "3ff0000000000001"},
		// (p0+p1)+(p2+p3), each rounded.
		{"the tree of DPPS", "dpps", "3f800000,4b800000,3f800000,cb800000 3f800000,3f800000,3f800000,3f800000 -", "3f800000"},
		{"its other pairs", "dpps", "4b800000,cb800000,3f800000,3f800000 3f800000,3f800000,3f800000,3f800000 -", "40000000"},
		{"NaN, number", "dpps", "00000000,00000000,7fc00003 3f800000,3f800000,3f800000 -", "7fc00003"},
		{"first pair before second", "dpps", "00000000,7fc00002,7fc00003 3f800000,3f800000,3f800000 -", "7fc00002"},
		{"NaN a before b", "dpps", "7fc00001 7fc00002 -", "7fc00001"},
		{"DPPD", "dppd", "7ff8000000000001,7ff8000000000002 3ff0000000000000,3ff0000000000000 -", "7ff8000000000001"},
		{"FP16", "vfmadd231ph", "3c00 1000 3c00", "3c00"},
		{"FP16 up", "vfmadd231ph.ru", "3c00 1000 3c00", "3c01"},
		{"FP16 subnormal", "vfmadd231ph", "0001 3c00 0001", "0002"},
		// AMX: even and odd elements apart, then C.
		{"chains of even and odd", "tdpbf16ps", "4b80,cb80,3f80,0000 3f80,3f80,3f80,0000 3f800000", "3f800000"},
		{"an even chain keeps what it can", "tdpbf16ps", "4b80,0000,4000 3f80,0000,3f80 cb800000", "40000000"},
		{"C last", "tdpbf16ps", "3f80,3f80 3f80,3f80 4b800000", "4b800001"},
		{"C's NaN first", "tdpbf16ps", "7f82 3f80 ff800081", "ffc00081"},
		{"the last NaN of a chain", "tdpbf16ps", "7f81,0000,7f82 3f80,0000,3f80 00000000", "7fc20000"},
		{"even before odd", "tdpbf16ps", "7f81,7f82 3f80,3f80 00000000", "7fc10000"},
	} {
		t.Run(tc.inst+" "+tc.name, func(t *testing.T) {
			u := unit(t, tc.inst)
			silicon(t)
			if got := devicetest.One(t, u, tc.dot); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.dot, got, tc.want)
			}
		})
	}
}

// TestNaNOfDPPS: which of two NaNs in neighbouring products is the result is up to
// the processor (Intel SDM, DPPS); the catalogue knows of two.
func TestNaNOfDPPS(t *testing.T) {
	u := unit(t, "dpps")
	silicon(t)
	want := map[string]string{"x86": "7fc00002", "zen4": "7fc00001"}[u.Instruction().Arch]
	if got := devicetest.One(t, u, "7fc00001,7fc00002 3f800000,3f800000 -"); got != want {
		t.Errorf("%s: %s, want %s", u.Instruction().Arch, got, want)
	}
}
