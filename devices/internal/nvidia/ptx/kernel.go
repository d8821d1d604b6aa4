// Package ptx writes the kernels of NVIDIA's matrix instructions as PTX text, with
// the tables of the operands' places in the packed buffers (package gpu). It needs
// no GPU, no toolkit and no driver: the text is for the driver's own compiler.
//
// # Adding an instruction
//
// A form of mma.sync whose fragments follow the general rule (layout.go) is a row
// in legal.go. Its tests need nothing more: they take every row of the catalogue.
package ptx

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Tile returns the rows and columns of the tile that suits a batch of m rows and n
// columns best: the instruction's own if it has one shape, else the fewest columns that
// hold the batch's, or the most that there are.
func Tile(inst *mma.Instruction, m, n int) (rows, columns int) {
	f, err := parse(inst)
	if err != nil {
		return inst.M.Min, inst.N.Min
	}
	switch f.family {
	case "wgmma":
		return f.m, tiling.Fit(f.groupColumns(), max(n, f.n))
	case "tcgen05":
		return 128, tiling.Fit(f.tensorColumns(), max(n, f.n))
	}
	return f.m, f.n
}

// groupColumns returns the numbers of columns of wgmma. Those of integers are, above 32,
// multiples of 16; it has 8 and 24 too, which are not used here.
func (f *form) groupColumns() mma.Range {
	if f.inst.A.Integer() {
		return mma.Range{Min: 16, Max: 256, Step: 16}
	}
	return f.inst.N
}

// tensorColumns returns the numbers of columns that tcgen05.mma allows with 128 rows. With
// scales they end at 128 here, because the documents are not clear enough about the scales
// of more columns in tensor memory.
func (f *form) tensorColumns() mma.Range {
	if f.scaled() {
		return mma.Range{Min: 16, Max: 128, Step: 16}
	}
	return mma.Range{Min: 16, Max: 256, Step: 16}
}

// Kernel returns the kernel of an instruction on a chip (sm_90) for tiles of m rows
// and n columns, or why there is none. Which instructions a chip has does not
// depend on the catalogue's architecture.
func Kernel(inst *mma.Instruction, chip string, m, n int) (*gpu.Kernel, error) {
	all, err := Kernels(inst, chip, m, n)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// Kernels returns all kernels of an instruction, the usual one first: the others
// have their operands in other layouts or places and must give the same results. The
// arguments are those of Kernel.
func Kernels(inst *mma.Instruction, chip string, m, n int) ([]*gpu.Kernel, error) {
	f, err := parse(inst)
	if err != nil {
		return nil, err
	}
	t, err := f.target(chip)
	if err != nil {
		return nil, err
	}
	if err := f.fits(m, n); err != nil {
		return nil, err
	}
	var all []*gpu.Kernel
	for _, v := range f.variants(n) {
		k := &gpu.Kernel{
			Instruction: inst, Entry: f.entry(m, n, v.name), Target: t.name, Variant: v.name,
			Driver: drivers[t.version], M: m, N: n, Needs: f.sassPattern(),
		}
		v.layout.build(t, k)
		all = append(all, k)
	}
	return all, nil
}

// layout fills in a kernel's tables and text.
type layout interface {
	build(*target, *gpu.Kernel)
}

// variant is a layout with its name, "" for the usual one.
type variant struct {
	name   string
	layout layout
}

func (f *form) variants(n int) []variant {
	switch {
	case f.family == "wgmma":
		return []variant{{"", newWgmmaKernel(f, n, false)}, {"a in registers", newWgmmaKernel(f, n, true)}}
	case f.family == "tcgen05":
		return []variant{{"", newTcgen05Kernel(f, n)}}
	case f.family == "wmma":
		other := newWmmaKernel(f, false, false)
		return []variant{{"", newWmmaKernel(f, true, true)}, {other.variant(), other}}
	case f.m == 8 && f.inst.A == fp.FP16:
		var all []variant
		for _, rows := range []struct{ a, b bool }{{true, true}, {true, false}, {false, true}, {false, false}} {
			q := newQuadKernel(f, rows.a, rows.b)
			all = append(all, variant{q.variant(), q})
		}
		all[0].name = ""
		return all
	}
	all := []variant{{"", newWarpKernel(f, selectors{})}}
	if f.scaled() {
		all = append(all, variant{"scales elsewhere", newWarpKernel(f, selectors{4 - f.vec(), 1, 3})})
	}
	return all
}

// fits returns an error unless tiles of this shape can be executed.
func (f *form) fits(m, n int) error {
	rows, columns := mma.Range{Min: f.m, Max: f.m}, mma.Range{Min: f.n, Max: f.n}
	switch f.family {
	case "wgmma":
		columns = f.groupColumns()
	case "tcgen05":
		rows, columns = mma.Range{Min: 128, Max: 128}, f.tensorColumns()
	}
	if !rows.Contains(m) || !columns.Contains(n) {
		return fmt.Errorf("%s: no kernel has tiles of %dx%d: rows are %s, columns %s", f.inst.Name, m, n, rows, columns)
	}
	return nil
}

var notWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\W+`) })

// entry names the kernel's function.
func (f *form) entry(m, n int, variant string) string {
	name := f.inst.Name
	if f.family == "wgmma" || f.family == "tcgen05" {
		_, rest, _ := strings.Cut(name, f.shape()+".")
		name = fmt.Sprintf("%s.m%dn%dk%d.%s", f.family, m, n, f.k, rest)
	}
	if variant != "" {
		name += "." + variant
	}
	return notWord().ReplaceAllString(name, "_")
}
