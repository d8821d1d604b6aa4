package infer

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// This file infers sums of integers. They have so few programs that all of them are compared with
// the answers: nothing is searched.

// The numbers of dot products of each generator that are the first evidence, and on which programs
// are compared with each other.
const (
	firstIntegers    = 1 << 10
	comparedIntegers = 1 << 11
)

// separators is the evidence that tells programs apart which explain all that was asked before.
const separators = "separators"

// runIntegers takes the simplest program that explains all answers. As long as there is another
// one that does, and an input on which the two differ, it asks about such inputs. Then it validates
// the program.
func (l *loop) runIntegers(ctx context.Context) error {
	l.enter(asking)
	for _, name := range []string{"integer", "raw"} {
		if err := l.take(ctx, name, l.integers(name, firstIntegers)); err != nil {
			return err
		}
	}
	usual, read := integerPrograms(l.Space), false
	programs, tried := usual, usual
	for {
		l.enter(searching)
		left := l.explaining(programs)
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(left) == 0 && !read {
			more, err := l.rareIntegers(ctx)
			if err != nil {
				return err
			}
			programs, read = append(slices.Clip(programs), more...), true
			tried = programs
			continue
		}
		if len(left) == 0 {
			if l.p = usual[0]; !l.brief { // which takes longer than all before
				const some, best = 256, 256 // cases by which the best programs are chosen
				l.p = search.MostRight(l.Evidence, search.MostRight(l.Evidence, usual, l.FirstCases(some), best), l.All(), 1)[0]
			}
			l.left = len(l.All().Want) - evidence.Total(l.Hits(&l.p, l.All()))
			return nil
		}
		l.p, l.left, programs = left[0], 0, left
		l.enter(challenging)
		apart, err := l.apart(left)
		if err != nil {
			return err
		}
		if len(apart) > 0 {
			if err := l.take(ctx, separators, apart); err != nil {
				return err
			}
			continue
		}
		l.enter(validating)
		wrong := 0
		if l.classes, wrong, err = l.validate(ctx, &l.p, l.checks); wrong == 0 && err == nil {
			l.tiled, wrong, err = l.validateTiles(ctx, &l.p, l.checks)
		}
		if err != nil {
			return err
		}
		if wrong == 0 {
			l.ruled = l.refutedIntegers(tried)
			return nil
		}
		l.repairs++
	}
}

// refutedIntegers returns those programs that have another value of one parameter than the one that was found,
// or another range of one sum, each with the first answer of the unit that it does not explain, if there is one.
func (l *loop) refutedIntegers(ps []mma.Params) (all []*Mutant) {
	c := l.All()
	for _, q := range ps {
		if q.Acc.Over == mma.OverWrap && q.Lanes <= 1 && q.Stage0 == (mma.Stage{}) { // it does not depend on steps
			q.L, q.Order = l.p.L, l.p.Order
		}
		x := &Mutant{Changes: mma.Diff(&l.p, &q), p: q}
		if len(x.Changes) == 0 || !sameSum(x.Changes) {
			continue
		}
		all = append(all, x)
		x.Tried = len(c.Want)
		i := slices.Index(l.Hits(&q, c), false)
		if i < 0 {
			continue
		}
		x.Dot = mma.NewDot(l.Formats, c.Batch.K)
		c.Batch.Get(i, x.Dot)
		x.Got, x.Would = c.Want[i], mma.Load(l.Results(&q, c), l.D.Width(), i)
	}
	return all
}

// sameSum reports whether all changes are those of one parameter, or of the range of one sum.
func sameSum(changes []mma.Change) bool {
	sum, _, _ := strings.Cut(changes[0].Path, ".")
	return len(changes) == 1 || slices.Contains([]string{"acc", "late", "stage0"}, sum) &&
		!slices.ContainsFunc(changes, func(c mma.Change) bool { return !strings.HasPrefix(c.Path, sum+".") })
}

// explaining returns the programs that explain all answers.
func (l *loop) explaining(ps []mma.Params) []mma.Params {
	const some = 8 // cases, which nearly all wrong programs fail
	first, right := l.FirstCases(some), make([]bool, len(ps))
	l.Sweep(ps, func(i int, m evidence.Runner, buf *[]byte) { right[i] = l.Score(m, first, buf) == len(first.Want) })
	var all []mma.Params
	for i := range ps {
		if right[i] && !l.Stopped() && l.Explains(&ps[i]) {
			all = append(all, ps[i])
		}
	}
	return all
}

// apart returns for each other program an input on which it differs from the first one, if one is
// found.
func (l *loop) apart(ps []mma.Params) ([]*mma.Dot, error) {
	dots := append(l.integers("integer", comparedIntegers), l.integers("raw", comparedIntegers)...)
	c, err := l.Predicted(&ps[0], dots)
	if err != nil {
		return nil, err
	}
	var apart []*mma.Dot
	for i := range ps[1:] {
		if at := slices.Index(l.Hits(&ps[1+i], c), false); at >= 0 && !slices.Contains(apart, dots[at]) {
			apart = append(apart, dots[at])
		}
	}
	return apart, nil
}

