package fuzz

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// compactConfig is a campaign of four epochs whose journal is compacted twice.
func compactConfig(t *testing.T) Config {
	cfg := journalConfig(t)
	cfg.Count, cfg.Workers, cfg.tailMost = 100_000, 1, 20_000
	cfg.Pairs = append(cfg.Pairs, openPairs(t, "sim:turing", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32")...)
	return cfg
}

// diskOf reads the journal and its snapshot, "" if there is none.
func diskOf(t *testing.T, cfg Config) (all [2]string) {
	t.Helper()
	for i, suffix := range []string{"", stateSuffix} {
		body, err := os.ReadFile(cfg.Journal + suffix)
		if err != nil && !(i == 1 && os.IsNotExist(err)) {
			t.Fatal(err)
		}
		all[i] = string(body)
	}
	return all
}

func putDisk(t *testing.T, cfg Config, all [2]string) {
	t.Helper()
	os.Remove(cfg.Journal + stateSuffix)
	for i, suffix := range []string{"", stateSuffix} {
		if all[i] == "" {
			continue
		}
		if err := os.WriteFile(cfg.Journal+suffix, []byte(all[i]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// wholeState is a state with what stateText leaves out.
func wholeState(t *testing.T, s *State) string {
	t.Helper()
	return stateText(t, s) + fmt.Sprint(s.found, s.curve, s.cut)
}

// afterEpochs is an Observer that keeps what is on disk after each epoch, and can end a run.
type afterEpochs struct {
	t    *testing.T
	cfg  *Config
	disk [][2]string
	most int // epochs of a run; 0: all
	end  context.CancelFunc
}

func (o *afterEpochs) Finding(*Case, bool) error { return nil }

func (o *afterEpochs) Progress(s *State) {
	o.disk = append(o.disk, diskOf(o.t, *o.cfg))
	if o.end != nil && len(o.disk) >= o.most {
		o.end()
	}
}

// TestCompact compares a campaign whose journal is compacted with one whose journal is not, and
// with those that were interrupted after every epoch and at every step of compacting.
func TestCompact(t *testing.T) {
	plain, cfg := compactConfig(t), compactConfig(t)
	plain.tailMost = 1 << 40
	full, small := &afterEpochs{t: t, cfg: &plain}, &afterEpochs{t: t, cfg: &cfg}
	plain.Observe, cfg.Observe = full, small
	want := wholeState(t, runCampaign(t, plain))
	if got := wholeState(t, runCampaign(t, cfg)); got != want {
		t.Errorf("another state:\n%s", cmp.Diff(want, got))
	}
	end := diskOf(t, cfg)
	if uncompacted := diskOf(t, plain); uncompacted[1] != "" || end[1] == "" || len(end[0]) >= len(uncompacted[0]) {
		t.Fatalf("%d and %d bytes on disk, not compacted %d and %d", len(end[0]), len(end[1]), len(uncompacted[0]), len(uncompacted[1]))
	}
	var at []int // epochs after which it was compacted
	for n, before := 0, ""; n < len(small.disk); n++ {
		if small.disk[n][1] != before {
			at, before = append(at, n), small.disk[n][1]
		}
	}
	if len(at) < 2 || at[len(at)-1] == len(small.disk)-1 {
		for _, d := range small.disk {
			t.Log(len(d[0]), len(d[1]))
		}
		t.Fatalf("compacted after epochs %v of %d", at, len(small.disk))
	}
	goesOn := func(what string, disk [2]string) {
		t.Helper()
		putDisk(t, cfg, disk)
		small.disk = nil
		if got := wholeState(t, runCampaign(t, cfg)); got != want {
			t.Errorf("%s: another state:\n%s", what, cmp.Diff(want, got))
		}
		if diskOf(t, cfg) != end {
			t.Errorf("%s: other bytes", what)
		}
	}
	disk := slices.Clone(small.disk)
	for n, d := range disk {
		if n%tier.Of(4, 4, 2) == 0 || slices.Contains(at, n) {
			goesOn(fmt.Sprintf("after epoch %d", n), d)
		}
	}
	first, last := at[0], at[len(at)-1]
	tail := disk[last-1][0] + full.disk[last][0][len(full.disk[last-1][0]):]
	goesOn("killed before the first snapshot", full.disk[first])
	goesOn("killed before another snapshot", [2]string{tail, disk[last-1][1]})
	goesOn("killed between the snapshot and the end of the tail", [2]string{tail, disk[last][1]})
	// What is read without the units is the same.
	past, err := ReadPast(cfg.Journal)
	if err != nil {
		t.Fatal(err)
	}
	other, err := ReadPast(plain.Journal)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(other.Curve, past.Curve); d != "" || len(past.Curve) != len(disk) || stateText(t, past.State) != stateText(t, other.State) {
		t.Errorf("another past: %s", d)
	}
	// Snapshots that are not those of the journal.
	for name, c := range map[string]struct {
		disk [2]string
		want string
	}{
		"none":              {[2]string{end[0], ""}, "expected epoch 0"},
		"an earlier one":    {[2]string{end[0], disk[first][1]}, "expected epoch"},
		"damaged":           {[2]string{end[0], strings.Replace(end[1], `"dots":`, `"dots":1`, 1)}, "line 1 is damaged"},
		"cut short":         {[2]string{end[0], end[1][:len(end[1])-5]}, "it has 1 of 2 pairs"},
		"of another":        {[2]string{end[0], changedLine(t, end[1], 0, `"campaign":"`, `"campaign":"x`)}, "the directory holds another campaign: it is of campaign x"},
		"impossible counts": {[2]string{end[0], changedLine(t, end[1], 1, `"chunks":`, `"dots":7,"chunks":`)}, "pair 0: 7 dot products, but the classes count"},
		"order of findings": {[2]string{end[0], changedLine(t, end[1], 0, `"found":[`, `"found":[5,`)}, "the order of its findings is damaged"},
	} {
		putDisk(t, cfg, c.disk)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if diskOf(t, cfg) != c.disk {
			t.Errorf("%s: the files have changed", name)
		}
	}
}

// changedLine changes a record and gives it the right checksum.
func changedLine(t *testing.T, text string, n int, from, to string) string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	body, ok := corpus.LogBody([]byte(lines[n]))
	if !ok || !strings.Contains(string(body), from) {
		t.Fatalf("line %d has no %s", n, from)
	}
	line, err := corpus.LogLine(json.RawMessage(strings.Replace(string(body), from, to, 1)))
	if err != nil {
		t.Fatal(err)
	}
	lines[n] = string(line)
	return strings.Join(lines, "")
}

// TestPlainJournal goes on with a journal of the version before snapshots, which is not
// compacted.
func TestPlainJournal(t *testing.T) {
	cfg := compactConfig(t)
	full := &afterEpochs{t: t, cfg: &cfg}
	cfg.Observe, cfg.tailMost = full, 1<<40
	want := wholeState(t, runCampaign(t, cfg))
	disk := full.disk
	cfg.tailMost = 1
	old := func(text string) string { return changedLine(t, text, 0, `"v":3`, `"v":2`) }
	putDisk(t, cfg, [2]string{old(disk[2][0]), ""})
	if got := wholeState(t, runCampaign(t, cfg)); got != want {
		t.Errorf("another state:\n%s", cmp.Diff(want, got))
	}
	if got := diskOf(t, cfg); got != [2]string{old(disk[len(disk)-1][0]), ""} {
		t.Error("other bytes")
	}
	if left, _ := filepath.Glob(cfg.Journal + "*"); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestEverySecond thins milestones: the newest one stays.
func TestEverySecond(t *testing.T) {
	for n := range 7 {
		curve := make([]Milestone, n)
		for i := range curve {
			curve[i].Dots = uint64(i + 1)
		}
		var want, got []uint64
		for i := n; i > 0; i -= 2 {
			want = append([]uint64{uint64(i)}, want...)
		}
		for _, m := range everySecond(curve) {
			got = append(got, m.Dots)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}
