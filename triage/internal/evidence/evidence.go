// Package evidence keeps what is known of a unit, dot products with the results that it
// gave, and finds out which programs explain it.
package evidence

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// Evidence is all that is known of a unit: families of cases, in order. It also counts
// what programs have computed.
type Evidence struct {
	change.Space // of the unit; the dot products may be longer than K
	Policy       oracle.Policy
	// Base, if not nil, is the program from which the unit differs. The code of a NaN of the unit where it
	// gives a number does not matter then: see oracle.Comparer.Explains.
	Base    *sim.Model
	Workers int // that run programs; 0: one for each processor
	// Done, once closed, stops the running of programs: those that have not run count as not
	// valid. So nobody waits for the end of a long list. nil: never.
	Done     <-chan struct{}
	Computed *atomic.Int64 // dot products that programs have computed
	busy     *atomic.Int64 // nanoseconds that they have run

	Families []*Family
	all      *Cases
	growing  []*Cases // all cases in batches that grow
}

// Family is the cases of one kind of question: dot products and what the unit answered.
type Family struct {
	Name string
	Dots []*mma.Dot
	Want []uint64
}

// New returns evidence without cases.
func New(s change.Space, p oracle.Policy) *Evidence {
	return &Evidence{Space: s, Policy: p, Computed: &atomic.Int64{}, busy: &atomic.Int64{}}
}

// Stopped reports whether Done is closed.
func (e *Evidence) Stopped() bool {
	select {
	case <-e.Done:
		return true
	default:
		return false
	}
}

// Time returns how long programs have run, on all processors together.
func (e *Evidence) Time() time.Duration { return time.Duration(e.busy.Load()) }

// timed counts the time from a moment to now.
func (e *Evidence) timed(from time.Time) { e.busy.Add(int64(time.Since(from))) }

// Same reports whether two results agree by the policy.
func (e *Evidence) Same(x, y uint64) bool {
	return x == y || e.Policy != oracle.Policy{} && oracle.Compare(e.D, e.Policy, x, y) == oracle.Same
}

// Add takes in a family, or more cases at the end of one that is there.
func (e *Evidence) Add(name string, dots []*mma.Dot, want []uint64) {
	f := e.family(name)
	f.Dots, f.Want = append(f.Dots, dots...), append(f.Want, want...)
}

// AddFirst takes in a family, or more cases at the beginning of one that is there.
func (e *Evidence) AddFirst(name string, dots []*mma.Dot, want []uint64) {
	f := e.family(name)
	f.Dots, f.Want = slices.Concat(dots, f.Dots), slices.Concat(want, f.Want)
}

// family returns the family of a name, which is about to change.
func (e *Evidence) family(name string) *Family {
	e.all, e.growing = nil, nil
	for _, f := range e.Families {
		if f.Name == name {
			return f
		}
	}
	f := &Family{Name: name}
	e.Families = append(e.Families, f)
	return f
}

// Replace takes other families instead, and returns those that were there.
func (e *Evidence) Replace(families []*Family) []*Family {
	before := e.Families
	e.Families, e.all, e.growing = families, nil, nil
	return before
}

// First returns the evidence of the first n families, and of others by their names.
func (e *Evidence) First(n int, others ...string) *Evidence {
	f := *e
	f.Families, f.all, f.growing = slices.Clip(e.Families[:n]), nil, nil
	for _, other := range e.Families[n:] {
		if slices.Contains(others, other.Name) {
			f.Families = append(f.Families, other)
		}
	}
	return &f
}

// Without returns the evidence without some families.
func (e *Evidence) Without(names ...string) *Evidence {
	f := e.First(0)
	for _, other := range e.Families {
		if !slices.Contains(names, other.Name) {
			f.Families = append(f.Families, other)
		}
	}
	return f
}

// Loosely returns the same evidence, where all NaNs are alike and so are both zeros.
// Which NaN or zero a result is tells little about how a sum is made, and a program that is
// wrong about it alone would seem as wrong as any other.
func (e *Evidence) Loosely() *Evidence {
	l := *e
	l.Policy = oracle.Policy{NaN: oracle.ByClass, Zero: oracle.ByClass}
	return &l
}

