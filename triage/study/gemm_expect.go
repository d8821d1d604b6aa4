package study

import (
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// expected compares the products with the one that is expected, and says why they differ.
func (g *gemmStudy) expected(ctx context.Context, r *Request, kernels []*gemmKernel, res *Result) error {
	if g.matrices[fileD] == nil {
		return nil
	}
	t := Table{Name: "expected", Title: "Against " + g.files[fileD],
		Note: "label: the part of the schedule whose change gives the bits of the expected product.",
		Head: []string{"kernel", "differ", "of", "largest |D-expected|", "largest ulp", "first", "label"}}
	var right *gemmKernel
	want := make([]*product, len(kernels))
	for i, k := range kernels {
		var err error
		if want[i], err = g.want(k); err != nil {
			return err
		}
		if right == nil && g.compareProducts(k.product, want[i]).numbers == 0 {
			right = k
		}
	}
	for i, k := range kernels {
		d := g.compareProducts(k.product, want[i])
		if d.numbers == 0 {
			t.add(k.name, 0, g.m*g.n, 0, "0", "-", "-")
			continue
		}
		why, label, err := g.why(ctx, r, k, right, want[i])
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		t.add(k.name, d.numbers, g.m*g.n, d.max, readable.Ulps(float64(d.most)), fmt.Sprintf("(%d,%d)", d.first/g.n, d.first%g.n), label)
		res.Plots = append(res.Plots, d.plots(k.name, g.files[fileD], g)...)
		res.Remarks = append(res.Remarks, fmt.Sprintf("%s differs from %s in elements of %s and %s.", k.name, g.files[fileD], setWords("rows", d.rowsOf, g.m), setWords("columns", d.columnsOf, g.n)))
		res.Remarks = append(res.Remarks, why...)
		res.Failures = append(res.Failures, fmt.Sprintf("%s differs from %s in %s of %s elements.", k.name, g.files[fileD],
			readable.Count(uint64(d.numbers)), readable.Count(uint64(g.m*g.n))))
	}
	res.Tables = append(res.Tables, t)
	return nil
}

// setWords writes which of n rows or columns, as what says, a set has.
func setWords(what string, has []bool, n int) string {
	var all []int
	for i, h := range has {
		if h {
			all = append(all, i)
		}
	}
	const most = 60
	text := schedule.SetOf(all).String()
	switch {
	case len(all) == n:
		return "all " + what
	case len(text) > most:
		return fmt.Sprintf("%s %s... (%d of %d)", what, text[:most], len(all), n)
	}
	return what + " " + text
}

// want returns the expected product in the format of a kernel's.
func (g *gemmStudy) want(k *gemmKernel) (*product, error) {
	m, id := g.matrices[fileD], k.product.f
	if m.id != id && m.Width != id.Width() && m.id.Width() < id.Width() {
		return nil, fmt.Errorf("%s has elements of %d bytes, the product of %s is in %s", g.files[fileD], m.Width, k.name, id)
	}
	read, err := m.in(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", g.files[fileD], err)
	}
	p := &product{id, make([]byte, g.m*g.n*id.Width())}
	for n := range g.m * g.n {
		mma.Store(p.codes, id.Width(), n, read(n/g.n, n%g.n))
	}
	return p, nil
}

// why says why a kernel's product is not the expected one, which right has if it is not nil.
func (g *gemmStudy) why(ctx context.Context, r *Request, k, right *gemmKernel, want *product) (words []string, label string, err error) {
	if k.kernel == nil {
		return []string{fmt.Sprintf("%s is a black box: what it does is not known.", k.name)}, "-", nil
	}
	o, err := g.operands(ctx, k)
	if err != nil {
		return nil, "", err
	}
	q := kernel.Question{Kernel: k.kernel, Options: k.options(r), Products: []kernel.Product{{Operands: o, Got: k.product.codes, Want: want.codes, D: want.f}}}
	if right != nil && right.kernel != nil && sameOperands(k.unit, right.unit) && k.result() == right.result() {
		first, err := kernel.Diverge(ctx, [2]*schedule.Kernel{k.kernel, right.kernel}, o, q.Products[0].First(), [2]gemm.Options{k.options(r), right.options(r)})
		if err != nil {
			return nil, "", err
		}
		return []string{fmt.Sprintf("%s has the bits of %s. The first partial sum of %s that is not one of its: %s.", right.name, g.files[fileD], k.name, first)}, "-", nil
	}
	if r.Progress != nil {
		q.Progress = func(done, of int) { r.Progress(done, of, "why "+k.name+" differs") }
	}
	a, err := q.Explain(ctx)
	if err != nil {
		return nil, "", err
	}
	if a.Kernel == nil {
		return []string{fmt.Sprintf("%s: unexplained. None of the schedules that were tried, which differ from it in one or two fields, gives the bits of %s. If a program computed it, its schedule can be inferred from its answers: mmafuzz infer --shape %dx%dx%d --target exec:PROGRAM (mmafuzz help exec).", k.name, g.files[fileD], g.m, g.n, g.k)}, a.Label, nil
	}
	words = []string{fmt.Sprintf("%s: %s. With this change of its schedule it has the bits of all %d elements of %s. The first partial sum that differs: %s.",
		k.name, a.Words, a.Checked, g.files[fileD], a.First)}
	if len(a.Others) > 0 {
		words = append(words, fmt.Sprintf("The elements do not rule out a change of %s instead.", strings.Join(a.Others, ", ")))
	}
	return words, a.Label, nil
}

// sameOperands reports whether two units take the same codes.
func sameOperands(a, b *mma.Instruction) bool {
	return a.A == b.A && a.B == b.B && a.Scale == b.Scale && a.Block == b.Block
}
