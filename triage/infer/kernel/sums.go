package kernel

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// sums is the partial sums of an element: sets of k, each as the XOR of its members' keys.
type sums struct {
	keys    []uint64 // by k
	known   map[uint64]bool
	present []int32             // the k that are in D at all
	joined  map[int32][][]int32 // by the first member of a set: what joins it, in order
}

// absent is the key of a product that is in no sum.
const absent = 0

// oddError says that an element is no sum of the products, each once.
type oddError struct {
	Row, Column int
	What        string
}

func (e *oddError) Error() string { return fmt.Sprintf("element (%d,%d): %s", e.Row, e.Column, e.What) }

func newSums(k int) *sums {
	d := rand.New(rand.NewPCG(1, 2))
	s := &sums{keys: make([]uint64, k), known: map[uint64]bool{}, joined: map[int32][][]int32{}}
	for i := range s.keys {
		s.keys[i] = d.Uint64()
	}
	return s
}

// upTo returns the products of an element.
func upTo(k int) []int32 {
	all := make([]int32, k)
	for i := range all {
		all[i] = int32(i)
	}
	return all
}

// key is the key of a set.
func (s *sums) key(set []int32) (key uint64) {
	for _, k := range set {
		key ^= s.keys[k]
	}
	return key
}

// has reports whether a set is a partial sum, or a product alone.
func (s *sums) has(key uint64, size int) bool { return size <= 1 || s.known[key] }

// pair is a question: how large is the smallest partial sum with both.
type pair struct{ i, j int32 }

// read reads the partial sums of a class.
func (b *box) read(ctx context.Context, c *class) (*sums, error) {
	s := newSums(b.K)
	if err := b.count(ctx, c, s); err != nil {
		return nil, err
	}
	work := [][]int32{s.present}
	for len(work) > 0 {
		var pairs []pair
		for _, set := range work {
			for _, j := range set[1:] {
				pairs = append(pairs, pair{set[0], j})
			}
		}
		sizes, err := b.sizes(ctx, c, pairs, len(s.present))
		if err != nil {
			return nil, err
		}
		var next [][]int32
		for _, set := range work {
			inner, err := s.split(set, sizes[:len(set)-1])
			if err != nil {
				return nil, &oddError{c.rows[0], c.columns[0], err.Error()}
			}
			next = append(next, inner...)
			sizes = sizes[len(set)-1:]
		}
		work = next
	}
	return s, nil
}

// split notes the partial sums of a set that have its first member, and returns what joins
// it together.
func (s *sums) split(set []int32, sizes []int) ([][]int32, error) {
	bySize := map[int][]int32{}
	var order []int
	for n, j := range set[1:] {
		if bySize[sizes[n]] == nil {
			order = append(order, sizes[n])
		}
		bySize[sizes[n]] = append(bySize[sizes[n]], j)
	}
	slices.Sort(order)
	key, size := s.keys[set[0]], 1
	var inner, joined [][]int32
	for _, n := range order {
		g := bySize[n]
		key ^= s.key(g)
		if size += len(g); size != n {
			return nil, fmt.Errorf("k %d and %d meet in a sum of %d products, but %d have met by then: products are not added two at a time", set[0], g[0], n, size)
		}
		s.known[key] = true
		joined = append(joined, g)
		if len(g) > 1 {
			inner = append(inner, g)
		}
	}
	s.joined[set[0]] = joined
	return inner, nil
}

// outline writes how a set is summed: products that join one after the other as a sequence,
// partial sums in parentheses.
func (s *sums) outline(set []int32) string {
	var b strings.Builder
	run := []int32{set[0]}
	for _, g := range s.joined[set[0]] {
		if len(g) == 1 {
			run = append(run, g[0])
			continue
		}
		if len(run) > 0 {
			b.WriteString(ks(run) + " + ")
		}
		fmt.Fprintf(&b, "(%s) + ", s.outline(g))
		run = nil
	}
	return strings.TrimSuffix(b.String()+strings.TrimPrefix(ks(run), "nothing"), " + ")
}

