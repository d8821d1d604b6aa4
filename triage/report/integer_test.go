package report

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

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
