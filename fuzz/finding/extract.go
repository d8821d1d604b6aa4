package finding

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// A case is extracted from the tile that showed it, as the operands of one dot product. If
// these alone do not show the difference, what surrounds them in the tile matters.

// Dot returns the operands of a case.
func (p *Pair) Dot(seed uint64, ref CaseRef) *mma.Dot {
	if ref.Source == Recorded {
		b := mma.NewBatch(p.Spec.Formats, mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
		_ = p.Recorder.Load(int(ref.Index), b, make([]byte, p.Spec.D.Width())) // after an error too b has the operands
		d := mma.NewDot(p.Spec.Formats, p.K)
		b.Get(0, d)
		return d
	}
	return SourceOf(ref.Source).Dot(p.Spec, seed, ref.Index)
}

// SourceOf returns the source of a name that this package has checked or made.
func SourceOf(name string) gen.Source {
	src, err := gen.ParseSource(name)
	if err != nil {
		panic("fuzz: " + err.Error())
	}
	return src
}

// extract looks at a case that gives other results alone than in its tile. If its
// tile, or its position in one of zeros, is needed to show a difference, the
// layout matters; else the results that it gives alone are the ones to explain.
func (x *pairTriage) extract(ctx context.Context, f *Case, alone [2]uint64) error {
	tile, output := SourceOf(f.Origin.Source).Tile(x.p.Spec, x.t.Seed, f.Origin.Index)
	where, err := minimize.Tile(ctx, tile, 0, output, x.differs)
	if err != nil {
		return err
	}
	if where <= minimize.Corner {
		f.A, f.B = alone[0], alone[1]
		f.Class = oracle.Compare(x.p.Spec.D, x.p.Policy, f.A, f.B)
		if f.Class != oracle.Same {
			return nil
		}
	}
	f.Bucket, f.Place = string(triage.Layout), where.String()
	return nil
}

// differs runs one tile and reports whether the two sides differ in an output. They do not
// where one fails.
func (x *pairTriage) differs(ctx context.Context, b *mma.Batch, output int) (bool, error) {
	got, err := x.bothOf(ctx, b)
	if devices.IsFault(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	r := got(output)
	return oracle.Compare(x.p.Spec.D, x.p.Policy, r[0], r[1]) != oracle.Same, nil
}
