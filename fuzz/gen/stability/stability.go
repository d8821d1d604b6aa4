// Package stability asks a unit the same several times and reports whether its answers change: a
// single answer of an unstable unit proves nothing.
//
// The API of this package is not promised: it may change in any version.
package stability

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

const (
	Runs       = 8 // of one case, to see whether it repeats itself
	SampleRuns = 3 // of each of many inputs, to see whether a unit ever changes its answers
)

// Unit is what is asked, for example a devices.Unit.
type Unit interface {
	Instruction() *mma.Instruction
	Run(ctx context.Context, in *mma.Batch, out []byte) error
}

// Answers are what a unit gave for one input, in the order of the runs.
type Answers []uint64

// Same is the number of runs that gave the most frequent answer.
func (a Answers) Same() int {
	most, times := 0, map[uint64]int{}
	for _, code := range a {
		times[code]++
		most = max(most, times[code])
	}
	return most
}

// Ask runs dot products of the same length: all of them together in each run.
func Ask(ctx context.Context, u Unit, dots []*mma.Dot, runs int) ([]Answers, error) {
	f := u.Instruction().Formats
	in, w := mma.BatchOf(f, len(dots[0].A), dots), f.D.Width()
	out := make([]byte, len(dots)*w)
	all := make([]Answers, len(dots))
	for range runs {
		if err := u.Run(ctx, in, out); err != nil {
			return nil, err
		}
		for i := range all {
			all[i] = append(all[i], mma.Load(out, w, i))
		}
	}
	return all, nil
}

// Unstable says that a unit changes its answers. It is an error where that is one.
type Unstable struct {
	Name     string // of the unit
	Changed  int    // inputs to which it gave several answers
	Inputs   int    // of so many
	Same, Of int    // of the first of these: runs that gave the most frequent answer
}

func (u *Unstable) Error() string {
	if u.Inputs == 1 {
		return fmt.Sprintf("%s is unstable: it gave the same answer to one input in %d of %d runs", u.Name, u.Same, u.Of)
	}
	return fmt.Sprintf("%s is unstable: it changed its answers to %d of %d inputs, and gave the same answer to one of them in %d of %d runs", u.Name, u.Changed, u.Inputs, u.Same, u.Of)
}

// Check asks a unit several times, and returns nil if it always gives the same. Models and
// recordings, which do, are not asked. A unit that fails on an input is not judged: nil.
func Check(ctx context.Context, name string, u devices.Unit, dots []*mma.Dot, runs int) (*Unstable, error) {
	if u.Model() != nil || devices.IsRecording(u) {
		return nil, nil
	}
	all, err := Ask(ctx, u, dots, runs)
	if devices.IsFault(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	unstable := &Unstable{Name: name, Inputs: len(dots)}
	for _, a := range all {
		same := a.Same()
		if same == len(a) {
			continue
		}
		if unstable.Changed++; unstable.Changed == 1 {
			unstable.Same, unstable.Of = same, len(a)
		}
	}
	if unstable.Changed == 0 {
		return nil, nil
	}
	return unstable, nil
}

// Sample checks a unit on a few inputs of every generator.
func Sample(ctx context.Context, name string, u devices.Unit) (*Unstable, error) {
	i := u.Instruction()
	return Check(ctx, name, u, gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 0), SampleRuns)
}
