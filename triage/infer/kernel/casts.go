package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// cast is how the operands of a class are rounded before they are multiplied: A, and B; nil: not at all.
type cast struct{ a, b *schedule.Cast }

// formats returns the formats of what is multiplied.
func (c cast) formats(f mma.Formats) (a, b fp.ID) {
	a, b = f.A, f.B
	if c.a != nil {
		a = c.a.Format
	}
	if c.b != nil {
		b = c.b.Format
	}
	return a, b
}

// readCasts finds the casts that give the results of some numbers, each the only factor of its element that
// is not zero or one: none, if these are multiplied as they are or if nothing here rounds as they are rounded.
func (l *loop) readCasts(ctx context.Context, c *class) (all []cast, err error) {
	if l.A.Integer() || l.B.Integer() || l.D.Integer() || l.A != l.B {
		return nil, nil
	}
	l.changed = ""
	a, err := l.castsOf(ctx, c, true)
	if err != nil {
		return nil, err
	}
	b, err := l.castsOf(ctx, c, false)
	if err != nil {
		return nil, err
	}
	for _, x := range a {
		for _, y := range b {
			if x != nil || y != nil {
				all = append(all, cast{x, y})
			}
		}
	}
	return all, nil
}

// castTo makes questions those about operands that are cast.
func (b *box) castTo(casts []cast) {
	b.cast = cast{}
	if len(casts) > 0 {
		b.cast = casts[0]
		b.drawn = b.cast
	}
	b.probes = b.probesOf()
}

// castsOf returns the casts of A, or of B, that give what was answered; nil alone if the operands are not cast.
func (l *loop) castsOf(ctx context.Context, c *class, ofA bool) ([]*schedule.Cast, error) {
	id := l.A
	if !ofA {
		id = l.B
	}
	possible := possibleCasts(id)
	if len(possible) == 1 {
		return possible, nil
	}
	asked, err := l.askCasts(ctx, c, ofA)
	if err != nil {
		return nil, err
	}
	judge := &judge{workers: l.o.Workers, id: l.D, scale: l.Scale, same: oracle.NewComparer(l.D, oracle.Policy{NaN: oracle.ByClass})}
	var all []*schedule.Cast
	for _, h := range possible {
		u := &schedule.Unit{Op: "fma", In: id, Acc: fp.FP32, CastA: h}
		if !ofA {
			u.CastA, u.CastB = nil, h
		}
		if id == fp.FP64 {
			u.Acc = id
		}
		f := &finding{schedule: schedule.Schedule{Unit: u}}
		if slices.ContainsFunc(l.scalings(), func(s scaling) (ok bool) {
			f.epilogue, ok = s.steps(castsTo(u.Acc, l.D)[0], l.D)
			return ok && judge.right(ctx, f.kernel(), asked)
		}) {
			if all = append(all, h); h == nil {
				break
			}
		}
	}
	if all == nil { // not even without one
		l.changed = cmp.Or(l.changed, l.changedOperand(asked, ofA))
		all = append(all, nil)
	}
	return all, ctx.Err()
}

// askCasts asks about the codes of castCodes: each is at k = 0 of a line of its own, and meets a one. Where
// D has fewer bits than the operand, a number near to it is subtracted at k = 1, which no sum of the
// two rounds.
func (l *loop) askCasts(ctx context.Context, c *class, ofA bool) (asked []*sample, err error) {
	id, lines, w := l.A, c.rows, l.A.Width()
	if !ofA {
		id, lines, w = l.B, c.columns, l.B.Width()
	}
	f := id.Get()
	codes, both := castCodes(f), l.D.Get().FracBits < f.FracBits
	of := func(t int) []uint64 { return codes[t*len(lines) : min((t+1)*len(lines), len(codes))] }
	err = l.each(ctx, (len(codes)+len(lines)-1)/len(lines), func(t int, m matrices) {
		factor, set, n := m.a, l.setB, l.N
		if !ofA {
			factor, set, n = m.b, l.setA, l.M
		}
		for i := range n {
			set(m, i, 0, 1)
			if both {
				set(m, i, 1, -1)
			}
		}
		for i, code := range of(t) {
			mma.Store(factor, w, lines[i]*l.K, code)
			if both {
				mma.Store(factor, w, lines[i]*l.K+1, near(f, code))
			}
		}
	}, func(t int, m matrices, d []byte) {
		for i := range of(t) {
			row, column := lines[i], c.columns[0]
			if !ofA {
				row, column = c.rows[0], lines[i]
			}
			whole := &sample{0, l.Shape, m, d}
			asked = append(asked, l.element(whole, row*l.N+column))
		}
	})
	return asked, err
}

