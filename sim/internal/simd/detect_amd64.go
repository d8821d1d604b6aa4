//go:build !purego

package simd

import (
	"sync"

	"golang.org/x/sys/cpu"
)

// Best returns the highest level that the processor and the operating system
// support.
var Best = sync.OnceValue(best)

func best() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA || !x.HasF16C || !keepsSubnormalHalves():
		return Portable
	case x.HasAVX512F && x.HasAVX512BW && x.HasAVX512DQ && x.HasAVX512VL:
		return AVX512
	}
	return AVX2
}

// keepsSubnormalHalves reports whether conversions of FP16 ignore MXCSR.DAZ and FTZ, as
// they do on processors (Intel SDM, VCVTPH2PS and VCVTPS2PH) and do not in QEMU 7.2. The
// routines rely on it.
func keepsSubnormalHalves() bool {
	x := subnormal{[4]uint16{0x0001, 0x8001, 0x03ff, 0x83ff}}
	y := x
	subnormalHalfAVX2(&y)
	return x == y
}
