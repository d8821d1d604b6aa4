package infer

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// tripled is a unit outside the space: it multiplies its result by 3.
func tripled(t testing.TB) *unit {
	u := newUnit(t, half, 1, mma.TFDPA(1, 23, mma.To(fp.FP32, fp.RZ), 0))
	f := fp.FP32.Get()
	u.spoil = func(_ *mma.Dot, code uint64, _, _ int, _ bool) (uint64, error) {
		n := f.Decode(code)
		if n.Class != fp.Finite {
			return code, nil
		}
		x := f.Dyadic(n)
		x.Lo *= 3
		return f.Encode(x, fp.RNE, fp.OverInf), nil
	}
	return u
}

// TestBegin checks what an attempt begins with: other questions of the same kinds, cases that
// refute the program before, the summation tree without a further question, and nothing of
// the search.
func TestBegin(t *testing.T) {
	u := volta(t)
	l, err := newLoop(u, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.begin(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	wrong := mma.TFDPA(4, 22, mma.To(fp.FP32, fp.RZ), -131)
	first, tree, calls := l.Families, l.tree, u.calls.Load()
	l.ends, l.starts, l.revealed = []mma.Params{wrong}, 3, nil
	if err := l.begin(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	for i, f := range first[:len(designed)] {
		if g := l.Families[i]; f.Name != g.Name || len(f.Dots) != len(g.Dots) || reflect.DeepEqual(f.Dots, g.Dots) {
			t.Errorf("family %s: %d cases, then %d of %s", f.Name, len(f.Dots), len(g.Dots), g.Name)
		}
	}
	if again := u.calls.Load() - calls; l.tree != tree || tree.tree == nil || again >= calls {
		t.Errorf("%d calls, then %d: the tree was asked for again", calls, again)
	}
	if len(l.revealed) == 0 || l.starts != 0 || len(l.ends) != 0 || !slices.Equal(l.earlier, []mma.Params{wrong}) {
		t.Errorf("%d programs from the tree, skeleton %d, %d programs, earlier %v", len(l.revealed), l.starts, len(l.ends), l.earlier)
	}
	last := l.Families[len(l.Families)-1]
	if hits := l.Hits(&wrong, l.Pack(last.Dots, last.Want)); len(hits) == 0 || slices.Contains(hits, true) {
		t.Errorf("the last family, %s, has %d cases, which do not all refute %s", last.Name, len(hits), &wrong)
	}
}

// TestAttempts infers a unit that no program explains, in three attempts, and expects the same
// with other numbers of workers, and with an end after more and more calls.
func TestAttempts(t *testing.T) {
	tier.LongOnly(t)
	var attempts []string
	o := Options{Effort: 1, Checks: few, Trace: func(format string, args ...any) {
		if line := fmt.Sprintf(format, args...); strings.HasPrefix(line, "attempt") {
			attempts = append(attempts, line)
		}
	}}
	complete := inferred(t, tripled(t), o)
	if complete.Verdict != Unexplained || !slices.Equal(attempts, []string{"attempt 2", "attempt 3"}) {
		t.Fatalf("%s after %v", complete.Verdict, attempts)
	}
	for _, o.Workers = range []int{3, 1}[:tier.Of(0, 0, 0, 2)] {
		r := inferred(t, tripled(t), o)
		r.Seconds = complete.Seconds
		if !reflect.DeepEqual(r, complete) {
			t.Errorf("with %d workers %+v, with the usual number %+v", o.Workers, r, complete)
		}
	}
	o.Journal = filepath.Join(t.TempDir(), "journal")
	resumed(t, tripled, o, complete)
}