// count notes which products are in D, from ones.
func (b *box) count(ctx context.Context, c *class, s *sums) error {
	at := c.rows[0]*b.N + c.columns[0]
	all := 0.0
	if err := b.each(ctx, 1, func(_ int, m matrices) { b.ones(m) }, func(_ int, _ matrices, d []byte) { all = b.value(d, at) }); err != nil {
		return err
	}
	times := make([]float64, b.K)
	if all != float64(b.K) {
		n := len(c.columns)
		err := b.each(ctx, (b.K+n-1)/n, func(t int, m matrices) {
			fill(m.a, b.A, b.one)
			for i, column := range c.columns {
				if k := t*n + i; k < b.K {
					b.setB(m, column, k, b.one)
				}
			}
		}, func(t int, _ matrices, d []byte) {
			for i, column := range c.columns {
				if k := t*n + i; k < b.K {
					times[k] = b.value(d, c.rows[0]*b.N+column)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for k, n := range times {
		switch {
		case all == float64(b.K) || n == 1:
			s.present = append(s.present, int32(k))
		case n == 0:
			s.keys[k] = absent
		default:
			return &oddError{c.rows[0], c.columns[0], fmt.Sprintf("the product of k = %d is in the sum %v times", k, n)}
		}
	}
	if len(s.present) == 0 {
		return &oddError{c.rows[0], c.columns[0], "no product is in the sum"}
	}
	return nil
}

// sizes asks how large the smallest partial sums of pairs are, of n products in all. Each
// product asks as many as there are elements along the longer side of the rectangle, and
// several first members along the other.
func (b *box) sizes(ctx context.Context, c *class, pairs []pair, n int) ([]int, error) {
	long, short := c.columns, c.rows
	if len(short) > len(long) {
		long, short = short, long
	}
	launches := packed(pairs, len(long), len(short))
	sizes := make([]int, 0, len(pairs))
	var odd error
	position := func(first, second int) int {
		if len(c.rows) > len(c.columns) {
			return long[second]*b.N + short[first]
		}
		return short[first]*b.N + long[second]
	}
	err := b.each(ctx, len(launches), func(t int, m matrices) {
		b.ones(m)
		first := -1
		for n, p := range launches[t] {
			if n == 0 || p.i != launches[t][n-1].i {
				first++
			}
			if len(c.rows) > len(c.columns) {
				b.setB(m, short[first], int(p.i), b.large)
				b.setA(m, long[n], int(p.j), -b.large)
			} else {
				b.setA(m, short[first], int(p.i), b.large)
				b.setB(m, long[n], int(p.j), -b.large)
			}
		}
	}, func(t int, _ matrices, d []byte) {
		first := -1
		for x, p := range launches[t] {
			if x == 0 || p.i != launches[t][x-1].i {
				first++
			}
			at := position(first, x)
			v := float64(n) - b.value(d, at)
			if (v != float64(int(v)) || v < 2 || int(v) > n) && odd == nil {
				odd = &oddError{at / b.N, at % b.N, fmt.Sprintf("of %d ones beside a large number at k = %d and its negative at k = %d, %v are lost", n, p.i, p.j, v)}
			}
			sizes = append(sizes, int(v))
		}
	})
	if err == nil {
		err = odd
	}
	return sizes, err
}

// packed puts questions into products: at most long of them, with at most short different
// first members, which follow each other.
func packed(pairs []pair, long, short int) (launches [][]pair) {
	from, firsts := 0, 0
	for n, p := range pairs {
		other := n == from || p.i != pairs[n-1].i
		if n > from && (n-from == long || other && firsts == short) {
			launches = append(launches, pairs[from:n])
			from, firsts, other = n, 0, true
		}
		if other {
			firsts++
		}
	}
	if from < len(pairs) {
		launches = append(launches, pairs[from:])
	}
	return launches
}
