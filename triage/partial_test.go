package triage_test

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
	"github.com/mmafuzz/mmafuzz/triage"
)

// TestPartial has units with a change that a program can have and a defect that none has: the
// change is a cause of most cases, unless the defect hides it.
func TestPartial(t *testing.T) {
	tier.SkipUnderRace(t)
	rare := func(d *mma.Dot, code uint64) uint64 {
		if d.A[0]&0x1f == 5 {
			return code ^ 1<<20
		}
		return code
	}
	for _, tc := range []struct {
		set, changes string
		defect       func(d *mma.Dot, code uint64) uint64
	}{
		{"acc.mode=rne join.align.f=25", "join.align.f 24→25, acc.mode rz→rne", rare},
		{"", "", rare}, // nothing but the defect
		{"acc.mode=rne", "acc.mode rz→rne", rare},
		{"join.align.f=25", "join.align.f 24→25", rare},
		{"acc.mode=rne", "", func(d *mma.Dot, code uint64) uint64 { return code ^ d.A[0]>>1&1 }}, // in every second case
	}[:tier.Of(1, 1, 5, 5)] {
		i := find(t, ampere16)
		r := &regression{a: i, b: changed(t, i, tc.set)}
		defect := func(dots []*mma.Dot) []uint64 {
			codes := r.run(t, dots)
			for n, d := range dots {
				codes[n] = tc.defect(d, codes[n])
			}
			return codes
		}
		pr := &triage.Unknown{Formats: i.Formats, K: i.K, Base: i.Params, Effort: -1, Seed: 1, Rounds: askRounds,
			Ask: func(_ context.Context, dots []*mma.Dot) ([]uint64, error) { return defect(dots), nil }}
		sound := evidence(t, r, "normal", 400)
		base := model(t, i)
		for _, c := range append(sound.Differ, sound.Agree...) {
			c.Want = defect([]*mma.Dot{c.Dot})[0]
			if base.Dot(c.Dot, nil) == c.Want {
				pr.Agree = append(pr.Agree, c)
			} else {
				pr.Differ = append(pr.Differ, c)
			}
		}
		v := explain(t, pr)
		if got := changeText(v.Changes); got != tc.changes {
			t.Errorf("%q: %q, want %q", tc.set, got, tc.changes)
		}
		if v.Complete() || v.Nearest == nil || v.Nearest.Witness.Dot == nil {
			t.Errorf("%q: %+v", tc.set, v)
		}
		if part := v.Partial && v.Explained > v.Differ/2 && v.Kept == v.Agree; part != (tc.changes != "") {
			t.Errorf("%q: explains %d of %d, keeps %d of %d", tc.set, v.Explained, v.Differ, v.Kept, v.Agree)
		}
	}
}

// TestFewRecorded has one recorded case of a unit that cannot be asked, which many changes explain,
// and then enough of them.
func TestFewRecorded(t *testing.T) {
	i := find(t, ampere16)
	r := &regression{a: i, b: changed(t, i, "join.align.f=20")}
	sound := evidence(t, r, "normal", 400)
	for n, want := range map[int]bool{1: false, 12: true} {
		pr := &triage.Unknown{Formats: i.Formats, K: i.K, Base: i.Params, Effort: -1, Seed: 1, Differ: sound.Differ[:n], Agree: sound.Agree}
		if v := explain(t, pr); v.Found() != want {
			t.Errorf("%d cases: found %v, want %v: %s", n, v.Found(), want, changeText(v.Changes))
		}
	}
}
