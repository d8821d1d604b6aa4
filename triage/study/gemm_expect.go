package study

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/fp"
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
	kernels = slices.Clone(kernels)
	for i, k := range kernels {
		k, remark, err := g.rounded(ctx, r, k)
		if err != nil {
			return fmt.Errorf("%s: %w", k.name, err)
		}
		if remark != "" {
			res.Remarks = append(res.Remarks, remark)
		}
		kernels[i] = k
		if want[i], remark, err = g.want(k); err != nil {
			return err
		}
		if remark != "" {
			res.Remarks = append(res.Remarks, remark)
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
		largest, _, ulp := d.sizes()
		t.add(k.name, d.numbers, g.m*g.n, largest, ulp, fmt.Sprintf("(%d,%d)", d.first/g.n, d.first%g.n), label)
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

// rounded returns a kernel whose product is rounded to the format of the expected one, as most are that
// multiply in a wider format, and says so; the kernel itself if its product has as many bits.
func (g *gemmStudy) rounded(ctx context.Context, r *Request, k *gemmKernel) (*gemmKernel, string, error) {
	m, from := g.matrices[fileD], k.product.f
	if k.kernel == nil || m.Width >= from.Width() {
		return k, "", nil
	}
	formats := []fp.ID{m.id}
	if m.id == fp.None { // codes
		formats = []fp.ID{fp.FP16, fp.BF16, fp.E4M3, fp.E5M2}
	}
	best, least := k, g.m*g.n+1
	for _, f := range formats {
		kernel := *k.kernel
		kernel.Epilogue = append(slices.Clip(kernel.Epilogue), schedule.Step{Op: "cast", Format: f})
		if f.Width() != m.Width || kernel.Validate() != nil {
			continue
		}
		c := *k
		c.kernel = &kernel
		var err error
		if c.product, err = g.multiply(ctx, &c, r); err != nil {
			return k, "", err
		}
		want, _, err := g.want(&c)
		if err != nil {
			return k, "", err
		}
		if n := g.compareProducts(c.product, want).numbers; n < least {
			best, least = &c, n
		}
	}
	if best == k {
		return k, "", nil
	}
	f := best.product.f
	return best, fmt.Sprintf("%s has elements of %d bytes, and the product of %s is in %s: it is compared as rounded to %s, which {\"op\": \"cast\", \"format\": \"%[5]s\"} at the end of its schedule's epilogue does.",
		g.files[fileD], m.Width, k.name, from, f), nil
}

// want returns the expected product in the format of a kernel's, and says if it has other numbers than
// that format.
func (g *gemmStudy) want(k *gemmKernel) (p *product, remark string, err error) {
	m, id := g.matrices[fileD], k.product.f
	if m.id != id && m.Width != id.Width() && m.id.Width() < id.Width() {
		return nil, "", fmt.Errorf("%s has elements of %d bytes, the product of %s is in %s", g.files[fileD], m.Width, k.name, id)
	}
	read, err := m.in(id)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", g.files[fileD], err)
	}
	p = &product{id, make([]byte, g.m*g.n*id.Width())}
	other := 0
	for n := range g.m * g.n {
		code := read(n/g.n, n%g.n)
		mma.Store(p.codes, id.Width(), n, code)
		if m.id == id || m.id == fp.None {
			continue
		}
		if v := m.id.Get().Float64(m.code(n/g.n, n%g.n)); v == v && id.Get().Float64(code) != v {
			other++
		}
	}
	if other > 0 {
		remark = fmt.Sprintf("%s of %s elements of %s, which is in %s, are no numbers of %s, the format of the product of %s: they are compared as rounded to it.",
			readable.Count(uint64(other)), readable.Count(uint64(g.m*g.n)), g.files[fileD], m.id, id, k.name)
	}
	return p, remark, nil
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
	q := kernel.Question{Kernel: k.kernel, Options: k.options(r), Wide: true, Products: []kernel.Product{{Operands: o, Got: k.product.codes, Want: want.codes, D: want.f}}}
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
		return []string{fmt.Sprintf("%s: unexplained. None of the schedules that were tried, those of mmafuzz gemm --list and those that differ from it in one or two fields, gives the bits of %s. If a program computed it, its schedule can be inferred from its answers: mmafuzz infer --shape %dx%dx%d --target exec:PROGRAM (mmafuzz help exec).", k.name, g.files[fileD], g.m, g.n, g.k)}, a.Label, nil
	}
	with, which := "this change", ""
	if len(a.Alike) > 0 {
		with, which = "any of these changes", " Other matrices, such as those of another K, may tell which it is."
	}
	words = []string{fmt.Sprintf("%s: %s. With %s of its schedule it has the bits of all %d elements of %s.%s The first partial sum that differs: %s.",
		k.name, a.Change(g.k), with, a.Checked, g.files[fileD], which, a.First)}
	if len(a.Others) > 0 {
		words = append(words, fmt.Sprintf("The elements do not rule out a change of %s instead.", strings.Join(a.Others, ", ")))
	}
	return words, a.Label, nil
}

// sameOperands reports whether two units take the same codes.
func sameOperands(a, b *mma.Instruction) bool {
	return a.A == b.A && a.B == b.B && a.Scale == b.Scale && a.Block == b.Block
}
