//go:build !purego

#include "textflag.h"

// func identify() (midr, isar0, isar1, pfr0, fpfr0 uint64)
TEXT ·identify(SB), NOSPLIT, $0-40
	WORD $0xd5380000 // mrs x0, midr_el1
	MOVD R0, midr+0(FP)
	WORD $0xd5380600 // mrs x0, id_aa64isar0_el1
	MOVD R0, isar0+8(FP)
	WORD $0xd5380620 // mrs x0, id_aa64isar1_el1
	MOVD R0, isar1+16(FP)
	WORD $0xd5380400 // mrs x0, id_aa64pfr0_el1
	MOVD R0, pfr0+24(FP)
	WORD $0xd53804e0 // mrs x0, id_aa64fpfr0_el1
	MOVD R0, fpfr0+32(FP)
	RET
