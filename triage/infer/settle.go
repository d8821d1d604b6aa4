package infer

import (
	"context"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// The sizes of settling.
const (
	poolCases   = 100 // of each family and generator, on which programs are compared
	aimedCases  = 512 // of each generator, aimed at a rival that the pool does not tell apart
	witnessMost = 2000
)

// pool returns inputs of all kinds, aimed at programs.
func (l *loop) pool(n int, ps ...*mma.Params) []*mma.Dot {
	var dots []*mma.Dot
	for i := range designed {
		dots = append(dots, design(l.spec(), &designed[i], l.rand(), n)...)
	}
	l.draws++
	gens := gen.All()
	for i := range gens {
		dots = append(dots, generate(l.spec(), &gens[i], l.seed+l.draws, 0, n, ps...)...)
	}
	return dots
}

// predicted packs inputs with the results of a program.
func (l *loop) predicted(p *mma.Params, dots []*mma.Dot) (*cases, error) {
	m, err := sim.New(l.Formats, l.k, *p)
	if err != nil {
		return nil, err
	}
	c := l.pack(dots, make([]uint64, len(dots)))
	w := l.D.Width()
	out := make([]byte, len(dots)*w)
	m.Run(c.batch, out)
	for i := range c.want {
		c.want[i] = mma.Load(out, w, i)
	}
	return c, nil
}

// plainest returns the simplest program that neither the evidence nor a pool of
// inputs tells from p, with a width of steps that is whole written as K.
func (l *loop) plainest(p mma.Params) (mma.Params, error) {
	c, err := l.predicted(&p, l.pool(4*poolCases, &p))
	if err != nil {
		return p, err
	}
	whole := l.whole()
	q := l.simplest(p, c, len(c.want), func(q *mma.Params) bool {
		return total(l.hits(q, whole)) == len(whole.want)
	})
	if q.L == 0 && q.Lanes <= 1 {
		q.L = uint8(l.k)
	}
	return q, nil
}

// rivals looks for an input that tells each rival of a program from it.
func (l *loop) rivals(ctx context.Context, p *mma.Params) ([]*Rival, error) {
	all := l.rivalsOf(p)
	programs := make([]mma.Params, len(all))
	for i, r := range all {
		programs[i] = r.p
	}
	dots := l.pool(poolCases, p)
	c, err := l.predicted(p, dots)
	if err != nil {
		return nil, err
	}
	l.each(programs, func(i int, m runner, _ *[]byte) { l.tell(all[i], m, c, dots) })
	for _, r := range all {
		if r.Dot != nil || ctx.Err() != nil {
			continue
		}
		dots := l.pool(aimedCases, p, &r.p)
		if c, err = l.predicted(p, dots); err != nil {
			return nil, err
		}
		l.each([]mma.Params{r.p}, func(_ int, m runner, _ *[]byte) { l.tell(r, m, c, dots) })
	}
	return all, ctx.Err()
}

// tell looks for the first case in which a rival, whose model is given, differs.
func (l *loop) tell(r *Rival, m runner, c *cases, dots []*mma.Dot) {
	w := l.D.Width()
	out := make([]byte, len(c.want)*w)
	m.Run(c.batch, out)
	l.evals.Add(int64(len(c.want)))
	r.Tried += len(c.want)
	for i, want := range c.want {
		if would := mma.Load(out, w, i); !l.same(would, want) {
			r.Dot, r.Got, r.Would = dots[i], want, would
			return
		}
	}
}

// ruleOut asks the unit about the inputs that tell rivals from p. The wrong ones
// become evidence against p; it returns how many there are.
func (l *loop) ruleOut(ctx context.Context, p *mma.Params, all []*Rival) (int, error) {
	var dots []*mma.Dot
	for _, r := range all {
		if r.Dot != nil && !slices.Contains(dots, r.Dot) {
			dots = append(dots, r.Dot)
		}
	}
	kept, want, err := l.unit.ask(ctx, dots)
	if err != nil {
		return 0, err
	}
	for _, r := range all {
		if i := slices.Index(kept, r.Dot); r.Dot != nil && i >= 0 {
			r.Got = want[i]
		} else { // an input on which the unit fails rules nothing out
			r.Dot = nil
		}
	}
	return l.refuted(ctx, p, kept, want)
}

// confront asks the unit and keeps the cases in which p is wrong.
func (l *loop) confront(ctx context.Context, p *mma.Params, dots []*mma.Dot) (int, error) {
	kept, want, err := l.unit.ask(ctx, dots)
	if err != nil {
		return 0, err
	}
	return l.refuted(ctx, p, kept, want)
}

// refuted keeps the cases in which p is wrong.
func (l *loop) refuted(ctx context.Context, p *mma.Params, kept []*mma.Dot, want []uint64) (int, error) {
	var wrong []*mma.Dot
	var codes []uint64
	for i, ok := range l.hits(p, l.pack(kept, want)) {
		if !ok {
			wrong, codes = append(wrong, kept[i]), append(codes, want[i])
		}
	}
	return len(wrong), l.learn(ctx, wrong, codes)
}

// learn makes cases in which a hypothesis was wrong evidence, if the unit stands by
// them.
func (l *loop) learn(ctx context.Context, wrong []*mma.Dot, codes []uint64) error {
	n := min(len(wrong), wrongKept)
	if n == 0 {
		return nil
	}
	if err := l.unit.repeat(ctx, wrong[:n], codes[:n]); err != nil {
		return err
	}
	l.add("refutations", wrong[:n], codes[:n])
	return nil
}

// shrink makes the inputs that are shown small: of each parameter the one for the
// nearest rival. The unit is asked about the small ones, too.
func (l *loop) shrink(ctx context.Context, p *mma.Params, all []*Rival) (int, error) {
	seen := map[string]bool{}
	var dots []*mma.Dot
	var before, small []*Rival
	for _, r := range all {
		if r.Dot == nil || seen[r.Path()] {
			continue
		}
		seen[r.Path()] = true
		was := *r
		if err := l.shrinkRival(ctx, p, r); err != nil {
			return 0, err
		}
		dots, before, small = append(dots, r.Dot), append(before, &was), append(small, r)
	}
	kept, want, err := l.unit.ask(ctx, dots)
	if err != nil {
		return 0, err
	}
	for n, r := range small {
		if i := slices.Index(kept, r.Dot); i >= 0 {
			r.Got = want[i]
		} else { // the unit fails on the small one
			*r = *before[n]
		}
	}
	return l.refuted(ctx, p, kept, want)
}

func (l *loop) shrinkRival(ctx context.Context, p *mma.Params, r *Rival) error {
	mp, err := sim.New(l.Formats, l.k, *p)
	if err != nil {
		return err
	}
	mr, err := sim.New(l.Formats, l.k, r.p)
	if err != nil {
		return err
	}
	const differ = "differ"
	test := func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		out := make([]string, len(dots))
		for i, d := range dots {
			if !l.same(mp.Dot(d, nil), mr.Dot(d, nil)) {
				out[i] = differ
			}
		}
		return out, nil
	}
	res, err := minimize.Dot(ctx, l.Formats, r.Dot, test, minimize.Options{Bucket: differ, SkipMask: true, MaxQueries: witnessMost})
	if err != nil {
		return err
	}
	r.Dot, r.Got, r.Would = res.Dot, mp.Dot(res.Dot, nil), mr.Dot(res.Dot, nil)
	return nil
}

