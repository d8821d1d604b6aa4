//go:build !purego

#include "textflag.h"

// The bodies of table_amd64.go: func(d, a, b *byte, groups int, control uint64).
// Go does not preempt assembly functions, and the kernel gives signal handlers an
// MXCSR of their own: no other code sees the one that is set here.

// LOAD loads the arguments.
#define LOAD \
	MOVQ d+0(FP), DI      \
	MOVQ a+8(FP), SI      \
	MOVQ b+16(FP), DX     \
	MOVQ groups+24(FP), CX

// SET keeps MXCSR in 0(SP) and sets it to control; RESTORE undoes that, and writes the MXCSR of the
// instruction, with its exception flags, behind the results if the sign of control asks for it.
#define SET \
	STMXCSR 0(SP)           \
	LDMXCSR control+32(FP)

#define RESTORE \
	STMXCSR 4(SP)              \
	LDMXCSR 0(SP)              \
	MOVQ control+32(FP), AX    \
	TESTQ AX, AX               \
	JPL  restored              \
	MOVL 4(SP), AX             \
	MOVL AX, (DI)              \
restored:

// func vdpbf16ps(d, a, b *byte, groups int, control uint64)
TEXT ·vdpbf16ps(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVDQU32 (DI), Z0
	VMOVDQU32 (SI), Z2
	VMOVDQU32 (DX), Z1
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0x48; BYTE $0x52; BYTE $0xc1 // vdpbf16ps zmm0, zmm2, zmm1
	VMOVDQU32 Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, DX
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// func fma3bf16(d, a, b *byte, groups int, control uint64)
TEXT ·fma3bf16(SB), NOSPLIT, $8-40
	LOAD
	STMXCSR 0(SP)
	MOVL $0x9fc0, AX        // DAZ, FTZ, to nearest, all masked
	MOVL AX, 4(SP)
	LDMXCSR 4(SP)
	VPCMPEQD Y7, Y7, Y7
	VPSLLD $16, Y7, Y7      // ffff0000

next:
	VMOVDQU (DI), Y0
	VMOVDQU (SI), Y1
	VMOVDQU (DX), Y2
	VPAND   Y7, Y1, Y3      // the high element of each pair, widened
	VPAND   Y7, Y2, Y4
	VFMADD231PS Y4, Y3, Y0  // Y0 += Y3*Y4: intel syntax ymm0, ymm3, ymm4
	VPSLLD  $16, Y1, Y1     // the low ones
	VPSLLD  $16, Y2, Y2
	VFMADD231PS Y2, Y1, Y0
	VMOVDQU Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// func vfmadd231ps(d, a, b *byte, groups int, control uint64)
TEXT ·vfmadd231ps(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPS (DI), Y0
	VMOVUPS (SI), Y1
	VMOVUPS (DX), Y2
	VFMADD231PS Y2, Y1, Y0
	VMOVUPS Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// func vfmadd231pd(d, a, b *byte, groups int, control uint64)
TEXT ·vfmadd231pd(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPD (DI), Y0
	VMOVUPD (SI), Y1
	VMOVUPD (DX), Y2
	VFMADD231PD Y2, Y1, Y0
	VMOVUPD Y0, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// func vcvtneps2bf16(d, a, b *byte, groups int, control uint64)
TEXT ·vcvtneps2bf16(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVDQU32 (SI), Z0
	BYTE $0x62; BYTE $0xf2; BYTE $0x7e; BYTE $0x48; BYTE $0x72; BYTE $0xc0 // vcvtneps2bf16 ymm0, zmm0
	VMOVDQU Y0, (DI)
	ADDQ $32, DI
	ADDQ $64, SI
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// vcvtps2ph takes its rounding from MXCSR, which the immediate 4 says.
//
// func vcvtps2ph(d, a, b *byte, groups int, control uint64)
TEXT ·vcvtps2ph(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPS (SI), Y0
	VCVTPS2PH $4, Y0, (DI)
	ADDQ $16, DI
	ADDQ $32, SI
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// func vcvtph2ps(d, a, b *byte, groups int, control uint64)
TEXT ·vcvtph2ps(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VCVTPH2PS (SI), Y0
	VMOVUPS   Y0, (DI)
	ADDQ $32, DI
	ADDQ $16, SI
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// func vcvtpd2ps(d, a, b *byte, groups int, control uint64)
TEXT ·vcvtpd2ps(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPD    (SI), Y0
	VCVTPD2PSY Y0, X0
	VMOVUPS    X0, (DI)
	ADDQ $16, DI
	ADDQ $32, SI
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// func dpps(d, a, b *byte, groups int, control uint64)
TEXT ·dpps(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	MOVUPS (SI), X0
	MOVUPS (DX), X1
	DPPS   $0xf1, X1, X0    // all four products, the sum to lane 0
	MOVSS  X0, (DI)
	ADDQ $4, DI
	ADDQ $16, SI
	ADDQ $16, DX
	DECQ CX
	JNZ  next
	RESTORE
	RET

// func dppd(d, a, b *byte, groups int, control uint64)
TEXT ·dppd(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	MOVUPD (SI), X0
	MOVUPD (DX), X1
	DPPD   $0x31, X1, X0
	MOVSD  X0, (DI)
	ADDQ $8, DI
	ADDQ $16, SI
	ADDQ $16, DX
	DECQ CX
	JNZ  next
	RESTORE
	RET

// func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-24
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL CX, ecx+16(FP)
	MOVL DX, edx+20(FP)
	RET

// func vfmadd231ph(d, a, b *byte, groups int, control uint64)
TEXT ·vfmadd231ph(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVDQU32 (DI), Z0
	VMOVDQU32 (SI), Z2
	VMOVDQU32 (DX), Z1
	BYTE $0x62; BYTE $0xf6; BYTE $0x6d; BYTE $0x48; BYTE $0xb8; BYTE $0xc1 // vfmadd231ph zmm0, zmm2, zmm1
	VMOVDQU32 Z0, (DI)
	ADDQ $64, DI
	ADDQ $64, SI
	ADDQ $64, DX
	DECQ CX
	JNZ  next
	RESTORE
	VZEROUPPER
	RET

// INTEGERS is the body of an instruction that adds to D what it makes of A and B.
#define INTEGERS(DOT) \
	LOAD              \
next:                 \
	VMOVDQU32 (DI), Z0 \
	VMOVDQU32 (SI), Z1 \
	VMOVDQU32 (DX), Z2 \
	DOT Z2, Z1, Z0    \
	VMOVDQU32 Z0, (DI) \
	ADDQ $64, DI      \
	ADDQ $64, SI      \
	ADDQ $64, DX      \
	DECQ CX           \
	JNZ  next         \
	VZEROUPPER        \
	RET

// func vpdpbusd(d, a, b *byte, groups int, control uint64)
TEXT ·vpdpbusd(SB), NOSPLIT, $0-40
	INTEGERS(VPDPBUSD)

// func vpdpbusds(d, a, b *byte, groups int, control uint64)
TEXT ·vpdpbusds(SB), NOSPLIT, $0-40
	INTEGERS(VPDPBUSDS)

// func vpdpwssd(d, a, b *byte, groups int, control uint64)
TEXT ·vpdpwssd(SB), NOSPLIT, $0-40
	INTEGERS(VPDPWSSD)

// func vpdpwssds(d, a, b *byte, groups int, control uint64)
TEXT ·vpdpwssds(SB), NOSPLIT, $0-40
	INTEGERS(VPDPWSSDS)

// PAIRS is the body of an instruction of A and B alone.
#define PAIRS(DOT) \
	LOAD           \
next:              \
	VMOVDQU (SI), Y1 \
	VMOVDQU (DX), Y2 \
	DOT Y2, Y1, Y0 \
	VMOVDQU Y0, (DI) \
	ADDQ $32, DI   \
	ADDQ $32, SI   \
	ADDQ $32, DX   \
	DECQ CX        \
	JNZ  next      \
	VZEROUPPER     \
	RET

// func vpmaddwd(d, a, b *byte, groups int, control uint64)
TEXT ·vpmaddwd(SB), NOSPLIT, $0-40
	PAIRS(VPMADDWD)

// func vpmaddubsw(d, a, b *byte, groups int, control uint64)
TEXT ·vpmaddubsw(SB), NOSPLIT, $0-40
	PAIRS(VPMADDUBSW)

// func avx2u8s8(d, a, b *byte, groups int, control uint64)
TEXT ·avx2u8s8(SB), NOSPLIT, $0-40
	LOAD
	VPCMPEQW Y7, Y7, Y7
	VPSRLW $15, Y7, Y7      // ones, 16 bits each

next:
	VMOVDQU (SI), Y1
	VMOVDQU (DX), Y2
	VPMADDUBSW Y2, Y1, Y1
	VPMADDWD Y7, Y1, Y1
	VPADDD (DI), Y1, Y1
	VMOVDQU Y1, (DI)
	ADDQ $32, DI
	ADDQ $32, SI
	ADDQ $32, DX
	DECQ CX
	JNZ  next
	VZEROUPPER
	RET
