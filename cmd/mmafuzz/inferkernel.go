package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/infer/kernel"
)

// parseShape reads ROWSxCOLUMNSxK.
func parseShape(text string) (s schedule.Shape, err error) {
	var rest string
	if n, _ := fmt.Sscanf(text, "%dx%dx%d%s", &s.M, &s.N, &s.K, &rest); n != 3 || s.M < 1 || s.N < 1 || s.K < 2 {
		return s, hint.New("give rows x columns x products of an element, such as 64x64x1000", "--shape %s is no shape of a matrix product", text)
	}
	return s, nil
}

// kernel infers the schedule of matrix products.
func (n *inferCmd) kernel(ctx context.Context) error {
	shape, err := parseShape(n.shape)
	if err != nil {
		return err
	}
	t, u, err := n.openLive()
	if err != nil {
		return err
	}
	defer t.Close()
	dir := n.out
	if dir == "" {
		dir = ownDir("infer-", func(w io.Writer) {
			fmt.Fprintln(w, t.Name(), devices.DigestOf(t), u.Instruction().Name, n.shape, n.seed, n.checks, n.policy.nan, n.policy.zero, versions.Program())
		})
	}
	if err := kernel.CheckDir(dir); err != nil {
		return hint.Add(err, anotherOut)
	}
	if n.time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, n.time)
		defer stop()
	}
	began := time.Now()
	n.line = newStatusLine(n.app)
	o := kernel.Options{Seed: n.seed, Checks: n.checks, Workers: n.workers, Policy: oracle.Policy{NaN: oracle.ByClass}, Show: func(p kernel.Progress) {
		n.line.show(statusField{text: fmt.Sprintf("%6s  %d products  %s", readable.Clock(time.Since(began)), p.Products, p.Phase)})
	}}
	nan, zero := n.policy.strictness()
	o.Policy.Zero = *zero
	if n.nanGiven {
		o.Policy.NaN = *nan
	}
	r, err := kernel.Infer(ctx, u, shape, o)
	n.line.clear()
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return incomplete(hint.New("give it more time: it begins from the start", "interrupted before there was a verdict"))
	case err != nil:
		return err
	}
	report := &kernel.Report{Target: t.Name(), Instruction: u.Instruction().Name, Environment: t.Environment(), Seed: n.seed, NaN: o.Policy.NaN.String(), Zero: o.Policy.Zero.String(), Result: r}
	if err := report.Save(dir); err != nil {
		return err
	}
	if n.json {
		err = n.writeJSON(report)
	} else if err = n.writeDocument(report.Document(), n.format, n.verbose); err == nil && n.format == "text" {
		if r.Verdict == kernel.Found {
			beta := ""
			if r.Beta != 0 {
				beta = fmt.Sprintf(" --beta %v", r.Beta)
			}
			fmt.Fprintf(n.stdout, "compute it: mmafuzz gemm %s --m %d --n %d --k %d%s\n", readable.ShellWord(filepath.Join(dir, "kernel.json")), shape.M, shape.N, shape.K, beta)
		}
		_, err = fmt.Fprintln(n.stdout, "report: "+filepath.Join(dir, "report.md"))
	}
	if err == nil && r.Verdict != kernel.Found {
		err = errMismatch
	}
	return err
}
