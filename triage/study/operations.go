package study

import (
	"context"
	"errors"
	"fmt"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/spf13/pflag"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

var operationsStudy = Study{
	Name:  "operations",
	Short: "errors of multiplication, addition of the inner product, and accumulation",
	Long: `operations is the element-wise profiling of Sun et al. (TPDS 2023, section 8.1): mean
absolute errors of three operations against FP32 arithmetic on normally distributed
numbers.

  multiplication          d = a0*b0
  inner product           d = a0 + a1: b0 and b1 are 1
  accumulation            d = a0 + c: b0 is 1
  accumulation of a wide c  the same, c drawn in its own format where that is wider

"low": the numbers are first rounded to the format of a, so that converting them is no
error; "FP32": they are not. Where d is narrower than FP32 there is a second baseline, the
FP32 result rounded to d. The plain baseline is FP32 arithmetic in order.

The paper does not say that b is 1 where it profiles additions, but its figures do: with
products in place of the numbers, its inner products would have errors 17 % larger than it
prints, and the baseline would differ from the unit where it prints 0.

Without targets it makes Tables 12 to 15, with the paper's figures beside ours: these are
averages of numbers whose seeds are not printed, so that a zero has to be below 1e-10 and
other figures have to be within 15 %. One is not: its remark says why.`,
	Count: 20000, Of: "inputs of each operation",
	New: func(*pflag.FlagSet) Runner { return operations{} },
}

type operations struct{}

// Profile is the mean absolute errors of an operation.
type Profile struct {
	Operation string `json:"operation"`
	// One for each way to draw numbers; Narrow against the reference rounded to D.
	Low        float64 `json:"init_low"`
	FP32       float64 `json:"init_fp32"`
	NarrowLow  float64 `json:"rounded_init_low"`
	NarrowFP32 float64 `json:"rounded_init_fp32"`
}

// Profiles draws n inputs for each operation and returns the errors of a unit. Inputs
// follow from seed.
func Profiles(ctx context.Context, u devices.Unit, seed uint64, n int) ([]Profile, error) {
	p := profiler{unit{Unit: u, name: u.Instruction().FullName()}, newReader(u.Instruction().Formats)}
	var all []Profile
	for _, op := range operationsOf(u.Instruction()) {
		r := Profile{Operation: op}
		var err error
		if r.Low, r.NarrowLow, err = p.profile(ctx, op, true, seed, n); err != nil {
			return nil, err
		}
		if r.FP32, r.NarrowFP32, err = p.profile(ctx, op, false, seed, n); err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// The operations that are profiled.
const (
	multiplication = "multiplication"
	innerProduct   = "inner product"
	accumulation   = "accumulation"
	wideC          = "accumulation of a wide c"
)

// operationsOf are the operations of an instruction.
func operationsOf(i *mma.Instruction) []string {
	switch {
	case i.C == fp.None:
		return []string{multiplication, innerProduct}
	case i.C == i.A:
		return []string{multiplication, innerProduct, accumulation}
	}
	return []string{multiplication, innerProduct, accumulation, wideC}
}

// checkProfiles returns what is impossible about what a journal has of a unit.
func checkProfiles(u *unit, all []Profile) error {
	if !slices.EqualFunc(all, operationsOf(u.inst()), func(p Profile, op string) bool { return p.Operation == op }) {
		return errors.New("these are not the operations of its instruction")
	}
	return nil
}

// profiler asks a unit.
type profiler struct {
	unit
	r *reader
}

// profile returns the mean errors of an operation.
func (p *profiler) profile(ctx context.Context, op string, low bool, seed uint64, n int) (wide, narrow float64, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	d := p.r.d.f
	err = inParts(n, p.inst().K, func(part int) error {
		dots, refs := make([]*mma.Dot, part), make([]float32, part)
		for i := range dots {
			dots[i], refs[i] = p.drawn(op, low, rng)
		}
		codes, err := p.run(ctx, mma.BatchOf(p.r.f, p.inst().K, dots))
		if err != nil {
			return err
		}
		for i, code := range codes {
			got := d.Float64(code)
			wide += math.Abs(got-float64(refs[i])) / float64(n)
			narrow += math.Abs(got-d.Float64(d.FromFloat64(float64(refs[i])))) / float64(n)
		}
		return nil
	})
	return wide, narrow, err
}

// drawn returns an input of an operation and the reference's result. Products and sums
// are converted explicitly so that nothing fuses them.
func (p *profiler) drawn(op string, low bool, rng *rand.Rand) (*mma.Dot, float32) {
	// draw returns the code of a number in f, which is first rounded to the format of a if low.
	draw := func(f *fp.Format, low bool) (uint64, float32) {
		v := rng.NormFloat64()
		if low {
			v = p.r.a.f.Float64(p.r.a.f.FromFloat64(v))
		}
		return f.FromFloat64(float64(float32(v))), float32(v)
	}
	d := mma.NewDot(p.r.f, p.inst().K)
	for i := range d.SA {
		one := p.r.sc.f.FromFloat64(1)
		d.SA[i], d.SB[i] = one, one
	}
	var x, y float32
	d.A[0], x = draw(p.r.a.f, low)
	d.B[0] = p.r.b.f.FromFloat64(1)
	switch op {
	case multiplication:
		d.B[0], y = draw(p.r.b.f, low)
		return d, float32(x * y)
	case innerProduct:
		if p.inst().K > 1 {
			d.A[1], y = draw(p.r.a.f, low)
			d.B[1] = d.B[0]
		}
	case accumulation:
		d.C, y = draw(p.r.c.f, low)
	case wideC:
		d.C, y = draw(p.r.c.f, false)
	}
	return d, float32(x + y)
}

// ProfileTable lists the profiles of n inputs of a seed for people.
func ProfileTable(rows []Profile, seed uint64, n int) (title string, table document.Block) {
	t := &document.Table{Columns: document.Columns("", "#init low", "#init FP32", "#to d rounded: init low", "#init FP32")}
	for _, r := range rows {
		cells := []string{r.Operation}
		for _, v := range []float64{r.Low, r.FP32, r.NarrowLow, r.NarrowFP32} {
			cells = append(cells, fmt.Sprintf("%.2e", v))
		}
		t.Add(cells...)
	}
	return fmt.Sprintf("Sun et al. (2023), Tables 12 to 15: mean absolute errors of %d inputs, seed %d", n, seed), document.Indent(2, t)
}

// printedProfile is a row of Tables 12 to 15 of Sun et al., measured on an A100 and an RTX
// 3070 Ti.
type printedProfile struct {
	table     string
	inst      string
	operation string
	errors    [4]float64 // the columns of Profile; -1: not printed
	remark    string
}

const (
	bf16 = "mma.m16n8k8.f32.bf16.bf16.f32"
	f16  = "mma.m16n8k8.f32.f16.f16.f32"
	f16d = "mma.m16n8k8.f16.f16.f16.f16"
	tf32 = "mma.m16n8k4.f32.tf32.tf32.f32"
)

var printedProfiles = []printedProfile{
	{"Table 12", bf16, multiplication, [4]float64{0, 1.29e-3, -1, -1}, ""},
	{"Table 12", bf16, innerProduct, [4]float64{0, 1.72e-3, -1, -1}, ""},
	{"Table 12", bf16, accumulation, [4]float64{1.89e-8, 1.13e-3, -1, -1}, roundedC},
	{"Table 13", f16, multiplication, [4]float64{0, 1.59e-4, -1, -1}, ""},
	{"Table 13", f16, innerProduct, [4]float64{0, 2.18e-4, -1, -1}, ""},
	{"Table 13", f16, accumulation, [4]float64{0, 1.36e-4, -1, -1}, ""},
	{"Table 14", f16d, multiplication, [4]float64{1.22e-4, 1.94e-4, 0, 1.67e-4}, ""},
	{"Table 14", f16d, innerProduct, [4]float64{1.81e-4, 2.99e-4, 0, 2.21e-4}, ""},
	{"Table 14", f16d, accumulation, [4]float64{1.81e-4, 2.99e-4, 0, 2.21e-4}, "with the same numbers it is the sum of the inner product"},
	{"Table 15", tf32, multiplication, [4]float64{0, 1.59e-4, -1, -1}, ""},
	{"Table 15", tf32, innerProduct, [4]float64{0, 2.17e-4, -1, -1}, ""},
	{"Table 15", tf32, accumulation, [4]float64{0, 1.36e-4, -1, -1}, ""},
}

// roundedC is why the first error of an accumulation of BF16 numbers is another here.
const roundedC = "with a c that is rounded to BF16, and b = 1, the error is 0 as in Tables 13 and 15: it seems that c was not rounded"

// printedZero is what the paper prints as 0: with 1,000 numbers it has mostly none of the few
// that FP32 arithmetic rounds.
const printedZero = 1e-10

// printedWithin is how far an average of the paper may be from ours: it has some 1,000 numbers,
// whose average is within 4 to 8 % of the expected one in two of three cases.
const printedWithin = 0.15

// printedInstructions are the instructions of the tables.
func printedInstructions() []string {
	var all []string
	for _, p := range printedProfiles {
		if !slices.Contains(all, p.inst) {
			all = append(all, p.inst)
		}
	}
	return all
}

// Run makes the study.
func (operations) Run(ctx context.Context, r *Request) (*Result, error) {
	preset := len(r.Targets) == 0
	request := *r
	if preset {
		for _, inst := range printedInstructions() {
			request.Targets = append(request.Targets, "sim:ampere/"+inst)
		}
	}
	units, done, err := request.askable(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer done()
	all, err := each(ctx, r, units, func(u *unit) string { return u.name }, checkProfiles, func(ctx context.Context, u *unit) ([]Profile, error) {
		return Profiles(ctx, u.Unit, r.Seed, r.Count)
	})
	if err != nil {
		return nil, err
	}
	res := &Result{}
	if preset {
		of := map[string][]Profile{}
		for n, inst := range printedInstructions() {
			of[inst] = all[n]
		}
		profilesBeside(of, res)
		return res, nil
	}
	t := Table{Name: "operations", Title: "Mean absolute errors against FP32 arithmetic, and against its result rounded to d",
		Head: []string{"unit", "operation", "init low", "init FP32", "rounded, init low", "rounded, init FP32"}}
	for n, u := range units {
		for _, p := range all[n] {
			t.add(u.name, p.Operation, p.Low, p.FP32, p.NarrowLow, p.NarrowFP32)
		}
	}
	res.Tables = append(res.Tables, t)
	return res, nil
}

// profilesBeside adds those of Tables 12 to 15 whose instructions were measured, ours beside theirs.
func profilesBeside(of map[string][]Profile, res *Result) {
	t := Table{Name: "operations", Title: "Tables 12 to 15 of Sun et al.: mean absolute errors on Ampere, ours beside theirs",
		Note: fmt.Sprintf("agrees: a 0 is below %.0e, which a sum of two numbers more than 13 binades apart can be in thousands; other figures are within %.0f %%, because the paper prints averages without seeds.", printedZero, 100*printedWithin),
		Head: []string{"table", "operation", "init", "baseline", "ours", "theirs", "ours / theirs", "agrees", "remark"}}
	agree, figures := 0, 0
	for _, p := range printedProfiles {
		n := slices.IndexFunc(of[p.inst], func(o Profile) bool { return o.Operation == p.operation })
		if n < 0 {
			continue
		}
		mine := of[p.inst][n]
		for col, ours := range []float64{mine.Low, mine.FP32, mine.NarrowLow, mine.NarrowFP32} {
			theirs := p.errors[col]
			if theirs < 0 {
				continue
			}
			figures++
			same := theirs == 0 && ours < printedZero || math.Abs(ours/theirs-1) <= printedWithin
			if same {
				agree++
			} else if p.remark != roundedC {
				res.Failures = append(res.Failures, fmt.Sprintf("%s, %s: %s, the paper has %s", p.table, p.operation, Number(ours), Number(theirs)))
			}
			ratio := ""
			if theirs > 0 {
				ratio = fmt.Sprintf("%.2f", ours/theirs)
			}
			init, baseline := "low", "FP32"
			if col%2 == 1 {
				init = "FP32"
			}
			if col >= 2 {
				baseline = "FP32 rounded to d"
			}
			remark := p.remark
			if remark == roundedC {
				if remark = ""; !same {
					n := slices.IndexFunc(of[p.inst], func(o Profile) bool { return o.Operation == wideC })
					remark = fmt.Sprintf("%s, and of a wide c it is %s", roundedC, Number(of[p.inst][n].Low))
				}
			}
			t.add(p.table, p.operation, init, baseline, ours, theirs, ratio, agrees(same), remark)
		}
	}
	res.Tables = append(res.Tables, t)
	res.Remarks = append(res.Remarks, fmt.Sprintf("%d of %d figures agree.", agree, figures))
}
