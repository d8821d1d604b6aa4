package ptx_test

import (
	"fmt"
	"os"
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
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
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
// disassembler shows, and both with testdata/sass.tsv.
func TestOpcodes(t *testing.T) {
	if testing.Short() {
		t.Skip("the table does not change with -race or without cgo")
	}
	tools, readers := assemblers(t), toolkit.Find(t.Context(), "nvdisasm")
	if len(readers) == 0 {
		t.Skip("SKIPPED: no nvdisasm, so the table of opcodes was not compared: python3 -m pip install nvidia-cuda-nvdisasm, or name one in MMAFUZZ_NVDISASM")
	}
	const table = "testdata/sass.tsv"
	page, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	dir := t.TempDir()
	for _, line := range strings.Split(strings.TrimSpace(string(page)), "\n") {
		row := strings.Split(line, "\t")
		arch, name, ok := strings.Cut(row[0], "/")
		if !ok {
			now.WriteString(line + "\n") // the header
			continue
		}
		k := kernelsOf(t, arch, name, 0)[0]
		n := slices.IndexFunc(tools, func(tool toolkit.Tool) bool { return tool.Knows(k.Driver, k.Target) })
		reader := slices.IndexFunc(readers, func(tool toolkit.Tool) bool { return tool.Knows(0, k.Target) })
		if n < 0 || reader < 0 {
			t.Logf("no ptxas or nvdisasm knows %s", k.Target)
			now.WriteString(line + "\n")
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
		text, err := readers[reader].Disassemble(t.Context(), dir, code)
		if err != nil {
			t.Fatal(err)
		}
		if seen := shown(text, counts); counts.String() != seen {
			t.Errorf("%s: %s, the disassembler shows %s", k.Entry, counts, seen)
		}
		fmt.Fprintf(&now, "%s\t%s\t%s\n", row[0], counts, machine(text))
	}
	golden.File(t, table, now.String())
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

// machine lists the matrix instructions of a disassembly, and conversions of floating-point formats.
func machine(text string) string {
	var order []string
	counts := map[string]int{}
	for _, m := range mnemonic.FindAllStringSubmatch(text, -1) {
		if name := m[1] + m[2]; strings.HasSuffix(m[1], "MMA") || strings.HasPrefix(m[1], "F2F") {
			if counts[name]++; counts[name] == 1 {
				order = append(order, name)
			}
		}
	}
	for n, name := range order {
		order[n] = fmt.Sprintf("%s %d", name, counts[name])
	}
	if len(order) == 0 {
		return "-"
	}
	return strings.Join(order, ", ")
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
		if i.Conversion() { // a conversion
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