// changedOperand says which operand from 1 to 2 times one is another number, of what was asked, "" if there is
// none. Of smaller and larger ones the sum may be what loses them.
func (l *loop) changedOperand(asked []*sample, ofA bool) string {
	if l.D.Get().FracBits < l.A.Get().FracBits { // what was asked are sums
		return ""
	}
	for _, s := range asked {
		name, line, id := "A", s.a, l.A
		if !ofA {
			name, line, id = "B", s.b, l.B
		}
		code, d := mma.Load(line, id.Width(), 0), mma.Load(s.d, l.D.Width(), 0)
		switch v, got := id.Get().Float64(code), l.D.Get().Float64(d); {
		case v == 1 && got != v: // it is more than operands that is another number
			return ""
		case v > 1 && v < 2 && got != v:
			return fmt.Sprintf("%v of %s times one, and zeros at all other k, gives %v, which no cast that is known does; ", v, name, got)
		}
	}
	return ""
}

// near is a number of few bits near to that of a code.
func near(f *fp.Format, code uint64) uint64 {
	v := f.Float64(code)
	if v-v != 0 {
		return f.FromFloat64(1)
	}
	_, e := math.Frexp(v)
	return f.FromFloat64(math.Ldexp(math.Trunc(math.Ldexp(v, 3-e)), e-3))
}

// castFormats are those to which operands are cast.
var castFormats = []fp.ID{fp.BF16, fp.TF32, fp.FP16, fp.E5M2, fp.E4M3, fp.FP32}

// possibleCasts returns the casts of a format, none first.
func possibleCasts(in fp.ID) []*schedule.Cast {
	all := []*schedule.Cast{nil}
	for _, to := range castFormats {
		for _, round := range []string{"", "away", "zero", "drop"} {
			for _, saturate := range []bool{false, true} {
				h := &schedule.Cast{Format: to, Round: round, Saturate: saturate}
				u := schedule.Unit{Op: "fma", In: in, Acc: fp.FP64, CastA: h}
				if _, err := u.Resolve(); err == nil {
					all = append(all, h)
				}
			}
		}
	}
	return all
}

// castCodes returns numbers by which casts are told apart: a one, which none changes, ties of each number of
// bits and their neighbours, the ends of ranges, and a NaN whose upper bits are those of an infinity.
func castCodes(f *fp.Format) (all []uint64) {
	add := func(v float64) {
		if code := f.FromFloat64(v); f.Float64(code) == v {
			all = append(all, code)
		}
	}
	add(1)
	for _, to := range castFormats {
		g := to.Get()
		half := math.Ldexp(1, -int(g.FracBits)-1)
		for _, odd := range []float64{0, 2} {
			for _, off := range []float64{-0.25, 0, 0.25} {
				add(1 + half*(1+odd+off))
			}
		}
		if g.Emax() >= f.Emax() {
			continue
		}
		top := g.Float64(g.MaxFinite())
		least := math.Ldexp(1, int(g.Emin())-int(g.FracBits))
		add(top * (1 + half*0.75/2)) // to the largest number
		add(top + math.Ldexp(half, int(g.Emax())))
		add(math.Ldexp(1.5, int(g.Emax())+1))
		for _, v := range []float64{0.25, 0.5, 0.75, 1.5, 2.5, 5.25} { // of the least number
			add(least * v)
		}
	}
	add(f.Float64(f.MaxFinite()))
	return append(all, f.InfCode(false), f.InfCode(false)|1<<f.Low)
}

// drawn returns the formats of which numbers are drawn: those to which operands are cast as often as their own.
func (c cast) drawn(d *drawer, f mma.Formats) mma.Formats {
	if c != (cast{}) && d.IntN(2) == 0 {
		f.A, f.B = c.formats(f)
	}
	return f
}

// castTies makes ties of a cast of operands; nil: there is none.
type castTies struct {
	cast *schedule.Cast
	is   bool // of the line that is drawn
}

func (t *castTies) line(d *drawer) { t.is = t.cast != nil && d.IntN(4) == 0 }

// number returns a number, or one near to it that is as near to two numbers to which it is cast, or almost.
func (t *castTies) number(d *drawer, v float64) float64 {
	if !t.is || v-v != 0 || v == 0 {
		return v
	}
	f := t.cast.Format.Get()
	v = f.Float64(f.FromFloat64(v))
	e := int(f.Emin())
	if v != 0 {
		e = max(e, math.Ilogb(v))
	}
	half := math.Ldexp(1, e-int(f.FracBits)-1)
	return v + half*float64(d.IntN(2)*2-1)*(1+math.Ldexp(float64(d.IntN(3)-1), -8))
}
