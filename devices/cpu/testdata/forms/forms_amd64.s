//go:build !purego

#include "textflag.h"

#define LOAD \
	MOVQ d+0(FP), DI      \
	MOVQ a+8(FP), SI      \
	MOVQ b+16(FP), DX     \
	MOVQ groups+24(FP), CX

#define SET \
	STMXCSR 0(SP)           \
	LDMXCSR control+32(FP)

#define RESTORE \
	LDMXCSR 0(SP)

#define NEXT(D, A, B) \
	ADDQ $D, DI           \
	ADDQ $A, SI           \
	ADDQ $B, DX           \
	DECQ CX               \
	JNZ  next

// func MXCSR() uint32
TEXT ·MXCSR(SB), NOSPLIT, $0-4
	STMXCSR ret+0(FP)
	RET

// func Sticky(d, a, b *byte, control uint64) uint32
TEXT ·Sticky(SB), NOSPLIT, $8-36
	MOVQ d+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	STMXCSR 0(SP)
	LDMXCSR control+24(FP)
	VMOVDQU32 (DI), Z0
	VMOVDQU32 (SI), Z2
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0x48; BYTE $0x52; BYTE $0x02 // vdpbf16ps zmm0, zmm2, [rdx]
	STMXCSR ret+32(FP)
	LDMXCSR 0(SP)
	VMOVDQU32 Z0, (DI)
	VZEROUPPER
	RET

// func vdpbf16psX(d, a, b *byte, groups int, control uint64)
TEXT ·vdpbf16psX(SB), NOSPLIT, $0-40
	LOAD

next:
	VMOVDQU (DI), X0
	VMOVDQU (SI), X2
	VMOVDQU (DX), X1
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0x08; BYTE $0x52; BYTE $0xc1 // vdpbf16ps xmm0, xmm2, xmm1
	VMOVDQU X0, (DI)
	NEXT(16, 16, 16)
	VZEROUPPER
	RET

// func vdpbf16psY(d, a, b *byte, groups int, control uint64)
TEXT ·vdpbf16psY(SB), NOSPLIT, $0-40
	LOAD

next:
	VMOVDQU (DI), Y0
	VMOVDQU (SI), Y2
	VMOVDQU (DX), Y1
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0x28; BYTE $0x52; BYTE $0xc1 // vdpbf16ps ymm0, ymm2, ymm1
	VMOVDQU Y0, (DI)
	NEXT(32, 32, 32)
	VZEROUPPER
	RET

// func vdpbf16psM(d, a, b *byte, groups int, control uint64)
TEXT ·vdpbf16psM(SB), NOSPLIT, $0-40
	LOAD

next:
	VMOVDQU32 (DI), Z0
	VMOVDQU32 (SI), Z2
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0x48; BYTE $0x52; BYTE $0x02 // vdpbf16ps zmm0, zmm2, [rdx]
	VMOVDQU32 Z0, (DI)
	NEXT(64, 64, 64)
	VZEROUPPER
	RET

// func vdpbf16psB(d, a, b *byte, groups int, control uint64)
TEXT ·vdpbf16psB(SB), NOSPLIT, $0-40
	LOAD

next:
	VMOVDQU32 (DI), Z0
	VMOVDQU32 (SI), Z2
	MOVL $1, AX

lane:
	KMOVW AX, K1
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0x59; BYTE $0x52; BYTE $0x02 // vdpbf16ps zmm0{k1}, zmm2, [rdx]{1to16}
	ADDQ $4, DX
	SHLL $1, AX
	CMPL AX, $0x10000
	JNE  lane
	VMOVDQU32 Z0, (DI)
	NEXT(64, 64, 0)
	VZEROUPPER
	RET

// func vdpbf16psK(d, a, b *byte, groups int, control uint64)
TEXT ·vdpbf16psK(SB), NOSPLIT, $0-40
	LOAD
	MOVL $0x5a3c, AX
	KMOVW AX, K1
	KNOTW K1, K2

