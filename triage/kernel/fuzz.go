package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Fuzz compares two sides on products of drawn shapes and operands. The same seed draws the
// same products, whatever the number of workers.
type Fuzz struct {
	A, B     *Side
	Seed     uint64
	Count    int
	Workers  int // 0: one for each processor
	Progress func(done, of int, what string)
}

// Found is what a Fuzz has found.
type Found struct {
	Products, Differ int
	Elements, Wrong  int
	Inputs           [len(inputs)]int // products that differ, by the kind of their operands
	Lost             *Lost            // what ones have shown
	Answer           *Answer          // why they differ; nil if they do not, or no side is a kernel
	// Fresh is how many other products were compared with what the answer's kernel gives, and
	// Rest how many of them differ: there is more than one difference then.
	Fresh, Rest int
	Smallest    *Case // nil: they do not differ
	// Same is what is known without products: "", or for which K the sides are the same function.
	Same string
}

// Lost says that a product of ones is not K, which counts the products that were summed.
type Lost struct {
	Side string
	K    int
	Sum  float64
}

// drawn is a product.
type drawn struct {
	kind int
	a, b *gemm.Operands // the same but for scales that a side does not have
	d    [2][]byte
	id   fp.ID
	err  error
}

const (
	asked     = 6  // products that differ, and as many that do not, on which mutants are tried
	perRound  = 64 // products that are computed before they are looked at
	mostTerms = 1 << 21
)

// inputs are the kinds of operands. Of ones and one-hot rows the result is known.
var inputs = [...]string{"normal", "spread", "ones", "one-hot", "special"}

// Inputs are the names of the kinds of operands.
func Inputs() []string { return inputs[:] }

// Run compares the sides.
func (z *Fuzz) Run(ctx context.Context) (*Found, error) {
	shapes, err := shapesOf(z.A, z.B)
	if err != nil {
		return nil, err
	}
	found := &Found{Same: same(z.A, z.B)}
	var differ, agree []Product
	var first *drawn
	for from := 0; from < z.Count; from += perRound {
		for _, p := range z.round(ctx, shapes, from, min(perRound, z.Count-from)) {
			if p.err != nil {
				return nil, p.err
			}
			wrong := wrong(p.id, p.d[0], p.d[1])
			found.Products++
			found.Elements += p.a.M * p.a.N
			q := Product{Operands: p.a, Got: p.d[0], Want: p.d[1], D: p.id}
			switch {
			case wrong == 0 && len(agree) < asked:
				agree = append(agree, q)
			case wrong > 0:
				found.Differ++
				found.Wrong += wrong
				found.Inputs[p.kind]++
				if len(differ) < asked {
					differ = append(differ, q)
				}
				if first == nil {
					first = p
				}
				if found.Lost == nil {
					found.Lost = z.lost(p)
				}
			}
		}
		if z.Progress != nil {
			z.Progress(min(z.Count, from+perRound), z.Count, "products")
		}
	}
	if first == nil {
		return found, ctx.Err()
	}
	if z.A.Kernel != nil {
		q := Question{Kernel: z.A.Kernel, Options: z.A.Options, Products: append(differ, agree...)}
		if z.Progress != nil {
			q.Progress = func(done, of int) { z.Progress(done, of, "why they differ") }
		}
		if found.Answer, err = q.Explain(ctx); err != nil {
			return nil, err
		}
		if found.Answer.Kernel != nil {
			if found.Fresh, found.Rest, err = z.check(ctx, shapes, found.Answer.Kernel); err != nil {
				return nil, err
			}
		}
	}
	found.Smallest, err = z.shrink(ctx, shapes, first)
	return found, err
}

// check compares the second side with a kernel on as many products as there were, of a seed of
// their own.
func (z *Fuzz) check(ctx context.Context, s *shapeRange, k *schedule.Kernel) (products, differ int, err error) {
	a := *z.A
	a.Kernel = k
	fresh := &Fuzz{A: &a, B: z.B, Seed: ^z.Seed, Workers: z.Workers}
	for from := 0; from < z.Count; from += perRound {
		for _, p := range fresh.round(ctx, s, from, min(perRound, z.Count-from)) {
			if p.err != nil {
				return 0, 0, p.err
			}
			products++
			if wrong(p.id, p.d[0], p.d[1]) > 0 {
				differ++
			}
		}
		if z.Progress != nil {
			z.Progress(min(z.Count, from+perRound), z.Count, "products of the changed schedule")
		}
	}
	return products, differ, nil
}

// round computes products.
func (z *Fuzz) round(ctx context.Context, s *shapeRange, from, n int) []*drawn {
	all := make([]*drawn, n)
	work := make(chan int)
	var wait sync.WaitGroup
	workers := z.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, n) {
		wait.Go(func() {
			for i := range work {
				all[i] = z.product(ctx, s, uint64(from+i))
			}
		})
	}
	for i := range n {
		work <- i
	}
	close(work)
	wait.Wait()
	return all
}

// product draws and computes product n.
func (z *Fuzz) product(ctx context.Context, s *shapeRange, n uint64) *drawn {
	rng := rand.New(rand.NewPCG(z.Seed, n))
	p := &drawn{kind: rng.IntN(len(inputs))}
	p.a = operands(rng, p.kind, s.draw(rng), z.A)
	p.b = z.of(z.B, p.a, rng)
	z.compute(ctx, p)
	return p
}

