package ptx

import (
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// warpgroup is the number of threads that execute wgmma, and loads and stores of tensor
// memory, together: four warps, which are a block here.
const warpgroup = 128

// wgmmaKernel is a kernel of wgmma.mma_async: one block a tile. B comes from shared
// memory, A from shared memory or from registers, C and D are in registers.
type wgmmaKernel struct {
	*form
	inRegisters bool // A is in registers
	in          buffer
	sharedA     matrix
	b           matrix
	a, c, d     registers
}

func newWgmmaKernel(f *form, n int, inRegisters bool) *wgmmaKernel {
	g := *f
	g.n = n
	w := &wgmmaKernel{form: &g, inRegisters: inRegisters, in: buffer{lanes: warpgroup}}
	i := f.inst
	wa := 8 * i.A.Width()
	if !inRegisters {
		w.sharedA = w.in.matrix(gpu.RoleA, wa, f.m, i.K)
	}
	w.b = w.in.matrix(gpu.RoleB, 8*i.B.Width(), n, i.K)
	if inRegisters {
		w.a = w.in.take("a", 4, 32)
		w.in.add(gpu.RoleA, wa, 0, f.m, i.K, func(row, k int) int { return w.a.factor(wa, 2, row, k) })
	}
	if i.C != fp.None {
		w.c = w.in.sums("c", gpu.RoleC, i.C, f.m, n)
	}
	return w
}

// text writes the module.
func (w *wgmmaKernel) text(t *target, entry string, inBytes, outBytes int) string {
	m := &module{}
	m.head(t, entry, warpgroup)
	m.op(".shared .align 128 .b8 matrices[%d]", (w.sharedA.rows+w.b.rows)*rowBytes)
	m.op(".reg .pred %%end, %%some, %%add")
	m.op(".reg .b32 %%tile, %%tiles, %%lane, %%shared, %%to, %%v<4>")
	m.op(".reg .b64 %%in, %%out, %%from, %%descA, %%descB")
	m.declare(w.d)
	if w.inRegisters {
		m.declare(w.a)
	}
	m.note("tile = block")
	m.op("ld.param.u32 %%tiles, [tiles]")
	m.op("mov.u32 %%tile, %%ctaid.x")
	m.op("mov.u32 %%lane, %%tid.x")
	m.op("setp.ge.u32 %%end, %%tile, %%tiles")
	m.op("@%%end ret")
	m.addresses(4, inBytes, outBytes)
	m.note("the matrices to shared memory")
	m.op("mov.u32 %%shared, matrices")
	m.op("ld.param.u64 %%from, [in]")
	m.op("cvta.to.global.u64 %%from, %%from")
	m.op("mad.wide.u32 %%from, %%tile, %d, %%from", inBytes)
	if w.inRegisters {
		m.fill("%from", warpgroup, w.b)
	} else {
		m.fill("%from", warpgroup, w.sharedA, w.b)
		m.describe("%descA", &w.sharedA, 0)
	}
	m.describe("%descB", &w.b, 0)
	m.op("bar.sync 0")
	w.multiply(m)
	m.store(&w.d, "%out")
	m.op("ret")
	m.WriteString("}\n")
	return m.String()
}

// multiply writes the instruction, with the loads and fences that it needs around it.
func (w *wgmmaKernel) multiply(m *module) {
	c := w.c
	c.name = "d" // wgmma adds to D's registers
	m.load(&c, "%in")
	for r := range w.d.n - c.n {
		m.op("mov.b32 %%d%d, 0", r)
	}
	a := "%descA"
	if w.inRegisters {
		m.load(&w.a, "%in")
		a = w.a.list()
	}
	scale := 1
	if w.c.n == 0 {
		scale = 0
	}
	m.op("setp.ne.b32 %%add, %d, 0", scale)
	m.note(w.inst.Name)
	m.op("wgmma.fence.sync.aligned")
	i := w.inst
	saturation := ""
	if w.ending == "satfinite" {
		saturation = ".satfinite"
	}
	m.op("wgmma.mma_async.sync.aligned.%s%s%s %s, %s, %%descB, %%add%s", w.shape(), saturation, types(i.D, i.A, i.B),
		w.d.list(), a, w.immediates())
	m.op("wgmma.commit_group.sync.aligned")
	m.op("wgmma.wait_group.sync.aligned 0")
	m.WriteByte('\n')
}

// immediates writes those that say that neither A nor B is negated, which instructions on
// integers do not have, and that no matrix in shared memory is transposed, which only those
// on types of 16 bits have.
func (w *wgmmaKernel) immediates() string {
	switch {
	case w.inst.A.Integer():
		return ""
	case w.inst.A.Width() != 2:
		return ", 1, 1"
	case w.inRegisters:
		return ", 1, 1, 0"
	}
	return ", 1, 1, 0, 0"
}

// build makes the kernel.
func (w *wgmmaKernel) build(t *target, k *gpu.Kernel) {
	out := buffer{lanes: warpgroup}
	w.d = out.sums("d", gpu.RoleD, w.inst.D, w.m, w.n)
	k.Threads, k.Tiles = warpgroup, 1
	k.In, k.InBytes = w.in.operands, w.in.bytes
	k.Out, k.OutBytes = out.operands[0], out.bytes
	k.Source = w.text(t, k.Entry, k.InBytes, k.OutBytes)
}
