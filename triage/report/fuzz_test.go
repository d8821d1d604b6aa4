package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/sim/testdata/tier"
)

// partner returns a unit of the same formats and a K that one of the two divides:
// the same with one more or less fraction bit, or the next made-up one of another
// structure.
func partner(i *mma.Instruction, seed uint64) mma.Instruction {
	j := *i
	if seed%2 == 0 && i.Params.Join.Align.F > 1 {
		j.Params.Join.Align.F--
		return j
	}
	for s := seed + 1; ; s++ {
		if j = madeup.Unit(s); j.Formats == i.Formats && max(i.K, j.K)%min(i.K, j.K) == 0 {
			return j
		}
	}
}

// TestMadeUp draws dot products of all generators on made-up units: nothing may
// panic, no line may be too long, and the picture must be true to the traces.
func TestMadeUp(t *testing.T) {
	for seed := range tier.Of[uint64](30, 50, 250) {
		i := madeup.Unit(seed)
		j := partner(&i, seed)
		k := max(i.K, j.K) * (1 + int(seed%5)/4)
		for n, g := range gen.All() {
			src := g.Aimed(gen.Spec{Formats: i.Formats, K: k}, &i.Params)
			d := src.Dot(gen.Spec{Formats: i.Formats, K: k}, seed, seed*7+uint64(n))
			m := &Mismatch{Input: Input{Formats: i.Formats, Dot: d}, A: side(t, &i, d), B: side(t, &j, d)}
			checkMismatch(t, fmt.Sprintf("%d %s", seed, src), m, TextOptions{Width: 60 + int(seed%7)*15, All: seed%11 == 0})
		}
		if t.Failed() {
			return
		}
	}
}

func checkMismatch(t *testing.T, name string, m *Mismatch, o TextOptions) {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, m, o); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	checkWidth(t, name, text, o)
	checkDifference(t, name, text, m)
	checkRows(t, name, m)
	if t.Failed() {
		t.Logf("%+v\n%+v\n%s", m.A.Params, m.B.Params, text)
	}
	b.Reset()
	if err := TextOne(&b, &m.Input, &m.A, o); err != nil {
		t.Fatal(err)
	}
	checkWidth(t, name, b.String(), o)
}

// checkDifference: the picture shows a bit that differs iff the results do.
func checkDifference(t *testing.T, name, text string, m *Mismatch) {
	t.Helper()
	differ := m.A.Result != m.B.Result
	if shown := strings.Contains(text, "A and B differ in"); shown != differ {
		t.Errorf("%s: results differ: %v, but the picture says: %v", name, differ, shown)
	}
	if same := strings.Contains(text, "agree in all bits"); same == differ {
		t.Errorf("%s: results differ: %v, and the picture says that they agree: %v", name, differ, same)
	}
	for l := range strings.Lines(text) {
		if bits, ok := strings.CutPrefix(l, "  A^B"); ok && strings.Contains(bits, "^") != differ {
			t.Errorf("%s: results differ: %v, but the bits are %s", name, differ, bits)
		}
	}
}

// checkRows: the bits of every row add up to what its term or sum is.
func checkRows(t *testing.T, name string, m *Mismatch) {
	t.Helper()
	a, b := newView(&m.Input, &m.A), newView(&m.Input, &m.B)
	compare(a, b)
	for _, v := range []*view{a, b} {
		for i := range v.sums {
			for j := range v.sums[i].Terms {
				checkTerm(t, name, v, i, j)
			}
		}
	}
}

