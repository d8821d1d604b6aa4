package main

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// unstableRuns is how often a case that does not repeat itself is replayed, if the
// bundle does not say how often it was run when it was found.
const unstableRuns = 8

// replayUnstable runs the case of a bundle that does not repeat itself several times.
// The results that are shown are those of the first run that differed, or the last.
func (a *app) replayUnstable(ctx context.Context, m *corpus.Mismatch, dir string) error {
	r := replayed{Bundle: dir, RecordedA: m.A.Result, RecordedB: m.B.Result, Runs: m.Of, Class: oracle.Same.String()}
	if r.Runs <= 0 || r.Runs > 1000 {
		r.Runs = unstableRuns
	}
	askA, err := asker(m, &m.A, "a")
	if err != nil {
		return err
	}
	askB, err := asker(m, &m.B, "b")
	if err != nil {
		return err
	}
	for range r.Runs {
		codeA, err := askA(ctx)
		if err != nil {
			return err
		}
		codeB, err := askB(ctx)
		if err != nil {
			return err
		}
		class := oracle.Compare(m.Formats.D, bundlePolicy(m), codeA, codeB)
		if r.Differed == 0 {
			r.A, r.B, r.Class = mma.FormatCode(m.Formats.D, codeA), mma.FormatCode(m.Formats.D, codeB), class.String()
		}
		if class != oracle.Same {
			r.Differed++
		}
	}
	r.Reproduced = r.Differed > 0
	if a.json {
		err = a.writeJSON(r)
	} else {
		r.writeUnstable(a, m)
	}
	if err == nil && r.Differed > 0 {
		err = errMismatch
	}
	return err
}

// asker opens one of a bundle's targets and returns a function that runs the bundle's
// case on it. The target stays open between runs: what changes may be in it.
func asker(m *corpus.Mismatch, s *corpus.SideRecord, which string) (func(context.Context) (uint64, error), error) {
	dot, err := m.Dot()
	if err != nil {
		return nil, err
	}
	unit, err := devices.OpenUnit(s.Target, s.Instruction, likeOf(m, which))
	if err != nil {
		return nil, err
	}
	if err := devices.Comparable(m.Formats, unit.Instruction().Formats); err != nil {
		return nil, fmt.Errorf("%s %s no longer takes the bundle's operands: %w", s.Target, s.Instruction, err)
	}
	b := mma.NewBatch(m.Formats, mma.Shape{M: 1, N: 1, K: m.K, Tiles: 1})
	b.Set(0, dot)
	return func(ctx context.Context) (uint64, error) {
		out := make([]byte, m.Formats.D.Width())
		err := unit.Run(ctx, b, out)
		return mma.Load(out, m.Formats.D.Width(), 0), err
	}, nil
}

func (r *replayed) writeUnstable(a *app, m *corpus.Mismatch) {
	r.writeSides(a, m)
	if r.Differed > 0 {
		fmt.Fprintf(a.stdout, "unstable: the two sides differ in %d of %d runs\n", r.Differed, r.Runs)
		return
	}
	fmt.Fprintf(a.stdout, "unstable: the two sides agree in all of %d runs; when it was found, %d of %d repetitions gave the results of the bundle\n",
		r.Runs, m.Stable, r.Runs)
}
