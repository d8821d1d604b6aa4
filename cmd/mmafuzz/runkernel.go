package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// defaultProducts is the number of matrix products of a run of kernels, without --count.
const defaultProducts = 500

// kernelFlags are the flags of a run of kernels.
var kernelFlags = map[string]bool{"a": true, "b": true, "seed": true, "count": true, "time": true, "workers": true, "out": true}

// ofKernels reports whether a run compares kernels. An error names a flag that it has no use for.
func (r *runCmd) ofKernels(f *pflag.FlagSet) (bool, error) {
	if !study.IsKernel(r.a) && !study.IsKernel(r.b) {
		return false, nil
	}
	var err error
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !kernelFlags[flag.Name] {
			err = hint.New("leave it out", "--%s has no use where matrix products are compared", flag.Name)
		}
	})
	return true, err
}

// kernels compares two kernels, or a kernel and a black box.
func (r *runCmd) kernels(ctx context.Context) error {
	sides, done, err := study.Sides(ctx, r.a, r.b)
	if err != nil {
		return err
	}
	defer done()
	dir := r.out
	if dir == "" {
		dir = ownDir("kernels-", func(w io.Writer) { fmt.Fprintln(w, r.a, r.b, r.seed, r.count, r.time > 0, versions.Program()) })
	}
	if r.count == 0 && r.time == 0 {
		r.count = defaultProducts
	}
	line := newStatusLine(r.app)
	z := kernel.Fuzz{A: sides[0], B: sides[1], Seed: r.seed, Count: int(r.count), Time: r.time, Workers: r.workers,
		Progress: func(done int, what string) { line.show(statusField{text: fmt.Sprintf("%d %s", done, what)}) }}
	found, err := z.Run(ctx)
	line.clear()
	if found == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if found.Smallest != nil {
		var foreign *corpus.ForeignError
		saved, e := found.Save(dir)
		if errors.As(e, &foreign) {
			return hint.Add(e, anotherOut)
		} else if e != nil {
			return e
		}
		found.Bundle = filepath.ToSlash(saved)
	}
	if r.json {
		err = errors.Join(r.writeJSON(found), err)
	} else {
		err = errors.Join(r.writeDocument(found.Document(), "text", r.verbose), err)
	}
	switch {
	case err != nil:
		return incomplete(err)
	case found.News():
		return errMismatch
	}
	return nil
}

// diffKernels says how two kernels differ.
func (a *app) diffKernels(ctx context.Context, nameA, nameB string) error {
	sides, done, err := study.Sides(ctx, nameA, nameB)
	if err != nil {
		return err
	}
	defer done()
	d, err := kernel.Compare(ctx, sides[0], sides[1], 1)
	if err != nil {
		return err
	}
	if a.json {
		err = a.writeJSON(d)
	} else {
		err = a.writeDocument(d.Document(), "text", true)
	}
	switch {
	case err != nil:
		return err
	case d.Verdict == kernel.Differs:
		return errMismatch
	case d.Verdict == kernel.Undecided:
		return incomplete(errors.New("no difference was found, and it is not proved that there is none"))
	}
	return nil
}
