package finding

import (
	"context"
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
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
	return p.dots(seed, []Sample{{CaseRef: ref}})[0]
}

// dots returns the operands of cases.
func (p *Pair) dots(seed uint64, ss []Sample) []*mma.Dot {
	var fill gen.Filler
	sources, out := map[string]gen.Source{}, make([]*mma.Dot, len(ss))
	for i := range ss {
		name := ss[i].Source
		if name == Recorded {
			out[i] = p.recorded(int(ss[i].Index))
			continue
		}
		src, ok := sources[name]
		if !ok {
			src = SourceOf(name)
			sources[name] = src
		}
		out[i] = fill.Dot(src, name, p.Spec, seed, ss[i].Index)
	}
	return out
}

func (p *Pair) recorded(index int) *mma.Dot {
	b := mma.NewBatch(p.Spec.Formats, mma.Shape{M: 1, N: 1, K: p.K, Tiles: 1})
	_ = p.Recorder.Load(index, b, make([]byte, p.Spec.D.Width())) // after an error too b has the operands
	d := mma.NewDot(p.Spec.Formats, p.K)
	b.Get(0, d)
	return d
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
	if class := oracle.Compare(x.p.Spec.D, x.p.Policy, alone[0], alone[1]); where <= minimize.Corner && class != oracle.Same {
		f.A, f.B, f.Class = alone[0], alone[1], class
		return nil
	}
	f.Bucket, f.Place = string(triage.Layout), where.String()
	if where == minimize.Original {
		f.Spots, f.spot, err = x.spots(ctx, tile, output)
	}
	return err
}

// spots says at which positions of its tile, among zeros, a dot product shows a difference, as a
// defect of the one side whose results depend on the position. It returns nil if there is no such
// side, if the positions are not those that were found one by one: the first is none of them, or if
// a result is another when it is asked for again.
func (x *pairTriage) spots(ctx context.Context, tile *mma.Batch, output int) (*corpus.Defect, *spot, error) {
	b := minimize.Positions(tile, output)
	got, err := x.bothOf(ctx, b)
	if err != nil {
		return nil, nil, harmlessFault(err)
	}
	again, err := x.bothOf(ctx, b)
	if err != nil {
		return nil, nil, harmlessFault(err)
	}
	n := tile.M * tile.N
	var at []int
	var varies [2]bool
	first := got(0)
	for i := range n {
		r := got(i*n + i)
		if !x.p.alike(r, again(i*n+i)) {
			return nil, nil, nil
		}
		if !x.p.Equal(r[0], r[1]) {
			at = append(at, i)
		}
		for s := range varies {
			varies[s] = varies[s] || !x.p.Equal(r[s], first[s])
		}
	}
	if varies[0] == varies[1] || !slices.Contains(at, output) || at[0] == 0 {
		return nil, nil, nil
	}
	s := &spot{shape: mma.Shape{M: tile.M, N: tile.N, K: tile.K}, at: at[0]}
	d := &corpus.Defect{Target: x.p.TargetA, Confirmed: len(at), Beside: n - len(at), Tested: n,
		Rule: fmt.Sprintf("its result depends on the position: with zeros in the rest of a tile of %d x %d this input gives another result %s", tile.M, tile.N, positionsText(at, tile.N))}
	if varies[1] {
		d.Target, s.side = x.p.TargetB, 1
	}
	d.Identity = d.Target + ": " + d.Rule
	return d, s, nil
}

// positionsText writes positions of a tile of n columns: "in rows 8 to 15 of column 7".
func positionsText(at []int, n int) string {
	var rows, columns []int
	for _, i := range at {
		rows, columns = append(rows, i/n), append(columns, i%n)
	}
	slices.Sort(columns)
	rows, columns = slices.Compact(rows), slices.Compact(columns)
	if len(rows)*len(columns) == len(at) {
		return "in " + readable.Numbers("row", rows) + " of " + readable.Numbers("column", columns)
	}
	return fmt.Sprintf("at %d positions, the first of which is row %d, column %d", len(at), at[0]/n, at[0]%n)
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
	return !x.p.Equal(r[0], r[1]), nil
}
