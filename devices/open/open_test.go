package open_test

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/devices/open"
	_ "github.com/mmafuzz/mmafuzz/devices/reference" // ref:
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
)

// TestUnit checks what is said of targets and instructions that cannot be opened.
func TestUnit(t *testing.T) {
	const mma = "mma.m16n8k8.f32.f16.f16.f32"
	for _, c := range []struct{ target, inst, like, err, hint string }{
		{"sim:ampere", mma, "", "", ""},
		{"sim:ampere/" + mma, "", "", "", ""},
		{"ref:exact", mma, "sim:ampere", "", ""},
		{"", mma, "", "--target is missing", "for example --target sim:hopper; mmafuzz list targets lists them"},
		{"sim:ampere/" + mma, mma, "", "--target sim:ampere/" + mma + " and --inst " + mma + " both name the instruction", "leave one out"},
		{"sim:ampere", mma, "sim:hopper", "--like is for reference arithmetic, sim:ampere has instructions of its own", "leave --like out"},
		{"ref:exact", mma, "", "ref:exact works on any formats", "give them with --like, for example --like sim:hopper"},
	} {
		target, _, err := open.Unit(c.target, c.inst, c.like)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			target.Close()
		}
		if got != c.err || hint.Of(err) != c.hint {
			t.Errorf("%s %s: %q (%s), want %q (%s)", c.target, c.inst, got, hint.Of(err), c.err, c.hint)
		}
	}
}

// TestSet pairs targets in the ways that a set can, and opens each of them once.
func TestSet(t *testing.T) {
	const mma = "mma.m16n8k8.f32.f16.f16.f32"
	var s open.Set
	defer s.Close()
	var left []string
	leftOut := func(a, b string, _ error) { left = append(left, a+" "+b) }
	pairs, err := s.AllPairs([]string{"sim:ampere", "sim:hopper", "sim:cdna3"}, mma, leftOut)
	if err != nil || len(pairs) != 3 {
		t.Errorf("%d pairs, left out: %q, %v", len(pairs), left, err)
	}
	if all, err := s.WithAll("sim:ampere", mma, leftOut); err != nil || len(all) < len(pairs) {
		t.Errorf("%d pairs with all, %v", len(all), err)
	}
	if _, err := s.Pairs("ref:exact", "ref:exact", "", ""); err == nil || hint.Of(err) == "" {
		t.Errorf("two references: %v", err)
	}
	_, err = s.Pairs("sim:hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "sim:blackwell", "", "tcgen05.mma.cta_group::1.kind::f8f6f4")
	if err == nil || !strings.Contains(err.Error(), "nearest: tcgen05.m128n8k32.kind::f8f6f4.f32.e4m3.e4m3,") || !strings.Contains(hint.Of(err), "list instructions sim:blackwell") {
		t.Errorf("an instruction that B does not have: %v, hint: %s", err, hint.Of(err))
	}
	var without open.Set
	defer without.Close()
	if _, err := without.Pairs("sim:hopper", "sim:blackwell", "", ""); err != nil || !strings.Contains(without.LeftOutInShort(), "24 instructions that the other side has under another name") {
		t.Errorf("left out: %q, %v", without.LeftOutInShort(), err)
	}
	a, _ := s.Target("sim:ampere")
	if b, _ := s.Target("sim:ampere"); a == nil || a != b {
		t.Error("a target is opened twice")
	}
}
