package reference

import (
	"context"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/tiling"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("oracle", openOracle, "slow second interpreter of an architecture's parameters: oracle:hopper")
}

// slowTarget is an architecture whose parameters package oracle interprets.
type slowTarget struct {
	arch mma.Arch
}

func openOracle(arch string) (devices.Target, error) {
	a, ok := mma.FindArch(arch)
	if !ok {
		_, err := mma.Lookup(arch, "")
		return nil, err
	}
	return &slowTarget{a}, nil
}

func (t *slowTarget) Name() string                    { return "oracle:" + t.arch.Name }
func (t *slowTarget) Instructions() []mma.Instruction { return mma.Of(t.arch.Name) }
func (t *slowTarget) Close() error                    { return nil }
func (t *slowTarget) Environment() map[string]string  { return map[string]string{"kind": "oracle"} }

func (t *slowTarget) Open(i *mma.Instruction) (devices.Unit, error) {
	if err := devices.Refused(i); err != nil {
		return nil, err
	}
	return &slowUnit{i}, nil
}

type slowUnit struct{ inst *mma.Instruction }

func (u *slowUnit) Instruction() *mma.Instruction { return u.inst }
func (u *slowUnit) Model() *mma.Params            { return &u.inst.Params }

func (u *slowUnit) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return tiling.EachDot(ctx, in, out, oracle.NewEvaluator(&u.inst.Params, in.Formats, u.inst.K).Eval)
}
