//go:build !purego

package cpu

import (
	"golang.org/x/sys/cpu"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// arch is this processor's architecture in the catalogue: zen4 for AMD's, x86 for all
// others.
var arch = map[bool]string{false: "x86", true: "zen4"}[vendor() == "AuthenticAMD"]

var why = ""

// table has what x86 processors execute. A zmm register holds 16 FP32 lanes or 32 of
// FP16, a ymm register 8 of FP32 or 4 of FP64.
var table = []native{
	{"vdpbf16ps", 1, 1, 16, "AVX512_BF16", func() bool { return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BF16 }, vdpbf16ps},
	{"fma3-bf16", 1, 1, 8, "FMA3 and AVX2", hasFMA, fma3bf16},
	{"vfmadd231ps", 1, 1, 8, "FMA3 and AVX2", hasFMA, vfmadd231ps},
	{"vfmadd231pd", 1, 1, 4, "FMA3 and AVX2", hasFMA, vfmadd231pd},
	{"vcvtneps2bf16", 1, 1, 16, "AVX512_BF16", func() bool { return cpu.X86.HasAVX512F && cpu.X86.HasAVX512BF16 }, vcvtneps2bf16},
	{"vcvtps2ph", 1, 1, 8, "F16C", hasF16C, vcvtps2ph},
	{"vcvtph2ps", 1, 1, 8, "F16C", hasF16C, vcvtph2ps},
	{"vcvtpd2ps", 1, 1, 4, "AVX2", hasAVX2, vcvtpd2ps},
	{"dpps", 1, 1, 1, "SSE4.1", func() bool { return cpu.X86.HasSSE41 }, dpps},
	{"dppd", 1, 1, 1, "SSE4.1", func() bool { return cpu.X86.HasSSE41 }, dppd},
	{"vfmadd231ph", 1, 1, 32, "AVX512_FP16", hasFP16, vfmadd231ph},
	{"vpdpbusd", 1, 1, 16, "AVX512_VNNI", hasVNNI, vpdpbusd},
	{"vpdpbusds", 1, 1, 16, "AVX512_VNNI", hasVNNI, vpdpbusds},
	{"vpdpwssd", 1, 1, 16, "AVX512_VNNI", hasVNNI, vpdpwssd},
	{"vpdpwssds", 1, 1, 16, "AVX512_VNNI", hasVNNI, vpdpwssds},
	{"vpmaddwd", 1, 1, 8, "AVX2", hasAVX2, vpmaddwd},
	{"vpmaddubsw", 1, 1, 16, "AVX2", hasAVX2, vpmaddubsw},
	{"avx2-u8s8", 1, 1, 8, "AVX2", hasAVX2, avx2u8s8},
	{"tdpbf16ps", 16, 16, 1, "AMX-BF16, or the kernel does not grant it", func() bool { return cpu.X86.HasAMXBF16 && amx() }, tdpbf16ps},
	{"tdpfp16ps", 16, 16, 1, "AMX-FP16, or the kernel does not grant it", func() bool { return hasAMXFP16() && amx() }, tdpfp16ps},
	{"tdpbssd", 16, 16, 1, "AMX-INT8, or the kernel does not grant it", hasAMXInt8, tdpbssd},
	{"tdpbsud", 16, 16, 1, "AMX-INT8, or the kernel does not grant it", hasAMXInt8, tdpbsud},
	{"tdpbusd", 16, 16, 1, "AMX-INT8, or the kernel does not grant it", hasAMXInt8, tdpbusd},
	{"tdpbuud", 16, 16, 1, "AMX-INT8, or the kernel does not grant it", hasAMXInt8, tdpbuud},
}

func hasAMXInt8() bool { return cpu.X86.HasAMXInt8 && amx() }
func hasVNNI() bool    { return cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI }
func hasAVX2() bool    { return cpu.X86.HasAVX2 }

func hasFMA() bool { return cpu.X86.HasFMA && cpu.X86.HasAVX2 }

// hasF16C, hasFP16 and hasAMXFP16 read features that golang.org/x/sys/cpu does not know (Intel SDM
// vol. 2, CPUID): leaf 1, ECX bit 29; leaf 7, subleaf 0, EDX bit 23, and subleaf 1, EAX bit 21.
func hasF16C() bool {
	_, _, c, _ := cpuid(1, 0)
	return cpu.X86.HasAVX && c>>29&1 != 0
}

func hasFP16() bool {
	_, _, _, d := cpuid(7, 0)
	return cpu.X86.HasAVX512F && d>>23&1 != 0
}

func hasAMXFP16() bool {
	a, _, _, _ := cpuid(7, 1)
	return cpu.X86.HasAMXTile && a>>21&1 != 0
}

// Bits of MXCSR: all exceptions masked, and the modes of an instruction's name (Intel
// SDM vol. 1, section 10.2.3).
const (
	mxcsrMasked = 0x1f80
	mxcsrDAZ    = 1 << 6
	mxcsrRD     = 1 << 13
	mxcsrRU     = 2 << 13
	mxcsrRZ     = 3 << 13
	mxcsrFTZ    = 1 << 15
)

// control returns the value of MXCSR for the modes of a name.
func control(modes []string) uint64 {
	bits := map[string]uint64{"rd": mxcsrRD, "ru": mxcsrRU, "rz": mxcsrRZ, "daz": mxcsrDAZ, "ftz": mxcsrFTZ}
	c := uint64(mxcsrMasked)
	for _, word := range modes {
		c |= bits[word]
	}
	return c
}

func init() { raised = mxcsrFlags }

// mxcsrFlags returns the exceptions in the MXCSR that a body has written behind its results (Intel
// SDM vol. 1, 10.2.3.1). That an operand is subnormal, bit 1, is none of IEEE 754's.
func mxcsrFlags(mxcsr uint32) (f fp.Flags) {
	for bit, flag := range [...]fp.Flags{fp.FlagInvalid, 0, fp.FlagDivideByZero, fp.FlagOverflow, fp.FlagUnderflow, fp.FlagInexact} {
		if mxcsr>>bit&1 != 0 {
			f |= flag
		}
	}
	return f
}

// The bodies. All but the AMX ones are in x86_amd64.s. All but those of integers
// set MXCSR and restore it, also where the instruction does not depend on it: a test shows that it does not.

//go:noescape
func vdpbf16ps(d, a, b *byte, groups int, control uint64)

// fma3bf16 ignores control: it sets DAZ and FTZ, and rounds to nearest.
//
//go:noescape
func fma3bf16(d, a, b *byte, groups int, control uint64)

//go:noescape
func vfmadd231ps(d, a, b *byte, groups int, control uint64)

//go:noescape
func vfmadd231pd(d, a, b *byte, groups int, control uint64)

//go:noescape
func vcvtneps2bf16(d, a, b *byte, groups int, control uint64)

//go:noescape
func vcvtps2ph(d, a, b *byte, groups int, control uint64)

//go:noescape
func vcvtph2ps(d, a, b *byte, groups int, control uint64)

//go:noescape
func vcvtpd2ps(d, a, b *byte, groups int, control uint64)

//go:noescape
func dpps(d, a, b *byte, groups int, control uint64)

//go:noescape
func vfmadd231ph(d, a, b *byte, groups int, control uint64)

// tdpbf16ps and those after it turn the columns of B into the rows of 4 bytes that AMX takes.
//
//go:noescape
func tdpbf16ps(d, a, b *byte, groups int, control uint64)

//go:noescape
func tdpfp16ps(d, a, b *byte, groups int, control uint64)

//go:noescape
func tdpbssd(d, a, b *byte, groups int, control uint64)

//go:noescape
func tdpbsud(d, a, b *byte, groups int, control uint64)

//go:noescape
func tdpbusd(d, a, b *byte, groups int, control uint64)

//go:noescape
func tdpbuud(d, a, b *byte, groups int, control uint64)

//go:noescape
func dppd(d, a, b *byte, groups int, control uint64)

// The bodies of integers, which do not depend on MXCSR and leave it alone.
//
//go:noescape
func vpdpbusd(d, a, b *byte, groups int, control uint64)

//go:noescape
func vpdpbusds(d, a, b *byte, groups int, control uint64)

//go:noescape
func vpdpwssd(d, a, b *byte, groups int, control uint64)

//go:noescape
func vpdpwssds(d, a, b *byte, groups int, control uint64)

//go:noescape
func vpmaddwd(d, a, b *byte, groups int, control uint64)

//go:noescape
func vpmaddubsw(d, a, b *byte, groups int, control uint64)

//go:noescape
func avx2u8s8(d, a, b *byte, groups int, control uint64)
