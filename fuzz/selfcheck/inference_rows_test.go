package selfcheck

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// Inference is the outcome of inferring a unit whose arithmetic is known.
type Inference struct {
	Unit             string // ARCH/INSTRUCTION, or made-up/SEED
	Formats          mma.Formats
	K                int
	Verdict          infer.Verdict
	Queries, Batches int
	Refuted          int // hypotheses that questions proved wrong
	Seconds          float64
	Dots             int    // dot products of every generator on which unit and program were compared; 0: all parameters are equal
	Differ           string // generators that told the two apart, with the numbers of dot products; "": none
	Found, True      mma.Params

	digest string   // of the unit and of the limits of inference
	kept   []string // the row, if the inference was taken from an earlier table
}

// Kept reports whether the inference was taken from an earlier table: Found is not known.
func (i *Inference) Kept() bool { return i.kept != nil }

// Recovered reports whether the program found computes what the unit does, as far as inputs
// show.
func (i *Inference) Recovered() bool { return i.Verdict == infer.Found && i.Differ == "" }

// keptInference returns the inference of a unit in an old table, nil if the table has none
// or its row is stale.
func keptInference(old *Table, i *mma.Instruction) *Inference {
	row := old.fresh(inferenceDigest(i), i.FullName())
	if row == nil {
		return nil
	}
	k := &Inference{Unit: i.FullName(), Formats: i.Formats, K: i.K, Verdict: infer.Verdict(row[4]), True: i.Params, kept: row}
	k.Queries, _ = strconv.Atoi(row[5]) // for the progress only
	if differ := row[len(row)-1]; differ != orDash("") {
		k.Differ = differ
	}
	return k
}

// inferAll infers the arithmetics of instructions from simulators that do not tell
// what they are, and compares the programs found with the true ones on dots dot products of
// every generator. Rows of an old table that are not stale are not measured again. done is
// called for each unit, in order. As many units as there are processors are inferred at a
// time, each with Options.Workers.
func inferAll(ctx context.Context, old *Table, units []mma.Instruction, o infer.Options, dots int, done func(*Inference)) error {
	type result struct {
		inf *Inference
		err error
	}
	results := make([]chan result, len(units))
	for n := range results {
		results[n] = make(chan result, 1)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	free := make(chan bool, runtime.GOMAXPROCS(0))
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		for n := range units {
			free <- true
			if ctx.Err() != nil {
				results[n] <- result{nil, ctx.Err()}
				return
			}
			wg.Go(func() {
				defer func() { <-free }()
				if kept := keptInference(old, &units[n]); kept != nil {
					results[n] <- result{kept, nil}
					return
				}
				inf, err := inferUnit(ctx, &units[n], o, dots)
				results[n] <- result{inf, err}
			})
		}
	})
	for n := range units {
		r := <-results[n]
		if r.err != nil {
			stop()
			return fmt.Errorf("%s: %w", units[n].FullName(), r.err)
		}
		done(r.inf)
	}
	return nil
}

func inferUnit(ctx context.Context, i *mma.Instruction, o infer.Options, dots int) (*Inference, error) {
	u, err := simulated.Open(i)
	if err != nil {
		return nil, err
	}
	a := &blackBox{u, &mma.Instruction{Arch: "anonymous", Name: "unit", K: i.K, Formats: i.Formats}}
	r, err := infer.Infer(ctx, a, o)
	if err != nil {
		return nil, err
	}
	inf := &Inference{Unit: i.FullName(), Formats: i.Formats, K: i.K, Verdict: r.Verdict, Queries: r.Stats.Queries,
		Batches: r.Stats.Batches, Refuted: r.Repairs, Seconds: r.Seconds, Dots: dots, Found: r.Params, True: i.Params, digest: inferenceDigest(i)}
	if r.Params == i.Params {
		inf.Dots = 0
		return inf, nil
	}
	inf.Differ, err = differences(ctx, i, &r.Params, dots)
	return inf, err
}

