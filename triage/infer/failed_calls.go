package infer

import (
	"context"
	"errors"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Failure is a call of the unit that failed although none of its inputs is to blame: the
// unit answered each of them when it was asked for them alone.
type Failure struct {
	Dot    *mma.Dot `json:"dot"`    // the first input of the call
	Inputs int      `json:"inputs"` // how many it had
	What   string   `json:"what"`
}

// ErrGone is the error of a unit that no longer answers anything.
var ErrGone = errors.New("the unit has stopped answering")

// rowOfFailures is the number of calls that may fail in a row before the unit is asked
// for zeros, which every unit has to answer.
const rowOfFailures = 8

// run runs the unit on a batch. It notes restarts that the unit hides by retrying, and
// gives up a unit that fails on everything.
func (s *asker) run(ctx context.Context, b *mma.Batch, out []byte) error {
	before, _ := deaths(s.unit)
	err := s.unit.Run(ctx, b, out)
	s.asked()
	if n, what := deaths(s.unit); n > before {
		s.note(b, what+"; a new one answered")
	}
	if !devices.IsFault(err) {
		s.row = 0
		return err
	}
	if s.row++; s.row < rowOfFailures {
		return err
	}
	s.row = 0
	zeros := mma.NewBatch(s.Formats, mma.Shape{M: 1, N: 1, K: s.K, Tiles: 1})
	s.stats.Queries++
	s.stats.Batches++
	if e := s.unit.Run(ctx, zeros, make([]byte, s.D.Width())); devices.IsFault(e) {
		return fmt.Errorf("%w: %d calls in a row have failed, and it fails on zeros: %v", ErrGone, rowOfFailures, e)
	} else if e != nil {
		return e
	}
	return err
}

// deaths returns how often a unit's worker has died in a call that a new one answered, and
// how it died the last time.
func deaths(u devices.Unit) (n int, last string) {
	if m, ok := u.(devices.Restarter); ok {
		return m.Restarts()
	}
	return 0, ""
}

// note records a failure on a batch whose inputs do not fail alone.
func (s *asker) note(b *mma.Batch, what string) {
	s.failures = append(s.failures, Failure{s.unpack(b, 1)[0], b.Dots(), what})
	s.stats.Failures++
}

// resume adds what an earlier part of the inference has asked to the counts.
func (s *asker) resume(c cost) {
	s.stats.Queries += c.Queries
	s.stats.Batches += c.Batches
	s.stats.Resumed += c.Queries
	s.stats.Failures += len(c.Failures)
	s.failures = append(s.failures, c.Failures...)
}

// since returns what was asked since an earlier state of the counts.
func (s *asker) since(then Stats) cost {
	return cost{s.stats.Queries - then.Queries, s.stats.Batches - then.Batches, s.failures[then.Failures:]}
}
