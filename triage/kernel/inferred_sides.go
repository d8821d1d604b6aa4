package kernel

import (
	"context"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// inferSides finds the schedules of the sides that are black boxes, of the shape of a product that differs. Of two
// the second is most often the first one with a change, which is tried before it is inferred; and where the
// first is not found, the second may be, of which it is then a change.
func (z *Fuzz) inferSides(ctx context.Context, shapes *shapeRange, found *Found, s *Sides, kernels *[2]*schedule.Kernel, products []*drawn) error {
	sides := [2]*Side{z.A, z.B}
	size := func(p *drawn) int { // the least is the one to take: see mostInferred
		if p.a.K > mostInferred {
			return 1<<30 + p.a.K
		}
		return -p.a.K
	}
	for i, side := range sides {
		if side.Kernel != nil {
			continue
		}
		if z.Infer == nil {
			return nil
		}
		differ := slices.DeleteFunc(slices.Clone(products), func(p *drawn) bool { return wrong(p.id, p.d[0], p.d[1]) == 0 })
		s.Inferred, s.Shape = append(s.Inferred, side.Name), slices.MinFunc(differ, func(x, y *drawn) int { return size(x) - size(y) }).a.Shape
		if other := sides[1-i]; i == 1 && other.Kernel == nil && kernels[0] != nil {
			if err := z.changed(ctx, shapes, s, kernels, 0, products); err != nil || kernels[1] != nil {
				return err
			}
		}
		var checked int
		var err error
		if kernels[i], checked, err = z.Infer(ctx, side.Box[s.Shape.K], s.Shape); err != nil {
			return err
		}
		if kernels[i] != nil {
			s.Checked = checked
		}
	}
	if sides[0].Kernel == nil && kernels[0] == nil && kernels[1] != nil && sides[1].Kernel == nil {
		if err := z.changed(ctx, shapes, s, kernels, 1, products); err != nil {
			return err
		}
	}
	if i := slices.Index(kernels[:], nil); i >= 0 {
		found.Unfound = sides[i].Name
	}
	return nil
}

// changed sets the other schedule to that of a side, which was inferred, with a change that gives the other's bits on
// the products of the shape's K, and on fresh ones. It leaves it where there is no such change.
func (z *Fuzz) changed(ctx context.Context, shapes *shapeRange, s *Sides, kernels *[2]*schedule.Kernel, side int, products []*drawn) error {
	k := *kernels[side]
	k.When = schedule.When{}
	q := Question{Kernel: &k, Progress: func(done, _ int) { z.show(done, "schedules that are tried") }}
	for _, p := range products {
		if p.a.K == s.Shape.K && gives(ctx, &k, p, side) {
			q.Products = append(q.Products, Product{Operands: [2]*gemm.Operands{p.a, p.b}[side], Got: p.d[side], Want: p.d[1-side], D: p.id})
		}
	}
	if !slices.ContainsFunc(q.Products, func(p Product) bool { return wrong(p.D, p.Got, p.Want) > 0 }) {
		return nil
	}
	a, err := q.Explain(ctx)
	if err != nil || a.Kernel == nil {
		return err
	}
	own := *shapes
	own.Ks = []int{s.Shape.K}
	fresh, differ, _, err := z.check(ctx, &own, a.Kernel, side, freshProducts)
	if err == nil && differ == 0 {
		kernels[1-side], s.Checked = a.Kernel, min(s.Checked, fresh*s.Shape.M*s.Shape.N)
		s.Inferred, s.Change = []string{[]string{z.A.Name, z.B.Name}[side]}, a.Change(s.Shape.K)
		s.label = a.Label
	}
	return err
}

// freshProducts are those on which such a change is put to the test.
const freshProducts = 256
