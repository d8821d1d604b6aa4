package finding

import (
	"context"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/defect"
)

// Where the results of a unit depend on the position alone, it is asked at such a position, with zeros
// in the rest of the tile, as a unit that is broken everywhere: what is wrong with it there is a defect
// or another program. The program that it has elsewhere is that of the pair.

// spot is a position of a tile at which a side gives another result than elsewhere.
type spot struct {
	side  int // 0: A
	shape mma.Shape
	at    int // of the outputs of a tile
}

// The limits of asking at a position: each question is a tile.
const (
	spotCases = 256 // questions of the campaign that are asked there first
	spotTile  = 256 // outputs of a tile at most
	spotBatch = 1 << 16
)

// askThere says of the first candidate that depends on its position what is different there.
func (x *pairTriage) askThere(ctx context.Context) error {
	f := x.firstLayout(func(f *Case) bool { return f.spot != nil })
	if f == nil || x.t.Effort < 0 || f.spot.shape.M*f.spot.shape.N > spotTile {
		return nil
	}
	wrong, err := x.wrongThere(ctx, "at a position", f.spot.side, func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		return f.spot.run(ctx, x.p.side(f.spot.side), x.p.Spec.Formats, dots)
	})
	if err != nil {
		return err
	}
	wrong.addTo(f.Spots, "; there ")
	right, err := x.rightEverywhere(ctx, f)
	if right {
		from, fault := x.takenFrom(ctx, f)
		err = fault
		f.Spots.Rule += "; in a tile that has this input everywhere the result is right, as if operands of another position were taken"
		if len(from) > 0 {
			f.Spots.Rule += ": what is " + positionsText(from, f.spot.shape.N) + " changes the result"
		}
	}
	return harmlessFault(err)
}

// rightEverywhere reports whether a case shows no difference at its position if all outputs of the tile
// have its operands.
func (x *pairTriage) rightEverywhere(ctx context.Context, f *Case) (bool, error) {
	shape := f.spot.shape
	shape.Tiles = 1
	b := mma.NewBatch(x.p.Spec.Formats, shape)
	for i := range b.Dots() {
		b.Set(i, f.Start)
	}
	got, err := x.bothOf(ctx, b)
	if err != nil {
		return false, err
	}
	r := got(f.spot.at)
	return x.p.Equal(r[0], r[1]), nil
}

// takenFrom returns the other positions at which a case, among zeros, changes the result of the
// position at which it shows a difference, and not that of the other side.
func (x *pairTriage) takenFrom(ctx context.Context, f *Case) (from []int, err error) {
	shape := f.spot.shape
	n := shape.M * shape.N
	dots := append(slices.Repeat([]*mma.Dot{f.Start}, n), mma.NewDot(x.p.Spec.Formats, x.p.K)) // a tile of zeros comes last
	got, err := x.bothOf(ctx, minimize.Placed(x.p.Spec.Formats, shape, dots, func(tile int) int { return tile % n }))
	if err != nil {
		return nil, err
	}
	zeros := got(n*n + f.spot.at)
	for tile := range n {
		r := got(tile*n + f.spot.at)
		if tile != f.spot.at && !x.p.Equal(r[f.spot.side], zeros[f.spot.side]) && x.p.Equal(r[1-f.spot.side], zeros[1-f.spot.side]) {
			from = append(from, tile)
		}
	}
	return from, nil
}

// rightProgram is the program that a side has where it is not wrong, with its K: what explains it, or
// that of the other side, which is inferred if it is not known. 0: it was not found.
func (x *pairTriage) rightProgram(ctx context.Context, side int) (program mma.Params, k int, err error) {
	if v := x.verdict; v != nil && v.Complete() && (side == 1) == x.p.unknownIsB {
		return v.Program, v.K, nil
	}
	if x.p.baseUnit != nil {
		return x.p.base, x.p.baseUnit.Instruction().K, nil
	}
	u := x.p.side(1 - side)
	if !x.mayInfer(u) {
		return program, 0, nil
	}
	r, err := x.inferNow(ctx, u, sideNames[1-side], x.t.withinTime(inferQuickly), true)
	if err != nil || r.Params == nil {
		return program, 0, err
	}
	return *r.Params, u.Instruction().K, nil
}

// wrong is what is wrong with a side in some places.
type wrong struct {
	claim *defect.Claim
	asked int // inputs, there
}

// addTo adds it to the description of these places; a nil one adds nothing.
func (w *wrong) addTo(d *corpus.Defect, there string) {
	if w != nil {
		d.Rule += fmt.Sprintf("%s%s (%d inputs were asked there)", there, w.claim, w.asked)
		d.Identity += there + w.claim.Certain()
	}
}

// wrongThere looks for what is wrong with a side where run asks it; nil: it was not found.
func (x *pairTriage) wrongThere(ctx context.Context, where string, side int, run runner) (*wrong, error) {
	program, k, err := x.rightProgram(ctx, side)
	if k == 0 || err != nil {
		return nil, err
	}
	x.say("looking for what is different " + where + " of " + x.p.Name())
	asked := 0
	ask := harmless(func(ctx context.Context, dots []*mma.Dot) ([]uint64, error) {
		asked += len(dots)
		return run(ctx, dots)
	})
	var dots []*mma.Dot
	for _, c := range slices.Concat(x.d.Unnamed, x.d.Agree) {
		if len(dots) < spotCases {
			dots = append(dots, x.p.Dot(x.t.Seed, c.CaseRef))
		}
	}
	u := &defect.Unit{Formats: x.p.Spec.Formats, K: k, Program: program, Policy: x.p.policy(), Seed: x.t.Seed, Ask: ask, Single: true, Budget: x.budget(true), Workers: x.t.Workers}
	answers, err := ask(ctx, dots)
	if err != nil {
		return nil, harmlessFault(err)
	}
	for i, d := range dots {
		u.Cases = append(u.Cases, defect.Case{Dot: d, Want: answers[i]})
	}
	claim, err := defect.Find(ctx, u)
	if claim == nil || err != nil {
		return nil, err
	}
	return &wrong{claim, asked}, nil
}

// run runs dot products at the position, each in a tile of zeros.
func (s *spot) run(ctx context.Context, u devices.Unit, f mma.Formats, dots []*mma.Dot) ([]uint64, error) {
	n, w := s.shape.M*s.shape.N, f.D.Width()
	var codes []uint64
	for some := range slices.Chunk(dots, max(1, spotBatch/n)) {
		b, out := minimize.Placed(f, s.shape, some, func(int) int { return s.at }), make([]byte, len(some)*n*w)
		if err := u.Run(ctx, b, out); err != nil {
			return nil, err
		}
		for i := range some {
			codes = append(codes, mma.Load(out, w, i*n+s.at))
		}
	}
	return codes, nil
}
