package ptx

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// warps is the number of warps in a block, each with a tile of its own.
const warps = 4

// warpKernel is a kernel of mma.sync or mma.sp: one warp a tile.
type warpKernel struct {
	*form
	in     buffer
	a, b   registers
	c, d   registers
	sa, sb registers // scales; n = 0: none
	e      registers // metadata of a sparse A; n = 0: A is dense
	from   selectors
}

// selectors say where the scales are: in a register from byte first on, of both A and B,
// and in which lanes of each group of four: B's in lane threadB, A's in the pair of lanes
// threadA.
type selectors struct{ first, threadA, threadB int }

func newWarpKernel(f *form, from selectors) *warpKernel {
	w := &warpKernel{form: f, in: buffer{lanes: 32}, from: from}
	w.factors()
	w.c = w.in.sums("c", gpu.RoleC, f.inst.C, f.m, f.n)
	if f.scaled() {
		w.scales()
	}
	if f.sparse() {
		w.metadata()
	}
	return w
}

// factors lays out A and B.
func (w *warpKernel) factors() {
	i := w.inst
	wa, wb := w.container(i.A), w.container(i.B)
	halves := w.m / 8
	w.a = w.in.take("a", w.m*i.K*wa/(32*regBits(wa)), regBits(wa))
	w.in.add(gpu.RoleA, wa, w.shift(i.A), w.m, i.K, func(row, k int) int { return w.a.factor(wa, halves, row, k) })
	w.b = w.in.take("b", w.n*w.k*wb/(32*regBits(wb)), regBits(wb))
	w.in.add(gpu.RoleB, wb, w.shift(i.B), w.n, i.K, func(col, k int) int {
		if w.sparse() {
			k = w.kept(k)
		}
		return w.b.factor(wb, 1, col, k)
	})
	if w.sparse() {
		w.in.pad(wb, 1<<wb-1) // a NaN if the format has one: it must not be multiplied by A's zeros
	}
}

// scales lays out the scales: those of A come from two lanes of each group of four,
// rows g and g+8, those of B from one; the scales of a row are bytes next to each
// other. Every other byte is ignored (PTX ISA, "Block Scaling").
func (w *warpKernel) scales() {
	w.sa = w.in.take("sa", 1, 32)
	w.sb = w.in.take("sb", 1, 32)
	w.in.add(gpu.RoleSA, 8, 0, w.m, w.vec(), func(row, n int) int {
		return w.sa.place(0, row%8*4+2*w.from.threadA+row/8, 8*(w.from.first+n))
	})
	w.in.add(gpu.RoleSB, 8, 0, w.n, w.vec(), func(col, n int) int {
		return w.sb.place(0, col*4+w.from.threadB, 8*(w.from.first+n))
	})
	w.in.pad(8, 0xff)
}

// text writes the module.
func (w *warpKernel) text(t *target, entry string, inBytes, outBytes int) string {
	m := &module{}
	m.head(t, entry, 32*warps)
	all := w.inputs()
	m.warpTile(append(all, w.d)...)
	m.addresses(w.c.bits/8, inBytes, outBytes)
	for n := range all {
		m.load(&all[n], "%in")
	}
	m.note(w.inst.Name)
	m.op("%s %s", w.mnemonic(), w.arguments())
	m.WriteByte('\n')
	m.store(&w.d, "%out")
	m.op("ret")
	m.WriteString("}\n")
	return m.String()
}

// warpTile declares registers and finds the tile of a warp, which ends if there is none.
func (m *module) warpTile(regs ...registers) {
	m.op(".reg .pred %%end")
	m.op(".reg .b32 %%tile, %%tiles, %%lane, %%warp")
	m.op(".reg .b64 %%in, %%out")
	m.declare(regs...)
	m.note(fmt.Sprintf("tile = block*%d + warp", warps))
	m.op("ld.param.u32 %%tiles, [tiles]")
	m.op("mov.u32 %%tile, %%ctaid.x")
	m.op("mov.u32 %%lane, %%tid.x")
	m.op("shr.u32 %%warp, %%lane, 5")
	m.op("and.b32 %%lane, %%lane, 31")
	m.op("mad.lo.u32 %%tile, %%tile, %d, %%warp", warps)
	m.op("setp.ge.u32 %%end, %%tile, %%tiles")
	m.op("@%%end ret")
}

// addresses points %in and %out at the first words of a lane, of the given number of bytes;
// with 0 at those of the tile.
func (m *module) addresses(word, inBytes, outBytes int) {
	m.note(map[bool]string{true: "the tile", false: "the lane's first words"}[word == 0])
	m.op("ld.param.u64 %%in, [in]")
	m.op("ld.param.u64 %%out, [out]")
	m.op("cvta.to.global.u64 %%in, %%in")
	m.op("cvta.to.global.u64 %%out, %%out")
	m.op("mad.wide.u32 %%in, %%tile, %d, %%in", inBytes)
	m.op("mad.wide.u32 %%out, %%tile, %d, %%out", outBytes)
	if word > 0 {
		m.op("mad.wide.u32 %%in, %%lane, %d, %%in", word)
		m.op("mad.wide.u32 %%out, %%lane, %d, %%out", word)
	}
}

// inputs lists the registers that are loaded.
func (w *warpKernel) inputs() []registers {
	var all []registers
	for _, r := range []registers{w.a, w.b, w.c, w.sa, w.sb, w.e} {
		if r.n > 0 {
			all = append(all, r)
		}
	}
	return all
}

// mnemonic writes the instruction with its qualifiers.
func (w *warpKernel) mnemonic() string {
	i := w.inst
	var s strings.Builder
	s.WriteString("mma")
	if w.sparse() {
		s.WriteString(".sp::ordered_metadata")
	}
	s.WriteString(".sync.aligned." + w.shape() + ".row.col")
	if w.kind != "" {
		s.WriteString(".kind::" + w.kind)
	}
	if w.scaled() {
		fmt.Fprintf(&s, ".block_scale.scale_vec::%dX", w.vec())
	}
	if w.ending == "satfinite" {
		s.WriteString(".satfinite")
	}
	s.WriteString(types(i.D, i.A, i.B, i.C))
	if w.scaled() {
		s.WriteString("." + typeName(i.Scale))
	}
	if w.ending != "" && w.ending != "satfinite" {
		s.WriteString("." + w.ending)
	}
	return s.String()
}

// arguments writes the operands.
func (w *warpKernel) arguments() string {
	args := []string{w.d.list(), w.a.list(), w.b.list(), w.c.list()}
	if w.sparse() {
		args = append(args, "%e0", "0")
	}
	if w.scaled() {
		args = append(args, "%sa0", fmt.Sprintf("{%d, %d}", w.from.first, w.from.threadA), "%sb0", fmt.Sprintf("{%d, %d}", w.from.first, w.from.threadB))
	}
	return strings.Join(args, ", ")
}

// build makes the kernel.
func (w *warpKernel) build(t *target, k *gpu.Kernel) {
	out := buffer{lanes: 32}
	w.d = out.sums("d", gpu.RoleD, w.inst.D, w.m, w.n)
	k.Threads, k.Tiles = 32*warps, warps
	k.In, k.InBytes = w.in.operands, w.in.bytes
	k.Out, k.OutBytes = out.operands[0], out.bytes
	k.Source = w.text(t, k.Entry, k.InBytes, k.OutBytes)
}
