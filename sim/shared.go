package sim

import "github.com/mmafuzz/mmafuzz/sim/mma"

// Shared is a batch on which several models run, one after the other. Those of the kernels word and
// exact that read operands in the same way decode them once. It is for one goroutine, and the batch must
// not change between Reset and the last RunShared.
type Shared struct {
	in    *mma.Batch
	all   []decodedWords
	exact []decodedExact
}

// decodedExact are the decoded operands of all tiles of a batch for the kernel exact.
type decodedExact struct {
	how reading
	exactFactors
	decoded bool
}

// decodedWords are the decoded operands of all tiles of a batch.
type decodedWords struct {
	how      reading
	a, b     []wordFactor
	products []wordProducts // of each tile of one output
	side     [2][]uint64    // for wordVector.tiles: with exponents, and values alone
	decoded  bool
}

// beside returns the products that a vector's kernel makes and reads.
func (f *decodedWords) beside(v *wordVector) *[]uint64 {
	if v.values {
		return &f.side[1]
	}
	return &f.side[0]
}

// mostShared is the number of operands up to which they are kept: a processor's cache has them.
const mostShared = 1 << 15

// Reset makes in the batch.
func (s *Shared) Reset(in *mma.Batch) { s.in, s.all, s.exact = in, s.all[:0], s.exact[:0] }

// RunShared is Run on the batch of s.
func (m *Model) RunShared(s *Shared, out []byte) {
	in := s.in
	few := in.Tiles*(in.M+in.N)*in.K <= mostShared
	switch k := m.kernel.(type) {
	case *word:
		if few {
			st := m.states.Get()
			k.runDecoded(s.words(&m.params), in, out, st)
			m.states.Put(st)
			return
		}
	case *narrow:
		if w, ok := k.single.(*word); ok && few && in.M*in.N == 1 {
			st := m.states.Get()
			w.runDecoded(s.words(&m.params), in, out, st.(*narrowState).single)
			m.states.Put(st)
			return
		}
	case *exact:
		if few {
			if k.vector.computes(m, in) {
				st := m.states.Get()
				k.runTiles(st.(*exactState), s.words(&m.params).beside(k.vector), in, out, 0, in.Tiles)
				m.states.Put(st)
				return
			}
			st := m.states.Get()
			k.runDecoded(s.exactWords(&m.params), in, out, st)
			m.states.Put(st)
			return
		}
	}
	m.Run(in, out)
}

// words returns the operands as a program reads them.
func (s *Shared) words(p *mma.Params) *decodedWords {
	how := readingOf(s.in, p)
	for i := range s.all {
		if s.all[i].how == how {
			return &s.all[i]
		}
	}
	f := again(&s.all)
	f.how, f.decoded, f.products, f.side = how, false, f.products[:0], [2][]uint64{f.side[0][:0], f.side[1][:0]}
	return f
}

// exactWords is words for the kernel exact.
func (s *Shared) exactWords(p *mma.Params) *decodedExact {
	how := readingOf(s.in, p)
	for i := range s.exact {
		if s.exact[i].how == how {
			return &s.exact[i]
		}
	}
	f := again(&s.exact)
	f.how, f.decoded = how, false
	return f
}

// again makes a slice longer by one element, which has the memory of one that was there before.
func again[T any](s *[]T) *T {
	if n := len(*s); n < cap(*s) {
		*s = (*s)[:n+1]
	} else {
		*s = append(*s, *new(T))
	}
	return &(*s)[len(*s)-1]
}
