//go:build !amd64 || purego

package simd

// words and differing do nothing: there are no vector instructions.
func words([]byte, uint64, uint32) int { return 0 }

func differing(dst []int32, _, _ []byte, _ int) ([]int32, int) { return dst, 0 }
