package bundle

import (
	"maps"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/cuda" // programs for NVIDIA's GPUs
	kernels "github.com/mmafuzz/mmafuzz/devices/gpu"
	_ "github.com/mmafuzz/mmafuzz/devices/hip" // and for AMD's
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// programs returns the programs that go with a bundle and need no mmafuzz: for each
// side whose instruction is that of a GPU, simulated or not.
func programs(m *corpus.Mismatch) map[string][]byte {
	all := map[string][]byte{}
	for _, s := range []struct {
		name        string
		side, other *corpus.SideRecord
	}{{"a", &m.A, &m.B}, {"b", &m.B, &m.A}} {
		if c, ok := caseOf(m, s.name, s.side, s.other); ok {
			// A bundle without a program is better than no bundle. The tests check
			// that every instruction has a program.
			files, _ := kernels.Reproduce(c)
			maps.Copy(all, files)
		}
	}
	return all
}

// caseOf returns a side's part of a mismatch. Not ok: the side is no instruction of
// the catalogue, or it gave no result.
func caseOf(m *corpus.Mismatch, name string, side, other *corpus.SideRecord) (*kernels.Case, bool) {
	i, err := mma.Lookup(side.Arch, side.Instruction)
	if err != nil || devices.Comparable(i.Formats, m.Formats) != nil {
		return nil, false
	}
	dot, err := m.Dot()
	if err != nil {
		return nil, false
	}
	c := &kernels.Case{Side: name, Target: side.Target, Instruction: i, Dot: dot, K: m.K, Other: other.Target + " " + other.Instruction}
	if c.Result, err = mma.ParseCode("result", m.Formats.D, side.Result); err != nil {
		return nil, false
	}
	if c.OtherResult, err = mma.ParseCode("result", m.Formats.D, other.Result); err != nil {
		return nil, false
	}
	return c, true
}
