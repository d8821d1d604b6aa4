package gen

import "github.com/mmafuzz/mmafuzz/sim/fp"

// format is a format with what is asked of it for every operand, computed once.
type format struct {
	*fp.Format
	emin, emax    int32
	sign, largest uint64
}

func newFormat(id fp.ID) *format {
	if id == fp.None {
		return nil
	}
	f := id.Get()
	return &format{f, f.Emin(), f.Emax(), f.SignBit(), f.MaxFinite()}
}

func (f *format) Emin() int32       { return f.emin }
func (f *format) Emax() int32       { return f.emax }
func (f *format) SignBit() uint64   { return f.sign }
func (f *format) MaxFinite() uint64 { return f.largest }