next:
	VMOVDQU32 (DI), Z0
	VMOVDQU32 (DI), Z3
	VMOVDQU32 (SI), Z2
	VMOVDQU32 (DX), Z1
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0xc9; BYTE $0x52; BYTE $0xc1 // vdpbf16ps zmm0{k1}{z}, zmm2, zmm1
	BYTE $0x62; BYTE $0xf2; BYTE $0x6e; BYTE $0xca; BYTE $0x52; BYTE $0xd9 // vdpbf16ps zmm3{k2}{z}, zmm2, zmm1
	VPORD Z3, Z0, Z0
	VMOVDQU32 Z0, (DI)
	NEXT(64, 64, 64)
	VZEROUPPER
	RET

// func vfmadd231ss(d, a, b *byte, groups int, control uint64)
TEXT ·vfmadd231ss(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVSS (DI), X0
	VMOVSS (SI), X1
	VFMADD231SS (DX), X1, X0
	VMOVSS X0, (DI)
	NEXT(4, 4, 4)
	RESTORE
	VZEROUPPER
	RET

// func vfmadd231psX(d, a, b *byte, groups int, control uint64)
TEXT ·vfmadd231psX(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPS (DI), X0
	VMOVUPS (SI), X1
	VMOVUPS (DX), X2
	VFMADD231PS X2, X1, X0
	VMOVUPS X0, (DI)
	NEXT(16, 16, 16)
	RESTORE
	VZEROUPPER
	RET

// func vfmadd231sd(d, a, b *byte, groups int, control uint64)
TEXT ·vfmadd231sd(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVSD (DI), X0
	VMOVSD (SI), X1
	VMOVSD (DX), X2
	VFMADD231SD X2, X1, X0
	VMOVSD X0, (DI)
	NEXT(8, 8, 8)
	RESTORE
	VZEROUPPER
	RET

// func vfmadd231pdM(d, a, b *byte, groups int, control uint64)
TEXT ·vfmadd231pdM(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPD (DI), X0
	VMOVUPD (SI), X1
	VFMADD231PD (DX), X1, X0
	VMOVUPD X0, (DI)
	NEXT(16, 16, 16)
	RESTORE
	VZEROUPPER
	RET

// func vdppsX(d, a, b *byte, groups int, control uint64)
TEXT ·vdppsX(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPS (SI), X1
	VMOVUPS (DX), X2
	VDPPS $0xf2, X2, X1, X0 // the sum to lane 1
	VPEXTRD $1, X0, (DI)
	NEXT(4, 16, 16)
	RESTORE
	VZEROUPPER
	RET

// func vdppsY(d, a, b *byte, groups int, control uint64)
TEXT ·vdppsY(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPS (SI), Y1
	VMOVUPS (DX), Y2
	VDPPS $0xff, Y2, Y1, Y0
	VEXTRACTF128 $1, Y0, X3
	VMOVSS X0, (DI)
	VMOVSS X3, 4(DI)
	NEXT(8, 32, 32)
	RESTORE
	VZEROUPPER
	RET

// func vdppsM(d, a, b *byte, groups int, control uint64)
TEXT ·vdppsM(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPS (SI), X1
	VDPPS $0xf4, (DX), X1, X0 // the sum to lane 2
	VPEXTRD $2, X0, (DI)
	NEXT(4, 16, 16)
	RESTORE
	VZEROUPPER
	RET

// func vdppdX(d, a, b *byte, groups int, control uint64)
TEXT ·vdppdX(SB), NOSPLIT, $8-40
	LOAD
	SET

next:
	VMOVUPD (SI), X1
	VMOVUPD (DX), X2
	VDPPD $0x32, X2, X1, X0 // the sum to lane 1
	VMOVHPD X0, (DI)
	NEXT(8, 16, 16)
	RESTORE
	VZEROUPPER
	RET
