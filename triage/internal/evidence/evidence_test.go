package evidence

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/minimize"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

var (
	space = change.Space{Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}, K: 2}
	near  = mma.TFDPA(2, 24, mma.To(fp.FP32, fp.RZ), 0)
	right = mma.TFDPA(2, 25, mma.To(fp.FP32, fp.RZ), 0)
)

// dots returns a dot product on which near and right differ: 1*1 - 2^-25; and one, 1*1,
// on which they do not.
func dots() (shows, hides *mma.Dot) {
	hides = mma.NewDot(space.Formats, 2)
	hides.A[0], hides.B[0] = 0x3c00, 0x3c00
	shows = hides.Clone()
	shows.C = 0xb3000000
	return shows, hides
}

// filled returns evidence with n cases. The program near explains all but case number wrong.
func filled(t *testing.T, n, wrong int) *Evidence {
	t.Helper()
	e := New(space, oracle.Policy{})
	shows, hides := dots()
	for i := range n {
		d, family := hides, "even"
		if i == wrong {
			d = shows
		}
		if i%2 == 1 {
			family = "odd"
		}
		c, err := e.Predicted(&right, []*mma.Dot{d})
		if err != nil {
			t.Fatal(err)
		}
		e.Add(family, []*mma.Dot{d}, c.Want)
	}
	return e
}

// TestExplains has one case that tells two programs apart among many, at places in every
// batch that Explains makes.
func TestExplains(t *testing.T) {
	const n = 120
	for _, wrong := range []int{0, 7, 8, 31, 32, 103, 104, n - 1} {
		e := filled(t, n, wrong)
		if e.Explains(&near) || !e.Explains(&right) {
			t.Errorf("case %d: explained by the wrong program, or not by the right one", wrong)
		}
		hits := e.Hits(&near, e.All())
		if got := n - Total(hits); got != 1 {
			t.Errorf("case %d: %d cases are not explained", wrong, got)
		}
		if got := e.Counts([]mma.Params{near, right, {}}, e.All()); !slices.Equal(got, []int{n - 1, n, -1}) {
			t.Errorf("case %d: %v cases explained", wrong, got)
		}
		r := rand.New(rand.NewPCG(1, 1))
		if got := e.Sample(hits, false, r, 5); len(got) != 1 || hits[got[0]] {
			t.Errorf("case %d: sample %v of the cases that are not explained", wrong, got)
		}
		even := 0
		for _, i := range e.Sample(hits, true, r, 10) {
			if i < n/2 {
				even++
			}
		}
		if even != 5 {
			t.Errorf("case %d: %d of 10 are of the first family", wrong, even)
		}
	}
}

func TestAddFirst(t *testing.T) {
	e := filled(t, 4, -1)
	shows, _ := dots()
	e.AddFirst("even", []*mma.Dot{shows}, []uint64{7})
	if f := e.Families[0]; f.Name != "even" || len(f.Dots) != 3 || f.Dots[0] != shows || e.All().Want[0] != 7 {
		t.Errorf("the first case is not the new one: %v", e.All().Want)
	}
	if first := e.First(1); len(first.All().Want) != 3 || len(e.All().Want) != 5 {
		t.Errorf("%d cases of the first family, %d in all", len(first.All().Want), len(e.All().Want))
	}
}

func TestLoosely(t *testing.T) {
	e := New(space, oracle.Policy{})
	_, d := dots()
	d.A[0] = 0x7c01 // NaN
	e.Add("nan", []*mma.Dot{d}, []uint64{0x7fc12345})
	if e.Explains(&right) || !e.Loosely().Explains(&right) {
		t.Error("another NaN is the same by bits, or is not by class")
	}
}

func TestShrink(t *testing.T) {
	start, _ := dots()
	start.A[1], start.B[1] = 0x3c00, 0x3c00
	small, err := Shrink(context.Background(), space.Formats, start, OneByOne(func(d *mma.Dot) bool { return d.C != 0 }), minimize.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if small.C == 0 || small.A[0]|small.A[1]|small.B[0]|small.B[1] != 0 {
		t.Errorf("not the smallest: %s", mma.FormatDot(space.Formats, small))
	}
}
