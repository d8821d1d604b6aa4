package finding

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// TestULPDistance has codes whose numbers are one step apart, also where float64 has no
// such neighbours.
func TestULPDistance(t *testing.T) {
	for _, tc := range []struct {
		id   fp.ID
		a, b uint64
		want float64
	}{
		{fp.FP32, 0x3f800000, 0x3f800001, 1},
		{fp.FP32, 0x80000001, 0x00000001, 2},
		{fp.FP32, 0x80000000, 0x00000000, 0},
		{fp.FP32, 0x7f7fffff, 0x7f800000, 1},
		{fp.FP32, 0x7fc00000, 0x3f800000, 0},
		{fp.FP64, 0x3ff0000000000000, 0x3ff0000000000001, 1},
		{fp.FP64, 0xbff0000000000003, 0xbff0000000000000, 3},
		{fp.FP64, 0x7ff0000000000000, 0xfff0000000000000, 0x1p64 - 0x1p53},
		{fp.FP16, 0xfc00, 0x7c00, 0xf800},
	} {
		if got := ulpDistance(tc.id, tc.a, tc.b); got != tc.want || got != ulpDistance(tc.id, tc.b, tc.a) {
			t.Errorf("%v %x %x: %v, want %v", tc.id, tc.a, tc.b, got, tc.want)
		}
	}
}
