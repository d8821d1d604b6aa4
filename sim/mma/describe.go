package mma

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// operations lists the elementary operations with their constructors. String
// recognises a program by calling each of them with the program's own parameters and
// comparing. make returns the zero Params for a program that cannot be its operation.
var operations = []struct {
	name string
	make func(p *Params) (Params, string)
}{
	{"fma", func(p *Params) (Params, string) {
		q := FMA(resultFormat(p))
		return q, rounded(&q, p)
	}},
	{"e-fdpa", func(p *Params) (Params, string) {
		q := efdpa(p.L)
		q.Acc = To(resultFormat(p), fp.RNE)
		return q, fmt.Sprintf("L=%d, %s", p.L, rounded(&q, p))
	}},
	{"ftz-addmul", func(p *Params) (Params, string) { return ftzAddMul(p.L), fmt.Sprintf("P=%d", p.L) }},
	{"split-hmma", func(p *Params) (Params, string) {
		a := p.Join.Align
		if a.F == 0 {
			return Params{}, ""
		}
		return splitHMMA(a.F, p.Acc, a.Floor, resultFormat(p)), fmt.Sprintf("F=%d, %s", a.F, roundName(p.Acc))
	}},
	{"t-fdpa", func(p *Params) (Params, string) {
		a := p.Join.Align
		if a.F == 0 {
			return Params{}, "" // nothing is truncated
		}
		return TFDPA(p.L, a.F, p.Acc, a.Floor), fmt.Sprintf("L=%d, F=%d, %s, e_zero=%s", p.L, a.F, roundName(p.Acc), a.Floor)
	}},
	{"gst-fdpa", func(p *Params) (Params, string) {
		a := p.Join.Align
		if a.F == 0 {
			return Params{}, ""
		}
		return gstFDPA(p.L, p.Stage0.Group, a.F, p.Acc, a.Floor),
			fmt.Sprintf("L=%d, G=%d, F=%d, %s, e_zero=%s", p.L, p.Stage0.Group, a.F, roundName(p.Acc), a.Floor)
	}},
	{"tr-fdpa", func(p *Params) (Params, string) {
		return trFDPA(p.L, p.Join.CF, p.Join.Post.Frac), fmt.Sprintf("L=%d, F=%d, F2=%d", p.L, p.Join.CF, p.Join.Post.Frac)
	}},
	{"gtr-fdpa", func(p *Params) (Params, string) {
		return gtrFDPA(p.L, p.Join.CF, p.Join.Post.Frac), fmt.Sprintf("L=%d, F=%d, F2=%d", p.L, p.Join.CF, p.Join.Post.Frac)
	}},
	{"rvbna", func(p *Params) (Params, string) {
		q := rvbna(1)
		q.Stage0.Align.F = p.Stage0.Align.F
		return q, fmt.Sprintf("F=%d", p.Stage0.Align.F)
	}},
	{"simd-fma", func(p *Params) (Params, string) {
		if p.Lanes < 2 {
			return Params{}, ""
		}
		q := simdFMA(resultFormat(p), p.Lanes, p.Merge)
		text := fmt.Sprintf("lanes=%d, merge=%s, %s", p.Lanes, p.Merge, rounded(&q, p))
		if q.Late = q.Acc; p.Out.Frac != 0 {
			q.Out = p.Out
			text += ", " + roundName(q.Out)
		}
		return q, text
	}},
	{"x86-fma", func(p *Params) (Params, string) { return underMXCSR(p, x86FMA(resultFormat(p))) }},
	{"dpps", func(p *Params) (Params, string) { return underMXCSR(p, x86DPPS(p.Order)) }},
	{"dppd", func(p *Params) (Params, string) { return underMXCSR(p, x86DPPD()) }},
	{"amx", func(p *Params) (Params, string) { return underMXCSR(p, x86Tile(p.In.Sub)) }},
}

// underMXCSR returns an x86 program under the modes that p seems to have, and their
// names; the zero Params if p's NaN rule is neither that of x86 nor its emulator's.
func underMXCSR(p *Params, q Params) (Params, string) {
	var words []string
	if p.Special.NaN != NaNFirst && p.Special.NaN != NaNLarger {
		return Params{}, ""
	}
	if q.Late != (Round{}) {
		return q, "" // AMX does not know MXCSR
	}
	if _, ok := directed[p.Acc.Mode.String()]; ok {
		words = append(words, p.Acc.Mode.String())
	}
	if p.In.Sub == FlushSign {
		words = append(words, "daz")
	}
	if p.Acc.Flush == FlushAfter {
		words = append(words, "ftz")
	}
	for _, w := range words {
		mxcsr(&q, w)
	}
	return q, strings.Join(words, ", ")
}

// rounded gives an operation the direction of p's last rounding, and names that
// rounding.
func rounded(q, p *Params) string {
	if p.Acc.Mode != 0 {
		q.Acc.Mode = p.Acc.Mode
	}
	return roundName(q.Acc)
}

// resultFormat guesses D's format from the rounding of the result: by its bits and
// its least exponent, or by the bits alone.
func resultFormat(p *Params) fp.ID {
	guess := fp.FP32
	for _, id := range []fp.ID{fp.FP64, fp.FP16, fp.BF16} {
		if p.Acc.Frac != Frac(id.Get().FracBits) {
			continue
		}
		if p.Acc.Emin == Exp(id.Get().Emin()) {
			return id
		}
		guess = id
	}
	return guess
}

// roundName writes a rounding as rz-fp32, rne-fp16 or rz-e8m13.
func roundName(r Round) string {
	for _, id := range []fp.ID{fp.FP64, fp.FP32, fp.FP16, fp.BF16} {
		if r == To(id, r.Mode) {
			return r.Mode.String() + "-" + id.String()
		}
	}
	if r == rzE8M13() {
		return "rz-e8m13"
	}
	return fmt.Sprintf("%s-%d", r.Mode, r.Frac)
}

// String names the elementary operation with its parameters, as the field does:
// t-fdpa(L=16, F=25, rz-fp32, e_zero=-133). A program that differs from all of them
// is written as the nearest one and the changed fields if these are few, else as
// custom.
func (p Params) String() string {
	best, fewest := "custom", 1<<30
	for _, op := range operations {
		q, args := op.make(&p)
		d := Diff(&q, &p)
		if q == (Params{}) || len(d) >= fewest || len(d) > maxDescribed {
			continue
		}
		fewest = len(d)
		best = op.name
		if args != "" {
			best += "(" + args + ")"
		}
		for _, c := range d {
			best += fmt.Sprintf(" %s=%s", c.Path, c.To)
		}
	}
	return strings.TrimSpace(best)
}

// maxDescribed is the number of differing fields up to which a program is
// described as a variant of a known one.
const maxDescribed = 4
