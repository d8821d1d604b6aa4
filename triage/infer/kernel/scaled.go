package kernel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// scaled reports whether the operands are integers with scales beside them, each of which is for some products of
// a line. Results do not show which partial sums of integers there are, since such sums are exact: schedules that
// are known are tried instead.
func (b *box) scaled() bool { return b.Scale != fp.None && b.A.Integer() && b.B.Integer() }

// placed reports whether the operands are floating-point numbers with scales beside them: the order of the sums is
// found with scales of one, and then where the scales are multiplied in.
func (b *box) placed() bool { return b.Scale != fp.None && !b.A.Integer() && !b.B.Integer() }

// takesScales reports whether a kernel, whose scales are in FP32, can have the box's.
func (b *box) takesScales() bool {
	s, side := b.Scale.Get(), fp.FP32.Get()
	return b.scaled() != b.placed() && !b.D.Integer() && s.FracBits <= side.FracBits && s.Emax() <= side.Emax() &&
		s.Emin()-int32(s.FracBits) >= side.Emin()-int32(side.FracBits)
}

// blocks returns which products have a scale in common; nil: there are no scales.
func (b *box) blocks() *schedule.Blocks {
	if b.Scale == fp.None {
		return nil
	}
	return &schedule.Blocks{Lines: 1, K: int(b.Block)}
}

// sideCodes converts scales to the format of a kernel's scales, FP32 or FP64, which holds them exactly.
func sideCodes(codes []byte, id, side fp.ID) []uint64 {
	if len(codes) == 0 {
		return nil
	}
	f, to, w := id.Get(), side.Get(), id.Width()
	all := make([]uint64, len(codes)/w)
	for i := range all {
		switch v := f.Float64(mma.Load(codes, w, i)); {
		case v-v == 0:
			all[i] = to.FromFloat64(v)
		case v != v:
			all[i] = to.QuietNaN(false)
		default:
			all[i] = to.InfCode(v < 0)
		}
	}
	return all
}

// restricted repeats an inference that has explained nothing, without the least integers. Quantizers do not
// produce -128, and code that moves the sign of one factor to the other may get it wrong. It returns nil if
// this explains nothing either, or cannot help.
func (l *loop) restricted(ctx context.Context, err error) *Result {
	var unexplained *unexplainedError
	if !errors.As(err, &unexplained) || !l.scaled() || !l.A.Get().Signed && !l.B.Get().Signed {
		return nil
	}
	l.withoutLeast = true
	defer func() { l.withoutLeast = false }()
	r := &Result{Shape: l.Shape}
	if err := l.run(ctx, r); err != nil {
		return nil
	}
	var least []string
	for _, of := range []struct {
		name string
		id   fp.ID
	}{{"A", l.A}, {"B", l.B}} {
		if f := of.id.Get(); f.Signed {
			least = append(least, fmt.Sprintf("%s has no %.0f", of.name, f.Float64(f.SignBit())))
		}
	}
	r.Restricted = strings.Join(least, " and ")
	r.Kernel.Source = "inferred where " + r.Restricted
	return r
}

// scaledUnits returns the instructions that may compute the sums of integers that are scaled: for each
// arithmetic the one with the fewest products at a time.
func scaledUnits(f mma.Formats) (all []candidate) {
	at := map[mma.Params]int{}
	for _, i := range mma.Catalog() {
		if i.A != f.A || i.B != f.B || i.D != fp.S32 || i.C != i.D {
			continue
		}
		u := schedule.Unit{Instruction: i.FullName()}
		if _, err := u.Resolve(); err != nil {
			continue
		}
		c := candidate{unit: u, acc: i.D, width: i.K}
		if f.D != fp.FP32 {
			c.epilogue = castTo(f.D)
		}
		function := i.Params
		function.Acc = mma.Round{} // no sum of a block leaves the range of int32
		n, known := at[function]
		switch {
		case !known:
			at[function] = len(all)
			all = append(all, c)
		case i.K < all[n].width:
			all[n] = c
		}
	}
	return all
}

// scaledSums tries the schedules of scaled sums.
func (n *search) scaledSums(ctx context.Context, mostLanes int) (*finding, error) {
	for _, levels := range scaledLevels(int(n.Block), n.K, mostLanes) {
		for _, w := range widths(n.units) {
			if f, err := n.try(ctx, levels, w); f != nil || err != nil {
				return f, err
			}
		}
	}
	return nil, ctx.Err()
}

