package ptx_test

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/sass"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/toolkit"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// assemblers returns NVIDIA's assemblers on this machine.
func assemblers(t *testing.T) []toolkit.Tool {
	t.Helper()
	tools := toolkit.Find(t.Context(), "ptxas")
	if len(tools) == 0 {
		t.Skip("SKIPPED: no ptxas, so no text was assembled: python3 -m pip install 'nvidia-cuda-nvcc-cu12==12.9.*' nvidia-cuda-nvcc, or name one in MMAFUZZ_PTXAS")
	}
	return tools
}

// isEmulated reports whether, for an instruction of a chip, there is no machine instruction:
// FP8 of mma.sync on Hopper and Blackwell, as results on silicon say, too, Volta's shape on
// everything from Ampere on, integers of 4 bits from Hopper on and bits after Hopper.
func isEmulated(k *gpu.Kernel) bool {
	chip := strings.TrimRight(strings.TrimPrefix(k.Target, "sm_"), "a")
	name := k.Instruction.Name
	switch {
	case strings.HasPrefix(name, "mma.m8n8k4.f16") || strings.HasPrefix(name, "mma.m8n8k4.f32"):
		return !slices.Contains([]string{"70", "72", "75"}, chip)
	case regexp.MustCompile(`^mma\.(sp\.)?m16n8k\d+\.f(32|16)\.e[45]m`).MatchString(name):
		return slices.Contains([]string{"90", "100", "103", "110"}, chip)
	case regexp.MustCompile(`\.[su]4\.`).MatchString(name):
		return !slices.Contains([]string{"75", "80", "86", "87", "88", "89"}, chip)
	case strings.Contains(name, ".b1."):
		return !slices.Contains([]string{"75", "80", "86", "87", "88", "89", "90"}, chip)
	}
	return false
}

// TestPtxas assembles every kernel for its chip and looks at the machine code: it
// must hold the instruction that the kernel is about, unless that is known to be
// emulated.
func TestPtxas(t *testing.T) {
	tools := assemblers(t)
	kernels := every(t)
	if testing.Short() { // a sample
		const stride = 23
		for n := range len(kernels) / stride {
			kernels[n] = kernels[n*stride]
		}
		kernels = kernels[:len(kernels)/stride]
	}
	var mu sync.Mutex
	counts := map[string]int{}
	modules := make(chan *module)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			dir := t.TempDir()
			for m := range modules {
				done := assemble(t, tools, dir, m)
				mu.Lock()
				counts[done] += len(m.kernels)
				mu.Unlock()
			}
		})
	}
	for _, m := range join(kernels, 40) {
		modules <- m
	}
	close(modules)
	wg.Wait()
	t.Logf("kernels: %v", counts)
	if counts["assembled"] == 0 {
		t.Error("nothing was assembled")
	}
}

// assemble assembles a module with the oldest assembler that knows it.
func assemble(t *testing.T, tools []toolkit.Tool, dir string, m *module) string {
	t.Helper()
	n := slices.IndexFunc(tools, func(tool toolkit.Tool) bool { return tool.Knows(m.driver, m.target) })
	if n < 0 {
		return "skipped, no ptxas knows " + m.target
	}
	code, err := tools[n].Assemble(t.Context(), dir, m.target, m.source)
	if err != nil {
		t.Errorf("%v", err)
		return "refused"
	}
	functions, err := sass.Functions(code)
	if err != nil {
		t.Errorf("%s: %v", m.target, err)
		return "refused"
	}
	for _, k := range m.kernels {
		counts, ok := functions[k.Entry]
		if !ok || counts.Native(k.Needs) == isEmulated(k) {
			t.Errorf("%s %s: %s", k.Target, k.Entry, counts.Verdict(k.Needs))
		}
	}
	return "assembled"
}

