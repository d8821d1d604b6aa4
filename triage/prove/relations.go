package prove

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/encode"
	"github.com/mmafuzz/mmafuzz/triage/prove/internal/graph"
)

// relation is what a property says of every input: how its result and that of a related input
// belong together. It is told twice, in nodes and in codes; what a solver finds is believed
// only if the codes say it too.
type relation struct {
	// other are the operands of the related input; nil: the relation is about one input.
	other func(in *encode.Inputs) *encode.Inputs
	// nodes are two nodes that differ where the relation fails for the results x and y.
	nodes func(in *encode.Inputs, d *fp.Format, x, y *graph.Node) (a, b *graph.Node)
	// assume is what it is about, as booleans that are 1, and in words.
	assume func(in, other *encode.Inputs) []*graph.Node
	words  string

	// dots are the related inputs of one, none if it is not about it: several where a solver
	// chooses (again is set).
	dots func(d *mma.Dot) []*mma.Dot
	// fails reports whether the relation fails for an input with the results x and y.
	fails func(f *fp.Format, d *mma.Dot, x, y uint64) bool
	// again returns the input that is related to d in the way in which a solver chose e; nil if
	// there is none.
	again func(d, e *mma.Dot) *mma.Dot
	// first are inputs on which it is likely to fail, if it fails at all.
	first func(q *asked) []*mma.Dot
}

// equal are the nodes of relations that demand the same result.
func equal(_ *encode.Inputs, _ *fp.Format, x, y *graph.Node) (a, b *graph.Node) { return x, y }

func differ(_ *fp.Format, _ *mma.Dot, x, y uint64) bool { return x != y }

// swaps are the exchanges of neighbouring products, of which all orders are made. Scales
// belong to places: only products of one block change places.
func swaps(q *asked) []relation {
	var all []relation
	block := q.k
	if q.f.Scale != fp.None {
		block = int(q.f.Block)
	}
	for i := range q.k - 1 {
		if i/block != (i+1)/block {
			continue
		}
		all = append(all, relation{
			other: func(in *encode.Inputs) *encode.Inputs { return in.Swapped(i, i+1) },
			nodes: equal, fails: differ,
			dots: func(d *mma.Dot) []*mma.Dot {
				e := d.Clone()
				e.A[i], e.A[i+1] = d.A[i+1], d.A[i]
				e.B[i], e.B[i+1] = d.B[i+1], d.B[i]
				return []*mma.Dot{e}
			},
		})
	}
	return all
}

func exchange(q *asked) []relation {
	if q.f.A != q.f.B {
		return nil
	}
	return []relation{{
		other: (*encode.Inputs).Exchanged,
		nodes: equal, fails: differ,
		dots: func(d *mma.Dot) []*mma.Dot {
			e := d.Clone()
			e.A, e.B, e.SA, e.SB = e.B, e.A, e.SB, e.SA
			return []*mma.Dot{e}
		},
	}}
}

// negation leaves zeros and NaNs out: their signs follow rules of their own.
func negation(q *asked) []relation {
	a := q.f.A.Get()
	if !a.Signed {
		return nil
	}
	return []relation{{
		other: (*encode.Inputs).Negated,
		words: "zeros of either sign and NaNs count as negated",
		nodes: func(in *encode.Inputs, d *fp.Format, x, y *graph.Node) (a, b *graph.Node) {
			sum := in.Add(in.Order(d, x), in.Order(d, y))
			return in.And(in.Not(in.Eq(sum, in.Int(0))), in.Not(in.And(in.IsNaN(d, x), in.IsNaN(d, y)))), in.Int(0)
		},
		fails: func(d *fp.Format, _ *mma.Dot, x, y uint64) bool {
			return order(d, x) != -order(d, y) && !(isNaN(d, x) && isNaN(d, y))
		},
		dots: func(d *mma.Dot) []*mma.Dot {
			e := d.Clone()
			for i := range e.A {
				e.A[i] = negated(a, e.A[i])
			}
			if q.f.C != fp.None {
				e.C = negated(q.f.C.Get(), e.C)
			}
			if a.Integer() && (slices.Contains(d.A, a.SignBit()) || q.f.C != fp.None && d.C == q.f.C.Get().SignBit()) { // which have no opposite
				return nil
			}
			return []*mma.Dot{e}
		},
	}}
}

