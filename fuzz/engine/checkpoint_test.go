package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// asked is a pair of a simulator and a black box that counts what it is asked, and
// calls stop when it is asked for the number of dot products that at says.
type asked struct {
	pair    devices.Pair
	count   uint64 // of the campaign
	workers int
	n       atomic.Int64
	at      int64
	stop    context.CancelFunc
}

func newAsked(t testing.TB) *asked {
	a := &asked{pair: boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", narrower), count: 40_000, workers: 1}
	inner := a.pair.B.(*blackBox).Unit
	a.pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		before := a.n.Load()
		if now := a.n.Add(int64(in.Dots())); a.stop != nil && before < a.at && now >= a.at {
			a.stop()
		}
		return inner.Run(context.Background(), in, out)
	}
	return a
}

func (a *asked) config(journal string) Config {
	return Config{Pairs: []devices.Pair{a.pair}, Seed: 3, Count: a.count, Workers: a.workers, Journal: journal}
}

// interrupted runs a campaign until its unit has been asked for so many dot products;
// everything is written at once.
func (a *asked) interrupted(t testing.TB, journal string, at int64) *Campaign {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	a.at, a.stop = at, stop
	c, err := New(a.config(journal))
	if err != nil {
		t.Fatal(err)
	}
	c.saving.every = 0
	if err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCheckpoint interrupts a campaign wherever its unit is asked, in chunks and in
// triage, and goes on: what is found is the same to the last byte of the journal, and
// the unit is asked for little twice.
func TestCheckpoint(t *testing.T) {
	complete := newAsked(t)
	dir := t.TempDir()
	want := stateText(t, runCampaign(t, complete.config(filepath.Join(dir, "journal"))))
	journal, err := os.ReadFile(filepath.Join(dir, "journal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []int64{11_000, 3_001, 700}[:tier.Of(2, 2, 3)] {
		a := newAsked(t)
		path := filepath.Join(t.TempDir(), "journal")
		var c *Campaign
		runs := int64(0)
		for at := step; ; at += step {
			c = a.interrupted(t, path, at)
			if runs++; c.Complete() {
				break
			}
			if cases(c.State().Pairs[0])+c.State().Pairs[0].Unexamined != c.State().Pairs[0].Mismatches() {
				t.Errorf("interrupted after %d dot products: %d cases in buckets, %d unexamined, %d mismatches", at,
					cases(c.State().Pairs[0]), c.State().Pairs[0].Unexamined, c.State().Pairs[0].Mismatches())
			}
		}
		if diff := cmp.Diff(want, stateText(t, c.State())); diff != "" {
			t.Fatalf("interrupted every %d dot products:\n%s", step, diff)
		}
		if got, _ := os.ReadFile(path); string(got) != string(journal) {
			t.Errorf("interrupted every %d dot products: another journal", step)
		}
		if _, err := os.Stat(path + checkpointSuffix); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the checkpoint is left: %v", err)
		}
		// What was under way: a chunk, or the one question that the context cut off.
		if most := complete.n.Load() + runs*2*chunkDots; a.n.Load() > most {
			t.Errorf("interrupted every %d dot products, %d times: asked for %d, uninterrupted for %d", step, runs, a.n.Load(), complete.n.Load())
		}
		if runs < complete.n.Load()/max(step, 2*chunkDots) {
			t.Errorf("%d runs of %d dot products each, of %d: nothing was interrupted", runs, step, complete.n.Load())
		}
	}
}

// TestForeignCheckpoint checks checkpoints that are not of the campaign, and wrong ones.
func TestForeignCheckpoint(t *testing.T) {
	a := newAsked(t)
	path := filepath.Join(t.TempDir(), "journal")
	a.interrupted(t, path, 700)
	good, err := os.ReadFile(path + checkpointSuffix)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(a.config(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(c.saving.saved.units) == 0 {
		t.Fatal("the checkpoint has no units")
	}
	head := c.saving.head
	c.Close()
	first := readRecords(t, path+checkpointSuffix)[0]
	changed := func(from, to string) json.RawMessage {
		text := strings.Replace(string(first), from, to, 1)
		if text == string(first) {
			t.Fatalf("%s has no %s", first, from)
		}
		return json.RawMessage(text)
	}
	other, later := changed(head.Campaign, "0123456789abcdef"), changed(`"epoch":0`, `"epoch":1`)
	for name, tc := range map[string]struct {
		lines []any
		err   bool
	}{
		"as it was":            {[]any{first}, false},
		"another campaign":     {[]any{other}, true},
		"another version":      {[]any{changed(`"v":1`, `"v":2`)}, true},
		"a later epoch":        {[]any{later}, true},
		"no pair":              {[]any{first, checkpointRecord{Units: []*unitRecord{{Unit: Unit{Pair: 1}, Result: &Result{}}}}}, true},
		"no unit":              {[]any{first, checkpointRecord{Units: []*unitRecord{nil}}}, true},
		"no result":            {[]any{first, checkpointRecord{Units: []*unitRecord{{}}}}, true},
		"a negative number":    {[]any{first, checkpointRecord{Units: []*unitRecord{{Number: -1, Result: &Result{}}}}}, true},
		"an empty unit":        {[]any{first, checkpointRecord{Units: []*unitRecord{{Result: &Result{}}}}}, false}, // is of no plan
		"a cut of two pairs":   {[]any{first, checkpointRecord{Cut: []int{1, 1}}}, true},
		"a negative cut":       {[]any{first, checkpointRecord{Cut: []int{-1}}}, true},
		"a verdict of no one":  {[]any{first, checkpointRecord{Verdicts: []*verdictRecord{{}}}}, true},
		"no finding":           {[]any{first, checkpointRecord{Findings: []*finding.Case{nil}}}, true},
		"a finding of no pair": {[]any{first, checkpointRecord{Findings: []*finding.Case{{Pair: 1, Number: 1}}}}, true},
		"a finding of nothing": {[]any{first, checkpointRecord{Findings: []*finding.Case{{Number: 1}}}}, true},
		"a strange answer":     {[]any{first, checkpointRecord{Answers: []*answerRecord{{Question: []byte{1}}}}}, true},
	} {
		var lines [][]byte
		for _, l := range tc.lines {
			lines = append(lines, mustJSON(t, l))
		}
		writeRecords(t, path+checkpointSuffix, lines...)
		c, err := New(a.config(path))
		if tc.err != (err != nil) {
			t.Errorf("%s gives %v", name, err)
		}
		if err == nil {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if err := os.WriteFile(path+checkpointSuffix, good, 0o666); err != nil {
		t.Fatal(err)
	}
	want := stateText(t, runCampaign(t, newAsked(t).config("")))
	if got := stateText(t, runCampaign(t, a.config(path))); got != want {
		t.Error("resumed, it finds something else")
	}
}

// FuzzResult gives a unit anything as its result: it is refused or it is one.
func FuzzResult(f *testing.F) {
	p := openPairs(f, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32")
	c, err := New(Config{Pairs: p, Seed: 3, Count: 4096})
	if err != nil {
		f.Fatal(err)
	}
	plan := c.plan()
	e := c.newEpoch(plan)
	if err := e.compute(f.Context(), func() bool { return false }); err != nil {
		f.Fatal(err)
	}
	for _, r := range e.pairs[0].results {
		body, err := json.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var r Result
		if json.Unmarshal(body, &r) != nil || c.pairs[0].checkResult(&plan[0], &r) != nil {
			return
		}
		total := uint64(0)
		for _, n := range r.Classes {
			total += n
		}
		if total != plan[0].Dots {
			t.Errorf("%d results of %d dot products", total, plan[0].Dots)
		}
		for _, s := range r.Unnamed {
			if c.pairs[0].Dot(3, s.CaseRef) == nil {
				t.Errorf("no case %v", s.CaseRef)
			}
		}
		again, err := json.Marshal(&r)
		var back Result
		if err = errors.Join(err, json.Unmarshal(again, &back)); err != nil || !cmp.Equal(r, back, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(Result{})) {
			t.Errorf("written and read, it is another one: %v", err)
		}
		e.pairs[0].merge(&plan[0], &r, roundUnnamed)
	})
}

// FuzzCheckpoint reads anything as a record of a checkpoint: what is taken in, the
// campaign can go on from.
func FuzzCheckpoint(f *testing.F) {
	a := newAsked(f)
	path := filepath.Join(f.TempDir(), "journal")
	a.interrupted(f, path, 6000) // in the triage of the first epoch
	text, err := os.ReadFile(path + checkpointSuffix)
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		_, body, _ := bytes.Cut(bytes.TrimSpace(line), []byte(" "))
		f.Add(body)
	}
	if err := os.Remove(path + checkpointSuffix); err != nil {
		f.Fatal(err)
	}
	c, err := New(a.config(path))
	if err != nil {
		f.Fatal(err)
	}
	plan := c.plan()
	f.Fuzz(func(t *testing.T, body []byte) {
		c.saving.forget()
		var r checkpointRecord
		if strictjson.UnmarshalKnown(body, &r, "value") != nil || c.saving.read(&r) != nil {
			return
		}
		e := c.newEpoch(plan)
		e.merge()
		c.saving.Verdict(0, e.pairs[0].Units, 0)
		if d := e.unfinished(); d.Pairs[0].Dots > finding.MaxEpochDots {
			t.Errorf("%d dot products", d.Pairs[0].Dots)
		}
	})
}

// TestTimeCuts checks that a campaign whose time is over in the middle of an epoch ends
// as one with a count does, and that another one goes on from there.
func TestTimeCuts(t *testing.T) {
	pairs := testConfig(t).Pairs
	cfg := Config{Pairs: pairs, Seed: 3, Workers: 1, Journal: filepath.Join(t.TempDir(), "journal")}
	var counts []uint64
	for range 2 {
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if c.state.Epochs == 0 {
			runPlan(t, c, 1<<30) // a whole epoch
		}
		runPlan(t, c, 21)
		counts = c.State().Counts
		for _, p := range c.State().Pairs {
			if p.Dots != counts[len(counts)-1] {
				t.Errorf("%d dot products of %s, %d of others", p.Dots, p.Name, counts[len(counts)-1])
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if len(counts) != 2 {
		t.Fatalf("the counts are %v", counts)
	}
	timed, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer timed.Close()
	other := Config{Pairs: pairs, Seed: 3, Journal: filepath.Join(t.TempDir(), "journal")}
	for _, other.Count = range counts {
		runCampaign(t, other)
	}
	counted, err := New(other)
	if err != nil {
		t.Fatal(err)
	}
	defer counted.Close()
	if diff := cmp.Diff(stateText(t, counted.State()), stateText(t, timed.State())); diff != "" {
		t.Errorf("--count %v finds something else:\n%s", counts, diff)
	}
}

// runPlan runs an epoch until so many units are done, and completes it.
func runPlan(t *testing.T, c *Campaign, units int) {
	t.Helper()
	e := c.newEpoch(c.plan())
	if err := e.compute(t.Context(), func() bool { units--; return units < 0 }); err != nil {
		t.Fatal(err)
	}
	if !e.cut() {
		t.Fatal("no place to cut the epoch")
	}
	e.merge()
	if err := errors.Join(c.triage(t.Context(), e, true), c.commit(e)); err != nil {
		t.Fatal(err)
	}
}

// TestGone checks that a unit which fails on everything ends a campaign, with what was
// compared before, and that the campaign goes on when the unit is there again.
func TestGone(t *testing.T) {
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", narrower)
	inner := pair.B.(*blackBox).Unit
	calls, last := 0, 20
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		if calls++; calls > last {
			return &devices.FaultError{Target: "box", What: "no answer"}
		}
		return inner.Run(context.Background(), in, out)
	}
	cfg := Config{Pairs: []devices.Pair{pair}, Seed: 3, Count: 20_000, Workers: 1, Journal: filepath.Join(t.TempDir(), "journal")}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var gone *GoneError
	if err := c.Run(t.Context()); !errors.As(err, &gone) || gone.Target != "box" || c.Complete() {
		t.Fatalf("the campaign ends with %v, complete: %v", err, c.Complete())
	}
	if p := c.State().Pairs[0]; p.Dots == 0 || p.Classes[len(p.Classes)-1] != 0 {
		t.Errorf("%d dot products before, by class %v", p.Dots, p.Classes)
	}
	if calls > last+goneAfter+2 {
		t.Errorf("%d calls after the last answer", calls-last)
	}
	last = 1 << 30
	pair.B.(*blackBox).run = nil
	want := stateText(t, runCampaign(t, Config{Pairs: cfg.Pairs, Seed: 3, Count: 20_000}))
	if diff := cmp.Diff(want, stateText(t, runCampaign(t, cfg))); diff != "" {
		t.Errorf("resumed, it finds something else:\n%s", diff)
	}
}

// TestPieces checks that a slow unit is asked in pieces, and that what it has answered
// of a chunk is not asked again.
func TestPieces(t *testing.T) {
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", same)
	inner := pair.B.(*blackBox).Unit
	var sizes []int
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		sizes = append(sizes, in.Tiles)
		return inner.Run(context.Background(), in, out)
	}
	c, err := New(Config{Pairs: []devices.Pair{pair}, Seed: 1, Journal: filepath.Join(t.TempDir(), "journal")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	b := c.slow[0]
	in := mma.NewBatch(pair.Formats(), mma.Shape{M: 16, N: 8, K: 16, Tiles: 10})
	out := make([]byte, in.Dots()*4)
	b.pace = pace{largest: 256, each: pieceTime / 256} // two tiles
	if n := b.tiles(in, 0); n != 2 {
		t.Errorf("%d tiles in a piece, want 2", n)
	}
	if n := b.tiles(in, 9); n != 1 {
		t.Errorf("%d tiles in the last piece, want 1", n)
	}
	b.pace = pace{largest: 256, each: time.Hour}
	if n := b.tiles(in, 0); n != 1 {
		t.Errorf("%d tiles of a very slow unit, want 1", n)
	}
	b.pace = pace{}
	c.triaging.Store(true)
	if err := b.Run(t.Context(), in, out); err != nil || sizes[0] != 1 {
		t.Fatalf("pieces of %v tiles, %v", sizes, err)
	}
	for _, r := range c.saving.pending.Answers {
		if !c.saving.saved.answer(r) {
			t.Fatalf("%+v is out of place", r)
		}
	}
	b.begin()
	sizes = nil
	again := make([]byte, len(out))
	if err := b.Run(t.Context(), in, again); err != nil || sizes != nil || string(again) != string(out) {
		t.Errorf("asked again for %v tiles, %v", sizes, err)
	}
}
