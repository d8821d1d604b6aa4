// Package quantize makes blocks of FP32 numbers into a scale and codes of few bits, as
// libraries do before a matrix product: OCP MX, NVFP4, FP8 by tensor, row or tile, and block
// floating point. A scheme is data; Explain says of every number what it became and why, and
// Compare what two schemes make differently, on the smallest block, and which of their rules
// is the cause.
//
// The API of this package is not promised: it may change in any version.
package quantize

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Rule is how the scale of a block follows from its largest magnitude.
type Rule string

// The rules. The first four give powers of two, with emax the exponent of the largest number
// of the elements.
const (
	Floor Rule = "floor" // 2^(floor(log2 amax) - emax): OCP MX v1.0, section 6.3
	Ceil  Rule = "ceil"  // 2^(ceil(log2 amax) - emax): torchao, ScaleCalculationMode.CEIL
	Even  Rule = "even"  // as floor, amax rounded to nearest even to the fraction bits of the elements before: microxcaling, mx_ops.py
	RCeil Rule = "rceil" // the least power of two that is at least amax/most, most being the largest number: PTX cvt.rp.satfinite.ue8m0x2
	Most  Rule = "most"  // amax/most, in FP32, then rounded to nearest even to the scale's format
)

// Scheme is a way of quantizing.
type Scheme struct {
	Name    string `json:"name,omitzero"`
	Element fp.ID  `json:"element,omitzero"` // of the codes; None: integers of Bits bits
	// Integer elements are Bits bits with the sign, of which Bits-2 are fraction bits, so
	// that the largest is just below 2. Magnitude: sign and magnitude, else two's complement.
	Bits      int   `json:"bits,omitzero"`
	Magnitude bool  `json:"magnitude,omitzero"`
	Scale     fp.ID `json:"scale,omitzero"`   // E8M0, UE4M3 or FP32
	Rows      int   `json:"rows,omitzero"`    // of a block; 0: all
	Columns   int   `json:"columns,omitzero"` // of a block; 0: all
	Rule      Rule  `json:"rule,omitzero"`
	// Tensor: block scales are relative to a scale of the whole tensor, amax of all numbers by
	// the largest scale times the largest element, in FP32 (NVFP4).
	Tensor bool `json:"tensor,omitzero"`
	// Reciprocal: numbers are multiplied by the reciprocal of the scale, rounded to FP32,
	// instead of being divided by the scale in FP32. Powers of two give the same.
	Reciprocal bool        `json:"reciprocal,omitzero"`
	Rounding   fp.Mode     `json:"rounding,omitzero"` // of the elements
	Over       fp.Overflow `json:"over,omitzero"`     // what elements beyond the largest become; integers saturate
	// ScaleRounding is the rounding of a scale by the rule Most to its format.
	ScaleRounding fp.Mode `json:"scale_rounding,omitzero"`
	Source        string  `json:"source,omitzero"`
}

// schemes are those that have names.
var schemes = []Scheme{
	{"mxfp8", fp.E4M3, 0, false, fp.E8M0, 1, 32, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "OCP MX v1.0, MXFP8 (E4M3)"},
	{"mxfp8-e5m2", fp.E5M2, 0, false, fp.E8M0, 1, 32, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "OCP MX v1.0, MXFP8 (E5M2)"},
	{"mxfp6", fp.E2M3, 0, false, fp.E8M0, 1, 32, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "OCP MX v1.0, MXFP6 (E2M3)"},
	{"mxfp6-e3m2", fp.E3M2, 0, false, fp.E8M0, 1, 32, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "OCP MX v1.0, MXFP6 (E3M2)"},
	{"mxfp4", fp.E2M1, 0, false, fp.E8M0, 1, 32, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "OCP MX v1.0, MXFP4"},
	{"mxint8", fp.None, 8, false, fp.E8M0, 1, 32, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "OCP MX v1.0, MXINT8"},
	{"nvfp4", fp.E2M1, 0, false, fp.UE4M3, 1, 16, Most, true, false, fp.RNE, fp.OverMax, fp.RNE, "NVFP4: blocks of 16, scales in UE4M3, one in FP32"},
	{"fp8-tensor", fp.E4M3, 0, false, fp.FP32, 0, 0, Most, false, false, fp.RNE, fp.OverMax, fp.RNE, "FP8 with one scale"},
	{"fp8-row", fp.E4M3, 0, false, fp.FP32, 1, 0, Most, false, false, fp.RNE, fp.OverMax, fp.RNE, "FP8 with a scale for every row"},
	{"fp8-128x128", fp.E4M3, 0, false, fp.FP32, 128, 128, Most, false, false, fp.RNE, fp.OverMax, fp.RNE, "FP8 with a scale for every tile of 128 x 128 (DeepSeek-V3)"},
	{"bfp8", fp.None, 8, true, fp.E8M0, 1, 16, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "block floating point: 16 numbers of sign and 7 bits, one exponent"},
	{"bfp4", fp.None, 4, true, fp.E8M0, 1, 16, Floor, false, false, fp.RNE, fp.OverMax, fp.RNE, "block floating point: 16 numbers of sign and 3 bits, one exponent"},
}

// Schemes returns the schemes that have names.
func Schemes() []Scheme { return slices.Clone(schemes) }

// Parse reads a scheme: a name, and after colons the rule of the scale, a rounding of the
// elements, scale- and a rounding of the scale, reciprocal, or nosat for elements that overflow,
// as in mxfp4:even or nvfp4:reciprocal:scale-ru.
func Parse(text string) (Scheme, error) {
	words := strings.Split(text, ":")
	n := slices.IndexFunc(schemes, func(s Scheme) bool { return s.Name == words[0] })
	if n < 0 {
		var names []string
		for _, s := range schemes {
			names = append(names, s.Name)
		}
		return Scheme{}, fmt.Errorf("unknown format %.40q of blocks (known: %s)", words[0], strings.Join(names, ", "))
	}
	s := schemes[n]
	s.Name = text
	for _, word := range words[1:] {
		rule := Rule(word)
		name, ofScale := strings.CutPrefix(word, "scale-")
		mode, err := fp.ParseMode(name)
		if mode == fp.RS { // there is no place for the random bits
			mode = 0
		}
		switch {
		case word == "nosat" && s.Element != fp.None && s.Element.Get().HasNaN():
			s.Over = fp.OverInf
		case ofScale && s.Rule == Most && err == nil && mode != 0:
			s.ScaleRounding = mode
		case word == "reciprocal":
			s.Reciprocal = true
		case slices.Contains([]Rule{Floor, Ceil, Even, RCeil}, rule) && s.Scale == fp.E8M0:
			s.Rule = rule
		case !ofScale && err == nil && mode != 0:
			s.Rounding = mode
		default:
			return s, fmt.Errorf("%.80q: %.40q is not one of its rules: floor, ceil, even, rceil where the scale is a power of two, else scale-ru and the like; rne, rz, rd, ru, rna, rto; reciprocal; nosat where elements have a NaN", text, word)
		}
	}
	return s, nil
}