// scaledLevels returns schedules of sums of integers that are scaled block by block. First K may be cut, or its
// blocks be dealt out to several sums. Then the products of a block may be dealt out to lanes, at most mostLanes,
// each of which goes on from block to block. Each schedule comes with every order in which a partial sum is
// multiplied by the scales.
func scaledLevels(block, depth, mostLanes int) (all [][]schedule.Level) {
	sum := func(c schedule.Cut, order string) schedule.Level {
		return schedule.Level{Cut: c, Merge: schedule.Merge{Order: order, Format: fp.FP32}}
	}
	outer := [][]schedule.Level{nil}
	for _, lanes := range []int{2, 4, 8} {
		for _, order := range laneOrders(lanes)[:min(lanes-1, 3)] {
			outer = append(outer, []schedule.Level{sum(schedule.Cut{By: "lanes", N: lanes, Vector: block}, order)})
		}
	}
	for n := 2 * block; n < depth; n *= 2 {
		outer = append(outer, []schedule.Level{sum(schedule.Cut{By: "size", N: n}, "forward")})
	}
	for _, n := range []int{2, 4, 8} {
		outer = append(outer, []schedule.Level{sum(schedule.Cut{By: "count", N: n, Grain: block}, "forward")})
	}
	type part struct {
		levels []schedule.Level
		size   int // products of a block that a lane adds
	}
	var inner []part
	for size := block; size > 0 && block%size == 0; size /= 2 {
		inner = append(inner, part{nil, size})
	}
	for lanes := 2; lanes <= mostLanes; lanes *= 2 {
		for vector := 1; lanes*vector <= block; vector *= 2 {
			for _, order := range laneOrders(lanes) {
				if block%(lanes*vector) == 0 {
					inner = append(inner, part{[]schedule.Level{sum(schedule.Cut{By: "lanes", N: lanes, Vector: vector}, order)}, block / lanes})
				}
			}
		}
	}
	for _, o := range outer {
		for _, i := range inner {
			for _, order := range []string{"forward", "reverse"}[:2-min(len(i.levels), 1)] {
				for _, scale := range scaleOrders {
					for _, fused := range []bool{false, true} {
						l := sum(schedule.Cut{By: "size", N: i.size}, order)
						if l.Merge.Scale, l.Merge.Fused = scale, fused; fused {
							l.Merge.Start = "zero"
						}
						all = append(all, append(append(append([]schedule.Level(nil), o...), i.levels...), l))
					}
				}
			}
		}
	}
	return all
}

// laneOrders returns the orders in which the sums of lanes may be added: the usual ones first and then, if there
// are at most eight lanes, those that add lanes at distances of powers of two, in any order of the distances.
func laneOrders(n int) []string {
	if n == 2 {
		return []string{"forward"}
	}
	all := []string{"halves", "neighbours", "forward", "reverse"}
	var distances func(so []string, left int)
	distances = func(so []string, left int) {
		if left == 1 {
			if name := strings.Join(so, "-"); !usualOrder(name, n) {
				all = append(all, name)
			}
			return
		}
		for d := 1; d < n; d *= 2 {
			word := fmt.Sprint(d)
			if !strings.Contains("-"+strings.Join(so, "-")+"-", "-"+word+"-") {
				distances(append(append([]string(nil), so...), word), left/2)
			}
		}
	}
	if n <= 8 {
		distances(nil, n)
	}
	return all
}

// usualOrder reports whether distances of n lanes are halves or neighbours.
func usualOrder(name string, n int) bool {
	for _, order := range []string{"halves", "neighbours"} {
		distances, _ := (&schedule.Merge{Order: order}).Distances(n)
		if name == strings.Trim(strings.ReplaceAll(fmt.Sprint(distances), " ", "-"), "[]") {
			return true
		}
	}
	return false
}

// scaleWords says how a partial sum is multiplied by its scales.
func scaleWords(m *schedule.Merge) string {
	text := map[string]string{
		"(sa*sb)*p": "the product of its scales of A and B",
		"sa*(sb*p)": "its scale of B, then by that of A",
		"sb*(sa*p)": "its scale of A, then by that of B",
	}[m.Scale]
	if m.Fused {
		text += ", in one rounding with the addition"
	}
	return text
}
