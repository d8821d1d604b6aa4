package report

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestZeroPoints holds that no error is said beside an exact value that leaves out zero points.
func TestZeroPoints(t *testing.T) {
	i, err := mma.Lookup("x86", "vpdpbssd")
	if err != nil {
		t.Fatal(err)
	}
	for zero, want := range map[int32]string{0: "error 0", 7: "without the zero points"} {
		p := i.Params
		p.In.ZeroA = zero
		in := &Input{Formats: i.Formats, Dot: mma.NewDot(i.Formats, i.K)}
		r := newResult(in, &Side{Name: "a", Params: &p}, &Side{Name: "b"})
		var all []string
		for _, row := range r.cells() {
			all = append(all, row...)
		}
		text := strings.Join(all, " ")
		if !strings.Contains(text, want) || strings.Contains(text, "error") == (zero != 0) {
			t.Errorf("zero point %d: %s", zero, text)
		}
	}
}

// TestIntegerPicture holds that a picture of a sum of integers has no exponents, no signs of zeros and no
// hexadecimal fractions.
func TestIntegerPicture(t *testing.T) {
	for _, c := range []struct {
		dot  string
		want []string
	}{
		{"03,00,00,00 05,00,00,00 00000007", []string{"  c        +   111\n", "= 00000016 (22)\n", "  d      00000016  (22)  error 0\n", "  exact            (22)\n"}},
		{"fd,00,00,00 05,00,00,00 80000000", []string{"→ d = 80000000 (-2147483648)\n", "  exact            (-2147483663)\n"}},
		{"00,00,00,00 05,00,00,00 00000000", []string{"S = 0: all terms are zero → d = 00000000\n"}},
	} {
		text := (&pictureCase{name: c.dot, a: "x86/vpdpbssds", dot: c.dot}).text(t)
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.dot, want, text)
			}
		}
		if strings.Contains(text, "0x1") || strings.Contains(text, " e=") || strings.Contains(text, "-0 ") {
			t.Errorf("%s:\n%s", c.dot, text)
		}
	}
}

// TestIntegers holds that integers are written with all digits, and have no fields of an exponent.
func TestIntegers(t *testing.T) {
	id, err := fp.Parse("s32")
	if err != nil {
		t.Fatal(err)
	}
	for code, want := range map[uint64]string{0x80000000: "-2147483648", 0x7fffffff: "2147483647"} {
		if got := Decimal(id, code); got != want {
			t.Errorf("%08x is %s, want %s", code, got, want)
		}
		if got := fields(id, code); got != "" {
			t.Errorf("%08x has the fields %s", code, got)
		}
	}
}
