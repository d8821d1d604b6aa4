package minimize

import (
	"context"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// proposed returns what one pass proposes for a dot product.
func proposed(t *testing.T, name string, f mma.Formats, d *mma.Dot) []*candidate {
	t.Helper()
	l := newLayout(f, len(d.A))
	best := l.candidate(l.vector(d))
	p := &pool{asker: newAsker(l, nil, Options{}), ctx: context.Background(), best: best}
	i := slices.Index(passNames(), name)
	if i < 0 {
		t.Fatalf("there is no pass %q", name)
	}
	passes[i].propose(newProposals(p))
	return p.take()
}

// passCases are changes that passes must propose.
var passCases = []struct {
	pass string
	f    mma.Formats
	k    int
	from string
	to   []string
}{
	{"drop", half, 4, "3c01,3c02,3c03,3c04 3c05,3c06,3c07,3c08 3f800000", []string{
		"0000 0000 00000000", "0000 0000 3f800000", // everything; all products
		"3c01,3c02 3c05,3c06 3f800000", "0000,0000,3c03,3c04 0000,0000,3c07,3c08 3f800000", // halves
		"3c01,0000,3c03,3c04 3c05,0000,3c07,3c08 3f800000", "0000,3c02 0000,3c06 00000000", // one, all but one
		"3c01,3c02,3c03,3c04 3c05,3c06,3c07,3c08 00000000", // c
	}},
	{"pairs", half, 4, "3c01,3c02,3c03,3c04 3c05,3c06,3c07,3c08 3f800000", []string{
		"3c01,0000,0000,3c04 3c05,0000,0000,3c08 3f800000", "0000,3c02,3c03 0000,3c06,3c07 00000000"}},
	{"samples", half, 4, "3c01,3c02,3c03,3c04 3c05,3c06,3c07,3c08 3f800000", []string{
		"3c01,3c02,0000,3c04 3c05,3c06,0000,3c08 3f800000"}},
	{"factors", half, 4, "3c01,7c00 0000,4000 80000000", []string{
		"0000,7c00 0000,4000 80000000", "3c01,7c00 0000,0000 80000000"}},
	{"factors", half, 4, "bc01 3c01 80000000", []string{"8000 3c01 80000000", "0000 3c01 80000000"}},
	{"fold", half, 4, "4200,3c00 c400,3c00 00000000", []string{"0000,3c00 0000,3c00 c1400000", "4200 c400 3f800000"}},
	{"fold", nvfp4, 16, "03,02 0c,02 00000000 sa=39 sb=40", []string{"00,02 00,02 c0d80000 sa=39 sb=40"}},
	{"tidy", half, 4, "0000,3c00,c000 0000,c200,4400 3f800000", []string{
		"3c00,c000 c200,4400 3f800000",           // compact
		"0000,3c00,4000 0000,c200,c400 3f800000", // signs
		"4000,4200 c400,bc00 3f800000",           // compact, factors, signs, sorted
	}},
	{"ones", half, 4, "c001,c001,4000 3c01,4001,4000 40000000", []string{
		"3c00,3c00,3c00 3c00,3c00,3c00 3f800000", "bc00,bc00,3c00 3c00,3c00,3c00 3f800000", // everything
		"3c00,3c00,3c00 3c00,3c00,3c00 40000000", // factors
		"bc00,bc00,3c00 3c01,4001,4000 40000000", // a
		"c001,c001,4000 3c00,3c00,3c00 40000000", // b
		"bc00,bc00,4000 3c01,3c00,4000 40000000", // magnitudes
		"c001,c001,4000 3c01,4001,4000 3f800000", // each
	}},
	{"specials", half, 4, "7c01,7c00 fc01,0003 ffffffff", []string{
		"7e00,7c00 fe00,0003 ffffffff", "7d00,7c00 fd00,0003 ffffffff", "7c00,7c00 fc00,0003 ffffffff", // alike
		"7c01,7800 fc01,0003 ffffffff", "7c01,7bff fc01,0003 ffffffff",
		"7c01,7c00 fc01,0400 ffffffff", "7c01,7c00 fc01,0001 ffffffff", "7c01,7c00 fc01,0003 ffc00000"}},
	{"specials", tf32, 4, "3f801fff 3f800001 00000000", []string{"3f800000 3f800000 00000000", "3f801fff 3f800000 00000000"}},
	{"powers", half, 4, "3c01,c601 3c01,3e00 00000000", []string{
		"3c00,c400 3c00,3c00 00000000", "4000,c800 4000,4000 00000000", "3c00,c601 3c00,3e00 00000000", "3c01,c400 3c01,3e00 00000000"}},
	{"unify", half, 4, "4000,c400 3c00,3c00 40800000", []string{"4400,c400 3c00,3c00 40800000", "4000,c000 3c00,3c00 40000000"}},
	{"jump among ones", half, 4, "3c01 3c02 40490fdb", []string{"3c00 3c00 b3000000", "6800 3c00 3f800000", "3c00 3c00 cb800000"}},
	{"jump among ones", mxfp8, 32, "39 3a 40490fdb sa=81 sb=82", []string{"38 38 bf800000 sa=60 sb=7f"}},
	{"jump alone", half, 4, "3c00 4000 40490fdb", []string{"3c00 4000 b3000000"}},
	{"shift", half, 4, "5000,3c00 3800,4000 43000000", []string{
		"3400,2400 3800,3c00 3f800000"}},
	{"shift", half, 4, "5000,4400 3c00,4000 43000000", []string{"4400,3c00 3c00,3c00 41800000", "4400,3c00 3c00,3c00 43000000"}},
	{"shift", mxfp8, 32, "38 38 43000000 sa=86 sb=81", []string{"38 38 3f800000 sa=7f sb=81", "38 38 43000000 sa=7f sb=7f"}},
	{"scales", nvfp4, 64, "02 02 00000000 sa=38,40,41,42 sb=39,38,43,44", []string{
		"02 02 00000000 sa=38,38,38,38 sb=38,38,38,38", "02 02 00000000 sa=38,38,38,38 sb=39,38,43,44",
		"02 02 00000000 sa=38,40,38,42 sb=39,38,43,44", "02 02 00000000 sa=38,40,38,42 sb=39,38,38,44"}},
	{"scales", nvfp4, 64, zeros(48) + "02 " + zeros(48) + "04 00000000 sa=38,38,38,40 sb=38,38,38,38", []string{
		"02 04 00000000 sa=40,38,38,38 sb=38,38,38,38"}},
	{"trade", half, 4, "4800 3000 00000000", []string{"3c00 3c00 00000000", "4400 3400 00000000"}},
	{"trade", mxfp8, 32, "48,50 38,38 00000000 sa=7b sb=83", []string{
		"28,30 38,38 00000000 sa=7f sb=83", "38,40 38,38 00000000 sa=7d sb=83", "48,50 38,38 00000000 sa=7f sb=7f"}},
	{"exponents", half, 4, "5000,5000 3c00,3000 40000000", []string{
		"3c00,3c00 3c00,3000 40000000", "4c00,4c00 3c00,3000 40000000"}},
	{"exponents", half, 4, "5200,5000 3c00,3000 40000000", []string{
		"4e00,5000 3c00,3000 40000000", "5200,5000 3c00,3800 40000000", "5200,5000 3c00,3000 3f800000"}},
	{"bits", half, 4, "3fff,3c03 3fff,3c00 00000000", []string{
		"3ff0,3c03 3ff0,3c00 00000000", "4000,3c03 4000,3c00 00000000", "3fff,3c02 3fff,3c00 00000000",
		"3fff,3c04 3fff,3c00 00000000", "3f00,3c00 3f00,3c00 00000000"}},
	{"single bits", half, 4, "3c0b 3c00 3fc00000", []string{"3c0a 3c00 3fc00000", "3c09 3c00 3fc00000", "3c03 3c00 3fc00000", "3c01 3c00 3fc00000"}},
	{"signs", half, 4, "bc00,bc00,4000 bc00,3c00,c000 80000000", []string{
		"3c00,3c00,4000 3c00,3c00,4000 00000000", "3c00,bc00,4000 3c00,3c00,c000 80000000",
		"bc00,bc00,4000 bc00,3c00,c000 00000000", "bc00,3c00,4000 bc00,3c00,4000 80000000",
		"bc00,3c00,4000 bc00,3c00,c000 00000000"}},
	{"places", half, 8, zeros16(3) + "3c00,0000,4000 " + zeros16(3) + "3c00,0000,4000 00000000", []string{
		"3c00,0000,4000 3c00,0000,4000 00000000", "0000,0000,3c00,0000,4000 0000,0000,3c00,0000,4000 00000000",
		"0000,3c00,0000,0000,0000,4000 0000,3c00,0000,0000,0000,4000 00000000",
		"0000,0000,0000,3c00,4000 0000,0000,0000,3c00,4000 00000000"}},
	{"places", nvfp4, 64, zeros(17) + "02 " + zeros(17) + "04 00000000 sa=38,40,38,38 sb=38,38,41,38", []string{
		"00,02 00,04 00000000 sa=40,38,38,38 sb=38,38,41,38", "00,02 00,04 00000000 sa=38,40,38,38 sb=38,38,41,38"}},
	{"swap", half, 4, "3c00,3c00 4000,4400 00000000", []string{"4000,4400 3c00,3c00 00000000", "4000,3c00 3c00,4400 00000000"}},
	{"gather", half, 4, "3c00,0000,3c00,3c00 3c00,0000,4000,3c00 00000000", []string{
		"4000 4000 00000000", "0000,0000,0000,4000 0000,0000,0000,4000 00000000"}}, // c = 0 and one product
	{"gather", half, 4, "0c00,0400 0c00,1000 3f800000", []string{"0c00 0e00 3f800000"}}, // 2^-24 + 2^-25
	{"three powers", half, 8, "3e01,3e01,3e01,3e01,3e01 3e01,3e01,3e01,3e01,3e01 3f800004", []string{
		"0c00,0c00 0c00,0c00 3f800000", "3c00,bc00 3c00,3c00 33800000"}}, // c = 1 and 2^-24 twice; 1 - 1 and c = 2^-24
	{"swap", mxfp8, 32, "38 40 00000000 sa=7f sb=80", []string{"40 38 00000000 sa=80 sb=7f", "40 38 00000000 sa=7f sb=80"}},
}

// TestPasses holds that every pass proposes what it is there for.
func TestPasses(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range passCases {
		tested[c.pass] = true
		from := parse(t, c.f, c.k, c.from)
		l := newLayout(c.f, c.k)
		got := map[id]bool{}
		for _, p := range proposed(t, c.pass, c.f, from) {
			got[p.id] = true
		}
		for _, to := range c.to {
			if !got[l.idOf(l.vector(parse(t, c.f, c.k, to)))] {
				t.Errorf("%s of %s: %s is missing", c.pass, c.from, to)
			}
		}
	}
	for _, name := range passNames() {
		if !tested[name] {
			t.Errorf("%s is not tested", name)
		}
	}
}

// zeros is n zeros of an 8-bit format, each with a comma; zeros16 of a 16-bit one.
func zeros(n int) string   { return repeat("00,", n) }
func zeros16(n int) string { return repeat("0000,", n) }

func repeat(s string, n int) string {
	var r string
	for range n {
		r += s
	}
	return r
}
