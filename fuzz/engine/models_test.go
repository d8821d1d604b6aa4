package engine

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// compareModels runs n dot products of every generator through the fast kernels,
// the general interpreter and the oracle.
func compareModels(t *testing.T, i *mma.Instruction, times, n int) {
	t.Helper()
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatalf("%s: %v", i.FullName(), err)
	}
	sp := gen.Spec{Formats: i.Formats, K: i.K * times}
	width := i.D.Width()
	for _, g := range gen.All() {
		src := g.Aimed(sp, &i.Params)
		tiles := max(1, n/(g.M*g.N))
		b := mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: tiles})
		src.Fill(b, 1, 0)
		fast, general := make([]byte, b.Dots()*width), make([]byte, b.Dots()*width)
		m.Run(b, fast)
		m.RunFaulty(b, general, nil)
		d := mma.NewDot(i.Formats, sp.K)
		for o := range min(b.Dots(), n) {
			b.Get(o, d)
			want := oracle.Eval(&i.Params, i.Formats, i.K, d)
			x, y := mma.Load(fast, width, o), mma.Load(general, width, o)
			if x != want || y != want {
				t.Errorf("%s %s:%d: kernel %x, general %x, oracle %x\n%+v\n%x %x c=%x sa=%x sb=%x", i.FullName(), src, o, x, y, want,
					i.Params, d.A, d.B, d.C, d.SA, d.SB)
				return
			}
		}
	}
}

// TestModels compares the simulators of the catalogue with the oracle on every
// generator, alone and chained.
func TestModels(t *testing.T) {
	tier.SkipUnderRace(t)
	n := tier.Of(4, 4, 8, 12)
	for at, i := range mma.Catalog() {
		if i.Refuse != "" || at%tier.Of(3, 3, 1) != 0 {
			continue
		}
		t.Run(i.FullName(), func(t *testing.T) {
			compareModels(t, &i, 1, n)
			if i.C == i.D {
				compareModels(t, &i, 2, n/4)
			}
		})
	}
}

// TestMadeUp does the same for made-up units.
func TestMadeUp(t *testing.T) {
	tier.SkipUnderRace(t)
	for seed := range tier.Of(40, 45, 200, 400) {
		i := madeup.Unit(uint64(seed))
		i.Name = fmt.Sprint(seed)
		compareModels(t, &i, 1, 6)
		compareModels(t, &i, 2, 2)
		if t.Failed() {
			return
		}
	}
}

// TestSpecialRules does so for made-up units and arithmetics of the catalogue with rules that
// no made-up unit has: codes of NaNs, NaNs that are infinities or zeros, infinities that are NaNs,
// rounded scales, sums that are apart, the grid of c, zeros of lanes and of steps.
func TestSpecialRules(t *testing.T) {
	tier.SkipUnderRace(t)
	rules := []func(r *rand.Rand, i *mma.Instruction, p *mma.Params){
		func(_ *rand.Rand, _ *mma.Instruction, p *mma.Params) { p.In.NaNInf = true },
		func(_ *rand.Rand, _ *mma.Instruction, p *mma.Params) {
			p.Special.NaN, p.Special.CLeft = mma.NaNOfC, false
		},
		func(_ *rand.Rand, _ *mma.Instruction, p *mma.Params) {
			p.Special.NaN, p.Special.CLeft = mma.NaNZero, false
		},
		func(r *rand.Rand, i *mma.Instruction, p *mma.Params) {
			p.Special.NaN, p.Special.Ones = mma.NaNQuiet+mma.NaNRule(r.IntN(6)), uint8(1+r.IntN(int(i.D.Get().FracBits)))
		},
		func(r *rand.Rand, _ *mma.Instruction, p *mma.Params) {
			p.Special.NaN, p.Special.BFirst = mma.NaNFirst+mma.NaNRule(r.IntN(4)), true
		},
		func(r *rand.Rand, i *mma.Instruction, p *mma.Params) {
			p.ScaleRound = mma.To(fp.FP32, fp.RNE)
			if r.IntN(2) == 0 {
				p.ScaleRound = mma.To(i.Scale, fp.Modes()[r.IntN(len(fp.Modes()))])
				p.ScaleRound.Frac, p.ScaleRound.Over = mma.Frac(1+r.IntN(4)), mma.Over(r.IntN(4))
			}
		},
		func(_ *rand.Rand, _ *mma.Instruction, p *mma.Params) {
			p.Join.Apart, p.Join.Align.Sticky, p.Join.Align.Negate, p.Join.Align.Bits, p.Join.Align.Saturate = true, 0, 0, 0, false
		},
		func(r *rand.Rand, _ *mma.Instruction, p *mma.Params) {
			p.Prod.FirstOver, p.Prod.Round.Emax = true, mma.Exp(r.IntN(20)-4)
		},
		func(r *rand.Rand, _ *mma.Instruction, p *mma.Params) {
			p.Join.CGrid, p.Join.CBeside = true, false
			p.Join.Align = mma.Align{F: mma.Frac(1 + r.IntN(30)), Mode: fp.Modes()[r.IntN(len(fp.Modes()))], Floor: p.Join.Align.Floor, Sticky: p.Join.Align.Sticky, Drop: p.Join.Align.Drop}
		},
		func(r *rand.Rand, i *mma.Instruction, p *mma.Params) {
			p.Special.NegZero, p.Special.ZerosOnly = true, false
			if p.Late == (mma.Round{}) {
				p.Lanes, p.Late, p.Leaf = 2, mma.To(i.D, fp.RNE), mma.NoLeaf
			}
			p.Join.Plus, p.Bare = r.IntN(2) == 0, p.Start == mma.StartC && p.Lanes > 1
		},
		func(_ *rand.Rand, _ *mma.Instruction, p *mma.Params) { p.In.InfNaN, p.Acc.Over = true, mma.OverMax },
	}
	const scaleRule = 5 // for units with scales
	known := mma.Arithmetics()
	used := make([]int, len(rules))
	for seed := range tier.Of(60, 100, 400, 3_000) {
		i := madeup.Unit(uint64(seed))
		if seed%3 == 0 {
			i = known[seed/3%len(known)]
		}
		i.Name = fmt.Sprint(seed)
		r := rand.New(rand.NewPCG(2, uint64(seed)))
		var set []int
		for range 1 + r.IntN(2) {
			p, n := i.Params, r.IntN(len(rules))
			if n == scaleRule && i.Scale == fp.None {
				continue
			}
			if rules[n](r, &i, &p); p.Validate(i.Formats, i.K) == nil {
				i.Params, set = p, append(set, n)
			}
		}
		if len(set) == 0 {
			continue
		}
		for _, n := range set {
			used[n]++
		}
		compareModels(t, &i, 1, 6)
		compareModels(t, &i, 2, 2)
		if t.Failed() {
			return
		}
	}
	if slices.Contains(used, 0) {
		t.Errorf("rules that no program had: %v", used)
	}
}

