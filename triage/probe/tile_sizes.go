package probe

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// edges are the numbers of rows or columns that are tried: those below and at which a
// library would go over to another kernel, and the next ones.
var edges = []int{1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257}

// lengths returns the numbers of rows (or columns) of a range that are tried, the smallest
// first: the range's smallest and largest among them, unless a tile of it is too large.
func lengths(r mma.Range, most int) []int {
	last := r.Min + (r.Max-r.Min)/max(r.Step, 1)*max(r.Step, 1)
	all := []int{r.Min}
	for _, n := range append(slices.Clone(edges), last) {
		if r.Contains(n) && n > all[len(all)-1] && n <= most {
			all = append(all, n)
		}
	}
	return all
}

// TileSizes returns sizes of tiles, of up to most outputs, in which an instruction may
// compute in different ways: more and more rows, columns, and both. nil: it does not say which
// sizes it takes.
func TileSizes(i *mma.Instruction, most int) []mma.Shape {
	if i.M.Min < 1 || i.N.Min < 1 {
		return nil
	}
	rows, columns := lengths(i.M, most), lengths(i.N, most)
	var all []mma.Shape
	add := func(m, n int) {
		s := mma.Shape{M: m, N: n, K: i.K, Tiles: 1}
		if m*n <= most && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	for _, m := range rows {
		add(m, columns[0])
	}
	for _, n := range columns {
		add(rows[0], n)
	}
	for x := range max(len(rows), len(columns)) {
		add(rows[min(x, len(rows)-1)], columns[min(x, len(columns)-1)])
	}
	return all
}
