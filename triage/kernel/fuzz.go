package kernel

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Fuzz compares two sides on products of drawn shapes and operands. The same seed draws the
// same products, whatever the number of workers.
type Fuzz struct {
	A, B     *Side
	Seed     uint64
	Count    int           // products; 0: no limit
	Time     time.Duration // after which no more products are drawn; 0: no limit
	Workers  int           // 0: one for each processor
	Progress func(done int, what string)
	State    *State             // with which it begins; nil: from the start
	Save     func(*State) error // called now and then
	Given    []*gemm.Operands   // products that are compared after those that are drawn: a change has to explain them, too
	C        bool               // products have one, in the format of A's unit
	Infer    Inference          // of black boxes that no change of a schedule explains; nil: they are not inferred
}

// State is how far a comparison is, and all that is needed to go on.
type State struct {
	Next   int    `json:"next"` // product
	Found  *Found `json:"found"`
	Differ []int  `json:"differ"` // numbers of products that are kept
	Agree  []int  `json:"agree"`
}

var saveEvery = time.Second

// drawn is a product.
type drawn struct {
	n    uint64
	kind int
	a, b *gemm.Operands // the same but for scales that a side does not have
	d    [2][]byte
	id   fp.ID
	err  error
}

const (
	asked     = 6  // products that differ, and as many that do not, on which mutants are tried
	explained = 4  // changes that are compared on fresh products, at most
	perRound  = 64 // products that are computed before they are looked at
	mostTerms = 1 << 21
	mostSlow  = 1 << 18 // of a black box
)

// inputs are the kinds of operands. Of ones, marks and one-hot rows the result is known.
var inputs = [...]string{"normal", "spread", "ones", "marks", "one-hot", "special"}

// Run compares the sides. If it is interrupted, it returns what it has found with the error.
func (z *Fuzz) Run(ctx context.Context) (*Found, error) {
	found, differ, err := z.compare(ctx)
	if err != nil || differ == nil || found.Varies != "" {
		return found, err
	}
	shapes, err := shapesOf(z.A, z.B)
	if err != nil {
		return found, err
	}
	found.Smallest, err = z.shrink(ctx, shapes, plainest(differ))
	return found, err
}

// compare finds why the sides differ, with some products that do.
func (z *Fuzz) compare(ctx context.Context) (found *Found, differ []*drawn, err error) {
	shapes, err := shapesOf(z.A, z.B)
	if err == nil {
		err = checkScales(z.A, z.B)
	}
	if err != nil {
		return nil, nil, err
	}
	state, saved, began := z.State, time.Now(), time.Now()
	if state == nil {
		state = &State{Found: &Found{A: z.A.Name, B: z.B.Name, Seed: z.Seed, Same: same(z.A, z.B), Inputs: map[string]int{}}}
	}
	found = state.Found
	differ, agree := z.again(ctx, shapes, state.Differ), z.again(ctx, shapes, state.Agree)
	for ; (z.Count == 0 || state.Next < z.Count) && (z.Time == 0 || time.Since(began) < z.Time); state.Next += perRound {
		if z.Save != nil && time.Since(saved) > saveEvery {
			if err := z.Save(state); err != nil {
				return nil, nil, err
			}
			saved = time.Now()
		}
		for _, p := range z.round(ctx, shapes, state.Next, z.left(state.Next)) {
			if p.err != nil {
				return found, nil, p.err
			}
			wrong := wrong(p.id, p.d[0], p.d[1])
			found.Products++
			found.Elements += p.a.M * p.a.N
			z.count(found, p)
			switch {
			case wrong == 0 && len(agree) < asked:
				agree, state.Agree = append(agree, p), append(state.Agree, int(p.n))
			case wrong > 0:
				found.Differ++
				found.Wrong += wrong
				found.Inputs[inputs[p.kind]]++
				if len(differ) < asked {
					differ, state.Differ = append(differ, p), append(state.Differ, int(p.n))
				}
			}
		}
		z.show(found.Products, "matrix products")
	}
	for _, o := range z.Given {
		p := &drawn{a: o, b: o}
		if z.compute(ctx, p); p.err != nil {
			return found, nil, p.err
		}
		if wrong(p.id, p.d[0], p.d[1]) > 0 {
			differ = append(differ, p)
		} else {
			agree = append(agree, p)
		}
	}
	if differ == nil {
		return found, nil, ctx.Err()
	}
	if found.Varies = z.varies(ctx, differ); found.Varies != "" {
		return found, nil, ctx.Err()
	}
	for i, s := range []*Side{z.A, z.B} {
		if s.Kernel == nil || found.explained() {
			continue
		}
		if err := z.explain(ctx, shapes, found, i, slices.Concat(differ, agree)); err != nil {
			return found, nil, err
		}
	}
	if !found.explained() {
		if err := z.compareFields(ctx, shapes, found, differ, agree); err != nil {
			return found, nil, err
		}
	}
	return found, differ, nil
}