// TestNeighbours compares every kernel with the general interpreter on programs that
// differ from an arithmetic of the catalogue in up to three decisions: a kernel must not
// take a program of which it computes only what the catalogue has.
func TestNeighbours(t *testing.T) {
	tier.SkipUnderRace(t)
	programs := tier.Of(3, 3, 9, 40) // of each arithmetic
	const each = 48                  // dot products of a generator
	kernels := 0
	for _, i := range mma.Arithmetics() {
		r := rand.New(rand.NewPCG(1, uint64(i.K)))
		for n := range programs {
			p := i.Params
			for range n%3 + 1 {
				if mutants := change.SpaceOf(&i).Mutants(&p, change.Decisions); r.IntN(3) == 0 {
					p = mutants[r.IntN(len(mutants))].Params
				} else {
					p = nudged(r, p, &i)
				}
			}
			fast := kernelsOf(t, &i, p)
			kernels += len(fast)
			if !sameAsGeneral(t, gen.Spec{Formats: i.Formats, K: i.K}, &i.Params, &p, each, fast) {
				t.Errorf("%s %s", i.FullName(), mma.Brief(mma.Diff(&i.Params, &p)))
			}
		}
	}
	t.Logf("%d kernels for neighbours", kernels)
}

// TestShapes checks that no kernel takes a program that adds its lanes, c or groups in an
// order that only the interpreters know.
func TestShapes(t *testing.T) {
	shapes := []string{"merge", "tail", "leaf", "deep groups", "sorted groups"}
	made := map[string]bool{}
	for _, i := range mma.Arithmetics() {
		s := change.SpaceOf(&i)
		lanes := i.Params
		lanes.Lanes, lanes.Late = 4, mma.To(i.D, fp.RNE)
		for _, p := range []*mma.Params{&i.Params, &lanes} {
			if !s.Valid(p) {
				continue
			}
			for _, m := range s.Mutants(p, change.TermSteps) {
				if !slices.Contains(shapes, m.Change) {
					continue
				}
				made[m.Change] = true
				if fast := kernelsOf(t, &i, m.Params); len(fast) > 0 {
					t.Errorf("%s: %s has kernel %s", i.FullName(), mma.Brief(mma.Diff(&i.Params, &m.Params)), fast[0].Kernel())
				}
			}
		}
	}
	for _, shape := range shapes {
		if !made[shape] {
			t.Errorf("%s changes no arithmetic", shape)
		}
	}
}

// nudged adds a little to a number of a program, if that gives a valid one.
func nudged(r *rand.Rand, p mma.Params, i *mma.Instruction) mma.Params {
	set := slices.DeleteFunc(slices.Clone(mma.Fields()), func(f mma.Field) bool { return f.Values() != nil || f.Path == "in.widen" || f.Int(&p) == 0 })
	if len(set) == 0 {
		return p
	}
	q, f := p, set[r.IntN(len(set))]
	f.SetInt(&q, f.Int(&q)+r.IntN(17)-8)
	if q.Validate(i.Formats, i.K) != nil {
		return p
	}
	return q
}

