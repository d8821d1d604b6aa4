package atlas

import (
	"context"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/bench/measure"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// measured is the processor time that the measurement of a model takes.
const measured = 2 * time.Millisecond

// measure measures how fast the models are, one after the other.
func (m *maker) measure(ctx context.Context) error {
	unlock := measure.Lock()
	defer unlock()
	done := 0
	for at, all := range m.alike {
		i := all[0]
		u, err := devices.OpenUnit("sim:"+i.Arch, i.Name, "")
		if err != nil {
			return err
		}
		b := measure.Batch(i, mma.Shape{M: 16, N: 8, K: i.K, Tiles: 8}, 1, measure.Raw)
		out := make([]byte, b.Dots()*i.D.Width())
		runs, began, taken := 0, measure.Thread(), time.Duration(0)
		for taken < measured {
			if err := u.Run(ctx, b, out); err != nil {
				return err
			}
			runs++
			taken = measure.Thread() - began
		}
		m.speeds[at] = float64(runs*b.Dots()) / taken.Seconds()
		done++
		m.note("measuring models", done, len(m.alike))
	}
	return nil
}
