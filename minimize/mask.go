package minimize

import (
	"context"

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
	// Together: they can also be flipped together. All of them at once and 16
	// random sets of them were tried. False if there are none.
	Together bool
	// Any: the element can be anything. All bits are free, and every other value
	// tried was as good: at least 48 - both zeros, 1, -1, the smallest
	// subnormal, the smallest and the largest normal numbers, infinities, quiet
	// and signalling NaNs, of both signs, and random codes - or in a format of 6
	// bits or less, all.
	Any bool
}

// maxMaskBytes is the largest size of the variants for a mask: up to 64 of each element.
const maxMaskBytes = 1 << 30

// explain re-tests the best candidate and, in the same batch, its single-bit flips; then it
// tests flips of several bits, and other values. It returns the mask, which is nil if it was
// not asked for or the budget ended. The string is the second test's bucket.
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
	list := []candidate{s.best}
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

// mask makes the mask from the answers about single bits.
func (s *search) mask(ctx context.Context, elements []int) (*Mask, error) {
	free := make([]Free, len(s.formats))
	var list []candidate
	for _, i := range elements {
		code := s.best.v[i]
		for _, c := range flips(code, s.codeBits(i)) {
			if s.keeps(i, []uint64{c}) {
				free[i].Bits |= c ^ code
			}
		}
		list = append(list, s.variants(i, flipSets(code, free[i].Bits))...)
		if free[i].Bits == s.codeBits(i) {
			list = append(list, s.variants(i, others(s.formats[i], code))...)
		}
	}
	if _, err := s.ask(ctx, list); err != nil || s.exhausted {
		return nil, err
	}
	for _, i := range elements {
		f, code := &free[i], s.best.v[i]
		f.Together = f.Bits != 0 && s.keeps(i, flipSets(code, f.Bits))
		f.Any = f.Bits == s.codeBits(i) && s.keeps(i, others(s.formats[i], code))
	}
	return s.split(free), nil
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

// variants returns the best candidate with other codes of element i.
func (s *search) variants(i int, codes []uint64) []candidate {
	var list []candidate
	for _, code := range codes {
		v := append(vector(nil), s.best.v...)
		v[i] = code
		list = append(list, s.candidate(v))
	}
	return list
}

// keeps reports whether the best candidate is known to stay in the bucket with each of these
// codes as element i.
func (s *search) keeps(i int, codes []uint64) bool {
	for _, c := range s.variants(i, codes) {
		if s.buckets[c.id] != s.o.Bucket {
			return false
		}
	}
	return true
}

func (s *search) codeBits(i int) uint64 { return s.formats[i].CodeMask() }

// flips returns a code with each single bit of a mask flipped.
func flips(code, mask uint64) []uint64 {
	var list []uint64
	for rest := mask; rest != 0; rest &= rest - 1 {
		list = append(list, code^rest&-rest)
	}
	return list
}

// flipSets returns a code with all bits of a mask flipped, and random sets of
// them.
func flipSets(code, mask uint64) []uint64 {
	if mask == 0 {
		return nil
	}
	list := []uint64{code ^ mask}
	for n := range uint64(16) {
		list = append(list, code^mix(n)&mask)
	}
	return list
}

// others returns codes of a format other than the given one: all of a narrow
// format, otherwise the special ones and random ones.
func others(f *fp.Format, code uint64) []uint64 {
	var list []uint64
	seen := map[uint64]bool{code: true}
	add := func(c uint64) {
		if !seen[c] {
			seen[c] = true
			list = append(list, c)
		}
	}
	if f.CodeBits() <= 6 {
		for c := range f.CodeMask() + 1 {
			add(c)
		}
		return list
	}
	for _, c := range specials(f) {
		add(c)
		add(c ^ f.SignBit())
	}
	for n := uint64(0); len(list) < 48; n++ {
		add(mix(n) & f.CodeMask())
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
