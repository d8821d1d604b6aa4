package mma

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestBrief(t *testing.T) {
	cut := []Change{{"stage0.sum", "off", "fused"}, {"stage0.align.f", "exact", "24"}, {"join.align.f", "25", "32"}, {"join.align.mode", "rz", "rd"}, {"join.cf", "exact", "24"}, {"join.cmode", "", "rd"}}
	for _, c := range []struct {
		changes []Change
		want    string
	}{
		{[]Change{{"l", "8", "16"}, {"join.align.f", "24", "25"}, {"join.cmode", "", "rz"}, {"late.frac", "exact", "23"}},
			"products in a step (L) 8→16, kept bits (F) 24→25, rounding of a cut c as of the other terms→toward zero, fraction bits of additions after the last step exact→23"},
		{[]Change{{"join.align.f", "24", "32"}, {"join.cf", "exact", "24"}}, "kept bits (F) of all but c 24→32"},
		{cut, "first partial sums none→fused, kept bits (F) of first partial sums none→24, kept bits (F) of all but c 25→32, rounding of cut terms toward zero→down, kept bits (F) of c 25→24, rounding of a cut c toward zero→down"},
		{[]Change{{"join.align.mode", "rz", "rd"}, {"join.cmode", "", "rd"}}, "rounding of cut terms toward zero→down, rounding of a cut c toward zero→down"},
		{[]Change{{"l", "0", "4"}, {"lanes", "0", "2"}, {"join.cdrop", "exact", "25"}, {"prod.gate", "off", "inf"}, {"special.negzero", "false", "true"}},
			"products in a step (L) all→4, accumulators in turn 1→2, distance of a dropped c none→25, zero times infinity or NaN is zero off→inf, sums can be -0 no→yes"},
		{[]Change{{"late.frac", "exact", "23"}, {"late.mode", "", "rne"}, {"late.emin", "none", "-126"}, {"late.emax", "none", "127"}, {"late.flush", "keep", "after"}},
			"rounding of additions after the last step none→23 bits to nearest even, flush to zero of additions after the last step keep→after"},
		{[]Change{{"join.post.frac", "31", "exact"}, {"join.post.mode", "rd", ""}}, "rounding of the sum with c 31 bits down→none"},
		{[]Change{{"acc.frac", "13", "23"}, {"acc.mode", "rz", "rne"}, {"acc.emin", "-126", "-14"}},
			"fraction bits of the result 13→23, rounding of the result toward zero→to nearest even, least exponent of the result -126→-14"},
		{[]Change{{"stage0.sum", "off", "pairwise"}, {"stage0.round.frac", "exact", "23"}, {"stage0.round.mode", "", "rne"}}, "first partial sums none→pairwise, rounding of first partial sums none→23 bits to nearest even"},
		{[]Change{{"stage0.round.frac", "exact", "15"}, {"stage0.round.mode", "", "rz"}, {"stage0.round.emin", "none", "15"}, {"stage0.round.emax", "none", "14"}, {"stage0.round.over", "inf", "sat"}},
			"rounding of first partial sums none→16-bit integers saturating"},
		{[]Change{{"stage0.round.frac", "15", "exact"}, {"stage0.round.mode", "rz", ""}, {"stage0.round.emin", "15", "none"}, {"stage0.round.emax", "14", "none"}, {"stage0.round.over", "wrap", "inf"}},
			"rounding of first partial sums 16-bit integers wrapping→none"},
		{[]Change{{"acc.frac", "10", "23"}, {"acc.emin", "-14", "-126"}, {"acc.emax", "15", "127"}, {"out.frac", "exact", "10"}, {"out.mode", "", "rne"}, {"out.emin", "none", "-14"}, {"out.emax", "none", "15"}},
			"format of the result fp16→fp32, rounding of the final result none→10 bits to nearest even"},
		{[]Change{{"stage0.round.frac", "7", "3"}, {"stage0.round.mode", "rz", "rne"}, {"stage0.round.emin", "-126", "-6"}, {"stage0.round.emax", "127", "8"}},
			"format of first partial sums bf16→e4m3, rounding of first partial sums toward zero→to nearest even"},
		{[]Change{{"acc.frac", "23", "13"}, {"acc.emin", "-126", "-14"}, {"acc.emax", "127", "15"}, {"acc.over", "inf", "max"}},
			"fraction bits of the result 23→13, overflow of the result inf→max, least exponent of the result -126→-14, largest exponent of the result 127→15"},
		{[]Change{{"acc.frac", "23", "31"}, {"acc.emin", "23", "31"}, {"acc.emax", "22", "30"}}, "format of the result 24-bit integers→32-bit integers"},
		{[]Change{{"acc.frac", "15", "23"}, {"acc.emin", "15", "-126"}, {"acc.emax", "14", "127"}, {"acc.over", "sat", "inf"}},
			"format of the result 16-bit integers→fp32, overflow of the result sat→inf"},
		{[]Change{{"join.post.emax", "15", "none"}, {"acc.mode", "rz", "rne"}}, "rounding of the result toward zero→to nearest even, largest exponent of the sum with c 15→none"},
		{[]Change{{"nowhere", "1", "2"}}, "nowhere 1→2"},
	} {
		if got := Brief(c.changes); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if got, want := cut[5].String(), "join.cmode →rd"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBriefOverflow holds that what an infinity becomes in a format without infinities is said.
func TestBriefOverflow(t *testing.T) {
	for format, want := range map[fp.ID]string{
		fp.E4M3: "overflow of the result sat→inf (in e4m3: NaN)",
		fp.E5M2: "overflow of the result sat→inf",
	} {
		p, q := Params{Acc: To(format, fp.RNE)}, Params{Acc: To(format, fp.RNE)}
		p.Acc.Over, q.Acc.Over = OverSat, OverInf
		if got := Brief(Diff(&p, &q), &p, &q); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestBriefOfPrograms checks what an overflow is said to be where the programs decide it: that of what
// rounding makes too large, if what is too large before is an infinity.
func TestBriefOfPrograms(t *testing.T) {
	const all, rounding, final = "overflow of the result max→inf", "overflow of the result by rounding alone max→inf", "overflow of the final result by rounding alone max→inf"
	plain := Params{Acc: To(fp.FP16, fp.RNE)}
	most := plain
	most.Acc.Over = OverMax
	with := func(p Params, change func(p *Params)) *Params { change(&p); return &p }
	bounded := func(e Exp) func(p *Params) { return func(p *Params) { p.Join.Post.Emax = e } }
	for _, c := range []struct {
		name string
		p, q *Params
		want string
	}{
		{"no bound before", &most, &plain, all},
		{"a bound", with(most, bounded(15)), with(plain, bounded(15)), rounding},
		{"a lower bound", with(most, bounded(14)), with(plain, bounded(14)), rounding},
		{"a bound above the result's", with(most, bounded(16)), with(plain, bounded(16)), all},
		{"a bound in the first alone", with(most, bounded(15)), &plain, rounding + ", largest exponent of the sum with c 15→none"},
		{"a bound in the second alone", &most, with(plain, bounded(15)), all + ", largest exponent of the sum with c none→15"},
		{"a bound that gives the largest number", with(most, func(p *Params) { p.Join.Post = To(fp.FP16, fp.RZ); p.Join.Post.Over = OverMax }), with(plain, func(p *Params) { p.Join.Post = To(fp.FP16, fp.RZ); p.Join.Post.Over = OverMax }), all},
		{"bounds of two sums", with(most, func(p *Params) { p.Join.Post.Emax, p.Join.Apart = 15, true }), with(plain, func(p *Params) { p.Join.Post.Emax, p.Join.Apart = 15, true }), all},
		{"infinities too", with(most, func(p *Params) { p.Join.Post.Emax, p.Acc.Over = 15, OverSat }), with(plain, bounded(15)), "overflow of the result sat→inf"},
		{"a bound of the accumulator", with(most, func(p *Params) { p.Out, p.Acc = p.Acc, Round{Frac: 23, Mode: fp.RZ, Emin: -126, Emax: 15} }), with(plain, func(p *Params) { p.Out, p.Acc = p.Acc, Round{Frac: 23, Mode: fp.RZ, Emin: -126, Emax: 15} }), final},
	} {
		if got := Brief(Diff(c.p, c.q), c.p, c.q); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if got := Brief(Diff(c.p, c.q)); strings.Contains(got, "alone") {
			t.Errorf("%s, without the programs: %s", c.name, got)
		}
	}
}

// TestBriefLimits checks that a mode which rounds nothing is said to be one of overflow.
func TestBriefLimits(t *testing.T) {
	to := func(m fp.Mode, frac Frac) *Params {
		p := Params{Acc: To(fp.FP16, m)}
		p.Join.Post = To(fp.FP16, fp.RNE)
		p.Join.Post.Frac = frac
		return &p
	}
	for _, c := range []struct {
		frac Frac
		want string
	}{
		{10, "rounding of the result where it overflows up→to nearest even"},
		{9, "rounding of the result where it overflows up→to nearest even"},
		{11, "rounding of the result up→to nearest even"},
	} {
		p, q := to(fp.RU, c.frac), to(fp.RNE, c.frac)
		if got := Brief(Diff(p, q), p, q); got != c.want {
			t.Errorf("%d bits before: %s, want %s", c.frac, got, c.want)
		}
	}
}

// TestBriefNames holds that every parameter has words of its own in a list of changes.
func TestBriefNames(t *testing.T) {
	seen := map[string]string{}
	for _, f := range Fields() {
		if f.Brief == "" || strings.ContainsAny(f.Brief, "%,→") || strings.HasSuffix(f.Brief, " ") {
			t.Errorf("%s has no words: %q", f.Path, f.Brief)
		}
		if other := seen[f.Brief]; other != "" {
			t.Errorf("%s and %s are both %q", f.Path, other, f.Brief)
		}
		seen[f.Brief] = f.Path
	}
}
