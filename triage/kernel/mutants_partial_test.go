package kernel

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// partialSums adds products as written here: sums of parts, of which part n of some is rounded to a format (-1: none
// is), are added in order; or with chain one sum goes on from part to part.
type partialSums struct {
	parts func(k int) [][]int
	chain bool
	only  func(n, of int) bool
	to    fp.ID
}

// dot is a dot product in FP32 of the operands of an FP16 kernel.
func (s *partialSums) dot(d *mma.Dot) uint64 {
	half := fp.FP16.Get()
	round := func(x float32, n, of int) float32 {
		if s.only != nil && s.only(n, of) {
			f := s.to.Get()
			if s.to == fp.FP16 && math.Abs(float64(x)) >= 65520 {
				return float32(math.Inf(int(math.Copysign(1, float64(x)))))
			}
			return float32(f.Float64(f.FromFloat64(float64(x))))
		}
		return x
	}
	var sum float32
	parts := s.parts(len(d.A))
	for n, ks := range parts {
		own := float32(0)
		if s.chain {
			own = sum
		}
		for _, k := range ks {
			own += float32(half.Float64(d.A[k])) * float32(half.Float64(d.B[k])) // which is exact
		}
		if own = round(own, n, len(parts)); s.chain || n == 0 {
			sum = own
		} else {
			sum += own
		}
	}
	return uint64(math.Float32bits(sum))
}

// runsOf are the runs of n products of k.
func runsOf(n int) func(k int) [][]int {
	return func(k int) (all [][]int) {
		for i := range k {
			if i%n == 0 {
				all = append(all, nil)
			}
			all[len(all)-1] = append(all[len(all)-1], i)
		}
		return all
	}
}

// inHalves are both halves of k, the first the longer one.
func inHalves(k int) [][]int { return runsOf((k + 1) / 2)(k) }

// inTurn are the products of so many accumulators that take turns.
func inTurn(lanes int) func(k int) [][]int {
	return func(k int) [][]int {
		all := make([][]int, lanes)
		for i := range k {
			all[i%lanes] = append(all[i%lanes], i)
		}
		return all
	}
}

// box is a black box of some K.
func (s *partialSums) box(unit *mma.Instruction) *Side {
	b := &Side{Name: "box", Unit: unit, Box: map[int]devices.Unit{}}
	for _, k := range []int{128, 99} {
		i := &mma.Instruction{Name: "box", K: k, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32}}
		b.Box[k] = devices.Func(i, s.dot)
	}
	return b
}

var partialCases = []struct {
	levels string
	sums   partialSums
	words  string
}{
	{`{"cut": {"by": "count", "n": 2}, "merge": {"order": "forward"}}`,
		partialSums{inHalves, false, func(n, _ int) bool { return n == 0 }, fp.BF16}, "the sum of the first part is rounded to bf16 before it is added"},
	{`{"cut": {"by": "lanes", "n": 2}, "merge": {"order": "forward"}}`,
		partialSums{inTurn(2), false, func(n, _ int) bool { return n == 1 }, fp.FP16}, "the sum of the second lane is rounded to fp16 before it is added"},
	{`{"cut": {"by": "lanes", "n": 8}, "merge": {"order": "forward"}}`,
		partialSums{inTurn(8), false, func(n, _ int) bool { return n == 6 }, fp.BF16}, "the sum of the 7th lane is rounded to bf16 before it is added"},
	{`{"cut": {"by": "size", "n": 32}, "merge": {"order": "forward"}}`,
		partialSums{runsOf(32), false, func(n, of int) bool { return n < of-1 }, fp.BF16}, "the sum of every run of 32 products but the last is rounded to bf16 before it is added"},
	{"",
		partialSums{runsOf(32), true, func(n, _ int) bool { return n == 1 }, fp.BF16}, "the accumulator is rounded to bf16 after the second run of 32 products"},
	{"",
		partialSums{runsOf(32), true, func(n, of int) bool { return n < of-1 }, fp.FP16}, "the accumulator is rounded to fp16 after every run of 32 products but the last"},
	{"",
		partialSums{inHalves, true, func(n, _ int) bool { return n == 0 }, fp.BF16}, "the accumulator is rounded to bf16 after the first of 2 equal parts"},
	{"",
		partialSums{runsOf(1 << 10), true, func(int, int) bool { return true }, fp.BF16}, "the sum is rounded to bf16 before the end"},
}

// halfKernel is a kernel of FP16 operands with levels.
func halfKernel(t *testing.T, levels string) *Side {
	t.Helper()
	a := sideOf(t, "plain", levels)
	a.Kernel.Unit = &schedule.Unit{Op: "fma", In: fp.FP16, Acc: fp.FP32}
	a.Unit, _ = a.Kernel.Unit.Resolve()
	return a
}

// TestPartialSums names the one partial sum of a black box that is rounded in between.
func TestPartialSums(t *testing.T) {
	for _, c := range partialCases {
		a := halfKernel(t, c.levels)
		f, err := (&Fuzz{A: a, B: c.sums.box(a.Unit), Seed: 1, Count: 48}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.Differ == 0 || f.Answer == nil || f.Rest != 0 || !slices.Contains(append(f.Answer.Alike, f.Answer.Words), c.words) {
			t.Errorf("%d differ, %+v, want %s", f.Differ, f.Answer, c.words)
		}
	}
}

// TestChangedBox explains a black box by a change of what was inferred of another one, whichever of both is
// the one that inference finds.
func TestChangedBox(t *testing.T) {
	c := partialCases[0]
	known := halfKernel(t, c.levels)
	before := (&partialSums{parts: c.sums.parts}).box(known.Unit)
	after := c.sums.box(known.Unit)
	for n, sides := range [][2]*Side{{before, after}, {after, before}} {
		infer := func(_ context.Context, u devices.Unit, s schedule.Shape) (*schedule.Kernel, int, error) {
			if u == before.Box[s.K] {
				return known.Kernel, 1000, nil
			} else if n == 0 {
				t.Error("what a change explains was inferred")
			}
			return nil, 0, nil
		}
		f, err := (&Fuzz{A: sides[0], B: sides[1], Seed: 1, Count: 48, Infer: infer}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		values := [2]string{"-", "bf16"}
		want := FieldChange{"schedules[0].levels[0].merge.parts", values[n], values[1-n]}
		if change := "the sum of the first part is rounded to bf16 before it is added"; !strings.Contains(f.Sides.Change, change) {
			t.Errorf("%s, want %s", f.Sides.Change, change)
		}
		if f.Unfound != "" || f.Label() != "promotion" || f.Sides == nil || !slices.Contains(f.Sides.Fields, want) {
			t.Errorf("%s, %+v, without %s; want %v", f.Label(), f.Sides, f.Unfound, want)
		}
	}
}
