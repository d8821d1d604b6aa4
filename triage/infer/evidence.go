package infer

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// space is what inference is told of a unit: what a hypothesis must be valid for.
type space struct {
	mma.Formats
	k      int
	policy oracle.Policy
}

// valid says whether a program is one for these formats.
func (sp *space) valid(p *mma.Params) bool { return p.Validate(sp.Formats, sp.k) == nil }

// same says whether two results agree by the policy.
func (sp *space) same(x, y uint64) bool {
	return x == y || sp.policy != oracle.Policy{} && oracle.Compare(sp.D, sp.policy, x, y) == oracle.Same
}

// set is the evidence of one family: dot products and what the unit answered.
type set struct {
	name string
	dots []*mma.Dot
	want []uint64
}

// cases is evidence packed for models: tiles of one dot product.
type cases struct {
	batch *mma.Batch
	want  []uint64
	set   []int // of each case, the number of its set
}

func (sp *space) pack(dots []*mma.Dot, want []uint64) *cases {
	c := &cases{batch: mma.NewBatch(sp.Formats, mma.Shape{M: 1, N: 1, K: sp.k, Tiles: len(dots)}), want: want}
	for i, d := range dots {
		c.batch.Set(i, d)
	}
	return c
}

// evidence is all that is known about the unit, and counts what is spent on it.
type evidence struct {
	space
	sets    []*set
	all     *cases
	workers int
	evals   *atomic.Int64                    // dot products that models have computed
	limit   int64                            // of evals, at which searches give up; 0: none
	trace   func(format string, args ...any) // tells what happens
}

// spent says whether a search has to give up.
func (e *evidence) spent() bool { return e.limit > 0 && e.evals.Load() >= e.limit }

// add takes in a set, or more cases of one that is there.
func (e *evidence) add(name string, dots []*mma.Dot, want []uint64) {
	e.all = nil
	for _, s := range e.sets {
		if s.name == name {
			s.dots, s.want = append(s.dots, dots...), append(s.want, want...)
			return
		}
	}
	e.sets = append(e.sets, &set{name, dots, want})
}

// first returns the evidence of the first n sets.
func (e *evidence) first(n int) *evidence {
	f := *e
	f.sets, f.all = e.sets[:n], nil
	return &f
}

// loosely returns the same evidence, where all NaNs are alike and so are both zeros.
// Which NaN and which zero it is shows little of how a sum is made, and hides much.
func (e *evidence) loosely() *evidence {
	l := *e
	l.policy = oracle.Policy{NaN: oracle.ByClass, Zero: oracle.ByClass}
	return &l
}

// whole returns all cases.
func (e *evidence) whole() *cases {
	if e.all != nil {
		return e.all
	}
	var dots []*mma.Dot
	var want []uint64
	var of []int
	for n, s := range e.sets {
		dots = append(dots, s.dots...)
		want = append(want, s.want...)
		for range s.dots {
			of = append(of, n)
		}
	}
	e.all = e.pack(dots, want)
	e.all.set = of
	return e.all
}

// pick packs chosen cases of the whole.
func (e *evidence) pick(index []int) *cases {
	whole := e.whole()
	dots, want := make([]*mma.Dot, len(index)), make([]uint64, len(index))
	for n, i := range index {
		dots[n] = mma.NewDot(e.Formats, e.k)
		whole.batch.Get(i, dots[n])
		want[n] = whole.want[i]
	}
	return e.pack(dots, want)
}

// runner computes the results of a batch by some program: a sim.Model or, for few
// dot products, a sim.Sweep.
type runner interface {
	Run(in *mma.Batch, out []byte)
}

// hits marks the cases that a program explains: none if it is not valid.
func (e *evidence) hits(p *mma.Params, c *cases) []bool {
	h := make([]bool, len(c.want))
	m, err := sim.New(e.Formats, e.k, *p)
	if err != nil {
		return h
	}
	e.run(m, c, nil, func(i int) { h[i] = true })
	return h
}

// score counts the cases that a program explains, with a buffer to reuse.
func (e *evidence) score(m runner, c *cases, out *[]byte) int {
	n := 0
	e.run(m, c, out, func(int) { n++ })
	return n
}

func (e *evidence) run(m runner, c *cases, buf *[]byte, hit func(i int)) {
	w := e.D.Width()
	var out []byte
	if buf == nil {
		out = make([]byte, len(c.want)*w)
	} else {
		if len(*buf) < len(c.want)*w {
			*buf = make([]byte, len(c.want)*w)
		}
		out = (*buf)[:len(c.want)*w]
	}
	m.Run(c.batch, out)
	e.evals.Add(int64(len(c.want)))
	for i, want := range c.want {
		if e.same(mma.Load(out, w, i), want) {
			hit(i)
		}
	}
}

// each calls f for every program of a list that is valid, in parallel, with its
// model and a buffer of the worker.
func (e *evidence) each(ps []mma.Params, f func(i int, m runner, buf *[]byte)) {
	e.parallel(len(ps), func() func(i int) {
		var buf []byte
		return func(i int) {
			if m, err := sim.New(e.Formats, e.k, ps[i]); err == nil {
				f(i, m, &buf)
			}
		}
	})
}

// sweep is each for programs that compute few dot products, always the same.
func (e *evidence) sweep(ps []mma.Params, f func(i int, m runner, buf *[]byte)) {
	e.parallel(len(ps), func() func(i int) {
		var buf []byte
		s := sim.NewSweep(e.Formats, e.k)
		return func(i int) {
			if s.Use(&ps[i]) == nil {
				f(i, s, &buf)
			}
		}
	})
}

// parallel calls functions for 0..n-1; each worker has a function of its own.
func (e *evidence) parallel(n int, worker func() func(i int)) {
	const chunk = 16
	workers := e.workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, (n+chunk-1)/chunk) {
		wg.Go(func() {
			f := worker()
			for from := int(next.Add(chunk)) - chunk; from < n; from = int(next.Add(chunk)) - chunk {
				for i := from; i < min(from+chunk, n); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}

// counts returns for each program how many cases it explains, -1 if it is not
// valid.
func (e *evidence) counts(ps []mma.Params, c *cases) []int {
	const few = 200
	n := make([]int, len(ps))
	for i := range n {
		n[i] = -1
	}
	each := e.each
	if len(c.want) <= few {
		each = e.sweep
	}
	each(ps, func(i int, m runner, buf *[]byte) { n[i] = e.score(m, c, buf) })
	return n
}

// sample draws the numbers of up to n cases that are marked as hit says, evenly
// from all sets.
func (e *evidence) sample(h []bool, hit bool, r *rand.Rand, n int) []int {
	whole := e.whole()
	bySet := make([][]int, len(e.sets))
	for _, i := range r.Perm(len(h)) {
		if h[i] == hit {
			s := whole.set[i]
			bySet[s] = append(bySet[s], i)
		}
	}
	var out []int
	perm := r.Perm(len(bySet))
	for got := true; got && len(out) < n; {
		got = false
		for _, s := range perm {
			if len(bySet[s]) > 0 && len(out) < n {
				out = append(out, bySet[s][0])
				bySet[s] = bySet[s][1:]
				got = true
			}
		}
	}
	return out
}

// total counts what is marked.
func total(h []bool) int {
	n := 0
	for _, x := range h {
		if x {
			n++
		}
	}
	return n
}
