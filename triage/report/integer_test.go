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
