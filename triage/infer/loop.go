package infer

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/evidence"
	"github.com/mmafuzz/mmafuzz/triage/internal/search"
)

// The sizes of the loop's parts.
const (
	firstCases   = 200 // of each family of the first evidence
	repairSteps  = 20
	simpleSteps  = 8  // with the families of single terms
	looseSteps   = 10 // from what explains everything loosely
	closeUpSteps = 12
	lastSteps    = 60 // when everything else has failed
	wrongKept    = 60 // cases of a challenge that become evidence
	maxRepairs   = 25 // wrong hypotheses, before the unit counts as unexplained
)

// challenges are the numbers of dot products of each family and generator on which a
// hypothesis is tried, one after the other, before its mutants are ruled out.
var challenges = []int{100, 300, 1000, 3000}

// unbiasedMost is the number of unbiased answers that are kept to compare programs by them: no
// more is added once there are so many.
const unbiasedMost = 1 << 14

// best is a program and how many cases of its search's evidence it does not explain.
type best struct {
	p    mma.Params
	left int
}

// loop is the closed loop on one unit.
type loop struct {
	*evidence.Evidence
	unit    *asker
	seed    uint64
	checks  int   // inputs of every generator that a program must pass
	effort  int64 // dot products that models may compute for an explanation
	share   int64 // of these, in this attempt
	last    bool  // this is the last attempt
	brief   bool  // it is the only one
	budget  *search.Budget
	draws   uint64        // steps so far: each has randomness of its own
	ends    []mma.Params  // what the searches of this attempt ended with
	earlier []mma.Params  // the best of earlier attempts
	leaders []mma.Params  // what the last one ended with, the best first
	starts  int           // skeletons that were searched from
	tree    *revealedTree // nil: not asked for yet
	// revealed are programs that the summation tree suggests and that no search has begun
	// from yet, the best first.
	revealed []mma.Params
	corners  corners // what the unit gave on all of them
	// met are the best programs of all searches, and those that were refuted; unbiased are
	// the answers to challenges that were aimed at no program, and those to askUnbiased. See
	// nearest.
	met      []mma.Params
	unbiased evidence.Family

	// The result so far.
	p       mma.Params
	left    int   // cases of the evidence that p does not explain
	best    *best // of the searches since the last refutation; nil: none has ended
	ruled   []*Mutant
	classes []Class
	tiled   *TileSizes
	repairs int // hypotheses that new questions proved wrong

	phase string
	trace func(format string, args ...any) // for developers
	show  func(Progress)                   // nil: nobody looks
}

func (l *loop) spec() gen.Spec { return gen.Spec{Formats: l.Formats, K: l.K} }

// rand returns the randomness of the next step.
func (l *loop) rand() *rand.Rand {
	l.draws++
	return rand.New(rand.NewPCG(l.seed, l.draws))
}

// gather asks for the first evidence.
func (l *loop) gather(ctx context.Context) error {
	l.enter(asking)
	for i := range designed {
		if err := l.take(ctx, designed[i].name, design(l.spec(), &designed[i], l.rand(), firstCases, nil)); err != nil {
			return err
		}
	}
	for _, name := range directed {
		g, err := gen.Find(name)
		if err != nil {
			return err
		}
		if err := l.take(ctx, name, generate(l.spec(), g, l.seed, 0, firstCases)); err != nil {
			return err
		}
	}
	return l.reveal(ctx)
}

// take asks, and keeps the answers as evidence if the unit gives the same ones twice.
func (l *loop) take(ctx context.Context, name string, dots []*mma.Dot) error {
	kept, want, err := l.unit.ask(ctx, dots)
	if err != nil {
		return err
	}
	if err := l.unit.repeat(ctx, kept, want); err != nil {
		return err
	}
	l.Add(name, kept, want)
	return nil
}

// skeletons are the programs from which a search starts: where c enters and the number
// of lanes are the hardest to change later. After some of them the search goes on from
// the best programs found so far, for a number of steps.
var skeletons = []struct {
	start mma.Start
	lanes uint8
	steps int
}{
	{mma.StartC, 0, 0}, {mma.StartEmpty, 0, 20},
	{mma.StartC, 2, 0}, {mma.StartEmpty, 2, 0}, {mma.StartC, 4, 0}, {mma.StartEmpty, 4, 30},
	{mma.StartC, 8, 0}, {mma.StartEmpty, 8, 0}, {mma.StartC, 3, 0}, {mma.StartEmpty, 3, 0},
}

