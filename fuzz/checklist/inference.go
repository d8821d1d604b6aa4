package checklist

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// expected returns the instruction with the arithmetic that a device should have: from the
// target to compare with, or else from the catalogue; nil if neither has it.
func expected(i *mma.Instruction, against devices.Target) *mma.Instruction {
	if against != nil {
		if base, err := devices.Find(against, i.Name); err == nil && base.Refuse == "" {
			return base
		}
	}
	if base, err := mma.Lookup(i.Arch, i.Name); err == nil && base.Refuse == "" {
		return base
	}
	return nil
}

// inferred is what a row of the checklist keeps of an inference. The files of mmafuzz
// infer are in the directory inference.
type inferred struct {
	Verdict    infer.Verdict `json:"verdict"`
	Arithmetic string        `json:"arithmetic"` // the best that there is
	Queries    int           `json:"queries"`
	Batches    int           `json:"batches"`
	Seconds    float64       `json:"seconds"`
	Differ     int           `json:"differ"`   // inputs on which the inferred arithmetic differs from the expected one
	Compared   int           `json:"compared"` // inputs that were compared
}

// inference infers every instruction's arithmetic.
func (r *run) inference() []part {
	return r.each(func(i *mma.Instruction, u devices.Unit, limit time.Duration) (Row, error) {
		return r.infer(r.ctx, u, filepath.Join(r.Dir, "inference", readable.Slug(i.Name)), limit)
	})
}

// inferArithmetic is an inferrer: it infers the arithmetic of a unit by package infer, leaves
// its files in dir, and compares the arithmetic with the expected one.
func (o *Options) inferArithmetic(ctx context.Context, u devices.Unit, dir string, limit time.Duration) (row Row, err error) {
	const seed = 1
	base := expected(u.Instruction(), o.Against)
	r, err := infer.Infer(ctx, u, infer.Options{
		Seed: seed, Time: limit, Checks: int(min(o.Dots, infer.DefaultChecks)), Journal: filepath.Join(dir, infer.JournalFile), Target: o.Target.Name(),
	})
	if err != nil {
		return row, err
	}
	t, err := r.Report(ctx, o.Target.Name(), u.Instruction().Name, seed)
	if err != nil {
		return row, err
	}
	if err := r.Write(dir, t); err != nil {
		return row, err
	}
	data := inferred{Verdict: r.Verdict, Arithmetic: t.Arithmetic, Queries: r.Stats.Queries, Batches: r.Stats.Batches, Seconds: r.Seconds}
	row.State, row.Text = Failed, t.Headline()
	switch {
	case r.Verdict == infer.Exhausted:
		row.State = Skipped
	case r.Verdict == infer.Found && base == nil:
		row.State = OK
	case r.Verdict == infer.Found:
		if data.Differ, data.Compared, err = r.Differ(base, seed); err != nil {
			return row, err
		}
		row.State, row.Text = OK, "as expected: "+t.Arithmetic
		if data.Differ > 0 {
			row.State = Differs
			row.Text = fmt.Sprintf("not as %s on %d of %d inputs: %s", base.FullName(), data.Differ, data.Compared, mma.Brief(mma.Diff(&base.Params, &r.Params), &base.Params, &r.Params))
		}
	}
	row.Data = data
	return row, nil
}
