package study

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var multiwordStudy = Study{
	Name:  "multiword",
	Short: "FP32 and FP64 from narrow formats and integers: operands as sums of 1 to 6 words, error against words",
	Long: `multiword computes dot products of FP32 and of FP64 operands on units whose operands are
narrower and whose sums are FP32. Each operand becomes a sum of words of the unit's format, the
unit multiplies words i of A with words j of B, and these products are added outside of the
unit, the smallest first, in the format of the operands. Words are scaled by powers of two,
so that none of them is subnormal because it comes late.

  words   the operand rounded to nearest, what that leaves rounded, and so on: p+1 bits
          each, of p fraction bits (Fasi et al., SIAM J. Sci. Comput. 45, 2023; with two
          words the method of Ootomo and Yokota)
  slices  words on one grid for all operands of a dot product, of so few bits that the
          unit's sums are exact (Ozaki et al., Numer. Algorithms 59, 2012)
  i+j<w   the products that are taken: w(w+1)/2, as is usual; all: w*w of them

Units of s8 with sums of s32 get slices of 7 bits (Ootomo, Ozaki and Yokota, Int. J. High
Perform. Comput. Appl. 38, 2024), and

  residues  the operands as integers, whose residues modulo as many coprime numbers the unit
            multiplies as slices take products, w(w+1)/2; the Chinese remainder theorem gives
            the sum (Ozaki, Uchino and Imamura, arXiv:2504.08009)

With words the unit's own rounding soon is the largest error, and more words do not help;
with slices each word does. Residues are far better for as many products: 15 of them, w = 5,
are enough for FP64, as 14 are in the authors' library, and 8 slices, w = 8, which take 36.
Errors are means, relative to the sum of magnitudes; operands are
normal. FMA is a chain of fused multiply-adds in the format of the operands.`,
	Count: 1000, Of: "dot products for each format of operands",
	New: func(f *pflag.FlagSet) Runner {
		m := &multiword{}
		f.IntVar(&m.words, "words", 6, "`number` of words at most")
		return m
	},
}

type multiword struct{ words int }

// multiwordUnits are measured if no target is named: each format once.
var multiwordUnits = []string{
	"sim:volta/mma.m8n8k4.f32.f16.f16.f32",
	"sim:ampere/mma.m16n8k16.f32.f16.f16.f32",
	"sim:ampere/mma.m16n8k16.f32.bf16.bf16.f32",
	"sim:ampere/mma.m16n8k8.f32.tf32.tf32.f32",
	"sim:hopper/mma.m16n8k16.f32.f16.f16.f32",
	"sim:hopper/wgmma.m64n8k32.f32.e4m3.e4m3",
	"sim:blackwell/tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3",
	"sim:cdna3/v_mfma_f32_16x16x16_f16",
	"sim:ampere/mma.m16n8k32.s32.s8.s8.s32",
}

// worded reports whether an instruction can be used.
func worded(i *mma.Instruction) bool {
	switch i.A {
	case fp.FP16, fp.BF16, fp.TF32, fp.XF32, fp.E4M3, fp.E5M2:
		return i.A == i.B && i.D == fp.FP32 && (i.C == fp.FP32 || i.C == fp.None) && i.Scale == fp.None
	case fp.S8:
		return i.B == fp.S8 && i.D == fp.S32
	}
	return false
}

// wordErrors are the mean errors of a unit by one method.
type wordErrors struct {
	Operands string // FP32 or FP64
	Method   string // words, slices, residues or FMA
	Products string // i+j<w, all, w(w+1)/2, or -
	Errors   []Number
}

// errorTable is what was measured of a unit.
type errorTable struct{ Rows []wordErrors }

// Run makes the study.
func (m *multiword) Run(ctx context.Context, r *Request) (*Result, error) {
	if m.words < 1 || m.words > 8 {
		return nil, fmt.Errorf("--words is %d; it can be 1 to 8", m.words)
	}
	request := *r
	if len(r.Targets) == 0 {
		request.Targets = multiwordUnits
	}
	units, done, err := request.askable(ctx, worded)
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := each(ctx, r, units, func(u *unit) string { return u.name }, m.check, func(ctx context.Context, u *unit) (errorTable, error) {
		return m.measure(ctx, u, r)
	})
	if err != nil {
		return nil, err
	}
	return m.report(units, all), nil
}

