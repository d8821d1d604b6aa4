package sim_test

import (
	"testing"

	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestFault plants faults in Hopper's FP16 unit, which cuts terms 25 bits below the largest
// exponent E and truncates the sum to FP32, and in the chain of four FP64 multiply-adders.
func TestFault(t *testing.T) {
	const (
		one, minus, half = 0x3c00, 0xbc00, 0x3800
		oneF             = 0x3f800000
		oneD             = 0x3ff0000000000000
	)
	for _, tc := range []struct {
		name        string
		arch, inst  string
		a, b        []uint64
		c           uint64
		fault       sim.Fault
		works, want uint64
	}{
		{"2^-20 of a product of 22 bits, the second", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one, one}, []uint64{one, one}, 0,
			sim.Fault{Place: sim.Multiplier, Unit: 1, Bit: 0, Kind: sim.Stuck1}, 0x40000000, 0x40000004},
		{"the leading bit of a product", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one, one}, []uint64{one, one}, 0,
			sim.Fault{Place: sim.Multiplier, Unit: 1, Bit: 20, Kind: sim.Stuck0}, 0x40000000, oneF},
		{"a multiplier that gets a zero", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one, 0}, []uint64{one, one}, 0,
			sim.Fault{Place: sim.Multiplier, Unit: 1, Bit: 0, Kind: sim.Stuck1}, oneF, oneF},
		{"2^-20 of the accumulator as it is added", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, oneF,
			sim.Fault{Place: sim.Aligner, Unit: 16, Bit: 5, Kind: sim.Stuck1}, 0x40000000, 0x40000004},
		{"the sum -1, in two's complement all ones down to its leading bit", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{minus}, []uint64{one}, 0,
			sim.Fault{Place: sim.Adder, Bit: 27, Kind: sim.Stuck0}, 0xbf800000, 0xc0a00000},
		{"a carry into 2 that is lost: 1+1", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, oneF,
			sim.Fault{Place: sim.Carry, Bit: 26, Kind: sim.Stuck0}, 0x40000000, 0},
		{"a carry that is not: 1+2", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{0x4000}, []uint64{one}, oneF,
			sim.Fault{Place: sim.Carry, Bit: 25, Kind: sim.Stuck0}, 0x40400000, 0x40400000},
		{"a distance of 4 instead of 6", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, 0,
			sim.Fault{Place: sim.Shifter, Bit: 1, Kind: sim.Stuck0}, oneF, 0x3e800000},
		{"a distance of 6 that is 7: the leading bit of 1.5 leaves", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one, half}, []uint64{one, one}, 0,
			sim.Fault{Place: sim.Shifter, Bit: 0, Kind: sim.Stuck1}, 0x3fc00000, oneF},
		{"a bit of the result", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, 0,
			sim.Fault{Place: sim.Result, Bit: 31, Kind: sim.Stuck1}, oneF, 0xbf800000},
		{"short circuit with a 0", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, 0,
			sim.Fault{Place: sim.Result, Bit: 29, Kind: sim.WiredAnd}, oneF, 0x1f800000},
		{"short circuit with a 1", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, 0,
			sim.Fault{Place: sim.Result, Bit: 22, Kind: sim.WiredOr}, oneF, 0x3fc00000},
		{"coupled with bits that are so", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, 0,
			sim.Fault{Place: sim.Result, Bit: 0, Kind: sim.Coupled, Mask: 1<<23 | 1<<22, Match: 1 << 23}, oneF, oneF + 1},
		{"coupled with bits of which one is not so", "hopper", "mma.m16n8k16.f32.f16.f16.f32", []uint64{one}, []uint64{one}, 0,
			sim.Fault{Place: sim.Result, Bit: 0, Kind: sim.Coupled, Mask: 1<<23 | 1<<22, Match: 1<<23 | 1<<22}, oneF, oneF},
		{"an increment where nothing is lost, four times", "ampere", "mma.m8n8k4.f64.f64.f64.f64", []uint64{oneD}, []uint64{oneD}, 0,
			sim.Fault{Place: sim.Increment, Kind: sim.Stuck1}, oneD, oneD + 4},
		{"no increment: 1+2^-52 + 2^-53, a tie to even", "ampere", "mma.m8n8k4.f64.f64.f64.f64", []uint64{0x3ca0000000000000}, []uint64{oneD}, oneD + 1,
			sim.Fault{Place: sim.Increment, Kind: sim.Stuck0}, oneD + 2, oneD + 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			i, err := mma.Lookup(tc.arch, tc.inst)
			if err != nil {
				t.Fatal(err)
			}
			m, err := sim.ForInstruction(i)
			if err != nil {
				t.Fatal(err)
			}
			d := mma.NewDot(i.Formats, i.K)
			copy(d.A, tc.a)
			copy(d.B, tc.b)
			d.C = tc.c
			in, out := mma.BatchOf(i.Formats, i.K, []*mma.Dot{d}), make([]byte, i.D.Width())
			m.RunFaulty(in, out, &tc.fault)
			if got := mma.Load(out, len(out), 0); got != tc.want {
				t.Errorf("with the fault %x, want %x", got, tc.want)
			}
			m.RunFaulty(in, out, nil)
			if got := mma.Load(out, len(out), 0); got != tc.works {
				t.Errorf("without %x, want %x", got, tc.works)
			}
		})
	}
}
