package hip

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// compiled are the chips whose code is looked at: each that the catalogue knows.
var compiled = []string{"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1101", "gfx1102", "gfx1103",
	"gfx1150", "gfx1151", "gfx1152", "gfx1153", "gfx1200", "gfx1201"}

// TestCode compiles the kernels of each chip by each compiler that knows it, and
// looks for the one matrix instruction in the code of each.
func TestCode(t *testing.T) {
	if testing.Short() {
		t.Skip("what a compiler makes of the kernels does not change with -race or without cgo")
	}
	compilers := findClangs()
	for _, chip := range tier.Of(nil, []string{"gfx950"}, compiled) {
		t.Run(chip, func(t *testing.T) {
			n := 0
			for _, c := range compilers {
				objdump := strings.Replace(c.Path, "clang", "llvm-objdump", 1)
				if _, err := exec.LookPath(objdump); err != nil || !c.Knows(chip) {
					continue
				}
				t.Logf("%s, by %s", chip, c.Path)
				testCode(t, c, objdump, chip)
				n++
			}
			if n == 0 {
				t.Skipf("THE CODE FOR %s IS NOT LOOKED AT: there is no clang-N with lld-N and llvm-N that knows it", chip)
			}
		})
	}
}

func testCode(t *testing.T, c *clangProgram, objdump, chip string) {
	all := kernels(t, chip)
	object, err := c.Compile(t.Context(), joined(t, all), chip)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "kernels.co")
	if err := os.WriteFile(file, object, 0o666); err != nil {
		t.Fatal(err)
	}
	code, err := exec.Command(objdump, "-d", "--mcpu="+chip, "--no-show-raw-insn", file).Output()
	if err != nil {
		t.Fatal(err)
	}
	found := matrixInstructions(string(code))
	for _, k := range all {
		lines := found[k.Entry]
		if len(lines) != 1 {
			t.Errorf("%s: %d matrix instructions: %q", k.Entry, len(lines), lines)
			continue
		}
		if err := checkInstruction(k, lines[0]); err != "" {
			t.Errorf("%s: %s: %s", k.Entry, lines[0], err)
		}
	}
	checkDescriptors(t, object, all)
}

// joined returns the source of many kernels.
func joined(t testing.TB, all []*gpu.Kernel) string {
	t.Helper()
	var bodies []string
	for _, k := range all {
		body, begins := strings.CutPrefix(k.Source, prelude)
		body, ends := strings.CutSuffix(body, end)
		if !begins || !ends {
			t.Fatalf("%s does not begin and end as all do", k.Entry)
		}
		bodies = append(bodies, body)
	}
	return sourceOf(bodies...)
}

// matrixInstructions returns the matrix instructions in a disassembly, by function.
func matrixInstructions(code string) map[string][]string {
	function := regexp.MustCompile(`^[0-9a-f]+ <(\w+)>:$`)
	matrix := regexp.MustCompile(`^\s+(v_\w*(?:mfma|smfmac|wmma|swmmac)_.*?)\s*//`)
	found := map[string][]string{}
	name := ""
	for line := range strings.Lines(code) {
		line = strings.TrimSuffix(line, "\n")
		if f := function.FindStringSubmatch(line); f != nil {
			name = f[1]
		} else if m := matrix.FindStringSubmatch(line); m != nil {
			found[name] = append(found[name], m[1])
		}
	}
	return found
}

