package minimize

import (
	"math"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// TestNumber reads every code of the narrow formats, and writes it back.
func TestNumber(t *testing.T) {
	for _, id := range fp.All() {
		f := id.Get()
		if f.CodeBits() > 16 {
			continue
		}
		for code := range f.CodeMask() + 1 {
			x := read(f, code)
			if back, ok := x.code(f); !ok || back != code&valueBits(f) {
				t.Fatalf("%s %x: %+v is written as %x, %v", f.Name, code, x, back, ok)
			}
			if x.class == fp.Finite && value(x) != f.Float64(code) {
				t.Fatalf("%s %x: %+v is %g, want %g", f.Name, code, x, value(x), f.Float64(code))
			}
		}
	}
}

// value computes a finite number from the definition.
func value(x number) float64 {
	v := math.Ldexp(float64(x.sig), x.exp-x.frac)
	if x.neg {
		return -v
	}
	return v
}

// TestNumberSubnormal writes numbers that are subnormal in their format: nothing in a
// number says so.
func TestNumberSubnormal(t *testing.T) {
	f := fp.FP16.Get()
	for code, x := range map[uint64]number{
		0x0010: {class: fp.Finite, sig: 1, exp: -20},
		0x3c00: {class: fp.Finite, sig: 1, subnormal: true},
	} {
		if got, ok := x.code(f); got != code || !ok {
			t.Errorf("%+v is written as %x, %v; want %x", x, got, ok, code)
		}
	}
}

// TestNumberRefused holds that a format never takes a number that it does not
// have.
func TestNumberRefused(t *testing.T) {
	for _, c := range []struct {
		id fp.ID
		x  number
	}{
		{fp.FP16, number{class: fp.Finite, sig: 1, exp: 16}},
		{fp.FP16, number{class: fp.Finite, sig: 1, exp: -25}},
		{fp.FP16, number{class: fp.Finite, sig: 1<<11 + 1, frac: 11}},
		{fp.FP16, number{class: fp.NaN, sig: 1, frac: 11}},
		{fp.FP16, number{class: fp.NaN}},
		{fp.E4M3, number{class: fp.Inf}},
		{fp.E2M1, number{class: fp.NaN, sig: 1, frac: 1}},
		{fp.E8M0, number{}},
		{fp.E8M0, number{class: fp.Finite, sig: 3, frac: 1}},
		{fp.E8M0, number{class: fp.Finite, sig: 1, neg: true}},
		{fp.E4M3FNUZ, number{neg: true}},
	} {
		if code, ok := c.x.code(c.id.Get()); ok {
			t.Errorf("%s: %+v is written as %x", c.id, c.x, code)
		}
	}
}

// TestMagnitude holds that magnitudes tell values apart, across formats.
func TestMagnitude(t *testing.T) {
	seen := map[uint64]float64{}
	for _, id := range []fp.ID{fp.FP16, fp.BF16, fp.E5M2, fp.E8M0} {
		f := id.Get()
		for code := range f.CodeMask() + 1 {
			x := read(f, code)
			if x.class == fp.NaN {
				continue
			}
			v := math.Abs(f.Float64(code))
			if old, ok := seen[x.magnitude()]; ok && old != v {
				t.Fatalf("%s: %g and %g have the magnitude %x", f.Name, old, v, x.magnitude())
			}
			seen[x.magnitude()] = v
		}
	}
	values := map[float64]bool{}
	for _, v := range seen {
		if values[v] {
			t.Fatalf("%g has two magnitudes", v)
		}
		values[v] = true
	}
	quiet, signalling := read(fp.FP16.Get(), 0x7e00), read(fp.FP16.Get(), 0x7c01)
	inf := read(fp.FP16.Get(), 0x7c00)
	if quiet.magnitude() != read(fp.FP32.Get(), 0xffc00000).magnitude() ||
		quiet.magnitude() == signalling.magnitude() || quiet.magnitude() == inf.magnitude() {
		t.Errorf("NaNs and Inf: %x %x %x", quiet.magnitude(), signalling.magnitude(), inf.magnitude())
	}
}

// TestCut compares cut and up with arithmetic on float64.
func TestCut(t *testing.T) {
	f := fp.FP16.Get()
	for code := range f.CodeMask() + 1 {
		x := read(f, code)
		if x.class != fp.Finite {
			continue
		}
		for n := range 12 {
			unit := math.Ldexp(1, x.exp-n)
			m := math.Abs(value(x)) / unit
			if got, want := value(x.cut(n)), math.Copysign(math.Floor(m)*unit, value(x)); got != want {
				t.Fatalf("%x cut to %d bits is %g, want %g", code, n, got, want)
			}
			if got, want := value(x.up(n)), math.Copysign(math.Ceil(m)*unit, value(x)); got != want {
				t.Fatalf("%x rounded up to %d bits is %g, want %g", code, n, got, want)
			}
			if y := x.up(n); y.frac > n || y.sig&1 == 0 || y.sig>>y.frac != 1 {
				t.Fatalf("%x rounded up to %d bits is %+v", code, n, y)
			}
		}
	}
}
