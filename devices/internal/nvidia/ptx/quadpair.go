package ptx

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// quadKernel is a kernel of Volta's mma.m8n8k4: each of the four quad pairs of a
// warp executes a tile of its own. Quad pair p is lanes 4p..4p+3 and 4p+16..4p+19; its lane
// u+4h is lane 4p+u+16h of the warp.
type quadKernel struct {
	*form
	rowA, colB bool // the layouts: A is stored row by row, B column by column
	in         buffer
	a, b, c, d registers
}

func newQuadKernel(f *form, rowA, colB bool) *quadKernel {
	q := &quadKernel{form: f, rowA: rowA, colB: colB, in: buffer{lanes: 8}}
	q.a = q.in.take("a", 2, 32)
	q.in.add(gpu.RoleA, 16, 0, 8, 4, func(row, k int) int { return q.a.quad(rowA, row, k) })
	q.b = q.in.take("b", 2, 32)
	q.in.add(gpu.RoleB, 16, 0, 8, 4, func(col, k int) int { return q.b.quad(colB, col, k) })
	q.c = q.in.quadSums("c", gpu.RoleC, f.inst.C)
	return q
}

// quad returns the place of element (i, k) of A or B. A lane holds four elements: if
// byRow, a row of A (a column of B), and else one k of four rows (columns).
func (r *registers) quad(byRow bool, i, k int) int {
	u, e := i%4, k
	if !byRow {
		u, e = k, i%4
	}
	return r.place(e/2, u+4*(i/4), e%2*16)
}

// quadSums takes the registers of C or D. A lane holds a whole row in FP16, two rows of
// four elements in FP32.
func (b *buffer) quadSums(name string, role gpu.Role, id fp.ID) registers {
	if id == fp.FP16 {
		r := b.take(name, 4, 32)
		b.add(role, 16, 0, 8, 8, func(i, j int) int { return r.place(j/2, i, j%2*16) })
		return r
	}
	r := b.take(name, 8, 32)
	b.add(role, 32, 0, 8, 8, func(i, j int) int {
		return r.place(j&4|i&2|j&1, i/4*4+j&2+i&1, 0)
	})
	return r
}

// variant returns PTX's name of the layouts, such as row.col, the usual one.
func (q *quadKernel) variant() string {
	s := [2]string{"col", "row"}
	a, b := 0, 1
	if q.rowA {
		a = 1
	}
	if q.colB {
		b = 0
	}
	return s[a] + "." + s[b]
}

// text writes the module. Quad pairs for which no tile is left execute the last tile
// again.
func (q *quadKernel) text(t *target, entry string, inBytes, outBytes int) string {
	m := &module{}
	m.head(t, entry, 32*warps)
	m.op(".reg .b32 %%tile, %%tiles, %%lane, %%t")
	m.op(".reg .b64 %%in, %%out")
	m.declare(q.a, q.b, q.c, q.d)
	m.note(fmt.Sprintf("tile = block*%d + warp*4 + quad pair; lane = that in the quad pair", 4*warps))
	m.op("ld.param.u32 %%tiles, [tiles]")
	m.op("mov.u32 %%t, %%tid.x")
	m.op("shr.u32 %%lane, %%t, 5")
	m.op("shl.b32 %%lane, %%lane, 2")
	m.op("mov.u32 %%tile, %%ctaid.x")
	m.op("mad.lo.u32 %%tile, %%tile, %d, %%lane", 4*warps)
	m.op("bfe.u32 %%lane, %%t, 2, 2")
	m.op("add.u32 %%tile, %%tile, %%lane")
	m.op("bfe.u32 %%lane, %%t, 4, 1")
	m.op("and.b32 %%t, %%t, 3")
	m.op("mad.lo.u32 %%lane, %%lane, 4, %%t")
	m.op("sub.u32 %%tiles, %%tiles, 1")
	m.op("min.u32 %%tile, %%tile, %%tiles")
	m.addresses(4, inBytes, outBytes)
	for _, r := range []*registers{&q.a, &q.b, &q.c} {
		m.load(r, "%in")
	}
	m.note(q.inst.Name)
	i := q.inst
	m.op("mma.sync.aligned.m8n8k4.%s%s %s, %s, %s, %s", q.variant(), types(i.D, i.A, i.B, i.C),
		q.d.list(), q.a.list(), q.b.list(), q.c.list())
	m.WriteByte('\n')
	m.store(&q.d, "%out")
	m.op("ret")
	m.WriteString("}\n")
	return m.String()
}

// build makes the kernel.
func (q *quadKernel) build(t *target, k *gpu.Kernel) {
	out := buffer{lanes: 8}
	q.d = out.quadSums("d", gpu.RoleD, q.inst.D)
	k.Threads, k.Tiles = 32*warps, 4*warps
	k.In, k.InBytes = q.in.operands, q.in.bytes
	k.Out, k.OutBytes = out.operands[0], out.bytes
	k.Source = q.text(t, k.Entry, k.InBytes, k.OutBytes)
}