// checkInstruction describes what is wrong with the instruction of a kernel: it must be
// the one of the catalogue's name, with registers as the layouts have them and no
// modifiers but those that tell the formats.
func checkInstruction(k *gpu.Kernel, line string) string {
	mnemonic, rest, _ := strings.Cut(line, " ")
	formats := regexp.MustCompile(`_f8f6f4_(\w+)_(\w+)$`).FindStringSubmatch(k.Instruction.Name)
	wantMnemonic, wantModifiers := k.Instruction.Name, ""
	if formats != nil {
		wantMnemonic = strings.TrimSuffix(k.Instruction.Name, "_"+formats[1]+"_"+formats[2])
		code := map[string]string{"fp8": "0", "bf8": "1", "fp6": "2", "bf6": "3", "fp4": "4"}
		wantModifiers = " cbsz:" + code[formats[1]] + " blgp:" + code[formats[2]]
		wantModifiers = strings.NewReplacer(" cbsz:0", "", " blgp:0", "").Replace(wantModifiers)
		if strings.Contains(wantMnemonic, "scale") {
			wantModifiers = " op_sel_hi:[0,0,0]" + wantModifiers
		}
	}
	if mnemonic != wantMnemonic {
		return "not " + wantMnemonic
	}
	if want := strings.TrimSpace(wantMnemonic + wantModifiers); k.Needs != want {
		return "the kernel says that it needs " + k.Needs + ", not " + want
	}
	s := state(k.Instruction)
	widths := []int{s.c.words(), s.a.words(), s.b.words(), s.c.words()}
	switch {
	case s.kept > 0: // D is C; then the index
		widths[3] = 1
	case s.scaleBlocks > 0:
		widths = append(widths, 1, 1)
	}
	want := make([]string, len(widths))
	for n, w := range widths {
		want[n] = strconv.Itoa(w)
	}
	got, modifiers := operandWidths(rest)
	if strings.Join(got, " ") != strings.Join(want, " ") {
		return "registers " + strings.Join(got, " ") + ", want " + strings.Join(want, " ")
	}
	if modifiers != wantModifiers {
		return "modifiers" + modifiers + ", want" + wantModifiers
	}
	return ""
}

// operandWidths returns the registers of each operand, and what follows them.
func operandWidths(operands string) (widths []string, modifiers string) {
	register := regexp.MustCompile(`^[av](?:\d+|\[(\d+):(\d+)\])(?:, )?`)
	for {
		m := register.FindStringSubmatch(operands)
		if m == nil {
			return widths, operands
		}
		operands = operands[len(m[0]):]
		first, _ := strconv.Atoi(m[1])
		last, _ := strconv.Atoi(m[2])
		widths = append(widths, strconv.Itoa(last-first+1))
	}
}

// checkDescriptors looks at what a kernel begins with (LLVM's AMDGPUUsage, kernel
// descriptor): rounding to nearest, subnormal numbers everywhere, and no
// registers that spill to memory.
func checkDescriptors(t *testing.T, object []byte, all []*gpu.Kernel) {
	t.Helper()
	f, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		t.Fatal(err)
	}
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	descriptors := map[string][]byte{}
	for _, s := range symbols {
		if name, ok := strings.CutSuffix(s.Name, ".kd"); ok {
			section := f.Sections[s.Section]
			data, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			descriptors[name] = data[s.Value-section.Addr:][:s.Size]
		}
	}
	for _, k := range all {
		d := descriptors[k.Entry]
		if len(d) != 64 {
			t.Errorf("%s: a descriptor of %d bytes", k.Entry, len(d))
			continue
		}
		if spill := binary.LittleEndian.Uint32(d[4:]); spill != 0 {
			t.Errorf("%s: %d bytes of registers in memory", k.Entry, spill)
		}
		if mode := binary.LittleEndian.Uint32(d[48:]) >> 12 & 0xff; mode != 0xf0 {
			t.Errorf("%s: floating-point mode %#x, want f0", k.Entry, mode)
		}
	}
}

// TestWrongChip asks for instructions that a chip does not have.
func TestWrongChip(t *testing.T) {
	i, err := mma.Lookup("cdna3", "v_mfma_f32_16x16x8_xf32")
	if err != nil {
		t.Fatal(err)
	}
	for _, chip := range []string{"gfx950", "gfx90a", "gfx1030", "", "sm_90a"} {
		if k, err := Kernel(i, chip); err == nil || err.Error() != "cdna3/v_mfma_f32_16x16x8_xf32 is no instruction of "+chip {
			t.Errorf("%q: %v, %v", chip, k, err)
		}
	}
	i, err = mma.Lookup("hopper", "mma.m16n8k16.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	if k, err := Kernel(i, "sm_90"); err == nil || err.Error() != "hopper/mma.m16n8k16.f32.f16.f16.f32 is no matrix instruction of an AMD GPU" {
		t.Errorf("%v, %v", k, err)
	}
}
