package kernel

import (
	"context"
	"fmt"
	"hash/maphash"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// class is elements of D that are computed alike: row*N + column, ascending.
type class struct {
	positions     []int
	rows, columns []int     // a rectangle that lies in the class, as large as was found
	counters      []*sample // elements that other kernels did not give
}

const classProducts = 64 // by which elements are told apart

// variesError says that a product gives other results when it is asked again.
type variesError struct{ Row, Column, Times, Of int }

func (e *variesError) Error() string {
	return fmt.Sprintf("the same matrices give other results from run to run: element (%d,%d) changed in %d of %d repetitions", e.Row, e.Column, e.Times, e.Of)
}

// classify tells elements apart by products of some kinds whose rows and columns are all the same. They
// are asked again as often as repeats says, to see whether their results change: beginning with another one
// each time, so that what changes with a period is seen, too.
func (b *box) classify(ctx context.Context, seed uint64, kinds, repeats int) ([]*class, error) {
	n, width := b.M*b.N, b.D.Width()
	hashes := make([]maphash.Hash, n)
	one := maphash.MakeSeed()
	for i := range hashes {
		hashes[i].SetSeed(one)
	}
	line := *b // all rows and columns are one
	line.M, line.N = 1, 1
	first := make([][]byte, classProducts)
	var varies *variesError
	for repeat := range 1 + repeats {
		of := func(n int) int { return (n + repeat) % classProducts }
		err := b.each(ctx, classProducts, func(n int, m matrices) {
			t := of(n)
			line.draw(newDrawer(seed, uint64(t)), t%kinds, b.lines(m, 0, 0))
			b.same(m, true, true)
		}, func(n int, _ matrices, d []byte) {
			if repeat > 0 {
				varies = b.again(varies, first[of(n)], d)
				return
			}
			first[n] = slices.Clone(d)
			for i := range hashes {
				_, _ = hashes[i].Write(d[i*width:][:width])
			}
		})
		if err != nil {
			return nil, err
		}
	}
	if varies != nil {
		return nil, varies
	}
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = hashes[i].Sum64()
	}
	return b.classesOf(keys), nil
}

// again compares a repeated product with the first.
func (b *box) again(v *variesError, first, d []byte) *variesError {
	w := b.D.Width()
	at := slices.IndexFunc(positions(b.M*b.N), func(i int) bool { return string(first[i*w:][:w]) != string(d[i*w:][:w]) })
	if v == nil && at >= 0 {
		v = &variesError{Row: at / b.N, Column: at % b.N}
	}
	if v != nil {
		if v.Of++; at >= 0 {
			v.Times++
		}
	}
	return v
}

func positions(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// same copies the first line of a matrix to the others.
func same(lines []byte, n int) {
	size := len(lines) / n
	for i := size; i < len(lines); i += size {
		copy(lines[i:], lines[:size])
	}
}

// classesOf returns the classes of positions with the same key, the largest last.
func (b *box) classesOf(keys []uint64) []*class {
	number := map[uint64]int{}
	var all []*class
	for i, key := range keys {
		at, ok := number[key]
		if !ok {
			at = len(all)
			number[key] = at
			all = append(all, &class{})
		}
		all[at].positions = append(all[at].positions, i)
	}
	for _, c := range all {
		c.rectangle(b.N)
	}
	slices.SortStableFunc(all, func(x, y *class) int { return len(x.positions) - len(y.positions) })
	return all
}

// group is rows that have the same columns in a class.
type group struct{ rows, columns []int }

// groups returns the rows of a class, those with the same columns together.
func (c *class) groups(n int) []*group {
	columns := map[int][]int{}
	var rows []int
	for _, p := range c.positions {
		if columns[p/n] == nil {
			rows = append(rows, p/n)
		}
		columns[p/n] = append(columns[p/n], p%n)
	}
	var all []*group
	for _, r := range rows {
		at := slices.IndexFunc(all, func(g *group) bool { return slices.Equal(g.columns, columns[r]) })
		if at < 0 {
			at = len(all)
			all = append(all, &group{columns: columns[r]})
		}
		all[at].rows = append(all[at].rows, r)
	}
	return all
}

// rectangle finds the longest side of a rectangle in the class, and the other side with it.
func (c *class) rectangle(n int) {
	best := 0
	consider := func(rows, columns []int) {
		if size := max(len(rows), len(columns))*1024 + min(len(rows), len(columns), 1023); size > best {
			best, c.rows, c.columns = size, rows, columns
		}
	}
	byColumn := map[int][]int{}
	for _, g := range c.groups(n) {
		consider(g.rows, g.columns)
		for _, column := range g.columns {
			byColumn[column] = append(byColumn[column], g.rows...)
		}
	}
	for _, column := range c.positions {
		if rows := byColumn[column%n]; len(rows) > 0 {
			consider(rows, []int{column % n})
		}
	}
}

// where returns the class as parts of D.
func (c *class) where(n int) []schedule.Where {
	var all []schedule.Where
	for _, g := range c.groups(n) {
		all = append(all, schedule.Where{Rows: schedule.SetOf(g.rows), Columns: schedule.SetOf(g.columns)})
	}
	return all
}