func negated(f *fp.Format, code uint64) uint64 {
	if f.Integer() {
		return -code & f.CodeMask()
	}
	if !f.HasNegZero() && (code == 0 || isNaN(f, code)) {
		return code
	}
	return code ^ f.SignBit()
}

func monotonic(q *asked) []relation {
	if q.f.C == fp.None {
		return nil
	}
	c := q.f.C.Get()
	return []relation{{
		other: (*encode.Inputs).WithAnotherC,
		words: "neither c nor a result is a NaN",
		assume: func(in, other *encode.Inputs) []*graph.Node {
			return append(append(in.NumbersOfC(), other.NumbersOfC()...), in.Less(in.OrderOfC(), other.OrderOfC()))
		},
		nodes: func(in *encode.Inputs, d *fp.Format, x, y *graph.Node) (a, b *graph.Node) {
			nan := in.Or(in.IsNaN(d, x), in.IsNaN(d, y))
			return in.And(in.Not(nan), in.Less(in.Order(d, y), in.Order(d, x))), in.Int(0)
		},
		fails: func(d *fp.Format, _ *mma.Dot, x, y uint64) bool {
			return !isNaN(d, x) && !isNaN(d, y) && order(d, y) < order(d, x)
		},
		dots: func(d *mma.Dot) []*mma.Dot {
			if isNaN(c, d.C) {
				return nil
			}
			var all []*mma.Dot
			at := order(c, d.C)
			for _, above := range []int64{1, 2, 1 << c.FracBits} {
				if e := d.Clone(); at <= order(c, c.MaxFinite())-above {
					e.C = ordered(c, at+above)
					all = append(all, e)
				}
			}
			return all
		},
		again: func(d, e *mma.Dot) *mma.Dot {
			if isNaN(c, d.C) || order(c, d.C) >= order(c, e.C) {
				return nil
			}
			other := d.Clone()
			other.C = e.C
			return other
		},
		first: func(q *asked) []*mma.Dot {
			const inputs = 1 << 14
			return gen.BelowPower(gen.Spec{Formats: q.f, K: q.k}, 1, inputs, &q.p)
		},
	}}
}

func noNaN(q *asked) []relation {
	if !q.f.D.Get().HasNaN() {
		return nil
	}
	return []relation{{
		words:  "no operand is an infinity or a NaN",
		assume: func(in, _ *encode.Inputs) []*graph.Node { return in.Finite() },
		nodes: func(in *encode.Inputs, d *fp.Format, x, _ *graph.Node) (a, b *graph.Node) {
			return in.IsNaN(d, x), in.Int(0)
		},
		fails: func(d *fp.Format, _ *mma.Dot, x, _ uint64) bool { return isNaN(d, x) },
		dots: func(d *mma.Dot) []*mma.Dot {
			if !finite(q.f, d) {
				return nil
			}
			return []*mma.Dot{d}
		},
	}}
}

// oneNaN compares with the code of the first NaN that the generators make.
func oneNaN(q *asked) []relation {
	m, err := sim.New(q.f, q.k, q.p)
	if err != nil || !q.f.D.Get().HasNaN() {
		return nil
	}
	for _, dot := range gen.Probe(gen.Spec{Formats: q.f, K: q.k}, 1, 0, &q.p) {
		nan := m.Dot(dot, nil)
		if !isNaN(q.f.D.Get(), nan) {
			continue
		}
		return []relation{{
			nodes: func(in *encode.Inputs, d *fp.Format, x, _ *graph.Node) (a, b *graph.Node) {
				code := in.AddInt(in.Left(in.Int(int(nan>>32)), 32), int(nan&0xffffffff))
				return in.And(in.IsNaN(d, x), in.Not(in.Eq(x, code))), in.Int(0)
			},
			fails: func(d *fp.Format, _ *mma.Dot, x, _ uint64) bool { return isNaN(d, x) && x != nan },
			dots:  func(d *mma.Dot) []*mma.Dot { return []*mma.Dot{d} },
		}}
	}
	return nil
}

