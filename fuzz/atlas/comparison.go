package atlas

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:ARCH
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// versus is two architectures, compared.
type versus struct {
	a, b  mma.Arch
	rows  []*row // of instructions with the same formats, arithmetic by arithmetic
	pairs int    // of instructions
}

// row is pairs of instructions that compare alike.
type row struct {
	a, b  *mma.Instruction // the first pair
	pairs int
	*comparison
}

// key is what a comparison depends on.
type key struct {
	p, q    mma.Params // of the first and of the second architecture
	formats mma.Formats
	k       int
}

// comparison is how two arithmetics differ on the same inputs.
type comparison struct {
	key
	zero    oracle.Strictness // how signs of zeros are compared; NaNs are by class
	asked   int
	differ  int
	parts   []triage.Part
	witness *mma.Dot // the smallest input found; nil: none
	da, db  uint64   // its results
}

// share is the share of the inputs that show a difference.
func (c *comparison) share() float64 { return float64(c.differ) / float64(max(1, c.asked)) }

func (c *comparison) equal() bool { return len(c.parts) == 0 }

// compareAll compares every two architectures. What several pairs of instructions have in common
// is computed once.
func (m *maker) compareAll(ctx context.Context) error {
	known := map[key]*comparison{}
	var todo []*comparison
	for n, a := range m.archs {
		for _, b := range m.archs[n+1:] {
			pairs := pairsOf(a.Name, b.Name)
			if len(pairs) == 0 {
				continue
			}
			v := &versus{a: a, b: b, pairs: len(pairs)}
			here := map[key]*row{}
			for _, p := range pairs {
				at := key{*p.A.Model(), *p.B.Model(), p.Formats(), p.K}
				if r := here[at]; r != nil {
					r.pairs++
					continue
				}
				ia, ib := p.A.Instruction(), p.B.Instruction()
				if known[at] == nil {
					known[at] = &comparison{key: at, parts: triage.Parts(&at.p, &at.q), zero: oracle.DefaultPolicy(ia.Unknown, ib.Unknown).Zero}
					todo = append(todo, known[at])
				}
				here[at] = &row{ia, ib, 1, known[at]}
				v.rows = append(v.rows, here[at])
			}
			m.versus = append(m.versus, v)
		}
	}
	// Those that take long are not left to the end.
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	return m.each(ctx, "comparing arithmetics", len(todo), func(n int) error { return todo[n].compare(ctx) })
}

// pairsOf returns the pairs of instructions of two architectures that take the same operands.
func pairsOf(a, b string) []devices.Pair {
	ta, errA := devices.Open("sim:" + a)
	tb, errB := devices.Open("sim:" + b)
	if errA != nil || errB != nil {
		return nil
	}
	pairs, err := devices.Pairs(ta, tb, "", "")
	if err != nil {
		return nil // they have no formats in common
	}
	return pairs
}

// probeRound is the round of gen.Probe whose inputs are compared: 64 of each generator.
const probeRound = 2

// compare asks both arithmetics, and shrinks one of the inputs on which they differ.
func (c *comparison) compare(ctx context.Context) error {
	if c.equal() {
		return nil
	}
	f := c.formats
	ma, err := sim.New(f, c.k, c.p)
	if err != nil {
		return err
	}
	mb, err := sim.New(f, c.k, c.q)
	if err != nil {
		return err
	}
	policy := oracle.Policy{NaN: oracle.ByClass, Zero: c.zero}
	differ := func(d *mma.Dot) bool {
		return oracle.Compare(f.D, policy, ma.Dot(d, nil), mb.Dot(d, nil)) != oracle.Same
	}
	var first *mma.Dot
	dots := gen.Probe(gen.Spec{Formats: f, K: c.k}, 1, probeRound, &c.p, &c.q)
	for _, d := range dots {
		if !differ(d) {
			continue
		}
		c.differ++
		if first == nil || minimize.Less(f, d, first) {
			first = d
		}
	}
	if c.asked = len(dots); first == nil {
		return nil
	}
	res, err := minimize.Dot(ctx, f, first, func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		answers := make([]string, len(dots))
		for n, d := range dots {
			if differ(d) {
				answers[n] = differs
			}
		}
		return answers, nil
	}, minimize.Options{Bucket: differs, SkipMask: true})
	if err != nil {
		return err
	}
	c.witness, c.da, c.db = res.Dot, ma.Dot(res.Dot, nil), mb.Dot(res.Dot, nil)
	return nil
}

const differs = "differs"

// smallest returns the comparison with the smallest input that shows a difference, nil if there
// is none.
func (v *versus) smallest() *row {
	var some []*row
	for _, r := range v.rows {
		if r.witness != nil {
			some = append(some, r)
		}
	}
	if some == nil {
		return nil
	}
	return slices.MinFunc(some, func(x, y *row) int {
		return minimize.Terms(x.formats, x.witness) - minimize.Terms(y.formats, y.witness)
	})
}

// share is the share of inputs that show a difference, over all pairs of arithmetics.
func (v *versus) share() float64 {
	total := 0.0
	for _, r := range v.rows {
		total += r.share()
	}
	return total / float64(len(v.rows))
}
