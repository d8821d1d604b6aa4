package devices_test

import (
	"context"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// hidden is a unit whose arithmetic is not known.
type hidden struct{ devices.Unit }

func (h hidden) Model() *mma.Params { return nil }

func (h hidden) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	return h.Unit.Run(ctx, in, out)
}

// TestByValue compares models that read operands of another format with the same models of
// operands that are translated, and with the oracle, on inputs of all generators.
func TestByValue(t *testing.T) {
	for _, name := range []string{
		"cdna3/v_mfma_f32_16x16x32_fp8_fp8", "cdna3/v_mfma_f32_16x16x32_bf8_bf8", "cdna3/v_mfma_f32_16x16x32_fp8_bf8", "cdna3/v_mfma_f32_32x32x16_bf8_fp8", "hopper/wgmma.m64n8k32.f32.e4m3.e5m2",
		"hopper/wgmma.m64n8k32.f32.e4m3.e4m3", "hopper/mma.m16n8k32.f32.e5m2.e5m2.f32",
	} {
		arch, inst, _ := strings.Cut(name, "/")
		u, err := devices.OpenUnit("sim:"+arch, inst, "")
		if err != nil {
			t.Fatal(err)
		}
		model, err := devices.ByValue(u)
		if err != nil {
			t.Fatal(err)
		}
		box, err := devices.ByValue(hidden{u})
		if err != nil {
			t.Fatal(err)
		}
		i := model.Instruction()
		if i.Formats != box.Instruction().Formats || !i.Formats.Common || model.Model() == nil || box.Model() != nil {
			t.Fatalf("%s: %s and %s", name, i.Formats, box.Instruction().Formats)
		}
		dots := gen.Probe(gen.Spec{Formats: i.Formats, K: i.K}, 1, 3, model.Model())
		in := mma.BatchOf(i.Formats, i.K, dots)
		w := i.D.Width()
		got, want := make([]byte, len(dots)*w), make([]byte, len(dots)*w)
		if err := model.Run(t.Context(), in, got); err != nil {
			t.Fatal(err)
		}
		if err := box.Run(t.Context(), in, want); err != nil {
			t.Fatal(err)
		}
		for n, d := range dots {
			if !byvalue.IsShared(i.Formats, d) {
				t.Fatalf("%s: %s is an input, and not all of it is shared", name, mma.FormatDot(i.Formats, d))
			}
			x, y := mma.Load(got, w, n), mma.Load(want, w, n)
			if x != y {
				t.Fatalf("%s: %s gives %08x, translated %08x", name, mma.FormatDot(i.Formats, d), x, y)
			}
			if n%16 == 0 && oracle.Eval(model.Model(), i.Formats, i.K, d) != x {
				t.Fatalf("%s: %s gives %08x, by the oracle %08x", name, mma.FormatDot(i.Formats, d), x, oracle.Eval(model.Model(), i.Formats, i.K, d))
			}
		}
	}
}