// Exactly returns the same evidence, where the code of every NaN matters as the policy says.
func (e *Evidence) Exactly() *Evidence {
	x := *e
	x.Base = nil
	return &x
}

// All returns all cases.
func (e *Evidence) All() *Cases {
	if e.all == nil {
		var dots []*mma.Dot
		var want []uint64
		var of []int
		for n, f := range e.Families {
			dots, want = append(dots, f.Dots...), append(want, f.Want...)
			for range f.Dots {
				of = append(of, n)
			}
		}
		e.all = e.Pack(dots, want)
		e.all.family = of
	}
	return e.all
}

// FirstCases returns the first cases, at most n.
func (e *Evidence) FirstCases(n int) *Cases {
	all := e.All()
	return all.Part(0, min(n, len(all.Want)))
}

// Explains reports whether a program gives the unit's result in every case.
func (e *Evidence) Explains(p *mma.Params) bool {
	m, err := sim.New(e.Formats, e.K, *p)
	if err != nil {
		return false
	}
	if e.growing == nil {
		e.growing = e.All().growing()
	}
	return e.missesAtMost(m, e.growing, 0)
}

// missesAtMost reports whether a program gives another result than the unit in no more than so many
// cases. It runs batches of growing size, since a wrong program mostly fails in one of the first.
func (e *Evidence) missesAtMost(m Runner, growing []*Cases, most int) bool {
	defer e.timed(time.Now())
	var buf []byte
	for _, c := range growing {
		if most -= len(c.Want) - e.Score(m, c, &buf); most < 0 {
			return false
		}
	}
	return true
}

// Hits marks the cases that a program explains: none if it is not valid.
func (e *Evidence) Hits(p *mma.Params, c *Cases) []bool {
	m, err := sim.New(e.Formats, e.K, *p)
	if err != nil {
		return make([]bool, len(c.Want))
	}
	return e.HitsOf(inParts{e, m}, c)
}

// HitsOf marks the cases that a program explains.
func (e *Evidence) HitsOf(m Runner, c *Cases) []bool {
	hits := make([]bool, len(c.Want))
	e.compare(m, c, nil, func(i int) { hits[i] = true })
	return hits
}

// Results returns the results of a program, nil if it is not valid.
func (e *Evidence) Results(p *mma.Params, c *Cases) []byte {
	m, err := sim.New(e.Formats, e.K, *p)
	if err != nil {
		return nil
	}
	out := make([]byte, c.Batch.Dots()*e.D.Width())
	inParts{e, m}.Run(c.Batch, out)
	return out
}

// Score counts the cases that a program explains, with a buffer to reuse for its results.
func (e *Evidence) Score(m Runner, c *Cases, buf *[]byte) int {
	n := 0
	e.compare(m, c, buf, func(int) { n++ })
	return n
}

// Runner computes the results of a batch by some program: a sim.Model or, for few dot
// products, a sim.Sweep.
type Runner interface {
	Run(in *mma.Batch, out []byte)
}

// inParts runs a model on parts of a batch of single dot products in parallel.
type inParts struct {
	e     *Evidence
	model *sim.Model
}

func (x inParts) Run(in *mma.Batch, out []byte) {
	const part = 256 // dot products
	w := x.e.D.Width()
	parallel.For(x.e.Workers, (in.Tiles+part-1)/part, func(i int) {
		defer x.e.timed(time.Now())
		from, n := i*part, min(part, in.Tiles-i*part)
		x.model.Run(in.Part(from, n), out[from*w:(from+n)*w])
	})
}

// Run returns the results of a program, and counts them. buf, if not nil, is a buffer
// to reuse.
func (e *Evidence) Run(m Runner, c *Cases, buf *[]byte) []byte {
	if buf == nil {
		buf = new([]byte)
	}
	n := len(c.Want) * e.D.Width()
	*buf = slices.Grow((*buf)[:0], n)[:n]
	m.Run(c.Batch, *buf)
	e.Computed.Add(int64(len(c.Want)))
	return *buf
}

