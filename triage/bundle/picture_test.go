package bundle

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// TestPictureOfFault draws sides that have failed on an input on which their program gives 0:
// they have no result, and no trace.
func TestPictureOfFault(t *testing.T) {
	i, err := mma.Lookup("hopper", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	failed := corpus.SideRecord{Target: "a", Instruction: i.Name, K: i.K, Result: corpus.NoResult, Known: true, Params: &i.Params}
	zero := corpus.SideRecord{Target: "b", Instruction: i.Name, K: i.K, Result: "00000000", Known: true, Params: &i.Params}
	const (
		noA    = "A failed on this input and gave no result."
		noB    = "B failed on this input and gave no result."
		exact  = "The exact value is 0"
		result = " gives `00000000` (0). The exact value is 0: the error is 0 (ulp: unit in the last place, of the exact value)."
	)
	for _, tc := range []struct {
		name  string
		a, b  corpus.SideRecord
		words []string // after those about the input
	}{
		{"a", failed, zero, []string{noA, "B" + result}},
		{"b", zero, failed, []string{noB, "A" + result}},
		{"both", failed, failed, []string{noA, noB, exact + "."}},
	} {
		pic, err := Picture(&corpus.Mismatch{A: tc.a, B: tc.b, Formats: i.Formats, K: i.K, Case: "0000 0000 00000000", Bucket: "fault"}, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []struct {
			record *corpus.SideRecord
			drawn  *report.Side
		}{{&tc.a, &pic.A}, {&tc.b, &pic.B}} {
			if none := s.record.Result == corpus.NoResult; s.drawn.Failed != none || (s.drawn.Trace == nil) != none {
				t.Errorf("%s: %s is drawn as failed: %v, with a trace: %v", tc.name, s.drawn.Name, s.drawn.Failed, s.drawn.Trace != nil)
			}
		}
		words := slices.DeleteFunc(report.InWords(pic)[1:], func(text string) bool { return !slices.Contains(tc.words, text) })
		if !slices.Equal(words, tc.words) {
			t.Errorf("%s: %q, want %q", tc.name, report.InWords(pic), tc.words)
		}
	}
}

// TestPictureAsListed draws a side that computes as a listed target does with the program of that
// target, where the other side's program was inferred and is an odd way to write it.
func TestPictureAsListed(t *testing.T) {
	i, err := mma.Lookup("turing", "mma.m16n8k8.f32.f16.f16.f32")
	if err != nil {
		t.Fatal(err)
	}
	odd := i.Params
	odd.Prod.Gate, odd.Special.NegZero = mma.GateSkipNumbers, true
	own := odd
	own.Special.NegZero = false
	changes := mma.Diff(&odd, &own)
	for _, tc := range []struct {
		name  string
		known bool
		alike []string
		want  mma.Gate
		model string // "": inferred
		own   *mma.Params
		arch  string
	}{
		{"inferred", false, []string{"sim:" + i.FullName()}, mma.GateOff, "sim:" + i.FullName(), nil, ""},
		{"nothing listed", false, nil, mma.GateSkipNumbers, "the changed arithmetic of A", nil, ""},
		{"no such target", false, []string{"sim:turing/none"}, mma.GateSkipNumbers, "the changed arithmetic of A", nil, ""},
		{"known", true, []string{"sim:" + i.FullName()}, mma.GateSkipNumbers, "the changed arithmetic of A", nil, ""},
		{"it was inferred, too", false, nil, mma.GateSkipNumbers, "", &own, "exec"},
		{"it is in the catalogue", true, nil, mma.GateSkipNumbers, "the changed arithmetic of A", &own, "turing"},
	} {
		pic, err := Picture(&corpus.Mismatch{
			A: corpus.SideRecord{Target: "a", Instruction: i.Name, K: i.K, Result: "80000000", Known: tc.known, Params: &odd},
			B: corpus.SideRecord{Target: "b", Instruction: i.Name, K: i.K, Result: "00000000", Params: tc.own, Arch: tc.arch}, Formats: i.Formats, K: i.K,
			Case: "0000 0000 80000000", Bucket: "signed-zero", Base: "a", Changes: changes, ProgramK: i.K, Alike: tc.alike,
		}, "")
		if err != nil {
			t.Fatal(err)
		}
		if pic.B.Trace == nil || pic.B.Params.Prod.Gate != tc.want || pic.B.Model != tc.model {
			t.Errorf("%s: drawn with %q, %v, not with gate %v", tc.name, pic.B.Model, pic.B.Params, tc.want)
		}
	}
}

// TestChanges holds that a case has its own changes where they are known, from A to B.
func TestChanges(t *testing.T) {
	width, step := mma.Change{Path: "join.align.f", From: "24", To: "25"}, mma.Change{Path: "l", From: "8", To: "16"}
	for _, c := range []struct {
		name string
		m    corpus.Mismatch
		want []mma.Change
	}{
		{"of the pair", corpus.Mismatch{Changes: []mma.Change{width, step}, Base: "a"}, []mma.Change{width, step}},
		{"of the case", corpus.Mismatch{Changes: []mma.Change{width, step}, CaseChanges: []mma.Change{width}, Base: "a"}, []mma.Change{width}},
		{"of other cases", corpus.Mismatch{Changes: []mma.Change{width}, Base: "a", Bucket: "unexplained"}, nil},
		{"of B's arithmetic", corpus.Mismatch{CaseChanges: []mma.Change{width}, Base: "b"}, []mma.Change{{Path: "join.align.f", From: "25", To: "24"}}},
	} {
		if got := Changes(&c.m); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
