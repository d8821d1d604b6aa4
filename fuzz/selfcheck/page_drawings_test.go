package selfcheck

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/report"
)

// drawings are the README's pictures, drawn as in pages of mmafuzz report.
var drawings = []struct {
	file string
	make func() ([]byte, error)
}{
	{".github/alignment.svg", alignment},
	{".github/unit.svg", unit},
}

// alignment draws the finding of the README's first picture.
func alignment() ([]byte, error) {
	m := &report.Mismatch{}
	for _, s := range []struct {
		side *report.Side
		arch string
	}{{&m.A, "ampere"}, {&m.B, "hopper"}} {
		i, err := mma.Lookup(s.arch, "mma.m16n8k8.f32.f16.f16.f32")
		if err != nil {
			return nil, err
		}
		dot, err := mma.ParseDot(i.Formats, i.K, true, strings.Fields("3c00 3c00 b3000000"))
		if err != nil {
			return nil, err
		}
		model, err := sim.New(i.Formats, i.K, i.Params)
		if err != nil {
			return nil, err
		}
		*s.side = report.Side{Name: "sim:" + i.FullName(), Trace: &sim.Trace{}, Params: &i.Params}
		s.side.Result = model.Dot(dot, s.side.Trace)
		m.Input = report.Input{Title: i.Name, Formats: i.Formats, Dot: dot}
	}
	return report.SVG(m, report.SVGOptions{Key: true}).Titled("how an A100 and an H100 compute the same sum").File(), nil
}

// unit draws an instruction of CDNA3 as a block diagram.
func unit() ([]byte, error) {
	i, err := mma.Lookup("cdna3", "v_mfma_f32_16x16x32_fp8_fp8")
	if err != nil {
		return nil, err
	}
	return report.Pipeline(i.Formats, i.K, &i.Params).Titled("block diagram of " + i.FullName()).File(), nil
}
