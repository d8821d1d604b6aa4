//go:build !purego

package cpu

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cpu/testdata/forms"
	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// opened returns an instruction of this machine, or skips. A name that no x86
// processor has is a mistake of the test; Intel's have all.
func opened(t *testing.T, name string) *unit {
	t.Helper()
	if _, err := mma.Lookup("x86", name); err != nil {
		t.Fatal(err)
	}
	target, err := open("0")
	if err != nil {
		t.Skipf("THE PROCESSOR IS NOT TESTED: %v", err)
	}
	i, err := devices.Find(target, name)
	if err != nil {
		t.Skipf("NOT TESTED: %v", err)
	}
	u, err := target.Open(i)
	if err != nil {
		t.Fatal(err)
	}
	return u.(*unit)
}

// number returns the dot products of each generator in the tests of this file: a
// whole number of groups and of tiles.
func number() int { return tier.Of(256, 512, 4096) }

// eachGenerator calls f with dot products of every generator, as tiles of one,
// and with what the instruction makes of them.
func eachGenerator(t *testing.T, u *unit, f func(g gen.Generator, in *mma.Batch, want []byte)) {
	t.Helper()
	dots := number()
	sp := gen.Spec{Formats: u.inst.Formats, K: u.inst.K}
	for _, g := range gen.All() {
		tiles := mma.NewBatch(sp.Formats, mma.Shape{M: g.M, N: g.N, K: sp.K, Tiles: dots / (g.M * g.N)})
		g.Aimed(sp, &u.inst.Params).Fill(tiles, 2, 0)
		in := mma.NewBatch(sp.Formats, mma.Shape{M: 1, N: 1, K: sp.K, Tiles: dots})
		d := mma.NewDot(sp.Formats, sp.K)
		for i := range dots {
			tiles.Get(i, d)
			in.Set(i, d)
		}
		want := make([]byte, dots*sp.D.Width())
		if err := u.Run(t.Context(), in, want); err != nil {
			t.Fatal(err)
		}
		f(g, in, want)
	}
}

// execute runs a body that takes the given number of dot products at a time.
func execute(b func(d, a, b *byte, groups int, control uint64), group int, in *mma.Batch, control uint64) []byte {
	out := make([]byte, in.Dots()*in.D.Width())
	copy(out, in.C)
	b(&out[0], &in.A[0], &in.B[0], in.Dots()/group, control)
	return out
}

// TestForms compares other forms of the instructions with those of the table, under
// every mode.
func TestForms(t *testing.T) {
	for _, form := range forms.All {
		t.Run(form.Mnemonic+" "+form.Name, func(t *testing.T) {
			if !form.Has() {
				t.Skip("NOT TESTED: the processor does not have this form")
			}
			for _, i := range mma.Of(arch) {
				if mnemonic, _ := i.Mnemonic(); mnemonic != form.Mnemonic {
					continue
				}
				u := opened(t, i.Name)
				var policy oracle.Policy
				order, lane := lanes[form.Mnemonic+" "+form.Name]
				if known := arch == "x86" && emulator() == ""; lane && !known {
					policy.NaN = oracle.ByClass
				}
				eachGenerator(t, u, func(g gen.Generator, in *mma.Batch, want []byte) {
					if lane && policy.NaN == oracle.Bits {
						want = reordered(t, u.inst, order, in)
					}
					got := execute(form.Body, form.Group, in, u.control)
					if n := differing(i.D, policy, got, want); n > 0 {
						t.Errorf("%s, %s: %d results differ", i.Name, g.Name, n)
					}
				})
			}
		})
	}
}

// lanes are Intel's orders of the products in forms whose result is not in lane 0: a
// lane adds its neighbour's product and its own, then its own sum and that two lanes
// away. They show in nothing but the choice among several NaNs, which is up to the
// processor (Intel SDM, DPPS), so that others' are compared by class.
var lanes = map[string]mma.Order{
	"dpps vdpps xmm to lane 1":          mma.Ascending,
	"dpps vdpps xmm, memory, to lane 2": mma.Descending,
	"dppd vdppd xmm to lane 1":          mma.Descending,
}

// reordered is what the model of an instruction gives with the products in another
// order.
func reordered(t *testing.T, i *mma.Instruction, o mma.Order, in *mma.Batch) []byte {
	t.Helper()
	p := i.Params
	p.Order = o
	m, err := sim.New(i.Formats, i.K, p)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, in.Dots()*i.D.Width())
	m.Run(in, want)
	return want
}

