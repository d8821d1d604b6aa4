package ptx

import (
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// buffer is a packed buffer in the making: it hands out places one after another.
type buffer struct {
	lanes    int // of a group
	bytes    int // so far
	operands []gpu.Operand
}

// registers is an operand in registers: n in each lane, of the given number of bits. In the
// packed buffer, register r of lane l is at byte at + r*stride + l*bits/8.
type registers struct {
	name   string // in the kernel
	n      int
	bits   int
	at     int
	stride int
}

// take makes room for registers.
func (b *buffer) take(name string, n, bits int) registers {
	r := registers{name: name, n: n, bits: bits, at: b.bytes, stride: b.lanes * bits / 8}
	b.bytes += n * r.stride
	return r
}

// place returns which bit of the packed buffer is bit q of a register of a lane.
func (r *registers) place(reg, lane, q int) int {
	return 8*(r.at+reg*r.stride) + lane*r.bits + q
}

// add adds an operand of rows times columns elements, whose places at returns.
func (b *buffer) add(role gpu.Role, bits, shift, rows, columns int, at func(i, j int) int) {
	o := gpu.Operand{Role: role, Bits: bits, Shift: shift, At: make([]int, 0, rows*columns)}
	for i := range rows {
		for j := range columns {
			o.At = append(o.At, at(i, j))
		}
	}
	b.operands = append(b.operands, o)
}

// pad declares the bits that no operand has claimed so far as constants: words of the
// given number of bits with the value fill, which the instruction must ignore.
func (b *buffer) pad(bits int, fill uint64) {
	taken := make([]bool, 8*b.bytes)
	for _, o := range b.operands {
		for _, at := range o.At {
			for q := range o.Bits {
				taken[at+q] = true
			}
		}
	}
	o := gpu.Operand{Role: gpu.RoleConst, Bits: bits}
	for at := 0; at < len(taken); at += bits {
		if !taken[at] {
			o.At, o.Fill = append(o.At, at), append(o.Fill, fill)
		}
	}
	if o.At != nil {
		b.operands = append(b.operands, o)
	}
}

// The fragments of mma.sync (PTX ISA, "Matrix Fragments for mma.m16n8k...") follow one
// rule for every shape but m8n8k4.f16. Lane g*4+t of a warp holds elements of row g. A
// register holds e elements of w bits, so that the registers of one index in a warp hold
// 4e columns of 8 rows. In larger tiles, every 16 rows belong to another warp.

// factor returns the place of element (i, k) of A, where halves is the number of groups of
// 8 rows in a warp's part; or of B, with its column as i and halves = 1.
func (r *registers) factor(w, halves, i, k int) int {
	e := r.bits / w
	warp, half, g := i/(8*halves), i/8%halves, i%8
	return r.place(k/(4*e)*halves+half, 32*warp+4*g+k/e%4, k%e*w)
}

// sum returns the place of element (i, j) of C or D.
func (r *registers) sum(w, halves, i, j int) int {
	e := r.bits / w // 2: the two columns of a lane share a register
	warp, half, g := i/(8*halves), i/8%halves, i%8
	v := 2*(j/8*halves+half) + j%2
	return r.place(v/e, 32*warp+4*g+j%8/2, v%e*w)
}

// regBits returns how many bits a register has that holds elements of w bits.
func regBits(w int) int { return max(32, w) }

// sums takes the registers of C or D for m rows and n columns.
func (b *buffer) sums(name string, role gpu.Role, id fp.ID, m, n int) registers {
	w := 8 * id.Width()
	bits := regBits(w)
	halves := min(m, 16) / 8
	r := b.take(name, m*n*w/(b.lanes*bits), bits)
	b.add(role, w, 0, m, n, func(i, j int) int { return r.sum(w, halves, i, j) })
	return r
}