// integers returns dot products of a generator.
func (l *loop) integers(name string, n int) []*mma.Dot {
	l.draws++
	for _, g := range gen.Every(l.spec()) {
		if g.Name == name {
			return generate(l.spec(), g, l.seed+l.draws, 0, n)
		}
	}
	panic("infer: no generator " + name)
}

// integerPrograms returns the programs of sums of integers, the simplest first: how operands are
// read, steps, accumulators and groups of equal sizes, their order, and ranges that wrap or saturate.
// Those that are certain to compute as a simpler one are left out.
func integerPrograms(s change.Space) []mma.Params {
	var all []mma.Params
	add := func(p mma.Params, accs ...mma.Round) {
		for _, p.Acc = range accs {
			for p.Order = mma.Ascending; p.Order <= mma.Halves; p.Order++ {
				if s.Valid(&p) && (p.Order == mma.Ascending || p.L != 0 || p.Stage0.Group != 0) {
					all = append(all, p)
				}
			}
		}
	}
	var wrap, saturate []mma.Round
	for _, r := range integerRanges(s.D) {
		if r.Over == mma.OverWrap {
			wrap = append(wrap, r)
		} else {
			saturate = append(saturate, r)
		}
	}
	for _, p := range integerProducts() {
		for _, p.Stage0 = range integerStages(s, &p.In) {
			p.L = 0
			add(p, wrap...) // whose sums do not depend on the steps
			for _, l := range append(divisors(s.K), 0) {
				p.L = uint8(l)
				add(p, saturate...)
			}
		}
		p.L, p.Stage0 = 0, mma.Stage{}
		for _, r := range wrap {
			all = append(all, apartSums(s, p, uint8(r.Frac))...)
			all = append(all, groupSums(s, p, uint8(r.Frac))...)
		}
	}
	all = slices.DeleteFunc(all, func(p mma.Params) bool { return !s.Valid(&p) })
	sortIntegers(s, all)
	return all
}

// sortIntegers sorts programs by their size; those with accumulators apart from c come last, which
// often compute the same as groups of products.
func sortIntegers(s change.Space, ps []mma.Params) {
	late := func(p *mma.Params) int { return int(p.Late.Frac) }
	slices.SortStableFunc(ps, func(p, q mma.Params) int {
		return cmp.Or(late(&p)-late(&q), s.Size(&p)-s.Size(&q))
	})
}

// integerProducts returns how operands are read and multiplied: with or without a sign, and bits also
// by their exclusive or.
func integerProducts() (all []mma.Params) {
	for i := range 8 {
		all = append(all, mma.Params{In: mma.Input{OtherSignA: i&1 != 0, OtherSignB: i&2 != 0}, Prod: mma.Product{Xor: i&4 != 0}})
	}
	return all
}

// integerStages returns no stage, and those of groups of equal sizes whose sums can leave a range.
func integerStages(s change.Space, in *mma.Input) []mma.Stage {
	all := []mma.Stage{{}}
	for _, r := range integerRanges(s.D) {
		for _, n := range append(divisors(s.K), s.K) {
			if !leaves(s, in, n, uint8(r.Frac)) {
				continue
			}
			all = append(all, mma.Stage{Sum: mma.Fused, Group: uint8(n), Round: r})
			if n > 1 && n < s.K { // n groups
				all = append(all, mma.Stage{Sum: mma.Fused, Split: mma.Interleaved, Group: uint8(n), Round: r})
			}
		}
	}
	return all
}

// most returns the largest magnitude of an integer, or of one that is read with the other sign.
func most(id fp.ID, other bool) int {
	f := id.Get()
	if f.Signed != other {
		return 1 << (f.Bits() - 1)
	}
	return 1<<f.Bits() - 1
}

// integerRanges returns the range of results and that of 16 bits less, which sums leave by wrapping
// or saturating.
func integerRanges(d fp.ID) []mma.Round {
	var all []mma.Round
	for _, id := range []fp.ID{fp.S32, fp.U32, fp.S16, fp.U16} {
		if id.Get().Signed == d.Get().Signed && id.Width() <= d.Width() {
			for _, over := range []mma.Over{mma.OverWrap, mma.OverSat} {
				r := mma.To(id, fp.RZ)
				r.Over = over
				all = append(all, r)
			}
		}
	}
	return all
}

// divisors returns those below k.
func divisors(k int) []int {
	var all []int
	for n := 1; n < k; n++ {
		if k%n == 0 {
			all = append(all, n)
		}
	}
	return all
}
