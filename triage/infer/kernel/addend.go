package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// onlyWithoutC is where alone a kernel holds if nothing here adds C as the black box does.
const onlyWithoutC = "C is -0"

// addend is a way in which C may be added.
type addend struct {
	name, words string
	to          func(k *schedule.Kernel) // makes a kernel add C
}

// addends are the ways that are tried, the usual ones first.
var addends = []addend{
	{"first", "The sum begins with C in place of zero.", func(k *schedule.Kernel) {
		k.CFirst = true
		k.Unit = fromZero(k.Unit)
		for i := range k.Schedules {
			k.Schedules[i].Unit = fromZero(k.Schedules[i].Unit)
		}
	}},
	{"to the sum", "C is added to the sum.", func(k *schedule.Kernel) {
		k.Epilogue = slices.Concat([]schedule.Step{{Op: "c"}}, k.Epilogue)
	}},
	{"to the rounded sum", "C is added to the rounded sum, and what this gives is rounded.", func(k *schedule.Kernel) {
		first := slices.DeleteFunc(slices.Clone(k.Epilogue), func(s schedule.Step) bool { return s.Op == "relu" })
		k.Epilogue = slices.Concat(first, []schedule.Step{{Op: "c", Format: k.Unit.Acc}}, k.Epilogue)
	}},
	{"times beta, in one rounding", "C times beta is added to the sum, in one rounding", func(k *schedule.Kernel) {
		k.Epilogue = slices.Concat([]schedule.Step{{Op: "beta-c"}}, k.Epilogue)
	}},
	{"times beta, rounded", "C times beta is rounded, and added to the sum", func(k *schedule.Kernel) {
		k.Epilogue = slices.Concat([]schedule.Step{{Op: "beta-c-mul"}}, k.Epilogue)
	}},
	{"to the scaled sum", "C is added to the scaled sum.", toScaled("c")},
	{"times beta, to the scaled sum in one rounding", "C times beta is added to the scaled sum, in one rounding", toScaled("beta-c")},
	{"times beta, rounded, to the scaled sum", "C times beta is rounded, and added to the scaled sum", toScaled("beta-c-mul")},
	{"nowhere", "C changes no result.", func(*schedule.Kernel) {}},
}

// toScaled returns what makes a kernel do a step right after its sum is multiplied by a number; without one it is left
// as it is.
func toScaled(op string) func(k *schedule.Kernel) {
	return func(k *schedule.Kernel) {
		if i := slices.IndexFunc(k.Epilogue, func(s schedule.Step) bool { return s.Factor != 0 }); i >= 0 {
			k.Epilogue = slices.Insert(slices.Clone(k.Epilogue), i+1, schedule.Step{Op: op, Format: k.Epilogue[i].Format})
		}
	}
}

// scaled reports whether C is multiplied by a factor.
func (a *addend) scaled() bool { return strings.HasPrefix(a.name, "times beta") }

// askBeta asks by what C is multiplied: for a product of zeros to which a one is added. What is no number is no factor.
func (l *loop) askBeta(ctx context.Context) error {
	return l.each(ctx, 1, func(_ int, m matrices) { fill(m.c, l.C, 1) }, func(_ int, _ matrices, d []byte) {
		if l.judge.beta = l.D.Get().Float64(mma.Load(d, l.D.Width(), 0)); l.judge.beta-l.judge.beta != 0 {
			l.judge.beta = 1
		}
	})
}

// fromZero returns a unit whose first product is added to zero if it was added to nothing, which is a C of -0.
func fromZero(u *schedule.Unit) *schedule.Unit {
	if u == nil || u.Start != "empty" {
		return u
	}
	c := *u
	c.Start = ""
	return &c
}

const addendElements = 256 // of a kind, by which ways to add C are told apart

