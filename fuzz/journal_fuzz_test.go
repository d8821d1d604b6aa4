package fuzz

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzJournal reads anything as the record of a campaign's epoch: what is taken in is
// read as the same when it is written again, and the campaign can go on from it.
func FuzzJournal(f *testing.F) {
	cfg := Config{Pairs: openPairs(f, "sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32"), Seed: 1, Count: 256, Workers: 1}
	cfg.Journal = filepath.Join(f.TempDir(), "journal")
	runCampaign(f, cfg)
	journal, err := os.ReadFile(cfg.Journal)
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(journal) {
		_, body, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		f.Add(body)
	}
	f.Add([]byte(`{"epoch":0,"pairs":[{"dots":1,"corpus":[{"source":"nobody","index":1}]}]}`))
	cfg.Journal = ""
	c, err := New(cfg)
	if err != nil {
		f.Fatal(err)
	}
	replay := func(body []byte) error { _, err := c.replayRecord(body); return err }
	check := func(_ int, d *Sum) error { return c.pairs[0].checkDelta(d, c.state.Pairs[0], 0, maxStateDots) }
	f.Fuzz(func(t *testing.T, body []byte) {
		c.state = &State{Pairs: []*PairState{c.pairs[0].newState()}}
		_ = c.replayHeader(body)
		_ = c.state.loadHead("", body)
		_ = c.state.loadPair(0, body, check)
		c.compacts, c.state = true, &State{Pairs: []*PairState{c.pairs[0].newState()}}
		if replay(body) != nil {
			return
		}
		var d delta
		if err := json.Unmarshal(body, &d); err != nil {
			t.Fatal(err)
		}
		once, err := json.Marshal(&d)
		if err != nil {
			t.Fatal(err)
		}
		first, _ := json.Marshal(c.state)
		c.state = &State{Pairs: []*PairState{c.pairs[0].newState()}}
		if err := replay(once); err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if again, _ := json.Marshal(c.state); !bytes.Equal(first, again) {
			t.Fatalf("%s\nis read again as\n%s", first, again)
		}
		sum, err := json.Marshal(&stateRecord{c.state.Pairs[0].LastNew, c.state.Pairs[0].Sum})
		if err != nil {
			t.Fatal(err)
		}
		c.state.Pairs[0] = c.pairs[0].newState()
		if err := c.state.loadPair(0, sum, check); err != nil {
			t.Fatalf("%s: %v", sum, err)
		}
		if again, _ := json.Marshal(c.state); !bytes.Equal(first, again) {
			t.Fatalf("%s\nhas the snapshot\n%s", first, again)
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
