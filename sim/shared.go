package sim

import "github.com/mmafuzz/mmafuzz/sim/mma"

// Shared is a batch on which several models run, one after the other. Those of the kernel word
// that read operands in the same way decode them once. It is for one goroutine, and the batch must
// not change between Reset and the last RunShared.
type Shared struct {
	in  *mma.Batch
	all []decodedWords
}

// decodedWords are the decoded operands of all tiles of a batch.
type decodedWords struct {
	how     reading
	a, b    []wordFactor
	decoded bool
}

// mostShared is the number of operands up to which they are kept: a processor's cache has them.
const mostShared = 1 << 15

// Reset makes in the batch.
func (s *Shared) Reset(in *mma.Batch) { s.in, s.all = in, s.all[:0] }

// RunShared is Run on the batch of s.
func (m *Model) RunShared(s *Shared, out []byte) {
	w, ok := m.kernel.(*word)
	if !ok || s.in.Tiles*(s.in.M+s.in.N)*s.in.K > mostShared {
		m.Run(s.in, out)
		return
	}
	st := m.states.Get()
	w.runDecoded(s.decodedWords(readingOf(s.in, &m.params)), s.in, out, st)
	m.states.Put(st)
}

// decodedWords returns the operands as a program reads them.
func (s *Shared) decodedWords(how reading) *decodedWords {
	for i := range s.all {
		if s.all[i].how == how {
			return &s.all[i]
		}
	}
	if n := len(s.all); n < cap(s.all) { // with its memory
		s.all = s.all[:n+1]
	} else {
		s.all = append(s.all, decodedWords{})
	}
	f := &s.all[len(s.all)-1]
	f.how, f.decoded = how, false
	return f
}