// differing returns how many codes of a format differ.
func differing(d fp.ID, p oracle.Policy, a, b []byte) int {
	n, w := 0, d.Width()
	for i := range len(a) / w {
		if oracle.Compare(d, p, mma.Load(a, w, i), mma.Load(b, w, i)) != oracle.Same {
			n++
		}
	}
	return n
}

// settings are values of MXCSR: every rounding, DAZ, FTZ, and all exceptions
// unmasked, which must not trap.
var settings = []uint64{
	mxcsrMasked, mxcsrMasked | mxcsrRD, mxcsrMasked | mxcsrRU, mxcsrMasked | mxcsrRZ, mxcsrMasked | mxcsrDAZ, mxcsrMasked | mxcsrFTZ,
	mxcsrMasked | mxcsrDAZ | mxcsrFTZ | mxcsrRZ, 0,
}

// TestMXCSRIgnored runs the instructions that do not consult MXCSR under every
// setting, and FP16 arithmetic, which knows no DAZ and no FTZ, with those.
func TestMXCSRIgnored(t *testing.T) {
	for _, name := range []string{"vdpbf16ps", "tdpbf16ps", "tdpfp16ps"} {
		t.Run(name, func(t *testing.T) {
			u := opened(t, name)
			for _, c := range settings {
				other := *u
				other.control = c
				eachGenerator(t, u, func(g gen.Generator, in *mma.Batch, want []byte) {
					got := make([]byte, len(want))
					if err := other.Run(t.Context(), in, got); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(got, want) {
						t.Errorf("MXCSR %04x, %s: the results are others", c, g.Name)
					}
				})
			}
		})
	}
	for _, name := range []string{"vfmadd231ph", "vfmadd231ph.ru"} {
		t.Run(name, func(t *testing.T) {
			u := opened(t, name)
			eachGenerator(t, u, func(g gen.Generator, in *mma.Batch, want []byte) {
				for _, c := range []uint64{mxcsrDAZ, mxcsrFTZ, mxcsrDAZ | mxcsrFTZ} {
					if got := execute(u.native.body, u.native.group, in, u.control|c); !bytes.Equal(got, want) {
						t.Errorf("MXCSR %04x, %s: the results are others", u.control|c, g.Name)
					}
				}
			})
		})
	}
}

// TestSticky checks that VDPBF16PS changes nothing in MXCSR, its sticky flags
// neither.
func TestSticky(t *testing.T) {
	u := opened(t, "vdpbf16ps")
	eachGenerator(t, u, func(g gen.Generator, in *mma.Batch, want []byte) {
		for _, c := range settings {
			for n := 0; n < in.Dots(); n += 16 {
				d := bytes.Clone(in.C[4*n:][:64])
				if after := forms.Sticky(&d[0], &in.A[4*n], &in.B[4*n], c); uint64(after) != c || !bytes.Equal(d, want[4*n:][:64]) {
					t.Fatalf("MXCSR %04x, %s: %04x afterwards", c, g.Name, after)
				}
			}
		}
	})
}

// TestRestored checks that every body leaves MXCSR as it finds it.
func TestRestored(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := forms.MXCSR()
	target, err := open("0")
	if err != nil {
		t.Skipf("THE PROCESSOR IS NOT TESTED: %v", err)
	}
	for _, i := range target.Instructions() {
		u, err := target.Open(&i)
		if err != nil {
			t.Fatal(err)
		}
		in := mma.NewBatch(i.Formats, mma.Shape{M: 16, N: 16, K: i.K, Tiles: 1})
		for x := range in.A {
			in.A[x] = byte(x) // inexact results
		}
		for x := range in.B {
			in.B[x] = byte(3 * x)
		}
		if err := u.Run(t.Context(), in, make([]byte, in.Dots()*i.D.Width())); err != nil {
			t.Fatal(err)
		}
		if after := forms.MXCSR(); after != before {
			t.Errorf("%s: MXCSR %04x became %04x", i.Name, before, after)
		}
	}
}

// TestControl checks the bits of MXCSR by the Intel SDM.
func TestControl(t *testing.T) {
	for name, want := range map[string]uint64{"dpps": 0x1f80, "dpps.daz": 0x1fc0, "dpps.ftz": 0x9f80, "dpps.daz.ftz": 0x9fc0,
		"dpps.rd": 0x3f80, "dpps.ru": 0x5f80, "dpps.rz.daz.ftz": 0xffc0} {
		i, err := mma.Lookup(arch, name)
		if err != nil {
			t.Fatal(err)
		}
		_, modes := i.Mnemonic()
		if got := control(modes); got != want {
			t.Errorf("%s: %04x, want %04x", name, got, want)
		}
	}
}
