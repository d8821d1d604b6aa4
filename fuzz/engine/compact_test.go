package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// compactConfig is a campaign of four epochs whose journal is compacted twice.
func compactConfig(t *testing.T) Config {
	cfg := journalConfig(t)
	cfg.Count, cfg.Workers, cfg.tailMost = 100_000, 1, 20_000
	cfg.Pairs = append(cfg.Pairs, openPairs(t, "sim:turing", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32")...)
	return cfg
}

// diskOf reads the journal.
func diskOf(t *testing.T, cfg Config) string {
	t.Helper()
	return readFile(t, cfg.Journal)
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	body, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func putDisk(t *testing.T, cfg Config, all string) {
	t.Helper()
	if err := os.WriteFile(cfg.Journal, []byte(all), 0o666); err != nil {
		t.Fatal(err)
	}
}

// snapshotIn returns the record of a snapshot in a journal that all of its pairs follow, "" if
// there is none.
func snapshotIn(text string) string {
	line := strings.SplitAfter(text, "\n")[1]
	if !strings.Contains(line, `{"state":`) {
		return ""
	}
	return line
}

// completeState is a state with what stateText leaves out.
func completeState(t *testing.T, s *State) string {
	t.Helper()
	return stateText(t, s) + fmt.Sprint(s.found, s.curve, s.cut)
}

// afterEpochs is an Observer that keeps what is on disk after each epoch, and can end a run.
type afterEpochs struct {
	t    *testing.T
	cfg  *Config
	disk []string
	most int // epochs of a run; 0: all
	end  context.CancelFunc
}

func (o *afterEpochs) Finding(*finding.Case, bool) error { return nil }

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
	want := completeState(t, runCampaign(t, plain))
	if got := completeState(t, runCampaign(t, cfg)); got != want {
		t.Errorf("another state:\n%s", cmp.Diff(want, got))
	}
	end := diskOf(t, cfg)
	if uncompacted := diskOf(t, plain); snapshotIn(uncompacted) != "" || snapshotIn(end) == "" || len(end) >= len(uncompacted) {
		t.Fatalf("%d bytes on disk, not compacted %d", len(end), len(uncompacted))
	}
	var at []int // epochs after which it was compacted
	for n, before := 0, ""; n < len(small.disk); n++ {
		if now := snapshotIn(small.disk[n]); now != before {
			at, before = append(at, n), now
		}
	}
	if len(at) < 2 || at[len(at)-1] == len(small.disk)-1 {
		for _, d := range small.disk {
			t.Log(len(d))
		}
		t.Fatalf("compacted after epochs %v of %d", at, len(small.disk))
	}
	goesOn := func(what string, disk string) {
		t.Helper()
		putDisk(t, cfg, disk)
		small.disk = nil
		if got := completeState(t, runCampaign(t, cfg)); got != want {
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
	goesOn("killed before the first snapshot", full.disk[first])
	goesOn("killed before another snapshot", disk[last-1]+full.disk[last][len(full.disk[last-1]):])
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
	// Snapshots that no campaign has written.
	lines := strings.SplitAfter(end, "\n")
	without := func(from, to int) string { return strings.Join(slices.Delete(slices.Clone(lines), from, to), "") }
	none := changedLine(t, end, 0, `,"compacted":3`, "") // what the snapshot takes is not known
	for name, c := range map[string]struct {
		disk, want string
		damage     bool // the campaign does again what is lost
	}{
		"none":              {without(1, 4), "line 2: it is of epoch ", true},
		"damaged":           {strings.Replace(end, `"dots":`, `"dots":1`, 1), "line 2 is damaged", true},
		"cut short":         {strings.Join(lines[:3], ""), "1 records are missing at its end", true},
		"short of a pair":   {strings.Join(strings.SplitAfter(none, "\n")[:3], ""), "1 pairs are missing at its end", false},
		"without a pair":    {without(3, 4), "line 4: 1 pairs of the state before it are missing", true},
		"two":               {strings.Join(slices.Insert(slices.Clone(lines), 4, lines[1]), ""), "line 5: a state after", true},
		"a pair too many":   {strings.Join(slices.Insert(slices.Clone(lines), 4, lines[2]), ""), "line 5: it is of a pair too many", true},
		"of nothing":        {changedLine(t, end, 1, `"epochs":`, `"epochs":-1,"x":`), "unknown field", false},
		"before the start":  {changedLine(t, end, 1, `"epochs":`, `"epochs":-`), "line 2: a state after -", true},
		"two in one":        {changedLine(t, end, 2, `{"pair":`, `{"state":{"epochs":1},"pair":`), "line 3: it is not one of epoch, state and pair", false},
		"impossible counts": {changedLine(t, end, 2, `"dots":`, `"dots":1`), "line 3: pair 0: ", false},
		"order of findings": {changedLine(t, end, 1, `"found":[`, `"found":[5,`), "the order of its findings is damaged", false},
	} {
		putDisk(t, cfg, c.disk)
		if _, err := ReadPast(cfg.Journal); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, read: %v, want %q", name, err, c.want)
		}
		if c.damage {
			if goesOn(name, c.disk); readFile(t, cfg.Journal+journal.DamagedSuffix) != c.disk {
				t.Errorf("%s: the damaged file was not kept", name)
			}
			continue
		}
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
	body, ok := journal.Body([]byte(lines[n]))
	if !ok || !strings.Contains(string(body), from) {
		t.Fatalf("line %d has no %s", n, from)
	}
	line, err := journal.Line(json.RawMessage(strings.Replace(string(body), from, to, 1)))
	if err != nil {
		t.Fatal(err)
	}
	lines[n] = string(line)
	return strings.Join(lines, "")
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
