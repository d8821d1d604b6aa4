package replay_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// tiled writes a recording of whole tiles, 2 x 3 outputs each: A's first element is
// the row's number, B's the column's, counted over all tiles, C the output's; D is C.
// On the outputs at fault nothing is recorded.
func tiled(t testing.TB, frames, tiles int, faults []corpus.Fault) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tiles.rec")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := corpus.NewRecordingWriter(f, corpus.Header{Target: "cuda:0", Name: "lab", Date: "2026-01-02"})
	if err != nil {
		t.Fatal(err)
	}
	for frame := range frames {
		b := mma.NewBatch(half, mma.Shape{M: 2, N: 3, K: 8, Tiles: tiles})
		for r := range 2 * tiles {
			mma.Store(b.A, 2, r*8, uint64(frame*2*tiles+r))
		}
		for c := range 3 * tiles {
			mma.Store(b.B, 2, c*8, uint64(frame*3*tiles+c))
		}
		for i := range b.Dots() {
			mma.Store(b.C, 4, i, uint64(frame*b.Dots()+i))
		}
		p, err := corpus.Pack(corpus.Section{Arch: "ampere", Instruction: inst, K: 8, Generator: "raw@1", Seed: 9, First: 1000}, b, b.C, faults)
		if err == nil {
			err = w.Write(p)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return "replay:" + file
}

func recorder1(t testing.TB, name string) devices.Recorder {
	t.Helper()
	target := open(t, name)
	u, err := target.Open(&target.Instructions()[0])
	if err != nil {
		t.Fatal(err)
	}
	return u.(devices.Recorder)
}

// operands is the text of output i of tiled's tiles.
func operands(i int) string {
	tile, o := i/6, i%6
	return fmt.Sprintf("%04x %04x %08x", tile*2+o/3, tile*3+o%3, i)
}

// TestTiles replays whole tiles, output by output: as batches of them, and one by one.
func TestTiles(t *testing.T) {
	u := recorder1(t, tiled(t, 3, 4, nil))
	if u.Recorded() != 72 {
		t.Fatalf("%d recorded", u.Recorded())
	}
	in := mma.NewBatch(half, mma.Shape{M: 1, N: 1, K: 8, Tiles: 50})
	out := make([]byte, 200)
	if err := u.Load(20, in, out); err != nil {
		t.Fatal(err)
	}
	d := mma.NewDot(half, 8)
	for i := range 50 {
		in.Get(i, d)
		if got := mma.FormatDot(half, d); got != operands(20+i) || mma.Load(out, 4, i) != uint64(20+i) {
			t.Errorf("%d: %s gives %x", 20+i, got, mma.Load(out, 4, i))
		}
	}
	for _, i := range []int{0, 5, 23, 24, 47, 48, 71} {
		if got, err := ask(t, u, 8, operands(i)); err != nil || got != fmt.Sprintf("%08x", i) {
			t.Errorf("%s: %s, %v", operands(i), got, err)
		}
		if source, seed, index := u.Origin(i); source != "raw@1" || seed != 9 || index != 1000+uint64(i) {
			t.Errorf("%d comes from %s %d %d", i, source, seed, index)
		}
	}
	// A row and a column of one tile that are both there, but with another c.
	if _, err := ask(t, u, 8, "0000 0000 00000001"); !errors.Is(err, devices.ErrNoRecording) {
		t.Error(err)
	}
	env := open(t, tiled(t, 1, 1, nil)).Environment()
	if env["recorded name"] != "lab" || env["recorded date"] != "2026-01-02" {
		t.Errorf("%v", env)
	}
}

// TestFaults replays a recording of a target that failed on some outputs.
func TestFaults(t *testing.T) {
	u := recorder1(t, tiled(t, 2, 2, []corpus.Fault{{First: 3, Count: 2, What: "illegal address"}}))
	for i := range 24 {
		at := i%12 == 3 || i%12 == 4
		_, err := ask(t, u, 8, operands(i))
		var fault *devices.FaultError
		if errors.As(err, &fault) != at || at && !strings.HasSuffix(err.Error(), ": recorded: illegal address") {
			t.Errorf("%d: %v", i, err)
		}
		in := mma.NewBatch(half, mma.Shape{M: 1, N: 1, K: 8, Tiles: 1})
		err = u.Load(i, in, make([]byte, 4))
		d := mma.NewDot(half, 8)
		if in.Get(0, d); errors.As(err, &fault) != at || mma.FormatDot(half, d) != operands(i) {
			t.Errorf("loading %d: %v with %s", i, err, mma.FormatDot(half, d))
		}
	}
}

// TestOverlap finds what two recordings have in common.
func TestOverlap(t *testing.T) {
	a := recorder1(t, tiled(t, 3, 4, []corpus.Fault{{First: 7, Count: 1, What: "x"}}))
	rows := []string{operands(70) + " = 00000001", operands(7) + " = 00000002", "3c00 3c00 00000000 = 00000003", operands(8) + " = 00000004", operands(9) + " = 00000005"}
	b := recorder1(t, record(t, part{"ampere", inst, half, 8, 8, rows}))
	both, err := devices.Overlap(t.Context(), a, b)
	if err != nil || both.Recorded() != 4 || both.Length() != 8 {
		t.Fatalf("%v, %v", both, err)
	}
	in := mma.NewBatch(half, mma.Shape{M: 1, N: 1, K: 8, Tiles: 4})
	out := make([]byte, 16)
	var fault *devices.FaultError
	if err := both.Load(0, in, out); !errors.As(err, &fault) {
		t.Errorf("a fault is lost: %v", err)
	}
	d := mma.NewDot(half, 8)
	for n, i := range []int{7, 8, 9, 70} {
		in.Get(n, d)
		if mma.FormatDot(half, d) != operands(i) || mma.Load(out, 4, n) != uint64(i) {
			t.Errorf("%d: %s gives %x", n, mma.FormatDot(half, d), mma.Load(out, 4, n))
		}
		if _, _, index := both.Origin(n); index != 1000+uint64(i) {
			t.Errorf("%d: index %d", n, index)
		}
	}
	if whole, err := devices.Overlap(t.Context(), b, b); err != nil || whole != b {
		t.Errorf("with itself: %v, %v", whole, err)
	}
	none, err := devices.Overlap(t.Context(), recorder1(t, record(t, part{"ampere", inst, half, 8, 8, rows[2:3]})), a)
	if err != nil || none.Recorded() != 0 {
		t.Errorf("with nothing in common: %v, %v", none, err)
	}
	// Lengths that are not equal are no pair.
	long := open(t, record(t, part{"ampere", inst, half, 8, 16, []string{"3c00 3c00 00000000 = 3f800000"}}))
	_, err = devices.Pairs(open(t, record(t, part{"hopper", inst, half, 8, 8, rows[:1]})), long, inst, "")
	if err == nil || !strings.HasSuffix(err.Error(), "hopper/"+inst+" was recorded with dot products of 8 elements, ampere/"+inst+" with ones of 16: they have no inputs in common") {
		t.Errorf("%v", err)
	}
}
