//go:build !purego

package cpu

import (
	"fmt"

	"golang.org/x/sys/cpu"
)

// identify reads the identification registers MIDR, ID_AA64ISAR0, ISAR1, PFR0 and
// FPFR0. The kernel answers such reads with what it supports, 0 in fields that it
// does not know.
func identify() (midr, isar0, isar1, pfr0, fpfr0 uint64)

// detect asks the identification registers (Arm ARM, D24.2), where programs may
// read them (HWCAP_CPUID).
func detect() feature {
	if !cpu.ARM64.HasCPUID {
		return feature{}
	}
	_, isar0, isar1, pfr0, fpfr0 := identify()
	return feature{
		bf16:    isar1 >> 44 & 15,
		fhm:     isar0>>48&15 != 0,
		fp16:    pfr0>>16&15 == 1,
		fp8dot4: fpfr0>>29&1 != 0,
		fp8mm8:  fpfr0>>27&1 != 0,
	}
}

// model returns the main identification register, which names implementer and part.
func model() string {
	if !cpu.ARM64.HasCPUID {
		return "aarch64"
	}
	midr, _, _, _, _ := identify()
	return fmt.Sprintf("aarch64, MIDR %08x", midr)
}