func plusZero(q *asked) []relation {
	d := q.f.D.Get()
	if !d.HasNegZero() {
		return nil
	}
	return []relation{{
		nodes: func(in *encode.Inputs, d *fp.Format, x, _ *graph.Node) (a, b *graph.Node) {
			return in.Eq(x, in.Left(in.Int(1), int(d.ExpBits)+int(d.FracBits))), in.Int(0)
		},
		fails: func(d *fp.Format, _ *mma.Dot, x, _ uint64) bool { return x == d.SignBit() },
		dots:  func(d *mma.Dot) []*mma.Dot { return []*mma.Dot{d} },
	}}
}

// order is encode's Order of a code, told again, and of integers, which are not encoded, their value.
func order(f *fp.Format, code uint64) int64 {
	if f.Integer() {
		return int64(f.Float64(code))
	}
	size := int64(code &^ f.SignBit() >> f.Low)
	if code&f.SignBit() != 0 {
		return -size
	}
	return size
}

// ordered is the code of a number whose order is given, +0 for 0.
func ordered(f *fp.Format, at int64) uint64 {
	if f.Integer() {
		return uint64(at) & f.CodeMask()
	}
	if at < 0 {
		return uint64(-at)<<f.Low | f.SignBit()
	}
	return uint64(at) << f.Low
}

func isNaN(f *fp.Format, code uint64) bool { return f.Decode(code).Class == fp.NaN }

// finite reports whether no operand is an infinity or a NaN.
func finite(f mma.Formats, d *mma.Dot) bool {
	is := func(id fp.ID, codes ...uint64) bool {
		for _, code := range codes {
			if class := id.Get().Decode(code).Class; class == fp.NaN || class == fp.Inf {
				return false
			}
		}
		return true
	}
	return is(f.A, d.A...) && is(f.B, d.B...) && (f.Scale == fp.None || is(f.Scale, append(d.SA, d.SB...)...)) && (f.C == fp.None || is(f.C, d.C))
}

// session is the proof of a relation.
func (r *relation) session(q *asked) (*session, error) {
	g := graph.New()
	return r.sessionOn(encode.NewInputs(g, q.f, q.k, q.p.Special.OperandNaN()), q)
}

// sessionOn is that over given inputs.
func (r *relation) sessionOn(in *encode.Inputs, q *asked) (*session, error) {
	s := &session{Graph: in.Graph, in: in, p: &q.p, q: &q.p, o: q.o, answers: map[[32]byte]answer{}, signatures: map[*graph.Node][32]byte{}, rel: r}
	x, err := encode.Program(s.in, s.p)
	if err != nil {
		return nil, err
	}
	y := x
	if r.other != nil {
		s.other = r.other(s.in)
		if y, err = encode.Program(s.other, s.p); err != nil {
			return nil, err
		}
	}
	if r.assume != nil {
		s.assume = r.assume(s.in, s.other)
	}
	s.a, s.b = r.nodes(s.in, q.f.D.Get(), x, y)
	return s, nil
}

// relationsSMTLIB writes the question whether one of some relations can fail.
func relationsSMTLIB(w io.Writer, q *asked, rs []relation) error {
	if len(rs) == 0 {
		return errors.New("the formats do not allow the question")
	}
	in := encode.NewInputs(graph.New(), q.f, q.k, q.p.Special.OperandNaN())
	assumed := in.Assumed()
	fails := in.Int(0)
	for i := range rs {
		s, err := rs[i].sessionOn(in, q)
		if err != nil {
			return err
		}
		assumed = append(assumed, s.assume...)
		fails = in.Or(fails, in.Not(in.Eq(s.a, s.b)))
	}
	return graph.WriteSMTLIB(w, fails, in.Int(0), assumed...)
}

// broken returns the related input and the results of an input for which the relation fails; ok
// is false if it does not.
func (r *relation) broken(f mma.Formats, d, e *mma.Dot, run func(*mma.Dot) uint64) (x, y uint64, ok bool) {
	x = run(d)
	y = x
	if e != d {
		y = run(e)
	}
	return x, y, r.fails(f.D.Get(), d, x, y)
}

