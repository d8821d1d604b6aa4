package encode

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TooHard is what a program or a format has that cannot be encoded.
type TooHard struct {
	What string // the path of a field with its value, or its consequence that is too large, such as an exact sum of too many bits
}

func (e *TooHard) Error() string { return e.What + " is not encoded" }

func tooHard(format string, args ...any) error { return &TooHard{fmt.Sprintf(format, args...)} }

// encodable returns an error if a program says anything that the encoder does not know: a
// value of a parameter beyond the last one that its row says is encoded, by its path.
func encodable(p *mma.Params, f mma.Formats) error {
	for _, x := range mma.Fields() {
		if v := x.Int(p); v != 0 && (x.Encoded == 0 || v > x.Encoded) {
			return tooHard("%s = %s", x.Path, x.Text(p))
		}
	}
	if p.In.InfNaN && p.Special.OperandNaN() { // which NaN it is depends on operands that are infinite
		return tooHard("in.infnan = true with special.nan = %s", p.Special.NaN)
	}
	if f.D.Integer() {
		return tooHard("a sum in %s", f.D)
	}
	if f.D != fp.None && !f.D.Get().Signed {
		return tooHard("a result in %s, which has no sign,", f.D)
	}
	f.A, f.B, f.C, f.D, f.Scale, f.Block, f.Down = fp.None, fp.None, fp.None, fp.None, fp.None, 0, 0
	if f != (mma.Formats{}) {
		return tooHard("a field of the formats (%+v)", f)
	}
	return nil
}
