package cases_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated" // sim:
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/cases"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// TestTriage explains a bundle anew, unless its units must not be opened.
func TestTriage(t *testing.T) {
	pair, dir := differing(t)
	refused := errors.New("refused")
	for _, c := range []struct {
		name string
		may  func(*corpus.Mismatch) error
		note func(string)
		err  error
	}{
		{"without callbacks", nil, nil, nil},
		{"refused", func(*corpus.Mismatch) error { return refused }, func(string) { t.Error("a note on a bundle that is not examined") }, refused},
	} {
		o, err := cases.Triage(t.Context(), dir, false, c.may, c.note)
		if err != c.err || err == nil && !o.Confirmed() {
			t.Errorf("%s: %+v, %v; want %v", c.name, o, err, c.err)
		}
	}
	inputs, err := cases.Seeds(pair, []string{dir}, nil)
	if all := len(fuzz.NewPairChecker(pair).Seeds()) + 1; err != nil || len(inputs) != all {
		t.Errorf("%d seeds, %v; want %d", len(inputs), err, all)
	}
}

// differing returns a pair with the bundle of a case on which its units differ.
func differing(t *testing.T) (pair devices.Pair, dir string) {
	t.Helper()
	const name = "mma.m16n8k8.f32.f16.f16.f32"
	pair = devices.Pair{TargetA: "sim:ampere", TargetB: "sim:hopper", K: 8}
	var err error
	if pair.A, err = devices.OpenUnit(pair.TargetA, name, ""); err != nil {
		t.Fatal(err)
	}
	if pair.B, err = devices.OpenUnit(pair.TargetB, name, ""); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "bundle")
	err = bundle.Write(dir, &corpus.Mismatch{
		A:       corpus.SideRecord{Target: pair.TargetA, Instruction: name, Arch: "ampere", K: pair.K, Result: "3f800000"},
		B:       corpus.SideRecord{Target: pair.TargetB, Instruction: name, Arch: "hopper", K: pair.K, Result: "3f7fffff"},
		Formats: pair.Formats(), K: pair.K, Case: "3c00 3c00 b3400000", Class: "value", Bucket: "truncation-width",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pair, dir
}