// relatedTo is the input that is related to d as e is to another one; nil if there is none.
func (r *relation) relatedTo(d, e *mma.Dot) *mma.Dot {
	if r.again != nil {
		return r.again(d, e)
	}
	if all := r.dots(d); len(all) > 0 {
		return all[0]
	}
	return nil
}

// shrink makes the result of an input for which the relation fails.
func (r *relation) shrink(ctx context.Context, f mma.Formats, d, e *mma.Dot, run func(*mma.Dot) uint64, by string) (*Result, error) {
	small, err := evidence.Shrink(context.WithoutCancel(ctx), f, d, evidence.OneByOne(func(d *mma.Dot) bool {
		other := r.relatedTo(d, e)
		if other == nil {
			return false
		}
		_, _, fails := r.broken(f, d, other, run)
		return fails
	}), minimize.Options{})
	if err != nil {
		return nil, err
	}
	other := r.relatedTo(small, e)
	x, y, _ := r.broken(f, small, other, run)
	res := &Result{Verdict: Refuted, By: by, Witness: &triage.Witness{Dot: small, Before: x, After: y}}
	if r.other != nil {
		res.related = other
	}
	return res, nil
}

// search asks the generators for an input on which a relation fails.
func search(ctx context.Context, q *asked, rs []relation) (*Result, error) {
	p, err := sim.New(q.f, q.k, q.p)
	if err != nil {
		return nil, err
	}
	run := func(d *mma.Dot) uint64 { return p.Dot(d, nil) }
	const most = 64 // inputs at a time: a relation that fails often does so soon
	for round := -1; ; round++ {
		var dots []*mma.Dot
		if round < 0 {
			for i := range rs {
				if rs[i].first != nil {
					dots = append(dots, rs[i].first(q)...)
				}
			}
			if len(dots) == 0 {
				continue
			}
		} else {
			dots = gen.Probe(gen.Spec{Formats: q.f, K: q.k}, 1, round, &q.p)
		}
		if len(dots) == 0 || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for part := range slices.Chunk(dots, most) {
			if r, d, e := q.firstBroken(p, rs, part); r != nil {
				return r.shrink(ctx, q.f, d, e, run, "generators")
			}
		}
	}
}

// firstBroken returns the first relation that fails, of the first input for which one does; nil if
// none fails.
func (q *asked) firstBroken(m *sim.Model, rs []relation, dots []*mma.Dot) (r *relation, d, e *mma.Dot) {
	type pair struct {
		input int
		r     *relation
	}
	var pairs []pair
	var others []*mma.Dot
	for n, d := range dots {
		for i := range rs {
			for _, e := range rs[i].dots(d) {
				pairs, others = append(pairs, pair{n, &rs[i]}), append(others, e)
			}
		}
	}
	if len(others) == 0 {
		return nil, nil, nil
	}
	w := q.f.D.Width()
	x, y := make([]byte, len(dots)*w), make([]byte, len(others)*w)
	m.Run(mma.BatchOf(q.f, q.k, dots), x)
	m.Run(mma.BatchOf(q.f, q.k, others), y)
	for n, p := range pairs {
		if d := dots[p.input]; p.r.fails(q.f.D.Get(), d, mma.Load(x, w, p.input), mma.Load(y, w, n)) {
			return p.r, d, others[n]
		}
	}
	return nil, nil, nil
}

// relatedWitness checks an input that the solver found for a relation with both interpreters,
// and shrinks it.
func (s *session) relatedWitness(ctx context.Context, d, e *mma.Dot) (*Result, error) {
	f, k := s.in.Formats, s.in.K
	if e == nil {
		return nil, mistaken(f, d, false, false)
	}
	p, err := sim.New(f, k, *s.p)
	if err != nil {
		return nil, err
	}
	run := func(d *mma.Dot) uint64 { return p.Dot(d, nil) }
	judge := func(d *mma.Dot) uint64 { return oracle.Eval(s.p, f, k, d) }
	_, _, fails := s.rel.broken(f, d, e, run)
	_, _, judged := s.rel.broken(f, d, e, judge)
	if !fails || !judged {
		return nil, mistaken(f, d, fails, judged)
	}
	return s.rel.shrink(ctx, f, d, e, run, "solver")
}
