package record

import (
	"context"
	"errors"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// what returns the text of a fault, without the target's name.
func what(err error) string {
	var fault *devices.FaultError
	if errors.As(err, &fault) {
		return fault.What
	}
	return err.Error()
}

// blame runs a batch on which a target has failed, tile by tile, and returns the outputs on
// which it fails. After maxFaults of them the rest is not tried.
func blame(ctx context.Context, u devices.Unit, b *mma.Batch, out []byte) ([]corpus.Fault, error) {
	clear(out)
	var faults []corpus.Fault
	per, width := b.M*b.N, b.Formats.D.Width()
	failed := 0
	for tile := range b.Tiles {
		first := tile * per
		if failed > maxFaults {
			return append(faults, corpus.Fault{First: first, Count: b.Dots() - first, What: "not tried after that"}), nil
		}
		part := b.Part(tile, 1)
		d := out[first*width : (first+per)*width]
		err := u.Run(ctx, part, d)
		switch {
		case err == nil:
			continue
		case !devices.IsFault(err):
			return nil, err
		}
		guilty, err := blameTile(ctx, u, part, d, what(err))
		if err != nil {
			return nil, err
		}
		for _, f := range guilty {
			failed += f.Count
			f.First += first
			faults = append(faults, f)
		}
	}
	if faults == nil { // it fails on several tiles together, and on no tile alone
		clear(out)
		return []corpus.Fault{{Count: b.Dots(), What: "fails on several tiles together, on none of them alone"}}, nil
	}
	return faults, nil
}

// blameTile runs each output of a tile alone. If the target fails on none of them, all are
// at fault.
func blameTile(ctx context.Context, u devices.Unit, tile *mma.Batch, out []byte, why string) ([]corpus.Fault, error) {
	clear(out)
	if tile.Dots() == 1 {
		return []corpus.Fault{{Count: 1, What: why}}, nil
	}
	one := mma.NewBatch(tile.Formats, mma.Shape{M: 1, N: 1, K: tile.K, Tiles: 1})
	d := mma.NewDot(tile.Formats, tile.K)
	width := tile.Formats.D.Width()
	var faults []corpus.Fault
	for i := range tile.Dots() {
		if len(faults) > maxFaults {
			faults = append(faults, corpus.Fault{First: i, Count: tile.Dots() - i, What: "not tried after that"})
			break
		}
		tile.Get(i, d)
		one.Set(0, d)
		code := out[i*width : (i+1)*width]
		err := u.Run(ctx, one, code)
		switch {
		case devices.IsFault(err):
			clear(code)
			faults = append(faults, corpus.Fault{First: i, Count: 1, What: what(err)})
		case err != nil:
			return nil, err
		}
	}
	if faults == nil {
		clear(out)
		return []corpus.Fault{{Count: tile.Dots(), What: why + " (on none of its outputs alone)"}}, nil
	}
	return faults, nil
}