// TestOpcodes compares what package sass finds in machine code with what NVIDIA's
// disassembler shows.
func TestOpcodes(t *testing.T) {
	if testing.Short() {
		t.Skip("the table does not change with -race or without cgo")
	}
	tools, readers := assemblers(t), toolkit.Find(t.Context(), "nvdisasm")
	if len(readers) == 0 {
		t.Skip("SKIPPED: no nvdisasm, so the table of opcodes was not compared: python3 -m pip install nvidia-cuda-nvdisasm, or name one in MMAFUZZ_NVDISASM")
	}
	reader := readers[len(readers)-1]
	dir := t.TempDir()
	for _, tc := range []struct{ arch, name, want string }{
		{"turing", "mma.m8n8k4.f32.f16.f16.f32", "HMMA 4"},
		{"turing", "mma.m16n8k8.f16.f16.f16.f16", "HMMA 1"},
		{"ampere", "mma.m8n8k4.f16.f16.f16.f16", "FFMA 16, FMUL 16, FADD 16, HADD2 44, F2FP 4"},
		{"ampere", "mma.m8n8k4.f32.f16.f16.f32", "FFMA 32, FADD 8, HADD2 24"},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32", "HMMA 1"},
		{"ampere", "mma.sp.m16n8k32.f32.bf16.bf16.f32", "HMMA 1"},
		{"ampere", "mma.m8n8k4.f64.f64.f64.f64.rm", "DMMA 1"},
		{"turing", "mma.m8n8k32.s32.u4.u4.s32", "IMMA.4 1"},
		{"ampere", "mma.m16n8k128.s32.b1.b1.s32.and.popc", "BMMA 1"},
		{"ampere", "mma.sp.m16n8k64.s32.s8.u8.s32.satfinite", "IMMA 1"},
		{"hopper", "mma.m16n8k32.s32.s4.s4.s32", "IMMA 2"},
		{"hopper", "wgmma.m64n8k32.s32.s8.u8", "IGMMA 1"},
		{"blackwell", "mma.m16n8k128.s32.b1.b1.s32.and.popc", "IMMA 4"},
		{"blackwell", "tcgen05.m128n8k32.kind::i8.s32.u8.s8", "UTCIMMA 1"},
		{"turing", "wmma.m16n16k16.f32.f16.f16.f32", "HMMA 4"},
		{"ampere", "wmma.m8n32k16.f32.bf16.bf16.f32", "HMMA 2"},
		{"hopper", "wmma.m16n16k8.f32.tf32.tf32.f32", "HMMA 4"},
		{"ada", "mma.sp.m16n8k64.f32.e4m3.e5m2.f32", "QMMA 1"},
		{"hopper", "mma.m16n8k16.f64.f64.f64.f64", "DMMA 1"},
		{"hopper", "mma.m16n8k32.f32.e4m3.e4m3.f32", "HMMA 2, FADD 4, F2FP 12"},
		{"hopper", "mma.m16n8k16.f16.e4m3.e4m3.f16", "HMMA 2, HADD2 2, F2FP 6"},
		{"hopper", "wgmma.m64n8k16.f32.bf16.bf16", "HGMMA 1"},
		{"hopper", "wgmma.m64n8k32.f16.e4m3.e5m2.c0", "QGMMA 1"},
		{"blackwell", "mma.m16n8k16.f64.f64.f64.f64", "DMMA 8"},
		{"blackwell", "tcgen05.m128n8k8.kind::tf32.f32.tf32.tf32", "UTCHMMA 1"},
		{"blackwell", "tcgen05.m128n8k32.kind::f8f6f4.f16.e2m3.e2m1.c0", "UTCQMMA 1"},
		{"blackwell", "tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e2m1.ue8m0", "UTCQMMA 1"},
		{"blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3", "UTCOMMA 1"},
		{"rtx-blackwell", "mma.m16n8k32.f32.e4m3.e5m2.f32", "QMMA 1"},
		{"rtx-blackwell", "mma.m16n8k32.kind::mxf8f6f4.block32.f32.e3m2.e2m1.f32.ue8m0", "QMMA.SF 1"},
		{"rtx-blackwell", "mma.sp.m16n8k128.kind::mxf4.block32.f32.e2m1.e2m1.f32.ue8m0", "OMMA.SF 1"},
	} {
		k := kernelsOf(t, tc.arch, tc.name, 0)[0]
		n := slices.IndexFunc(tools, func(tool toolkit.Tool) bool { return tool.Knows(k.Driver, k.Target) })
		if n < 0 || !reader.Knows(0, k.Target) {
			t.Logf("no ptxas or nvdisasm knows %s", k.Target)
			continue
		}
		code, err := tools[n].Assemble(t.Context(), dir, k.Target, k.Source)
		if err != nil {
			t.Fatal(err)
		}
		counts, err := sass.Scan(code)
		if err != nil {
			t.Fatal(err)
		}
		text, err := reader.Disassemble(t.Context(), dir, code)
		if err != nil {
			t.Fatal(err)
		}
		if got, seen := counts.String(), shown(text, counts); got != tc.want || seen != tc.want {
			t.Errorf("%s: %s, the disassembler shows %s, want %s", k.Entry, got, seen, tc.want)
		}
	}
}

