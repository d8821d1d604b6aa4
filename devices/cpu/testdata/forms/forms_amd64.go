//go:build !purego

package forms

import "golang.org/x/sys/cpu"

// All lists the forms.
var All = []Form{
	{"vdpbf16ps", "xmm", 4, vdpbf16psX, hasVL},
	{"vdpbf16ps", "ymm", 8, vdpbf16psY, hasVL},
	{"vdpbf16ps", "zmm, memory", 16, vdpbf16psM, always},
	{"vdpbf16ps", "zmm{k}, broadcast from memory", 16, vdpbf16psB, always},
	{"vdpbf16ps", "zmm{k}{z}", 16, vdpbf16psK, always},
	{"vfmadd231ps", "ss", 1, vfmadd231ss, always},
	{"vfmadd231ps", "xmm", 4, vfmadd231psX, always},
	{"vfmadd231pd", "sd", 1, vfmadd231sd, always},
	{"vfmadd231pd", "xmm, memory", 2, vfmadd231pdM, always},
	{"dpps", "vdpps xmm to lane 1", 1, vdppsX, hasAVX},
	{"dpps", "vdpps ymm", 2, vdppsY, hasAVX},
	{"dpps", "vdpps xmm, memory, to lane 2", 1, vdppsM, hasAVX},
	{"dppd", "vdppd xmm to lane 1", 1, vdppdX, hasAVX},
}

func always() bool { return true }

func hasAVX() bool { return cpu.X86.HasAVX }

func hasVL() bool { return cpu.X86.HasAVX512VL }

// MXCSR returns the value of the register MXCSR.
func MXCSR() uint32

// Sticky executes VDPBF16PS on a group of 16 dot products with MXCSR set to
// control, and returns MXCSR as the instruction leaves it.
//
//go:noescape
func Sticky(d, a, b *byte, control uint64) uint32

//go:noescape
func vdpbf16psX(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdpbf16psY(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdpbf16psM(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdpbf16psB(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdpbf16psK(d, a, b *byte, groups int, control uint64)

//go:noescape
func vfmadd231ss(d, a, b *byte, groups int, control uint64)

//go:noescape
func vfmadd231psX(d, a, b *byte, groups int, control uint64)

//go:noescape
func vfmadd231sd(d, a, b *byte, groups int, control uint64)

//go:noescape
func vfmadd231pdM(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdppsX(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdppsY(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdppsM(d, a, b *byte, groups int, control uint64)

//go:noescape
func vdppdX(d, a, b *byte, groups int, control uint64)
