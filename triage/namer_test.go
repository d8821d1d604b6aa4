package triage_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// namer returns the namer of a pair whose difference is known.
func namer(a, b *mma.Instruction) *triage.Namer {
	pr := &triage.Problem{Formats: a.Formats, K: a.K, Base: a.Params}
	v := &triage.Verdict{Changes: mma.Diff(&a.Params, &b.Params), Program: b.Params, K: a.K}
	return triage.NewNamer(pr, v)
}

// TestNamer names single cases of a pair that differs in L and in F.
func TestNamer(t *testing.T) {
	a, b := find(t, ampere16), find(t, hopper16)
	b.Params.Join.Align.Floor = a.Params.Join.Align.Floor // no input of these formats shows it
	n := namer(a, b)
	zeros := strings.Repeat("0000,", 7) // to the second half of the products
	const l, f = "l 8→16", "join.align.f 24→25"
	for _, tc := range []struct{ dot, name, changes string }{
		// 1 - 2^-25: one bit more keeps the small term.
		{"3c00 3c00 b3000000", "truncation-width", f},
		// 2^24 + 1 + 1: the ones count together or, each truncated to 2^24, not at all.
		{"3c00," + zeros + "3c00 3c00," + zeros + "3c00 4b800000", "fusion-width", l},
		// 2.25 * 2^24 - 1: as one sum the window ends at 1, as the first sum's
		// result has the exponent 25, at 2. One bit more does as well.
		{"6e00," + zeros + "3c00 6e00," + zeros + "bc00 00000000", "fusion-width|truncation-width", l},
		// 1 + 4 * 2^-25, half of them after the eighth product: it takes the bit
		// to see them and one sum to add them up to something.
		{"3c00,0c00,0c00,0000,0000,0000,0000,0000,0c00,0c00 3c00,0800,0800,0000,0000,0000,0000,0000,0800,0800 00000000",
			"fusion-width+truncation-width", l + ", " + f},
		{"3c00 3c00 00000000", "unexplained", ""}, // equal on both
	} {
		d, err := mma.ParseDot(a.Formats, a.K, false, strings.Fields(tc.dot))
		if err != nil {
			t.Fatal(err)
		}
		want := model(t, b).Dot(d, nil)
		if tc.name == "unexplained" {
			want ^= 1 // and what a third unit gives
		}
		if got := n.Name(d, want); got != tc.name {
			t.Errorf("%s: %s, want %s", tc.dot, got, tc.name)
		}
		if got := changeText(n.Changes(d, want)); got != tc.changes {
			t.Errorf("%s: changes %s, want %s", tc.dot, got, tc.changes)
		}
	}
}

// TestNamerShares counts the names on normally distributed inputs. Of 7,151
// mismatches of Ampere and Hopper about 39 % need only L, 23 % only F, 12 %
// either and 27 % both.
func TestNamerShares(t *testing.T) {
	r := &regression{a: find(t, ampere16), b: find(t, hopper16)}
	pr := evidence(t, r, "normal", 4000)
	n := triage.NewNamer(pr, explain(t, pr))
	shares := map[string]int{}
	for _, c := range pr.Differ {
		shares[n.Name(c.Dot, c.Want)]++
	}
	for name, percent := range map[string]int{
		"fusion-width": 39, "truncation-width": 23, "fusion-width|truncation-width": 12, "fusion-width+truncation-width": 27,
	} {
		if got := 100 * shares[name] / len(pr.Differ); got < percent-4 || got > percent+4 {
			t.Errorf("%s: %d %%, want about %d %%", name, got, percent)
		}
		delete(shares, name)
	}
	if len(shares) > 0 {
		t.Errorf("other names: %v", shares)
	}
}

// TestNamerMany has a pair of more labels than are tried in all combinations, each
// of one change: of the names of more than two none has one too many.
func TestNamerMany(t *testing.T) {
	a := find(t, hopper16)
	b := changed(t, a, "l=8 join.align.f=24 acc.mode=rne special.nan=quiet in.sub=zero prod.exp=normalised acc.flush=before join.align.floor=-131")
	n := namer(a, b)
	names := map[int]bool{}
	for _, d := range inputs(a)(3, &a.Params, &b.Params) {
		x, y := model(t, a).Dot(d, nil), model(t, b).Dot(d, nil)
		if x == y {
			continue
		}
		name := n.Name(d, y)
		alternatives := strings.Split(name, "|")
		for _, alt := range alternatives {
			size := len(strings.Split(alt, "+"))
			names[size] = true
			if size > 2 && len(alternatives) > 1 {
				t.Fatalf("%s: %d labels and alternatives", alt, size)
			}
			if size != len(strings.Split(alternatives[0], "+")) {
				t.Fatalf("%s: sets of different sizes", name)
			}
		}
		with := func(changes []mma.Change) uint64 {
			c := *a
			if err := c.Params.Apply(changes); err != nil {
				t.Fatal(err)
			}
			return model(t, &c).Dot(d, nil)
		}
		changes := n.Changes(d, y)
		if got := with(changes); got != y {
			t.Fatalf("%s: its changes give %x, want %x", name, got, y)
		}
		for i := range changes {
			if with(slices.Delete(slices.Clone(changes), i, i+1)) == y {
				t.Fatalf("%s: without %s it explains the case too", name, changes[i])
			}
		}
	}
	if !names[1] || !names[2] || !names[3] || names[8] {
		t.Errorf("sizes of names: %v", names)
	}
}

