package engine

import (
	"context"
	"runtime"
	"slices"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A unit drifts if the same inputs get other answers later on, the same each time: something in it
// has changed, and what differs after that says nothing of the unit before. Every child
// process is asked about a few inputs at the beginning of a run and after each epoch, one by one, so
// that nothing but the time is different.
//
// These answers are also the first to be had of a unit that takes a second for each: its first
// epoch takes an hour.

const (
	watched    = 8                // inputs
	lookedAt   = 32               // inputs of a slow unit until one differs
	lookTime   = 40 * time.Second // for them, and at most half of a campaign's time
	driftRuns  = 4                // repetitions that have to agree
	driftLeast = 2                // inputs whose answers have changed
	isSlow     = 100 * time.Millisecond
)

// FirstLook is what the first inputs of a pair with a slow unit have shown, before the first epoch.
type FirstLook struct {
	Each   time.Duration // of a dot product
	Epoch  uint64        // dot products of the first epoch, after which mismatches are explained
	Takes  time.Duration // that many
	Inputs int           // looked at
	Dot    *mma.Dot      // one of them on which the sides differ; nil: none
	A, B   uint64
}

// watch is inputs with the answers that a unit gave at first.
type watch struct {
	inputs  []*mma.Batch
	answers []uint64
}

// watch asks the units of every pair that has a child process about a few inputs. A child that fails
// on these is not watched.
func (c *Campaign) watch(ctx context.Context) {
	for i, p := range c.pairs {
		var children []*slowUnit
		for _, s := range c.slow {
			if _, child := s.Unit.(devices.Restarter); child && s.pair == i {
				children = append(children, s)
				s.watch = &watch{}
			}
		}
		if len(children) == 0 || devices.IsRecording(p.A) || devices.IsRecording(p.B) {
			continue
		}
		if look := c.look(ctx, p, children); look.Each >= isSlow && c.cfg.Slow != nil {
			look.Epoch = c.epochSize(i, c.state.Epochs)
			if c.cfg.Count > 0 {
				look.Epoch = min(look.Epoch, c.cfg.Count)
			}
			look.Takes = time.Duration(look.Epoch) * look.Each / time.Duration(min(len(c.workers), runtime.GOMAXPROCS(0)))
			c.cfg.Slow(i, look)
		}
	}
}

// look asks both units of a pair about inputs of all generators until the children can be watched,
// and if they take long until one input differs.
func (c *Campaign) look(ctx context.Context, p *pair, children []*slowUnit) (look FirstLook) {
	began, most := time.Now(), lookTime
	if c.cfg.Time > 0 {
		most = min(most, c.cfg.Time/2)
	}
	dots := gen.Probe(p.Spec, c.cfg.Seed, 0)
	for n := range min(lookedAt, len(dots)) {
		each := time.Since(began) / time.Duration(max(n, 1))
		if n >= watched && (each < isSlow || look.Dot != nil || time.Since(began) > most) {
			break
		}
		dot := dots[n*(len(dots)*5/8|1)%len(dots)] // neighbours are of one generator
		in := mma.BatchOf(p.Spec.Formats, p.K, []*mma.Dot{dot})
		var got [2]uint64
		for side, u := range []devices.Unit{p.A, p.B} {
			answer, err := ask(ctx, u, in)
			if err != nil {
				for _, s := range children {
					s.watch = nil
				}
				return look
			}
			got[side] = answer
		}
		for _, s := range children {
			if n < watched {
				s.watch.inputs, s.watch.answers = append(s.watch.inputs, in), append(s.watch.answers, got[s.side])
			}
		}
		look.Inputs, look.Each = n+1, time.Since(began)/time.Duration(n+1)
		if look.Dot == nil && oracle.Compare(p.Spec.D, p.Policy, got[0], got[1]) != oracle.Same {
			look.Dot, look.A, look.B = dot, got[0], got[1]
		}
	}
	return look
}

// ask returns what a unit answers to a dot product.
func ask(ctx context.Context, u devices.Unit, in *mma.Batch) (uint64, error) {
	if s, ok := u.(*slowUnit); ok {
		u = s.Unit // neither divided nor kept for a run that goes on
	}
	width := in.Formats.D.Width()
	out := make([]byte, width)
	err := u.Run(ctx, in, out)
	return mma.Load(out, width, 0), err
}

// repeat asks about the inputs again.
func (w *watch) repeat(ctx context.Context, u devices.Unit) ([]uint64, error) {
	answers := make([]uint64, len(w.inputs))
	for i, in := range w.inputs {
		var err error
		if answers[i], err = ask(ctx, u, in); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// checkDrift notes which units have drifted. Each is named once. One that counts may well give another
// answer each time that the inputs are asked again, which is no drift.
func (c *Campaign) checkDrift(ctx context.Context, e *epoch) {
	for _, s := range c.slow {
		named := func(d finding.Drift) bool { return d.Side == s.side }
		if p := e.pairs[s.pair]; s.watch != nil && !p.Before.RoundsStochastically(s.side) && !p.RoundsStochastically(s.side) && !p.Before.HasHistory(s.side) && !p.HasHistory(s.side) && !slices.ContainsFunc(p.Before.Drift, named) {
			if n := s.drifted(ctx, c.pairs[s.pair].Equal); n >= driftLeast {
				p.Drift = append(p.Drift, finding.Drift{Side: s.side, Changed: n, Of: len(s.watch.inputs), Dots: p.Before.Dots + p.Dots})
			}
		}
	}
}

// drifted returns how many inputs now get another answer than at first, the same each time.
func (s *slowUnit) drifted(ctx context.Context, alike func(x, y uint64) bool) (n int) {
	now, err := s.watch.repeat(ctx, s)
	if err != nil || slices.EqualFunc(now, s.watch.answers, alike) {
		return 0
	}
	steady := slices.Repeat([]bool{true}, len(now))
	for range driftRuns {
		again, err := s.watch.repeat(ctx, s)
		if err != nil {
			return 0
		}
		for i := range again {
			steady[i] = steady[i] && alike(again[i], now[i])
		}
	}
	for i := range now {
		if steady[i] && !alike(now[i], s.watch.answers[i]) {
			n++
		}
	}
	return n
}
