package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

func openPairs(t testing.TB, a, b, inst string) []devices.Pair {
	t.Helper()
	ta, err := devices.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	tb, err := devices.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := devices.Pairs(ta, tb, inst, "")
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// runCampaign runs a campaign to its end and returns its state.
func runCampaign(t testing.TB, cfg Config) *State {
	t.Helper()
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c.State()
}

// stateText makes states comparable.
func stateText(t testing.TB, s *State) string {
	t.Helper()
	b, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const testCount = 20_000

func testConfig(t testing.TB) Config {
	a, b, inst := "sim:turing", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32"
	if tier.Long() { // a pair with many causes
		a, b, inst = "sim:hopper", "sim:cdna1", "mma.m16n8k16.f32.f16.f16.f32"
	}
	ps := append(openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"), openPairs(t, a, b, inst)...)
	return Config{Pairs: ps, Seed: 3, Count: testCount}
}

// TestWorkers checks that the number of workers changes nothing, in small epochs and
// in large ones.
func TestWorkers(t *testing.T) {
	large := testConfig(t)
	large.Pairs, large.Generators, large.Count = large.Pairs[:1], []string{"raw"}, tier.Of[uint64](0, 1<<17, 1<<20)
	for i, cfg := range []Config{testConfig(t), large} {
		if i > 0 && testing.Short() {
			break
		}
		cfg.Workers = 1
		want := stateText(t, runCampaign(t, cfg))
		for _, n := range tier.Of([]int{2}, []int{3}, []int{2, 7}) {
			cfg.Workers = n
			if diff := cmp.Diff(want, stateText(t, runCampaign(t, cfg))); diff != "" {
				t.Fatalf("%d workers find something else than one:\n%s", n, diff)
			}
		}
		cfg.Seed++
		if want == stateText(t, runCampaign(t, cfg)) {
			t.Error("another seed finds the very same")
		}
	}
}

// stopAfter ends a campaign after some epochs.
type stopAfter struct {
	epochs int
	stop   context.CancelFunc
}

func (s *stopAfter) Finding(*finding.Case, bool) error { return nil }
func (s *stopAfter) Progress(*State) {
	if s.epochs--; s.epochs == 0 {
		s.stop()
	}
}

// TestResume interrupts a campaign after each of its epochs and takes it up
// again.
func TestResume(t *testing.T) {
	if testing.Short() {
		t.Skip("TestTornJournal resumes, too")
	}
	want := stateText(t, runCampaign(t, testConfig(t)))
	for epochs := 1; epochs <= tier.Of(1, 1, 1000); epochs++ {
		cfg := testConfig(t)
		cfg.Journal = filepath.Join(t.TempDir(), "journal")
		ctx, stop := context.WithCancel(t.Context())
		cfg.Observe = &stopAfter{epochs, stop}
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(ctx); err != nil {
			t.Fatal(err)
		}
		if c.State().Epochs < epochs {
			if epochs < 3 {
				t.Fatalf("only %d epochs: nothing was interrupted", c.State().Epochs)
			}
			stop()
			return
		}
		cfg.Observe = nil
		if diff := cmp.Diff(want, stateText(t, runCampaign(t, cfg))); diff != "" {
			t.Fatalf("resumed after %d epochs:\n%s", epochs, diff)
		}
	}
}

// TestTornJournal cuts the journal short at many places: what is left of it is
// resumed, and the end is the same.
func TestTornJournal(t *testing.T) {
	cfg := testConfig(t)
	cfg.Pairs = cfg.Pairs[:1]
	cfg.Journal = filepath.Join(t.TempDir(), "journal")
	want := stateText(t, runCampaign(t, cfg))
	complete, err := os.ReadFile(cfg.Journal)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(complete, []byte("\n"))
	cuts := []int{0, 1, len(lines[0]) - 1, len(lines[0]), len(lines[0]) + 5, len(complete) - 1, len(complete) - len(lines[len(lines)-2])/2}
	for _, cut := range cuts {
		if err := os.WriteFile(cfg.Journal, complete[:cut], 0o666); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, stateText(t, runCampaign(t, cfg))); diff != "" {
			t.Fatalf("cut at byte %d of %d:\n%s", cut, len(complete), diff)
		}
		if got, _ := os.ReadFile(cfg.Journal); !bytes.Equal(got, complete) {
			t.Fatalf("cut at byte %d of %d: the journal is another one afterwards", cut, len(complete))
		}
	}
}

// TestDamagedJournal checks that damage in the middle is set aside, and what was lost found again,
// and that a campaign of another seed is an error.
func TestDamagedJournal(t *testing.T) {
	cfg := testConfig(t)
	cfg.Pairs = cfg.Pairs[:1]
	cfg.Journal = filepath.Join(t.TempDir(), "journal")
	runCampaign(t, cfg)
	complete, err := os.ReadFile(cfg.Journal)
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.IndexByte(complete, '\n') + 20
	damaged := bytes.Clone(complete)
	damaged[second] ^= 1
	if err := os.WriteFile(cfg.Journal, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPast(cfg.Journal); err == nil || !strings.Contains(err.Error(), "line 2 is damaged") {
		t.Errorf("damage in line 2 gives %v", err)
	}
	runCampaign(t, cfg)
	if diskOf(t, cfg) != string(complete) || readFile(t, cfg.Journal+journal.DamagedSuffix) != string(damaged) {
		t.Error("what was lost was not found again, or the damage not kept")
	}
	cfg.Seed++
	if _, err := New(cfg); !errors.Is(err, ErrOtherCampaign) {
		t.Errorf("another seed on the same journal gives %v", err)
	}
}

// TestKnownCauses runs pairs of which the cause is known.
func TestKnownCauses(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, tc := range []struct {
		a, b, inst string
		changes    string // of the verdict
	}{
		{"sim:ampere", "sim:hopper", "mma.m16n8k8.f32.f16.f16.f32", "[join.align.f 24→25]"},
		{"sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32", "[l 8→16 join.align.f 24→25]"},
		{"sim:ampere", "sim:hopper", "mma.m16n8k16.f32.bf16.bf16.f32", "[l 8→16 join.align.f 24→25 join.align.floor -132→-133]"},
		{"sim:hopper", "sim:ampere", "mma.m16n8k8.f32.f16.f16.f32", "[join.align.f 25→24]"},
		{"sim:ampere", "sim:ada", "mma.m16n8k16.f32.f16.f16.f32", ""},
		{"sim:ampere", "sim:hopper", "mma.m8n8k4.f64.f64.f64.f64", ""},
	} {
		cfg := Config{Pairs: openPairs(t, tc.a, tc.b, tc.inst), Seed: 1, Count: 50_000}
		p := runCampaign(t, cfg).Pairs[0]
		got := ""
		if p.Verdict != nil {
			got = strings.TrimSpace(strings.Join(strings.Fields(sprint(p.Verdict.Changes)), " "))
		}
		if got != tc.changes {
			t.Errorf("%s %s %s: %s, want %s", tc.a, tc.b, tc.inst, got, tc.changes)
		}
		if tc.changes == "" && p.Mismatches() != 0 {
			t.Errorf("%s %s %s: %d mismatches, want none", tc.a, tc.b, tc.inst, p.Mismatches())
		}
	}
}

func sprint(changes []mma.Change) string {
	s := make([]string, len(changes))
	for i, c := range changes {
		s[i] = c.String()
	}
	return "[" + strings.Join(s, " ") + "]"
}

// blackBox is a unit that says nothing about itself.
type blackBox struct {
	devices.Unit
	run func(in *mma.Batch, out []byte) error // instead of the unit's, if not nil
}

func (b *blackBox) Model() *mma.Params { return nil }

func (b *blackBox) Instruction() *mma.Instruction {
	i := *b.Unit.Instruction()
	i.Params = mma.Params{}
	return &i
}

func (b *blackBox) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if b.run != nil {
		return b.run(in, out)
	}
	return b.Unit.Run(ctx, in, out)
}

// boxedPair pairs a simulator with a black box that computes by changed
// parameters.
func boxedPair(t testing.TB, arch, inst string, change func(p *mma.Params)) devices.Pair {
	t.Helper()
	i, err := mma.Lookup(arch, inst)
	if err != nil {
		t.Fatal(err)
	}
	a, err := simulated.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	changed := *i
	change(&changed.Params)
	b, err := simulated.Open(&changed)
	if err != nil {
		t.Fatal(err)
	}
	return devices.Pair{A: a, B: &blackBox{Unit: b}, TargetA: "sim:" + arch, TargetB: "box", K: i.K}
}

// TestOutsideTheSpace gives triage a unit that no change of parameters explains, and no rule: it
// says so.
func TestOutsideTheSpace(t *testing.T) {
	tier.SkipUnderRace(t)
	tier.LongOnly(t)
	pair := boxedPair(t, "volta", "mma.m8n8k4.f32.f16.f16.f32", func(*mma.Params) {})
	inner := pair.B.(*blackBox).Unit
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		if err := inner.Run(context.Background(), in, out); err != nil {
			return err
		}
		for i := range in.Dots() { // one bit wrong in results that a hash chooses
			if d := mma.Load(out, 4, i); uint32(d)*2654435761>>28 == 5 {
				mma.Store(out, 4, i, d^2)
			}
		}
		return nil
	}
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: tier.Of[uint64](0, 0, 2_000, 20_000)}).Pairs[0]
	if p.Mismatches() == 0 {
		t.Fatal("the bug was not found")
	}
	if p.Verdict == nil || p.Verdict.Found() || p.Verdict.Labels[0] != triage.Unexplained {
		t.Errorf("verdict %+v, want unexplained", p.Verdict)
	}
	if len(p.Findings) == 0 || p.Findings[0].Bucket != "unexplained" || !p.Findings[0].Minimal {
		t.Errorf("no minimized witness: %+v", p.Findings)
	}
}

