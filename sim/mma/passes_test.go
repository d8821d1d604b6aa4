package mma

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestPasses(t *testing.T) {
	for _, tc := range []struct {
		p    Passes
		want string
	}{
		{0, "none"},
		{PassesOf(Pass{0, 0}), "00"},
		{PassesOf(Pass{1, 0}, Pass{0, 1}, Pass{0, 0}), "10-01-00"},
		{PassesOf(Pass{2, 2}, Pass{2, 1}, Pass{1, 2}, Pass{2, 0}, Pass{1, 1}, Pass{0, 2}, Pass{1, 0}, Pass{0, 1}, Pass{0, 0}), "22-21-12-20-11-02-10-01-00"},
	} {
		if got := tc.p.String(); got != tc.want {
			t.Errorf("%d is %s, want %s", tc.p, got, tc.want)
		}
		var back Passes
		if err := back.UnmarshalText([]byte(tc.want)); err != nil || back != tc.p {
			t.Errorf("%s is %d, %v, want %d", tc.want, back, err, tc.p)
		}
	}
	for _, text := range []string{"", "0", "03", "00-", "00-00-00-00-00-00-00-00-00-00"} {
		var p Passes
		if err := p.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %s", text, p)
		}
	}
}

// TestValidatePasses breaks programs with passes in every way that is noticed.
func TestValidatePasses(t *testing.T) {
	single := Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
	for _, tc := range []struct {
		name   string
		change func(p *Params)
		want   string
	}{
		{"passes", func(p *Params) { p.Together, p.In.Rest = true, true }, ""},
		{"none", func(p *Params) { p.Passes, p.Together = 0, true }, "passes: together and in.rest need passes"},
		{"rest of whole operands", func(p *Params) { p.Passes, p.In.Rest = 0, true }, "passes: together and in.rest need passes"},
		{"whole operands", func(p *Params) { p.In = Input{} }, "passes: in.a or in.b must have a mode, which gives the parts"},
		{"one whole operand", func(p *Params) { p.In.B = Narrow{} }, "passes: an operand that is not narrowed by a mode has part 0 only"},
		{"twice", func(p *Params) { p.Passes = PassesOf(Pass{1, 0}, Pass{1, 0}) }, "passes: 10-10 is not a list of different passes"},
		{"too many parts", func(p *Params) { p.Passes = PassesOf(Pass{3, 0}) }, "passes: 30 is not a list of different passes"},
	} {
		p := sound()
		p.Passes, p.In.A, p.In.B = PassLists[0], Narrow{Frac: 7, Mode: fp.RNE}, Narrow{Frac: 7, Mode: fp.RNE}
		tc.change(&p)
		checkError(t, tc.name, p.Validate(single, 8), tc.want)
	}
}
