//go:build !purego

package cpu

import (
	"encoding/binary"
	"os"
)

// hwcap2 returns AT_HWCAP2 of the auxiliary vector, 0 if it cannot be read.
func hwcap2() uint64 {
	const atHWCap2 = 26
	vector, _ := os.ReadFile("/proc/self/auxv")
	for ; len(vector) >= 16; vector = vector[16:] {
		if binary.LittleEndian.Uint64(vector) == atHWCap2 {
			return binary.LittleEndian.Uint64(vector[8:])
		}
	}
	return 0
}

func model() string { return "ppc64le" }
