package hip

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// sourceOf returns the HIP C++ of kernels. It includes no header: hiprtc and any
// clang that knows the chip compile it.
func sourceOf(kernels ...string) string { return prelude + strings.Join(kernels, "") + end }

// prelude is what kernels have in common.
//
// A wave executes one instruction on as many tiles as that takes. Tiles beyond
// the last read the operands of the last one and write nothing: a matrix instruction
// needs all lanes.
const prelude = `#define MMAFUZZ_DEVICE static inline __attribute__((device))
#define MMAFUZZ_KERNEL(lanes) extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(lanes, lanes))) void

namespace mmafuzz {
typedef unsigned int u32;
typedef unsigned long long u64;

// Registers of a lane. They become whatever type a builtin takes.
template <int n> struct words {
    u32 w[n];
    template <class T> __attribute__((device)) operator T() const {
        static_assert(sizeof(T) == sizeof w, "the builtin takes another number of registers");
        return __builtin_bit_cast(T, *this);
    }
};

template <int n, class T> MMAFUZZ_DEVICE words<n> bits(T v) {
    static_assert(sizeof(T) == 4 * n, "the builtin returns another number of registers");
    return __builtin_bit_cast(words<n>, v);
}

// An f8f6f4 instruction takes 8, 6 or 4 registers, its builtin always 8.
template <int n> MMAFUZZ_DEVICE words<8> wide(words<n> v) {
    words<8> w = {};
    for (int r = 0; r < n; r++)
        w.w[r] = v.w[r];
    return w;
}

// The place of a lane's word r among the words of its tile, which is spread over so many lanes; this one is lane l.
template <int lanes, int unit> MMAFUZZ_DEVICE u32 place(u32 l, u32 r) { return (r / unit * lanes + l) * unit + r % unit; }

// The tiles share the registers: the lane belongs to tile lane / side % tiles of them.
template <int n, int unit, int lanes, int side, int tiles> MMAFUZZ_DEVICE words<n> load(const u32 *p, u64 size, u32 first, u32 last, u32 lane) {
    const u32 tile = first + lane / side % tiles, l = lane % side + lane / (side * tiles) * side;
    p += (tile < last ? tile : last) * size;
    words<n> v;
    for (u32 r = 0; r < n; r++)
        v.w[r] = p[place<lanes, unit>(l, r)];
    return v;
}

template <int n, int unit, int lanes, int side, int tiles> MMAFUZZ_DEVICE void store(words<n> v, u32 *p, u64 size, u32 first, u32 last, u32 lane) {
    const u32 tile = first + lane / side % tiles, l = lane % side + lane / (side * tiles) * side;
    if (tile > last)
        return;
    p += tile * size;
    for (u32 r = 0; r < n; r++)
        p[place<lanes, unit>(l, r)] = v.w[r];
}

// Each tile has n registers of its own.
template <int n, int unit, int lanes, int tiles> MMAFUZZ_DEVICE words<n * tiles> load_each(const u32 *p, u64 size, u32 first, u32 last, u32 lane) {
    words<n * tiles> v;
    for (u32 t = 0; t < tiles; t++) {
        const words<n> one = load<n, unit, lanes, lanes, 1>(p, size, first + t, last, lane);
        for (u32 r = 0; r < n; r++)
            v.w[t * n + r] = one.w[r];
    }
    return v;
}

template <int n, int unit, int lanes, int tiles> MMAFUZZ_DEVICE void store_each(words<n * tiles> v, u32 *p, u64 size, u32 first, u32 last, u32 lane) {
    for (u32 t = 0; t < tiles; t++) {
        words<n> one;
        for (u32 r = 0; r < n; r++)
            one.w[r] = v.w[t * n + r];
        store<n, unit, lanes, lanes, 1>(one, p, size, first + t, last, lane);
    }
}
`

const end = "} // namespace mmafuzz\n"

// text returns the kernel's function.
func (k *kernel) text() string {
	var s strings.Builder
	fmt.Fprintf(&s, "\nMMAFUZZ_KERNEL(%d) %s(const u32 *in, u32 *out, u32 tiles) {\n", k.lanes, k.entry())
	fmt.Fprintf(&s, "    const u32 lane = __builtin_amdgcn_workitem_id_x(), first = %d * __builtin_amdgcn_workgroup_id_x(), last = tiles - 1;\n", k.blocks)
	s.WriteString("    if (first > last)\n        return;\n")
	for _, r := range k.registers {
		fmt.Fprintf(&s, "    const auto %s = load%s(in + %d, %d, first, last, lane);\n", r.name, k.arguments(&r), r.from, k.inWords)
	}
	c := &k.registers[2]
	n := c.spread.words()
	if c.perTile {
		n *= k.blocks
	}
	fmt.Fprintf(&s, "    const auto d = bits<%d>(%s(%s));\n", n, k.builtin(), k.call())
	fmt.Fprintf(&s, "    store%s(d, out, %d, first, last, lane);\n}\n", k.arguments(c), k.outWords)
	return s.String()
}

// arguments returns, for an operand, the end of the name of load or store ("_each" or
// nothing) and the template arguments.
func (k *kernel) arguments(r *register) string {
	n, unit, lanes := r.spread.words(), r.spread.unit, r.spread.lanes()
	if r.perTile {
		return fmt.Sprintf("_each<%d, %d, %d, %d>", n, unit, lanes, k.blocks)
	}
	return fmt.Sprintf("<%d, %d, %d, %d, %d>", n, unit, lanes, r.spread.side, k.blocks)
}

// call returns the arguments of the builtin.
func (k *kernel) call() string {
	switch {
	case k.f8f6f4:
		a, b := k.codes()
		sa, sb := "0", "0"
		if k.inst.Scale != fp.None {
			sa, sb = "scale_a.w[0]", "scale_b.w[0]"
		}
		return fmt.Sprintf("wide(a), wide(b), c, %d, %d, 0, %s, 0, %s", a, b, sa, sb)
	case k.op == "mfma":
		return "a, b, c, 0, 0, 0"
	case k.op == "smfmac":
		return "a, b, c, index.w[0], 0, 0"
	case k.op == "swmmac":
		return "a, b, c, index.w[0]"
	case !k.gfx12 && k.d != "f32":
		return "a, b, c, false" // D in the low halves of the registers
	}
	return "a, b, c"
}
