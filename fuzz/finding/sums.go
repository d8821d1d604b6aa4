package finding

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
	"github.com/mmafuzz/mmafuzz/triage"
	infer "github.com/mmafuzz/mmafuzz/triage/infer/kernel"
	"github.com/mmafuzz/mmafuzz/triage/kernel"
)

// A product of matrices is a long sum, which programs describe badly: of K that is cut into uneven parts, a
// partial sum that is stored, or products that are left out. Schedules do (package sim/schedule).
// They are looked for where no change of a program explains a pair of units, before the long searches.

const (
	leastSum    = 8    // products of a sum that may have a schedule
	longSum     = 32   // and that has one rather than a program, which is inferred later
	sumProducts = 64   // products of matrices that are compared
	sumChecks   = 5000 // new elements on which schedules are checked
	givenSums   = 12   // products of matrices of the evidence
	givenSide   = 16   // their rows and columns
	mostSums    = 0.9  // of all cases, those that schedules explain which are kept: others have another cause, too
)

// scheduled is the cause of cases in which schedules have the results of both sides.
var scheduled = &triage.Cause{Primary: triage.Schedule, Detail: string(triage.Schedule)}

// sums computes what the schedules of a verdict say.
type sums struct {
	*triage.Sums
	same oracle.Comparer
}

func (p *Pair) newSums(s *triage.Sums) *sums {
	return &sums{s, oracle.NewComparer(p.Spec.D, oracle.Policy{NaN: oracle.ByClass, Zero: p.Policy.Zero})}
}

// diagonal returns matrices of which element (i,i) of the product is dot product i.
func diagonal(f mma.Formats, dots []*mma.Dot) *gemm.Operands {
	n, k := len(dots), len(dots[0].A)
	o := &gemm.Operands{Shape: schedule.Shape{M: n, N: n, K: k}, A: make([]byte, n*k*f.A.Width()), B: make([]byte, n*k*f.B.Width())}
	if f.C != fp.None {
		o.D, o.C = f.C, make([]byte, n*n*f.C.Width())
	}
	for i, d := range dots {
		if o.C != nil {
			mma.Store(o.C, f.C.Width(), i*n+i, d.C)
		}
		for j := range k {
			mma.Store(o.A, f.A.Width(), i*k+j, d.A[j])
			mma.Store(o.B, f.B.Width(), i*k+j, d.B[j])
		}
	}
	return o
}

// right reports of some dot products whether the schedules have these results of both sides.
func (s *sums) right(f mma.Formats, dots []*mma.Dot, a, b []uint64) ([]bool, error) {
	if len(dots) == 0 {
		return nil, nil
	}
	o := diagonal(f, dots)
	right, at := make([]bool, len(dots)), make([][2]int, len(dots))
	for i := range dots {
		right[i], at[i] = true, [2]int{i, i}
	}
	for side, want := range [][]uint64{a, b} {
		codes, id, err := gemm.Elements(context.Background(), s.Kernels[side], o, at, gemm.Options{Workers: 1})
		if err != nil || id != f.D {
			return nil, cmp.Or(err, errors.New("a schedule has results of another format"))
		}
		for i, code := range codes {
			right[i] = right[i] && s.same.Compare(code, want[i]) == oracle.Same
		}
	}
	return right, nil
}

// name sets the causes of cases that nothing else explains. at, a and b are as in Labeller.Causes.
func (s *sums) name(causes []*triage.Cause, in *mma.Batch, at []int32, a, b []uint64) {
	var open []int
	var dots []*mma.Dot
	var openA, openB []uint64
	for i, c := range causes {
		if c.Primary == triage.Unexplained {
			dot := mma.NewDot(in.Formats, in.K)
			in.Get(int(at[i]), dot)
			open, dots, openA, openB = append(open, i), append(dots, dot), append(openA, a[i]), append(openB, b[i])
		}
	}
	right, err := s.right(in.Formats, dots, openA, openB)
	for j, i := range open {
		if err == nil && right[j] {
			causes[i] = scheduled
		}
	}
}