// compare calls hit for every case in which a program gives the unit's result.
func (e *Evidence) compare(m Runner, c *Cases, buf *[]byte, hit func(i int)) {
	out, w := e.Run(m, c, buf), e.D.Width()
	comparer := oracle.NewComparer(e.D, e.Policy)
	for i, want := range c.Want {
		other := want // nothing is known of it
		if e.Base != nil && c.base != nil {
			other = c.base[i]
		}
		if comparer.Explains(mma.Load(out, w, i), want, other) {
			hit(i)
		}
	}
}

// Each calls f for every program of a list that is valid, in parallel, with its model
// and a buffer of the worker.
func (e *Evidence) Each(ps []mma.Params, f func(i int, m Runner, buf *[]byte)) {
	e.parallel(len(ps), func() func(i int) {
		var buf []byte
		x := &sharing{}
		return func(i int) {
			if m, err := sim.New(e.Formats, e.K, ps[i]); err == nil {
				x.model = m
				f(i, x, &buf)
			}
		}
	})
}

// sharing runs one model after the other; those that run on the same batch decode it once.
type sharing struct {
	model *sim.Model
	batch *mma.Batch // of shared
	sim.Shared
}

func (x *sharing) Run(in *mma.Batch, out []byte) {
	if in != x.batch {
		x.batch = in
		x.Reset(in)
	}
	x.model.RunShared(&x.Shared, out)
}

// Sweep is Each for functions that run every program on the same few dot products.
func (e *Evidence) Sweep(ps []mma.Params, f func(i int, m Runner, buf *[]byte)) {
	e.parallel(len(ps), func() func(i int) {
		var buf []byte
		s := sim.NewSweep(e.Formats, e.K)
		return func(i int) {
			if s.Use(&ps[i]) == nil {
				f(i, s, &buf)
			}
		}
	})
}

// parallel calls functions for 0..n-1; each worker has a function of its own.
func (e *Evidence) parallel(n int, worker func() func(i int)) {
	const chunk = 16
	workers := e.Workers
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	var wg parallel.Group
	for range min(workers, (n+chunk-1)/chunk) {
		wg.Go(func() {
			defer e.timed(time.Now())
			f := worker()
			for from := int(next.Add(chunk)) - chunk; from < n; from = int(next.Add(chunk)) - chunk {
				for i := from; i < min(from+chunk, n) && !e.Stopped(); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
}

// Counts returns for each program how many cases it explains, -1 if it is not valid.
func (e *Evidence) Counts(ps []mma.Params, c *Cases) []int {
	const few = 200
	n := make([]int, len(ps))
	for i := range n {
		n[i] = -1
	}
	each := e.Each
	if len(c.Want) <= few {
		each = e.Sweep
	}
	each(ps, func(i int, m Runner, buf *[]byte) { n[i] = e.Score(m, c, buf) })
	return n
}

// Sample draws the numbers of up to n cases whose mark is hit, evenly from all families.
func (e *Evidence) Sample(hits []bool, hit bool, r *rand.Rand, n int) []int {
	all := e.All()
	byFamily := make([][]int, len(e.Families))
	for _, i := range r.Perm(len(hits)) {
		if hits[i] == hit {
			f := all.family[i]
			byFamily[f] = append(byFamily[f], i)
		}
	}
	var out []int
	perm := r.Perm(len(byFamily))
	for got := true; got && len(out) < n; {
		got = false
		for _, f := range perm {
			if len(byFamily[f]) > 0 && len(out) < n {
				out = append(out, byFamily[f][0])
				byFamily[f] = byFamily[f][1:]
				got = true
			}
		}
	}
	return out
}

// TotalWithout counts the marked cases of all evidence but those of some families.
func (e *Evidence) TotalWithout(hits []bool, names ...string) int {
	n, from := 0, 0
	for _, f := range e.Families {
		if !slices.Contains(names, f.Name) {
			n += Total(hits[from : from+len(f.Dots)])
		}
		from += len(f.Dots)
	}
	return n
}

// Total counts the marked cases.
func Total(hits []bool) int {
	n := 0
	for _, hit := range hits {
		if hit {
			n++
		}
	}
	return n
}