// addC finds how C is added to what was found with a C of -0, which changes no sum, and validates that. If nothing
// here adds it so, the result holds for that C alone.
func (l *loop) addC(ctx context.Context, r *Result) error {
	l.enter("asking how C is added")
	l.drawsC = true
	defer func() { l.drawsC = false }()
	if err := l.askBeta(ctx); err != nil {
		return err
	}
	g := max(1, int(math.Sqrt(float64(addendElements)/float64(l.M*l.N))))
	var samples []*sample
	for kind := range kinds {
		s, err := l.gridded(ctx, g, kind, l.o.Seed+seedAddends+uint64(kind))
		if err != nil {
			return err
		}
		samples = append(samples, s)
	}
	without := *r
	f := Field{Name: "addend"}
	for n, a := range addends {
		k := *without.Kernel
		k.Schedules = slices.Clone(k.Schedules)
		a.to(&k)
		if strings.Contains(a.name, "to the scaled sum") && !k.AddsC() { // no number multiplies the sum
			continue
		}
		if a.name == "to the rounded sum" && len(without.Kernel.Epilogue) == 0 || l.judge.beta == 1 && a.scaled() { // it is that to the sum
			continue
		}
		switch {
		case !l.judge.right(ctx, grid(&k, l.M, l.N, g), samples):
			f.Ruled = append(f.Ruled, a.name)
			continue
		case f.Value != "":
			f.Open, f.Products = append(f.Open, a.name), len(samples)*g*g
			continue
		}
		r.Kernel = &k
		wrong, err := l.validate(ctx, r, uint64(rounds+n))
		if err != nil {
			return err
		}
		if len(wrong) > 0 {
			f.Ruled = append(f.Ruled, a.name)
			continue
		}
		f.Value = a.name
		if a.scaled() {
			r.Beta = l.judge.beta
		}
	}
	if f.Value != "" {
		if r.Kernel.CFirst { // C is where a sum begins
			r.Fields = slices.DeleteFunc(r.Fields, func(f Field) bool { return strings.HasSuffix(f.Name, "unit.start") })
		}
		r.Fields = append(r.Fields, f)
		return ctx.Err()
	}
	*r = without
	r.Restricted, r.Kernel.Source = onlyWithoutC, "inferred where "+onlyWithoutC
	for _, s := range samples {
		wrong, got, err := l.judge.differs(ctx, grid(r.Kernel, l.M, l.N, g), s)
		if err != nil {
			return err
		}
		if len(wrong) > 0 {
			row, column := wrong[0]/s.N, wrong[0]%s.N
			r.Witness = l.witness(row%l.M, column%l.N, row, column, s, got)
			break
		}
	}
	return ctx.Err()
}

// withoutC fills C with what changes no sum.
func (b *box) withoutC(c []byte) { fill(c, b.C, math.Copysign(0, -1)) }

// drawC fills C with numbers about as large as products, zeros and special numbers.
func (b *box) drawC(d *drawer, m matrices) {
	d.k = 1
	f, w := b.C.Get(), b.C.Width()
	for i := range b.M * b.N {
		if f.Integer() {
			mma.Store(m.c, w, i, d.Uint64()&f.CodeMask()>>d.IntN(int(f.Bits())))
			continue
		}
		row, column := i/b.N*b.K, i%b.N*b.K
		k := d.IntN(b.K)
		v := d.NormFloat64()
		if p := b.A.Get().Float64(mma.Load(m.a, b.A.Width(), row+k)) * b.B.Get().Float64(mma.Load(m.b, b.B.Width(), column+k)); p != 0 && p-p == 0 {
			v *= p
		}
		v = math.Ldexp(v, d.IntN(9)-3)
		switch d.IntN(16) {
		case 0:
			v = math.Copysign(0, v)
		case 1:
			v = d.special(v)
		case 2:
			v = math.Copysign(f.Float64([]uint64{f.MaxFinite(), 1}[d.IntN(2)]), v)
		}
		mma.Store(m.c, w, i, d.code(f, v))
	}
}

// cCodes returns C in the format of a kernel's accumulators, which has all its numbers.
func (j *judge) cCodes(acc fp.ID, c []byte) ([]byte, error) {
	if acc == j.c {
		return c, nil
	}
	f, to := j.c.Get(), acc.Get()
	if f.Integer() || to.Integer() || f.FracBits > to.FracBits || f.Emax() > to.Emax() || f.Emin()-int32(f.FracBits) < to.Emin()-int32(to.FracBits) {
		return nil, fmt.Errorf("sums of %s do not have all numbers of C, which is %s", to.Name, f.Name)
	}
	w, wide := j.c.Width(), acc.Width()
	all := make([]byte, len(c)/w*wide)
	for i := range len(c) / w {
		mma.Store(all, wide, i, to.Nearest(f.Float64(mma.Load(c, w, i))))
	}
	return all, nil
}

// addendWords says how C is added; "": there is none.
func (r *Result) addendWords() string {
	for i := range r.Fields {
		for _, a := range addends {
			if f := &r.Fields[i]; f.Name == "addend" && f.Value == a.name {
				if a.scaled() {
					return fmt.Sprintf("%s; beta is %v.", a.words, r.Beta)
				}
				return a.words
			}
		}
	}
	return ""
}

// WithBeta returns the kernel that was found, with the number by which it multiplies C; nil: none was found.
func (r *Result) WithBeta() *schedule.Kernel {
	if r.Beta == 0 || r.Kernel == nil {
		return r.Kernel
	}
	k := *r.Kernel
	k.Epilogue = slices.Clone(k.Epilogue)
	for i := range k.Epilogue {
		if s := &k.Epilogue[i]; strings.HasPrefix(s.Op, "beta-") {
			s.Factor = r.Beta
		}
	}
	return &k
}