func checkTerm(t *testing.T, name string, v *view, i, j int) {
	t.Helper()
	x := &v.sums[i].Terms[j]
	if x.Value.IsZero() || !isFinite(x) {
		return
	}
	r := v.termRow(i, j)
	for w := r.top + 3; w >= min(r.low(), x.Cut.Q)-3; w-- {
		s := r.at(w)
		if !x.Cut.IsZero() && bit(x.Cut, w) != (s == one || s == onlyHere) {
			t.Fatalf("%s: sum %d, term %s: bit 2^%d is in state %d, but the term is cut to %s", name, i, r.label, w, s, hexfloat(x.Cut))
		}
		if s.kept() && x.Cut.IsZero() {
			t.Fatalf("%s: sum %d, term %s: bit 2^%d is kept of a dropped term", name, i, r.label, w)
		}
		there, ok := v.there(i, j)
		if (s == onlyHere) != (ok && bit(x.Cut, w) && !bit(there, w)) {
			t.Fatalf("%s: sum %d, term %s: bit 2^%d is in state %d, on the other side the term is %s", name, i, r.label, w, s, hexfloat(there))
		}
		if (s == lostOne) && !bit(v.exact(x), w) {
			t.Fatalf("%s: sum %d, term %s: bit 2^%d is dropped, but the term is %s", name, i, r.label, w, hexfloat(v.exact(x)))
		}
	}
}

// TestCatalog draws a dot product of every generator on every instruction, or of a
// quarter of them, another one for the next instruction.
func TestCatalog(t *testing.T) {
	for at, i := range mma.Catalog() {
		if i.Refuse != "" || testing.Short() && i.Arch != "hopper" && i.Arch != "cdna3" {
			continue
		}
		sp := gen.Spec{Formats: i.Formats, K: i.K}
		for n, g := range gen.All() {
			if n%4 != at%4 && !tier.Long() {
				continue
			}
			d := g.Aimed(sp, &i.Params).Dot(sp, 1, uint64(n))
			s := side(t, &i, d)
			var b bytes.Buffer
			if err := TextOne(&b, &Input{Formats: i.Formats, Dot: d}, &s, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			checkWidth(t, i.Name, b.String(), TextOptions{})
		}
	}
}

// TestLongChain draws a chain of very many steps quickly and in few lines.
func TestLongChain(t *testing.T) {
	i := unit(t, hopper8, fma)
	d := mma.NewDot(i.Formats, 1<<13)
	for k := range d.A {
		d.A[k], d.B[k] = 0x3c00+uint64(k%7), 0x1400+uint64(k%1000)
	}
	j := unit(t, hopper8, nil)
	m := &Mismatch{Input: Input{Formats: i.Formats, Dot: d}, A: side(t, i, d), B: side(t, j, d)}
	var b bytes.Buffer
	if err := Text(&b, m, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n"); n > 200 {
		t.Errorf("%d lines", n)
	}
}

// TestColor: colours change nothing but colours.
func TestColor(t *testing.T) {
	for _, c := range pictureCases {
		m, o := c.mismatch(t)
		var plain, color bytes.Buffer
		Text(&plain, m, o)
		o.Color = true
		Text(&color, m, o)
		text := color.String()
		if !strings.Contains(text, "\x1b[") {
			t.Errorf("%s: no colours", c.name)
		}
		for _, code := range sgr {
			if code != "" {
				text = strings.ReplaceAll(text, "\x1b["+code+"m", "")
			}
		}
		if text = strings.ReplaceAll(text, "\x1b[0m", ""); text != plain.String() {
			t.Errorf("%s: without its colours the text is\n%s", c.name, text)
		}
	}
}

// TestHexfloat compares with the values of codes.
func TestHexfloat(t *testing.T) {
	for _, c := range []struct {
		code uint64
		want string
	}{
		{0x3f800000, "0x1p+0"}, {0xc0400000, "-0x1.8p+1"}, {1, "0x1p-149"}, {0x7f7fffff, "0x1.fffffep+127"},
		{0x41200000, "0x1.4p+3"}, {0, "0x0p+0"}, {0x80000000, "-0x0p+0"},
	} {
		v := codeValue(fp.FP32, c.code)
		if got := hexfloat(v.Value); got != c.want {
			t.Errorf("%08x: %s, want %s", c.code, got, c.want)
		}
	}
}
