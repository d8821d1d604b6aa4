package engine

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// causesText writes all that a state says about causes: buckets, details, and the findings
// with their inputs.
func causesText(s *State) string {
	var b strings.Builder
	for _, p := range s.Pairs {
		fmt.Fprintf(&b, "%d of %d\n", p.Mismatches(), p.Dots)
		for _, bucket := range p.Sorted() {
			fmt.Fprintf(&b, "  %+v\n", *bucket)
		}
		for _, f := range p.Findings {
			fmt.Fprintf(&b, "  %s %s %d: %s %s, from %s\n", f.Bucket, f.Detail, f.Number, f.Class, dotText(f.Dot), dotText(f.Start))
		}
	}
	return b.String()
}

func dotText(d *mma.Dot) string { return fmt.Sprintf("%x %x %x %x %x", d.A, d.B, d.C, d.SA, d.SB) }

// TestTurnedSides compares pairs of targets both ways: causes, counts and findings are the
// same.
func TestTurnedSides(t *testing.T) {
	tier.SkipUnderRace(t)
	for _, tc := range []struct{ a, b, inst, instB string }{
		{"sim:hopper", "ref:exact", "mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32"},
		{"sim:hopper", "sim:cdna3", "mma.m16n8k8.f32.tf32.tf32.f32", "v_mfma_f32_16x16x8_xf32"},
		{"sim:hopper", "sim:cdna3", "mma.m16n8k16.f32.bf16.bf16.f32", "v_mfma_f32_16x16x16_bf16"},
		{"sim:ampere", "sim:hopper", "", ""},
		{"sim:cdna1", "sim:cdna2", "", ""},
		{"sim:volta", "sim:cdna3", "", ""},
		{"sim:turing", "sim:ampere", "", ""},
	}[:tier.Of(1, 1, 2, 7)] {
		texts := [2]string{}
		for i := range texts {
			a, b, inst, instB := tc.a, tc.b, tc.inst, tc.instB
			if i == 1 {
				a, b, inst, instB = b, a, instB, inst
			}
			texts[i] = causesText(runCampaign(t, Config{Pairs: pairsOf(t, a, b, inst, instB), Seed: 1, Count: 6000}))
		}
		if diff := cmp.Diff(texts[0], texts[1]); diff != "" {
			t.Errorf("%s and %s, turned:\n%s", tc.a, tc.b, diff)
		}
	}
}

