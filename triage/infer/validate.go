package infer

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// validate checks a program on n inputs of every generator and of every further family. It
// returns how many were asked of each, and the number of the wrong ones, which become
// evidence.
func (l *loop) validate(ctx context.Context, p *mma.Params, n int) (classes []Class, wrong int, err error) {
	m, err := sim.New(l.Formats, l.K, *p)
	if err != nil {
		return nil, 0, err
	}
	l.draws++
	seed := l.seed + l.draws
	for _, g := range gen.Every(l.spec()) {
		c := Class{Name: g.Name, Doc: g.Doc}
		if g.Size != nil {
			c.Of = g.Size(l.spec())
		}
		n := cmp.Or(int(g.Inputs(l.spec())), max(n, smallSize(g, l.spec())))
		for at := 0; at < n; {
			src := g.Aimed(l.spec(), p)
			if at/maxBatch%2 == 1 {
				src = g.Aimed(l.spec())
			}
			part := min(maxBatch, max(n-at, g.M*g.N))
			check := func() (int, []*mma.Dot, []uint64, error) {
				return l.unit.check(ctx, m, src, seed, uint64(at), part)
			}
			compared, dots, codes, err := check()
			if err != nil {
				return nil, 0, err
			}
			if err := l.blame(ctx, dots, codes, "alone instead of beside others in a tile", check); err != nil {
				return nil, 0, err
			}
			at += part
			c.Asked += min(compared, part)
			c.Failed += part - min(compared, part)
			wrong += len(dots)
			if wrong > 0 {
				return nil, wrong, nil
			}
		}
		classes = append(classes, c)
	}
	// Where fewer are asked of each kind, all codes would be most of all. A generator has those of an
	// operation of A alone.
	if n >= 1<<codesMost && !l.B.IsOne() {
		c, wrong, err := l.validateCodes(ctx, p, rand.New(rand.NewPCG(seed, codesMost)))
		if err != nil || wrong > 0 {
			return nil, wrong, err
		}
		classes = append(classes, c)
	}
	if l.D.Integer() { // the further families are about roundings
		return classes, 0, nil
	}
	for i, fam := range furtherFamilies {
		c, wrong, err := l.validateFamily(ctx, p, &fam, rand.New(rand.NewPCG(seed, uint64(i))), n)
		if err != nil || wrong > 0 {
			return nil, wrong, err
		}
		classes = append(classes, c)
	}
	return classes, 0, nil
}

// validateFamily is validate for a designed family.
func (l *loop) validateFamily(ctx context.Context, p *mma.Params, fam *family, r *rand.Rand, n int) (c Class, wrong int, err error) {
	c = Class{Name: fam.name, Doc: fam.doc}
	for at := 0; at < n; at += maxBatch {
		dots := design(l.spec(), fam, r, min(maxBatch, n-at), p)
		kept, want, err := l.unit.ask(ctx, dots)
		if err != nil {
			return c, 0, err
		}
		if wrong, err := l.refuted(ctx, p, kept, want); err != nil || wrong > 0 {
			return c, wrong, err
		}
		c.Asked += len(kept)
		c.Failed += len(dots) - len(kept)
	}
	return c, 0, nil
}

// blame finds out whether the hypothesis is at fault for wrong answers in a tile. If the
// unit gives other answers when it is asked for the inputs alone, the unit is at fault:
// if it gives the same wrong answers for the same tile, they depend on the tile,
// as alone says, else it is unstable.
func (l *loop) blame(ctx context.Context, wrong []*mma.Dot, codes []uint64, alone string, check func() (int, []*mma.Dot, []uint64, error)) error {
	if len(wrong) == 0 {
		return nil
	}
	u, err := l.unit.asBefore(ctx, wrong, byDot(wrong, codes))
	if err != nil {
		return err
	}
	if u == nil {
		return l.learn(ctx, wrong, codes)
	}
	_, _, again, err := check()
	if err != nil {
		return err
	}
	if u.How = "again"; slices.Equal(codes, again) {
		u.How = alone
	}
	return u
}

// Class is a kind of input with how often the model was tested on it.
type Class struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Asked int    `json:"asked"`        // inputs on which the unit and the model were compared: all agree
	Of    uint64 `json:"of,omitempty"` // how many there are, where they are enumerated
	// Failed is on how many others the unit failed.
	Failed int `json:"failed"`
}
