package graph

import "math/big"

// lit is an output of a gate, or its complement: the gate's number and a bit.
type lit uint32

const (
	off lit = 0
	on  lit = 1
)

func (l lit) gate() int       { return int(l >> 1) }
func (l lit) inverted() bool  { return l&1 != 0 }
func (l lit) complement() lit { return l ^ 1 }

// circuit is and-gates with inverters: equal gates are one gate. Gate 0 is the constant.
type circuit struct {
	gates [][2]lit // of an input both are off
	hash  map[[2]lit]lit
}

func newCircuit() *circuit { return &circuit{gates: make([][2]lit, 1), hash: map[[2]lit]lit{}} }

func (c *circuit) input() lit {
	c.gates = append(c.gates, [2]lit{})
	return lit(len(c.gates)-1) << 1
}

func (c *circuit) isInput(gate int) bool { return gate > 0 && c.gates[gate] == [2]lit{} }

func (c *circuit) and(x, y lit) lit {
	if x > y {
		x, y = y, x
	}
	switch {
	case x == off || x == y.complement():
		return off
	case x == on || x == y:
		return y
	}
	key := [2]lit{x, y}
	if l, ok := c.hash[key]; ok {
		return l
	}
	c.gates = append(c.gates, key)
	l := lit(len(c.gates)-1) << 1
	c.hash[key] = l
	return l
}

func (c *circuit) or(x, y lit) lit { return c.and(x.complement(), y.complement()).complement() }

func (c *circuit) xor(x, y lit) lit {
	return c.or(c.and(x, y.complement()), c.and(x.complement(), y))
}

func (c *circuit) ite(s, x, y lit) lit {
	if x == y {
		return x
	}
	return c.or(c.and(s, x), c.and(s.complement(), y))
}

// word is the bits of a number, the lowest first. A number that may be negative is in
// two's complement.
type word struct {
	bits   []lit
	signed bool
}

// at returns a bit, also above the highest.
func (w word) at(i int) lit {
	switch {
	case i < len(w.bits):
		return w.bits[i]
	case w.signed:
		return w.bits[len(w.bits)-1]
	}
	return off
}

// size is the bits of a word that holds lo..hi, and whether it is signed.
func size(lo, hi *big.Int) (bits int, signed bool) {
	if lo.Sign() >= 0 {
		return hi.BitLen(), false
	}
	return max(hi.BitLen(), new(big.Int).Not(lo).BitLen()) + 1, true
}

// sum returns x + y + carry modulo 2^n.
func (c *circuit) sum(x, y word, carry lit, n int) word {
	r := word{bits: make([]lit, n)}
	for i := range n {
		a, b := x.at(i), y.at(i)
		half := c.xor(a, b)
		r.bits[i] = c.xor(half, carry)
		carry = c.or(c.and(a, b), c.and(half, carry))
	}
	return r
}

// inverse returns the complement of each of n bits.
func inverse(x word, n int) word {
	r := word{bits: make([]lit, n), signed: true}
	for i := range n {
		r.bits[i] = x.at(i).complement()
	}
	return r
}

// shifted returns x * 2^k modulo 2^n.
func shifted(x word, k, n int) word {
	r := word{bits: make([]lit, n)}
	for i := range n {
		if i >= k {
			r.bits[i] = x.at(i - k)
		}
	}
	return r
}

// choose returns x if s, else y, in n bits.
func (c *circuit) choose(s lit, x, y word, n int) word {
	r := word{bits: make([]lit, n)}
	for i := range n {
		r.bits[i] = c.ite(s, x.at(i), y.at(i))
	}
	return r
}

// any reports whether any bit is set.
func (c *circuit) any(bits []lit) lit {
	r := off
	for _, b := range bits {
		r = c.or(r, b)
	}
	return r
}

// less reports whether x < y. Their difference needs two bits more, if only one of them may
// be negative.
func (c *circuit) less(x, y word) lit {
	n := max(len(x.bits), len(y.bits)) + 2
	return c.sum(x, inverse(y, n), on, n).bits[n-1]
}

// differ reports whether two words are different numbers.
func (c *circuit) differ(x, y word) lit {
	n := max(len(x.bits), len(y.bits)) + 1
	r := off
	for i := range n {
		r = c.or(r, c.xor(x.at(i), y.at(i)))
	}
	return r
}

// constant returns the word of a number.
func constant(v *big.Int) word {
	n, signed := size(v, v)
	w := word{signed: signed}
	u := v
	if signed {
		u = new(big.Int).Add(v, pow2(n))
	}
	for i := range n {
		w.bits = append(w.bits, lit(u.Bit(i)))
	}
	return w
}

// normalised shifts x left until its highest bit is set, and returns by how much, the
// lowest bit first.
func (c *circuit) normalised(x word) (r word, by []lit) {
	n := len(x.bits)
	r = x
	steps := 0
	for 1<<steps < n {
		steps++
	}
	by = make([]lit, steps)
	for j := steps - 1; j >= 0; j-- {
		k := 1 << j
		by[j] = c.any(r.bits[max(n-k, 0):]).complement()
		r = c.choose(by[j], shifted(r, k, n), r, n)
	}
	return r, by
}
