package infer

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func TestMismatchKind(t *testing.T) {
	f := fp.FP32.Get()
	for _, tc := range []struct {
		x, y uint64
		want string
	}{
		{0x7fc00000, 0x7fffffff, nanCodes}, {0x7fc00000, 0x7f800000, nanOrNone}, {0, 0x80000000, zeroSigns},
		{0x7f800000, 0xff800000, signs}, {0x3f800000, 0xbf800000, signs}, {0x7f800000, 0x7f7fffff, infOrNone},
		{0, 1, zeroOrNone}, {0x3f800000, 0x3f800001, numbers},
	} {
		for range 2 {
			if got := mismatchKind(f, tc.x, tc.y); got != tc.want {
				t.Errorf("%08x and %08x: %s, want %s", tc.x, tc.y, got, tc.want)
			}
			tc.x, tc.y = tc.y, tc.x
		}
	}
}

// TestTelling checks that the smallest mismatch of the most frequent kind is taken.
func TestTelling(t *testing.T) {
	dot := func(a ...uint64) *mma.Dot {
		d := mma.NewDot(half, 4)
		copy(d.A, a)
		copy(d.B, a)
		return d
	}
	small, large, rare := dot(0x3c00), dot(0x3c00, 0x3c00), dot()
	x, n := telling(half, []mismatch{{rare, 0, zeroSigns}, {large, 0, numbers}, {small, 0, numbers}})
	if n != 2 || x == nil || x.dot != small {
		t.Errorf("%+v of %d", x, n)
	}
	if x, _ := telling(half, nil); x != nil {
		t.Errorf("%+v of nothing", x)
	}
}
