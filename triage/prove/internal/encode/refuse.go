package encode

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TooHard is what a program or a format has that cannot be encoded.
type TooHard struct {
	What string // the path of a field with its value, or its consequence that is too large, such as an exact sum of too many bits
}

func (e *TooHard) Error() string { return e.What + " is not encoded" }

func tooHard(format string, args ...any) error { return &TooHard{fmt.Sprintf(format, args...)} }

// encodable returns an error if a program says anything that the encoder does not
// know. Fields that it knows are cleared in a copy, so that a field that is added to
// Params is refused where it is set.
func encodable(p *mma.Params, f mma.Formats) error {
	q := *p
	type check struct {
		path  string
		known bool
	}
	checks := []check{
		{"in.sub", known(&q.In.Sub, mma.FlushPlus)},
		{"in.c", known(&q.In.C, mma.FlushPlus)},
		{"in.acc", known(&q.In.Acc, mma.FlushPlus)},
		{"prod.exp", known(&q.Prod.Exp, mma.Normalised)},
		{"scale", known(&q.Scale, mma.ScaleGroup)},
		{"order", known(&q.Order, mma.Halves)},
		{"start", known(&q.Start, mma.StartEmpty)},
		{"leaf", known(&q.Leaf, mma.SumLast)},
		{"special.nan", known(&q.Special.NaN, mma.NaNLarger)},
		{"join.cmode", known(&q.Join.CMode, fp.RTO)},
		{"join.align.mode", known(&q.Join.Align.Mode, fp.RTO)},
	}
	q.In.Widen, q.L, q.Lanes, q.Merge, q.Tail, q.Prod.Up = fp.None, 0, 0, 0, false, false
	for _, s := range []struct {
		path string
		s    *mma.Stage
	}{{"stage0", &q.Stage0}, {"stage1", &q.Stage1}} {
		checks = append(checks, check{s.path + ".sum", known(&s.s.Sum, mma.PairHalves)}, check{s.path + ".split", known(&s.s.Split, mma.Interleaved)})
		checks = append(checks, check{s.path + ".align.mode", known(&s.s.Align.Mode, fp.RTO)})
		s.s.Group, s.s.Fixed, s.s.Deep, s.s.Plus, s.s.Align.F, s.s.Align.Floor = 0, false, false, false, 0, 0
	}
	q.Join.Align.F, q.Join.Align.Floor, q.Join.CF, q.Join.CDrop = 0, 0, 0, 0
	for _, r := range []struct {
		path string
		r    *mma.Round
	}{
		{"prod.round", &q.Prod.Round}, {"stage0.round", &q.Stage0.Round}, {"stage1.round", &q.Stage1.Round},
		{"join.post", &q.Join.Post}, {"acc", &q.Acc}, {"late", &q.Late}, {"out", &q.Out},
	} {
		checks = append(checks, check{r.path + ".mode", known(&r.r.Mode, fp.RTO)}, check{r.path + ".flush", known(&r.r.Flush, mma.FlushResult)},
			check{r.path + ".over", known(&r.r.Over, mma.OverMax)})
		r.r.Frac, r.r.Emin, r.r.Emax = 0, 0, 0
	}
	for _, c := range checks {
		if !c.known {
			return tooHard("%s = %s", c.path, text(p, c.path))
		}
	}
	q.Special.NegZero, q.Special.TinySign, q.Special.CLeft = false, false, false
	if rest := mma.Diff(&mma.Params{}, &q); len(rest) > 0 {
		return tooHard("%s", mma.Brief(rest))
	}
	for _, id := range []fp.ID{f.C, f.D} {
		if id != fp.None && !id.Get().HasInf() {
			return tooHard("a result or an accumulator in %s", id)
		}
	}
	f.A, f.B, f.C, f.D, f.Scale, f.Block, f.Down = fp.None, fp.None, fp.None, fp.None, fp.None, 0, 0
	if f != (mma.Formats{}) {
		return tooHard("a field of the formats (%+v)", f)
	}
	if p.Join.Align.F == 0 && p.Join.CF != 0 {
		return tooHard("join.cf of an exact sum")
	}
	return nil
}

// known clears an enumeration and reports whether its value is one of those up to the
// last.
func known[T ~uint8](v *T, last T) bool {
	ok := *v <= last
	*v = 0
	return ok
}

func text(p *mma.Params, path string) string {
	f, ok := mma.FindField(path)
	if !ok {
		return "?"
	}
	return f.Text(p)
}
