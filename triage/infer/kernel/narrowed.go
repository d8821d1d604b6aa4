package kernel

import (
	"context"
	"errors"
	"slices"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Code may round its results to a format and hand them out in a wider one. Nothing is rounded by that, so it is
// inferred as code with results in the narrower one.

// narrower returns the formats to which results may have been rounded before, those of the fewest bits first.
func narrower(f mma.Formats) (all []fp.ID) {
	if f.C != fp.None || f.Scale != fp.None {
		return nil
	}
	for _, id := range []fp.ID{fp.E5M2, fp.E4M3, fp.FP16, fp.BF16, fp.FP32} {
		if !f.D.Integer() && id.Width() < f.D.Width() {
			all = append(all, id)
		}
	}
	return all
}

// fit keeps those formats that have all results. NaNs are in all of them.
func (b *box) fit(d []byte) {
	from, w := b.D.Get(), b.D.Width()
	for n := 0; n < len(d)/w && len(b.fits) > 0; n++ {
		v := from.Float64(mma.Load(d, w, n))
		b.fits = slices.DeleteFunc(b.fits, func(id fp.ID) bool { _, ok := codeOf(id, v); return !ok })
	}
}

// codeOf returns the code of a number in a format; false if the format does not have it.
func codeOf(id fp.ID, v float64) (uint64, bool) {
	code := id.Get().Nearest(v)
	return code, v != v || id.Get().Float64(code) == v
}

// errNarrow says that results are rounded to a narrower format.
var errNarrow = errors.New("all results are numbers of a narrower format")

// certainlyNarrow reports whether results cannot but be rounded: products alone have more bits.
func (b *box) certainlyNarrow() bool {
	return len(b.fits) > 0 && b.A.Get().FracBits+b.B.Get().FracBits > b.fits[0].Get().FracBits
}

// narrowed is a unit whose results are numbers of a narrower format, in that format.
type narrowed struct {
	devices.Unit
	inst mma.Instruction
}

// errWide is a result that the narrower format does not have.
var errWide = errors.New("a result is no number of the narrower format")

func (u *narrowed) Instruction() *mma.Instruction { return &u.inst }

func (u *narrowed) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	wide := *in
	wide.Formats = u.Unit.Instruction().Formats
	w, n := wide.D.Width(), len(out)/u.inst.D.Width()
	d := make([]byte, n*w)
	if err := u.Unit.Run(ctx, &wide, d); err != nil {
		return err
	}
	for i := range n {
		code, ok := codeOf(u.inst.D, wide.D.Get().Float64(mma.Load(d, w, i)))
		if !ok {
			return errWide
		}
		mma.Store(out, u.inst.D.Width(), i, code)
	}
	return nil
}

// inferNarrowed infers a unit all of whose results so far are numbers of a narrower format; nil: as such it is not
// explained.
func (b *box) inferNarrowed(ctx context.Context, o Options) (*Result, error) {
	u := &narrowed{b.unit, *b.unit.Instruction()}
	u.inst.D = b.fits[0]
	box, err := newBox(u, b.Shape)
	if err != nil {
		return nil, nil
	}
	box.fits, box.products = nil, b.products
	r, err := box.infer(ctx, o)
	if errors.Is(err, errWide) {
		return nil, nil
	}
	if err != nil || r.Verdict != Found {
		return nil, err
	}
	r.Kernel.Epilogue = append(r.Kernel.Epilogue, schedule.Step{Op: "cast", Format: b.D})
	return r, nil
}