// check returns what is impossible about what a journal has of a unit.
func (m *multiword) check(u *unit, t errorTable) error {
	want := slices.Concat(m.rows(u.inst(), fp.FP32), m.rows(u.inst(), fp.FP64))
	if len(t.Rows) != len(want) {
		return fmt.Errorf("%d rows, not %d", len(t.Rows), len(want))
	}
	for n, row := range t.Rows {
		w := want[n]
		if row.Operands != w.Operands || row.Method != w.Method || row.Products != w.Products || len(row.Errors) != len(w.Errors) {
			return fmt.Errorf("row %d is of %s, %s, %s and %d words, not of %s, %s, %s and %d", n, row.Operands, row.Method, row.Products, len(row.Errors), w.Operands, w.Method, w.Products, len(w.Errors))
		}
		if slices.ContainsFunc(row.Errors, func(e Number) bool { return e < 0 }) {
			return fmt.Errorf("row %d has a negative error", n)
		}
	}
	return nil
}

// splitter makes words of operands.
type splitter struct {
	low   *fp.Format
	words int
	bits  int // of a word
	grid  bool
}

// splitters are those of the methods, for a unit.
func (m *multiword) splitters(i *mma.Instruction) map[string]splitter {
	low := i.A.Get()
	if i.A.Integer() {
		return map[string]splitter{"slices": {low, m.words, min(int(low.FracBits), (31-bits.Len(uint(i.K-1)))/2), true}}
	}
	p := int(low.FracBits) + 1
	// The sum of K products of 2*bits bits has to fit into the 23 bits that units keep below the
	// largest exponent. FP8 has so few that it fits into the 13 of Hopper, too.
	exact := (23 - bits.Len(uint(i.K-1))) / 2
	return map[string]splitter{"words": {low, m.words, p, false}, "slices": {low, m.words, min(p, exact), true}}
}

// point is the power of two that a word of 1 counts for: words of integers are 2^bits times as
// large as others.
func (s *splitter) point() int {
	if s.low.Integer() {
		return s.bits
	}
	return 0
}

// split returns the codes of the words of operands, word by word. Word w counts
// 2^(exponent - w*bits - point).
func (s *splitter) split(operands []float64) (codes [][]uint64, exponent int) {
	exponent = exponentOf(operands)
	if s.low.Integer() {
		exponent++ // or the first word could be 2^bits, which has no code
	}
	rest := make([]float64, len(operands))
	for k, v := range operands {
		rest[k] = math.Ldexp(v, -exponent)
	}
	for range s.words {
		word := make([]uint64, len(rest))
		for k, v := range rest {
			if s.grid {
				v = math.Ldexp(math.RoundToEven(math.Ldexp(v, s.bits)), -s.bits)
			}
			word[k] = encode(s.low, math.Ldexp(v, s.point()))
			rest[k] = math.Ldexp(rest[k]-math.Ldexp(s.low.Float64(word[k]), -s.point()), s.bits) // exact: the low bits of the operand
		}
		codes = append(codes, word)
	}
	return codes, exponent
}

// measure measures a unit.
func (m *multiword) measure(ctx context.Context, u *unit, r *Request) (errorTable, error) {
	var t errorTable
	for _, id := range []fp.ID{fp.FP32, fp.FP64} {
		h := fnv.New64a()
		h.Write([]byte(fmt.Sprint(u.name, id)))
		rd := newReader(mma.Formats{A: id, B: id, D: id})
		rows := m.rows(u.inst(), id)
		rng := rand.New(rand.NewPCG(r.Seed, h.Sum64()))
		err := inParts(r.Count, u.inst().K*m.words*m.words, func(part int) error {
			dots := make([]*mma.Dot, part)
			for n := range dots {
				dots[n] = rd.dot(u.inst().K, standardNormal, distribution{}, rng)
			}
			return m.add(ctx, u, rd, dots, rows)
		})
		if err != nil {
			return t, err
		}
		for n := range rows {
			for w := range rows[n].Errors {
				rows[n].Errors[w] /= Number(r.Count)
			}
		}
		t.Rows = append(t.Rows, rows...)
	}
	return t, nil
}

// rows are those of the operands of a format on a unit, without their errors.
func (m *multiword) rows(i *mma.Instruction, id fp.ID) []wordErrors {
	all := []wordErrors{{id.Get().Name, "FMA", "-", make([]Number, 1)}}
	for _, method := range []string{"words", "slices"} {
		if _, ok := m.splitters(i)[method]; !ok {
			continue
		}
		for _, products := range []string{"i+j<w", "all"} {
			all = append(all, wordErrors{id.Get().Name, method, products, make([]Number, m.words)})
		}
	}
	if i.A.Integer() {
		all = append(all, wordErrors{id.Get().Name, "residues", "w(w+1)/2", make([]Number, m.words)})
	}
	return all
}

