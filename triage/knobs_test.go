package triage

import (
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestSingles checks the mutants of every arithmetic of the catalogue: valid,
// different from it and from each other, of one label or the few that belong
// together; and that every knob turns somewhere.
func TestSingles(t *testing.T) {
	turned := map[string]bool{}
	for _, i := range mma.Arithmetics() {
		seen := map[mma.Params]bool{i.Params: true}
		for _, s := range Singles(i.Params, i.Formats, i.K) {
			turned[s.Knob] = true
			if seen[s.Params] {
				t.Errorf("%s: %s gives %v, which was there", i.FullName(), s.Knob, mma.Diff(&i.Params, &s.Params))
			}
			seen[s.Params] = true
			if err := s.Params.Validate(i.Formats, i.K); err != nil {
				t.Errorf("%s: %s: %v", i.FullName(), s.Knob, err)
			}
			if ls := LabelsOf(&i.Params, &s.Params); len(ls) == 0 || slices.Contains(ls, Unexplained) {
				t.Errorf("%s: %s has labels %v", i.FullName(), s.Knob, ls)
			}
		}
	}
	for _, k := range knobs {
		if !turned[k.name] {
			t.Errorf("%s turns nothing in any arithmetic", k.name)
		}
	}
}

// TestSinglesOfOne lists the mutants that the table of the generators and the
// confusion table are made of, for one arithmetic.
func TestSinglesOfOne(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	p := mma.TFDPA(8, 24, mma.To(fp.FP32, fp.RZ), -132)
	var got []string
	for _, s := range Singles(p, f, 16) {
		if c := mma.Diff(&p, &s.Params); len(c) == 1 {
			got = append(got, c[0].String())
		}
	}
	for _, want := range []string{
		"join.align.f 24→21", "join.align.f 24→22", "join.align.f 24→23", "join.align.f 24→25", "join.align.f 24→26", "join.align.f 24→27",
		"l 8→4", "l 8→16", "l 8→1",
		"order ascending→descending", "order ascending→halves",
		"acc.mode rz→rd", "acc.mode rz→rne", "join.align.mode rz→rd", "join.align.mode rz→rne",
		"join.align.floor -132→-131", "join.align.floor -132→-133", "join.align.floor -132→none",
		"in.sub keep→zero", "in.c keep→plus-zero", "acc.flush keep→before",
		"special.nan ones→quiet", "special.negzero false→true", "special.tinysign false→true",
		"acc.over inf→max", "join.cdrop exact→24", "prod.exp field-sum→normalised",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among the mutants", want)
		}
	}
	if len(got) < 60 {
		t.Errorf("only %d mutants of one field", len(got))
	}
}

func TestSubsets(t *testing.T) {
	for _, tc := range []struct {
		n, size int
		want    []uint32
	}{
		{3, 1, []uint32{1, 2, 4}},
		{3, 2, []uint32{3, 5, 6}},
		{4, 2, []uint32{3, 5, 6, 9, 10, 12}},
		{3, 3, []uint32{7}},
	} {
		var got []uint32
		for s := range subsets(tc.n, tc.size) {
			got = append(got, s)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%d of %d: %v, want %v", tc.size, tc.n, got, tc.want)
		}
	}
}

func TestBitset(t *testing.T) {
	b := newBitset(130)
	for _, i := range []int{0, 63, 64, 129} {
		b.set(i)
	}
	if want := (bitset{1 | 1<<63, 1, 2}); !slices.Equal(b, want) || b.count() != 4 {
		t.Errorf("%x with %d bits, want %x", b, b.count(), want)
	}
}
