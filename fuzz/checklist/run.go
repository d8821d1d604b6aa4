package checklist

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Options say what is run.
type Options struct {
	Dir     string // of everything that is written
	Archive string // file that everything is packed into at the end
	Name    string // of the machine in the recordings; "": after the target
	Target  devices.Target
	// Against has the instructions that the target's are compared with; nil: the
	// simulators of their architectures.
	Against devices.Target
	// Same is the same device through another driver's interface (the same silicon, another
	// compiler), nil if there is none.
	Same devices.Target
	Time time.Duration // for all steps
	// Instructions selects the instructions to look at (devices.Select); "": all.
	Instructions string
	// Dots is, for each instruction, the largest number of dot products of raw bits, and
	// that of all other generators together.
	Dots uint64
	// Plan names the plan of the recordings (package corpus).
	Plan string
	// Environment is what results may depend on besides what the target says.
	Environment map[string]string
	// Observe, if not nil, is called before each part of a step, with the time that is
	// left for all steps.
	Observe func(step, key string, left time.Duration)

	compare comparer // nil: campaign
	infer   inferrer // nil: inferArithmetic
}

// comparer compares a pair, with its findings and its journal in dir, on the given number of
// dot products of some generators (nil: all), but not longer than limit.
type comparer func(ctx context.Context, p devices.Pair, dir string, generators []string, count uint64, limit time.Duration) (*comparison, error)

// inferrer infers the arithmetic of a unit from its results, but not longer than limit, with
// its journal and its files in dir.
type inferrer func(ctx context.Context, u devices.Unit, dir string, limit time.Duration) (Row, error)

// run is a checklist in progress.
type run struct {
	Options
	ctx     context.Context // of the step
	began   time.Time
	until   time.Time // the end of the step
	journal *outcomes
	rows    []mma.Instruction             // that the target executes
	units   map[string]devices.Unit       // that were opened and passed, by name
	checker func() (*cuda.Checker, error) // of a target that runs kernels, opened once; nil for others
	step    string
}

// Run runs the checklist, or what is left of it, and writes the report. The report says what
// could not be done; the error says why the checklist as a whole could not go on.
func Run(ctx context.Context, o Options) (*Report, error) {
	if err := journal.CheckWriter(o.Dir, journal.ByChecklist); err != nil {
		return nil, err
	}
	if err := journal.CheckUnlogged(o.Dir, journal.File, "checklist", "report.json", "report.md", Archive); err != nil {
		return nil, hint.Add(err, "name another directory")
	}
	r := &run{Options: o, began: time.Now(), units: map[string]devices.Unit{}}
	if err := r.choose(); err != nil {
		return nil, err
	}
	if r.compare == nil {
		r.compare = r.campaign
	}
	if r.infer == nil {
		r.infer = r.inferArithmetic
	}
	if strings.HasPrefix(o.Target.Name(), "cuda:") {
		r.checker = sync.OnceValues(func() (*cuda.Checker, error) { return cuda.NewChecker(o.Target.Name()) })
	}
	var err error
	if r.journal, err = openJournal(filepath.Join(o.Dir, journal.File), o.Target.Name()); errors.Is(err, corpus.ErrInUse) {
		return nil, err
	} else if err != nil { // it is of another checklist, or damaged
		return nil, hint.Add(err, "name another directory")
	}
	if err := corpus.RemoveStale(o.Dir, staleDepth); err != nil {
		return nil, errors.Join(err, r.journal.close())
	}
	err = r.all(ctx)
	rep, reportErr := r.report()
	return rep, errors.Join(err, reportErr, r.journal.close(), r.archive())
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
	if r.rows = all; r.Instructions == "" {
		return nil
	}
	var err error
	r.rows, err = devices.Select(r.Target, r.Instructions)
	for n := 0; n < len(r.rows) && err == nil; n++ {
		err = devices.Refused(&r.rows[n])
	}
	return hint.Add(err, "mmafuzz list instructions %s lists them with their formats", readable.ShellWord(r.Target.Name()))
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
		err := r.parts(s.parts(r))
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

// part is a part of a step. An error of do is a failure; a row without a state is OK.
type part struct {
	key    string
	weight float64 // among this part and those after it, by which the time left of the step is divided
	do     func(limit time.Duration) (Row, error)
}

// parts does the parts of the step for which there is time.
func (r *run) parts(all []part) error {
	weights := 0.0
	for _, p := range all {
		weights += p.weight
	}
	for _, p := range all {
		left := time.Until(r.until)
		limit := max(time.Second, time.Duration(float64(left)*p.weight/weights))
		weights -= p.weight
		if _, ok := r.journal.done(r.step, p.key); ok {
			continue
		}
		if left <= 0 {
			if err := r.journal.write(Row{r.step, p.key, Skipped, noTime, nil}); err != nil {
				return err
			}
			continue
		}
		if r.Observe != nil {
			r.Observe(r.step, p.key, time.Until(r.began.Add(r.Time)))
		}
		if err := r.journal.do(r.step, p.key, func() Row { return p.row(limit) }); err != nil {
			return err
		}
	}
	return nil
}

// row does a part.
func (p *part) row(limit time.Duration) Row {
	row, err := p.do(limit)
	switch {
	case err != nil && row.Text != "":
		row.State, row.Text = Failed, row.Text+"; "+err.Error()
	case err != nil:
		row.State, row.Text = Failed, err.Error()
	case row.State == "":
		row.State = OK
	}
	return row
}

// none is the only part of a step that has nothing to do.
func none(why string) []part {
	return []part{{"-", 1, func(time.Duration) (Row, error) { return Row{State: Skipped, Text: why}, nil }}}
}

// about returns a part about an instruction. It fails if the instruction's unit cannot be
// opened or has not passed its self-test.
func (r *run) about(i *mma.Instruction, key string, weight float64, do func(u devices.Unit, limit time.Duration) (Row, error)) part {
	return part{key, weight, func(limit time.Duration) (Row, error) {
		u, err := r.unit(i)
		if err != nil {
			return Row{}, err
		}
		return do(u, limit)
	}}
}

// each returns a part about every instruction.
func (r *run) each(do func(i *mma.Instruction, u devices.Unit, limit time.Duration) (Row, error)) []part {
	var all []part
	for n := range r.rows {
		i := &r.rows[n]
		all = append(all, r.about(i, i.Name, 1, func(u devices.Unit, limit time.Duration) (Row, error) { return do(i, u, limit) }))
	}
	return all
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