// The searches that fit a single program to the evidence, step by step (grow).
const (
	fromTree     = "tree" // a program that has the summation tree, which it keeps
	fromSkeleton = "grow"
	otherShape   = "reshape" // see reshape.go
)

// explain looks for a program that explains the evidence: from those given, then from
// those that the summation tree suggests, then from the skeletons that are left, now and
// then from the best that these have led to. The last attempt goes on from the best of all
// attempts, and then from these in all other shapes, with half as much effort in addition. It leaves
// the best in l.p, and in l.left how many cases that does not explain.
func (l *loop) explain(ctx context.Context, from ...mma.Params) error {
	if len(from) > 0 {
		if done, err := l.pursue(ctx, "repair", repairSteps, from); done || err != nil {
			return err
		}
	}
	for len(l.revealed) > 0 && !l.budget.Spent() {
		p := l.revealed[0]
		l.revealed = l.revealed[1:]
		if done, err := l.pursue(ctx, fromTree, 0, []mma.Params{p}); done || err != nil {
			return err
		}
	}
	for l.starts < len(skeletons) && !l.budget.Spent() {
		s := skeletons[l.starts]
		l.starts++
		mode := fp.RNE
		if l.B.RandomBits() != 0 {
			mode = fp.RS
		}
		p := mma.Params{Acc: mma.To(l.D, mode), Start: s.start, Lanes: s.lanes}
		l.FixLate(&p, fp.RNE)
		if int(p.Lanes) <= l.K && (l.C != fp.None || p.Start == mma.StartC) && l.Valid(&p) {
			if done, err := l.pursue(ctx, fromSkeleton, 0, []mma.Params{p}); done || err != nil {
				return err
			}
		}
		if s.steps > 0 && l.starts < len(skeletons) {
			if done, err := l.pursue(ctx, "combine", s.steps, l.bestEnds()); done || err != nil {
				return err
			}
		}
	}
	var others []mma.Params
	if l.last {
		others = l.earlier
	}
	if done, err := l.pursue(ctx, "combine", lastSteps, l.bestEnds(others...)); done || err != nil {
		return err
	}
	if l.last {
		l.budget.Allow(l.effort / 2)
		if done, err := l.pursue(ctx, otherShape, reshapeSteps, l.bestEnds(others...)); done || err != nil {
			return err
		}
	}
	l.p = l.nearest()
	l.left = len(l.All().Want) - evidence.Total(l.Hits(&l.p, l.All()))
	return nil
}

// pursue searches. While few cases are left, it asks about inputs near these and
// searches on, as long as that explains at least half of the failing cases, old and new.
func (l *loop) pursue(ctx context.Context, what string, steps int, from []mma.Params) (done bool, err error) {
	if err := l.searched(ctx, what, steps, from); err != nil {
		return false, err
	}
	for range closeUps {
		if l.left == 0 || l.left > len(l.All().Want)/closeUpMost || l.budget.Spent() {
			break
		}
		n, err := l.closeUp(ctx)
		if err != nil || n == 0 {
			return false, err
		}
		before, steps := l.left+n, closeUpSteps
		if l.starts < len(skeletons) { // another one may be nearer
			steps = search.Patience
		}
		if err := l.searched(ctx, "close-up", steps, l.leaders); err != nil {
			return false, err
		}
		if l.left > before/2 {
			break
		}
	}
	return l.left == 0, nil
}

// searched searches, or takes the result of the search from the journal.
func (l *loop) searched(ctx context.Context, what string, steps int, from []mma.Params) error {
	r, err := l.unit.log.next(func(r *record) bool { return r.Search != nil && r.Search.Step == l.draws })
	if err != nil {
		return err
	}
	if r == nil {
		f := &found{Step: l.draws, Evals: l.Computed.Load()}
		var s *search.Search
		switch what {
		case fromTree, fromSkeleton:
			s = l.grow(ctx, what, from[0])
		case otherShape:
			s = l.reshape(ctx, steps, from)
		default:
			s = l.search(ctx, what, steps, from)
		}
		f.Leaders, f.Left, f.Nearest = s.Leaders(), s.Left(s.Best()), s.BestWithout(closeUpName, refutations)
		if err := ctx.Err(); err != nil {
			l.met = append(l.met, f.Nearest)
			return err
		}
		f.Draws, f.Evals = l.draws, l.Computed.Load()-f.Evals
		r = &record{Search: f}
		if err := l.unit.log.write(r); err != nil {
			return err
		}
	} else {
		l.Computed.Add(r.Search.Evals)
	}
	f := r.Search
	l.leaders, l.left, l.draws = f.Leaders, f.Left, f.Draws
	l.p = l.leaders[0]
	l.ends, l.met = append(l.ends, l.p), append(l.met, f.Nearest)
	if l.best == nil || l.left <= l.best.left {
		l.best = &best{l.p, l.left}
	}
	return nil
}

