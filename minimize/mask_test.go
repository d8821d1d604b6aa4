package minimize

import (
	"context"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestMask states which parts of minima are free, where that is easy to see.
func TestMask(t *testing.T) {
	all16, all32 := uint64(0xffff), uint64(0xffffffff)
	all := func(set uint64) Free { return Free{Bits: set, Set: set} }
	for _, c := range []struct {
		name  string
		f     mma.Formats
		k     int
		start string
		in    func(d *mma.Dot) bool
		want  Mask
	}{
		{"everything but a sign", half, 2, "bc00 3c00 00000000", func(d *mma.Dot) bool { return d.A[0]>>15 == 1 },
			Mask{A: []Free{all(0x7fff), {}}, B: []Free{all(all16), {}}, C: all(all32)}},
		{"one of two bits", half, 1, "3c03 3c00 00000000", func(d *mma.Dot) bool { return d.A[0]&3 != 0 && d.A[0]>>2 == 0x3c00>>2 },
			Mask{A: []Free{{Bits: 3, Set: 1}}, B: []Free{all(all16)}, C: all(all32)}},
		{"bits that exclude each other", half, 1, "3c00 3c00 00000000", func(d *mma.Dot) bool { return d.A[0]&3 != 3 && d.A[0]>>2 == 0x3c00>>2 },
			Mask{A: []Free{{Bits: 3, Set: 1}}, B: []Free{all(all16)}, C: all(all32)}},
		{"anything but NaN", half, 1, "3c00 3c00 3f800000", func(d *mma.Dot) bool {
			return d.A[0] == 0x3c00 && d.B[0] == 0x3c00 && fp.FP32.Get().Decode(d.C).Class != fp.NaN
		}, Mask{A: []Free{{}}, B: []Free{{}}, C: Free{Bits: all32, Set: all32 &^ 0x40000000}}},
		{"c is not zero", half, 1, "3c00 3c00 32800000", func(d *mma.Dot) bool {
			return d.A[0] == 0x3c00 && d.B[0] == 0x3c00 && d.C<<33 != 0
		}, Mask{A: []Free{{}}, B: []Free{{}}, C: Free{Bits: all32, Set: all32 &^ 0x20000000}}},
		{"c is not 0, but may be -0", half, 1, "3c00 3c00 b2800000", func(d *mma.Dot) bool {
			return d.A[0] == 0x3c00 && d.B[0] == 0x3c00 && d.C != 0
		}, Mask{A: []Free{{}}, B: []Free{{}}, C: Free{Bits: all32, Set: all32 &^ 0x80000000}}},
		{"a is neither zero nor Inf", half, 1, "7000 3c00 00000000", func(d *mma.Dot) bool {
			return d.A[0]<<49 != 0 && d.A[0]&0x7c00 != 0x7c00
		}, Mask{A: []Free{{Bits: all16, Set: 0xb7ff}}, B: []Free{all(all16)}, C: all(all32)}},
		{"too many sets that do not hold", half, 1, "3c00 3c00 00000000", func(d *mma.Dot) bool {
			return d.A[0] == 0x3c00 && d.B[0] == 0x3c00 && (d.C&(d.C+1) != 0 || d.C < 2)
		}, Mask{A: []Free{{}}, B: []Free{{}}, C: Free{Bits: all32}}},
		{"without c", bare, 2, "38 3c -", func(d *mma.Dot) bool { return d.A[0] == 0x38 }, Mask{A: []Free{{}, {}}, B: []Free{all(0xff), {}}}},
		{"all of a narrow format but one", nvfp4, 16, "02 02 00000000 sa=38 sb=38", func(d *mma.Dot) bool {
			return d.A[0] == 2 && d.B[0] != 0xd
		}, Mask{
			A: repeated(Free{}, 16), B: append([]Free{{Bits: 0xf, Set: 7}}, repeated(Free{}, 15)...),
			C: all(all32), SA: []Free{all(0xff)}, SB: []Free{all(0xff)},
		}},
		{"scales of blocks in use", mxfp8, 96, zeros(40) + "38 " + zeros(40) + "38 00000000 sa=7f,7f,80 sb=7f,7f,7f", func(d *mma.Dot) bool {
			return d.A[40] == 0x38 && d.B[40] == 0x38 && d.SA[2] == 0x80
		}, Mask{
			A: repeated(Free{}, 96), B: repeated(Free{}, 96), C: all(all32),
			SA: []Free{{}, all(0xff), {}}, SB: []Free{{}, all(0xff), all(0xff)},
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
			if s.batches > 1+setRounds || s.queries > 1500 {
				t.Errorf("%d batches, %d queries", s.batches, s.queries)
			}
		})
	}
}

func repeated(f Free, n int) []Free { return slices.Repeat([]Free{f}, n) }

// maskPairs are pairs of units whose smallest mismatches have bits that are free one at a time
// or in part, not all at once: without the last of them a sum vanishes, or c does.
func maskPairs(t testing.TB) []pair {
	exact := func(p *mma.Params) {
		p.Join.Align, p.Acc = mma.Align{}, mma.To(fp.FP32, fp.RNE)
	}
	const half8, bfloat16 = "hopper/mma.m16n8k8.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.bf16.bf16.f32"
	return []pair{
		{"ampere and hopper", instruction(t, "ampere/mma.m16n8k8.f32.f16.f16.f32"), instruction(t, half8)},
		{"hopper and exact", instruction(t, half8), variant(t, half8, exact)},
		{"hopper and cdna3", instruction(t, bfloat16), instruction(t, "cdna3/v_mfma_f32_16x16x16_bf16")},
		{"ampere and volta", instruction(t, "ampere/mma.m16n8k8.f32.f16.f16.f32"), instruction(t, "volta/mma.m8n8k4.f32.f16.f16.f32")},
	}
}

// TestMaskOfUnits holds that what masks say of mismatches of units is true: of single bits,
// and of sets at their extremes and for many more values than were tried.
func TestMaskOfUnits(t *testing.T) {
	for _, p := range maskPairs(t) {
		t.Run(p.name, func(t *testing.T) {
			f := p.x.Formats()
			for _, kind := range []string{"spread", "normal", "raw"} {
				for _, start := range mismatches(t, p.x, p.y, kind, 8) {
					checkMask(t, p, minimize(t, f, start, differ(p.x, p.y), Options{}))
				}
			}
		})
	}
}

// checkMask compares a mask with what the two units of a pair do.
func checkMask(t *testing.T, p pair, r *Result) {
	t.Helper()
	f := p.x.Formats()
	l := newLayout(f, len(r.Dot.A))
	best := l.vector(r.Dot)
	for i, free := range l.join(r.Mask) {
		differs := func(code uint64) bool {
			v := slices.Clone(best)
			v[i] = code
			d := l.dot(v)
			return p.x.Dot(d, nil) != p.y.Dot(d, nil)
		}
		if free.Bits == 0 {
			continue // it was not tried, or no bit of it is free
		}
		for _, c := range flips(best[i], l.formats[i].CodeMask()) {
			bit := c ^ best[i]
			if says := free.Bits&bit != 0; differs(c) != says {
				t.Errorf("%s: %s, element %d: bit %x free %v", p.name, mma.FormatDot(f, r.Dot), i, bit, says)
			}
		}
		codes := []uint64{best[i] &^ free.Set, best[i] | free.Set, best[i] ^ free.Set}
		for n := range uint64(100) {
			codes = append(codes, best[i]^mix(n+1000)&free.Set)
		}
		for _, c := range codes {
			if !differs(c) {
				t.Errorf("%s: %s, element %d: %x of the set %x agrees", p.name, mma.FormatDot(f, r.Dot), i, c, free.Set)
			}
		}
	}
}

// join is the reverse of split.
func (l *layout) join(m *Mask) []Free {
	free := make([]Free, len(l.formats))
	free[l.c()] = m.C
	for k := range l.k {
		free[l.a(k)], free[l.b(k)] = m.A[k], m.B[k]
	}
	for i := range l.blocks {
		free[l.sa(i)], free[l.sb(i)] = m.SA[i], m.SB[i]
	}
	return free
}

// TestAssignments holds that all codes of a small set are tried, and the extremes and the
// special codes of a large one; each once, and nothing outside of the set.
func TestAssignments(t *testing.T) {
	for _, id := range fp.All() {
		f := id.Get()
		for _, code := range []uint64{0, f.MaxFinite(), 1 << f.Low} {
			for _, set := range []uint64{0, 1, f.CodeMask(), f.CodeMask() &^ f.SignBit(), f.CodeMask() >> 1, mix(code) & f.CodeMask()} {
				list := assignments(f, code, set)
				slices.Sort(list)
				if len(slices.Compact(slices.Clone(list))) != len(list) || slices.Contains(list, code) {
					t.Errorf("%s %x %x: not each once: %x", f.Name, code, set, list)
				}
				if slices.ContainsFunc(list, func(c uint64) bool { return (c^code)&^set != 0 }) {
					t.Errorf("%s %x %x: outside of the set: %x", f.Name, code, set, list)
				}
				want := 64
				if n := bits.OnesCount64(set); n <= 8 {
					want = 1<<n - 1
				}
				if len(list) < want || len(list) > 300 {
					t.Errorf("%s %x %x: %d codes", f.Name, code, set, len(list))
				}
				for _, c := range append(specials(f), 0, ^uint64(0), ^code) {
					if c = code&^set | c&set; c != code && !slices.Contains(list, c) {
						t.Errorf("%s %x %x: %x is missing", f.Name, code, set, c)
					}
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
	fmt.Printf("a0 %x; b0 %x; c %x\n", r.Mask.A[0].Set, r.Mask.B[0].Set, r.Mask.C.Set)
	// Output:
	// 7d00 0000 00000000 true <nil>
	// a0 80ff; b0 ffff; c ffffffff
}
