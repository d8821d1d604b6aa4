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

  multiplication  d = a0*b0
  inner product   d = a0*b0 + a1*b1
  accumulation    d = a0*b0 + c

"low": the numbers are first rounded to the formats of the unit, so that converting them
is no error; "FP32": they are not. Where d is narrower than FP32 there is a second
baseline, the FP32 result rounded to d. The plain baseline is FP32 arithmetic in order.

Without targets it makes Tables 12 to 15, with the paper's figures beside ours: these are
averages of numbers whose seeds are not printed, so that the zeros have to be equal and
other figures of the same size.`,
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

// operationsOf are the operations of an instruction.
func operationsOf(i *mma.Instruction) []string {
	all := []string{"multiplication", "inner product", "accumulation"}
	if i.C == fp.None {
		return all[:2]
	}
	return all
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
	draw := func(f *fp.Format) (uint64, float32) {
		v := float32(rng.NormFloat64())
		c := f.FromFloat64(float64(v))
		if low {
			v = float32(f.Float64(c))
		}
		return c, v
	}
	d := mma.NewDot(p.r.f, p.inst().K)
	for i := range d.SA {
		one := p.r.sc.f.FromFloat64(1)
		d.SA[i], d.SB[i] = one, one
	}
	terms := 1
	if op == "inner product" {
		terms = min(2, p.inst().K)
	}
	sum := float32(0)
	for k := range terms {
		ca, a := draw(p.r.a.f)
		cb, b := draw(p.r.b.f)
		d.A[k], d.B[k] = ca, cb
		sum = float32(sum + float32(a*b))
	}
	if op == "accumulation" {
		cc, c := draw(p.r.c.f)
		d.C = cc
		sum = float32(sum + c)
	}
	return d, sum
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

// printedProfile is one of Tables 12 to 15 of Sun et al., measured on an A100 and an RTX
// 3070 Ti. Rows are multiplication, inner product, accumulation; columns those of Profile;
// -1: not printed.
type printedProfile struct {
	table  string
	inst   string
	errors [3][4]float64
}

var printedProfiles = []printedProfile{
	{"Table 12", "mma.m16n8k8.f32.bf16.bf16.f32", [3][4]float64{{0, 1.29e-3, -1, -1}, {0, 1.72e-3, -1, -1}, {1.89e-8, 1.13e-3, -1, -1}}},
	{"Table 13", "mma.m16n8k8.f32.f16.f16.f32", [3][4]float64{{0, 1.59e-4, -1, -1}, {0, 2.18e-4, -1, -1}, {0, 1.36e-4, -1, -1}}},
	{"Table 14", "mma.m16n8k8.f16.f16.f16.f16", [3][4]float64{{1.22e-4, 1.94e-4, 0, 1.67e-4}, {1.81e-4, 2.99e-4, 0, 2.21e-4}, {1.81e-4, 2.99e-4, 0, 2.21e-4}}},
	{"Table 15", "mma.m16n8k4.f32.tf32.tf32.f32", [3][4]float64{{0, 1.59e-4, -1, -1}, {0, 2.17e-4, -1, -1}, {0, 1.36e-4, -1, -1}}},
}

// Run makes the study.
func (operations) Run(ctx context.Context, r *Request) (*Result, error) {
	preset := len(r.Targets) == 0
	request := *r
	if preset {
		for _, p := range printedProfiles {
			request.Targets = append(request.Targets, "sim:ampere/"+p.inst)
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
		profilesBeside(all, res)
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

// profilesBeside adds Tables 12 to 15, ours beside theirs.
func profilesBeside(all [][]Profile, res *Result) {
	t := Table{Name: "operations", Title: "Tables 12 to 15 of Sun et al.: mean absolute errors on Ampere, ours beside theirs",
		Note: "agrees: both are 0 to the digits printed, or the factor between them is below 1.5; the paper prints averages without seeds.",
		Head: []string{"table", "operation", "init", "baseline", "ours", "theirs", "agrees", "remark"}}
	agree, figures := 0, 0
	for n, p := range printedProfiles {
		for row, mine := range all[n] {
			for col, ours := range []float64{mine.Low, mine.FP32, mine.NarrowLow, mine.NarrowFP32} {
				theirs := p.errors[row][col]
				if theirs < 0 {
					continue
				}
				figures++
				same, remark := agrees(false), ""
				switch {
				case theirs == 0 && ours < 5e-8, theirs > 0 && ours > theirs/1.5 && ours < theirs*1.5:
					same = true
					agree++
					if theirs == 0 && ours > 0 {
						remark = "the unit truncates where FP32 arithmetic rounds to nearest; the paper prints 0.0, and 1.89e-8 in Table 12"
					}
				default:
					res.Failures = append(res.Failures, fmt.Sprintf("%s, %s: %s, the paper has %s", p.table, mine.Operation, Number(ours), Number(theirs)))
				}
				if p.table == "Table 14" && row == 2 {
					remark = "the paper prints the row of the inner product again"
				}
				init, baseline := "low", "FP32"
				if col%2 == 1 {
					init = "FP32"
				}
				if col >= 2 {
					baseline = "FP32 rounded to d"
				}
				t.add(p.table, mine.Operation, init, baseline, ours, theirs, same, remark)
			}
		}
	}
	res.Tables = append(res.Tables, t)
	res.Remarks = append(res.Remarks, fmt.Sprintf("%d of %d figures agree.", agree, figures))
}
