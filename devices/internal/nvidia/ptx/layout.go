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

// registers is an operand in registers: n of the given number of bits in each lane, the words
// of register r at at + r*stride bytes, plus bits/8 for each lane.
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

// place is the bit where something stands in the buffer: bit q of register r of a
// lane.
func (r *registers) place(reg, lane, q int) int {
	return 8*(r.at+reg*r.stride) + lane*r.bits + q
}

// add makes an operand of rows times columns elements, of which at gives the
// places.
func (b *buffer) add(role gpu.Role, bits, shift, rows, columns int, at func(i, j int) int) {
	o := gpu.Operand{Role: role, Bits: bits, Shift: shift, At: make([]int, 0, rows*columns)}
	for i := range rows {
		for j := range columns {
			o.At = append(o.At, at(i, j))
		}
	}
	b.operands = append(b.operands, o)
}

// pad declares what nothing has claimed so far as constants: words of so many
// bits, filled with fill. It is what the instruction must ignore.
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

// The fragments of mma.sync (PTX ISA, "Matrix Fragments for mma.m16n8k..."), for
// lane g*4+t: one rule for every shape but m8n8k4.f16. A register holds e
// elements of w bits; a warp's registers of one index hold 4e columns of 8 rows.
// Larger tiles repeat this every 16 rows with another warp.

// factor returns the place of element (i, k) of A, or of B (with its column as i
// and halves = 1), where halves is the number of 8-row halves that a warp has.
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

// regBits is the bits of a register that holds elements of so many.
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
