package ptx_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// tensorMemory is that of a block.
type tensorMemory struct {
	cells         [128][512]uint32
	base, columns int // what is allocated; 0 columns: nothing
	relinquished  bool
	unwaited      bool // stores without tcgen05.wait::st
}

// cell returns a cell of a lane.
func (m *tensorMemory) cell(lane int, column uint64) (*uint32, error) {
	c := int(column & 0xffff)
	if c < m.base || c >= m.base+m.columns || lane > 127 {
		return nil, fmt.Errorf("lane %d, column %d is not allocated", lane, c)
	}
	return &m.cells[lane][c], nil
}

// tensorGroup executes what a warp does with tensor memory.
func (u *unit) tensorGroup(b *block, g []*thread, s *statement) error {
	m := &u.tensor
	kind := strings.Split(s.op, ".")[1]
	switch {
	case kind == "alloc":
		n := int(b.value(g[0], s.args[1]))
		if m.columns != 0 || bits.OnesCount(uint(n)) != 1 || n < 32 || n > 512 {
			return fmt.Errorf("%d columns", n)
		}
		m.base, m.columns = 512-n, n
		binary.LittleEndian.PutUint32(b.span(".shared", b.address(g[0], s.args[0]), 4), uint32(m.base))
	case kind == "relinquish_alloc_permit":
		m.relinquished = true
	case kind == "dealloc":
		if at, n := int(b.value(g[0], s.args[0])), int(b.value(g[0], s.args[1])); at != m.base || n != m.columns || !m.relinquished {
			return fmt.Errorf("frees %d columns at %d, not %d at %d", n, at, m.columns, m.base)
		}
		m.columns = 0
	case kind == "wait::st":
		m.unwaited = false
	case kind == "wait::ld":
	case kind == "st" || kind == "ld":
		return u.move(b, g, s, kind == "st")
	default:
		return fmt.Errorf("unknown instruction")
	}
	return nil
}

// move executes tcgen05.st and ld of shape 32x32b: register n of a lane is column n
// of that lane of the warp's quarter.
func (u *unit) move(b *block, g []*thread, s *statement, store bool) error {
	place, data := s.args[1], s.args[0]
	if store {
		place, data = data, place
		u.tensor.unwaited = true
	}
	regs := list(data)
	if !strings.Contains(s.op, fmt.Sprintf(".32x32b.x%d.b32", len(regs))) {
		return fmt.Errorf("%d registers", len(regs))
	}
	for lane, t := range g {
		at := b.address(t, place)
		if int(at>>16) != t.id/32*32 {
			return fmt.Errorf("thread %d reaches for lane %d", t.id, at>>16)
		}
		for n, r := range regs {
			cell, err := u.tensor.cell(t.id/32*32+lane, at+uint64(n))
			switch {
			case err != nil:
				return err
			case store:
				*cell = uint32(b.value(t, r))
			default:
				t.regs[r] = uint64(*cell)
			}
		}
	}
	return nil
}

// single executes what one thread does.
func (u *unit) single(b *block, t *thread, s *statement) (bool, error) {
	switch {
	case strings.HasPrefix(s.op, "mbarrier.init"):
		if t.id != 0 || s.args[1] != "1" {
			return false, fmt.Errorf("a barrier of thread %d for %s", t.id, s.args[1])
		}
	case strings.HasPrefix(s.op, "mbarrier.try_wait.parity"):
		if u.completed&1 == b.value(t, s.args[2]) {
			return false, nil
		}
		t.regs[s.args[0]] = 1
	case strings.HasPrefix(s.op, "tcgen05.commit"):
		if u.results == nil {
			return false, fmt.Errorf("commits nothing")
		}
		u.results()
		u.results = nil
		u.completed++
		u.news = true
	case strings.HasPrefix(s.op, "tcgen05.mma"):
		return true, u.tensorMMA(b, t, s)
	default:
		return false, fmt.Errorf("unknown instruction")
	}
	return true, nil
}

// tensorTypes are the types in an instruction descriptor, by kind.
var tensorTypes = map[string][]fp.ID{
	"f16": {fp.FP16, fp.BF16}, "tf32": {2: fp.TF32},
	"f8f6f4":   {fp.E4M3, fp.E5M2, fp.None, fp.E2M3, fp.E3M2, fp.E2M1},
	"mxf8f6f4": {fp.E4M3, fp.E5M2, fp.None, fp.E2M3, fp.E3M2, fp.E2M1},
	"mxf4":     {1: fp.E2M1}, "mxf4nvf4": {1: fp.E2M1}, "i8": {fp.U8, fp.S8},
}

// field cuts bits out of a descriptor.
func field(word *uint64, at, n int) uint64 {
	v := *word >> at & (1<<n - 1)
	*word &^= (1<<n - 1) << at
	return v
}

