package simd

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestDiffering compares buffers of all lengths in which none, some and all codes
// differ.
func TestDiffering(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{1, 2, 4, 8} {
		for n := range 150 {
			for _, in := range []int{0, 1, 3, 40} { // one code in so many differs
				a := make([]byte, n*width)
				for i := range a {
					a[i] = byte(r.Uint32())
				}
				b := slices.Clone(a)
				var want []int32
				for i := range n {
					if in > 0 && r.IntN(in) == 0 {
						b[i*width+r.IntN(width)] ^= 1 << r.IntN(8)
						want = append(want, int32(i))
					}
				}
				for what, got := range map[string][]int32{"": Differing(nil, a, b, width), "portable: ": portableDiffering(nil, a, b, width, 0)} {
					if !slices.Equal(got, want) {
						t.Fatalf("%s%d codes of %d bytes: %v, want %v", what, n, width, got, want)
					}
				}
			}
		}
	}
	if got := Differing([]int32{7}, []byte{1, 2}, []byte{1, 3}, 1); !slices.Equal(got, []int32{7, 1}) {
		t.Errorf("%v: what was there is gone", got)
	}
}

func BenchmarkDiffering(b *testing.B) {
	const n = 1 << 13
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]byte, 4*n)
	y := slices.Clone(x)
	for range n / 11 { // about as often as Ampere and Hopper on raw bits
		y[r.IntN(len(y))] ^= 1
	}
	var dst []int32
	b.SetBytes(4 * n)
	for b.Loop() {
		dst = Differing(dst[:0], x, y, 4)
	}
}