// add adds the errors of dot products to rows, whose means are made of the sums later.
func (m *multiword) add(ctx context.Context, u *unit, rd *reader, dots []*mma.Dot, rows []wordErrors) error {
	to := func(sum float64) float64 { return sum }
	if rd.f.D == fp.FP32 {
		to = func(sum float64) float64 { return float64(float32(sum)) }
	}
	exact, magnitude := make([]sum2, len(dots)), make([]float64, len(dots))
	values := make([][2][]float64, len(dots))
	for n, d := range dots {
		exact[n], magnitude[n] = rd.sum(d, len(d.A))
		chain := 0.0
		for k := range d.A {
			a, b := rd.a.value(d.A[k]), rd.b.value(d.B[k])
			values[n][0], values[n][1] = append(values[n][0], a), append(values[n][1], b)
			chain = to(math.FMA(a, b, chain)) // of FP32 it may round twice, which is no matter in a mean
		}
		rows[0].Errors[0] += relative(exact[n], chain, magnitude[n])
	}
	for method, s := range m.splitters(u.inst()) {
		products, exponents, err := s.products(ctx, u, values)
		if err != nil {
			return err
		}
		for i := range rows {
			if rows[i].Method != method {
				continue
			}
			for n := range dots {
				for w := range m.words {
					last := w
					if rows[i].Products == "all" {
						last = 2 * w
					}
					sum := 0.0
					for order := last; order >= 0; order-- {
						for a := max(0, order-w); a <= min(order, w); a++ {
							sum = to(sum + math.Ldexp(products[a][order-a][n], exponents[n]-order*s.bits))
						}
					}
					rows[i].Errors[w] += relative(exact[n], sum, magnitude[n])
				}
			}
		}
	}
	if last := &rows[len(rows)-1]; last.Method == "residues" {
		for w := range m.words {
			sums, err := newResidues((w+1)*(w+2)/2, u.inst().K).dots(ctx, u, values)
			if err != nil {
				return err
			}
			for n, sum := range sums {
				last.Errors[w] += relative(exact[n], to(sum), magnitude[n])
			}
		}
	}
	return nil
}

// relative is the error of a sum, relative to the sum of magnitudes.
func relative(exact sum2, sum, magnitude float64) Number {
	if magnitude == 0 {
		return 0
	}
	return Number(math.Abs(exact.minus(sum)) / magnitude)
}

// products computes, for words i of A and j of B, the dot products of all operands, as numbers
// in units of 2^exponent.
func (s *splitter) products(ctx context.Context, u *unit, operands [][2][]float64) (all [][][]float64, exponents []int, err error) {
	i := u.inst()
	a, b := make([][][]uint64, len(operands)), make([][][]uint64, len(operands))
	exponents = make([]int, len(operands))
	for n, o := range operands {
		var ea, eb int
		a[n], ea = s.split(o[0])
		b[n], eb = s.split(o[1])
		exponents[n] = ea + eb - 2*s.point()
	}
	for wa := range s.words {
		all = append(all, nil)
		for wb := range s.words {
			in := make([]*mma.Dot, len(operands))
			for n := range in {
				in[n] = &mma.Dot{A: a[n][wa], B: b[n][wb]}
			}
			codes, err := u.run(ctx, mma.BatchOf(i.Formats, i.K, in))
			if err != nil {
				return nil, nil, err
			}
			values := make([]float64, len(codes))
			for n, code := range codes {
				values[n] = i.D.Get().Float64(code)
			}
			all[wa] = append(all[wa], values)
		}
	}
	return all, exponents, nil
}

// report makes a table of all units, and a plot for each format of operands.
func (m *multiword) report(units []unit, all []errorTable) *Result {
	head := []string{"unit", "operands", "method", "products"}
	var words []Number
	for w := 1; w <= m.words; w++ {
		head, words = append(head, fmt.Sprintf("w = %d", w)), append(words, Number(w))
	}
	t := Table{Name: "multiword", Title: "Mean errors by the number of words, relative to the sum of magnitudes", Head: head,
		Note: "words: each rounded to nearest. slices: on one grid, so that the unit's sums are exact. residues: modulo w(w+1)/2 numbers. FMA: a chain in the format of the operands."}
	res := &Result{}
	for _, operands := range []string{fp.FP32.Get().Name, fp.FP64.Get().Name} {
		p := Plot{Name: "multiword-" + operands, Title: "Operands of " + operands + ": error by the number of words, w(w+1)/2 products", Kind: "lines",
			X: "words", Y: "mean error, relative to the sum of magnitudes", LogY: true}
		for n, u := range units {
			for _, row := range all[n].Rows {
				if row.Operands != operands {
					continue
				}
				cells := []any{u.name, row.Operands, row.Method, row.Products}
				for w := range m.words {
					if w < len(row.Errors) {
						cells = append(cells, row.Errors[w])
					} else {
						cells = append(cells, "")
					}
				}
				t.add(cells...)
				if row.Products == "i+j<w" || row.Method == "residues" {
					p.Series = append(p.Series, Series{u.name + ", " + row.Method, words, row.Errors})
				}
			}
		}
		res.Plots = append(res.Plots, p)
	}
	res.Tables = []Table{t}
	return res
}
