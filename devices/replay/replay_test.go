package replay_test

import (
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestSilicon compares the recorded results of real GPUs with the simulators of
// their architectures: all 110,000 are equal.
func TestSilicon(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/hwvectors/*.txt.gz")
	if len(files) == 0 {
		t.Skip("recorded GPU results are not here (../shared/hwvectors beside the repository): nothing compared with silicon")
	}
	total := 0
	for _, file := range files {
		rec, err := devices.Open("replay:" + file)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range rec.Instructions() {
			sim, err := devices.Open("sim:" + i.Arch)
			if err != nil {
				t.Fatal(err)
			}
			pairs, err := devices.Pairs(rec, sim, i.Name, "")
			if err != nil {
				t.Fatal(err)
			}
			total += compare(t, pairs[0])
		}
	}
	if want := 110_000; len(files) == 14 && total != want {
		t.Errorf("%d results compared, want %d", total, want)
	}
}

func compare(t *testing.T, p devices.Pair) int {
	rec := p.A.(devices.Recorder)
	n := rec.Recorded()
	in := mma.NewBatch(p.Formats(), mma.Shape{M: 1, N: 1, K: p.K, Tiles: n})
	w := p.Formats().D.Width()
	want, got, again := make([]byte, n*w), make([]byte, n*w), make([]byte, n*w)
	rec.Load(0, in, want)
	if err := rec.Run(t.Context(), in, again); err != nil {
		t.Fatal(err)
	}
	if err := p.B.Run(t.Context(), in, got); err != nil {
		t.Fatal(err)
	}
	bad := 0
	for i := range n {
		if mma.Load(want, w, i) != mma.Load(got, w, i) {
			bad++
		}
	}
	if bad > 0 {
		t.Errorf("%s, %s: %d of %d differ", p.TargetA, p.Name(), bad, n)
	}
	if string(again) != string(want) {
		t.Errorf("%s, %s: Run does not find every recorded input", p.TargetA, p.Name())
	}
	return n
}
