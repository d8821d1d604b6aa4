package minimize

import (
	"context"
	"math/bits"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Mask specifies which parts of a dot product do not matter for its bucket, as found by
// trying other codes of one element at a time. It covers c, both factors of products
// with a factor other than +0, and the scales of blocks that have such a product or a
// scale other than 1. All other elements were not tried and count as not free.
type Mask struct {
	A, B   []Free // of each k
	C      Free
	SA, SB []Free // of each block
}

// Free specifies which bits of one element do not matter while all other elements stay.
type Free struct {
	// Bits are those that can be flipped one at a time. Every bit was tried.
	Bits uint64
	// Set are those of Bits that can be anything, all at once: the element stays in
	// the bucket with each of the codes that assignments lists, which for a set of 8
	// bits or less are all there are. It is all of Bits, or what is left of them after
	// bits were taken out whose changes led out of the bucket; 0 if setRounds did not
	// suffice, and in journals of versions that did not look for it.
	Set uint64
}

// maxMaskBytes is the largest size of the variants for a mask: up to 64 of each element.
const maxMaskBytes = 1 << 30

// explain re-tests the best candidate and, in the same batch, its single-bit flips; then it
// tests changes of several bits. It returns the mask, which is nil if it was not asked for or
// the budget ended. The string is the second test's bucket.
func (s *search) explain(ctx context.Context) (*Mask, string, error) {
	if s.exhausted {
		return nil, s.o.Bucket, nil
	}
	var elements []int
	if !s.o.SkipMask {
		elements = s.explained()
	}
	if 64*len(elements)*s.bytes() > maxMaskBytes {
		return nil, s.o.Bucket, nil
	}
	list := []*candidate{s.best}
	delete(s.buckets, s.best.id)
	for _, i := range elements {
		list = append(list, s.variants(i, flips(s.best.v[i], s.codeBits(i)))...)
	}
	if _, err := s.ask(ctx, list); err != nil {
		return nil, s.o.Bucket, err
	}
	again, ok := s.buckets[s.best.id]
	if !ok {
		return nil, s.o.Bucket, nil
	}
	if s.o.SkipMask || s.exhausted || again != s.o.Bucket {
		return nil, again, nil
	}
	mask, err := s.mask(ctx, elements)
	return mask, again, err
}

// explained returns the elements that a mask covers.
func (s *search) explained() []int {
	var elements []int
	used := map[int]bool{}
	for _, k := range s.occupied(s.best.v) {
		elements = append(elements, s.a(k), s.b(k))
		used[s.block(k)] = true
	}
	if s.formats[s.c()] != nil {
		elements = append(elements, s.c())
	}
	for i := range s.blocks {
		plain := s.best.v[s.sa(i)] == s.plain[s.sa(i)] && s.best.v[s.sb(i)] == s.plain[s.sb(i)]
		if used[i] || !plain {
			elements = append(elements, s.sa(i), s.sb(i))
		}
	}
	return elements
}

// setRounds is the number of times that sets of bits are tested, at most, which bounds the
// batches. One or two are usual: the first sets allow a zero, say, and the second ones do not.
const setRounds = 8

// mask makes the mask from the answers about single bits. Sets of several bits begin with all
// that are free; of all elements at once, so that a round costs one batch however many
// elements there are.
func (s *search) mask(ctx context.Context, elements []int) (*Mask, error) {
	free := make([]Free, len(s.formats))
	for _, i := range elements {
		free[i].Bits = s.freeBits(i)
		free[i].Set = free[i].Bits
	}
	open := elements
	for range setRounds {
		var list []*candidate
		for _, i := range open {
			list = append(list, s.variants(i, assignments(s.formats[i], s.best.v[i], free[i].Set))...)
		}
		if _, err := s.ask(ctx, list); err != nil || s.exhausted {
			return nil, err
		}
		var smaller []int // elements whose set does not hold
		for _, i := range open {
			if bad := s.badFlips(i, free[i].Set); bad != nil {
				free[i].Set = avoid(free[i].Set, bad)
				smaller = append(smaller, i)
			}
		}
		open = smaller
	}
	for _, i := range open {
		free[i].Set = 0
	}
	return s.split(free), nil
}

// freeBits returns the bits of element i that are known to be free one at a time.
func (s *search) freeBits(i int) uint64 {
	code := s.best.v[i]
	var free uint64
	for _, c := range flips(code, s.codeBits(i)) {
		if s.keeps(i, c) {
			free |= c ^ code
		}
	}
	return free
}

// badFlips returns the bits to flip in element i that lead from the best candidate to
// assignments of a set that are not known to stay in the bucket.
func (s *search) badFlips(i int, set uint64) []uint64 {
	code := s.best.v[i]
	var bad []uint64
	for _, c := range assignments(s.formats[i], code, set) {
		if !s.keeps(i, c) {
			bad = append(bad, c^code)
		}
	}
	return bad
}

// avoid takes bits out of a set until none of the bad flips lies in it: the bit that most of
// them need, again and again; of several such bits the highest. A number that must not
// become zero so keeps its highest exponent bit that is set, and stays far from zero.
func avoid(set uint64, bad []uint64) uint64 {
	for len(bad) > 0 {
		var worst uint64
		most := 0
		for rest := set; rest != 0; rest &= rest - 1 {
			bit := rest & -rest
			n := 0
			for _, b := range bad {
				if b&bit != 0 {
					n++
				}
			}
			if n >= most {
				worst, most = bit, n
			}
		}
		set &^= worst
		bad = slices.DeleteFunc(bad, func(b uint64) bool { return b&worst != 0 })
	}
	return set
}

// split puts what is known about the elements of a vector into the fields of a mask.
func (l *layout) split(free []Free) *Mask {
	m := &Mask{C: free[l.c()]}
	for k := range l.k {
		m.A, m.B = append(m.A, free[l.a(k)]), append(m.B, free[l.b(k)])
	}
	for i := range l.blocks {
		m.SA, m.SB = append(m.SA, free[l.sa(i)]), append(m.SB, free[l.sb(i)])
	}
	return m
}

// variants returns the best candidate with other codes of element i, without the keys.
func (s *search) variants(i int, codes []uint64) []*candidate {
	all, list := make([]candidate, len(codes)), make([]*candidate, len(codes))
	for n, code := range codes {
		v := s.clone(s.best.v)
		v[i] = code
		all[n] = candidate{v: v, id: s.other(i, code)}
		list[n] = &all[n]
	}
	return list
}

// keeps reports whether the best candidate is known to stay in the bucket with another code of
// element i.
func (s *search) keeps(i int, code uint64) bool {
	return s.buckets[s.other(i, code)] == s.o.Bucket
}

// other returns the id of the best candidate with another code of element i.
func (s *search) other(i int, code uint64) id { return s.best.id.with(i, s.best.v[i]).with(i, code) }

func (s *search) codeBits(i int) uint64 { return s.formats[i].CodeMask() }

// flips returns a code with each single bit of a mask flipped.
func flips(code, mask uint64) []uint64 {
	var list []uint64
	for rest := mask; rest != 0; rest &= rest - 1 {
		list = append(list, code^rest&-rest)
	}
	return list
}

// assignments returns codes of a format that differ from the given one in bits of a set, each
// once: if the set has 8 bits or less, all of them. Otherwise they are those with the sign,
// the exponent field and the other bits of the set each as given, all 0, all 1 or inverted;
// with all of the set 0 but one bit, and 1 but one bit; with the set as in the special codes;
// and 64 random ones.
func assignments(f *fp.Format, code, set uint64) []uint64 {
	var list []uint64
	seen := map[uint64]bool{code: true}
	add := func(c uint64) {
		if c = code&^set | c&set; !seen[c] {
			seen[c] = true
			list = append(list, c)
		}
	}
	if bits.OnesCount64(set) <= 8 {
		for sub := set; sub != 0; sub = (sub - 1) & set {
			add(code ^ sub)
		}
		return list
	}
	for _, c := range fieldwise(f, code) {
		add(c)
	}
	for _, bit := range flips(0, set) {
		add(bit)
		add(^bit)
	}
	for _, c := range specials(f) {
		add(c)
		add(c ^ f.SignBit())
	}
	for n := range uint64(64) {
		add(mix(n))
	}
	return list
}

// fieldwise returns a code with its sign, its exponent field and its other bits each as they
// are, all 0, all 1 and inverted.
func fieldwise(f *fp.Format, code uint64) []uint64 {
	exponent := (uint64(1)<<f.ExpBits - 1) << (f.FracBits + f.Low)
	list := []uint64{code}
	for _, field := range []uint64{f.SignBit(), exponent, f.CodeMask() &^ (f.SignBit() | exponent)} {
		for _, c := range slices.Clone(list) {
			list = append(list, c&^field, c|field, c^field)
		}
	}
	return list
}

// specials returns the codes of a format that units treat specially, or may.
func specials(f *fp.Format) []uint64 {
	list := []uint64{0, 1 << f.Low, uint64(1) << (f.FracBits + f.Low), f.MaxFinite()}
	if c, ok := one.code(f); ok {
		list = append(list, c)
	}
	if f.HasInf() {
		list = append(list, f.InfCode(false), f.InfCode(false)|1<<f.Low)
	}
	if f.HasNaN() {
		list = append(list, f.QuietNaN(false), f.OnesNaNCode())
	}
	return list
}
