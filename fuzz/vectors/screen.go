package vectors

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Screen is inputs with their results for finding defective units, the most telling first.
// Every input takes a unit the same time, so that the first n kill the most faults for their
// time that the search has found.
type Screen struct {
	Instruction string       `json:"instruction"`
	Planted     int          `json:"planted"` // stuck-at faults by which the inputs are ranked: two for each wire
	Killed      int          `json:"killed"`  // of these, by some input
	Random      int          `json:"random"`  // other faults, by which the inputs are measured
	Rates       []ScreenRate `json:"rates"`

	inst  mma.Instruction
	model *sim.Model
	dots  []*mma.Dot
	want  []uint64
}

// ScreenRate is how many of the random faults the first inputs kill, in percent.
type ScreenRate struct {
	Inputs int     `json:"inputs"`
	Screen float64 `json:"screen"`
	Normal float64 `json:"normal"` // normally distributed numbers, the mean of screenDraws draws
	Raw    float64 `json:"raw"`    // raw bits, the same
}

const (
	screenInputs = 64   // of a Screen
	screenRounds = 2    // of gen.Probe that are candidates
	screenDrawn  = 512  // candidates of each distribution of numbers
	screenFaults = 1000 // random ones
	screenDraws  = 4    // of random inputs
	screenShown  = 1000 // wrong results that are shown, at most
	screenSeed   = 11   // of the random faults and inputs
)

// NewScreen chooses the inputs for an instruction. The expected results are the model's, and
// the oracle's.
func NewScreen(ctx context.Context, i *mma.Instruction) (*Screen, error) {
	m, err := sim.ForInstruction(i)
	if err != nil {
		return nil, err
	}
	s := &Screen{Instruction: i.FullName(), Random: screenFaults, inst: *i, model: m}
	var pool []*mma.Dot
	for round := range screenRounds {
		pool = append(pool, gen.Probe(s.spec(), candidateSeed, round, &i.Params)...)
	}
	for _, name := range []string{"normal@1", "uniform@1", "dnn@1"} {
		more, err := s.draw(name, candidateSeed, 0, screenDrawn)
		if err != nil {
			return nil, err
		}
		pool = append(pool, more...)
	}
	pool, want := s.certain(pool)
	if len(pool) == 0 {
		return nil, fmt.Errorf("%s: no input has a result of which all bits are known", i.FullName())
	}
	planted := stuck(m)
	kills, err := s.kills(ctx, planted, pool, want)
	if err != nil {
		return nil, err
	}
	s.Planted = len(planted)
	s.rank(pool, want, kills)
	for n, d := range s.dots {
		if err := judge(i, d, s.want[n]); err != nil {
			return nil, err
		}
	}
	return s, s.measure(ctx)
}

func (s *Screen) spec() gen.Spec { return gen.Spec{Formats: s.inst.Formats, K: s.inst.K} }

// draw draws inputs from a source.
func (s *Screen) draw(source string, seed, first uint64, n int) ([]*mma.Dot, error) {
	src, err := gen.ParseSource(source)
	if err != nil {
		return nil, err
	}
	return gen.Independent(s.spec(), src, seed, first, n), nil
}

// certain keeps the inputs whose result is a number of which all bits are known.
func (s *Screen) certain(dots []*mma.Dot) (kept []*mma.Dot, want []uint64) {
	policy, f := oracle.DefaultPolicy(s.inst.Unknown, 0), s.inst.D.Get()
	for n, code := range s.run(dots, nil) {
		if class := f.Decode(code).Class; class != fp.NaN && !(class == fp.Zero && policy.Zero == oracle.ByClass) {
			kept, want = append(kept, dots[n]), append(want, code)
		}
	}
	return kept, want
}

// run returns the results of a unit with a fault; nil is none.
func (s *Screen) run(dots []*mma.Dot, f *sim.Fault) []uint64 {
	w := s.inst.D.Width()
	out, codes := make([]byte, len(dots)*w), make([]uint64, len(dots))
	s.model.RunFaulty(mma.BatchOf(s.inst.Formats, s.inst.K, dots), out, f)
	for n := range codes {
		codes[n] = mma.Load(out, w, n)
	}
	return codes
}

// kills returns for each fault the inputs on which the unit's result is wrong.
func (s *Screen) kills(ctx context.Context, faults []sim.Fault, dots []*mma.Dot, want []uint64) ([]bitset, error) {
	all := make([]bitset, len(faults))
	workers := runtime.GOMAXPROCS(0)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for n := w; n < len(faults) && ctx.Err() == nil; n += workers {
				all[n] = newBitset(len(dots))
				for k, code := range s.run(dots, &faults[n]) {
					if code != want[k] {
						all[n].set(k)
					}
				}
			}
		})
	}
	wait.Wait()
	return all, ctx.Err()
}

// stuck lists the stuck-at faults of a data path.
func stuck(m *sim.Model) []sim.Fault {
	var all []sim.Fault
	for _, w := range m.Wires() {
		for unit := range w.Units {
			for bit := range w.Bits {
				all = append(all, sim.Fault{Place: w.Place, Unit: unit, Bit: bit, Kind: sim.Stuck0}, sim.Fault{Place: w.Place, Unit: unit, Bit: bit, Kind: sim.Stuck1})
			}
		}
	}
	return all
}

