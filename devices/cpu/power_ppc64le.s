//go:build !purego

#include "textflag.h"

// Every body of this file executes one instruction on n tiles:
//
//	func name(d, a, b *byte, n int, control uint64)
//
// A tile has 64 bytes of d (four rows), 16 bytes of a (32 for FP64) and 16 of b. control
// is the value of FPSCR during the executions; the register is restored afterwards.
// The instructions are encoded by hand: accumulator A0 (VS0 to VS3), factors VS32
// (with VS33 for four FP64) and VS34.
//
// LXV loads the elements of a little-endian quadword in an order that is the
// reverse of POWER's own, in which the instruction counts rows and columns. So
// the rows of accumulators and pairs are taken in reverse as well.

#define ONE \
	LXV (R4), VS32 \
	ADD $16, R4

#define PAIR \
	LXV (R4), VS33 \
	LXV 16(R4), VS32 \
	ADD $32, R4

#define BODY(name, load, code) \
TEXT name(SB), NOSPLIT, $0-40 \
	MOVD d+0(FP), R3 \
	MOVD a+8(FP), R4 \
	MOVD b+16(FP), R5 \
	MOVD n+24(FP), R6 \
	MOVD control+32(FP), R7 \
	MOVFL FPSCR, F8 \
	MTVSRD R7, VS9 \
	MOVFL F9, FPSCR \
	CMP R6, $0 \
	BEQ done \
	MOVD R6, CTR \
loop: \
	LXV 0(R3), VS3 \
	LXV 16(R3), VS2 \
	LXV 32(R3), VS1 \
	LXV 48(R3), VS0 \
	XXMTACC A0 \
	load \
	LXV (R5), VS34 \
	ADD $16, R5 \
	WORD $code \
	XXMFACC A0 \
	STXV VS3, 0(R3) \
	STXV VS2, 16(R3) \
	STXV VS1, 32(R3) \
	STXV VS0, 48(R3) \
	ADD $64, R3 \
	BDNZ loop \
done: \
	MOVFL F8, FPSCR \
	RET

BODY(·xvbf16ger2pp, ONE, 0xec001196) // xvbf16ger2pp a0, vs32, vs34
BODY(·xvf16ger2pp, ONE, 0xec001096)  // xvf16ger2pp  a0, vs32, vs34
BODY(·xvf32gerpp, ONE, 0xec0010d6)   // xvf32gerpp   a0, vs32, vs34
BODY(·xvf64gerpp, PAIR, 0xec0011d6)  // xvf64gerpp   a0, vs32, vs34
