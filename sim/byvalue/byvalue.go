// Package byvalue compares instructions for FP8 of OCP with those for AMD's FNUZ formats, which
// give other meanings to the same bits: mma.Formats with Common have the codes of OCP, and only
// those whose values both formats have.
//
// The API of this package is not promised: it may change in any version.
package byvalue

import (
	"fmt"
	"slices"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// notes say what only one of the formats has, by the format of OCP.
var notes = map[fp.ID]string{
	fp.E4M3: "only e4m3 has 256 to 448, -0 and the NaNs 7f and ff; only e4m3fnuz has odd multiples of 2^-10 and the NaN 80",
	fp.E5M2: "only e5m2 has infinities, -0 and the NaNs 7d to 7f and fd to ff; only e5m2fnuz has odd multiples of 2^-17 and the NaN 80",
}

// Formats returns the mma.Formats by which operands in a format of OCP and in the FNUZ format of the
// same fields are compared by value. Not ok: the formats differ in something else.
func Formats(f, g mma.Formats) (mma.Formats, bool) {
	if f.A.FNUZ() != g.A {
		f, g = g, f
	}
	common := f
	common.Common = true
	if f.A.FNUZ() != g.A || f.B.FNUZ() != g.B || common.Validate() != nil {
		return mma.Formats{}, false
	}
	f.A, f.B = g.A, g.B
	return common, f == g
}

// Notes say what the formats that are compared by value do not have in common, each two in a
// sentence.
func Notes(f mma.Formats) []string {
	var all []string
	for _, ocp := range slices.Compact([]fp.ID{f.A, f.B}) {
		all = append(all, fmt.Sprintf("%s and %s mean different numbers by the same bits: inputs are numbers that both have, and are compared by value; %s",
			ocp, ocp.FNUZ(), notes[ocp]))
	}
	return all
}

// Instruction returns an instruction as one of mma.Formats with Common: one for FNUZ operands reads those of
// OCP, with the exponents that they have in its own format.
func Instruction(i *mma.Instruction) (*mma.Instruction, error) {
	j := *i
	j.Formats.Common = true
	for ocp := range notes {
		if i.A == ocp.FNUZ() {
			if j.A = ocp; i.Params != (mma.Params{}) {
				j.Params.In.Widen = i.A
			}
			if i.Params.In.Widen != fp.None {
				return nil, fmt.Errorf("%s widens its operands: it has no other ones", i.FullName())
			}
		}
		if i.B == ocp.FNUZ() {
			j.B = ocp
		}
	}
	j.Unknown |= mma.FacetNaN | mma.FacetZero
	return &j, j.Formats.Validate()
}

// shared returns a code of OCP if the FNUZ format has its value too, and else one beside it whose
// value both have.
func shared(id fp.ID, code uint64) uint64 {
	f, most := id.Get(), id.FNUZ().Get().MaxFinite()
	limit := most - uint64(id.FNUZ().Get().Bias-f.Bias)<<f.FracBits // the same value in OCP's codes
	mag := code &^ f.SignBit()
	if mag > limit {
		code &^= 1 << f.FracBits
	}
	if mag == 0 {
		return 0
	}
	return code
}

// Share makes the operands of a batch's tiles shared ones, from a tile on.
func Share(b *mma.Batch, tile int) {
	if !b.Common {
		return
	}
	for _, x := range []struct {
		codes []byte
		id    fp.ID
		from  int
	}{{b.A, b.Formats.A, tile * b.M * b.K}, {b.B, b.Formats.B, tile * b.N * b.K}} {
		for n, code := range x.codes[x.from:] {
			x.codes[x.from+n] = byte(shared(x.id, uint64(code)))
		}
	}
}

// IsShared reports whether a dot product has operands that formats allow.
func IsShared(f mma.Formats, d *mma.Dot) bool {
	if !f.Common {
		return true
	}
	for n := range d.A {
		if shared(f.A, d.A[n]) != d.A[n] || shared(f.B, d.B[n]) != d.B[n] {
			return false
		}
	}
	return true
}

// toFNUZ returns the code of the FNUZ format with the value of a code of OCP, or of the shared one
// beside it.
func toFNUZ(id fp.ID, code uint64) uint64 {
	return id.FNUZ().Get().FromFloat64(id.Get().Float64(shared(id, code)))
}

// table has the shared codes of a format of OCP in its FNUZ format, and the other way round.
type table struct {
	to, from [256]byte
	has      [256]bool // FNUZ codes with a shared value
}

// tables are those of all formats of OCP.
var tables = sync.OnceValue(func() map[fp.ID]*table {
	all := map[fp.ID]*table{}
	for ocp := range notes {
		t := &table{}
		for code := range uint64(256) {
			fnuz := toFNUZ(ocp, code)
			t.to[code] = byte(fnuz)
			if shared(ocp, code) == code {
				t.from[fnuz], t.has[fnuz] = byte(code), true
			}
		}
		all[ocp] = t
	}
	return all
})

// Own returns a batch of Formats with Common as one in the formats that a unit has for them. It
// shares with the batch what is the same in both.
func Own(b *mma.Batch, formats mma.Formats) *mma.Batch {
	own := *b
	own.Formats = formats
	if formats.A != b.Formats.A {
		own.A, own.B = translate(b.A, &tables()[b.Formats.A].to), translate(b.B, &tables()[b.Formats.B].to)
	}
	return &own
}

func translate(codes []byte, table *[256]byte) []byte {
	all := make([]byte, len(codes))
	for i, c := range codes {
		all[i] = table[c]
	}
	return all
}

// Take makes codes of OCP of the operands of a dot product that a unit has in its own formats. Not
// ok: one of them is a number that f, with Common, does not allow.
func Take(f, own mma.Formats, d *mma.Dot) (ok bool) {
	if own.A == f.A {
		return IsShared(f, d)
	}
	ok = true
	for _, x := range []struct {
		codes []uint64
		t     *table
	}{{d.A, tables()[f.A]}, {d.B, tables()[f.B]}} {
		for i, code := range x.codes {
			ok = ok && x.t.has[code]
			x.codes[i] = uint64(x.t.from[code])
		}
	}
	return ok
}
