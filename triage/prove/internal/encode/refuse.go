package encode

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TooHard is what a program or a format has that cannot be encoded.
type TooHard struct {
	What string // the path of a field with its value, or what it leads to
}

func (e *TooHard) Error() string { return e.What + " is not encoded" }

func tooHard(format string, args ...any) error { return &TooHard{fmt.Sprintf(format, args...)} }

// encodable returns an error if a program says anything that the encoder does not
// know. Fields that it knows are cleared in a copy, so that a field that is added to
// Params is refused where it is set.
func encodable(p *mma.Params, f mma.Formats) error {
	q := *p
	for _, clear := range []struct {
		path  string
		known bool
	}{
		{"in.sub", known(&q.In.Sub, mma.FlushPlus)},
		{"in.c", known(&q.In.C, mma.FlushPlus)},
		{"in.acc", known(&q.In.Acc, mma.FlushPlus)},
		{"prod.exp", known(&q.Prod.Exp, mma.Normalised)},
		{"scale", known(&q.Scale, mma.ScaleGroup)},
		{"order", known(&q.Order, mma.Halves)},
		{"start", known(&q.Start, mma.StartEmpty)},
		{"leaf", known(&q.Leaf, mma.SumLast)},
		{"special.nan", known(&q.Special.NaN, mma.NaNLarger)},
	} {
		if !clear.known {
			return tooHard("%s = %s", clear.path, text(p, clear.path))
		}
	}
	q.In.Widen, q.L, q.Lanes, q.Merge, q.Tail, q.Prod.Up = fp.None, 0, 0, 0, false, false
	for _, s := range []struct {
		path string
		s    *mma.Stage
	}{{"stage0", &q.Stage0}, {"stage1", &q.Stage1}} {
		if !known(&s.s.Sum, mma.PairHalves) || !known(&s.s.Split, mma.Interleaved) {
			return tooHard("%s.sum or %s.split", s.path, s.path)
		}
		s.s.Group, s.s.Fixed, s.s.Deep, s.s.Plus = 0, false, false, false
		clearAlign(&s.s.Align)
	}
	clearAlign(&q.Join.Align)
	if !known(&q.Join.CMode, fp.RTO) {
		return tooHard("join.cmode")
	}
	q.Join.CF, q.Join.CDrop = 0, 0
	for _, r := range []struct {
		path string
		r    *mma.Round
	}{
		{"prod.round", &q.Prod.Round}, {"stage0.round", &q.Stage0.Round}, {"stage1.round", &q.Stage1.Round},
		{"join.post", &q.Join.Post}, {"acc", &q.Acc}, {"late", &q.Late}, {"out", &q.Out},
	} {
		if !known(&r.r.Mode, fp.RTO) || !known(&r.r.Flush, mma.FlushResult) || !known(&r.r.Over, mma.OverMax) {
			return tooHard("%s.mode, %s.flush or %s.over", r.path, r.path, r.path)
		}
		r.r.Frac, r.r.Emin, r.r.Emax = 0, 0, 0
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
		return tooHard("a part of the formats")
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

func clearAlign(a *mma.Align) {
	if a.Mode <= fp.RTO {
		a.Mode = 0
	}
	a.F, a.Floor = 0, 0
}

func text(p *mma.Params, path string) string {
	f, ok := mma.FindField(path)
	if !ok {
		return "?"
	}
	return f.Text(p)
}
