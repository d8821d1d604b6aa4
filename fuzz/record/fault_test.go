package record_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/record"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// bad is sim:hopper with something wrong.
type bad struct {
	devices.Target
	open func(i *mma.Instruction) error
	env  map[string]string // of units
	run  func(i *mma.Instruction, in *mma.Batch) error
}

func (b *bad) Open(i *mma.Instruction) (devices.Unit, error) {
	if b.open != nil {
		if err := b.open(i); err != nil {
			return nil, err
		}
	}
	u, err := b.Target.Open(i)
	return &badUnit{Unit: u, bad: b}, err
}

type badUnit struct {
	devices.Unit
	bad *bad
}

func (u *badUnit) Environment() map[string]string { return u.bad.env }

// Run spoils out when it fails, as a unit may.
func (u *badUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if u.bad.run != nil {
		if err := u.bad.run(u.Instruction(), in); err != nil {
			for i := range out {
				out[i] = 0xaa
			}
			return err
		}
	}
	return u.Unit.Run(ctx, in, out)
}

var errIllegal = &devices.FaultError{Target: "bad", What: "illegal instruction"}

const half = "mma.m16n8k8.f32.f16.f16.f32"

// dislikes reports whether a batch has an output whose first element of A is a code
// of a class.
func dislikes(in *mma.Batch, mask, code uint64) bool {
	d := mma.NewDot(in.Formats, in.K)
	for i := range in.Dots() {
		if in.Get(i, d); d.A[0]&mask == code {
			return true
		}
	}
	return false
}

// TestFaults records a target that fails on some inputs: these and no others are
// faults, the rest is recorded, and other instructions go on.
func TestFaults(t *testing.T) {
	cfg := config(t)
	good := run(t, cfg)
	want, err := corpus.ReadRecording(bytes.NewReader(good))
	if err != nil {
		t.Fatal(err)
	}
	// Rows of tiles, 8 outputs each, and single dot products.
	guilty := func(d *mma.Dot, inst string) bool { return inst == half && d.A[0]&0x1ff == 0x41 }
	cfg = config(t)
	cfg.Target = &bad{Target: cfg.Target, run: func(i *mma.Instruction, in *mma.Batch) error {
		d := mma.NewDot(in.Formats, in.K)
		for n := range in.Dots() {
			if in.Get(n, d); guilty(d, i.Name) {
				return errIllegal
			}
		}
		return nil
	}}
	complete := run(t, cfg)
	rec, err := corpus.ReadRecording(bytes.NewReader(complete))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for f, d := range rec.Data {
		at := map[int]bool{}
		for _, x := range d.Faults {
			if x.Count != 1 || x.What != "illegal instruction" {
				t.Errorf("frame %d: %+v", f, x)
			}
			at[x.First] = true
		}
		dot := mma.NewDot(d.Batch.Formats, d.Batch.K)
		for i := range d.Batch.Dots() {
			d.Batch.Get(i, dot)
			if at[i] != guilty(dot, d.Section.Instruction) {
				t.Fatalf("frame %d, output %d: fault %v", f, i, at[i])
			}
			code := mma.Load(want.Data[f].D, 4, i)
			if at[i] {
				code = 0
				n++
			}
			if got := mma.Load(d.D, 4, i); got != code {
				t.Fatalf("frame %d, output %d: %x, want %x", f, i, got, code)
			}
		}
		if cmp.Diff(want.Data[f].Batch, d.Batch) != "" {
			t.Errorf("frame %d has other inputs", f)
		}
	}
	if n < 9 || len(rec.Problems) != 0 || len(rec.Data) != len(want.Data) {
		t.Errorf("%d faults, %d problems, %d frames", n, len(rec.Problems), len(rec.Data))
	}
	goOn(t, cfg, complete)
}

// goOn cuts a recording at some places and goes on.
func goOn(t *testing.T, cfg record.Config, complete []byte) {
	t.Helper()
	for part := range 5 {
		if err := os.WriteFile(cfg.File, complete[:len(complete)*part/5], 0o666); err != nil {
			t.Fatal(err)
		}
		cfg.Workers = 1 + part
		if !bytes.Equal(run(t, cfg), complete) {
			t.Errorf("cut after %d fifths: other bytes in the end", part)
		}
	}
}

// TestTooManyFaults records a target on which most of an instruction fails: it is
// given up, the next one goes on.
func TestTooManyFaults(t *testing.T) {
	for name, tc := range map[string]struct {
		disliked [2]uint64 // mask and code
		faults   int
		runs     int64 // at most
	}{
		"every input":  {[2]uint64{0, 0}, 1024, 200},
		"every eighth": {[2]uint64{0x7, 0x3}, 688, 2200}, // most of these were not tried any more
	} {
		cfg := config(t)
		var runs atomic.Int64
		cfg.Workers = 1
		cfg.Target = &bad{Target: cfg.Target, run: func(i *mma.Instruction, in *mma.Batch) error {
			runs.Add(1)
			if i.Name == half && dislikes(in, tc.disliked[0], tc.disliked[1]) {
				return errIllegal
			}
			return nil
		}}
		res, err := record.Run(t.Context(), cfg)
		if err != nil || !res.Complete || res.Done != res.Of {
			t.Fatalf("%s: %+v, %v", name, res, err)
		}
		want := []corpus.Problem{{Arch: "hopper", Instruction: half, What: "given up: it failed on more than 32 outputs"}}
		if diff := cmp.Diff(want, res.Problems); diff != "" || res.Faults != tc.faults {
			t.Errorf("%s: %d faults: %s", name, res.Faults, diff)
		}
		if n := runs.Load(); n > tc.runs {
			t.Errorf("%s: it was tried %d times", name, n)
		}
		rec, err := inMemory(cfg.File)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(rec.Data); n != 1+3 {
			t.Errorf("%s: %d frames", name, n)
		}
		var said strings.Builder
		res.Summary(record.Names{}, time.Second).Write(&said, 1000)
		// A chunk of the instruction that was given up is there, and all of the other one.
		if want := ": 2 instructions, 1,255 of 3,821 dot products (2,566 were not tried), "; !strings.Contains(said.String(), want) {
			t.Errorf("%s: %s, want %s", name, &said, want)
		}
		complete, err := os.ReadFile(cfg.File)
		if err != nil {
			t.Fatal(err)
		}
		goOn(t, cfg, complete)
	}
}