// explain looks for a change of the schedule of A (side 0) or B that gives the other's bits.
func (z *Fuzz) explain(ctx context.Context, shapes *shapeRange, found *Found, side int, all []*drawn) error {
	s := [2]*Side{z.A, z.B}[side]
	q := Question{Kernel: s.Kernel, Options: s.Options, Progress: func(done, _ int) { z.show(done, "schedules that are tried") }}
	for _, p := range all {
		q.Products = append(q.Products, Product{Operands: [2]*gemm.Operands{p.a, p.b}[side], Got: p.d[side], Want: p.d[1-side], D: p.id})
	}
	for range explained {
		a, err := q.Explain(ctx)
		if err != nil || a.Kernel == nil && found.Answer != nil {
			return err
		}
		if found.Answer, found.Turned = a, side == 1; a.Kernel == nil {
			return nil
		}
		var rest []*drawn
		if found.Fresh, found.Rest, rest, err = z.check(ctx, shapes, a.Kernel, side, found.Products); err != nil || rest == nil {
			return err
		}
		for _, p := range rest { // they refute this change, and perhaps not another
			own := &drawn{a: p.a, b: p.b}
			if z.compute(ctx, own); own.err != nil {
				return own.err
			}
			q.Products = append(q.Products, Product{Operands: [2]*gemm.Operands{p.a, p.b}[side], Got: own.d[side], Want: own.d[1-side], D: own.id})
		}
	}
	return nil
}

// plainest returns the first of some products without special values, else the first.
func plainest(all []*drawn) *drawn {
	plain := func(p *drawn) bool { return inputs[p.kind] != "special" }
	return all[max(0, slices.IndexFunc(all, plain))]
}

// left is how many products a round has that begins with product from.
func (z *Fuzz) left(from int) int {
	if z.Count == 0 {
		return perRound
	}
	return min(perRound, z.Count-from)
}

func (z *Fuzz) show(done int, what string) {
	if z.Progress != nil {
		z.Progress(done, what)
	}
}

// varies returns the name of a side that gives other results when it is asked again, "" if none
// does. Such results prove nothing.
func (z *Fuzz) varies(ctx context.Context, samples []*drawn) string {
	for _, p := range samples {
		again := &drawn{a: p.a, b: p.b}
		if z.compute(ctx, again); again.err != nil {
			continue
		}
		for i, s := range []*Side{z.A, z.B} {
			if wrong(p.id, p.d[i], again.d[i]) > 0 {
				return s.Name
			}
		}
	}
	return ""
}

// check compares the sides, of which one has a kernel instead of its own, on products of a seed of
// their own: how many these are, how many of them differ, and some that do.
func (z *Fuzz) check(ctx context.Context, s *shapeRange, k *schedule.Kernel, side, count int) (products, differ int, some []*drawn, err error) {
	a, b := *z.A, *z.B
	[2]*Side{&a, &b}[side].Kernel = k
	fresh := &Fuzz{A: &a, B: &b, Seed: ^z.Seed, Count: count, Workers: z.Workers, C: z.C}
	for from := 0; from < count; from += perRound {
		for _, p := range fresh.round(ctx, s, from, fresh.left(from)) {
			if p.err != nil {
				return 0, 0, nil, p.err
			}
			products++
			if wrong(p.id, p.d[0], p.d[1]) == 0 {
				continue
			}
			if differ++; len(some) < asked {
				some = append(some, p)
			}
		}
		z.show(products, "products of the changed schedule")
	}
	return products, differ, some, nil
}

// round computes products.
func (z *Fuzz) round(ctx context.Context, s *shapeRange, from, n int) []*drawn {
	all := make([]*drawn, n)
	parallel.For(max(0, z.Workers), n, func(i int) { all[i] = z.product(ctx, s, uint64(from+i)) })
	return all
}

// product draws and computes product n.
func (z *Fuzz) product(ctx context.Context, s *shapeRange, n uint64) *drawn {
	rng := rand.New(rand.NewPCG(z.Seed, n))
	kind := rng.IntN(len(inputs))
	p := z.draw(rng, kind, s.draw(rng))
	p.n = n
	z.compute(ctx, p)
	return p
}

// again draws and computes some products.
func (z *Fuzz) again(ctx context.Context, s *shapeRange, numbers []int) (all []*drawn) {
	for _, n := range numbers {
		all = append(all, z.product(ctx, s, uint64(n)))
	}
	return all
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

// draw draws matrices for both sides.
func (z *Fuzz) draw(rng *rand.Rand, kind int, s schedule.Shape) *drawn {
	o := gemm.Operands{Shape: s}
	u := z.A.Unit
	o.A, o.B = matrix(rng, kind, u.A, s.M, s.K, true), matrix(rng, kind, u.B, s.N, s.K, false)
	var addends []byte
	if z.C {
		addends = matrix(rng, kind, u.C, s.M, s.N, false)
	}
	c := o
	p := &drawn{kind: kind, a: &o, b: &c}
	for i, of := range []*gemm.Operands{p.a, p.b} {
		of.D = []*Side{z.A, z.B}[i].Unit.D
		if z.C {
			of.C, of.D = addends, u.C
		}
		one := schedule.Side(of.D).Get().FromFloat64(1)
		of.Alpha, of.Beta = one, one
	}
	z.scale(rng, p)
	return p
}

// matrix draws lines of codes.
func matrix(rng *rand.Rand, kind int, id fp.ID, lines, depth int, isA bool) []byte {
	f, w := id.Get(), id.Width()
	out := make([]byte, lines*depth*w)
	for n := range lines {
		hot := rng.IntN(depth)
		var marked map[int]float64
		if inputs[kind] == "marks" && isA {
			marked = marks(rng, f, depth)
		}
		for k := range depth {
			v := rng.NormFloat64()
			switch inputs[kind] {
			case "spread":
				v = math.Ldexp(v, rng.IntN(21)-10)
			case "ones":
				v = 1
			case "marks":
				v = 1
				if isA {
					v = marked[k]
				}
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
