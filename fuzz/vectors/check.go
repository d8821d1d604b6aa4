package vectors

import (
	"context"
	"fmt"
	"io"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/stability"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Failed is a test that a unit does not pass.
type Failed struct {
	ID      string   `json:"id"`
	Comment string   `json:"comment"`
	Want    string   `json:"want"`
	Got     string   `json:"got"`
	Like    []string `json:"like,omitempty"` // instructions that fail the test, too

	// Of a test that the unit passes in some runs: it is unstable.
	Wrong int `json:"wrong,omitempty"` // runs with a wrong result
	Runs  int `json:"runs,omitempty"`

	// Codes: only the code of a NaN or the sign of a zero is another.
	Codes bool `json:"codes,omitempty"`

	input   string
	idWidth int // of all tests
}

// Unstable reports whether the unit passes the test in some runs.
func (f *Failed) Unstable() bool { return f.Runs > 0 }

// Write writes the failure for people, in a number of columns.
func (f *Failed) Write(w io.Writer, width int) {
	text := fmt.Sprintf("%s gives %s, expected %s: %s", f.input, f.Got, f.Want, f.Comment)
	if f.Unstable() {
		text = fmt.Sprintf("%s is unstable: wrong in %d of %d runs, for example it gives %s, expected %s: %s", f.input, f.Wrong, f.Runs, f.Got, f.Want, f.Comment)
	}
	(&readable.Table{Width: width, Rows: [][]string{{fmt.Sprintf("%-*s", f.idWidth, f.ID), text}}}).Write(w, nil)
}

// Check runs the cases of a set on a unit of the same formats and calls failed for each
// that it does not pass: results are compared as the set says, and what the policy lets pass
// passes, too. A test that fails is run several times.
func Check(ctx context.Context, s *vectors.Set, cases []vectors.Case, u devices.Unit, policy oracle.Policy, failed func(*Failed) error) error {
	compare := oracle.NewComparer(s.Formats.D, policy)
	right := func(c *vectors.Case, got uint64) bool {
		return c.Right(s.Formats.D, got) || compare.Compare(got, c.Want) == oracle.Same
	}
	classes := oracle.NewComparer(s.Formats.D, oracle.Policy{NaN: oracle.ByClass, Zero: oracle.ByClass})
	b := mma.NewBatch(s.Formats, mma.Shape{M: 1, N: 1, K: s.K, Tiles: 1})
	out := make([]byte, s.Formats.D.Width())
	idWidth := 0
	for n := range cases {
		idWidth = max(idWidth, len(cases[n].ID))
	}
	for n := range cases {
		c := &cases[n]
		b.Set(0, c.Dot)
		if err := u.Run(ctx, b, out); err != nil {
			return fmt.Errorf("test %s: %w", c.ID, err)
		}
		got := mma.Load(out, s.Formats.D.Width(), 0)
		if right(c, got) {
			continue
		}
		f := &Failed{ID: c.ID, Comment: c.Comment, Want: c.D, Got: mma.FormatCode(s.Formats.D, got), Codes: classes.Compare(got, c.Want) == oracle.Same,
			input: mma.FormatDot(s.Formats, c.Dot), idWidth: idWidth}
		for _, n := range c.Fails {
			if n >= 0 && n < len(s.Others) && s.Others[n].Kind == vectors.KindInstruction {
				f.Like = append(f.Like, s.Others[n].Name)
			}
		}
		if err := f.repeat(ctx, c, u, right); err != nil {
			return fmt.Errorf("test %s: %w", c.ID, err)
		}
		if err := failed(f); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs a failed test several times. It is unstable if it passes in some run.
func (f *Failed) repeat(ctx context.Context, c *vectors.Case, u devices.Unit, right func(*vectors.Case, uint64) bool) error {
	if u.Model() != nil || devices.IsRecording(u) {
		return nil
	}
	answers, err := stability.Ask(ctx, u, []*mma.Dot{c.Dot}, stability.Runs-1)
	if err != nil {
		return err
	}
	wrong := 1
	for _, code := range answers[0] {
		if !right(c, code) {
			wrong++
		}
	}
	if wrong < stability.Runs {
		f.Wrong, f.Runs = wrong, stability.Runs
	}
	return nil
}
