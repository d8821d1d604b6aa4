package mma

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// amdName is the grammar of AMD's names: operation, D, shape, number of blocks
// (newer names only), formats of A and B.
var amdName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^v_(mfma|smfmac|wmma|swmmac)(_scale)?_([a-z0-9]+)_(\d+)x(\d+)x(\d+)_?(?:\d+b_)?(\w+)$`)
})

// amdDot is the grammar of dot products of vectors: products, D, formats of A and B.
var amdDot = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^v_dot([248])_([a-z0-9]+)_(\w+)$`) })

// ocpFormats is what AMD's short names of formats mean where they are not
// CDNA3's FNUZ formats (fp.Parse).
var ocpFormats = map[string]string{"fp8": "e4m3", "bf8": "e5m2", "fp6": "e2m3", "bf6": "e3m2", "fp4": "e2m1"}

// parseAMD reads names such as
//
//	v_mfma_f32_4x4x4f16, v_mfma_f32_32x32x4bf16_1k        up to CDNA2
//	v_mfma_f32_32x32x4_2b_f16, v_mfma_f32_16x16x32_fp8_bf8
//	v_mfma_f32_16x16x128_f8f6f4_fp8_bf6, v_mfma_scale_... the formats are modifiers in the ISA
//	v_wmma_f16_16x16x16_f16
//	v_smfmac_f32_16x16x32_f16, v_swmmac_...               half of the 32 elements of A are kept
//	v_dot2_f32_f16                                        two products, in each lane
//	v_dot4_i32_iu8_s8_u8, v_wmma_..._iu4_u4_u4_clamp      which operand is signed is a modifier, as is clamp
func parseAMD(name string, ocp bool) (Instruction, error) {
	i := Instruction{Name: name}
	name, clamped := strings.CutSuffix(name, "_clamp")
	if f := amdDot().FindStringSubmatch(name); f != nil {
		a, b := amdOperands(f[3])
		d := f[2]
		if d == "u32" && !clamped { // the same bits
			d = "s32"
		}
		ids, err := parseFormats([]string{d, a, b})
		if err != nil {
			return i, fmt.Errorf("%q: %w", name, err)
		}
		i.M, i.N, i.K = one, one, int(f[1][0]-'0')
		i.D, i.A, i.B, i.C = ids[0], ids[1], ids[2], ids[0]
		return i, nil
	}
	f := amdName().FindStringSubmatch(name)
	if f == nil {
		return i, fmt.Errorf("%q is not an instruction name", name)
	}
	op, scale, d, types := f[1], f[2], f[3], f[7]
	var dims [3]int
	for n, digits := range f[4:7] {
		v, err := strconv.Atoi(digits)
		if err != nil {
			return i, fmt.Errorf("%q: %w", name, err)
		}
		dims[n] = v
	}
	i.M, i.N, i.K = Range{dims[0], dims[0], 1}, Range{dims[1], dims[1], 1}, dims[2]
	if op == "smfmac" || op == "swmmac" {
		i.K /= 2
	}
	a, b := amdOperands(types)
	if ocp {
		a, b = orSame(ocpFormats, a), orSame(ocpFormats, b)
	}
	ids, err := parseFormats([]string{d, a, b})
	if err != nil {
		return i, fmt.Errorf("%q: %w", name, err)
	}
	i.D, i.A, i.B, i.C = ids[0], ids[1], ids[2], ids[0]
	if scale != "" {
		i.Scale, i.Block = fp.E8M0, 32
	}
	return i, nil
}

// amdOperands returns the names of the formats of A and B.
func amdOperands(types string) (a, b string) {
	types = strings.TrimSuffix(types, "_1k")
	for _, choice := range []string{"f8f6f4_", "iu8_", "iu4_"} {
		types = strings.TrimPrefix(types, choice)
	}
	a, b, ok := strings.Cut(types, "_")
	if !ok {
		b = a
	}
	return a, b
}

// orSame returns what a map has for a word, the word itself if it has nothing.
func orSame(m map[string]string, word string) string {
	if v, ok := m[word]; ok {
		return v
	}
	return word
}
