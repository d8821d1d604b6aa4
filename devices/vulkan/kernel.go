package vulkan

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// matrix says where the elements of a matrix are in the packed buffer of a tile.
type matrix struct {
	rows, cols int
	columns    bool // column after column, not row after row
	bits       int  // of an element
	at, stride int  // bytes: of the first element, and from one row (or column) to the next
}

// bit returns the place of an element, counted in bits from the beginning of the tile.
func (x *matrix) bit(row, col int) int {
	if x.columns {
		row, col = col, row
	}
	return 8*(x.at+row*x.stride) + col*x.bits
}

// align is the alignment, in bytes, of addresses and strides of matrices (Vulkan, valid
// usage of OpCooperativeMatrixLoadKHR), unless a row has fewer bytes.
const align = 16

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// place puts a matrix at the first aligned byte from at on, with some bytes between its
// rows (or columns), and returns its end.
func (x *matrix) place(at, between int) int {
	lines, line := x.rows, x.cols
	if x.columns {
		lines, line = line, lines
	}
	bytes := line * x.bits / 8
	x.at = roundUp(at, align)
	x.stride = roundUp(bytes+between, min(align, roundUp(bytes, 4)))
	return x.at + lines*x.stride
}

// layouts are the ways in which the matrices of a tile are stored, on which the results must
// not depend. The usual one is that of mma.Batch. The output has nothing between its rows,
// because every bit of it must belong to a result.
var layouts = []struct {
	variant          string
	ca, cb, cc, cd   bool // column after column
	betweenRowsBytes int
}{
	{"", false, true, false, false, 0},
	{"A and C by columns, B by rows, wider strides", true, false, true, true, 16},
}

// kernels returns the kernels of an instruction for subgroups of a size, the usual one
// first.
func kernels(i *mma.Instruction, subgroup int) ([]*gpu.Kernel, error) {
	o, err := parse(i.Name)
	if err != nil {
		return nil, err
	}
	if why := o.unsupported(); why != "" {
		return nil, fmt.Errorf("%s: %s", i.Name, why)
	}
	var all []*gpu.Kernel
	for n := range layouts {
		all = append(all, o.kernel(i, n, subgroup))
	}
	return all, nil
}

// kernel returns the kernel with layout n.
func (o *offer) kernel(i *mma.Instruction, n, subgroup int) *gpu.Kernel {
	s := o.shader(n, subgroup)
	k := &gpu.Kernel{
		Instruction: i, Entry: i.Name, Source: string(s.bytes()), Target: fmt.Sprintf("SPIR-V, workgroups of %d", s.invocations),
		Variant: layouts[n].variant, M: o.m, N: o.n, Threads: s.invocations, Tiles: 1, InBytes: 4 * s.inWords, OutBytes: 4 * s.toNext,
	}
	k.In = []gpu.Operand{
		s.ma.operand(gpu.RoleA, false),
		s.mb.operand(gpu.RoleB, true), // mma.Batch has B column after column
		s.mc.operand(gpu.RoleC, false),
	}
	k.Out = s.md.operand(gpu.RoleD, false)
	k.In = append(k.In, rest(k.In, k.InBytes))
	return k
}

// shader returns the shader with layout n.
func (o *offer) shader(n, subgroup int) *shader {
	l := &layouts[n]
	s := &shader{offer: o, invocations: subgroup}
	if o.workgroup > 0 {
		s.invocations = o.workgroup
	}
	s.ma = matrix{rows: o.m, cols: o.k, columns: l.ca, bits: int(o.a.bits)}
	s.mb = matrix{rows: o.k, cols: o.n, columns: l.cb, bits: int(o.b.bits)}
	s.mc = matrix{rows: o.m, cols: o.n, columns: l.cc, bits: int(o.c.bits)}
	s.md = matrix{rows: o.m, cols: o.n, columns: l.cd, bits: int(o.d.bits)}
	end := s.ma.place(0, l.betweenRowsBytes)
	end = s.mb.place(end, l.betweenRowsBytes)
	end = s.mc.place(end, l.betweenRowsBytes)
	s.inWords, s.toNext = roundUp(end, align)/4, roundUp(s.md.place(0, 0), align)/4
	return s
}

// operand returns the table of a matrix, whose elements are numbered row after row or
// column after column.
func (x *matrix) operand(r gpu.Role, byColumns bool) gpu.Operand {
	o := gpu.Operand{Role: r, Bits: x.bits}
	outer, inner := x.rows, x.cols
	if byColumns {
		outer, inner = inner, outer
	}
	for i := range outer {
		for j := range inner {
			row, col := i, j
			if byColumns {
				row, col = j, i
			}
			o.At = append(o.At, x.bit(row, col))
		}
	}
	return o
}

// rest returns the bytes of a buffer that belong to no operand, as constants. Their bits
// are ones, a NaN in most formats, so that it shows if they count.
func rest(operands []gpu.Operand, bytes int) gpu.Operand {
	used := make([]bool, bytes)
	for _, o := range operands {
		for _, at := range o.At {
			for b := at / 8; b < (at+o.Bits)/8; b++ {
				used[b] = true
			}
		}
	}
	o := gpu.Operand{Role: gpu.RoleConst, Bits: 8}
	for b, u := range used {
		if !u {
			o.At, o.Fill = append(o.At, 8*b), append(o.Fill, 0xff)
		}
	}
	return o
}
