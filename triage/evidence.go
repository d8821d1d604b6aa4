package triage

import (
	"math/bits"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Case is a dot product and the result of the unit that is to be explained.
type Case struct {
	Dot  *mma.Dot
	Want uint64
}

// evidence is what is known about the unit to be explained: cases in batches
// that grow, so that a wrong program fails in the first.
type evidence struct {
	formats mma.Formats
	k       int // of the instruction; the dot products may be longer
	policy  oracle.Policy
	cases   []Case
	chunks  []chunk
	evals   int // programs run, for statistics
}

type chunk struct {
	batch *mma.Batch
	want  []uint64
	out   []byte
}

func newEvidence(f mma.Formats, k int, policy oracle.Policy) *evidence {
	return &evidence{formats: f, k: k, policy: policy}
}

// add takes in more cases.
func (e *evidence) add(cases ...Case) {
	e.cases = append(e.cases, cases...)
	e.chunks = nil
}

// pack makes the batches: 8, 24, 96 and so on cases.
func (e *evidence) pack() {
	if e.chunks != nil {
		return
	}
	for from, n := 0, 8; from < len(e.cases); n *= 3 {
		to := min(from+n, len(e.cases))
		e.chunks = append(e.chunks, e.chunk(e.cases[from:to]))
		from = to
	}
}

func (e *evidence) chunk(cases []Case) chunk {
	dots := make([]*mma.Dot, len(cases))
	c := chunk{want: make([]uint64, len(cases))}
	for i := range cases {
		dots[i], c.want[i] = cases[i].Dot, cases[i].Want
	}
	c.batch = Batch(e.formats, dots)
	c.out = make([]byte, len(cases)*e.formats.D.Width())
	return c
}

// Batch packs dot products, which have one length, into tiles of one.
func Batch(f mma.Formats, dots []*mma.Dot) *mma.Batch {
	b := mma.NewBatch(f, mma.Shape{M: 1, N: 1, K: len(dots[0].A), Tiles: len(dots)})
	for i, d := range dots {
		b.Set(i, d)
	}
	return b
}

// explains reports whether a program gives the unit's result in every case.
func (e *evidence) explains(p *mma.Params) bool {
	m := e.model(p)
	if m == nil {
		return false
	}
	e.pack()
	for i := range e.chunks {
		if !e.agrees(m, &e.chunks[i], nil, 0) {
			return false
		}
	}
	return true
}

func (e *evidence) model(p *mma.Params) *sim.Model {
	m, err := sim.New(e.formats, e.k, *p)
	if err != nil {
		return nil
	}
	e.evals++
	return m
}

// agrees compares a model with a chunk. If hits is not nil it marks the cases
// that agree, from bit first on, and goes on to the end.
func (e *evidence) agrees(m *sim.Model, c *chunk, hits bitset, first int) bool {
	m.Run(c.batch, c.out)
	w, all := e.formats.D.Width(), true
	for i, want := range c.want {
		same := oracle.Compare(e.formats.D, e.policy, mma.Load(c.out, w, i), want) == oracle.Same
		switch {
		case same && hits != nil:
			hits.set(first + i)
		case !same && hits == nil:
			return false
		case !same:
			all = false
		}
	}
	return all
}

// hits returns which of the cases a program explains, of the first most ones.
func (e *evidence) hits(p *mma.Params, most int) bitset {
	h := newBitset(len(e.cases))
	m := e.model(p)
	if m == nil {
		return h
	}
	e.pack()
	first := 0
	for i := range e.chunks {
		if first >= most {
			break
		}
		e.agrees(m, &e.chunks[i], h, first)
		first += len(e.chunks[i].want)
	}
	return h
}

// bitset is a set of case numbers.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int) { b[i/64] |= 1 << (i % 64) }

func (b bitset) and(o bitset) bitset {
	both := make(bitset, len(b))
	for i := range b {
		both[i] = b[i] & o[i]
	}
	return both
}

func (b bitset) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}
