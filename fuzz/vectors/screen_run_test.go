package vectors

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// stuckLane is a unit with a wrong bit in output 5. It interrupts its caller after a number of calls.
type stuckLane struct {
	i     *mma.Instruction
	model *sim.Model
	left  int
	stop  context.CancelFunc
}

func (u *stuckLane) Instruction() *mma.Instruction { return u.i }
func (u *stuckLane) Model() *mma.Params            { return nil }

func (u *stuckLane) Run(_ context.Context, in *mma.Batch, out []byte) error {
	u.model.Run(in, out)
	w := in.Formats.D.Width()
	mma.Store(out, w, 5, mma.Load(out, w, 5)^8)
	if u.left--; u.left == 0 {
		u.stop()
	}
	return nil
}

// TestScreenResumed interrupts a screening within its second pass, and again within the next.
func TestScreenResumed(t *testing.T) {
	i, err := mma.Lookup("volta", "mma.m8n8k4.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	s := &Screen{Instruction: i.FullName(), Random: 200, Rates: []ScreenRate{{1, 50, 25, 12.5}}, inst: *i, model: m}
	if s.dots, err = s.draw("normal@1", 1, 0, 4); err != nil {
		t.Fatal(err)
	}
	s.want = s.run(s.dots, nil)
	shown := 0
	o := &Screening{Time: 1000 * time.Hour, Target: "mine", File: filepath.Join(t.TempDir(), "state"), Wrong: func(*ScreenWrong) error { shown++; return nil }}
	run := func(calls int) (*Screened, error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		return s.Run(ctx, &stuckLane{i, m, calls, cancel}, o)
	}
	for _, tc := range []struct{ calls, passes, results int }{{6, 1, 6}, {9, 3, 15}} {
		got, err := run(tc.calls)
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if len(got.Speeds) != 1 || got.Speeds[0].Screen <= 0 || got.Speeds[0].Screen != 2*got.Speeds[0].Normal {
			t.Errorf("%+v", got.Speeds)
		}
		got.Microseconds, got.Speeds = 0, nil // what the machine took
		want := &Screened{Passes: tc.passes, Lanes: 64, Results: uint64(64 * tc.results), Wrong: uint64(tc.results), WrongLanes: 1}
		if d := cmp.Diff(want, got); d != "" || shown != 4 {
			t.Errorf("%d shown, %s", shown, d)
		}
	}
	o.Time = 1
	if got, err := run(-1); err != nil || got.Results != 64*15 {
		t.Errorf("what is done is done again: %+v, %v", got, err)
	}
	for _, change := range [][2]string{{`"target":"mine"`, `"target":"other"`}, {`"lanes":64`, `"lanes":63`}, {`"passes":3`, `"passes":-3`}, {`[5]`, `[5,4]`}, {`[5]`, `[64]`}, {`{`, `[`}} {
		text, err := os.ReadFile(o.File)
		if err != nil {
			t.Fatal(err)
		}
		damaged := *o
		damaged.File += ".damaged"
		changed := strings.Replace(string(text), change[0], change[1], 1)
		if err := os.WriteFile(damaged.File, []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Run(t.Context(), &stuckLane{i: i, model: m}, &damaged); err == nil || changed == string(text) {
			t.Errorf("%s is not refused", change[1])
		}
	}
}
