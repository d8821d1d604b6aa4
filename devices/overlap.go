package devices

import (
	"context"
	"errors"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Overlap returns a view of a recorder that has only the dot products which another
// recorder has too, or the recorder itself if that has all of them. The lengths of the
// two must be equal.
func Overlap(ctx context.Context, of, with Recorder) (Recorder, error) {
	one := mma.NewBatch(of.Instruction().Formats, mma.Shape{M: 1, N: 1, K: of.Length(), Tiles: 1})
	out := make([]byte, of.Instruction().D.Width())
	dots, err := recordedWhere(of, func(d *mma.Dot) (bool, error) {
		one.Set(0, d)
		err := with.Run(ctx, one, out)
		if errors.Is(err, ErrNoRecording) {
			return false, nil
		}
		return err == nil || IsFault(err), noFault(err)
	})
	if err != nil {
		return nil, err
	}
	if len(dots) == of.Recorded() {
		return of, nil
	}
	return &view{of, dots}, nil
}

// noFault returns an error, unless it is a target's failure on an input.
func noFault(err error) error {
	if IsFault(err) {
		return nil
	}
	return err
}

// recordedWhere returns the numbers of the recorded dot products for which keep returns true. keep
// may change the dot product.
func recordedWhere(r Recorder, keep func(*mma.Dot) (bool, error)) ([]int, error) {
	const most = 1024
	var dots []int
	in, d := &mma.Batch{}, mma.NewDot(r.Instruction().Formats, r.Length())
	out := make([]byte, most*r.Instruction().D.Width())
	for from := 0; from < r.Recorded(); from += most {
		in.Reset(r.Instruction().Formats, mma.Shape{M: 1, N: 1, K: r.Length(), Tiles: min(most, r.Recorded()-from)})
		if err := noFault(r.Load(from, in, out)); err != nil {
			return nil, err
		}
		for n := range in.Tiles {
			in.Get(n, d)
			kept, err := keep(d)
			if err != nil {
				return nil, err
			}
			if kept {
				dots = append(dots, from+n)
			}
		}
	}
	return slices.Clip(dots), nil
}

// view is some of the dot products of a recorder.
type view struct {
	Recorder
	dots []int // in ascending order
}

func (v *view) Recorded() int                                { return len(v.dots) }
func (v *view) Origin(n int) (source string, seed, i uint64) { return v.Recorder.Origin(v.dots[n]) }

// Load loads runs of neighbours as one.
func (v *view) Load(from int, in *mma.Batch, out []byte) error {
	var fault error
	width := v.Instruction().D.Width()
	for n := 0; n < in.Tiles; {
		first := v.dots[from+n]
		run := 1
		for n+run < in.Tiles && v.dots[from+n+run] == first+run {
			run++
		}
		part := in.Part(n, run)
		if err := v.Recorder.Load(first, part, out[n*width:(n+run)*width]); IsFault(err) {
			fault = err
		} else if err != nil {
			return err
		}
		n += run
	}
	return fault
}