// compute computes both sides.
func (z *Fuzz) compute(ctx context.Context, p *drawn) {
	if p.err = ctx.Err(); p.err != nil {
		return
	}
	var id fp.ID
	if p.d[0], p.id, p.err = z.A.Multiply(ctx, p.a); p.err != nil {
		return
	}
	if p.d[1], id, p.err = z.B.Multiply(ctx, p.b); p.err == nil && id != p.id {
		p.err = &formatError{z.A.Name, z.B.Name, p.id, id}
	}
}

// formatError says that two sides give results in different formats.
type formatError struct {
	A, B     string
	IDA, IDB fp.ID
}

func (e *formatError) Error() string {
	return e.A + " gives " + e.IDA.String() + ", and " + e.B + " gives " + e.IDB.String() + ": they cannot be compared"
}

// of returns operands of one side for another: the same matrices, and scales if it has some.
func (z *Fuzz) of(s *Side, o *gemm.Operands, rng *rand.Rand) *gemm.Operands {
	c := *o
	scales(&c, s, rng)
	return &c
}

// draw draws a shape: many small and skinny ones, some deep; K aligned and not.
func (s *shapeRange) draw(rng *rand.Rand) schedule.Shape {
	log := func(most int) int { return int(math.Exp(rng.Float64() * math.Log(float64(most)+0.99))) }
	for {
		shape := schedule.Shape{M: log(64), N: log(64), K: log(2048)}
		switch rng.IntN(8) {
		case 0:
			shape.M = 1
		case 1:
			shape.N = 1
		case 2:
			shape.M, shape.N, shape.K = min(shape.M, 3), min(shape.N, 3), log(1<<14)
		}
		if align := []int{1, 1, 8, 64}[rng.IntN(4)]; shape.K > align {
			shape.K -= shape.K % align
		}
		if s.Ks != nil {
			shape.K = s.Ks[rng.IntN(len(s.Ks))]
		}
		shape.M, shape.N = s.fitting(s.M, shape.M), s.fitting(s.N, shape.N)
		if shape.M*shape.N*shape.K <= mostTerms || s.Ks != nil {
			return shape
		}
	}
}

// fitting returns a number of rows or columns that both sides take.
func (s *shapeRange) fitting(ranges []mma.Range, n int) int {
	if takes(ranges, n) {
		return n
	}
	for _, r := range ranges {
		for v := r.Min; v <= r.Max && r.Step > 0; v += r.Step {
			if takes(ranges, v) {
				return v
			}
		}
		if takes(ranges, r.Min) && r.Min > 0 {
			return r.Min
		}
	}
	return n
}

// operands draws matrices for a side.
func operands(rng *rand.Rand, kind int, s schedule.Shape, side *Side) *gemm.Operands {
	o := &gemm.Operands{Shape: s}
	o.A, o.B = matrix(rng, kind, side.Unit.A, s.M, s.K, true), matrix(rng, kind, side.Unit.B, s.N, s.K, false)
	scales(o, side, rng)
	return o
}

// matrix draws lines of codes.
func matrix(rng *rand.Rand, kind int, id fp.ID, lines, depth int, isA bool) []byte {
	f, w := id.Get(), id.Width()
	out := make([]byte, lines*depth*w)
	for n := range lines {
		hot := rng.IntN(depth)
		for k := range depth {
			v := rng.NormFloat64()
			switch inputs[kind] {
			case "spread":
				v = math.Ldexp(v, rng.IntN(21)-10)
			case "ones":
				v = 1
			case "one-hot":
				if isA && k != hot {
					v = 0
				}
			}
			code := f.FromFloat64(v)
			if inputs[kind] == "special" && rng.IntN(8) == 0 {
				code = rng.Uint64() & f.CodeMask()
			}
			mma.Store(out, w, n*depth+k, code)
		}
	}
	return out
}

// scales draws the scales that a side needs, near 1 and no powers of two, which would hide
// where they are multiplied in.
func scales(o *gemm.Operands, s *Side, rng *rand.Rand) {
	if u := s.Unit; u.Scale != fp.None {
		blocks := (o.K + int(u.Block) - 1) / int(u.Block)
		one := func(n int) []byte {
			out := make([]byte, n*u.Scale.Width())
			for i := range n {
				mma.Store(out, u.Scale.Width(), i, u.Scale.Get().FromFloat64(math.Ldexp(1, rng.IntN(5)-2)))
			}
			return out
		}
		o.SA, o.SB = one(o.M*blocks), one(o.N*blocks)
	}
	if s.Kernel == nil || o.ScaleA != nil {
		return
	}
	side := schedule.Side(s.Unit.D).Get()
	some := func(b *schedule.Blocks, lines int) (all []uint64) {
		for b != nil && len(all) < b.Count(lines, o.K) {
			all = append(all, side.FromFloat64(0.5+rng.Float64()))
		}
		return all
	}
	o.ScaleA, o.ScaleB = some(s.Kernel.ScaleA, o.M), some(s.Kernel.ScaleB, o.N)
	o.Alpha, o.Beta = side.FromFloat64(1), side.FromFloat64(1)
}

// lost says which side does not count the products of ones.
func (z *Fuzz) lost(p *drawn) *Lost {
	if inputs[p.kind] != "ones" || p.a.ScaleA != nil || p.a.SA != nil {
		return nil
	}
	f, w := p.id.Get(), p.id.Width()
	for i, s := range []*Side{z.A, z.B} {
		for n := range p.a.M * p.a.N {
			sum := f.Float64(mma.Load(p.d[i], w, n))
			if sum != f.Float64(f.FromFloat64(float64(p.a.K))) {
				return &Lost{s.Name, p.a.K, sum}
			}
		}
	}
	return nil
}
