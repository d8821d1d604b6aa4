package ptx_test

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fragment is an operand of wmma: its elements are numbered row by row (B: column by
// column).
type fragment struct {
	id            fp.ID
	rows, columns int
}

// fragments returns those of a shape.
func (u *unit) fragments(shape string) (map[string]fragment, error) {
	var m, n, k int
	_, err := fmt.Sscanf(shape, "m%dn%dk%d", &m, &n, &k)
	f := u.inst.Formats
	return map[string]fragment{"a": {f.A, m, k}, "b": {f.B, n, k}, "c": {f.C, m, n}, "d": {f.D, m, n}}, err
}

// layout is one of those that a fragment may have: documents leave it open. Registers may have
// room for several copies.
func (f fragment) layout(regs []string) (cute, int) {
	bits := 8 * f.id.Width()
	per := elements(regs, bits)
	lanes := f.rows * f.columns / per
	return cute{[]int{lanes, 32 / lanes}, []int{per, 0}, []int{per}, []int{1}}, bits
}

// wmma executes wmma.load, wmma.mma and wmma.store.
func (u *unit) wmma(b *block, g []*thread, s *statement) error {
	fields := strings.Split(s.op, ".") // wmma load a sync aligned row m16n16k16 global f16; wmma mma sync aligned row col m16n16k16 f32 f32
	all, err := u.fragments(fields[6])
	if err != nil {
		return err
	}
	if fields[1] == "mma" {
		return u.wmmaMultiply(g, s, all, fields[6:])
	}
	place, regs := s.args[1], list(s.args[0])
	if fields[1] == "store" {
		place, regs = s.args[0], list(s.args[1])
	}
	f := all[fields[2]]
	if typed, err := fp.Parse(fields[8]); err != nil || typed != f.id {
		return fmt.Errorf("%s of %s", s.op, f.id)
	}
	w := f.id.Width()
	at, stride := b.address(g[0], place), b.value(g[0], s.args[2])
	for _, t := range g {
		if other := b.address(t, place); other != at || at%32 != 0 {
			return fmt.Errorf("addresses %#x and %#x", at, other)
		}
	}
	element := func(x int) []byte {
		i, j := x/f.columns, x%f.columns
		if (fields[5] == "row") == (fields[2] == "b") { // stored by columns of A, C and D, or by rows of B
			i, j = j, i
		}
		return b.span(fields[7], at+(uint64(i)*stride+uint64(j))*uint64(w), w)
	}
	n := f.rows * f.columns
	layout, bits := f.layout(regs)
	if fields[1] == "load" {
		elements := make([]uint64, n)
		for x := range elements {
			elements[x] = mma.Load(element(x), w, 0)
		}
		spread(g, regs, layout, bits, elements)
		return b.err
	}
	for x, code := range codes(g, regs, layout, bits, n) {
		mma.Store(element(x), w, 0, code)
	}
	return b.err
}

// wmmaMultiply executes wmma.mma; name is what its name has from the shape on.
func (u *unit) wmmaMultiply(g []*thread, s *statement, all map[string]fragment, name []string) error {
	if len(name) == 3 { // D and C; A and B are FP16
		name = []string{name[0], name[1], "f16", "f16", name[2]}
	}
	if got := "wmma." + strings.Join(name, "."); got != u.inst.Name {
		return fmt.Errorf("it is %s, not %s", got, u.inst.Name)
	}
	read := func(arg int, f fragment) []uint64 {
		regs := list(s.args[arg])
		layout, bits := f.layout(regs)
		return codes(g, regs, layout, bits, f.rows*f.columns)
	}
	d := all["d"]
	regs := list(s.args[0])
	layout, bits := d.layout(regs)
	spread(g, regs, layout, bits, u.multiply(&operands{m: d.rows, n: d.columns, a: read(1, all["a"]), b: read(2, all["b"]), c: read(3, all["c"])}))
	return nil
}
