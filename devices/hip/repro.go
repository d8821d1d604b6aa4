package hip

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() { gpu.RegisterReproducer(Reproduce) }

// Reproduce writes a HIP program that runs a case and needs nothing of this
// project. nil: no AMD GPU executes the instruction.
func Reproduce(c *gpu.Case) (map[string][]byte, error) {
	arch, _ := mma.FindArch(c.Instruction.Arch)
	row, err := mma.Lookup(c.Instruction.Arch, c.Instruction.Name)
	if err != nil || row.Name != c.Instruction.Name || row.Formats != c.Instruction.Formats || row.K != c.Instruction.K || !strings.HasPrefix(arch.Chip, "gfx") {
		return nil, nil // another maker's, or somebody's own
	}
	k, err := Kernel(c.Instruction, arch.Chip)
	if err != nil {
		return nil, err
	}
	words, err := steps(k, c)
	if err != nil {
		return nil, err
	}
	file := "repro_" + c.Side + ".hip"
	var s strings.Builder
	reproHead(&s, file, k, c)
	s.WriteString(k.Source)
	fmt.Fprintf(&s, reproData, len(words), k.InBytes/4, k.OutBytes/4, k.Out.At[0], cBit(k), c.Instruction.D.Get().CodeBits(),
		k.Threads, c.Result, c.OtherResult, strings.Join(nonZero(words), ", "))
	fmt.Fprintf(&s, reproMain, k.Entry, c.Instruction.Name, c.Instruction.D.Get().Digits(), strconv.QuoteToASCII(c.Target), strconv.QuoteToASCII(c.Other))
	return map[string][]byte{file: []byte(s.String())}, nil
}

// steps returns the packed inputs of a case, one for each time that the
// instruction runs: the dot product is D[0][0], and all else is zero. C of all
// but the first is the D before.
func steps(k *gpu.Kernel, c *gpu.Case) ([][]byte, error) {
	p, err := gpu.NewPacker(k)
	if err != nil {
		return nil, err
	}
	i := c.Instruction
	if c.K%i.K != 0 || c.K == 0 {
		return nil, fmt.Errorf("%d elements are no multiple of %d", c.K, i.K)
	}
	var all [][]byte
	for from := 0; from < c.K; from += i.K {
		b := mma.NewBatch(i.Formats, mma.Shape{M: k.M, N: k.N, K: i.K, Tiles: 1})
		blocks, first := i.Blocks(i.K), i.Blocks(from)
		d := &mma.Dot{A: c.Dot.A[from : from+i.K], B: c.Dot.B[from : from+i.K]}
		if from == 0 {
			d.C = c.Dot.C
		}
		if blocks > 0 {
			d.SA, d.SB = c.Dot.SA[first:first+blocks], c.Dot.SB[first:first+blocks]
		}
		b.Set(0, d)
		packed := make([]byte, k.InBytes)
		if err := p.Pack(packed, b); err != nil {
			return nil, err
		}
		all = append(all, packed)
	}
	return all, nil
}

// cBit returns where C[0][0] begins in the packed input.
func cBit(k *gpu.Kernel) int {
	for _, o := range k.In {
		if o.Role == gpu.RoleC {
			return o.At[0]
		}
	}
	return 0 // every instruction of AMD has a C
}

// nonZero lists the words of packed inputs that are not zero.
func nonZero(steps [][]byte) []string {
	var words []string
	for n, packed := range steps {
		for at := 0; at < len(packed); at += 4 {
			if v := binary.LittleEndian.Uint32(packed[at:]); v != 0 {
				words = append(words, fmt.Sprintf("{%d, %d, 0x%08x}", n, at/4, v))
			}
		}
	}
	if words == nil {
		words = []string{"{0, 0, 0}"}
	}
	return words
}

