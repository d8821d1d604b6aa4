package devices

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ByValue returns a unit as one of Formats with Common, which FP8 of OCP and of FNUZ are compared in.
// A model computes the instruction that reads operands in another format; of any other unit the
// operands are translated.
func ByValue(u Unit) (Unit, error) {
	i, err := byvalue.Instruction(u.Instruction())
	if err != nil {
		return nil, err
	}
	if m, ok := u.(interface {
		As(*mma.Instruction) (Unit, error)
	}); ok {
		return m.As(i)
	}
	if IsRecording(u) {
		return nil, fmt.Errorf("%s is a recording, whose inputs are not those that both formats have: it cannot be compared by value", i.FullName())
	}
	return &translated{Unit: u, inst: i}, nil
}

// translated is a unit whose operands are translated.
type translated struct {
	Unit
	inst *mma.Instruction
}

func (t *translated) Instruction() *mma.Instruction { return t.inst }

// Model returns nil: the unit's own arithmetic, if it is known, is that of other operands.
func (t *translated) Model() *mma.Params { return nil }

func (t *translated) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	own := *in
	own.Formats = t.Unit.Instruction().Formats
	if own.Formats.A == in.Formats.A {
		return t.Unit.Run(ctx, &own, out)
	}
	own.A, own.B = toFNUZ(in.Formats.A, in.A), toFNUZ(in.Formats.B, in.B)
	return t.Unit.Run(ctx, &own, out)
}

// toFNUZ translates codes of OCP.
func toFNUZ(id fp.ID, codes []byte) []byte {
	var table [256]byte
	for code := range table {
		table[code] = byte(byvalue.ToFNUZ(id, uint64(code)))
	}
	all := make([]byte, len(codes))
	for i, c := range codes {
		all[i] = table[c]
	}
	return all
}
