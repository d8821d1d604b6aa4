//go:build !purego

package cpu

import (
	"strconv"
	"strings"
	"sync"
)

const arch = "arm"

var why = ""

// table has what Arm processors execute, in vectors of 128 bits.
var table = []native{
	{"bfdot.ebf0", 1, 1, 4, "FEAT_BF16", func() bool { return features().bf16 >= 1 }, bfdot},
	{"bfdot.ebf1", 1, 1, 4, "FEAT_EBF16", func() bool { return features().bf16 >= 2 }, bfdot},
	{"bfmmla.ebf0", 2, 2, 1, "FEAT_BF16", func() bool { return features().bf16 >= 1 }, bfmmla},
	{"bfmmla.ebf1", 2, 2, 1, "FEAT_EBF16", func() bool { return features().bf16 >= 2 }, bfmmla},
	{"bfmlalb", 1, 1, 4, "FEAT_BF16", func() bool { return features().bf16 >= 1 }, bfmlalb},
	{"bfmlalt", 1, 1, 4, "FEAT_BF16", func() bool { return features().bf16 >= 1 }, bfmlalt},
	{"fmlal", 1, 1, 4, "FEAT_FHM", func() bool { return features().fhm }, fmlal},
	{"fmla-8h", 1, 1, 8, "FEAT_FP16", func() bool { return features().fp16 }, fmla8h},
	{"fmla-4s", 1, 1, 4, "FEAT_AdvSIMD", always, fmla4s},
	{"fmla-2d", 1, 1, 2, "FEAT_AdvSIMD", always, fmla2d},
	{"fdot", 1, 1, 4, "FEAT_FP8DOT4", func() bool { return features().fp8dot4 }, fdot},
	{"fmmla", 2, 2, 1, "FEAT_F8F32MM", func() bool { return features().fp8mm8 }, fmmla},
}

func always() bool { return true }

// feature tells which extensions a processor has.
type feature struct {
	bf16                       uint64 // 1: FEAT_BF16, 2: FEAT_EBF16 too
	fhm, fp16, fp8dot4, fp8mm8 bool   // FEAT_FHM, FEAT_FP16, FEAT_FP8DOT4, FEAT_F8F32MM
}

var features = sync.OnceValue(detect)

// Bits of FPCR and FPMR (Arm ARM, C5.2).
var armControl = map[string]uint64{
	"ru": 1 << 22, "rd": 2 << 22, "rz": 3 << 22, // FPCR.RMode
	"fz": 1 << 24, "fz16": 1 << 19, "dn": 1 << 25, "ebf1": 1 << 13, // FPCR
	"osm": 1 << 14, // FPMR
}

// control returns the value of FPCR for the modes of a name, or of FPMR for an
// instruction on FP8, whose first two modes are the formats of its factors.
func control(modes []string) uint64 {
	c := uint64(0)
	for i, word := range modes {
		switch {
		case word == "e4m3":
			c |= 1 << (3 * i) // F8S1, F8S2; E5M2 is 0
		case strings.HasPrefix(word, "lscale"):
			n, _ := strconv.ParseUint(word[len("lscale"):], 10, 7) // a word of the catalogue
			c |= n << 16
		default:
			c |= armControl[word]
		}
	}
	return c
}

// The bodies, in arm_arm64.s.

//go:noescape
func bfdot(d, a, b *byte, groups int, control uint64)

//go:noescape
func bfmmla(d, a, b *byte, groups int, control uint64)

//go:noescape
func bfmlalb(d, a, b *byte, groups int, control uint64)

//go:noescape
func bfmlalt(d, a, b *byte, groups int, control uint64)

//go:noescape
func fmlal(d, a, b *byte, groups int, control uint64)

//go:noescape
func fmla8h(d, a, b *byte, groups int, control uint64)

//go:noescape
func fmla4s(d, a, b *byte, groups int, control uint64)

//go:noescape
func fmla2d(d, a, b *byte, groups int, control uint64)

// fdot and fmmla set FPMR; only a processor with FEAT_FPMR has it.
//
//go:noescape
func fdot(d, a, b *byte, groups int, control uint64)

//go:noescape
func fmmla(d, a, b *byte, groups int, control uint64)