// kernelsOf returns the models of a program that have a kernel, each kernel once.
func kernelsOf(t *testing.T, i *mma.Instruction, p mma.Params) []*sim.Model {
	t.Helper()
	m, err := sim.New(i.Formats, i.K, p)
	if err != nil {
		t.Fatal(err)
	}
	var all []*sim.Model
	seen := map[string]bool{"": true}
	for _, path := range sim.Paths() {
		if on := m.On(path); !seen[on.Kernel()] {
			seen[on.Kernel()] = true
			all = append(all, on)
		}
	}
	return all
}

// sameAsGeneral compares models of one program on n dot products of every generator,
// aimed at two programs, and on accumulators alone, with the general interpreter.
func sameAsGeneral(t *testing.T, sp gen.Spec, p, q *mma.Params, n int, models []*sim.Model) bool {
	t.Helper()
	if len(models) == 0 {
		return true
	}
	batches := []*mma.Batch{lone(sp, n)}
	for _, g := range gen.All() {
		b := mma.NewBatch(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: max(1, n/(g.M*g.N))})
		g.Aimed(sp, p, q).Fill(b, 1, 0)
		batches = append(batches, b)
	}
	for _, b := range batches {
		want, got := make([]byte, b.Dots()*sp.D.Width()), make([]byte, b.Dots()*sp.D.Width())
		models[0].RunFaulty(b, want, nil)
		for _, m := range models {
			if m.Run(b, got); !bytes.Equal(got, want) {
				t.Errorf("kernel %s is not the general interpreter", m.Kernel())
				return false
			}
		}
	}
	return true
}

// lone returns accumulators of all sizes, subnormal every second time, with at most one
// product, of random bits.
func lone(sp gen.Spec, n int) *mma.Batch {
	b := mma.NewBatch(sp.Formats, mma.Shape{M: 1, N: 1, K: sp.K, Tiles: n})
	d, r := mma.NewDot(sp.Formats, sp.K), rand.New(rand.NewPCG(2, 2))
	for i := range d.SA {
		d.SA[i], d.SB[i] = sp.Scale.Get().FromFloat64(1), sp.Scale.Get().FromFloat64(1)
	}
	for t := range n {
		d.A[0], d.B[0] = 0, 0
		if t%4 == 3 {
			d.A[0], d.B[0] = r.Uint64()&sp.A.Get().CodeMask(), r.Uint64()&sp.B.Get().CodeMask()
		}
		if sp.C != fp.None {
			f := sp.C.Get()
			if d.C = r.Uint64() & f.CodeMask(); t%2 == 0 {
				d.C &= f.SignBit() | (1<<f.FracBits-1)<<f.Low
			}
		}
		b.Set(t, d)
	}
	return b
}

// TestRefined compares the interpreters on made-up units that have refinements.
func TestRefined(t *testing.T) {
	tier.SkipUnderRace(t)
	left := tier.Of(30, 30, 100, 800)
	for seed := uint64(0); left > 0; seed++ {
		i := madeup.Unit(seed)
		if !i.Params.Refined() {
			continue
		}
		left--
		i.Name = fmt.Sprint(seed)
		compareModels(t, &i, 1, 24)
		compareModels(t, &i, 2, 4)
		if t.Failed() {
			return
		}
	}
}

// TestAlone compares the interpreters on units that have one of the fields that a search sets
// alone, which made-up units may not have.
func TestAlone(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, f := range mma.Fields() {
		if f.Alone == "" && !madeup.Newer(f) {
			continue
		}
		for seed := range uint64(tier.Of(8, 8, 40, 200)) {
			i := madeup.Unit(seed)
			values := change.SpaceOf(&i).Range(&i.Params, f)
			if len(values) == 0 {
				continue
			}
			f.SetInt(&i.Params, values[int(seed)%len(values)])
			if i.Name = fmt.Sprintf("%s = %s of %d", f.Path, f.Text(&i.Params), seed); change.SpaceOf(&i).Valid(&i.Params) {
				compareModels(t, &i, 1, 8)
			}
		}
	}
}

// TestLostInfinities compares the interpreters on units that drop an infinite c, which no
// made-up unit does.
func TestLostInfinities(t *testing.T) {
	tier.SkipUnderRace(t)
	for n, i := range mma.Arithmetics() {
		lowest := i.A.Get().Emin() + i.B.Get().Emin()
		i.Params.Join.CLost = []mma.Exp{mma.Exp(lowest), -2, 1, 9}[n%4]
		i.Name += " lost"
		compareModels(t, &i, 1, tier.Of(1, 2, 40))
	}
}