// reproHead writes what the case is, for people.
func reproHead(s *strings.Builder, file string, k *gpu.Kernel, c *gpu.Case) {
	i := c.Instruction
	fmt.Fprintf(s, "// One dot product on %s. Written by mmafuzz.\n//\n//\thipcc --offload-arch=native -o repro %s && ./repro\n//\n", i.FullName(), file)
	fmt.Fprintf(s, "// %s: %s\n// %s: %s\n//\n", oneLine(c.Target), code(i.D, c.Result), oneLine(c.Other), code(i.D, c.OtherResult))
	for n := range c.K {
		if c.Dot.A[n] != 0 || c.Dot.B[n] != 0 {
			fmt.Fprintf(s, "// p%d = %s * %s\n", n, code(i.A, c.Dot.A[n]), code(i.B, c.Dot.B[n]))
		}
	}
	for n := range c.Dot.SA {
		fmt.Fprintf(s, "// scales of block %d: %s, %s\n", n, code(i.Scale, c.Dot.SA[n]), code(i.Scale, c.Dot.SB[n]))
	}
	fmt.Fprintf(s, "// c = %s\n// All other products are zeros. Exit status: 0 if the GPU gives the first result, 1 if not.\n", code(i.C, c.Dot.C))
	s.WriteString("#include <hip/hip_runtime.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n")
}

// oneLine makes a line of a target's name, which may be any command.
func oneLine(name string) string { return strings.Join(strings.Fields(name), " ") }

// code writes a code and its value.
func code(f fp.ID, c uint64) string {
	return fmt.Sprintf("%0*x (%g)", f.Get().Digits(), c, f.Get().Float64(c))
}

// reproData is what differs from case to case.
const reproData = `
enum { steps = %d, in_words = %d, out_words = %d, d_bit = %d, c_bit = %d, bits_of_d = %d, threads = %d };
static const unsigned long long first_result = 0x%x, other_result = 0x%x;

// The words of the packed inputs that are not zero: step, place, word.
static const unsigned words[][3] = {%s};
`

// reproMain is the rest of the program.
const reproMain = `
static void check(hipError_t e, const char *call) {
    if (e != hipSuccess) {
        fprintf(stderr, "%%s: %%s\n", call, hipGetErrorString(e));
        exit(2);
    }
}

static unsigned long long get(const unsigned *p, int bit) {
    unsigned long long v = 0;
    for (int n = 0; n < bits_of_d; n++, bit++)
        v |= (unsigned long long)(p[bit / 32] >> bit %% 32 & 1) << n;
    return v;
}

static void put(unsigned *p, int bit, unsigned long long v) {
    for (int n = 0; n < bits_of_d; n++, bit++)
        p[bit / 32] = (p[bit / 32] & ~(1u << bit %% 32)) | (unsigned)(v >> n & 1) << bit %% 32;
}

int main() {
    static unsigned in[steps][in_words], out[out_words];
    for (auto &w : words)
        in[w[0]][w[1]] = w[2];
    unsigned *device_in, *device_out;
    check(hipMalloc((void **)&device_in, sizeof in[0]), "hipMalloc");
    check(hipMalloc((void **)&device_out, sizeof out), "hipMalloc");
    unsigned long long d = 0;
    for (int step = 0; step < steps; step++) {
        if (step > 0)
            put(in[step], c_bit, d);
        check(hipMemcpy(device_in, in[step], sizeof in[step], hipMemcpyHostToDevice), "hipMemcpy");
        hipLaunchKernelGGL(mmafuzz::%[1]s, dim3(1), dim3(threads), 0, 0, device_in, device_out, 1u);
        check(hipGetLastError(), "launch");
        check(hipDeviceSynchronize(), "hipDeviceSynchronize");
        check(hipMemcpy(out, device_out, sizeof out, hipMemcpyDeviceToHost), "hipMemcpy");
        d = get(out, d_bit);
    }
    printf("%[2]s gives %%0%[3]dllx\n%%0%[3]dllx: %%s\n%%0%[3]dllx: %%s\n", d, first_result, %[4]s, other_result, %[5]s);
    return d != first_result;
}
`
