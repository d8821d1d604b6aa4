//go:build linux

package table

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strconv"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/harness"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// campaign does what mmafuzz run does on a fault, with one worker. When the fault shows, it
// writes foundAt and the number of dot products to the file in which an engine counts its
// executions, and ends the process.
func campaign(fault, seedText string) error {
	seed, err := strconv.ParseUint(seedText, 10, 64)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(harness.Faults, func(f harness.Fault) bool { return f.Name == fault })
	pair, err := harness.OpenPair(harness.FaultPair(&harness.Faults[at]))
	if err != nil {
		return err
	}
	w := &watch{policy: oracle.DefaultPolicy(pair.A.Instruction().Unknown, pair.B.Instruction().Unknown)}
	pair.A, pair.B = &side{pair.A, w, false}, &side{pair.B, w, true}
	c, err := fuzz.New(fuzz.Config{Pairs: []devices.Pair{pair}, Seed: seed, Workers: 1})
	if err != nil {
		return err
	}
	return c.Run(context.Background())
}

// watch compares the results of the two sides.
type watch struct {
	policy oracle.Policy
	first  []byte // of A
	dots   int
}

// side is a unit of a pair whose results are watched.
type side struct {
	devices.Unit
	w      *watch
	second bool
}

func (s *side) BatchSize() int { return devices.BatchSize(s.Unit) }

func (s *side) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	err := s.Unit.Run(ctx, in, out)
	if err != nil || !s.second {
		s.w.first = append(s.w.first[:0], out...)
		return err
	}
	if !bytes.Equal(s.w.first, out) {
		width := in.D.Width()
		for i := range in.Dots() {
			if oracle.Compare(in.D, s.w.policy, mma.Load(s.w.first, width, i), mma.Load(out, width, i)) != oracle.Same {
				s.w.found(s.w.dots + i + 1)
			}
		}
	}
	s.w.dots += in.Dots()
	return nil
}

func (w *watch) found(dots int) {
	if err := os.WriteFile(os.Getenv(harness.CountVar), []byte(foundAt+strconv.Itoa(dots)), 0o666); err != nil {
		fail(err)
	}
	os.Exit(1)
}
