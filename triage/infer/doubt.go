package infer

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// If a unit's answers differ from those in the journal, there are two reasons: it is another unit
// by now, which is an error (ErrOtherInference), or it is the same unit and is unstable, which is
// a verdict. The earlier part of the inference may have found out which: so the rest of the
// journal is read first, as usual. If the journal does not say it, the unit is asked the same
// questions several times (recheck).

// doubt is the first difference between the journal and the unit.
type doubt struct {
	err  error
	dots []*mma.Dot // the batch
}

func (s *asker) doubted(dots []*mma.Dot, err error) {
	if s.doubt == nil {
		s.doubt = &doubt{err, dots}
	}
}

// How often recheck asks each question of the batch, and how many questions in all, at least.
const (
	recheckTimes = 4
	recheckLeast = 2048
)

// recheck asks the unit the questions of the doubt several times. The error is an *Unstable if it
// gives two answers to the same question now, or else that of the doubt.
func (s *asker) recheck(ctx context.Context) error {
	dots, w := s.doubt.dots, s.D.Width()
	b := s.Pack(dots, nil).Batch
	first, second := make([]byte, len(dots)*w), make([]byte, len(dots)*w)
	u := &Unstable{NaNs: true, How: "again"}
	changed := make([]bool, len(dots))
	for n := range max(recheckTimes, recheckLeast/len(dots)) {
		to := second
		if n == 0 {
			to = first
		}
		if err := s.unit.Run(ctx, b, to); devices.IsFault(err) {
			return s.doubt.err
		} else if err != nil {
			return err
		}
		if n > 0 {
			s.changes(u, dots, first, second, changed)
		}
	}
	if u.Dot == nil {
		return s.doubt.err
	}
	u.Asked = len(dots)
	return u
}

// changes adds to u the questions whose second answers differ from the first; a question that
// has been counted is not counted twice.
func (s *asker) changes(u *Unstable, dots []*mma.Dot, first, second []byte, changed []bool) {
	f, w := s.D.Get(), s.D.Width()
	for i, d := range dots {
		x, y := mma.Load(first, w, i), mma.Load(second, w, i)
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
