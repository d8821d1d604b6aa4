package minimize

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestCodeOrder states the order of single codes: of c in FP16, the rest zero.
func TestCodeOrder(t *testing.T) {
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP16, D: fp.FP16}
	ascending := []string{
		"0000", "8000", // zeros are no term
		"3c00", "bc00", // 1, -1
		"3800", "4000", "b800", "c000", // 2^-1, 2, -2^-1, -2
		"3400", "4400", "b400", "c400", // 2^-2, ...
		"0400", "8400", "7800", // 2^-14, -2^-14, 2^15
		"3e00", "be00", // 1.5, -1.5
		"3a00", "4200", "4600", // 0.75, 3, 6: farther from 1
		"3d00",                 // 1.25: two significant fraction bits
		"3f00",                 // 1.75: both set
		"3c80", "3c01", "3fff", // three, ten, ten all set
		"0200", "8200", "0001", // subnormals: 2^-15, -2^-15, 2^-24
		"0300", "03ff",
		"7c00", "fc00", // infinities
		"7e00", "fe00", // quiet NaNs
		"7d00", "7f00", "7c01", "7fff", // more payload
	}
	for i := range ascending {
		for j := range ascending {
			x := parse(t, f, 1, "0000 0000 "+ascending[i])
			y := parse(t, f, 1, "0000 0000 "+ascending[j])
			if got := Less(f, x, y); got != (i < j) {
				t.Errorf("%s < %s: %v", ascending[i], ascending[j], got)
			}
		}
	}
}

// TestOrder states what decides before what: the left side is simpler although
// everything that decides later speaks for the right side.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		why            string
		f              mma.Formats
		k              int
		simpler, other string
	}{
		{"products before c", half, 4, "7bff fbff ff7fffff", "3c00,3c00 3c00,3c00 00000000"},
		{"c before lone factors", half, 4, "3c00,7bff 3c00,0000 00000000", "3c00 3c00 3f800000"},
		{"a zero factor is no product", half, 4, "7bff,7bff 0000,8000 00000000", "3c00 3c00 00000000"},
		{"infinity times zero is one", half, 4, "3c00 3c00 00000000", "7c00 0000 00000000"},
		{"NaN times zero is one", half, 4, "3c00 3c00 00000000", "0000 7e00 00000000"},
		{"lone factors before different values", half, 4, "4200 4600 00000000", "4200,3c00 4200,0000 00000000"},
		{"different values before ranks", half, 4, "7bff fbff 00000000", "4000 4400 00000000"},
		{"across formats", half, 4, "4200 4200 40400000", "4000 4000 40800000"},
		{"NaN before Inf", half, 4, "7c00,7c00 3c00,3c00 00000000", "3c00,7e00 3c00,3c00 00000000"},
		{"Inf before subnormals", half, 4, "0001,0001 3c00,3c00 00000000", "3c00,7c00 3c00,3c00 00000000"},
		{"subnormals before fractions", half, 4, "7bff,7bff 3c00,3c00 00000000", "3c00,0001 3c00,3c00 00000000"},
		{"fractions before powers", half, 4, "7800,7800 3c00,3c00 00000000", "3c00,3e00 3c00,3c00 00000000"},
		{"powers before exponents", half, 4, "7800 3c00 00000000", "4000 4000 00000000"},
		{"fraction bits before set bits", half, 4, "3f00 3c00 00000000", "3c80 3c00 00000000"},
		{"set bits before exponents", half, 4, "7840 3c00 00000000", "3c60 3c00 00000000"},
		{"exponents before signs", half, 4, "b800 bc00 80000000", "3400 3c00 00000000"},
		{"signs before loose bits", tf32, 4, "3f801fff 3f801fff 00000000", "3f800000 bf800000 00000000"},
		{"loose bits before positions", tf32, 4, "00000000,00000000,00000000,3f800000 00000000,00000000,00000000,3f800000 00000000", "3f800001 3f800000 00000000"},
		{"positions before codes", half, 4, "3c00,3c00 3c00,bc00 00000000", "0000,3c00,3c00 0000,3c00,bc00 00000000"},
		{"the b that is one", half, 4, "4000 3c00 00000000", "3c00 4000 00000000"},
		{"codes", half, 4, "3800 3c00 00000000", "4000 3c00 00000000"},
		{"scale one before others", mxfp8, 64, "38 38 00000000 sa=7f,7f sb=7f,7f", "38 38 00000000 sa=00,7f sb=7f,7f"},
		{"scales of the first block", mxfp8, 64, "38 38 00000000 sa=80,7f sb=7f,7f", "38 38 00000000 sa=7f,80 sb=7f,7f"},
		{"one before zero as a scale", nvfp4, 16, "02 02 00000000 sa=38 sb=38", "02 02 00000000 sa=00 sb=38"},
		{"no c", bare, 4, "38 3c -", "38,38 3c,3c -"},
	} {
		x, y := parse(t, c.f, c.k, c.simpler), parse(t, c.f, c.k, c.other)
		if !Less(c.f, x, y) || Less(c.f, y, x) {
			t.Errorf("%s: %s is not simpler than %s", c.why, c.simpler, c.other)
		}
	}
}

// TestOrderTotal holds that exactly one of two different dot products is simpler,
// and that sorting by Less gives one sequence.
func TestOrderTotal(t *testing.T) {
	for _, f := range []mma.Formats{half, bare, tf32, fnuz, nvfp4, mxfp8} {
		r := rand.New(rand.NewPCG(3, 4))
		var dots []*mma.Dot
		for n := range 20 {
			d := draw(r, f, 32, []string{"raw", "normal"}[n%2])
			e := d.Clone()
			i := r.IntN(32)
			e.A[i], e.B[i] = e.A[(i+1)%32], e.B[(i+2)%32]
			dots = append(dots, d, e)
		}
		compare := func(x, y *mma.Dot) int {
			if Less(f, x, y) && Less(f, y, x) || !Less(f, x, y) && !Less(f, y, x) && !x.Equal(y) {
				t.Fatalf("%s: %v and %v", f, x, y)
			}
			return count(Less(f, y, x)) - count(Less(f, x, y))
		}
		slices.SortFunc(dots, compare)
		for i := range dots {
			for j := range i {
				if compare(dots[j], dots[i]) > 0 {
					t.Fatalf("%s: not transitive", f)
				}
			}
		}
	}
}

func TestTerms(t *testing.T) {
	for text, want := range map[string]int{
		"0000 0000 00000000":                     0,
		"0000 7bff 80000000":                     0,
		"3c00 3c00 00000000":                     1,
		"3c00,0000,7c00 3c00,3c00,0000 3f800000": 3,
	} {
		if got := Terms(half, parse(t, half, 4, text)); got != want {
			t.Errorf("%s: %d terms, want %d", text, got, want)
		}
	}
	if got := Terms(bare, parse(t, bare, 4, "38 3c -")); got != 1 {
		t.Errorf("without c: %d terms", got)
	}
}
