package infer

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// A unit that does not give the answers of the journal again is another one by now, which is
// an error (ErrOtherInference), or the same one, which changes its answers, which is a verdict.
// The journal tells, if the earlier part of the inference has found that out: so the records
// are used up first, as if nothing had happened. Where they end, the unit itself tells: it is
// asked the same again and again.

// doubt is a difference between the journal and the unit: the first one.
type doubt struct {
	err  error
	dots []*mma.Dot // the batch
}

func (s *asker) doubted(dots []*mma.Dot, err error) {
	if s.doubt == nil {
		s.doubt = &doubt{err, dots}
	}
}

// How often a unit in doubt is asked each question of the batch, and how many questions in all,
// at least.
const (
	recheckTimes = 4
	recheckLeast = 2048
)

// recheck asks the unit in doubt again. The error is an *Unstable if it gives two answers to the
// same question now, or else that of the doubt.
func (s *asker) recheck(ctx context.Context) error {
	dots, w := s.doubt.dots, s.D.Width()
	b := s.Pack(dots, nil).Batch
	first, again := make([]byte, len(dots)*w), make([]byte, len(dots)*w)
	u := &Unstable{NaNs: true, How: "again"}
	changed := make([]bool, len(dots))
	for n := range max(recheckTimes, recheckLeast/len(dots)) {
		to := again
		if n == 0 {
			to = first
		}
		if err := s.unit.Run(ctx, b, to); devices.IsFault(err) {
			return s.doubt.err
		} else if err != nil {
			return err
		}
		if n > 0 {
			s.changes(u, dots, first, again, changed)
		}
	}
	if u.Dot == nil {
		return s.doubt.err
	}
	u.Asked = len(dots)
	return u
}

// changes adds to u the questions whose answers were others the second time; those that have
// changed before are not counted again.
func (s *asker) changes(u *Unstable, dots []*mma.Dot, first, again []byte, changed []bool) {
	f, w := s.D.Get(), s.D.Width()
	for i, d := range dots {
		x, y := mma.Load(first, w, i), mma.Load(again, w, i)
		if changed[i] || s.Same(x, y) {
			continue
		}
		changed[i] = true
		u.NaNs = u.NaNs && f.Decode(x).Class == fp.NaN && f.Decode(y).Class == fp.NaN
		if u.Changed++; u.Dot == nil {
			u.Dot, u.First, u.Second = d, x, y
		}
	}
}