func (l *loop) newSearch(e *evidence.Evidence, steps []change.Breadth, from ...mma.Params) *search.Search {
	return search.New(e, l.budget, l.rand(), steps, from...)
}

// search goes on from some programs for a number of steps: first with results compared
// loosely (evidence.Loosely), then exactly, from the best of that.
func (l *loop) search(ctx context.Context, what string, steps int, from []mma.Params) *search.Search {
	return l.searchFrom(ctx, what, steps, l.newSearch(l.Loosely(), search.AllSteps, from...), from)
}

// searchFrom is search whose first part, loose, is prepared by the caller.
func (l *loop) searchFrom(ctx context.Context, what string, steps int, loose *search.Search, from []mma.Params) *search.Search {
	loose.Explore(ctx, steps)
	s := l.newSearch(l.Evidence, search.AllSteps, append(loose.Leaders(), from...)...)
	b := s.Explore(ctx, steps)
	l.trace("%s: %d left, %d loosely, evals %d", what, s.Left(b), loose.Left(loose.Best()), l.Computed.Load())
	return s
}

// bestEnds returns the best of the programs that searches have ended with, and of others.
func (l *loop) bestEnds(others ...mma.Params) []mma.Params {
	const most = 4
	return search.MostRight(l.Evidence, slices.Concat(others, l.ends), l.All(), most)
}

// nearest returns the best program that the loop has met: the one that is right on the most
// unbiased inputs, those that were not chosen because some program was wrong on them, and of
// several such the smallest: what only the others show was fitted to them. It is the one at hand if
// no search has begun yet.
func (l *loop) nearest() mma.Params {
	if len(l.met) == 0 {
		return l.p
	}
	met := append(slices.Clone(l.met), l.p)                    // which may be simpler than what a search ended with
	met = search.MostRight(l.Evidence, met, l.All(), len(met)) // of several such, the one that is right on more
	unbiased := l.unbiasedEvidence()
	return search.MostRight(unbiased, met, unbiased.All(), 1)[0]
}

// askUnbiased asks new questions that are aimed at no program, a few of each kind first and then
// more: searches have fitted their programs to the cases that there are, so that these say too
// much good of a program with many parameters. It keeps half of the time and of the queries that are
// left for the witness. What it cannot ask within these does not count.
func (l *loop) askUnbiased(ctx context.Context) {
	l.enter(comparing)
	if end, limited := ctx.Deadline(); limited {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, time.Until(end)/2)
		defer stop()
	}
	l.unit.reserved = max(l.unit.budget-l.unit.stats.Queries, 0) / 2
	defer func() { l.unit.reserved = 0 }()
	for n := 1; len(l.unbiased.Dots) < unbiasedMost; n *= 2 {
		dots, want, err := l.unit.ask(ctx, l.pool(n))
		if err != nil {
			return
		}
		l.unbiased.Dots, l.unbiased.Want = append(l.unbiased.Dots, dots...), append(l.unbiased.Want, want...)
	}
}

// unbiasedEvidence returns the cases that were not chosen because some program was wrong on
// them.
func (l *loop) unbiasedEvidence() *evidence.Evidence {
	e := l.Without(closeUpName, refutations)
	e.Add("challenges", l.unbiased.Dots, l.unbiased.Want)
	return e
}

// explains reports whether p is right on all evidence.
func (l *loop) explains(p *mma.Params) bool {
	return l.Valid(p) && evidence.Total(l.Hits(p, l.All())) == len(l.All().Want)
}

