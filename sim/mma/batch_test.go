package mma

import (
	"bytes"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestFormatsString(t *testing.T) {
	mx := Formats{A: fp.E4M3, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 32}
	for _, tc := range []struct {
		f      Formats
		want   string
		blocks [3]int // of 1, 32 and 33 elements
	}{
		{half, "fp32.fp16.fp16.fp32", [3]int{0, 0, 0}},
		{Formats{A: fp.FP16, B: fp.BF16, D: fp.FP32}, "fp32.fp16.bf16.none", [3]int{0, 0, 0}},
		{mx, "fp32.e4m3.e2m1.fp32.block32.ue8m0", [3]int{1, 1, 2}},
	} {
		if got := tc.f.String(); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
		for n, k := range []int{1, 32, 33} {
			if got := tc.f.Blocks(k); got != tc.blocks[n] {
				t.Errorf("%s: %d blocks for %d elements, want %d", tc.want, got, k, tc.blocks[n])
			}
		}
	}
}

func TestLoadStore(t *testing.T) {
	const code = 0x8877665544332211
	for _, width := range []int{1, 2, 4, 8} {
		buf := bytes.Repeat([]byte{0xee}, 3*width)
		Store(buf, width, 1, code)
		want := bytes.Repeat([]byte{0xee}, 3*width)
		for i := range width { // little-endian, and no other element touched
			want[width+i] = byte(0x11 * (i + 1))
		}
		if !bytes.Equal(buf, want) {
			t.Errorf("width %d: %x, want %x", width, buf, want)
		}
		mask := ^uint64(0) >> (64 - 8*width)
		if got := Load(buf, width, 1); got != code&mask {
			t.Errorf("width %d: %x, want %x", width, got, code&mask)
		}
	}
	Store(nil, 0, 5, 1) // a format that is absent has no elements
	if got := Load(nil, 0, 5); got != 0 {
		t.Errorf("width 0: %x", got)
	}
}

// TestBatchLayout checks where the elements of a batch of two tiles of 2 x 3 are.
func TestBatchLayout(t *testing.T) {
	f := Formats{A: fp.FP16, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 2}
	b := NewBatch(f, Shape{M: 2, N: 3, K: 4, Tiles: 2})
	if b.Dots() != 12 || len(b.A) != 2*2*4*2 || len(b.B) != 2*3*4 || len(b.C) != 12*4 || len(b.SA) != 2*2*2 || len(b.SB) != 2*3*2 {
		t.Fatalf("%d outputs, buffers of %d, %d, %d, %d, %d bytes", b.Dots(), len(b.A), len(b.B), len(b.C), len(b.SA), len(b.SB))
	}
	for i := range len(b.A) / 2 {
		Store(b.A, 2, i, uint64(0x100+i))
	}
	for i := range b.B {
		b.B[i] = byte(i)
	}
	for i := range b.Dots() {
		Store(b.C, 4, i, uint64(0x1000+i))
	}
	for i := range b.SA {
		b.SA[i] = byte(0x40 + i)
	}
	for i := range b.SB {
		b.SB[i] = byte(0x80 + i)
	}
	d := NewDot(f, 4)
	b.Get(10, d) // tile 1, row 1, column 1
	want := &Dot{
		A:  []uint64{0x100 + 12, 0x100 + 13, 0x100 + 14, 0x100 + 15},
		B:  []uint64{16, 17, 18, 19},
		C:  0x1000 + 10,
		SA: []uint64{0x40 + 6, 0x40 + 7},
		SB: []uint64{0x80 + 8, 0x80 + 9},
	}
	if !d.Equal(want) {
		t.Errorf("output 10 is %+v, want %+v", d, want)
	}
}

// TestBatchSet stores dot products and reads them again, for an instruction with
// C and for one without.
func TestBatchSet(t *testing.T) {
	for _, c := range []fp.ID{fp.FP32, fp.None} {
		f := Formats{A: fp.TF32, B: fp.FP64, C: c, D: fp.FP32, Scale: fp.UE4M3, Block: 3}
		b := NewBatch(f, Shape{M: 1, N: 1, K: 5, Tiles: 3})
		d := &Dot{A: []uint64{1, 2, 3, 4, 5}, B: []uint64{6, 7, 8, 9, 1 << 63}, SA: []uint64{10, 11}, SB: []uint64{12, 13}}
		if c != fp.None {
			d.C = 14
		}
		b.Set(1, d)
		for i := range 3 {
			got, want := NewDot(f, 5), NewDot(f, 5)
			if i == 1 {
				want = d
			}
			b.Get(i, got)
			if !got.Equal(want) {
				t.Errorf("output %d is %+v, want %+v", i, got, want)
			}
		}
	}
}

// TestReset checks that buffers are kept when they are large enough.
func TestReset(t *testing.T) {
	b := NewBatch(half, Shape{M: 1, N: 1, K: 8, Tiles: 10})
	first := &b.A[0]
	b.Reset(half, Shape{M: 1, N: 1, K: 4, Tiles: 5})
	if len(b.A) != 4*5*2 || len(b.C) != 5*4 || &b.A[0] != first {
		t.Errorf("smaller: %d bytes, another buffer %v", len(b.A), &b.A[0] != first)
	}
	b.Reset(half, Shape{M: 1, N: 1, K: 8, Tiles: 20})
	if len(b.A) != 8*20*2 {
		t.Errorf("larger: %d bytes", len(b.A))
	}
}

func TestDotCloneEqual(t *testing.T) {
	d := &Dot{A: []uint64{1, 2}, B: []uint64{3, 4}, C: 5, SA: []uint64{6}, SB: []uint64{7}}
	for name, change := range map[string]func(c *Dot){
		"a": func(c *Dot) { c.A[1]++ }, "b": func(c *Dot) { c.B[0]++ }, "c": func(c *Dot) { c.C++ },
		"sa": func(c *Dot) { c.SA[0]++ }, "sb": func(c *Dot) { c.SB[0]++ },
		"length": func(c *Dot) { c.A, c.B = append(c.A, 0), append(c.B, 0) },
	} {
		c := d.Clone()
		if !c.Equal(d) {
			t.Fatalf("the clone is %+v", c)
		}
		change(c)
		if c.Equal(d) || d.A[1] != 2 || d.B[0] != 3 || d.SA[0] != 6 || d.SB[0] != 7 {
			t.Errorf("%s: equal to a changed clone, or changed with it: %+v, %+v", name, d, c)
		}
	}
}

// TestTake takes every output of a batch of larger tiles as a tile of its own.
func TestTake(t *testing.T) {
	for _, f := range []Formats{
		{A: fp.FP16, B: fp.E4M3, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 2},
		{A: fp.FP64, B: fp.FP64, D: fp.FP64},
	} {
		from := NewBatch(f, Shape{M: 2, N: 3, K: 4, Tiles: 2})
		for i, buf := range [][]byte{from.A, from.B, from.C, from.SA, from.SB} {
			for j := range buf {
				buf[j] = byte(50*i + j)
			}
		}
		b := NewBatch(f, Shape{M: 1, N: 1, K: 4, Tiles: from.Dots()})
		want, got := NewDot(f, 4), NewDot(f, 4)
		for i := range from.Dots() {
			b.Take(from.Dots()-1-i, from, i)
		}
		for i := range from.Dots() {
			from.Get(i, want)
			b.Get(from.Dots()-1-i, got)
			if !got.Equal(want) {
				t.Errorf("%s, output %d: %v, want %v", f, i, got, want)
			}
		}
	}
}
