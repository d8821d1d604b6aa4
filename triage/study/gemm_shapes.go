package study

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// compareShapes compares the first kernel with each of the others on products of drawn shapes.
func (g *gemmStudy) compareShapes(ctx context.Context, r *Request, kernels []*gemmKernel) (*Result, error) {
	if len(kernels) < 2 {
		return nil, errors.New("--shapes compares the first kernel with the others: name two at least")
	}
	if first := slices.IndexFunc(kernels, func(k *gemmKernel) bool { return k.box == nil }); first > 0 {
		kernels[0], kernels[first] = kernels[first], kernels[0] // a schedule can be explained by
	}
	res := &Result{}
	t := Table{Name: "shapes", Title: "Products of drawn shapes", Note: "smallest: the least product on which they differ, and what they give. label: the part of A's schedule whose change gives B's bits.",
		Head: []string{"A", "B", "products", "differ", "elements", "differ", "smallest", "terms", "result of A", "of B", "label"}}
	a := kernels[0]
	for n, b := range kernels[1:] {
		if !sameOperands(a.unit, b.unit) {
			return nil, fmt.Errorf("%s takes %s, and %s takes %s: they cannot be compared", a.name, a.unit.Formats, b.name, b.unit.Formats)
		}
		z := kernel.Fuzz{A: a.side(r), B: b.side(r), Seed: r.Seed, Count: g.shapes, Workers: r.Workers, Progress: r.Progress}
		f, err := z.Run(ctx)
		if err != nil {
			return nil, err
		}
		if f.Same != "" {
			res.Remarks = append(res.Remarks, fmt.Sprintf("%s, %s: %s", a.name, b.name, f.Same))
		}
		s := f.Smallest
		if s == nil {
			t.add(a.name, b.name, f.Products, 0, f.Elements, 0, "-", "-", "-", "-", "-")
			continue
		}
		label := "-"
		if f.Answer != nil {
			label = f.Answer.Label
			if f.Rest > 0 {
				label = "unexplained"
			}
		}
		t.add(a.name, b.name, f.Products, f.Differ, f.Elements, f.Wrong, fmt.Sprintf("%dx%dx%d", s.M, s.N, s.K), s.Terms, mma.FormatCode(s.D, s.A), mma.FormatCode(s.D, s.B), label)
		res.Remarks = append(res.Remarks, foundWords(a, b, f)...)
		again, err := g.saveCase(r, fmt.Sprintf("case%d", n+1), a, b, s)
		if err != nil {
			return nil, err
		}
		res.Remarks = append(res.Remarks, again...)
		res.Failures = append(res.Failures, fmt.Sprintf("%s and %s differ in %s of %s products.", a.name, b.name, readable.Count(uint64(f.Differ)), readable.Count(uint64(f.Products))))
	}
	res.Tables = []Table{t}
	return res, nil
}

// saveCase writes the operands of a case, if there is a directory for it, and says how to compute
// it again.
func (g *gemmStudy) saveCase(r *Request, name string, a, b *gemmKernel, c *kernel.Case) ([]string, error) {
	if r.Dir == "" || c.Operands.SA != nil || c.Operands.ScaleA != nil { // of scales there are no files
		return nil, nil
	}
	if err := r.journal.begin(); err != nil { // it shows who has written the files
		return nil, err
	}
	o, u := c.Operands, a.unit
	fileA, fileB := filepath.Join(r.Dir, name+"-A.npy"), filepath.Join(r.Dir, name+"-B.npy")
	if err := writeMatrix(fileA, u.A, o.M, o.K, o.A); err != nil {
		return nil, err
	}
	rows, w := make([]byte, 0, len(o.B)), u.B.Width()
	for k := range o.K {
		for n := range o.N {
			rows = append(rows, o.B[(n*o.K+k)*w:][:w]...)
		}
	}
	if err := writeMatrix(fileB, u.B, o.K, o.N, rows); err != nil {
		return nil, err
	}
	return []string{fmt.Sprintf("The smallest product again: mmafuzz gemm %s %s --a %s --b %s", readable.ShellWord(a.name), readable.ShellWord(b.name), readable.ShellWord(fileA), readable.ShellWord(fileB))}, nil
}

// foundWords says what was found.
func foundWords(a, b *gemmKernel, f *kernel.Found) (words []string) {
	var kinds []string
	for i, n := range f.Inputs {
		if n > 0 {
			kinds = append(kinds, fmt.Sprintf("%s %d", kernel.Inputs()[i], n))
		}
	}
	words = append(words, fmt.Sprintf("Products that differ, by their operands: %s.", strings.Join(kinds, ", ")))
	if l := f.Lost; l != nil {
		words = append(words, fmt.Sprintf("A product of ones is the number of terms that were summed: of K = %d ones %s sums %s.", l.K, l.Side, Number(l.Sum)))
	}
	switch w := f.Answer; {
	case w == nil:
	case w.Kernel == nil:
		words = append(words, fmt.Sprintf("Unexplained: no schedule that differs from that of %s in one field gives the bits of %s.", a.name, b.name))
	default:
		change := fmt.Sprintf("this is changed in the schedule of %s: %s", a.name, w.Words)
		if f.Rest > 0 {
			words = append(words, fmt.Sprintf("Unexplained: %s differs in %s of %s fresh products even if %s.", b.name, readable.Count(uint64(f.Rest)), readable.Count(uint64(f.Fresh)), change))
			break
		}
		words = append(words, fmt.Sprintf("%s has the bits of %s on %s elements and on %s fresh products, if %s. The first partial sum that differs: %s.",
			a.name, b.name, readable.Count(uint64(w.Checked)), readable.Count(uint64(f.Fresh)), change, w.First))
		if len(w.Others) > 0 {
			words = append(words, fmt.Sprintf("The products do not rule out a change of %s.", strings.Join(w.Others, ", ")))
		}
	}
	return words
}

// side makes a kernel a side of a comparison.
func (k *gemmKernel) side(r *Request) *kernel.Side {
	s := &kernel.Side{Name: k.name, Unit: k.unit, Kernel: k.kernel, Options: k.options(r), Box: k.box}
	s.Options.Workers = 1 // products are computed at the same time
	_, model := k.target.(interface{ Simulator() *sim.Model })
	s.Modelled = k.kernel != nil && (k.target == nil || model)
	return s
}

// boxOf makes a black box of the instructions of a target that have no C: each is a product
// of one K.
func boxOf(t devices.Target) (*gemmKernel, error) {
	k := &gemmKernel{name: t.Name(), box: map[int]devices.Unit{}}
	rows := t.Instructions()
	for n := range rows {
		i := &rows[n]
		if i.C != fp.None || i.Refuse != "" {
			continue
		}
		if k.unit != nil && !sameOperands(k.unit, i) {
			return nil, fmt.Errorf("%s has products of %s and of %s: leave one of them to it", t.Name(), k.unit.Formats, i.Formats)
		}
		u, err := t.Open(i)
		if err != nil {
			return nil, err
		}
		k.unit, k.box[i.K] = i, u
	}
	if k.unit == nil {
		return nil, nil
	}
	return k, nil
}
