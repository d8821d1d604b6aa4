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
	const most = 1024
	v := &view{Recorder: of}
	in := &mma.Batch{}
	one := mma.NewBatch(of.Instruction().Formats, mma.Shape{M: 1, N: 1, K: of.Length(), Tiles: 1})
	d := mma.NewDot(one.Formats, one.K)
	out := make([]byte, most*of.Instruction().D.Width())
	for from := 0; from < of.Recorded(); from += most {
		in.Reset(one.Formats, mma.Shape{M: 1, N: 1, K: one.K, Tiles: min(most, of.Recorded()-from)})
		if err := of.Load(from, in, out); err != nil && !IsFault(err) {
			return nil, err
		}
		for n := range in.Tiles {
			in.Get(n, d)
			one.Set(0, d)
			switch err := with.Run(ctx, one, out); {
			case err == nil || IsFault(err):
				v.dots = append(v.dots, from+n)
			case !errors.Is(err, ErrNoRecording):
				return nil, err
			}
		}
	}
	if len(v.dots) == of.Recorded() {
		return of, nil
	}
	v.dots = slices.Clip(v.dots)
	return v, nil
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
