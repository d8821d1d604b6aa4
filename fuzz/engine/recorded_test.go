package engine

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// memory is a recording in memory, of dot products one to a tile.
type memory struct {
	inst      mma.Instruction
	explained bool
	in        *mma.Batch
	out       []byte
	faults    map[int]bool
	index     map[string]int
}

// remember records an instruction of an architecture on inputs of some generators;
// spoil changes its results.
func remember(t testing.TB, arch, name string, n uint64, spoil func(code uint64) uint64) *memory {
	t.Helper()
	i, err := mma.Lookup(arch, name)
	if err != nil {
		t.Fatal(err)
	}
	u, err := simulated.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	sp := gen.Spec{Formats: i.Formats, K: i.K}
	var dots []*mma.Dot
	for _, text := range []string{"normal@1", "cut@1[24,25]", "tie@1[24]"} {
		src, err := gen.ParseSource(text)
		if err != nil {
			t.Fatal(err)
		}
		for x := range n {
			dots = append(dots, src.Dot(sp, 1, x))
		}
	}
	m := &memory{inst: *i, in: mma.BatchOf(i.Formats, len(dots[0].A), dots), index: map[string]int{}}
	m.out = make([]byte, len(dots)*4)
	if err := u.Run(t.Context(), m.in, m.out); err != nil {
		t.Fatal(err)
	}
	for x, d := range dots {
		m.index[mma.FormatDot(i.Formats, d)] = x
		mma.Store(m.out, 4, x, spoil(mma.Load(m.out, 4, x)))
	}
	m.inst.Unknown = 0
	return m
}

func asIs(code uint64) uint64 { return code }

func (m *memory) Instruction() *mma.Instruction         { return &m.inst }
func (m *memory) Model() *mma.Params                    { return nil }
func (m *memory) Explained() bool                       { return m.explained }
func (m *memory) Recorded() int                         { return m.in.Tiles }
func (m *memory) Length() int                           { return m.in.K }
func (m *memory) Origin(n int) (string, uint64, uint64) { return "test", 1, uint64(n) }

func (m *memory) Load(from int, in *mma.Batch, out []byte) (err error) {
	d := mma.NewDot(in.Formats, in.K)
	for n := range in.Tiles {
		m.in.Get(from+n, d)
		in.Set(n, d)
		mma.Store(out, 4, n, mma.Load(m.out, 4, from+n))
		if m.faults[from+n] {
			err = &devices.FaultError{Target: "memory", What: "recorded"}
		}
	}
	return err
}

func (m *memory) Run(_ context.Context, in *mma.Batch, out []byte) error {
	d := mma.NewDot(in.Formats, in.K)
	for i := range in.Dots() {
		in.Get(i, d)
		x, ok := m.index[mma.FormatDot(in.Formats, d)]
		switch {
		case !ok:
			return devices.ErrNoRecording
		case m.faults[x]:
			return &devices.FaultError{Target: "memory", What: "recorded"}
		}
		mma.Store(out, 4, i, mma.Load(m.out, 4, x))
	}
	return nil
}

const (
	k16 = "mma.m16n8k16.f32.f16.f16.f32"
	k4  = "mma.m8n8k4.f32.f16.f16.f32"
)

func recordedPair(a, b *memory) devices.Pair {
	return devices.Pair{A: a, B: b, TargetA: "a", TargetB: "b", K: a.inst.K}
}

// TestTwoRecordings compares two recordings of which the models are known: every
// difference is explained by them, and cases are shrunk through both.
func TestTwoRecordings(t *testing.T) {
	a, b := remember(t, "ampere", k16, 256, asIs), remember(t, "hopper", k16, 256, asIs)
	a.explained, b.explained = true, true
	p := runCampaign(t, Config{Pairs: []devices.Pair{recordedPair(a, b)}, Seed: 1}).Pairs[0]
	if p.Dots != 768 || p.Mismatches() == 0 {
		t.Fatalf("%d mismatches of %d", p.Mismatches(), p.Dots)
	}
	if got, want := sprint(p.Verdict.Changes), "[l 8→16 join.align.f 24→25]"; got != want {
		t.Errorf("verdict %s, want %s: what of the models' difference shows in FP16", got, want)
	}
	for _, bucket := range p.Sorted() {
		if strings.HasPrefix(bucket.Name, "unexplained") {
			t.Errorf("bucket %+v", bucket)
		}
	}
	if n := detailsOf(p); len(p.Findings) != n || n <= len(p.Buckets) {
		t.Errorf("%d findings of %d details in %d buckets", len(p.Findings), n, len(p.Buckets))
	}
	for _, f := range p.Findings {
		if _, ok := a.index[mma.FormatDot(a.inst.Formats, f.Dot)]; !f.OnModel || !f.Minimal || ok {
			t.Errorf("%s: through %v, minimal %v, recorded %v: %s", f.Bucket, f.OnModel, f.Minimal, ok, mma.FormatDot(a.inst.Formats, f.Dot))
		}
	}
}

