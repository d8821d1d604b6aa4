package fuzz

import (
	"testing"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
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

func TestProto(t *testing.T) {
	ps := openPairs(t, "sim:ampere", "sim:hopper", "")
	t0 := time.Now()
	c, err := New(Config{Pairs: ps, Seed: 1, Count: 100000})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Log(time.Since(t0))
	for _, p := range c.State().Pairs {
		t.Log(p.Name, p.Dots, p.Classes, len(p.Features), len(p.Corpus))
		if p.Verdict != nil {
			t.Log(p.Verdict.Changes, p.Verdict.Labels, p.Verdict.Explained, p.Verdict.Asked, len(p.Verdict.Equivalent))
		}
		for _, b := range p.Sorted() {
			t.Log("   ", b.Name, b.Cases, b.MaxUlp)
		}
		for _, f := range p.Findings {
			t.Logf("   F %s %x %x c=%x -> %x %x %d q %d b", f.Bucket, f.Dot.A, f.Dot.B, f.Dot.C, f.A, f.B, f.Queries, f.Batches)
		}
	}
}
