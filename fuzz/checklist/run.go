package checklist

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Options say what is run.
type Options struct {
	Dir    string // of everything that is written
	Target devices.Target
	// Against has the instructions that the target's are compared with; nil: the
	// simulators of their architectures.
	Against devices.Target
	// Same is the same device through another driver's interface (the same silicon, another
	// compiler), nil if there is none.
	Same devices.Target
	Time time.Duration // for all steps
	// Instructions are the names of the instructions to look at; none: all.
	Instructions []string
	// Dots is, for each instruction, the largest number of dot products of raw bits, and
	// that of all other generators together.
	Dots uint64
	// Plan names the plan of the recordings (package corpus).
	Plan string
	// Environment is what results may depend on besides what the target says.
	Environment map[string]string
	// Compare runs a campaign over a pair, with its findings and its journal in
	// dir, over the given number of dot products of some generators (nil: all), but not longer
	// than limit.
	Compare func(ctx context.Context, p devices.Pair, dir string, generators []string, count uint64, limit time.Duration) (*Comparison, error)
	// Kernels opens the Kernels of a target that runs kernels; nil for other targets.
	Kernels func() (Kernels, error)
	// Infer infers the arithmetic of a unit from its results, but not longer than limit,
	// with its journal and its files in dir; nil: this program cannot.
	Infer func(ctx context.Context, u devices.Unit, dir string, limit time.Duration) (Row, error)
	// Observe, if not nil, is called before each part of a step, with the time that is
	// left for all steps.
	Observe func(step, key string, left time.Duration)
}

// step is a part of the checklist.
type step struct {
	name  string
	title string
	share float64 // weight, among this step and those after it, by which the time left is divided
	run   func(r *run) error
}

// steps are in the order in which they are run.
var steps = []step{
	{"loader", "Device and driver", 1, (*run).loader},
	{"kernels", "Kernels", 12, (*run).kernels},
	{"self-test", "Self-tests", 20, (*run).selfTests},
	{"questions", "Open questions", 6, (*run).questions},
	{"recordings", "Recordings", 8, (*run).recordings},
	{"differential", "Differential run", 35, (*run).differential},
	{"interface", "By another interface", 8, (*run).interfaces},
	{"inference", "Inference", 10, (*run).inference},
	{"speed", "Speed", 8, (*run).speed},
}

// run is a checklist in progress.
type run struct {
	Options
	ctx     context.Context // of the step
	began   time.Time
	until   time.Time // the end of the step
	journal *outcomes
	rows    []mma.Instruction       // that the target executes
	units   map[string]devices.Unit // that were opened and passed, by name
	checker func() (Kernels, error) // Options.Kernels, once
	step    string
}

// Run runs the checklist, or what is left of it, and writes the report. The report says what
// could not be done; the error says why the checklist as a whole could not go on.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := journal.CheckWriter(o.Dir, journal.ByChecklist); err != nil {
		return nil, err
	}
	if err := journal.CheckUnlogged(o.Dir, journal.File, "checklist", "report.json", "report.md", archiveName); err != nil {
		return nil, hint.Add(err, "name another directory with --checklist")
	}
	r := &run{Options: o, began: time.Now(), units: map[string]devices.Unit{}}
	if err := r.choose(); err != nil {
		return nil, err
	}
	if o.Kernels != nil {
		r.checker = sync.OnceValues(o.Kernels)
	}
	var err error
	if r.journal, err = openJournal(filepath.Join(o.Dir, journal.File), o.Target.Name()); err != nil {
		return nil, err
	}
	if err := corpus.RemoveStale(o.Dir, staleDepth); err != nil {
		return nil, errors.Join(err, r.journal.close())
	}
	err = r.all(ctx)
	rep, reportErr := r.report()
	return rep, errors.Join(err, reportErr, r.journal.close(), archive(o.Dir))
}

// staleDepth is how many directories deep temporary files are looked for: bundles are in
// STEP/INSTRUCTION/PART/NAME.
const staleDepth = 4

// choose sets rows to the instructions that are asked for.
func (r *run) choose() error {
	all := slices.DeleteFunc(slices.Clone(r.Target.Instructions()), func(i mma.Instruction) bool { return i.Refuse != "" })
	if len(all) == 0 {
		return fmt.Errorf("%s executes no instruction", r.Target.Name())
	}
	if len(r.Instructions) == 0 {
		r.rows = all
		return nil
	}
	for _, name := range r.Instructions {
		i, err := mma.Search(r.Target.Name(), all, name)
		if err != nil {
			return hint.Add(err, "mmafuzz list instructions %s lists them with their formats", readable.ShellWord(r.Target.Name()))
		}
		r.rows = append(r.rows, *i)
	}
	return nil
}

// all runs the steps, and writes the report after each.
func (r *run) all(ctx context.Context) error {
	end := r.began.Add(r.Time)
	for n := range steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		left := 0.0
		for _, s := range steps[n:] {
			left += s.share
		}
		s := &steps[n]
		r.step = s.name
		r.until = time.Now().Add(time.Duration(float64(time.Until(end)) * s.share / left))
		var stop context.CancelFunc
		// A unit that takes longer than its step is cut off after some grace.
		r.ctx, stop = context.WithDeadline(ctx, r.until.Add(grace))
		err := s.run(r)
		stop()
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if _, err := r.report(); err != nil {
			return err
		}
	}
	return nil
}

// grace is how long a step may overrun its time to finish what it has begun.
const grace = 20 * time.Second

// do does a part of the step if there is time.
func (r *run) do(key string, part func() Row) error {
	left := time.Until(r.until)
	if _, ok := r.journal.done(r.step, key); ok {
		return nil
	}
	if left <= 0 {
		return r.journal.write(Row{r.step, key, Skipped, noTime, nil})
	}
	if r.Observe != nil {
		r.Observe(r.step, key, time.Until(r.began.Add(r.Time)))
	}
	return r.journal.do(r.step, key, part)
}

// each does a part of the step for every instruction. It fails for those whose unit cannot
// be opened or has not passed its self-test.
func (r *run) each(part func(i *mma.Instruction, u devices.Unit) Row) error {
	for n := range r.rows {
		i := &r.rows[n]
		err := r.do(i.Name, func() Row {
			u, err := r.unit(i)
			if err != nil {
				return Row{State: Failed, Text: err.Error()}
			}
			return part(i, u)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unit opens an instruction, once.
func (r *run) unit(i *mma.Instruction) (devices.Unit, error) {
	if u := r.units[i.Name]; u != nil {
		return u, nil
	}
	if row, ok := r.journal.done("self-test", i.Name); ok && row.State != OK && r.step != "self-test" {
		return nil, errors.New("left out: it has not passed its self-test")
	}
	u, err := r.Target.Open(i)
	if err != nil {
		return nil, err
	}
	r.units[i.Name] = u
	return u, nil
}
