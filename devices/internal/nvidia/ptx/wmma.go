package ptx

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// wmmaKernel is a kernel of wmma.mma, with one warp for each tile. PTX does not document where
// the elements of a fragment are, so the matrices are plain ones, which wmma.load and
// wmma.store move.
type wmmaKernel struct {
	*form
	rowA, colB bool // the layouts: A is stored row by row, B column by column
	in         buffer
	a, b, c    registers
}

func newWmmaKernel(f *form, rowA, colB bool) *wmmaKernel {
	w := &wmmaKernel{form: f, rowA: rowA, colB: colB, in: buffer{lanes: 32}}
	i := f.inst
	w.a = w.in.plain("a", gpu.RoleA, i.A, f.m, f.k, rowA)
	w.b = w.in.plain("b", gpu.RoleB, i.B, f.n, f.k, colB)
	w.c = w.in.plain("c", gpu.RoleC, i.C, f.m, f.n, true)
	return w
}

// plain makes room in a buffer for a matrix, which is stored row by row, or else column by
// column. It returns the registers of the matrix's fragment. A fragment of FP16 factors always
// has 8, in which an element may be more than once.
func (b *buffer) plain(name string, role gpu.Role, id fp.ID, rows, columns int, byRow bool) registers {
	w := 8 * id.Width()
	r := registers{name: name, n: rows * columns * w / (32 * regBits(w)), bits: regBits(w), at: b.bytes}
	if id == fp.FP16 && (role == gpu.RoleA || role == gpu.RoleB) {
		r.n = 8
	}
	b.bytes += rows * columns * w / 8
	b.add(role, w, 0, rows, columns, func(i, j int) int {
		if byRow {
			return 8*r.at + (i*columns+j)*w
		}
		return 8*r.at + (j*rows+i)*w
	})
	return r
}

// layouts returns PTX's names of the layouts of A and B, and their strides: how many elements
// there are from one row or column to the next.
func (w *wmmaKernel) layouts() (a, b string, strideA, strideB int) {
	a, b, strideA, strideB = "row", "col", w.k, w.k
	if !w.rowA {
		a, strideA = "col", w.m
	}
	if !w.colB {
		b, strideB = "row", w.n
	}
	return a, b, strideA, strideB
}

// text writes the module.
func (w *wmmaKernel) text(t *target, d registers, entry string, inBytes, outBytes int) string {
	m := &module{}
	m.head(t, entry, 32*warps)
	m.warpTile(w.a, w.b, w.c, d)
	m.addresses(0, inBytes, outBytes)
	i := w.inst
	a, b, strideA, strideB := w.layouts()
	load := func(r *registers, layout string, stride int, id fp.ID) {
		m.op("wmma.load.%s.sync.aligned.%s.%s.global%s %s, [%%in+%d], %d", r.name, layout, w.shape(), types(id), r.list(), r.at, stride)
	}
	load(&w.a, a, strideA, i.A)
	load(&w.b, b, strideB, i.B)
	load(&w.c, "row", w.n, i.C)
	m.note(i.Name)
	formats := types(i.D, i.A, i.B, i.C)
	if i.A == fp.FP16 { // wmma.mma then names the types of D and C only
		formats = types(i.D, i.C)
	}
	m.op("wmma.mma.sync.aligned.%s.%s.%s%s %s, %s, %s, %s", a, b, w.shape(), formats, d.list(), w.a.list(), w.b.list(), w.c.list())
	m.WriteByte('\n')
	m.op("wmma.store.d.sync.aligned.row.%s.global%s [%%out], %s, %d", w.shape(), types(i.D), d.list(), w.n)
	m.op("ret")
	m.WriteString("}\n")
	return m.String()
}

// build makes the kernel.
func (w *wmmaKernel) build(t *target, k *gpu.Kernel) {
	out := buffer{lanes: 32}
	d := out.plain("d", gpu.RoleD, w.inst.D, w.m, w.n, true)
	k.Threads, k.Tiles = 32*warps, warps
	k.In, k.InBytes = w.in.operands, w.in.bytes
	k.Out, k.OutBytes = out.operands[0], out.bytes
	k.Source = w.text(t, d, k.Entry, k.InBytes, k.OutBytes)
}

// variant returns the name of the layouts.
func (w *wmmaKernel) variant() string {
	a, b, _, _ := w.layouts()
	return fmt.Sprintf("%s.%s", a, b)
}
