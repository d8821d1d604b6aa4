package ptx

import (
	"fmt"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// tcgen05Kernel is a kernel of tcgen05.mma: blocks of one warpgroup, each of which
// executes tiles in a loop. A and B come from shared memory; C, D and the scales are in
// tensor memory, which the block allocates once. M is 128: row r is lane r of the
// tensor memory and thread r of the block.
type tcgen05Kernel struct {
	*form
	in     buffer
	a, b   matrix
	c, d   registers // one for each column: a cell of tensor memory, of which an FP16 number fills half
	sa, sb registers // scales: one for each 32 rows or columns, in 32 lanes
}

// chunk is how many columns of C or D are moved at a time.
const chunk = 16

func newTcgen05Kernel(f *form, n int) *tcgen05Kernel {
	i := f.inst
	g := *f
	g.m, g.n = 128, n
	k := &tcgen05Kernel{form: &g, in: buffer{lanes: warpgroup}}
	k.a = k.in.matrix(gpu.RoleA, int(i.A.Get().CodeBits()), 128, i.K)
	k.b = k.in.matrix(gpu.RoleB, int(i.B.Get().CodeBits()), n, i.K)
	if i.C != fp.None {
		k.c = k.in.cells("v", gpu.RoleC, n)
	}
	if f.scaled() {
		k.sa = k.in.scaleCells("sa", gpu.RoleSA, 128, f.vec())
		k.sb = k.in.scaleCells("sb", gpu.RoleSB, n, f.vec())
		k.in.pad(8, 0xff)
	}
	k.in.pad(4, 0xf)
	return k
}

// cells makes room for the n columns of C or D, which are moved to or from tensor memory.
func (b *buffer) cells(name string, role gpu.Role, n int) registers {
	r := b.take(name, n, 32)
	b.add(role, 32, 0, 128, n, func(i, j int) int { return r.place(j, i, 0) })
	return r
}

// scaleCells makes room for scales, which are moved to tensor memory: scale n of row r is
// byte n in lane r%32 of column r/32, and the same in the three other quarters of the lanes
// (PTX ISA, "Scale Factor A Layout in Tensor Memory").
func (b *buffer) scaleCells(name string, role gpu.Role, rows, vec int) registers {
	r := registers{name: name, n: (rows + 31) / 32, bits: 32, at: b.bytes, stride: 128}
	b.bytes += r.n * r.stride
	b.add(role, 8, 0, rows, vec, func(i, n int) int { return r.place(i/32, i%32, 8*n) })
	return r
}

// operandTypes are the codes of types in instruction descriptors.
var operandTypes = map[fp.ID]uint32{
	fp.FP16: 0, fp.BF16: 1, fp.TF32: 2,
	fp.E4M3: 0, fp.E5M2: 1, fp.E2M3: 3, fp.E3M2: 4, fp.E2M1: 5,
	fp.U8: 0, fp.S8: 1,
}

// sumTypes are those of D.
var sumTypes = map[fp.ID]uint32{fp.FP16: 0, fp.FP32: 1, fp.S32: 2}

// instructionDescriptor returns the 32 bits that say types and shape (PTX ISA,
// "Instruction descriptor").
func (k *tcgen05Kernel) instructionDescriptor() uint32 {
	i := k.inst
	a, b := operandTypes[i.A], operandTypes[i.B]
	n := uint32(k.n>>3) << 17
	if !k.scaled() {
		return sumTypes[i.D]<<4 | a<<7 | b<<10 | n | uint32(k.m>>4)<<24
	}
	if k.container(i.A) == 4 { // kind::mxf4 and mxf4nvf4
		a, b = 1, 1
	}
	var ue8m0 uint32
	if i.Scale == fp.E8M0 {
		ue8m0 = 1
	}
	return a<<7 | b<<10 | n | ue8m0<<23 | uint32(k.m>>7)<<27
}

// columns returns the columns of tensor memory that a block allocates: a power of
// two, at least 32. D comes first, then the scales of A, then those of B.
func (k *tcgen05Kernel) columns() int {
	return max(32, 1<<bits.Len(uint(k.n+k.sa.n+k.sb.n-1)))
}

// text writes the module.
func (k *tcgen05Kernel) text(t *target, entry string, inBytes, outBytes int) string {
	m := &module{}
	m.head(t, entry, warpgroup)
	m.op(".shared .align 128 .b8 matrices[%d]", (k.a.rows+k.b.rows)*rowBytes)
	m.op(".shared .align 8 .b64 barrier")
	m.op(".shared .align 4 .b32 memory")
	m.op(".reg .pred %%end, %%some, %%add, %%rest, %%first")
	m.op(".reg .b32 %%tile, %%tiles, %%blocks, %%lane, %%shared, %%to, %%barrier, %%memory, %%d, %%sa, %%sb, %%phase, %%v<%d>", chunk)
	m.op(".reg .b64 %%in, %%out, %%from, %%descA, %%descB")
	k.begin(m)
	m.WriteString("\nnext:\n")
	m.op("setp.ge.u32 %%end, %%tile, %%tiles")
	m.op("@%%end bra end")
	m.addresses(4, inBytes, outBytes)
	k.inputs(m, inBytes)
	k.multiply(m)
	k.outputs(m)
	m.op("add.u32 %%tile, %%tile, %%blocks")
	m.op("bra next")
	m.WriteString("\nend:\n")
	m.op("@%%rest bra exit")
	m.op("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%memory, %d", k.columns())
	m.WriteString("\nexit:\n")
	m.op("ret")
	m.WriteString("}\n")
	return m.String()
}

// begin allocates tensor memory, initialises the barrier and makes descriptors.
func (k *tcgen05Kernel) begin(m *module) {
	m.note("the first warp allocates, the first thread multiplies")
	m.op("ld.param.u32 %%tiles, [tiles]")
	m.op("mov.u32 %%tile, %%ctaid.x")
	m.op("mov.u32 %%blocks, %%nctaid.x")
	m.op("mov.u32 %%lane, %%tid.x")
	m.op("mov.u32 %%shared, matrices")
	m.op("mov.u32 %%barrier, barrier")
	m.op("mov.u32 %%memory, memory")
	m.op("mov.u32 %%phase, 0")
	m.describe("%descA", &k.a, 1<<46)
	m.describe("%descB", &k.b, 1<<46)
	m.op("setp.ne.u32 %%first, %%lane, 0")
	m.op("setp.ge.u32 %%rest, %%lane, 32")
	m.op("@%%rest bra allocated")
	m.op("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%memory], %d", k.columns())
	m.op("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned")
	m.op("@%%first bra allocated")
	m.op("mbarrier.init.shared::cta.b64 [%%barrier], 1")
	m.op("fence.mbarrier_init.release.cluster")
	m.WriteString("\nallocated:\n")
	m.op("tcgen05.fence::before_thread_sync")
	m.op("bar.sync 0")
	m.op("tcgen05.fence::after_thread_sync")
	m.op("ld.shared.b32 %%memory, [%%memory]")
	m.note("%d: the warp's lanes of tensor memory; scales are after D")
	m.op("and.b32 %%d, %%lane, 0x60")
	m.op("shl.b32 %%d, %%d, 16")
	m.op("add.u32 %%d, %%d, %%memory")
	m.op("add.u32 %%sa, %%memory, %d", k.n)
	m.op("add.u32 %%sb, %%memory, %d", k.n+k.sa.n)
	add := 1
	if k.c.n == 0 {
		add = 0
	}
	m.op("setp.ne.b32 %%add, %d, 0", add)
}

// inputs copies a tile's inputs to shared and tensor memory.
func (k *tcgen05Kernel) inputs(m *module, inBytes int) {
	for at := 0; at < k.c.n; at += chunk {
		part := registers{name: "v", n: chunk, bits: 32, at: k.c.at + at*k.c.stride, stride: k.c.stride}
		m.load(&part, "%in")
		m.op("tcgen05.st.sync.aligned.32x32b.x%d.b32 [%%d+%d], %s", chunk, at, part.list())
	}
	m.op("ld.param.u64 %%from, [in]")
	m.op("cvta.to.global.u64 %%from, %%from")
	m.op("mad.wide.u32 %%from, %%tile, %d, %%from", inBytes)
	if k.scaled() {
		m.note("every warp has the scales in its lanes")
		m.op("and.b32 %%to, %%lane, 31")
		m.op("mad.wide.u32 %%in, %%to, 4, %%from")
		column := k.n
		for _, s := range []registers{k.sa, k.sb} {
			for n := range s.n {
				m.op("ld.global.b32 %%v0, [%%in+%d]", s.at+n*s.stride)
				m.op("tcgen05.st.sync.aligned.32x32b.x1.b32 [%%d+%d], {%%v0}", column)
				column++
			}
		}
	}
	m.note("the matrices to shared memory")
	m.fill("%from", warpgroup, k.a, k.b)
	m.op("tcgen05.wait::st.sync.aligned")
	m.op("tcgen05.fence::before_thread_sync")
	m.op("bar.sync 0")
}

// multiply writes the instruction, with the commit and the wait that it needs.
func (k *tcgen05Kernel) multiply(m *module) {
	kind, scales := k.kind, ""
	if k.scaled() {
		kind += fmt.Sprintf(".block_scale.scale_vec::%dX", k.vec())
		scales = "[%sa], [%sb], "
	}
	m.note(k.inst.Name)
	m.op("@%%first bra wait")
	m.op("tcgen05.fence::after_thread_sync")
	m.op("tcgen05.mma.cta_group::1.kind::%s [%%memory], %%descA, %%descB, 0x%x, %s%%add", kind, k.instructionDescriptor(), scales)
	m.op("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%%barrier]")
	m.WriteString("\nwait:\n")
	m.op("mbarrier.try_wait.parity.shared::cta.b64 %%some, [%%barrier], %%phase")
	m.op("@!%%some bra wait")
	m.op("xor.b32 %%phase, %%phase, 1")
	m.op("tcgen05.fence::after_thread_sync")
}

// outputs copies D from tensor memory.
func (k *tcgen05Kernel) outputs(m *module) {
	for at := 0; at < k.d.n; at += chunk {
		part := registers{name: "v", n: chunk, bits: 32, at: k.d.at + at*k.d.stride, stride: k.d.stride}
		m.op("tcgen05.ld.sync.aligned.32x32b.x%d.b32 %s, [%%d+%d]", chunk, part.list(), at)
		m.op("tcgen05.wait::ld.sync.aligned")
		m.store(&part, "%out")
	}
	m.op("tcgen05.fence::before_thread_sync")
	m.op("bar.sync 0")
	m.op("tcgen05.fence::after_thread_sync")
}

// build makes the kernel.
func (k *tcgen05Kernel) build(t *target, g *gpu.Kernel) {
	out := buffer{lanes: warpgroup}
	k.d = out.cells("v", gpu.RoleD, k.n)
	g.Threads, g.Tiles = warpgroup, 0
	g.In, g.InBytes = k.in.operands, k.in.bytes
	g.Out, g.OutBytes = out.operands[0], out.bytes
	g.Source = k.text(t, g.Entry, g.InBytes, g.OutBytes)
}