// check returns an error if the schedules of a verdict are none for a pair.
func (s *sums) check(p *Pair) error {
	d := mma.NewDot(p.Spec.Formats, p.K)
	if s.Checked < 0 || slices.Contains(s.Kernels[:], nil) {
		return errors.New("it has the schedule of one side only")
	}
	_, err := s.right(p.Spec.Formats, []*mma.Dot{d}, []uint64{0}, []uint64{0})
	return err
}

// findSums looks for the schedules of both sides that explain all evidence, once in a campaign; nil: there
// are none.
func (x *pairTriage) findSums(ctx context.Context) (*triage.Verdict, error) {
	if v := x.instructions; v != nil {
		x.instructions = nil
		return v, nil
	}
	if x.summed || len(x.st.Differ) > 0 || !x.haveSums() {
		return nil, nil
	}
	x.summed = true
	found, err := kernel.Schedules(ctx, [2]devices.Unit{x.p.A, x.p.B}, kernel.Fuzz{Seed: x.t.Seed, Count: sumProducts, Given: x.sumsGiven(), Workers: x.t.Workers, Infer: x.inferSums})
	if found == nil || err != nil {
		return nil, harmlessFault(err)
	}
	v := &triage.Verdict{Program: x.p.base, K: x.p.K, Labels: []triage.Label{triage.Schedule}, Sums: found}
	if right, err := x.rightSums(v, x.allEvidence()); err != nil || right < v.Differ+v.Agree {
		return nil, err
	}
	return v, nil
}

// instructions reports whether two schedules are instructions alone: programs say better how these differ.
func instructions(s *triage.Sums) bool {
	for _, k := range s.Kernels {
		if u := k.FirstUnit(); len(k.Schedules) > 1 || len(k.Schedules[0].Levels) > 0 || len(k.Epilogue) > 0 || u == nil || u.Op != "" {
			return false
		}
	}
	return true
}

// sumsGiven returns products of matrices whose diagonals are cases of the evidence: their values are aimed at
// what other inputs seldom show.
func (x *pairTriage) sumsGiven() (all []*gemm.Operands) {
	var dots []*mma.Dot
	for _, f := range x.allEvidence() {
		dots = append(dots, f.Start)
	}
	step := max(1, len(dots)/(givenSums*givenSide))
	for from := 0; from+givenSide*step <= len(dots); from += givenSide * step {
		var some []*mma.Dot
		for i := range givenSide {
			some = append(some, dots[from+i*step])
		}
		all = append(all, diagonal(x.p.Spec.Formats, some))
	}
	return all
}

// explainBySums looks for schedules where no program is known of either side, and reports whether it has
// found them. If it is the first search, those of instructions alone are kept for later.
func (x *pairTriage) explainBySums(ctx context.Context, first bool) (bool, error) {
	v := x.t.Memory.Verdict(x.index, x.d.Units, len(x.st.Differ)+len(x.d.Differ))
	if v == nil || v.Sums == nil {
		var err error
		if v, err = x.findSums(ctx); v == nil || err != nil {
			return false, err
		}
		if first && instructions(v.Sums) {
			x.instructions = v
			return false, nil
		}
		x.t.Memory.KeepVerdict(x.index, x.d.Units, v)
	}
	x.takeSums(v)
	return true, nil
}

// takeSums makes a verdict with schedules that of the pair.
func (x *pairTriage) takeSums(v *triage.Verdict) {
	x.k, x.verdict, x.attributor = x.p.K, v, nil
	x.d.Verdict, x.defect = v, x.p.defectOf(v)
}

// keepSums keeps a verdict with schedules as long as they explain nearly all evidence, and reports whether
// it has.
func (x *pairTriage) keepSums(evidence []*Case) (bool, error) {
	v := *x.verdict
	right, err := x.rightSums(&v, evidence)
	if err != nil {
		return false, err
	}
	if float64(right) < mostSums*float64(v.Differ+v.Agree) {
		x.verdict = &triage.Verdict{Program: x.p.base, K: x.p.K, Labels: []triage.Label{triage.Unexplained}}
		x.d.Verdict, x.defect = x.verdict, nil
		return false, nil
	}
	x.takeSums(&v)
	return true, nil
}

