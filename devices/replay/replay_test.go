package replay_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

var update = flag.Bool("update", false, "write testdata/silicon.tsv")

// silicon is the table of recordings that SILICON.md shows.
const silicon = "testdata/silicon.tsv"

// TestSilicon compares the recorded results of real GPUs with the simulators of
// their architectures: all 110,000 are equal.
func TestSilicon(t *testing.T) {
	tier.SkipUnderRace(t)
	files, _ := filepath.Glob("../../../shared/hwvectors/*.txt.gz")
	if len(files) == 0 {
		t.Skip("recorded GPU results are not here (../shared/hwvectors beside the repository): nothing compared with silicon")
	}
	total := 0
	var rows []string
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
			n, bad := compare(t, pairs[0])
			total += n
			gpu, _, _ := strings.Cut(filepath.Base(file), "_")
			rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%d\t%d\n", gpu, i.Arch, i.Name, n, n-bad))
		}
	}
	if want := 110_000; len(files) == 14 && total != want {
		t.Errorf("%d results compared, want %d", total, want)
	}
	slices.Sort(rows)
	checkTable(t, "GPU\tarchitecture\tinstruction\trecorded\tequal\n"+strings.Join(rows, ""))
}

func checkTable(t *testing.T, got string) {
	if *update {
		if err := os.WriteFile(silicon, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(silicon); err != nil || got != string(want) {
		t.Errorf("%s is out of date (%v); write it anew with -update", silicon, err)
	}
}

// compare returns the number of recorded results and how many of them the
// simulator does not give.
func compare(t *testing.T, p devices.Pair) (n, bad int) {
	rec := p.A.(devices.Recorder)
	n = rec.Recorded()
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
	return n, bad
}
