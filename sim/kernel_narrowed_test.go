package sim

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestNarrowed computes chains whose operands are narrowed with their kernel and with the interpreter, of
// operands of every exponent, ties and their neighbours among them.
func TestNarrowed(t *testing.T) {
	d := rand.New(rand.NewPCG(1, 2))
	for _, n := range []mma.Narrow{
		{Frac: 7}, {Frac: 10}, {Frac: 7, Mode: fp.RNE}, {Frac: 7, Mode: fp.RNA}, {Frac: 10, Mode: fp.RZ}, {Frac: 10, Mode: fp.RNE, Over: mma.OverSat},
		{Frac: 10, Mode: fp.RNE, To: fp.FP16}, {Frac: 10, Mode: fp.RZ, To: fp.FP16, Over: mma.OverIEEE}, {Frac: 10, Mode: fp.RNA, To: fp.FP16, Over: mma.OverSat},
		{Frac: 2, Mode: fp.RNE, To: fp.E5M2}, {Frac: 10, Mode: fp.RU}, {Mode: fp.RNE, To: fp.BF16, Over: mma.OverSat},
	} {
		for only := range 3 {
			f := mma.Formats{A: fp.FP32, B: fp.FP32, C: fp.FP32, D: fp.FP32}
			p := mma.FMA(fp.FP32)
			if only != 1 {
				p.In.A = n
			}
			if only != 2 {
				p.In.B = n
			}
			if d.IntN(2) == 0 {
				p.In.Sub = mma.FlushSign
			}
			if err := p.Validate(f, 1); err != nil {
				t.Fatal(err)
			}
			m := newModel(f, 1, p, Paths()[len(Paths())-1])
			if !strings.HasPrefix(m.Kernel(), "narrowed") {
				t.Fatalf("%v: the kernel is %q", n, m.Kernel())
			}
			in := mma.NewBatch(f, mma.Shape{M: 40, N: 40, K: 3, Tiles: 4})
			for _, to := range [][]byte{in.A, in.B} {
				for i := range len(to) / 4 {
					code := d.Uint32()
					switch d.IntN(4) {
					case 0: // about ties
						keep := uint32(31) << (8 + d.IntN(15))
						code = code&^(keep-1) | keep>>1&^(keep>>2) + uint32(d.IntN(3)) - 1
					case 1:
						code = math.Float32bits(float32(math.Ldexp(d.NormFloat64(), d.IntN(60)-40)))
					case 2:
						code = code&0x80000000 | []uint32{0, 1, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7f7fffff, 0x477fefff, 0x477ff000, 0x477fe000, 0x7f7f8000}[d.IntN(10)]
					}
					mma.Store(to, 4, i, uint64(code))
				}
			}
			got, want := make([]byte, 4*in.Dots()), make([]byte, 4*in.Dots())
			m.Run(in, got)
			newModel(f, 1, p, General).Run(in, want)
			for i := range in.Dots() {
				if x, y := mma.Load(got, 4, i), mma.Load(want, 4, i); x != y {
					t.Fatalf("%v, %d: element %d is %08x, want %08x", n, only, i, x, y)
				}
			}
		}
	}
}
