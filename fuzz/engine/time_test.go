package engine

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// epochSeen notes that an epoch has ended.
type epochSeen struct{ over atomic.Bool }

func (f *epochSeen) Finding(*finding.Case, bool) error { return nil }
func (f *epochSeen) Progress(*State)                   { f.over.Store(true) }

// TestTimeBetweenPairs lets the time end when one pair has had dot products of the second epoch and
// the other one has had none: the campaign is complete with the first epoch, as its count says, and
// leaves nothing behind that says otherwise.
func TestTimeBetweenPairs(t *testing.T) {
	i, err := mma.Lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	m, err := sim.New(i.Formats, i.K, i.Params)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Seed: 1, Workers: 1, Journal: filepath.Join(t.TempDir(), JournalFile), NoInfer: true}
	var observed epochSeen
	var ends time.Time
	for _, name := range []string{"first", "second"} {
		slow := devices.Func(&mma.Instruction{Name: name, Formats: i.Formats, K: i.K}, func(d *mma.Dot) uint64 {
			if observed.over.Load() {
				time.Sleep(time.Until(ends))
			}
			return m.Dot(d, nil)
		})
		a := openPairs(t, "sim:ampere", "sim:ampere", i.Name)[0]
		cfg.Pairs = append(cfg.Pairs, devices.Pair{A: a.A, B: slow, TargetA: "sim:ampere", TargetB: name, K: i.K})
	}
	cfg.Observe = &observed
	for cfg.Time = time.Second; ; cfg.Time *= 2 { // until the first epoch ends in time
		observed.over.Store(false)
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		ends = time.Now().Add(cfg.Time + 10*time.Millisecond)
		if err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !c.Complete() {
			t.Error("the campaign is not complete")
		}
		files, err := os.ReadDir(filepath.Dir(cfg.Journal))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if f.Name() != JournalFile {
				t.Errorf("%s is left", f.Name())
			}
		}
		s := c.State()
		if s.Pairs[0].Dots != s.Pairs[1].Dots {
			t.Errorf("%d and %d dot products", s.Pairs[0].Dots, s.Pairs[1].Dots)
		}
		if observed.over.Load() {
			return
		}
		if t.Failed() || cfg.Time > time.Minute {
			t.Fatal("no epoch ends in time: the test tests nothing")
		}
	}
}