// settled follows the single changes that make a program right on more unbiased inputs: a
// search whose budget was spent may have left some that are simple to see, of special values
// most often, which the searches take up last. Then it leaves out what no unbiased input shows,
// unless the program explains everything.
func (l *loop) settled(ctx context.Context, p mma.Params) mma.Params {
	const share = 8 // of the effort
	if !l.Valid(&p) {
		return p // no search has begun
	}
	l.budget.Allow(l.effort / share)
	e := l.unbiasedEvidence()
	n := l.newSearch(e, search.AllSteps, p).Climb(ctx)
	if l.explains(&n.P) || ctx.Err() != nil {
		return n.P
	}
	return search.Simplest(e, n.P, e.All(), n.Right(), nil)
}

// simplest leaves out of a program what no unbiased input shows.
func (l *loop) simplest(p mma.Params) mma.Params {
	if !l.Valid(&p) {
		return p // no search has begun
	}
	e := l.unbiasedEvidence()
	return search.Simplest(e, p, e.All(), evidence.Total(e.Hits(&p, e.All())), nil)
}

// grow fits a program loosely to the designed families one after the other, then to all
// evidence.
func (l *loop) grow(ctx context.Context, what string, p mma.Params) *search.Search {
	const simple = 3 // families of single terms
	var anchor []string
	if what == fromTree {
		anchor = append(anchor, treeName)
	}
	loose := l.Loosely()
	for n := 1; n <= len(designed); n++ {
		steps := search.AllSteps
		if n <= simple {
			steps = search.AllSteps[:1]
		}
		s := l.newSearch(loose.First(n, anchor...), steps, p)
		// What simple families do not show must not be lost before other families can.
		s.Bound = n <= simple
		s.Keep = func(q *mma.Params) bool {
			return q.Lanes == p.Lanes && (q.Start == mma.StartC) == (p.Start == mma.StartC)
		}
		b := s.Climb(ctx)
		if n <= simple {
			b = s.Explore(ctx, simpleSteps)
		}
		l.trace("  %s: %d left with %s", designed[n-1].name, s.Left(b), brief(&b.P))
		p = b.P
	}
	s := l.newSearch(loose, search.AllSteps, p)
	b := s.Climb(ctx)
	from := s.Leaders()
	left := s.Left(b)
	s = l.newSearch(l.Evidence, search.AllSteps, from...)
	if b = s.Climb(ctx); left == 0 && s.Left(b) > 0 {
		b = s.Explore(ctx, looseSteps)
	}
	l.trace("%s %d: %d left, %d loosely, evals %d", what, l.starts, s.Left(b), left, l.Computed.Load())
	return s
}

// challenge asks new questions, n of each family and generator, half of them aimed at p, and
// keeps the cases in which p is wrong. It returns how many there are.
func (l *loop) challenge(ctx context.Context, p *mma.Params, n int) (int, error) {
	aimed, want, err := l.unit.ask(ctx, l.pool(n/2, p))
	if err != nil {
		return 0, err
	}
	dots, codes, err := l.unit.ask(ctx, l.pool(n/2))
	if err != nil {
		return 0, err
	}
	if u := &l.unbiased; len(u.Dots) < unbiasedMost {
		u.Dots, u.Want = append(u.Dots, dots...), append(u.Want, codes...)
	}
	return l.refuted(ctx, p, append(aimed, dots...), append(want, codes...))
}

// improve looks for a better search.
func (l *loop) improve(ctx context.Context, from ...mma.Params) error {
	l.best = nil
	l.enter(searching)
	l.budget.Allow(l.share)
	return l.explain(ctx, from...)
}

// refute puts the hypothesis to all tests, one after the other, until one finds it
// wrong.
func (l *loop) refute(ctx context.Context) (wrong int, err error) {
	l.enter(challenging)
	if err := l.askCorners(ctx); err != nil {
		return 0, err
	}
	if wrong, err = l.refuted(ctx, &l.p, l.corners.dots, l.corners.want); wrong > 0 || err != nil {
		return wrong, err
	}
	for _, n := range challenges {
		if wrong, err = l.challenge(ctx, &l.p, n); wrong > 0 || err != nil {
			return wrong, err
		}
	}
	l.enter(rulingOut)
	l.p, l.ruled, wrong, err = l.ruleOutMutants(ctx, l.p)
	if wrong > 0 || err != nil {
		return wrong, err
	}
	l.enter(validating)
	if l.classes, wrong, err = l.validate(ctx, &l.p, l.checks); wrong > 0 || err != nil {
		return wrong, err
	}
	l.tiled, wrong, err = l.validateTiles(ctx, &l.p, l.checks)
	return wrong, err
}