// TestFaultOfTiles records targets that fail on nothing alone: on a whole tile, or
// on several together.
func TestFaultOfTiles(t *testing.T) {
	for name, tc := range map[string]struct {
		fails func(in *mma.Batch) bool
		first corpus.Fault
		n     int
	}{
		"tile":     {func(in *mma.Batch) bool { return in.Dots() > 1 }, corpus.Fault{First: 0, Count: 128, What: "illegal instruction (on none of its outputs alone)"}, 2},
		"together": {func(in *mma.Batch) bool { return in.Tiles > 1 }, corpus.Fault{First: 0, Count: 1024, What: "fails on several tiles together, on none of them alone"}, 1},
	} {
		cfg := config(t)
		cfg.Plan.Entries = cfg.Plan.Entries[:1]
		cfg.Target = &bad{Target: cfg.Target, run: func(_ *mma.Instruction, in *mma.Batch) error {
			if tc.fails(in) {
				return errIllegal
			}
			return nil
		}}
		if _, err := record.Run(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
		rec, err := inMemory(cfg.File)
		if err != nil {
			t.Fatal(err)
		}
		if f := rec.Data[0].Faults; len(f) != tc.n || f[0] != tc.first {
			t.Errorf("%s: %+v", name, f)
		}
		if strings.Trim(string(rec.Data[0].D), "\x00") != "" {
			t.Errorf("%s: there are results", name)
		}
	}
}

// TestOpenFails records a target that cannot open an instruction.
func TestOpenFails(t *testing.T) {
	cfg := config(t)
	cfg.Target = &bad{Target: cfg.Target, open: func(i *mma.Instruction) error {
		if i.Name == half {
			return errors.New("the self-test fails: column 3 is wrong")
		}
		return nil
	}}
	complete := run(t, cfg)
	rec, err := corpus.ReadRecording(bytes.NewReader(complete))
	if err != nil {
		t.Fatal(err)
	}
	want := []corpus.Problem{{Arch: "hopper", Instruction: half, What: "the self-test fails: column 3 is wrong"}}
	if diff := cmp.Diff(want, rec.Problems); diff != "" || len(rec.Data) != 3 || !rec.Complete {
		t.Errorf("%d frames: %s", len(rec.Data), diff)
	}
	goOn(t, cfg, complete)
}

// TestTrouble records a target that breaks down, not because of its input: what is
// recorded is kept, and the same call goes on.
func TestTrouble(t *testing.T) {
	want := run(t, config(t))
	cfg := config(t)
	cfg.Workers = 1
	hopper, left := cfg.Target, 3
	cfg.Target = &bad{Target: hopper, run: func(*mma.Instruction, *mma.Batch) error {
		if left--; left < 0 {
			return errors.New("the cable was pulled")
		}
		return nil
	}}
	res, err := record.Run(t.Context(), cfg)
	if err == nil || err.Error() != half+": the cable was pulled" || res.Complete || res.Done != 2560+0 {
		t.Fatalf("%+v, %v", res, err)
	}
	cfg.Target = hopper
	if !bytes.Equal(run(t, cfg), want) {
		t.Error("other bytes in the end")
	}
	// While single inputs are blamed, too.
	cfg = config(t)
	cfg.Target = &bad{Target: hopper, run: func(_ *mma.Instruction, in *mma.Batch) error {
		if in.Tiles > 1 {
			return errIllegal
		}
		return errors.New("the cable was pulled")
	}}
	if res, err := record.Run(t.Context(), cfg); err == nil || err.Error() != half+": the cable was pulled" || res.Done != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestNotes records a target whose units say what else results depend on.
func TestNotes(t *testing.T) {
	cfg := config(t)
	target := &bad{Target: cfg.Target, env: map[string]string{"opcode": "HMMA"}}
	cfg.Target = target
	complete := run(t, cfg)
	rec, err := corpus.ReadRecording(bytes.NewReader(complete))
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"opcode": "HMMA"}
	want := []corpus.Note{{Arch: "hopper", Instruction: half, Environment: env}, {Arch: "hopper", Instruction: "mma.m16n8k8.f32.tf32.tf32.f32", Environment: env}}
	if diff := cmp.Diff(want, rec.Notes); diff != "" {
		t.Error(diff)
	}
	goOn(t, cfg, complete)
	if err := os.WriteFile(cfg.File, complete[:len(complete)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	target.env = map[string]string{"opcode": "FFMA"}
	_, err = record.Run(t.Context(), cfg)
	if want := cfg.File + ": the file holds another recording: of " + half + ", its opcode is HMMA, here it is FFMA"; err == nil || err.Error() != want {
		t.Errorf("with another opcode: %v", err)
	}
	u := open(t, "replay:"+cfg.File)
	unit, err := u.Open(&u.Instructions()[0])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"recorded opcode": "HMMA"}, unit.(devices.Provenance).Environment()); diff != "" {
		t.Error(diff)
	}
}
