package engine

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
	"github.com/mmafuzz/mmafuzz/triage/infer"
)

// mortal is a unit that stops answering after some calls.
type mortal struct {
	devices.Unit
	left atomic.Int64
}

func (u *mortal) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	if u.left.Add(-1) < 0 {
		return errors.New("it has stopped answering")
	}
	return u.Unit.Run(ctx, in, out)
}

// blackBoxes is a pair of units of which nothing is known: an FMA that rounds to nearest, and one
// that rounds toward zero, or one that is no program.
func blackBoxes(t testing.TB, b func(m *sim.Model, d *mma.Dot) uint64) devices.Pair {
	t.Helper()
	i := &mma.Instruction{Name: "fma", K: 1, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}}
	of := func(mode fp.Mode) *sim.Model {
		m, err := sim.New(i.Formats, i.K, mma.Params{Acc: mma.To(fp.FP32, mode)})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	rne, rz := of(fp.RNE), of(fp.RZ)
	return devices.Pair{TargetA: "a", TargetB: "b", K: 1,
		A: devices.Func(i, func(d *mma.Dot) uint64 { return rne.Dot(d, nil) }),
		B: devices.Func(i, func(d *mma.Dot) uint64 { return b(rz, d) })}
}

func toZero(m *sim.Model, d *mma.Dot) uint64 { return m.Dot(d, nil) }

// TestInferred compares two units of which nothing is known: one is inferred, and a change of its
// program explains the other. A resumed campaign does not infer again, and finds the same.
func TestInferred(t *testing.T) {
	cfg := Config{Pairs: []devices.Pair{blackBoxes(t, toZero)}, Seed: 1, Count: 9000, Bundles: t.TempDir()}
	whole := runCampaign(t, cfg)
	st := whole.Pairs[0]
	if v := st.Verdict; v == nil || !v.Complete() || mma.Brief(v.Changes) != "rounding of the result to nearest even→toward zero" || !st.BaseA {
		t.Fatalf("%+v", v)
	}
	if len(st.Inferred) != 1 || st.Inferred[0].Side != "a" || st.Inferred[0].Verdict != infer.Found || st.Inferred[0].Tested < 10_000 {
		t.Errorf("%+v", st.Inferred)
	}
	pic, err := bundle.Picture(st.Findings[0].Mismatch, "")
	if err != nil || pic.A.Trace == nil || pic.B.Trace == nil || !pic.A.Inferred {
		t.Errorf("a finding has no picture of the program that was found: %v", err)
	}
	cfg.Bundles = ""
	cfg.Journal = filepath.Join(t.TempDir(), JournalFile)
	for _, cfg.Count = range []uint64{4096, 9000} { // an epoch, then the rest
		s := runCampaign(t, cfg)
		if n := len(s.Pairs[0].Inferred); n != 1 {
			t.Errorf("count %d: inferred %d times", cfg.Count, n)
		}
		if diff := gocmp.Diff(causesText(whole), causesText(s)); cfg.Count == 9000 && diff != "" {
			t.Error(diff)
		}
	}
	cfg.Journal, cfg.NoInfer = "", true
	if st := runCampaign(t, cfg).Pairs[0]; st.Inferred != nil || st.Verdict != nil {
		t.Errorf("with NoInfer: %+v, %+v", st.Inferred, st.Verdict)
	}
}

// TestInferredByWorkers: what is known of a program from one epoch on shows in the features that any number of
// workers find in the next ones.
func TestInferredByWorkers(t *testing.T) {
	var want string
	for _, workers := range []int{1, 2, 7} {
		got := stateText(t, runCampaign(t, Config{Pairs: []devices.Pair{blackBoxes(t, toZero)}, Seed: 1, Count: 100_000, Workers: workers}))
		if want = cmp.Or(want, got); got != want {
			t.Errorf("%d workers find something else than one: %s", workers, gocmp.Diff(want, got))
		}
	}
}

// TestInferMortal: a unit that stops answering while it is inferred ends nothing but that: the
// campaign meets it itself.
func TestInferMortal(t *testing.T) {
	for _, calls := range []int64{40, 60} {
		p := blackBoxes(t, toZero)
		u := &mortal{Unit: p.A}
		u.left.Store(calls)
		p.A = u
		c, err := New(Config{Pairs: []devices.Pair{p}, Seed: 1, Count: 9000, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		var gone *GoneError
		if err := c.Run(t.Context()); !errors.As(err, &gone) {
			t.Errorf("%d calls: %v", calls, err)
		}
	}
}

// TestInferredBesideReference checks that the program of a black box that inference finds is
// compared with that of a reference, which a campaign asks with care.
func TestInferredBesideReference(t *testing.T) {
	p, err := newPair(&Config{}, boxedReference(t))
	if err != nil {
		t.Fatal(err)
	}
	new(Campaign).askWithCare(0, p)
	if _, ok := p.B.(*slowUnit); !ok || p.Programs != nil {
		t.Fatalf("B is a %T, programs %v", p.B, p.Programs)
	}
	chain := p.B.Instruction().Params
	chain.Lanes = 4
	p.Learn([]finding.Inferred{{Side: "a", Verdict: infer.Found, Params: &chain}})
	if p.Programs == nil {
		t.Error("the two programs are not compared")
	}
}

func boxedReference(t *testing.T) devices.Pair {
	ps := openPairs(t, "sim:ampere", "ref:fma32", "mma.m16n8k8.f32.f16.f16.f32")
	ps[0].A = &blackBox{Unit: ps[0].A}
	return ps[0]
}
