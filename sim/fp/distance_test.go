package fp

import "testing"

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		id   ID
		x, y uint64
		want uint64
	}{
		{FP32, 0x3f800000, 0x3f800000, 0},
		{FP32, 0x3f800000, 0x3f800001, 1},
		{FP32, 0x3f800000, 0x40000000, 1 << 23},
		{FP32, 0x80000001, 0x00000001, 2},
		{FP32, 0x80000000, 0x00000000, 0},
		{FP32, 0x7f7fffff, 0x7f800000, 1},
		{FP64, 0x3ff0000000000000, 0x3ff0000000000001, 1},
		{FP64, 0x7ff0000000000000, 0xfff0000000000000, 0xffe0000000000000},
		{TF32, 0x3f800000, 0x3f802000, 1}, // of the container's 32 bits, 13 are not used
		{E8M0, 0x7f, 0x81, 2},             // no sign
	} {
		f := tc.id.Get()
		if got, back := f.Distance(tc.x, tc.y), f.Distance(tc.y, tc.x); got != tc.want || back != tc.want {
			t.Errorf("%s: from %x to %x %d, back %d, want %d", f.Name, tc.x, tc.y, got, back, tc.want)
		}
	}
}