// blackBox is a unit that does not tell what it computes.
type blackBox struct {
	devices.Unit
	inst *mma.Instruction
}

func (a *blackBox) Instruction() *mma.Instruction { return a.inst }
func (a *blackBox) Model() *mma.Params            { return nil }

// differences compares a program with an instruction's own on dots dot products of every
// generator, aimed at both, and names the generators that tell them apart.
func differences(ctx context.Context, i *mma.Instruction, p *mma.Params, dots int) (string, error) {
	return differencesFrom(ctx, i, p, 1, dots)
}

// differencesFrom is differences on inputs of a seed.
func differencesFrom(ctx context.Context, i *mma.Instruction, p *mma.Params, seed uint64, dots int) (string, error) {
	own, err := sim.ForInstruction(i)
	if err != nil {
		return "", err
	}
	other, err := sim.New(i.Formats, i.K, *p)
	if err != nil {
		return "", err
	}
	var told []string
	for _, g := range gen.All() {
		src := g.Aimed(gen.Spec{Formats: i.Formats, K: i.K}, &i.Params, p)
		src.Generator = &g
		n := 0
		for at := 0; at < dots && ctx.Err() == nil; at += separateChunk {
			per := g.M * g.N
			b := mma.NewBatch(i.Formats, mma.Shape{M: g.M, N: g.N, K: i.K, Tiles: separateChunk / per})
			src.Fill(b, seed, uint64(at))
			n += unequal(i, own, other, b)
		}
		if n > 0 {
			told = append(told, fmt.Sprintf("%s %d", g.Name, n))
		}
	}
	return strings.Join(told, ", "), ctx.Err()
}

// unequal counts the outputs of a batch on which two models differ in any bit.
func unequal(i *mma.Instruction, a, b *sim.Model, in *mma.Batch) int {
	w := i.D.Width()
	x, y := make([]byte, in.Dots()*w), make([]byte, in.Dots()*w)
	a.Run(in, x)
	b.Run(in, y)
	if string(x) == string(y) {
		return 0
	}
	n := 0
	for o := range in.Dots() {
		if mma.Load(x, w, o) != mma.Load(y, w, o) {
			n++
		}
	}
	return n
}

// MadeUpUnits returns the made-up units of count seeds, from first on.
func MadeUpUnits(first uint64, count int) []mma.Instruction {
	units := make([]mma.Instruction, count)
	for n := range units {
		units[n] = madeup.Unit(first + uint64(n))
		units[n].Name = fmt.Sprint(first + uint64(n))
	}
	return units
}

// inferenceTableOf infers the arithmetics of units that do not tell what they are, and compares
// the programs found with the true ones on dots dot products of every generator. Rows of an
// old table that are not stale are not measured again. done is called after each unit, in
// order. As many units as there are processors are inferred at a time.
func inferenceTableOf(ctx context.Context, old *Table, test string, units []mma.Instruction, dots int, done func(*Inference)) (*Table, error) {
	t := old.after(test, []string{"digest", "unit", "formats", "k", "verdict", "queries", "batches", "refuted", "seconds", "compared", "differ"})
	var saved error
	o := infer.Options{Seed: 1, Checks: infer.DefaultChecks, Workers: 1}
	err := inferAll(ctx, old, units, o, dots, func(i *Inference) {
		done(i)
		saved = errors.Join(saved, t.add(i.Cells()))
	})
	return t, errors.Join(err, saved)
}

// Cells returns the inference as a row of the table.
func (i *Inference) Cells() []string {
	if i.kept != nil {
		return i.kept
	}
	return []string{i.digest, i.Unit, i.Formats.String(), fmt.Sprint(i.K), string(i.Verdict), fmt.Sprint(i.Queries), fmt.Sprint(i.Batches),
		fmt.Sprint(i.Refuted), fmt.Sprintf("%.1f", i.Seconds), fmt.Sprint(i.Dots), orDash(i.Differ)}
}