// settle makes a hypothesis that has passed the challenges as simple as it can be
// and rules out its rivals. wrong > 0: the unit does not agree.
func (l *loop) settle(ctx context.Context, p mma.Params) (q mma.Params, all []*Rival, wrong int, err error) {
	if q, err = l.plainest(p); err != nil {
		return q, nil, 0, err
	}
	if all, err = l.rivals(ctx, &q); err != nil {
		return q, nil, 0, err
	}
	if wrong, err = l.ruleOut(ctx, &q, all); wrong > 0 || err != nil {
		return q, all, wrong, err
	}
	wrong, err = l.shrink(ctx, &q, all)
	return q, all, wrong, err
}

// validate checks a program on n inputs of every generator and returns how many
// were asked of each, and the number of the wrong ones, which become evidence.
func (l *loop) validate(ctx context.Context, p *mma.Params, n int) (classes []Class, wrong int, err error) {
	m, err := sim.New(l.Formats, l.k, *p)
	if err != nil {
		return nil, 0, err
	}
	l.draws++
	seed := l.seed + l.draws
	gens := gen.All()
	for i := range gens {
		g := &gens[i]
		c := Class{Name: g.Name, Doc: g.Doc}
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
			if err := l.blame(ctx, dots, codes, check); err != nil {
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
	return classes, 0, nil
}

// blame finds out whether the wrong answers of a tile are the hypothesis's fault:
// those that are right when the inputs are asked alone are the unit's. Asked for the same
// tiles once more, a unit whose answers depend on the tile gives the same.
func (l *loop) blame(ctx context.Context, wrong []*mma.Dot, codes []uint64, check func() (int, []*mma.Dot, []uint64, error)) error {
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
		u.How = "alone instead of beside others in a tile"
	}
	return u
}

// Class is a kind of input with what is known of it.
type Class struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Asked int    `json:"asked"` // inputs on which the unit and the model were compared: all agree
	// Failed is on how many others the unit failed.
	Failed int `json:"failed"`
}

// brief names a program's parameters, for logs.
func brief(p *mma.Params) string {
	return strings.TrimSpace(mma.Brief(mma.Diff(&mma.Params{}, p)))
}
