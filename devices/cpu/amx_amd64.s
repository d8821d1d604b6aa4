//go:build !purego

#include "textflag.h"

// Go's assembler knows no AMX: the instructions are bytes.

// The configuration of tiles 0 (D), 1 (A) and 2 (B): palette 1, 16 rows of 64
// bytes each (Intel SDM vol. 2, LDTILECFG).
DATA  tiles<>+0(SB)/8, $1
DATA  tiles<>+8(SB)/8, $0
DATA  tiles<>+16(SB)/8, $0x0000004000400040
DATA  tiles<>+24(SB)/8, $0
DATA  tiles<>+32(SB)/8, $0
DATA  tiles<>+40(SB)/8, $0
DATA  tiles<>+48(SB)/8, $0x0000000000101010
DATA  tiles<>+56(SB)/8, $0
GLOBL tiles<>(SB), RODATA|NOPTR, $64

// Where the 16 columns of B begin, in bytes.
DATA  columns<>+0(SB)/8, $0x0000004000000000
DATA  columns<>+8(SB)/8, $0x000000c000000080
DATA  columns<>+16(SB)/8, $0x0000014000000100
DATA  columns<>+24(SB)/8, $0x000001c000000180
DATA  columns<>+32(SB)/8, $0x0000024000000200
DATA  columns<>+40(SB)/8, $0x000002c000000280
DATA  columns<>+48(SB)/8, $0x0000034000000300
DATA  columns<>+56(SB)/8, $0x000003c000000380
GLOBL columns<>(SB), RODATA|NOPTR, $64

// AMX is the body of an instruction DOT tmm0, tmm1, tmm2. A tile of B is built on
// the stack: row k holds the 4 bytes k of every column, a pair of 16 bits or 4 of 8.
#define AMX(DOT) \
	MOVQ d+0(FP), DI                                                        \
	MOVQ a+8(FP), SI                                                        \
	MOVQ b+16(FP), R8                                                       \
	MOVQ groups+24(FP), CX                                                  \
	STMXCSR mxcsr-8(SP)                                                     \
	LDMXCSR control+32(FP)                                                  \
	LEAQ tiles<>(SB), AX                                                    \
	BYTE $0xc4; BYTE $0xe2; BYTE $0x78; BYTE $0x49; BYTE $0x00              \ // ldtilecfg [rax]
	VMOVDQU32 columns<>(SB), Z1                                             \
	MOVQ $64, AX                                                            \
	LEAQ rows-1032(SP), DX                                                  \
next:                                                                       \
	XORQ BX, BX                                                             \
pair:                                                                       \
	KXNORW K1, K1, K1                                                       \
	VPGATHERDD (R8)(Z1*1), K1, Z0                                           \
	VMOVDQU32 Z0, (DX)(BX*1)                                                \
	ADDQ $4, R8                                                             \
	ADDQ $64, BX                                                            \
	CMPQ BX, $1024                                                          \
	JNE  pair                                                               \
	BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x4b; BYTE $0x04; BYTE $0x07  \ // tileloadd tmm0, [rdi+rax]
	BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x4b; BYTE $0x0c; BYTE $0x06  \ // tileloadd tmm1, [rsi+rax]
	BYTE $0xc4; BYTE $0xe2; BYTE $0x7b; BYTE $0x4b; BYTE $0x14; BYTE $0x02  \ // tileloadd tmm2, [rdx+rax]
	DOT                                                                     \
	BYTE $0xc4; BYTE $0xe2; BYTE $0x7a; BYTE $0x4b; BYTE $0x04; BYTE $0x07  \ // tilestored [rdi+rax], tmm0
	ADDQ $1024, DI                                                          \
	ADDQ $1024, SI                                                          \
	ADDQ $960, R8                                                           \
	DECQ CX                                                                 \
	JNZ  next                                                               \
	BYTE $0xc4; BYTE $0xe2; BYTE $0x78; BYTE $0x49; BYTE $0xc0              \ // tilerelease
	LDMXCSR mxcsr-8(SP)                                                     \
	VZEROUPPER                                                              \
	RET

#define TDPBF16PS BYTE $0xc4; BYTE $0xe2; BYTE $0x6a; BYTE $0x5c; BYTE $0xc1 // tdpbf16ps tmm0, tmm1, tmm2
#define TDPFP16PS BYTE $0xc4; BYTE $0xe2; BYTE $0x6b; BYTE $0x5c; BYTE $0xc1 // tdpfp16ps tmm0, tmm1, tmm2
#define TDPBSSD   BYTE $0xc4; BYTE $0xe2; BYTE $0x6b; BYTE $0x5e; BYTE $0xc1 // tdpbssd tmm0, tmm1, tmm2
#define TDPBSUD   BYTE $0xc4; BYTE $0xe2; BYTE $0x6a; BYTE $0x5e; BYTE $0xc1 // tdpbsud tmm0, tmm1, tmm2
#define TDPBUSD   BYTE $0xc4; BYTE $0xe2; BYTE $0x69; BYTE $0x5e; BYTE $0xc1 // tdpbusd tmm0, tmm1, tmm2
#define TDPBUUD   BYTE $0xc4; BYTE $0xe2; BYTE $0x68; BYTE $0x5e; BYTE $0xc1 // tdpbuud tmm0, tmm1, tmm2

// func tdpbf16ps(d, a, b *byte, groups int, control uint64)
TEXT ·tdpbf16ps(SB), 0, $1032-40
	AMX(TDPBF16PS)

// func tdpfp16ps(d, a, b *byte, groups int, control uint64)
TEXT ·tdpfp16ps(SB), 0, $1032-40
	AMX(TDPFP16PS)

// func tdpbssd(d, a, b *byte, groups int, control uint64)
TEXT ·tdpbssd(SB), 0, $1032-40
	AMX(TDPBSSD)

// func tdpbsud(d, a, b *byte, groups int, control uint64)
TEXT ·tdpbsud(SB), 0, $1032-40
	AMX(TDPBSUD)

// func tdpbusd(d, a, b *byte, groups int, control uint64)
TEXT ·tdpbusd(SB), 0, $1032-40
	AMX(TDPBUSD)

// func tdpbuud(d, a, b *byte, groups int, control uint64)
TEXT ·tdpbuud(SB), 0, $1032-40
	AMX(TDPBUUD)
