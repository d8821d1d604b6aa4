package study

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// TestCompareProducts has infinities and NaNs, which no distance is measured to.
func TestCompareProducts(t *testing.T) {
	for _, c := range []struct {
		x, y  []byte // FP16, little-endian
		ulp   any
		words string
	}{
		{[]byte{0x00, 0x7c}, []byte{0x00, 0xfe}, "-", "1 of 1 elements; NaN or infinite on a side: 1"},
		{[]byte{0x00, 0x7c, 0x00, 0x3c}, []byte{0xff, 0x7b, 0x01, 0x3c}, uint64(1), "2 of 2 elements, by 0.000977 of the norm; NaN or infinite on a side: 1"},
		{[]byte{0x00, 0x3c}, []byte{0x00, 0x3c}, uint64(0), "0 of 1 elements, by 0 of the norm"},
	} {
		n := len(c.x) / 2
		d := (&gemmStudy{m: n, n: 1}).compareProducts(&product{fp.FP16, c.x}, &product{fp.FP16, c.y})
		if _, _, ulp := d.sizes(); ulp != c.ulp || d.words(n) != c.words {
			t.Errorf("%x and %x: %v ulp, %s", c.x, c.y, ulp, d.words(n))
		}
	}
}