// TestHolds puts programs to the evidence of a problem.
func TestHolds(t *testing.T) {
	r := &regression{a: find(t, ampere16), b: find(t, hopper16)}
	pr := evidence(t, r, "normal", 500)
	if !triage.Holds(pr, &r.b.Params) {
		t.Error("the unit's own program does not hold")
	}
	if triage.Holds(pr, &r.a.Params) {
		t.Error("the base holds, although cases differ")
	}
	pr.Differ = nil
	if !triage.Holds(pr, &r.a.Params) || triage.Holds(pr, &mma.Params{}) {
		t.Error("of agreeing cases alone the base holds, and an invalid program does not")
	}
}

// TestParts takes the difference of Ampere and Hopper apart.
func TestParts(t *testing.T) {
	a, b := find(t, ampere16), find(t, hopper16)
	var got []string
	for _, p := range triage.Parts(&a.Params, &b.Params) {
		got = append(got, fmt.Sprintf("%s: %s", p.Label, changeText(p.Changes)))
	}
	want := []string{"fusion-width: l 8→16", "truncation-width: join.align.f 24→25", "zero-exponent: join.align.floor -132→-133"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestNames names the cases of several pairs together, many and few of a batch: each
// as alone.
func TestNames(t *testing.T) {
	hopper, ampere := find(t, hopper16), find(t, ampere16)
	var together triage.Names
	for what, tc := range map[string]struct {
		b      *mma.Instruction
		policy oracle.Policy
	}{
		"two labels":  {ampere, oracle.Policy{}},
		"one label":   {changed(t, hopper, "join.align.f=24"), oracle.Policy{Zero: oracle.ByClass}},
		"many labels": {changed(t, hopper, "l=8 join.align.f=24 acc.mode=rne special.nan=quiet in.sub=zero prod.exp=normalised acc.flush=before join.align.floor=-131"), oracle.Policy{}},
	} {
		n := triage.NewNamer(&triage.Problem{Formats: hopper.Formats, K: hopper.K, Base: hopper.Params, Policy: tc.policy},
			&triage.Verdict{Changes: mma.Diff(&hopper.Params, &tc.b.Params), Program: tc.b.Params, K: hopper.K})
		names := map[string]bool{}
		for _, b := range []*mma.Batch{triage.Batch(hopper.Formats, inputs(hopper)(3, &hopper.Params, &tc.b.Params)), tiles(t, hopper)} {
			dot := mma.NewDot(b.Formats, b.K)
			for _, in := range []int{1, 2, 20, b.Dots() + 1} { // one case in so many
				var at []int32
				var want []uint64
				for i := in / 2; i < b.Dots(); i += in {
					b.Get(i, dot)
					code := model(t, tc.b).Dot(dot, nil)
					if i%16 == 0 {
						code ^= 1 // which nothing explains
					}
					at, want = append(at, int32(i)), append(want, code)
				}
				got := together.Name(n, b, at, want)
				if len(got) != len(at) {
					t.Fatalf("%s: %d names of %d cases", what, len(got), len(at))
				}
				for i, name := range got {
					b.Get(int(at[i]), dot)
					if alone := n.Name(dot, want[i]); name != alone {
						t.Fatalf("%s: output %d of %d x %d is %s, alone %s", what, at[i], b.M, b.N, name, alone)
					}
					names[name] = true
				}
			}
		}
		if len(names) < 2 || !names["unexplained"] {
			t.Errorf("%s: names %v", what, names)
		}
	}
}

// tiles returns some tiles of raw bits.
func tiles(t *testing.T, i *mma.Instruction) *mma.Batch {
	src, err := gen.ParseSource("raw")
	if err != nil {
		t.Fatal(err)
	}
	b := mma.NewBatch(i.Formats, mma.Shape{M: src.Generator.M, N: src.Generator.N, K: i.K, Tiles: 3})
	src.Fill(b, 1, 0)
	return b
}