// rightSums returns in how many cases the schedules of a verdict have the results of both sides, and sets
// how many there are.
func (x *pairTriage) rightSums(v *triage.Verdict, evidence []*Case) (n int, err error) {
	v.Differ, v.Agree = 0, 0
	var dots []*mma.Dot
	var a, b []uint64
	for _, f := range evidence {
		dots, a, b = append(dots, f.Start), append(a, f.A), append(b, f.B)
		if f.Class == oracle.Same {
			v.Agree++
		} else {
			v.Differ++
		}
	}
	right, err := x.p.newSums(v.Sums).right(x.p.Spec.Formats, dots, a, b)
	for _, right := range right {
		if right {
			n++
		}
	}
	return n, err
}

// haveSums reports whether the dot products of a pair may be elements of products of matrices, and both sides
// may be asked for others. What adds C beside a model is most often an instruction, of which programs and defects
// say more.
func (x *pairTriage) haveSums() bool {
	f := &x.p.Spec.Formats
	may := func(side int) bool {
		u := x.p.side(side)
		return (u.Model() != nil || x.mayAsk(u) || Believed(u) != nil && !devices.IsRecording(u)) && u.Instruction().K == x.p.K
	}
	return x.t.Infer && x.p.K >= leastSum && (f.C == fp.None || x.p.baseUnit == nil) && f.B != fp.One && f.Scale == fp.None && !f.Common && f.D.Flags() == 0 &&
		f.B.RandomBits() == 0 && may(0) && may(1) && x.repeatsItself(0) && x.repeatsItself(1)
}

// inferSums is kernel.Inference.
func (x *pairTriage) inferSums(ctx context.Context, u devices.Unit, s schedule.Shape) (*schedule.Kernel, int, error) {
	r, err := infer.Infer(ctx, u, s, infer.Options{Seed: x.t.Seed, Checks: sumChecks, Workers: x.t.Workers, Policy: oracle.Policy{NaN: oracle.ByClass},
		Show: func(p infer.Progress) { x.say("looking for the schedule of " + x.p.Name() + ": " + p.Phase) }})
	if err != nil {
		return nil, 0, err
	}
	if r.Restricted != "" {
		return nil, 0, nil
	}
	return r.WithBeta(), r.Validated, nil
}

// Sums describes the schedules of a pair's verdict for people and programs; nil: it has none.
func (st *PairState) Sums() *corpus.Sums { return describeSums(st.Verdict) }

// sumsOf describes the schedules of a finding's verdict, with the first partial sum that differs.
func sumsOf(f *Case, formats mma.Formats) *corpus.Sums {
	s := describeSums(f.Verdict)
	if s != nil {
		k, o := f.Verdict.Sums.Kernels, diagonal(formats, []*mma.Dot{f.Dot})
		if steps, first, err := kernel.Steps(context.Background(), k, o, [2]int{}); err == nil {
			s.StepsA, s.StepsB, s.First = steps[0], steps[1], first
		}
	}
	return s
}

// computesMore reports whether a kernel computes something else than a sum of products and C, but for roundings.
func computesMore(k *schedule.Kernel) bool {
	more := func(s schedule.Step) bool { return s.Op != "cast" && s.Op != "c" }
	times := func(c *schedule.Cast) bool { return c != nil && c.Factor != 0 }
	u := k.FirstUnit()
	return slices.ContainsFunc(k.Epilogue, more) || times(u.CastA) || times(u.CastB)
}

// describeSums describes the schedules of a verdict.
func describeSums(v *triage.Verdict) *corpus.Sums {
	if v == nil || v.Sums == nil {
		return nil
	}
	var all [2][]string
	for i, k := range v.Sums.Kernels {
		all[i] = infer.Words(k, v.K)
	}
	a, b := all[0], all[1]
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return &corpus.Sums{What: kernel.LabelWords(v.Sums.Label), A: strings.Join(a, " "), B: strings.Join(b, " "), Checked: v.Sums.Checked,
		Epilogue: slices.ContainsFunc(v.Sums.Kernels[:], computesMore)}
}
