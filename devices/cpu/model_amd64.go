//go:build !purego

package cpu

import (
	"encoding/binary"
	"strings"
)

// cpuid executes CPUID.
//
//go:noescape
func cpuid(leaf, sub uint32) (eax, ebx, ecx, edx uint32)

// vendor returns the vendor's name, such as GenuineIntel: twelve letters.
func vendor() string {
	_, b, c, d := cpuid(0, 0)
	return string(words(b, d, c))
}

// model returns the processor's brand string (Intel SDM vol. 2, CPUID).
func model() string {
	if most, _, _, _ := cpuid(0x80000000, 0); most < 0x80000004 {
		return "x86-64"
	}
	var text []byte
	for leaf := uint32(0x80000002); leaf <= 0x80000004; leaf++ {
		text = append(text, words(cpuid(leaf, 0))...)
	}
	return strings.TrimSpace(strings.TrimRight(string(text), "\x00"))
}

// words returns the characters that registers hold.
func words(regs ...uint32) []byte {
	var text []byte
	for _, r := range regs {
		text = binary.LittleEndian.AppendUint32(text, r)
	}
	return text
}
