package kernel

import (
	"context"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/gemm"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// scaledBox is a black box that multiplies as a kernel does, by the scales of its requests.
type scaledBox struct {
	boxUnit
	seen map[uint64]bool // scales
}

func (b *scaledBox) Run(ctx context.Context, in *mma.Batch, out []byte) error {
	o := &gemm.Operands{Shape: schedule.Shape{M: in.M, N: in.N, K: in.K}, A: in.A, B: in.B}
	if b.kernel.ScaleA == nil {
		o.SA, o.SB = in.SA, in.SB
	} else {
		f := b.inst.Scale.Get()
		read := func(codes []byte) (all []uint64) {
			for i := range len(codes) / b.inst.Scale.Width() {
				code := mma.Load(codes, b.inst.Scale.Width(), i)
				b.seen[code] = true
				all = append(all, fp.FP32.Get().FromFloat64(f.Float64(code)))
			}
			return all
		}
		o.ScaleA, o.ScaleB = read(in.SA), read(in.SB)
	}
	d, _, err := gemm.Multiply(ctx, b.kernel, o, gemm.Options{Workers: 1})
	copy(out, d)
	return err
}

// TestScaledBoxes compares black boxes that take scales with each other, with schedules that multiply by scales, whose
// blocks may be larger, and with an instruction that has the same ones: what multiplies alike agrees.
func TestScaledBoxes(t *testing.T) {
	const depth, block = 96, 16
	of := func(b schedule.Blocks, scale string) *schedule.Kernel {
		return &schedule.Kernel{Unit: &schedule.Unit{Op: "fma", In: fp.E2M1, Acc: fp.FP32}, ScaleA: &b, ScaleB: &b, Schedules: []schedule.Schedule{
			{Levels: []schedule.Level{{Cut: schedule.Cut{By: "size", N: block}, Merge: schedule.Merge{Order: "forward", Scale: scale}}}}}}
	}
	const product, inTurn = "(sa*sb)*p", "sb*(sa*p)"
	kernel := func(k *schedule.Kernel) *Side {
		u, err := k.Unit.Resolve()
		if err != nil {
			t.Fatal(err)
		}
		return &Side{Name: "kernel", Kernel: k, Unit: u, Modelled: true}
	}
	for _, scale := range []fp.ID{fp.FP32, fp.E8M0, fp.UE4M3} {
		boxed := map[uint64]bool{}
		box := func(k *schedule.Kernel) *Side {
			i := &mma.Instruction{Name: "box", K: depth, Formats: mma.Formats{A: fp.E2M1, B: fp.E2M1, D: fp.FP32, Scale: scale, Block: block}}
			return &Side{Name: "box", Unit: i, Box: map[int]devices.Unit{depth: &scaledBox{boxUnit{i, k}, boxed}}}
		}
		own := schedule.Blocks{Lines: 1, K: block}
		wide := schedule.Blocks{Lines: 2, K: 2 * block}
		inst, err := mma.Lookup("blackwell", "tcgen05.m128n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3")
		if err != nil {
			t.Fatal(err)
		}
		nvfp4 := &schedule.Kernel{Unit: &schedule.Unit{Given: inst}, Schedules: []schedule.Schedule{{}}}
		for _, c := range []struct {
			what   string
			a, b   *Side
			differ bool
		}{
			{"boxes alike", box(of(own, product)), box(of(own, product)), false},
			{"boxes apart", box(of(own, product)), box(of(own, inTurn)), scale == fp.FP32},
			{"kernel and box", kernel(of(own, inTurn)), box(of(own, inTurn)), false},
			{"kernel and box apart", kernel(of(own, product)), box(of(own, inTurn)), scale == fp.FP32},
			{"larger blocks", kernel(of(wide, product)), box(of(own, product)), false},
			{"instruction", kernel(nvfp4), box(nvfp4), false},
		} {
			z := &Fuzz{A: c.a, B: c.b, Seed: 3, Count: 32, Workers: 1}
			found, err := z.Run(t.Context())
			if c.what == "instruction" && scale != fp.UE4M3 {
				if err == nil {
					t.Errorf("%s, %s: scales of two formats are the same", scale, c.what)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, %s: %v", scale, c.what, err)
			}
			if (found.Differ > 0) != c.differ {
				t.Errorf("%s, %s: %d of %d products differ", scale, c.what, found.Differ, found.Products)
			}
		}
		if len(boxed) < 2 {
			t.Errorf("%s: the box has seen %d different scales", scale, len(boxed))
		}
		if _, err := (&Fuzz{A: kernel(&schedule.Kernel{Unit: &schedule.Unit{Op: "fma", In: fp.E2M1, Acc: fp.FP32}, Schedules: []schedule.Schedule{{}}}), B: box(of(own, product)), Count: 1}).Run(t.Context()); err == nil {
			t.Error("a kernel without scales is compared")
		}
	}
}