// TestRecordingUnexplained compares a recording that no model explains: its cases
// are kept as they were recorded, and told by their digest.
func TestRecordingUnexplained(t *testing.T) {
	tier.SkipUnderRace(t)
	tier.LongOnly(t)
	flip := func(code uint64) uint64 {
		if code&7 == 5 {
			return code ^ 2
		}
		return code
	}
	const n = 128
	run := func(spoil func(uint64) uint64) *finding.PairState {
		a, b := remember(t, "volta", k4, n, asIs), remember(t, "volta", k4, n, spoil)
		a.explained = true
		return runCampaign(t, Config{Pairs: []devices.Pair{recordedPair(a, b)}, Seed: 1}).Pairs[0]
	}
	one := run(flip)
	other := run(func(code uint64) uint64 { // some cases are others
		if code&0x3f == 5 {
			return code ^ 4
		}
		return flip(code)
	})
	bucket := one.Buckets["unexplained"]
	if bucket == nil || bucket.Digest == 0 {
		t.Fatalf("%+v", bucket)
	}
	if again := run(flip); !reflect.DeepEqual(again.Buckets["unexplained"], bucket) {
		t.Errorf("%+v, again %+v", bucket, again.Buckets["unexplained"])
	}
	if o := other.Buckets["unexplained"]; o.Digest == bucket.Digest || o.Cases == 0 {
		t.Errorf("other cases, %+v, have the digest of %+v", o, bucket)
	}
	if len(one.Findings) != 1 || one.Findings[0].OnModel || one.Findings[0].Minimal || !one.Findings[0].Dot.Equal(one.Findings[0].Start) {
		t.Errorf("%+v", one.Findings)
	}
}

// TestRecordedFaults plays a recording with faults: they are counted as such, the
// rest is compared.
func TestRecordedFaults(t *testing.T) {
	a := remember(t, "ampere", k16, 64, asIs)
	a.faults = map[int]bool{3: true, 100: true}
	b := openPairs(t, "sim:ampere", "sim:hopper", k16)[0].A
	p := runCampaign(t, Config{Pairs: []devices.Pair{{A: a, B: b, TargetA: "a", TargetB: "sim:ampere", K: 16}}, Seed: 1}).Pairs[0]
	if p.Classes[oracle.Fault] != 2 || p.Classes[oracle.Same] != p.Dots-2 || p.Dots != 192 {
		t.Errorf("classes %v of %d", p.Classes, p.Dots)
	}
	if f := p.Buckets["fault"]; f == nil || f.Cases != 2 {
		t.Errorf("buckets %v", p.Buckets)
	}
}

// TestKeep wants findings of one primary cause only: the others are counted all the same.
func TestKeep(t *testing.T) {
	a, b := remember(t, "ampere", k16, 128, asIs), remember(t, "hopper", k16, 128, asIs)
	a.explained, b.explained = true, true
	cfg := Config{Pairs: []devices.Pair{recordedPair(a, b)}, Seed: 1}
	all := runCampaign(t, cfg).Pairs[0]
	cfg.Keep = func(pair int, bucket *finding.Bucket, v *triage.Verdict) bool {
		return pair == 0 && bucket.Name == "truncation-width" && v.Found()
	}
	some := runCampaign(t, cfg).Pairs[0]
	var wanted []*finding.Case
	for _, f := range all.Findings {
		if f.Bucket == "truncation-width" {
			wanted = append(wanted, f)
		}
	}
	if len(wanted) == 0 || len(wanted) == len(all.Findings) || !reflect.DeepEqual(some.Findings, wanted) {
		t.Errorf("%d findings, want %d of %d", len(some.Findings), len(wanted), len(all.Findings))
	}
	if !slices.EqualFunc(all.Sorted(), some.Sorted(), func(x, y *finding.Bucket) bool { return reflect.DeepEqual(x, y) }) {
		t.Errorf("buckets %v, want %v", some.Sorted(), all.Sorted())
	}
}
