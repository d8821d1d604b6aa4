package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	infer "github.com/mmafuzz/mmafuzz/triage/infer/kernel"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
	"github.com/mmafuzz/mmafuzz/triage/study"
)

// defaultProducts is the number of matrix products of a run of kernels, without --count.
const defaultProducts = 500

// kernelFlags are the flags of a run of kernels.
var kernelFlags = map[string]bool{"a": true, "b": true, "seed": true, "count": true, "time": true, "workers": true, "out": true}

// ofKernels reports whether a run compares kernels, or black boxes of which only a schedule says how
// they sum. An error names a flag that it has no use for.
func (r *runCmd) ofKernels(f *pflag.FlagSet) (bool, error) {
	var useless error
	f.VisitAll(func(flag *pflag.Flag) {
		if flag.Changed && !kernelFlags[flag.Name] {
			useless = hint.New("leave it out", "--%s has no use where matrix products are compared", flag.Name)
		}
	})
	if study.IsKernel(r.a) || study.IsKernel(r.b) {
		return true, useless
	}
	return useless == nil && study.AreProducts(r.a, r.b), nil
}

// kernels compares two kernels or black boxes.
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
	z, line := r.kernelFuzz(sides)
	progress := &kernelProgress{file: filepath.Join(dir, progressFile), Of: r.kernelIdentity(sides)}
	if z.State, err = progress.read(); err != nil {
		return err
	}
	z.Save = progress.write
	found, err := z.Run(ctx)
	line.clear()
	if found == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if err == nil {
		err = progress.remove()
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

// kernelFuzz is the comparison of two sides, of which black boxes are inferred, and the line that says how far it is.
func (r *runCmd) kernelFuzz(sides [2]*kernel.Side) (*kernel.Fuzz, *statusLine) {
	status := newStatusLine(r.app)
	line := &status
	z := &kernel.Fuzz{A: sides[0], B: sides[1], Seed: r.seed, Count: int(r.count), Time: r.time, Workers: r.workers,
		Progress: func(done int, what string) { line.show(statusField{text: fmt.Sprintf("%d %s", done, what)}) }}
	z.Infer = func(ctx context.Context, u devices.Unit, s schedule.Shape) (*schedule.Kernel, int, error) {
		const checks = 50_000
		r, err := infer.Infer(ctx, u, s, infer.Options{Seed: r.seed, Checks: checks, Workers: r.workers, Policy: oracle.Policy{NaN: oracle.ByClass},
			Show: func(p infer.Progress) { line.show(statusField{text: "inferring: " + p.Phase}) }})
		if err != nil {
			return nil, 0, err
		}
		return r.Kernel, r.Validated, nil
	}
	return z, line
}

// progressFile is how far a run of kernels is, until it ends.
const progressFile = "progress.json"

// kernelProgress is the content of a progressFile.
type kernelProgress struct {
	file  string
	Of    string        `json:"of"` // run
	State *kernel.State `json:"state"`
}

// kernelIdentity tells runs of kernels apart whose products are others.
func (r *runCmd) kernelIdentity(sides [2]*kernel.Side) string {
	h := sha256.New()
	fmt.Fprintln(h, r.a, r.b, r.seed, r.count, r.time, versions.Program())
	for _, s := range sides {
		if s.Kernel != nil {
			_ = s.Kernel.Write(h)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// read returns the state with which a run goes on, nil if there is none of it.
func (p *kernelProgress) read() (*kernel.State, error) {
	was := kernelProgress{}
	err := corpus.CheckForeign(p.file, "run of kernels", func() bool {
		data, err := os.ReadFile(p.file)
		return err == nil && json.Unmarshal(data, &was) == nil && was.State != nil && was.State.Found != nil && was.State.Found.Inputs != nil
	})
	if err != nil {
		return nil, hint.Add(err, anotherOut)
	}
	if was.Of != p.Of {
		return nil, nil
	}
	return was.State, nil
}

func (p *kernelProgress) write(s *kernel.State) error {
	p.State = s
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(p.file), 0o777); err != nil {
		return err
	}
	return corpus.ReplaceOrRemoveFile(p.file, data)
}

func (p *kernelProgress) remove() error {
	err := os.Remove(p.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
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
