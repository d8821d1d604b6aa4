package oracle_test

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestFlags has results and flags that were worked out by hand from IEEE 754. A row is a reference,
// formats and a mode, operands, the result, and the flags by the rules of x86, RISC-V and Arm; one
// for all three where they agree.
func TestFlags(t *testing.T) {
	const (
		mul  = "mul fp32 fp32 none fp32 "
		fma  = "fma32 fp32 fp32 fp32 fp32 "
		half = "exact fp32 one none fp16 "
	)
	for _, tc := range []struct{ reference, dot, result, flags string }{
		{mul + "rne", "3fc00000 40000000 -", "40400000", "none"},
		{mul + "rne", "3f800001 3f800001 -", "3f800002", "inexact"},
		// 2^-126 * (2^-1 + 2^-24) is half way between two subnormal numbers; 2^-127 is one.
		{mul + "rne", "00800000 3f000001 -", "00400000", "underflow+inexact"},
		{mul + "rne", "00800000 3f000000 -", "00400000", "none"},
		{mul + "ru", "00800000 3f000001 -", "00400001", "underflow+inexact"},
		{mul + "rne", "00000001 80000001 -", "80000000", "underflow+inexact"},
		// 2^-126 - 2^-150 has 24 bits: tiny after rounding, too. 2^-126 - 2^-172 has not.
		{mul + "rne", "3f7fffff 00800000 -", "00800000", "underflow+inexact"},
		{mul + "rne", "00800001 3f7ffffe -", "00800000", "inexact inexact underflow+inexact"},
		{mul + "rz", "00800001 3f7ffffe -", "007fffff", "underflow+inexact"},
		{mul + "ru", "00800001 3f7ffffe -", "00800000", "inexact inexact underflow+inexact"},
		{mul + "rne", "7f7fffff 3f800001 -", "7f800000", "overflow+inexact"},
		{mul + "rz", "7f7fffff 3f800001 -", "7f7fffff", "overflow+inexact"},
		{mul + "ru", "ff7fffff 40000000 -", "ff7fffff", "overflow+inexact"},
		{mul + "rne", "7f800000 3f800001 -", "7f800000", "none"},
		{mul + "rne", "7f800000 00000000 -", "7fc00000", "invalid"},
		{mul + "rne", "7fc00001 00000000 -", "7fc00000", "none"},
		{mul + "rne", "7f800001 3f800000 -", "7fc00000", "invalid"},
		{fma + "rne", "3f800001 3f7ffffe bf800000", "a8800000", "none"}, // -2^-46
		// The largest number and 1: beyond it, but rounded to it.
		{fma + "rne", "3f800000 3f800000 7f7fffff", "7f7fffff", "inexact"},
		{fma + "rd", "3f800000 3f800000 7f7fffff", "7f7fffff", "inexact"},
		{fma + "ru", "3f800000 3f800000 7f7fffff", "7f800000", "overflow+inexact"},
		{fma + "rne", "7f800000 3f800000 ff800000", "7fc00000", "invalid"},
		{fma + "rne", "7f800000 00000000 3f800000", "7fc00000", "invalid"},
		{fma + "rne", "7f800000 00000000 7fc00000", "7fc00000", "none invalid invalid"},
		{fma + "rne", "7f800000 00000000 7f800001", "7fc00000", "invalid"},
		{fma + "rne", "3f800000,7f800000 3f800001,00000000 33000000", "7fc00000", "invalid+inexact"}, // a chain of two
		{half + "rne", "477fefff 00 -", "7bff", "inexact"},
		{half + "rne", "477ff000 00 -", "7c00", "overflow+inexact"},
		{half + "rz", "477ff000 00 -", "7bff", "inexact"},
		{half + "rne", "33000000 00 -", "0000", "underflow+inexact"},
		{half + "rne", "387fe000 00 -", "0400", "underflow+inexact"}, // 2^-14 - 2^-25 has 11 bits
		{half + "rne", "387ff000 00 -", "0400", "inexact inexact underflow+inexact"},
	} {
		words := strings.Fields(tc.reference)
		r, ok := oracle.FindReference(words[0])
		if !ok {
			t.Fatal(words[0])
		}
		var f mma.Formats
		for i, id := range []*fp.ID{&f.A, &f.B, &f.C, &f.D} {
			if err := id.UnmarshalText([]byte(words[1+i])); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Mode.UnmarshalText([]byte(words[5])); err != nil {
			t.Fatal(err)
		}
		k := 1 + strings.Count(strings.Fields(tc.dot)[0], ",")
		d, err := mma.ParseDot(f, k, false, strings.Fields(tc.dot))
		if err != nil {
			t.Fatal(err)
		}
		p := r.Program(f)
		if got := mma.FormatCode(f.D, oracle.Eval(&p, f, k, d)); got != tc.result {
			t.Errorf("%s: %s gives %s, want %s", tc.reference, tc.dot, got, tc.result)
		}
		want := strings.Fields(tc.flags)
		for i, rule := range []fp.FlagRule{fp.FlagsX86, fp.FlagsRISCV, fp.FlagsArm} {
			flags := f
			if flags.D, err = f.D.WithFlags(rule); err != nil {
				t.Fatal(err)
			}
			if got := oracle.Flags(&p, flags, d).String(); got != want[i%len(want)] {
				t.Errorf("%s, flags of %s: %s raises %s, want %s", tc.reference, rule, tc.dot, got, want[i%len(want)])
			}
		}
	}
}
