package graph

import (
	"fmt"
	"math/big"
)

// builder makes the circuit of nodes. Free nodes are inputs, as variables are: what they
// are made of plays no part, but they lie in their ranges.
type builder struct {
	*circuit
	words map[*Node]word
	free  map[*Node]bool
	given []*Node // the nodes that are inputs
}

func newBuilder(free map[*Node]bool) *builder {
	return &builder{circuit: newCircuit(), words: map[*Node]word{}, free: free}
}

// word returns the bits of a node.
func (b *builder) word(n *Node) word {
	if w, ok := b.words[n]; ok {
		return w
	}
	var w word
	if n.Op == Var || b.free[n] && n.Op != Const {
		w = b.inputs(n)
	} else {
		w = b.make(n)
	}
	b.words[n] = w
	return w
}

func (b *builder) inputs(n *Node) word {
	bits, signed := size(n.Lo, n.Hi)
	w := word{signed: signed}
	for range bits {
		w.bits = append(w.bits, b.input())
	}
	b.given = append(b.given, n)
	return w
}

// bit returns the only bit of a boolean.
func (b *builder) bit(n *Node) lit { return b.word(n).at(0) }

func (b *builder) make(n *Node) word {
	bits, signed := size(n.Lo, n.Hi)
	sized := func(w word) word { // its bits beyond the range are 0, or the sign
		r := word{signed: signed}
		for i := range bits {
			r.bits = append(r.bits, w.at(i))
		}
		return r
	}
	switch n.Op {
	case Const:
		return constant(n.C)
	case Lin:
		return sized(b.linear(n, bits))
	case Mul:
		x, y := b.word(n.Args[0]), b.word(n.Args[1])
		r := word{}
		for i, l := range x.bits {
			part := word{}
			for _, m := range y.bits {
				part.bits = append(part.bits, b.and(l, m))
			}
			r = b.sum(r, shifted(part, i, bits), off, bits)
		}
		return sized(r)
	case Shr:
		return sized(b.right(b.word(n.Args[0]), b.word(n.Args[1])))
	case Low:
		return sized(b.low(b.word(n.Args[0]), b.word(n.Args[1])))
	case Norm:
		r, _ := b.normalised(b.word(n.Args[0]))
		return sized(r)
	case Log2:
		x := b.word(n.Args[0])
		_, by := b.normalised(x)
		w := len(x.bits)
		r := b.sum(constant(big.NewInt(int64(w-1))), inverse(word{bits: by}, 32), on, 32)
		zero := b.any(x.bits).complement()
		return sized(b.choose(zero, word{}, r, bits))
	case Shl:
		r := b.word(n.Args[0])
		for j, l := range b.word(n.Args[1]).bits {
			if 1<<j < bits {
				r = b.choose(l, shifted(r, 1<<j, bits), r, bits)
			} // else x is 0 by its range
		}
		return sized(r)
	case Negative:
		x := b.word(n.Args[0])
		return word{bits: []lit{x.at(len(x.bits))}}
	case Eq:
		return word{bits: []lit{b.differ(b.word(n.Args[0]), b.word(n.Args[1])).complement()}}
	case And:
		r := on
		for _, a := range n.Args {
			r = b.and(r, b.bit(a))
		}
		return word{bits: []lit{r}}
	case Not:
		return word{bits: []lit{b.bit(n.Args[0]).complement()}}
	case Ite:
		r := b.choose(b.bit(n.Args[0]), b.word(n.Args[1]), b.word(n.Args[2]), bits)
		return sized(r)
	case Max:
		return sized(b.largest(n.Args, bits))
	case Abs:
		x := b.word(n.Args[0])
		return sized(b.choose(x.at(len(x.bits)), b.negated(x, bits+1), x, bits))
	}
	panic(fmt.Sprintf("graph: operation %d has no circuit", n.Op))
}

func (b *builder) negated(x word, n int) word {
	return b.sum(constant(one), inverse(x, n), off, n)
}

// linear adds up terms modulo 2^n. A sum and its opposite share their gates.
func (b *builder) linear(n *Node, bits int) word {
	if n.K[0].Sign() < 0 {
		opposite := Node{Op: Lin, Args: n.Args, C: new(big.Int).Neg(n.C), Lo: new(big.Int).Neg(n.Hi), Hi: new(big.Int).Neg(n.Lo)}
		for _, k := range n.K {
			opposite.K = append(opposite.K, new(big.Int).Neg(k))
		}
		m, _ := size(opposite.Lo, opposite.Hi)
		m = max(m, bits)
		return b.negated(b.linear(&opposite, m), m)
	}
	r := word{}
	first := true
	for i, a := range n.Args {
		k, x := new(big.Int).Abs(n.K[i]), b.word(a)
		for j := range k.BitLen() {
			if k.Bit(j) == 0 {
				continue
			}
			part := shifted(x, j, bits)
			switch {
			case n.K[i].Sign() < 0:
				r = b.sum(r, inverse(part, bits), on, bits)
			case first:
				r = part
			default:
				r = b.sum(r, part, off, bits)
			}
			first = false
		}
	}
	if n.C.Sign() != 0 {
		r = b.sum(r, constant(n.C), off, bits)
	}
	r.signed = true
	return r
}

// right returns floor(x / 2^n).
func (b *builder) right(x, n word) word {
	w := len(x.bits)
	r := x
	for j, l := range n.bits {
		s := word{}
		if j < 31 && 1<<j < w {
			s.bits = append(s.bits, r.bits[1<<j:]...)
		}
		r = b.choose(l, s, r, w)
	}
	return r
}

// low returns x mod 2^n.
func (b *builder) low(x, n word) word {
	// A bit is kept if its place is below n.
	r := word{}
	for i, l := range x.bits {
		r.bits = append(r.bits, b.and(l, b.less(constant(big.NewInt(int64(i))), n)))
	}
	return r
}

// largest returns the maximum of nodes, as a tree of comparisons.
func (b *builder) largest(nodes []*Node, bits int) word {
	if len(nodes) == 1 {
		return b.word(nodes[0])
	}
	half := len(nodes) / 2
	x, y := b.largest(nodes[:half], bits), b.largest(nodes[half:], bits)
	n := max(len(x.bits), len(y.bits)) + 1
	r := b.choose(b.less(x, y), y, x, n)
	r.signed = true
	return r
}

// inRange returns the literal that is set if a node's word lies within the node's range.
func (b *builder) inRange(n *Node) lit {
	w := b.word(n)
	return b.and(b.less(w, constant(n.Lo)).complement(), b.less(constant(n.Hi), w).complement())
}
