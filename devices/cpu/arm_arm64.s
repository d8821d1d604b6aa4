//go:build !purego

#include "textflag.h"

// Every body of this file executes one instruction on n groups:
//
//	func name(d, a, b *byte, n int, control uint64)
//
// A group is a vector of 16 bytes of d, and 16 bytes each of a and b, or 8 where the
// body's load is HALF, LOW or HIGH. control is the value of FPCR, or of FPMR for FP8,
// during the executions; the register is restored afterwards. Instructions that Go's
// assembler does not know are encoded by hand: accumulator V0, factors V1 and V2.

#define FPCR_IN \
	MOVD FPCR, R6 \
	MOVD R5, FPCR

#define FPCR_OUT \
	MOVD R6, FPCR

// mrs x6, fpmr; msr fpmr, x5; msr fpmr, x6
#define FPMR_IN \
	WORD $0xd53b4446 \
	WORD $0xd51b4445

#define FPMR_OUT \
	WORD $0xd51b4446

#define FULL \
	VLD1.P 16(R2), [V1.B16] \
	VLD1.P 16(R3), [V2.B16]

#define HALF \
	VLD1.P 8(R2), [V1.B8] \
	VLD1.P 8(R3), [V2.B8]

// LOW and HIGH widen four elements of 16 bits to 32 (ushll #0, shll #16): they
// become the even or the odd elements of a vector of eight, the others are zeros.
#define LOW \
	HALF \
	WORD $0x2f10a421 \
	WORD $0x2f10a442

#define HIGH \
	HALF \
	WORD $0x2e613821 \
	WORD $0x2e613842

#define BODY(name, in, load, code, out) \
TEXT name(SB), NOSPLIT, $0-40 \
	MOVD d+0(FP), R1 \
	MOVD a+8(FP), R2 \
	MOVD b+16(FP), R3 \
	MOVD n+24(FP), R4 \
	MOVD control+32(FP), R5 \
	in \
	CBZ R4, done \
loop: \
	VLD1 (R1), [V0.B16] \
	load \
	WORD $code \
	VST1.P [V0.B16], 16(R1) \
	SUBS $1, R4 \
	BNE loop \
done: \
	out \
	RET

BODY(·bfdot, FPCR_IN, FULL, 0x6e42fc20, FPCR_OUT)   // bfdot   v0.4s, v1.8h, v2.8h
BODY(·bfmmla, FPCR_IN, FULL, 0x6e42ec20, FPCR_OUT)  // bfmmla  v0.4s, v1.8h, v2.8h
BODY(·bfmlalb, FPCR_IN, LOW, 0x2ec2fc20, FPCR_OUT)  // bfmlalb v0.4s, v1.8h, v2.8h
BODY(·bfmlalt, FPCR_IN, HIGH, 0x6ec2fc20, FPCR_OUT) // bfmlalt v0.4s, v1.8h, v2.8h
BODY(·fmlal, FPCR_IN, HALF, 0x4e22ec20, FPCR_OUT)   // fmlal   v0.4s, v1.4h, v2.4h
BODY(·fmla8h, FPCR_IN, FULL, 0x4e420c20, FPCR_OUT)  // fmla    v0.8h, v1.8h, v2.8h
BODY(·fmla4s, FPCR_IN, FULL, 0x4e22cc20, FPCR_OUT)  // fmla    v0.4s, v1.4s, v2.4s
BODY(·fmla2d, FPCR_IN, FULL, 0x4e62cc20, FPCR_OUT)  // fmla    v0.2d, v1.2d, v2.2d
BODY(·fdot, FPMR_IN, FULL, 0x4e02fc20, FPMR_OUT)    // fdot    v0.4s, v1.16b, v2.16b
BODY(·fmmla, FPMR_IN, FULL, 0x6e82ec20, FPMR_OUT)   // fmmla   v0.4s, v1.16b, v2.16b
