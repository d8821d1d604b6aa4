package vulkan

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// validatorVar is the variable of the environment with the program spirv-val to take instead
// of that on the path.
const validatorVar = "MMAFUZZ_SPIRV_VAL"

// validate returns a function that has spirv-val look at a module. The test is skipped where
// there is none that knows the extensions of a probe.
func validate(t *testing.T, probe *offer) func(module []byte) error {
	t.Helper()
	program := os.Getenv(validatorVar)
	if program == "" {
		program = "spirv-val"
	}
	if _, err := exec.LookPath(program); err != nil {
		t.Skip("THE SHADERS ARE NOT VALIDATED: there is no spirv-val (Debian: spirv-tools)")
	}
	file := filepath.Join(t.TempDir(), "module.spv")
	run := func(module []byte) error {
		if err := os.WriteFile(file, module, 0o666); err != nil {
			return err
		}
		out, err := exec.Command(program, "--target-env", "vulkan1.3", file).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	err := run(probe.shader(0, 32).bytes())
	if err != nil && strings.Contains(err.Error(), "Invalid capability operand") && os.Getenv(validatorVar) == "" {
		t.Skipf("THE SHADERS WITH %s ARE NOT VALIDATED: this spirv-val is too old", probe.name())
	}
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// combination is an offer of one shape and some types.
func combination(a, b, c, d *component) *offer {
	return &offer{m: 16, n: 8, k: 32, a: a, b: b, c: c, d: d}
}

// combinations are all combinations of types that one could multiply: of A and B that have
// the same kind (floats of the same number of bits, or integers), and sums of that kind.
func combinations() []*offer {
	var all []*offer
	for i := range components {
		for j := range components {
			a, b := &components[i], &components[j]
			if a.integer() != b.integer() || a.bits != b.bits || !a.integer() && a.bits == 16 && a != b {
				continue
			}
			for x := range components {
				for y := range components {
					c, d := &components[x], &components[y]
					if c.integer() != a.integer() || d.integer() != a.integer() || c.integer() && c != d || c.bits < a.bits || d.bits < a.bits {
						continue
					}
					all = append(all, combination(a, b, c, d))
				}
			}
		}
	}
	return all
}

// TestShadersValid has spirv-val look at a shader of every combination of types, with both
// layouts, saturation and scope of the workgroup.
func TestShadersValid(t *testing.T) {
	all := combinations()
	if len(all) != 261 {
		t.Errorf("%d combinations", len(all)) // it is easy to lose some
	}
	for _, newest := range []bool{false, true} {
		t.Run(map[bool]string{false: "KHR_cooperative_matrix", true: "and bfloat16 and float8"}[newest], func(t *testing.T) {
			f := componentNamed("f16")
			probe := combination(f, f, f, f)
			if newest {
				probe = combination(componentNamed("e4m3"), componentNamed("e5m2"), componentNamed("f32"), componentNamed("bf16"))
			}
			valid := validate(t, probe)
			for n, o := range all {
				if n%tier.Of(16, 8, 1) != 0 || newest != (o.a.extension+o.b.extension+o.c.extension+o.d.extension != "") {
					continue
				}
				o.saturating = o.a.integer() && n%2 == 1
				if n%3 == 1 {
					o.workgroup = 128
				}
				if err := valid(o.shader(n%len(layouts), 32).bytes()); err != nil {
					t.Errorf("%s: %v", o.name(), err)
				}
			}
			// It sees mistakes: a B that is declared as an A.
			wrong := probe.shader(0, 32).bytes()
			swapUse(t, wrong)
			if err := valid(wrong); err == nil {
				t.Error("a multiplication of two A is valid")
			}
		})
	}
}

// swapUse makes the type of B one of A.
func swapUse(t *testing.T, module []byte) {
	t.Helper()
	word := func(at int) uint32 { return binary.LittleEndian.Uint32(module[4*at:]) }
	const typeMatrix, useOperand = 4456, 6
	last := 0
	for at := 5; 4*at < len(module); at += int(word(at) >> 16) {
		if word(at)&0xffff == typeMatrix {
			if last != 0 { // the second one is B's
				binary.LittleEndian.PutUint32(module[4*(at+useOperand):], word(last+useOperand))
				return
			}
			last = at
		}
	}
	t.Fatal("the module has no two types of matrices")
}

// TestKernels proves the tables of kernels to be complete, and runs tiles through them.
func TestKernels(t *testing.T) {
	n := 0
	for at, o := range combinations() {
		if o.unsupported() != "" || at%tier.Of(16, 4, 1) != 0 {
			continue
		}
		for _, shape := range [][3]int{{16, 8, 32}, {8, 8, 8}, {4, 4, 4}} {
			o.m, o.n, o.k = shape[0], shape[1], shape[2]
			i := o.instruction("vulkan")
			ks, err := kernels(&i, 32)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range ks {
				if err := k.Check(); err != nil {
					t.Errorf("%s: %s: %v", o.name(), k.Variant, err)
				}
				n++
			}
		}
	}
	if n == 0 {
		t.Error("no kernels")
	}
	// A device of tables alone, that shares no code with the packing.
	o := combination(componentNamed("e4m3"), componentNamed("e5m2"), componentNamed("f32"), componentNamed("f32"))
	i := o.instruction("vulkan")
	i.Params = mma.FMA(fp.FP32)
	target := &gpu.Target{Label: "vulkan:test", Rows: []mma.Instruction{i},
		Kernels: func(i *mma.Instruction) ([]*gpu.Kernel, error) { return kernels(i, 32) },
		Loader: lanes.Loader(func(i *mma.Instruction) (func(*mma.Batch, []byte), error) {
			m, err := sim.ForInstruction(i)
			if err != nil {
				return nil, err
			}
			return m.Run, nil
		})}
	if _, err := target.Open(&i); err != nil {
		t.Error(err)
	}
}

// TestNames has names that are read and written, and that are none.
func TestNames(t *testing.T) {
	for _, name := range []string{
		"coopmat.m16n16k16.f32.f16.f16.f32", "coopmat.m8n8k8.f16.f16.f16.f16", "coopmat.m16n8k32.f32.e4m3.e5m2.bf16.wg128",
		"coopmat.m16n16k32.s32.s8.u8.s32.sat", "coopmat.m1n1k1.u64.u64.u64.u64.sat.wg1", "coopmat.m8n8k8.f32.type77.f16.f32",
	} {
		if o, err := parse(name); err != nil || o.name() != name {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
	}
	for name, want := range map[string]string{
		"coopmat.m16n16k16.f32.f16.f16":             "is not of the form coopmat.m16n16k16.f32.f16.f16.f32",
		"mma.m16n8k16.f32.f16.f16.f32":              "is not of the form coopmat.m16n16k16.f32.f16.f16.f32",
		"coopmat.m16n16.f32.f16.f16.f32":            `"m16n16" is not a shape`,
		"coopmat.m16n0k16.f32.f16.f16.f32":          `"m16n0k16" is not a shape`,
		"coopmat.m16n16k99999.f32.f16.f16.f32":      `"m16n16k99999" is not a shape`,
		"coopmat.m16n16k16.f32.f16.f17.f32":         `unknown type "f17"`,
		"coopmat.m16n16k16.f32.f16.f16.f32.wg":      `"wg" is neither sat nor wg with a number of invocations`,
		"coopmat.m16n16k16.f32.f16.f16.f32.wg1.sat": `"sat" is neither sat nor wg with a number of invocations`,
		"coopmat.m016n16k16.f32.f16.f16.f32":        `is written "coopmat.m16n16k16.f32.f16.f16.f32"`,
	} {
		if o, err := parse(name); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %+v, %v, want %s", name, o, err, want)
		}
	}
}
