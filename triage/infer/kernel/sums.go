package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// sums is the partial sums of an element: sets of k, each as the XOR of its members' keys.
type sums struct {
	keys    []uint64 // by k
	known   map[uint64]bool
	present []int32             // the k that are in D at all
	joined  map[int32][][]int32 // by the first member of a set: what joins it, in order
	lost    map[uint64]bool     // single products, and none: levels are looked for as if absent products were added, too, with no effect; nil: they are not
	several bool                // more than two meet in a partial sum
	width   int                 // products that an accumulator adds at a time
}

// absent is the key of a product that is in no sum.
const absent = 0

// oddError says that an element is no sum of the products, each once.
type oddError struct {
	Row, Column int
	What        string
	Nothing     bool // is lost beside large numbers
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
func (s *sums) has(key uint64, size int) bool {
	return size <= 1 || s.known[key] || s.lost[key]
}

// mostLost is how many products a defect loses, at most: of more, and of the last ones, levels say which are left out.
const mostLost = 8

// lostOnes returns the products that are absent without being the last.
func (s *sums) lostOnes() (ks []int) {
	if n := len(s.present); len(s.keys)-n > mostLost || int(s.present[n-1]) == n-1 {
		return nil
	}
	for k, key := range s.keys {
		if key == absent {
			ks = append(ks, k)
		}
	}
	return ks
}

// pair is a question: how large is the smallest partial sum with both.
type pair struct{ i, j int32 }

// node is products of which smaller partial sums are looked for, in a partial sum of so many.
type node struct {
	set  []int32
	size int
}

// read reads the partial sums of a class by the first probe that shows them. It returns nothing if there
// is none.
func (b *box) read(ctx context.Context, c *class) (*sums, error) {
	var first error
	for _, b.probe = range b.probes {
		s, err := b.readBy(ctx, c)
		if o := (*oddError)(nil); !errors.As(err, &o) {
			return s, err
		}
		first = cmp.Or(first, err)
	}
	return nil, first
}

func (b *box) readBy(ctx context.Context, c *class) (*sums, error) {
	s := newSums(b.K)
	if err := b.count(ctx, c, s); err != nil {
		return nil, err
	}
	work := []node{{set: s.present}}
	for len(work) > 0 {
		var pairs []pair
		for _, n := range work {
			for _, j := range n.set[1:] {
				pairs = append(pairs, pair{n.set[0], j})
			}
		}
		sizes, err := b.sizes(ctx, c, pairs, s.present)
		if err != nil {
			return nil, err
		}
		if work[0].size == 0 && len(sizes) > 1 && slices.Max(sizes) == 2 {
			return nil, &oddError{c.rows[0], c.columns[0], "nothing is lost beside large numbers: its accumulators are too wide for its partial sums to be seen", true}
		}
		var next []node
		for _, n := range work {
			inner, err := s.split(n, sizes[:len(n.set)-1])
			if err != nil {
				return nil, &oddError{c.rows[0], c.columns[0], err.Error(), false}
			}
			next = append(next, inner...)
			sizes = sizes[len(n.set)-1:]
		}
		work = next
	}
	return s, nil
}

// split notes the partial sums of a set that have its first member, and returns what joins
// it together. What meets it only in the partial sum that the set is in joins it there with others:
// an instruction that adds several products at a time.
func (s *sums) split(in node, sizes []int) ([]node, error) {
	set := in.set
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
	var inner []node
	var joined [][]int32
	for _, n := range order {
		g := bySize[n]
		joined = append(joined, g)
		if len(g) > 1 {
			inner = append(inner, node{g, n})
		}
		if n == in.size {
			s.several = true
			continue
		}
		key ^= s.key(g)
		if size += len(g); size != n {
			return nil, fmt.Errorf("k %d and %d meet in a sum of %d products, but %d have met by then: these are no sums of sums", set[0], g[0], n, size)
		}
		s.known[key] = true
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
	chunks := b.chunks(upTo(b.K))
	all := true
	if err := b.each(ctx, len(chunks), func(t int, m matrices) {
		fill(m.a, b.A, b.plain)
		for column := range b.N {
			b.line(m, false, column, chunks[t])
		}
	}, func(t int, _ matrices, d []byte) { all = all && b.value(d, at) == float64(len(chunks[t])) }); err != nil {
		return err
	}
	times := make([]float64, b.K)
	if !all {
		var none float64
		if err := b.each(ctx, 1, func(_ int, m matrices) { fill(m.a, b.A, b.plain) }, func(_ int, _ matrices, d []byte) { none = b.value(d, at) }); err != nil {
			return err
		}
		if none != 0 { // counts of ones would be of it, too
			return &oddError{c.rows[0], c.columns[0], "it is not zero where all of B is zero: something is added that is no product of A and B", false}
		}
		n := len(c.columns)
		err := b.each(ctx, (b.K+n-1)/n, func(t int, m matrices) {
			fill(m.a, b.A, b.plain)
			for i, column := range c.columns {
				if k := t*n + i; k < b.K {
					b.setB(m, column, k, b.small)
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
		case all || n == 1:
			s.present = append(s.present, int32(k))
		case n == 0:
			s.keys[k] = absent
		default:
			return &oddError{c.rows[0], c.columns[0], fmt.Sprintf("a product of %v alone, at k = %d, gives %v times as much, which no factor of all sums explains", b.plain*b.small, k, n), false}
		}
	}
	if len(s.present) == 0 {
		return &oddError{c.rows[0], c.columns[0], fmt.Sprintf("a product of %v alone gives zero, at whatever k it is", b.plain*b.small), false}
	}
	return nil
}

// chunks cuts products into as many as D counts exactly.
func (b *box) chunks(ks []int32) [][]int32 { return slices.Collect(slices.Chunk(ks, b.chunk)) }

// line fills a row of A or a column of B with small numbers at some k.
func (b *box) line(m matrices, ofA bool, n int, at []int32) {
	to, id := m.b, b.B
	if ofA {
		to, id = m.a, b.A
	}
	w, code := id.Width(), id.Get().FromFloat64(b.small)
	for _, k := range at {
		mma.Store(to, w, n*b.K+int(k), code)
	}
}

// sizes asks how large the smallest partial sums of pairs are, of the products that are present. Each
// product asks as many as there are elements along the longer side of the rectangle, or one.
func (b *box) sizes(ctx context.Context, c *class, pairs []pair, present []int32) ([]int, error) {
	ofA := len(c.rows) > len(c.columns) && !b.alone
	lines := c.columns
	if ofA {
		lines = c.rows
	}
	if b.alone {
		lines = lines[:1]
	}
	launches, chunks := slices.Collect(slices.Chunk(pairs, len(lines))), b.chunks(present)
	sizes := make([]int, len(pairs))
	var odd *oddError
	at := func(i int) int {
		if ofA {
			return lines[i]*b.N + c.columns[0]
		}
		return c.rows[0]*b.N + lines[i]
	}
	err := b.each(ctx, len(launches)*len(chunks), func(t int, m matrices) {
		ones := chunks[t%len(chunks)]
		if ofA {
			fill(m.b, b.B, b.plain)
		} else {
			fill(m.a, b.A, b.plain)
		}
		for i, p := range launches[t/len(chunks)] {
			b.line(m, ofA, lines[i], ones)
			if ofA {
				b.setA(m, lines[i], int(p.i), b.large)
				b.setA(m, lines[i], int(p.j), -b.large)
				continue
			}
			b.setB(m, lines[i], int(p.i), b.large)
			b.setB(m, lines[i], int(p.j), -b.large)
			for row := range b.M {
				if b.alone {
					b.setA(m, row, int(p.i), b.large)
					b.setA(m, row, int(p.j), b.large)
				}
			}
		}
	}, func(t int, _ matrices, d []byte) {
		for i, p := range launches[t/len(chunks)] {
			v, n := b.value(d, at(i)), t/len(chunks)*len(lines)+i
			if v != float64(int(v)) || v < 0 || int(v) > len(chunks[t%len(chunks)]) {
				odd = cmp.Or(odd, &oddError{at(i) / b.N, at(i) % b.N, fmt.Sprintf("of %d ones beside a large number at k = %d and its negative at k = %d, %v are left", len(chunks[t%len(chunks)]), p.i, p.j, v), false})
				v = 0
			}
			sizes[n] -= int(v)
		}
	})
	for n, p := range pairs {
		if sizes[n] += len(present); sizes[n] < 2 {
			odd = cmp.Or(odd, &oddError{at(0) / b.N, at(0) % b.N, fmt.Sprintf("beside a large number at k = %d and its negative at k = %d nothing is lost, not even they", p.i, p.j), false})
		}
	}
	if err == nil && odd != nil {
		err = odd
	}
	return sizes, err
}
