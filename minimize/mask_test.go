package minimize

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestMask states which parts of minima are free, where that is easy to see.
func TestMask(t *testing.T) {
	all16, all32 := uint64(0xffff), uint64(0xffffffff)
	anything := func(bits uint64) Free { return Free{Bits: bits, Together: true, Any: true} }
	bits := func(bits uint64) Free { return Free{Bits: bits, Together: true} }
	for _, c := range []struct {
		name  string
		f     mma.Formats
		k     int
		start string
		in    func(d *mma.Dot) bool
		want  Mask
	}{
		{"everything but a sign", half, 2, "bc00 3c00 00000000", func(d *mma.Dot) bool { return d.A[0]>>15 == 1 },
			Mask{A: []Free{bits(0x7fff), {}}, B: []Free{anything(all16), {}}, C: anything(all32)}},
		{"one of two bits", half, 1, "3c03 3c00 00000000", func(d *mma.Dot) bool { return d.A[0]&3 != 0 && d.A[0]>>2 == 0x3c00>>2 },
			Mask{A: []Free{{Bits: 3}}, B: []Free{anything(all16)}, C: anything(all32)}},
		{"bits that exclude each other", half, 1, "3c00 3c00 00000000", func(d *mma.Dot) bool { return d.A[0]&3 != 3 && d.A[0]>>2 == 0x3c00>>2 },
			Mask{A: []Free{{Bits: 3}}, B: []Free{anything(all16)}, C: anything(all32)}},
		{"anything but NaN", half, 1, "3c00 3c00 3f800000", func(d *mma.Dot) bool {
			return d.A[0] == 0x3c00 && d.B[0] == 0x3c00 && fp.FP32.Get().Decode(d.C).Class != fp.NaN
		}, Mask{A: []Free{{}}, B: []Free{{}}, C: bits(all32)}},
		{"without c", bare, 2, "38 3c -", func(d *mma.Dot) bool { return d.A[0] == 0x38 }, Mask{A: []Free{{}, {}}, B: []Free{anything(0xff), {}}}},
		{"all of a narrow format but one", nvfp4, 16, "02 02 00000000 sa=38 sb=38", func(d *mma.Dot) bool {
			return d.A[0] == 2 && d.B[0] != 0xd
		}, Mask{
			A: repeated(Free{}, 16), B: append([]Free{{Bits: 0xf}}, repeated(Free{}, 15)...),
			C: anything(all32), SA: []Free{anything(0xff)}, SB: []Free{anything(0xff)},
		}},
		{"scales of blocks in use", mxfp8, 96, zeros(40) + "38 " + zeros(40) + "38 00000000 sa=7f,7f,80 sb=7f,7f,7f", func(d *mma.Dot) bool {
			return d.A[40] == 0x38 && d.B[40] == 0x38 && d.SA[2] == 0x80
		}, Mask{
			A: repeated(Free{}, 96), B: repeated(Free{}, 96), C: anything(all32),
			SA: []Free{{}, anything(0xff), {}}, SB: []Free{{}, anything(0xff), anything(0xff)},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			start := parse(t, c.f, c.k, c.start)
			l := newLayout(c.f, c.k)
			s := &search{asker: newAsker(l, when(c.in), Options{Bucket: "diff"}), best: l.candidate(l.vector(start))}
			got, again, err := s.explain(context.Background())
			if err != nil || again != "diff" {
				t.Fatal(again, err)
			}
			if !reflect.DeepEqual(*got, c.want) {
				t.Errorf("%s:\n got %+v\nwant %+v", c.start, *got, c.want)
			}
			if s.batches != 2 {
				t.Errorf("%d batches", s.batches)
			}
		})
	}
}

func repeated(f Free, n int) []Free { return slices.Repeat([]Free{f}, n) }

// TestMaskOfUnits holds that what a mask says of a mismatch of two units is true
// of many more values than were tried.
func TestMaskOfUnits(t *testing.T) {
	x, y := instruction(t, "ampere/mma.m16n8k16.f32.f16.f16.f32"), instruction(t, "hopper/mma.m16n8k16.f32.f16.f16.f32")
	test := differ(x, y)
	start := parse(t, half, 16, "3c00 3c00 b3000000")
	r := minimize(t, half, start, test, Options{})
	if r.Mask == nil || r.Mask.C.Bits == 0 || r.Mask.C.Any {
		t.Fatalf("mask %+v", r.Mask)
	}
	for n := range uint64(1000) {
		d := r.Dot.Clone()
		if d.C ^= mix(n) & r.Mask.C.Bits; r.Mask.C.Together && mustAnswer(t, test, d) != "diff" {
			t.Fatalf("%s agrees", mma.FormatDot(half, d))
		}
	}
	for n := range 32 {
		d := r.Dot.Clone()
		d.C ^= 1 << n
		if free := r.Mask.C.Bits>>n&1 != 0; free != (x.Dot(d, nil) != y.Dot(d, nil)) {
			t.Errorf("bit %d of c: free %v", n, free)
		}
	}
}

// TestOthers holds that enough values are tried, and each once.
func TestOthers(t *testing.T) {
	for _, id := range fp.All() {
		f := id.Get()
		for _, code := range []uint64{0, f.MaxFinite()} {
			list := others(f, code)
			want := 32
			if f.CodeBits() <= 6 {
				want = 1<<f.CodeBits() - 1
			}
			slices.Sort(list)
			if len(list) < want || len(slices.Compact(slices.Clone(list))) != len(list) || slices.Contains(list, code) || slices.Max(list) > f.CodeMask() {
				t.Errorf("%s: %x", f.Name, list)
			}
			for _, c := range specials(f) {
				if c != code && !slices.Contains(list, c) {
					t.Errorf("%s: %x is missing", f.Name, c)
				}
			}
		}
	}
}

func ExampleMask() {
	signalling := func(_ context.Context, dots []*mma.Dot) ([]string, error) {
		var buckets []string
		for _, d := range dots {
			bucket := ""
			if d.A[0]&0x7e00 == 0x7c00 && d.A[0]&0x1ff != 0 {
				bucket = "signalling"
			}
			buckets = append(buckets, bucket)
		}
		return buckets, nil
	}
	f := mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}
	start := &mma.Dot{A: []uint64{0xfcab, 0x3c01}, B: []uint64{0x4321, 0xc567}, C: 0x12345678}
	r, err := Dot(context.Background(), f, start, signalling, Options{Bucket: "signalling"})
	fmt.Println(mma.FormatDot(f, r.Dot), r.Minimal, err)
	fmt.Printf("a0 %x, together %v; b0 any %v; c any %v\n", r.Mask.A[0].Bits, r.Mask.A[0].Together, r.Mask.B[0].Any, r.Mask.C.Any)
	// Output:
	// 7d00 0000 00000000 true <nil>
	// a0 80ff, together true; b0 any true; c any true
}