// TestLayout gives a unit that is wrong in one column of its tiles only.
func TestLayout(t *testing.T) {
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", func(*mma.Params) {})
	inner := pair.B.(*blackBox).Unit
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		if err := inner.Run(context.Background(), in, out); err != nil {
			return err
		}
		for i := range in.Dots() {
			if in.N > 1 && i%in.N == 5 {
				mma.Store(out, 4, i, mma.Load(out, 4, i)^1)
			}
		}
		return nil
	}
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 20_000}).Pairs[0]
	if p.Buckets["layout"] == nil {
		t.Errorf("buckets %v, want layout", p.Buckets)
	}
}

// TestFault gives a unit that fails on some inputs: they are counted, the rest
// is compared.
func TestFault(t *testing.T) {
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", func(*mma.Params) {})
	inner := pair.B.(*blackBox).Unit
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		d := mma.NewDot(in.Formats, in.K)
		for i := range in.Dots() {
			if in.Get(i, d); d.A[3]&0x3ff == 7 {
				return &devices.FaultError{Target: "box", What: "illegal instruction"}
			}
		}
		return inner.Run(context.Background(), in, out)
	}
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 20_000}).Pairs[0]
	if p.Classes[oracle.Fault] == 0 || p.Classes[oracle.Same]+p.Classes[oracle.Fault] != p.Dots {
		t.Errorf("classes %v of %d", p.Classes, p.Dots)
	}
	if p.Buckets["fault"] == nil {
		t.Errorf("buckets %v", p.Buckets)
	}
}

// TestFaultAndDifference gives a unit that computes differently and fails on
// inputs that triage and the minimizer come across: neither ends the campaign.
func TestFaultAndDifference(t *testing.T) {
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", func(p *mma.Params) { p.Join.Align.F-- })
	inner := pair.B.(*blackBox).Unit
	pair.B.(*blackBox).run = func(in *mma.Batch, out []byte) error {
		d := mma.NewDot(in.Formats, in.K)
		for i := range in.Dots() {
			if in.Get(i, d); d.A[3]&0x3f == 7 || d.A[0] == 0x3c00 && d.A[1]|d.A[2]|d.A[3] == 0 {
				return &devices.FaultError{Target: "box", What: "illegal instruction"}
			}
		}
		return inner.Run(context.Background(), in, out)
	}
	p := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 20_000}).Pairs[0]
	if p.Buckets["truncation-width"] == nil || p.Classes[oracle.Fault] == 0 {
		t.Errorf("buckets %v, classes %v", p.Buckets, p.Classes)
	}
	for _, f := range p.Findings {
		if f.Bucket == "truncation-width" && !f.Minimal {
			t.Errorf("%s is not minimal", mma.FormatDot(pair.Formats(), f.Dot))
		}
	}
}
