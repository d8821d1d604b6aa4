package hip

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() { gpu.RegisterReproducer(reproduce) }

// reproduce returns a HIP program that runs a case and needs nothing of this
// project, nil if no AMD GPU executes the instruction.
func reproduce(c *gpu.Case) (map[string][]byte, error) {
	arch, _ := mma.FindArch(c.Instruction.Arch)
	row, err := mma.Lookup(c.Instruction.Arch, c.Instruction.Name)
	if err != nil || row.Name != c.Instruction.Name || row.Formats != c.Instruction.Formats || row.K != c.Instruction.K || !strings.HasPrefix(arch.Chip, "gfx") {
		return nil, nil // another vendor's instruction, or one that is not in the catalogue
	}
	if isVector(row) {
		return nil, nil // no kernel yet
	}
	k, err := Kernel(c.Instruction, arch.Chip)
	if err != nil {
		return nil, err
	}
	l, err := c.List(k)
	if err != nil {
		return nil, err
	}
	file := "repro_" + c.Side + ".hip"
	var s strings.Builder
	reproHead(&s, file, c)
	s.WriteString(k.Source)
	fmt.Fprintf(&s, reproData, l.Steps, l.InWords, l.OutWords, l.DBit, l.CBit, l.DBits,
		k.Threads, c.Result, c.OtherResult, strings.Join(l.Words, ", "))
	fmt.Fprintf(&s, reproMain, k.Entry, c.Instruction.Name, c.Instruction.D.Get().Digits(), strconv.QuoteToASCII(gpu.OneLine(c.Target)), strconv.QuoteToASCII(gpu.OneLine(c.Other)))
	return map[string][]byte{file: []byte(s.String())}, nil
}

// reproHead writes the beginning of the program: a description of the case, and includes.
func reproHead(s *strings.Builder, file string, c *gpu.Case) {
	fmt.Fprintf(s, "// One dot product on %s. Written by mmafuzz.\n//\n//\thipcc --offload-arch=native -o /tmp/repro %s && /tmp/repro\n//\n", c.Instruction.FullName(), file)
	s.WriteString(c.Describe("//"))
	s.WriteString("#include <hip/hip_runtime.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n")
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