func pairsOf(t testing.TB, a, b, inst, instB string) []devices.Pair {
	t.Helper()
	ta, err := devices.Open(a)
	if err != nil {
		t.Fatal(err)
	}
	tb, err := devices.Open(b)
	if err != nil {
		t.Fatal(err)
	}
	ps, err := devices.Pairs(ta, tb, inst, instB)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

// TestCausesAddUp checks that every differing case is in one bucket, and in one detail
// unless there are too many.
func TestCausesAddUp(t *testing.T) {
	tier.SkipUnderRace(t)
	s := runCampaign(t, Config{Pairs: pairsOf(t, "sim:hopper", "sim:cdna3", "mma.m16n8k16.f32.bf16.bf16.f32", ""), Seed: 1, Count: tier.Of[uint64](20_000, 20_000, 40_000)})
	p := s.Pairs[0]
	all := uint64(0)
	var classes [oracle.Fault + 1]uint64
	for _, b := range p.Buckets {
		all += b.Cases
		in := b.More
		for _, d := range b.Details {
			in += d.Cases
			if first, _, _ := strings.Cut(d.Name, ":"); string(triage.PrimaryIn(first)) != b.Name {
				t.Errorf("%s is in bucket %s", d.Name, b.Name)
			}
		}
		if in != b.Cases {
			t.Errorf("%s: %d cases, %d in details", b.Name, b.Cases, in)
		}
		for c, n := range b.Classes {
			classes[c] += n
		}
	}
	if all != p.Mismatches() {
		t.Errorf("%d cases in buckets, %d mismatches", all, p.Mismatches())
	}
	classes[oracle.Same] = p.Classes[oracle.Same]
	if classes != p.Classes {
		t.Errorf("classes %v, want %v", classes, p.Classes)
	}
	if n := detailsOf(p); n != 32 {
		t.Errorf("%d details of a pair that has many, want 32", n)
	}
	if len(p.Buckets) > 12 || p.Buckets["unexplained"] != nil {
		t.Errorf("buckets %v", slices.Sorted(maps.Keys(p.Buckets)))
	}
}

// TestExamine leaves most of the later cases unexamined, whatever the number of workers: what is
// counted otherwise does not change.
func TestExamine(t *testing.T) {
	tier.SkipUnderRace(t)
	cfg := Config{Pairs: openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"), Seed: 1, Count: 6000, Workers: 1}
	all := runCampaign(t, cfg).Pairs[0]
	cfg.Examine = 100
	text := ""
	for cfg.Workers = 1; cfg.Workers <= tier.Of(1, 1, 2); cfg.Workers++ {
		s := runCampaign(t, cfg)
		p := s.Pairs[0]
		var classes [oracle.Fault + 1]uint64
		classes[oracle.Value] = p.Unexamined
		for _, b := range p.Buckets {
			for c, n := range b.Classes {
				classes[c] += n
			}
		}
		classes[oracle.Same] = p.Classes[oracle.Same]
		if classes != p.Classes || p.Classes != all.Classes {
			t.Errorf("classes %v, of all %v, want %v", classes, p.Classes, all.Classes)
		}
		if later := all.Mismatches() * 1904 / 6000; p.Unexamined < later/2 || p.Unexamined > later {
			t.Errorf("%d of about %d later mismatches are unexamined", p.Unexamined, later)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(all.Buckets)), slices.Sorted(maps.Keys(p.Buckets))); diff != "" {
			t.Error(diff)
		}
		if now := stateText(t, s); text == "" {
			text = now
		} else if now != text {
			t.Error("two workers find something else than one")
		}
	}
	cfg.Journal = filepath.Join(t.TempDir(), JournalFile)
	if _, err := New(cfg); err == nil {
		t.Error("there is a journal")
	}
}

// TestTraced holds of which dot products features are taken.
func TestTraced(t *testing.T) {
	w := newWorker()
	if at := []uint64{w.nextTraced(0), w.nextTraced(1), w.nextTraced(traceFirst - 63), w.nextTraced(traceFirst - 31)}; !slices.Equal(at, []uint64{0, 32, traceFirst - 32, traceFirst}) {
		t.Errorf("%d", at)
	}
	c, err := New(Config{Pairs: openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"), Count: 1, Workers: 1, Traced: 64})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if w := c.workers[0]; w.nextTraced(1) != 32 || w.nextTraced(33) != traceLater {
		t.Errorf("%d, %d", w.nextTraced(1), w.nextTraced(33))
	}
	if _, err := New(Config{Pairs: openPairs(t, "sim:ampere", "sim:hopper", "mma.m16n8k16.f32.f16.f16.f32"), Traced: 64, Journal: filepath.Join(t.TempDir(), JournalFile)}); err == nil {
		t.Error("there is a journal")
	}
}

// TestMaxFindings limits the findings of two targets: one of each primary cause comes
// first, for any number of workers.
func TestMaxFindings(t *testing.T) {
	pairs := pairsOf(t, "sim:hopper", "sim:cdna3", "", "")
	pairs = slices.DeleteFunc(pairs, func(p devices.Pair) bool { return p.K > 8 })[tier.Of(2, 2, 0):4] // the quick ones
	for _, most := range tier.Of([]int{9}, []int{9}, []int{1, 3, 9, 30}) {
		cfg := Config{Pairs: pairs, Seed: 1, Count: 8000, MaxFindings: most, Workers: 1}
		s := runCampaign(t, cfg)
		n, causes := 0, map[string]bool{}
		for _, p := range s.Pairs {
			n += len(p.Findings)
			for _, f := range p.Findings {
				causes[f.Bucket] = true
			}
		}
		_, _, all := s.Totals()
		if n > most || len(causes) != min(most, all) {
			t.Errorf("at most %d: %d findings of %d causes, of %d", most, n, len(causes), all)
		}
		if most == 9 && (n <= len(causes) || s.NotKept() == 0) {
			t.Errorf("%d findings, %d not kept", n, s.NotKept())
		}
		if most == 9 && !s.Full(9) || s.Full(1000) {
			t.Errorf("%d findings: 9 are all that there is room for: %t; 1000: %t", n, s.Full(9), s.Full(1000))
		}
		cfg.Workers = 5
		if diff := cmp.Diff(stateText(t, s), stateText(t, runCampaign(t, cfg))); diff != "" {
			t.Errorf("at most %d: five workers keep others:\n%s", most, diff)
		}
	}
}

// TestRefuted checks that a program which explains all the evidence that there is room for, and
// is wrong in a few of the other cases, is not the last word. The unit has two changes; after
// the first epoch the verdict becomes one that lacks the second change, and the evidence what
// does not show it.
func TestRefuted(t *testing.T) {
	tier.SkipUnderRace(t)
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.bf16.bf16.f32", func(p *mma.Params) { p.Join.Align.F, p.Join.Align.Floor = 24, -132 })
	c, err := New(Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	step(t, c)
	st, base := c.state.Pairs[0], pair.A.Instruction().Params
	right := st.Verdict
	wrong := *right
	wrong.Program = base
	wrong.Program.Join.Align.F = 24
	if wrong.Changes = mma.Diff(&base, &wrong.Program); len(right.Changes) != 2 || len(wrong.Changes) != 1 {
		t.Fatalf("the first verdict has the changes %v, want two", right.Changes)
	}
	p := c.pairs[0]
	model, err := sim.New(p.Spec.Formats, right.K, wrong.Program)
	if err != nil {
		t.Fatal(err)
	}
	explained := func(all []finding.Sample) (some []finding.Sample) {
		for _, s := range all {
			if oracle.Compare(p.Spec.D, p.Policy, model.Dot(p.Dot(1, s.CaseRef), nil), s.B) == oracle.Same {
				some = append(some, s)
			}
		}
		return some
	}
	before := len(st.Differ)
	st.Agree = explained(st.Agree)
	if st.Differ = explained(st.Differ); len(st.Differ) == before || len(st.Differ) == 0 {
		t.Fatalf("the second change shows in %d of %d cases", before-len(st.Differ), before)
	}
	for len(st.Differ) < finding.EvidenceKept {
		st.Differ = append(st.Differ, st.Differ...)
	}
	st.Differ = st.Differ[:finding.EvidenceKept]
	st.Verdict, st.Buckets = &wrong, map[string]*finding.Bucket{}
	step(t, c)
	step(t, c)
	if diff := cmp.Diff(right.Program, st.Verdict.Program); diff != "" {
		t.Errorf("the verdict is still another one than at first:\n%s", diff)
	}
	if b := st.Buckets[string(triage.Unexplained)]; b != nil {
		t.Errorf("%d cases are unexplained", b.Cases)
	}
}

// step runs an epoch of a campaign.
func step(t *testing.T, c *Campaign) {
	t.Helper()
	e := c.newEpoch(c.plan())
	if complete, err := c.epoch(t.Context(), e); err != nil || !complete {
		t.Fatal(complete, err)
	}
	if err := c.commit(e); err != nil {
		t.Fatal(err)
	}
}

// TestSearchedAgain has a unit whose program only the wide search finds, with more effort than
// a campaign has for it in the first epochs.
func TestSearchedAgain(t *testing.T) {
	if !tier.Nightly() {
		t.Skip("searches for a program several times: only with MMAFUZZ_LONG=nightly")
	}
	tier.SkipUnderRace(t)
	pair := boxedPair(t, "hopper", "mma.m16n8k16.f32.f16.f16.f32", func(p *mma.Params) { p.Join.Align.F, p.Join.CDrop = 35, 30 })
	s := runCampaign(t, Config{Pairs: []devices.Pair{pair}, Seed: 1, Count: 130_000, NoInfer: true})
	if v := s.Pairs[0].Verdict; !v.Complete() {
		t.Errorf("%+v", v)
	}
}

// TestReferenceIsKnown checks that a reference's own program is what names the differences
// from it, although its results do not come from this program: where every search finds
// another program first that gives the same results for a single product.
func TestReferenceIsKnown(t *testing.T) {
	s := runCampaign(t, Config{Pairs: pairsOf(t, "sim:arm", "ref:exact", "fmlal.rd.fz", ""), Seed: 1, Count: 5000})
	p := s.Pairs[0]
	if v := p.Verdict; v == nil || !v.Known {
		t.Errorf("the verdict does not come from the two programs: %+v", v)
	}
	var causes []string
	for _, b := range p.Sorted() {
		causes = append(causes, b.Name)
	}
	if want := []string{"rounding-asymmetry", "input-ftz"}; !slices.Equal(causes, want) {
		t.Errorf("causes %s, want %s", causes, want)
	}
}

// detailsOf counts the details of a pair.
func detailsOf(p *finding.PairState) int {
	n := 0
	for _, b := range p.Buckets {
		n += len(b.Details)
	}
	return n
}
