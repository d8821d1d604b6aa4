package devices_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/internal/testdata/devicetest"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// fp32 makes the instruction of a function on FP32 numbers with C in a format.
func fp32(k int, c fp.ID) *mma.Instruction {
	return &mma.Instruction{Name: "mine", K: k, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, C: c, D: fp.FP32}}
}

// backwards adds the products to c from the last to the first, in FP32.
func backwards(d *mma.Dot) uint64 {
	sum := math.Float32frombits(uint32(d.C))
	for k := len(d.A) - 1; k >= 0; k-- {
		sum += float32(math.Float32frombits(uint32(d.A[k])) * math.Float32frombits(uint32(d.B[k])))
	}
	return uint64(math.Float32bits(sum))
}

// TestFunc runs a function on dot products: some of them longer than its K, which it
// gets K elements at a time.
func TestFunc(t *testing.T) {
	i := fp32(2, fp.FP32)
	u := devices.Func(i, backwards)
	if got := u.Instruction(); got.Formats != i.Formats || got.K != i.K || got.Unknown != mma.FacetNaN || u.Model() != nil {
		t.Errorf("%+v, %v", got, u.Model())
	}
	for _, c := range []struct{ dot, want string }{
		{"3f800000,40000000 40400000,40800000 3f000000", "41380000"},                                                                         // 1*3 + 2*4 + 1/2
		{"3f800000,40000000,3f800000,3f800000 40400000,40800000,3f800000,3f800000 3f000000", "41580000"},                                     // and 1 + 1
		{"3f800000,00000000,33800000,00000000 3f800000,00000000,3f800000,00000000 00000000", "3f800000"},                                     // 1, rounded, and 2^-24
		{"3f800000,33800000,33800000,00000000 3f800000,3f800000,3f800000,00000000 00000000", "3f800000"},                                     // 1 + 2^-24, rounded, and 2^-24
		{"33800000,33800000,3f800000,00000000 3f800000,3f800000,3f800000,00000000 00000000", "3f800001"},                                     // 2^-23 and 1
		{"7f800000,00000000 3f800000,00000000 3f800000", "7f800000"},                                                                         // infinity
		{"80000000,80000000,80000000,80000000 3f800000,3f800000,3f800000,3f800000 80000000", "80000000"},                                     // negative zeros
		{"3f800000,3f800000,3f800000,3f800000,3f800000,3f800000 3f800000,3f800000,3f800000,3f800000,3f800000,3f800000 00000000", "40c00000"}, // 6
	} {
		if got := devicetest.One(t, u, c.dot); got != c.want {
			t.Errorf("%s: %s, want %s", c.dot, got, c.want)
		}
	}
}

// TestFuncWide runs functions whose results have more bits than their format.
func TestFuncWide(t *testing.T) {
	for _, c := range []struct {
		d    fp.ID
		code uint64
		want string // error
	}{
		{fp.FP32, 0xffffffff, ""},
		{fp.FP32, 0x1_3f800000, "the function of mine returns 13f800000 for 3f800000 3f800000 -: a result has format fp32, whose codes have 32 bits"},
		{fp.FP16, 0xffff, ""},
		{fp.FP16, 0x3f800000, "the function of mine returns 3f800000 for 3f800000 3f800000 -: a result has format fp16, whose codes have 16 bits"},
		{fp.FP64, 1<<64 - 1, ""},
	} {
		f := mma.Formats{A: fp.FP32, B: fp.FP32, D: c.d}
		u := devices.Func(&mma.Instruction{Name: "mine", K: 1, Formats: f}, func(*mma.Dot) uint64 { return c.code })
		_, err := devices.Result(t.Context(), u, &mma.Dot{A: []uint64{0x3f800000}, B: []uint64{0x3f800000}})
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("%x of %s: %v, want %s", c.code, c.d, err, c.want)
		}
	}
}

// TestFuncTiles runs a function on tiles: every output gets its own row and column.
func TestFuncTiles(t *testing.T) {
	f := fp.FP32.Get()
	for _, c := range []fp.ID{fp.FP32, fp.None} {
		in := mma.NewBatch(fp32(1, c).Formats, mma.Shape{M: 2, N: 3, K: 1, Tiles: 2})
		for i := range in.A {
			in.A[i] = 0
		}
		for x := range 4 {
			mma.Store(in.A, 4, x, f.FromFloat64(float64(x+1)))
		}
		for x := range 6 {
			mma.Store(in.B, 4, x, f.FromFloat64(float64(x+10)))
		}
		for x := 0; c != fp.None && x < 12; x++ {
			mma.Store(in.C, 4, x, f.FromFloat64(0.5))
		}
		out := make([]byte, 4*in.Dots())
		if err := devices.Func(fp32(1, c), backwards).Run(t.Context(), in, out); err != nil {
			t.Fatal(err)
		}
		var got []float64
		for x := range in.Dots() {
			got = append(got, f.Float64(mma.Load(out, 4, x)))
		}
		want := "[10.5 11.5 12.5 20.5 22.5 24.5 39.5 42.5 45.5 52.5 56.5 60.5]"
		if c == fp.None {
			want = "[10 11 12 20 22 24 39 42 45 52 56 60]"
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

func TestFuncErrors(t *testing.T) {
	run := func(ctx context.Context, i *mma.Instruction, k int) string {
		in := mma.NewBatch(i.Formats, mma.Shape{M: 1, N: 1, K: k, Tiles: 1})
		err := devices.Func(i, backwards).Run(ctx, in, make([]byte, 4))
		return fmt.Sprint(err)
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	i := fp32(2, fp.FP32)
	for _, c := range []struct{ got, want string }{
		{run(t.Context(), i, 4), "<nil>"},
		{run(ended, i, 2), "context canceled"},
		{run(t.Context(), i, 3), "/mine has K = 2 and c fp32, d fp32: it cannot be repeated for dot products of 3 elements"},
		{run(t.Context(), fp32(2, fp.None), 4), "/mine has K = 2 and c none, d fp32: it cannot be repeated for dot products of 4 elements"},
	} {
		if c.got != c.want {
			t.Errorf("%s, want %s", c.got, c.want)
		}
	}
}
