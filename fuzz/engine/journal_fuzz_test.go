package engine

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
)

// FuzzJournal reads anything as the record of a campaign's epoch: what is taken in is
// read as the same when it is written again, and the campaign can go on from it.
func FuzzJournal(f *testing.F) {
	cfg := Config{Pairs: openPairs(f, "sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32"), Seed: 1, Count: 256, Workers: 1}
	cfg.Journal = filepath.Join(f.TempDir(), "journal")
	runCampaign(f, cfg)
	text, err := os.ReadFile(cfg.Journal)
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		body, _ := journal.Body(line)
		f.Add(body)
	}
	f.Add([]byte(`{"epoch":{"epoch":0,"pairs":[{"dots":1,"corpus":[{"source":"nobody","index":1}]}]}}`))
	f.Add([]byte(`{"state":{"epochs":1,"found":[0]}}`))
	f.Add([]byte(`{"pair":{"sum":{}}}`))
	cfg.Journal = ""
	c, err := New(cfg)
	if err != nil {
		f.Fatal(err)
	}
	empty := func() *State { return &State{Pairs: []*finding.PairState{c.pairs[0].NewState()}} }
	f.Fuzz(func(t *testing.T, body []byte) {
		var r record
		if strictjson.UnmarshalKnown(body, &r, "value") != nil {
			return
		}
		c.state = empty()
		c.state.missing = 1 // for the second record of a snapshot
		_ = c.replay(&r)
		c.state = empty()
		if c.replay(&r) != nil || r.Epoch == nil {
			return
		}
		again := func(all ...*record) {
			t.Helper()
			c.state = empty()
			for _, r := range all {
				var read record
				text := mustJSON(t, r)
				if err := errors.Join(strictjson.UnmarshalKnown(text, &read, "value"), c.replay(&read)); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
		}
		first := mustJSON(t, c.state)
		again(&r)
		if now := mustJSON(t, c.state); !bytes.Equal(first, now) {
			t.Fatalf("%s\nis read again as\n%s", first, now)
		}
		again(c.state.snapshot()...)
		if now := mustJSON(t, c.state); !bytes.Equal(first, now) {
			t.Fatalf("%s\nhas the snapshot\n%s", first, now)
		}
		st := c.state.Pairs[0]
		for turns, n := turnsOf(st), 0; n < 8; n++ {
			if _, ok := c.nextUnit(0, turns, 256, 256); !ok {
				t.Fatal("there is nothing to do")
			}
		}
		st.Sorted()
		c.state.Totals()
	})
}
