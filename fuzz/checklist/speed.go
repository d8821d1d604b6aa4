package checklist

import (
	"context"
	"fmt"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cuda"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// rate is a unit's speed on batches of one size.
type rate struct {
	Tiles   int     `json:"tiles"`   // of a batch
	Dots    int     `json:"dots"`    // of a batch
	Seconds float64 `json:"seconds"` // for a batch
	PerSec  float64 `json:"tiles_per_second"`
}

// speedTable is what the step speed measures for an instruction.
type speedTable struct {
	M, N   int          `json:"-"`
	Rates  []rate       `json:"rates"`
	Timing *cuda.Timing `json:"timing,omitempty"`
}

// sizes are the sizes of the batches that are measured, in tiles.
var sizes = []int{1, 16, 256, 4096}

// sampleTime is how long each size is measured, unless a single run takes longer.
const sampleTime = 100 * time.Millisecond

// speed measures every instruction.
func (r *run) speed() []part {
	return r.each(func(i *mma.Instruction, u devices.Unit, _ time.Duration) (Row, error) {
		s := speedTable{M: i.M.Min, N: i.N.Min}
		if s.M > 64 || s.M < 1 { // children take any size
			s.M, s.N = 16, 8
		}
		if s.N > 64 || s.N < 1 {
			s.N = 8
		}
		for _, tiles := range sizes {
			if time.Until(r.until) <= 0 && len(s.Rates) > 0 {
				break
			}
			rate, err := measure(r.ctx, u, mma.Shape{M: s.M, N: s.N, K: i.K, Tiles: tiles})
			if err != nil {
				return Row{Data: s}, err
			}
			s.Rates = append(s.Rates, *rate)
		}
		last := s.Rates[len(s.Rates)-1]
		text := fmt.Sprintf("%.3g tiles of %dx%d a second in batches of %d, %.0f us for one tile", last.PerSec, s.M, s.N, last.Tiles, s.Rates[0].Seconds*1e6)
		if r.checker == nil {
			return Row{Text: text, Data: s}, nil
		}
		kernels, err := r.checker()
		if err == nil {
			s.Timing, err = kernels.Time(r.ctx, i)
		}
		if err == nil {
			text += "; " + s.Timing.String()
		}
		return Row{Text: text, Data: s}, err
	})
}

// measure measures batches of one shape, with numbers that are neither special nor slow.
func measure(ctx context.Context, u devices.Unit, s mma.Shape) (*rate, error) {
	f := u.Instruction().Formats
	b := mma.NewBatch(f, s)
	for _, o := range []struct {
		buf   []byte
		id    fp.ID
		value float64
	}{{b.A, f.A, 1.5}, {b.B, f.B, 1}, {b.C, f.C, 0.5}, {b.SA, f.Scale, 1}, {b.SB, f.Scale, 1}} {
		for n := 0; n*o.id.Width() < len(o.buf); n++ {
			mma.Store(o.buf, o.id.Width(), n, o.id.Get().FromFloat64(o.value))
		}
	}
	out := make([]byte, s.Dots()*f.D.Width())
	if err := u.Run(ctx, b, out); err != nil { // not counted: the unit makes its buffers
		return nil, err
	}
	began, n := time.Now(), 0
	for time.Since(began) < sampleTime {
		if err := u.Run(ctx, b, out); err != nil {
			return nil, err
		}
		n++
	}
	each := time.Since(began).Seconds() / float64(n)
	return &rate{Tiles: s.Tiles, Dots: s.Dots(), Seconds: each, PerSec: float64(s.Tiles) / each}, nil
}
