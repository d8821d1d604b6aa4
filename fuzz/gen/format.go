package gen

import "github.com/mmafuzz/mmafuzz/sim/fp"

// format is a format with what generators ask of it for every operand, computed once.
type format struct {
	*fp.Format
	emin, emax    int32
	sign, largest uint64
	negZero       bool
	patterns      []uint64 // patternCodes, once they were asked for
}

func newFormat(id fp.ID) *format {
	if id == fp.None {
		return nil
	}
	f := id.Get()
	return &format{Format: f, emin: f.Emin(), emax: f.Emax(), sign: f.SignBit(), largest: f.MaxFinite(), negZero: f.HasNegZero()}
}

func (f *format) Emin() int32       { return f.emin }
func (f *format) Emax() int32       { return f.emax }
func (f *format) SignBit() uint64   { return f.sign }
func (f *format) MaxFinite() uint64 { return f.largest }
func (f *format) HasNegZero() bool  { return f.negZero }

// Patterns returns patternCodes of the format.
func (f *format) Patterns() []uint64 {
	if f.patterns == nil {
		f.patterns = patternCodes(f.Format)
	}
	return f.patterns
}
