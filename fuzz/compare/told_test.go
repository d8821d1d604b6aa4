package compare

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/bundle"
)

// TestNamed compares two machines in both orders: the differences have the same ids, and result,
// page and bundles have the sides in the order in which they were named.
func TestNamed(t *testing.T) {
	f := fleet(t, map[string]string{"a": "sim:ampere", "b": "sim:hopper"})
	run := func(baseline *Result, first, second string) *Result {
		dir := t.TempDir()
		d, err := Hold(dir)
		if err != nil {
			t.Fatal(err)
		}
		c := comparison(t, Options{Out: dir, Baseline: baseline}, f[first], f[second])
		if err := c.Resume(d); err != nil {
			t.Fatal(err)
		}
		r, pairs := through(t, c)
		if err := d.Save(r); err != nil {
			t.Fatal(err)
		}
		if want := first + " ~ " + second; !slices.Equal(pairs, []string{want}) {
			t.Errorf("compared %v, want %s", pairs, want)
		}
		for i := range r.Differences {
			x := &r.Differences[i]
			if x.A != first || x.B != second {
				t.Errorf("%s is of %s and %s, want %s and %s", x.ID, x.A, x.B, first, second)
			}
			if x.Bundle == "" {
				continue
			}
			b, err := corpus.ReadBundle(x.Bundle)
			if err != nil {
				t.Fatal(err)
			}
			m := &b.Mismatch
			if m.A.Target != "replay:"+f[first] || m.B.Target != "replay:"+f[second] {
				t.Errorf("%s has the sides %s and %s", x.Bundle, m.A.Target, m.B.Target)
			}
			for _, change := range bundle.Changes(m) {
				if !slices.Contains(r.Cells[0].Changes, change) {
					t.Errorf("%s has the change %v, the result %v", x.Bundle, change, r.Cells[0].Changes)
				}
			}
			if dot, err := m.Dot(); err != nil {
				t.Error(err)
			} else if got := resultOf(t, m, dot); got != m.A.Result {
				t.Errorf("A of %s gives %s, but %s is kept", x.Bundle, got, m.A.Result)
			}
		}
		return r
	}
	ab, ba := run(nil, "a", "b"), run(nil, "b", "a")
	for i := range ab.Differences {
		x, y := &ab.Differences[i], &ba.Differences[i]
		if d := cmp.Diff(x.Changes, readable.Reversed(y.Changes)); x.ID != y.ID || d != "" {
			t.Errorf("%s and %s: %s", x.ID, y.ID, d)
		}
		for n := range x.Details {
			if d := cmp.Diff(x.Details[n].Changes, readable.Reversed(y.Details[n].Changes)); d != "" {
				t.Error(d)
			}
		}
	}
	last, err := Read(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(ba.Differences[0].Bundle)))), ResultFile))
	if err != nil {
		t.Fatal(err)
	}
	if again := run(last, "a", "b"); again.Counts.Still != len(ab.Differences) || len(again.Gone) > 0 {
		t.Errorf("after a night in the other order: %+v", again.Counts)
	}
	// A page has the order of its last night, whatever that of the nights before and of the bundles' machines.
	old := *ba
	old.Date = "2025-01-01"
	var text bytes.Buffer
	if err := Page([]Night{{Result: &old}, {Result: ab}}).Write(&text, "text", document.Options{Width: 200}); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text.Bytes(), []byte("a ~ b")) || bytes.Contains(text.Bytes(), []byte("b ~ a")) {
		t.Errorf("the page has another order:\n%s", &text)
	}
	// Nights of one day are told apart by their directories.
	text.Reset()
	if err := Page([]Night{{Result: ba, Dir: "n/mon"}, {Result: ab, Dir: "n/tue"}, {Result: &old, Dir: "n/sun"}}).Write(&text, "text", document.Options{Width: 200}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\nNIGHT ", "\n2025-01-01      ", "\n2026-01-01 mon  ", "\n2026-01-01 tue  "} {
		if !bytes.Contains(text.Bytes(), []byte(want)) {
			t.Errorf("no %q in\n%s", want, &text)
		}
	}
	text.Reset()
	if err := Page([]Night{{Result: ba}}).Write(&text, "text", document.Options{Width: 400}); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`A is .replay:[^ ]*/b\.rec/`).Match(text.Bytes()) || !bytes.Contains(text.Bytes(), []byte("(L) 8→4")) {
		t.Errorf("the page has another order than its bundles:\n%s", &text)
	}
}

// resultOf returns what the simulator of a mismatch's first side gives.
func resultOf(t *testing.T, m *corpus.Mismatch, dot *mma.Dot) string {
	t.Helper()
	u, err := devices.OpenUnit("sim:"+m.A.Arch, m.A.Instruction, "")
	if err != nil {
		t.Fatal(err)
	}
	b := mma.BatchOf(m.Formats, m.K, []*mma.Dot{dot})
	out := make([]byte, m.Formats.D.Width())
	if err := u.Run(t.Context(), b, out); err != nil {
		t.Fatal(err)
	}
	return mma.FormatCode(m.Formats.D, mma.Load(out, m.Formats.D.Width(), 0))
}

// TestBaseOf looks for the base of recordings of units that the catalogue does not have, which
// compute as several of its rows do.
func TestBaseOf(t *testing.T) {
	f := fleet(t, map[string]string{"a": "sim:ampere", "v": "model:testdata/narrow.json"})
	const name = "mma.m16n8k8.f32.tf32.tf32.f32"
	for _, tc := range []struct{ file, name, other, want string }{
		{"a", name, "", "ampere/" + name},
		{"a", name, "hopper", "ampere/" + name}, // which does not compute so
		{"a", name, "ada", "ada/" + name},
		{"a", "mine", "ada", "ada/mma.m16n8k4.f32.tf32.tf32.f32"},
		{"a", "mma.m16n8k8.mine", "", "ampere/" + name},
		{"v", name, "hopper", "ampere/" + name}, // though another row has more of its results
	} {
		s, err := Open(f[tc.file])
		if err != nil {
			t.Fatal(err)
		}
		i := s.Target.Instructions()[0]
		u, err := s.Target.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		i.Arch, i.Name = "exec", tc.name
		if base := baseOf(&modelled{Recorder: u.(devices.Recorder), inst: &i}, tc.other); base == nil || base.FullName() != tc.want {
			t.Errorf("%+v: %v", tc, base.FullName())
		}
	}
}

// TestComputesAs names the architecture that has an instruction, or else the row that computes so.
func TestComputesAs(t *testing.T) {
	for _, tc := range []struct{ base, instruction, want string }{
		{"ampere/mma.m16n8k16.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32", "sim:ampere"},
		{"turing/mma.m16n8k8.f32.f16.f16.f32", "mma.m16n8k16.f32.f16.f16.f32", "sim:turing/mma.m16n8k8.f32.f16.f16.f32"},
	} {
		m := Model{Machine: "m", Instruction: tc.instruction, Arithmetic: Arithmetic{Base: tc.base, Explained: true}}
		if got := newPrinter(TextOptions{}).computesAs("m", []Model{m}); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.base, got, tc.want)
		}
		if got := m.text(tc.instruction); got != "as "+tc.want {
			t.Errorf("%s: %s", tc.base, got)
		}
		odd := Model{Machine: "m", Instruction: "odd"}
		if got, want := newPrinter(TextOptions{}).computesAs("m", []Model{m, odd}), tc.want+" on 1 instruction; no model for odd"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