// randomFaults draws faults of kinds that the ranking does not know: short circuits between
// neighbours, and wires that are inverted while one to four others have certain values. Each
// wire is equally likely.
func randomFaults(m *sim.Model, n int) []sim.Fault {
	rng := rand.New(rand.NewPCG(screenSeed, 0))
	wires, total := m.Wires(), 0
	for _, w := range wires {
		total += w.Units * w.Bits
	}
	all := make([]sim.Fault, n)
	for i := range all {
		at, k := rng.IntN(total), 0
		for at >= wires[k].Units*wires[k].Bits {
			at -= wires[k].Units * wires[k].Bits
			k++
		}
		w := wires[k]
		f := sim.Fault{Place: w.Place, Unit: at / w.Bits, Bit: at % w.Bits, Kind: sim.WiredAnd + sim.FaultKind(rng.IntN(3))}
		if f.Bit == w.Bits-1 { // has no higher neighbour
			f.Kind = sim.Coupled
		}
		if f.Kind == sim.Coupled {
			for range 1 + rng.IntN(4) {
				f.Mask |= 1 << rng.IntN(min(w.Bits, 64))
			}
			f.Match = rng.Uint64() & f.Mask
		}
		all[i] = f
	}
	return all
}

// rank takes the inputs one after the other that are worth the most: faults of other kinds are
// found by inputs that reach the same wire in several ways, so that killing a fault again is worth
// half of the time before, and not nothing.
func (s *Screen) rank(pool []*mma.Dot, want []uint64, kills []bitset) {
	times, taken := make([]int, len(kills)), make([]bool, len(pool))
	for len(s.dots) < min(screenInputs, len(pool)) {
		worth := make([]float64, len(pool))
		best := -1
		for i := range pool {
			for n, k := range kills {
				if k.has(i) {
					worth[i] += math.Ldexp(1, -times[n])
				}
			}
			if !taken[i] && (best < 0 || worth[i] > worth[best]) {
				best = i
			}
		}
		taken[best] = true
		s.dots, s.want = append(s.dots, pool[best]), append(s.want, want[best])
		for n, k := range kills {
			if k.has(best) {
				times[n]++
			}
		}
	}
	for _, t := range times {
		if t > 0 {
			s.Killed++
		}
	}
}

// measure counts how many random faults the inputs kill, and how many random inputs do.
func (s *Screen) measure(ctx context.Context) error {
	faults := randomFaults(s.model, screenFaults)
	killed, err := s.killedBy(ctx, faults, s.dots, s.want)
	if err != nil {
		return err
	}
	random := map[string][]float64{}
	for _, name := range []string{"normal@1", "raw@1"} {
		mean := make([]float64, len(s.dots)+1)
		for draw := range screenDraws {
			dots, err := s.draw(name, screenSeed, uint64(draw*screenInputs), len(s.dots))
			if err != nil {
				return err
			}
			got, err := s.killedBy(ctx, faults, dots, s.run(dots, nil))
			if err != nil {
				return err
			}
			for n, share := range got {
				mean[n] += share / screenDraws
			}
		}
		random[name] = mean
	}
	for n := 1; n <= len(s.dots); n *= 2 {
		s.Rates = append(s.Rates, ScreenRate{n, killed[n], random["normal@1"][n], random["raw@1"][n]})
	}
	return nil
}

// killedBy returns the share of the faults, in percent, that the first n inputs kill, for each n.
func (s *Screen) killedBy(ctx context.Context, faults []sim.Fault, dots []*mma.Dot, want []uint64) ([]float64, error) {
	kills, err := s.kills(ctx, faults, dots, want)
	if err != nil {
		return nil, err
	}
	share, found := make([]float64, len(dots)+1), make([]bool, len(faults))
	for n := range dots {
		share[n+1] = share[n]
		for f, k := range kills {
			if !found[f] && k.has(n) {
				found[f] = true
				share[n+1] += 100 / float64(len(faults))
			}
		}
	}
	return share, nil
}

// Write writes what the inputs are worth for people, in a number of columns.
func (s *Screen) Write(w io.Writer, width int) {
	fmt.Fprint(w, readable.Hanging(fmt.Sprintf("%d inputs kill %d of %d stuck-at faults in the data path of %s. Of %d random faults of other kinds, the first inputs kill, in percent:",
		len(s.dots), s.Killed, s.Planted, s.Instruction, s.Random), width))
	t := readable.Table{Width: width, Head: true, Right: map[int]bool{0: true, 1: true, 2: true, 3: true}, Rows: [][]string{{"INPUTS", "SCREEN", "NORMAL", "RAW"}}}
	percent := func(v float64) string { return fmt.Sprintf("%.1f", v) }
	for _, r := range s.Rates {
		t.Add(fmt.Sprint(r.Inputs), percent(r.Screen), percent(r.Normal), percent(r.Raw))
	}
	t.Write(w, nil)
}