var mnemonic = regexp.MustCompile(`(?m)^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+ )?(\w+)((?:\.\w+)*)`)

// shown counts the mnemonics of a disassembly that package sass knows.
func shown(text string, like sass.Counts) string {
	counts := sass.Counts{}
	for _, m := range mnemonic.FindAllStringSubmatch(text, -1) {
		name := m[1]
		switch {
		case strings.HasPrefix(m[2], ".SF"):
			name += ".SF"
		case strings.Contains(m[2], ".S4") || strings.Contains(m[2], ".U4"):
			name += ".4"
		}
		if _, ok := like[name]; ok || strings.HasSuffix(name, "MMA") {
			counts[name]++
		}
	}
	return counts.String()
}

// chips are those of the architectures, and others that have their instructions.
var chips = map[string][]string{
	"volta": {"sm_70", "sm_72"}, "turing": {"sm_75"}, "ampere": {"sm_80", "sm_86", "sm_87", "sm_88"}, "ada": {"sm_89"}, "hopper": {"sm_90"},
	"blackwell": {"sm_100"}, "blackwell-ultra": {"sm_103"}, "thor": {"sm_110"}, "rtx-blackwell": {"sm_120"}, "gb10": {"sm_121"},
}

// every returns the kernels of all instructions on all chips, all variants, for the
// smallest tiles, and those for the largest where tiles have any size.
func every(t *testing.T) []*gpu.Kernel {
	t.Helper()
	var list []*gpu.Kernel
	for i := range rows {
		if i.B == fp.One { // a conversion
			continue
		}
		m, least := ptx.Tile(i, 1, 1)
		_, most := ptx.Tile(i, 1, 1<<20)
		for _, n := range slices.Compact([]int{least, most}) {
			for _, chip := range chips[i.Arch] {
				ks, err := ptx.Kernels(i, chip, m, n)
				if err != nil {
					t.Errorf("%s: %v", i.FullName(), err)
				}
				list = append(list, ks...)
			}
		}
	}
	return list
}

// module is the text of several kernels, which saves time where all are assembled.
type module struct {
	target  string
	driver  int // as gpu.Kernel.Driver
	source  string
	kernels []*gpu.Kernel
}

// join makes modules of the kernels of each target and PTX version, of at most so
// many.
func join(kernels []*gpu.Kernel, most int) []*module {
	var all []*module
	open := map[string]*module{}
	for _, k := range kernels {
		head, body, _ := strings.Cut(k.Source, "\n\n")
		m := open[head]
		if m == nil || len(m.kernels) == most {
			m = &module{target: k.Target, driver: k.Driver, source: head + "\n"}
			open[head] = m
			all = append(all, m)
		}
		m.source += "\n" + body
		m.kernels = append(m.kernels, k)
	}
	return all
}
