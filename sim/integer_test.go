package sim_test

import (
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestIntegerSums compares rows of the catalogue with results written down by hand.
func TestIntegerSums(t *testing.T) {
	for _, tc := range []struct {
		arch, inst string
		a, b       []uint64
		c, d       uint64
	}{
		{"x86", "vpdpbusd", []uint64{255, 255, 255, 255}, []uint64{0x7f, 0x7f, 0x7f, 0x7f}, 0, 129540},
		{"x86", "vpdpbusd", []uint64{255, 0, 0, 0}, []uint64{0x80, 0, 0, 0}, 0, 0xffff8080},
		{"x86", "vpdpbusd", []uint64{1, 0, 0, 0}, []uint64{1, 0, 0, 0}, 0x7fffffff, 0x80000000},
		{"x86", "vpdpbusds", []uint64{1, 0, 0, 0}, []uint64{1, 0, 0, 0}, 0x7fffffff, 0x7fffffff},
		{"x86", "vpdpbusds", []uint64{1, 0, 0, 0}, []uint64{0xff, 0, 0, 0}, 0x80000000, 0x80000000},
		{"x86", "vpdpbusds", []uint64{200, 255, 0, 0}, []uint64{0x7f, 0x80, 0, 0}, 0x7fffffff, 0x7fffe3b7}, // saturates at the end only
		// 255*127 + 255*127 = 64770, which is 32767 in 16 bits.
		{"x86", "avx2-u8s8", []uint64{255, 255, 255, 255}, []uint64{0x7f, 0x7f, 0x7f, 0x7f}, 0, 65534},
		{"x86", "avx2-u8s8", []uint64{255, 255, 1, 0}, []uint64{0x80, 0x80, 1, 0}, 0, 0xffff8001},
		{"x86", "vpmaddubsw", []uint64{255, 255}, []uint64{0x7f, 0x7f}, 0, 0x7fff},
		{"x86", "vpmaddwd", []uint64{0x8000, 0x8000}, []uint64{0x8000, 0x8000}, 0, 0x80000000},
		{"x86", "vpdpwssds", []uint64{0x8000, 0x8000}, []uint64{0x8000, 0x8000}, 0xffffffff, 0x7fffffff},
		{"x86", "vpdpbsud", []uint64{0xff, 0, 0, 0}, []uint64{0xff, 0, 0, 0}, 0, 0xffffff01},
		{"turing", "mma.m8n8k32.s32.s4.s4.s32", append([]uint64{8, 7}, make([]uint64, 30)...), append([]uint64{8, 8}, make([]uint64, 30)...), 0, 8},
		{"turing", "mma.m8n8k32.s32.u4.u4.s32", append([]uint64{8, 15}, make([]uint64, 30)...), append([]uint64{8, 15}, make([]uint64, 30)...), 0xfffffffe, 287},
		{"turing", "mma.m8n8k128.s32.b1.b1.s32.xor.popc", append([]uint64{1, 1, 0}, make([]uint64, 125)...), append([]uint64{1, 0, 1}, make([]uint64, 125)...), 0x7fffffff, 0x80000001},
		{"x86", "vpdpbuuds", []uint64{255, 255, 255, 255}, []uint64{255, 255, 255, 255}, 0xfffffffe, 0xffffffff},
		{"x86", "vpdpwuuds", []uint64{0xffff, 0}, []uint64{0xffff, 0}, 0x1fffe, 0xffffffff},
		{"x86", "vpdpwuuds", []uint64{0xffff, 0}, []uint64{0xffff, 0}, 0x1ffff, 0xffffffff}, // saturates
		{"x86", "vpdpwsuds", []uint64{0x8000, 0x8000}, []uint64{0xffff, 0xffff}, 0, 0x80000000},
		{"arm", "usdot", []uint64{0x80, 0, 0, 0}, []uint64{0x80, 0, 0, 0}, 0, 0xffffc000},
	} {
		i, err := mma.Lookup(tc.arch, tc.inst)
		if err != nil {
			t.Fatal(err)
		}
		m, err := sim.ForInstruction(i)
		if err != nil {
			t.Fatal(err)
		}
		d := &mma.Dot{A: tc.a, B: tc.b, C: tc.c}
		if got, judged := m.Dot(d, nil), oracle.Eval(&i.Params, i.Formats, i.K, d); got != tc.d || judged != tc.d {
			t.Errorf("%s %x*%x+%x: %x and of the oracle %x, want %x", i.FullName(), tc.a, tc.b, tc.c, got, judged, tc.d)
		}
	}
}

// TestIntegerLoop compares every rule for integers with a plain loop, in the general
// interpreter, the kernel and the oracle, on vectors of two times K.
func TestIntegerLoop(t *testing.T) {
	seen := map[mma.Instruction]bool{}
	for _, i := range mma.Catalog() {
		kind := mma.Instruction{K: i.K, Formats: i.Formats, Params: i.Params}
		if i.Refuse != "" || !i.D.Get().Integer() || seen[kind] {
			continue
		}
		seen[kind] = true
		for _, s := range []mma.Shape{{M: 16, N: 8, K: 2 * i.K, Tiles: 2}, {M: 3, N: 5, K: i.K, Tiles: 3}, {M: 1, N: 1, K: i.K, Tiles: 37}, {M: 1, N: 1, K: 2 * i.K, Tiles: 9}} {
			compareIntegers(t, &i, s)
		}
		if i.A != fp.B1 {
			i.Params.In.ZeroA, i.Params.In.ZeroB = 9, -int32(i.B.Get().CodeMask())
			compareIntegers(t, &i, mma.Shape{M: 3, N: 5, K: 2 * i.K, Tiles: 3})
		}
	}
	if len(seen) < 30 {
		t.Errorf("%d kinds of instructions", len(seen))
	}
}

// TestIntegerAccumulators compares sums of integers in accumulators, groups and trees of few bits
// with plain loops, in the general interpreter and the oracle, on vectors of two times K.
func TestIntegerAccumulators(t *testing.T) {
	const k = 16
	short := func(bits mma.Frac, over mma.Over) mma.Round {
		return mma.Round{Frac: bits, Mode: fp.RZ, Emin: mma.Exp(bits), Emax: mma.Exp(bits) - 1, Over: over}
	}
	saturated := func(bits int, n int64) int64 { return min(max(n, -1<<bits), 1<<bits-1) }
	for _, tc := range []struct {
		name string
		p    mma.Params
		loop func(p [k]int64, c int64) int64
	}{
		{"two lanes of 16 bits", mma.Params{L: 1, Lanes: 2, Start: mma.StartZero, Acc: short(15, mma.OverSat), Late: short(31, mma.OverSat)}, func(p [k]int64, c int64) int64 {
			var lanes [2]int64
			for i, x := range p {
				lanes[i%2] = saturated(15, lanes[i%2]+x)
			}
			return saturated(31, lanes[0]+lanes[1]+c)
		}},
		{"three lanes that wrap", mma.Params{L: 1, Lanes: 3, Start: mma.StartZero, Acc: short(12, mma.OverWrap), Late: short(31, mma.OverWrap)}, func(p [k]int64, c int64) int64 {
			var lanes [3]int64
			for i, x := range p {
				lanes[i%3] = (lanes[i%3] + x) << 51 >> 51
			}
			return int64(int32(lanes[0] + lanes[1] + lanes[2] + c))
		}},
		{"halves, c in the first, two products in a step", mma.Params{L: 2, Lanes: 2, Order: mma.Halves, Acc: short(31, mma.OverSat), Late: short(31, mma.OverSat)}, func(p [k]int64, c int64) int64 {
			lanes := [2]int64{c, 0}
			for i := 0; i < k; i += 2 {
				lanes[i/8] = saturated(31, lanes[i/8]+p[i]+p[i+1])
			}
			return saturated(31, lanes[0]+lanes[1])
		}},
		{"groups of four, one after the other", mma.Params{Stage0: mma.Stage{Sum: mma.Sequential, Group: 4, Round: short(15, mma.OverSat)}, Acc: short(31, mma.OverWrap)}, func(p [k]int64, c int64) int64 {
			for g := 0; g < k; g += 4 {
				sum := p[g]
				for _, x := range p[g+1 : g+4] {
					sum = saturated(15, sum+x)
				}
				c += sum
			}
			return int64(int32(c))
		}},
		{"tree of halves", mma.Params{Stage0: mma.Stage{Sum: mma.PairHalves, Round: short(14, mma.OverSat)}, Acc: short(31, mma.OverSat)}, func(p [k]int64, c int64) int64 {
			for n := k / 2; n > 0; n /= 2 {
				for i := range n {
					p[i] = saturated(14, p[i]+p[i+n])
				}
			}
			return saturated(31, p[0]+c)
		}},
	} {
		i := mma.Instruction{Name: "unit", K: k, Formats: mma.Formats{A: fp.S8, B: fp.U8, C: fp.S32, D: fp.S32}, Params: tc.p}
		compareToLoop(t, &i, mma.Shape{M: 16, N: 8, K: 2 * k, Tiles: 4}, func(i *mma.Instruction, d *mma.Dot) uint64 {
			c := int64(int32(d.C))
			for from := 0; from < len(d.A); from += k {
				var p [k]int64
				for n := range p {
					p[n] = int64(int8(d.A[from+n])) * int64(uint8(d.B[from+n]))
				}
				c = tc.loop(p, c)
			}
			return uint64(uint32(c))
		})
	}
}

// compareIntegers compares every way to compute a batch of raw bits with a plain loop.
func compareIntegers(t *testing.T, i *mma.Instruction, s mma.Shape) {
	t.Helper()
	compareToLoop(t, i, s, plainLoop)
}

// compareToLoop compares every way to compute a batch of raw bits with a loop.
func compareToLoop(t *testing.T, i *mma.Instruction, s mma.Shape, loop func(i *mma.Instruction, d *mma.Dot) uint64) {
	t.Helper()
	m, err := sim.ForInstruction(i)
	if err != nil {
		t.Fatal(err)
	}
	in := mma.NewBatch(i.Formats, s)
	raw, err := gen.ParseSource("raw")
	if err != nil {
		t.Fatal(err)
	}
	whole := mma.NewBatch(i.Formats, mma.Shape{M: 16, N: 8, K: s.K, Tiles: s.Tiles})
	raw.Fill(whole, 1, 0)
	copy(in.A, whole.A)
	copy(in.B, whole.B)
	for n := range in.Dots() { // every other sum at an end of the range
		if in.C != nil {
			mma.Store(in.C, i.C.Width(), n, []uint64{mma.Load(whole.C, i.C.Width(), n), uint64(1<<31 - n%5)}[n%2])
		}
	}
	if i.A == fp.S16 { // the first sums of two products are 2^31
		copy(in.A, strings.Repeat("\x00\x80", 16))
		copy(in.B, strings.Repeat("\x00\x80", 16))
	}
	want := make([]byte, in.Dots()*i.D.Width())
	d := mma.NewDot(i.Formats, in.K)
	for n := range in.Dots() {
		in.Get(n, d)
		mma.Store(want, i.D.Width(), n, loop(i, d))
		if got := oracle.Eval(&i.Params, i.Formats, i.K, d); got != mma.Load(want, i.D.Width(), n) {
			t.Fatalf("%s: the oracle has %x for %v", i.FullName(), got, d)
		}
	}
	for _, p := range sim.Paths() {
		out := make([]byte, len(want))
		m.On(p).Run(in, out)
		for n := range in.Dots() {
			if got, want := mma.Load(out, i.D.Width(), n), mma.Load(want, i.D.Width(), n); got != want {
				in.Get(n, d)
				t.Fatalf("%s, %s, %+v: %x, want %x, of %v", i.FullName(), p, s, got, want, d)
			}
		}
	}
}

// plainLoop is a dot product of integers as a program would write it.
func plainLoop(i *mma.Instruction, d *mma.Dot) uint64 {
	number := func(id fp.ID, code uint64) int64 {
		switch id {
		case fp.S32:
			return int64(int32(code))
		case fp.U32:
			return int64(uint32(code))
		case fp.S16:
			return int64(int16(code))
		case fp.U16:
			return int64(uint16(code))
		case fp.S8:
			return int64(int8(code))
		case fp.S4:
			return int64(int8(code<<4)) >> 4
		case fp.U8:
			return int64(uint8(code))
		case fp.U4:
			return int64(code & 15)
		case fp.B1:
			return int64(code & 1)
		}
		return 0
	}
	product := func(a, b int64) int64 {
		if i.Params.Prod.Xor {
			return a ^ b
		}
		return a * b
	}
	a := func(k int) int64 { return number(i.A, d.A[k]) - int64(i.Params.In.ZeroA) }
	b := func(k int) int64 { return number(i.B, d.B[k]) - int64(i.Params.In.ZeroB) }
	sum := number(i.D, d.C)
	for k := 0; k < len(d.A); k += 2 {
		pair := product(a(k), b(k)) + product(a(k+1), b(k+1))
		if i.Params.Stage0.Round.Frac == 15 {
			pair = min(max(pair, -1<<15), 1<<15-1)
		}
		if sum += pair; (k+2)%i.K != 0 {
			continue
		}
		switch {
		case i.Params.Acc.Frac == 15:
			sum = min(max(sum, -1<<15), 1<<15-1)
		case i.Params.Acc.Over == mma.OverSat && i.D == fp.U32:
			sum = min(max(sum, 0), 1<<32-1)
		case i.Params.Acc.Over == mma.OverSat:
			sum = min(max(sum, -1<<31), 1<<31-1)
		default:
			sum = int64(int32(sum))
		}
	}
	return uint64(sum) & i.D.Get().CodeMask()
}