// tensorMMA executes tcgen05.mma [d], a, b, descriptor, [[sa], [sb],] add.
func (u *unit) tensorMMA(b *block, t *thread, s *statement) error {
	i := u.inst
	kind := strings.TrimPrefix(strings.Split(s.op, ".")[3], "kind::")
	desc := b.value(t, s.args[3])
	types := tensorTypes[kind]
	a, bt := types[field(&desc, 7, 3)], types[field(&desc, 10, 3)]
	n, m, d := int(field(&desc, 17, 6))<<3, 0, fp.FP32
	scale := fp.None
	if i.Scale == fp.None {
		d = []fp.ID{fp.FP16, fp.FP32, fp.S32}[field(&desc, 4, 2)]
		m = int(field(&desc, 24, 5)) << 4
	} else {
		scale = []fp.ID{fp.UE4M3, fp.E8M0}[field(&desc, 23, 1)]
		m = int(field(&desc, 27, 2)) << 7
	}
	add := b.value(t, s.args[len(s.args)-1]) == 1
	if a != i.A || bt != i.B || d != i.D || scale != i.Scale || desc != 0 || add != (i.C != fp.None) || m != 128 {
		return fmt.Errorf("descriptor %s, adding %v: %s %s %s %s m%d n%d, rest %#x", s.args[3], add, d, a, bt, scale, m, n, desc)
	}
	want := fmt.Sprintf("tcgen05.mma.cta_group::1.kind::%s", kind)
	if scale != fp.None {
		want += fmt.Sprintf(".block_scale.scale_vec::%dX", i.K/int(i.Block))
	}
	if s.op != want || !strings.Contains(i.Name, ".kind::"+kind+".") {
		return fmt.Errorf("it is not %s of %s", want, i.Name)
	}
	if err := b.visible(); err != nil {
		return err
	}
	if u.tensor.unwaited {
		return fmt.Errorf("stores to tensor memory were not waited for")
	}
	o := &operands{m: m, n: n}
	var err error
	if o.a, err = u.fromShared(b, b.value(t, s.args[1]), 1<<46, m, i.A, int(i.A.Get().CodeBits())); err != nil {
		return fmt.Errorf("a: %w", err)
	}
	if o.b, err = u.fromShared(b, b.value(t, s.args[2]), 1<<46, n, i.B, int(i.B.Get().CodeBits())); err != nil {
		return fmt.Errorf("b: %w", err)
	}
	at := b.address(t, s.args[0])
	if add {
		if o.c, err = u.cells(at, m, n); err != nil {
			return fmt.Errorf("c: %w", err)
		}
	}
	if scale != fp.None {
		if o.sa, err = u.tensorScales(b.address(t, s.args[4]), m); err != nil {
			return fmt.Errorf("scales of a: %w", err)
		}
		if o.sb, err = u.tensorScales(b.address(t, s.args[5]), n); err != nil {
			return fmt.Errorf("scales of b: %w", err)
		}
	}
	results := u.multiply(o)
	u.results = func() {
		for x, code := range results {
			if cell, err := u.tensor.cell(x/n, at+uint64(x%n)); err == nil {
				*cell = uint32(code)
			}
		}
	}
	_, err = u.tensor.cell(m-1, at+uint64(n-1))
	return err
}

// cells returns C: row r in lane r, column n in column n, an FP16 number in the low
// half of a cell.
func (u *unit) cells(at uint64, m, n int) ([]uint64, error) {
	var all []uint64
	for x := range m * n {
		cell, err := u.tensor.cell(x/n, at+uint64(x%n))
		if err != nil {
			return nil, err
		}
		if uint64(*cell)&^u.inst.C.Get().CodeMask() != 0 {
			return nil, fmt.Errorf("%#x is no %s code", *cell, u.inst.C)
		}
		all = append(all, uint64(*cell))
	}
	return all, nil
}

// tensorScales returns scales [row][block]: row r in lane r%32 of each quarter,
// column r/32, scale n in byte n.
func (u *unit) tensorScales(at uint64, rows int) ([]uint64, error) {
	var all []uint64
	for r := range rows {
		first, err := u.tensor.cell(r%32, at+uint64(r/32))
		if err != nil {
			return nil, err
		}
		for quarter := range 4 {
			if cell, _ := u.tensor.cell(r%32+32*quarter, at+uint64(r/32)); *cell != *first {
				return nil, fmt.Errorf("row %d: quarter %d has %#x, not %#x", r, quarter, *cell, *first)
			}
		}
		for n := range u.inst.K / int(u.inst.Block) {
			all = append(all, uint64(*first>>(8*n)&0xff))
		}
	}
	return all, nil
}
