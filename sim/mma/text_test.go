package mma

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestFormatDot(t *testing.T) {
	nvf4 := Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 16}
	for _, tc := range []struct {
		f    Formats
		d    Dot
		want string
	}{
		{half, Dot{A: []uint64{0, 0}, B: []uint64{0, 0}}, "0000 0000 00000000"},
		{half, Dot{A: []uint64{0x3c00, 0, 1, 0}, B: []uint64{0, 0x8000, 0, 0}, C: 0x80000000}, "3c00,0000,0001 0000,8000,0000 80000000"},
		{half, Dot{A: []uint64{1, 2, 0}, B: []uint64{0, 0, 0xffff}, C: 0xdeadbeef}, "0001,0002,0000 0000,0000,ffff deadbeef"},
		{Formats{A: fp.E4M3, B: fp.E5M2, D: fp.FP32}, Dot{A: []uint64{0x7f}, B: []uint64{1}}, "7f 01 -"},
		{Formats{A: fp.TF32, B: fp.BF16, C: fp.FP16, D: fp.FP16}, Dot{A: []uint64{0x3f801fff}, B: []uint64{0x3f80}, C: 0x7c00}, "3f801fff 3f80 7c00"},
		{Formats{A: fp.FP64, B: fp.FP64, C: fp.FP64, D: fp.FP64}, Dot{A: []uint64{1 << 63}, B: []uint64{1}, C: 0xabc}, "8000000000000000 0000000000000001 0000000000000abc"},
		{nvf4, Dot{A: []uint64{7, 0}, B: []uint64{9, 0}, SA: []uint64{0x38, 0}, SB: []uint64{0, 0xff}}, "07 09 00000000 sa=38,00 sb=00,ff"},
	} {
		if got := FormatDot(tc.f, &tc.d); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestDotRoundTrip takes random dot products of all formats of the catalogue,
// single and chained, through their text.
func TestDotRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(id fp.ID, codes []uint64) {
		for i := range codes {
			if r.IntN(3) > 0 {
				codes[i] = r.Uint64() & id.Get().CodeMask()
			}
		}
	}
	seen := map[Formats]bool{}
	for _, i := range Catalog() {
		if seen[i.Formats] {
			continue
		}
		seen[i.Formats] = true
		for n := range 20 {
			k := i.K * (1 + n%3)
			d := NewDot(i.Formats, k)
			random(i.A, d.A)
			random(i.B, d.B)
			d.A[k-1] = 1 // the length of a chain is that of what is written
			if i.C != fp.None {
				c := []uint64{0}
				random(i.C, c)
				d.C = c[0]
			}
			if i.Scale != fp.None {
				random(i.Scale, d.SA)
				random(i.Scale, d.SB)
			}
			text := FormatDot(i.Formats, d)
			back, err := ParseDot(i.Formats, i.K, true, strings.Fields(text))
			if err != nil || !back.Equal(d) {
				t.Fatalf("%s: %s comes back as %+v, %v", i.Formats, text, back, err)
			}
			if again := FormatDot(i.Formats, back); again != text {
				t.Fatalf("%s: %s is written as %s", i.Formats, text, again)
			}
		}
	}
	if len(seen) < 80 {
		t.Errorf("only %d combinations of formats", len(seen))
	}
}

func TestParseDot(t *testing.T) {
	noC := Formats{A: fp.FP16, B: fp.FP16, D: fp.FP16}
	mx := Formats{A: fp.E4M3, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 2}
	ones := func(n int) []uint64 {
		s := make([]uint64, n)
		s[0] = 1
		return s
	}
	for _, tc := range []struct {
		f     Formats
		k     int
		chain bool
		text  string
		want  *Dot
	}{
		{half, 4, false, "0001 0001 00000000", &Dot{A: ones(4), B: ones(4), SA: []uint64{}, SB: []uint64{}}},
		{half, 2, false, "0001 0001,0000 BF800000", &Dot{A: ones(2), B: ones(2), C: 0xbf800000, SA: []uint64{}, SB: []uint64{}}},
		{half, 2, true, "0001 0001,0000,0000 00000000", &Dot{A: ones(4), B: ones(4), SA: []uint64{}, SB: []uint64{}}},
		{half, 2, true, "0001 0001 00000000", &Dot{A: ones(2), B: ones(2), SA: []uint64{}, SB: []uint64{}}},
		{noC, 2, false, "0001 0001 -", &Dot{A: ones(2), B: ones(2), SA: []uint64{}, SB: []uint64{}}},
		{noC, 2, false, "0001 0001 3c00", &Dot{A: ones(2), B: ones(2), SA: []uint64{}, SB: []uint64{}}}, // ignored, in D's format
		{mx, 4, false, "01 01 00000000 sa=7f,80 sb=00,ff", &Dot{A: ones(4), B: ones(4), SA: []uint64{0x7f, 0x80}, SB: []uint64{0, 0xff}}},
		{mx, 3, false, "01 01 00000000 sa=7f,80 sb=00,ff", &Dot{A: ones(3), B: ones(3), SA: []uint64{0x7f, 0x80}, SB: []uint64{0, 0xff}}},
	} {
		got, err := ParseDot(tc.f, tc.k, tc.chain, strings.Fields(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
		} else if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s:\n%s", tc.text, diff)
		}
	}
}

func TestParseDotErrors(t *testing.T) {
	noC := Formats{A: fp.FP16, B: fp.FP16, D: fp.FP16}
	e2m1 := Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32}
	mx := Formats{A: fp.E4M3, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.E8M0, Block: 2}
	const form = "not of the form: a0,a1,.. b0,b1,.. c [sa=.. sb=..]"
	for _, tc := range []struct {
		f    Formats
		text string
		want string
	}{
		{half, "", form},
		{half, "0001 0001", form},
		{half, "0001 0001 00000000 sa=01", form},
		{half, "0001 0001 00000000 1 2 3", form},
		{half, "001 0001 00000000", `a: "001" is not a fp16 code of 4 hexadecimal digits`},
		{half, "00001 0001 00000000", `a: "00001" is not a fp16 code of 4 hexadecimal digits`},
		{half, "0x01 0001 00000000", `a: "0x01" is not a fp16 code of 4 hexadecimal digits`},
		{half, "+001 0001 00000000", `a: "+001" is not a fp16 code of 4 hexadecimal digits`},
		{half, "0001,, 0001 00000000", `a: "" is not a fp16 code of 4 hexadecimal digits`},
		{half, "0001 000g 00000000", `b: "000g" is not a fp16 code of 4 hexadecimal digits`},
		{half, "0001 0001 0000", `c: "0000" is not a fp32 code of 8 hexadecimal digits`},
		{half, "0001 0001 -", `c: "-" is not a fp32 code of 8 hexadecimal digits`},
		{half, "0001,0001,0001,0001,0001 0001 00000000", "5 elements, but the instruction has K = 4 (--chain executes it repeatedly)"},
		{half, "0001 0001,0001,0001,0001,0001,0001 00000000", "6 elements, but the instruction has K = 4 (--chain executes it repeatedly)"},
		{half, "0001 0001 00000000 sa=00 sb=00", "the instruction has no scales"},
		{noC, "0001 0001 00000000", `c: "00000000" is not a fp16 code of 4 hexadecimal digits`},
		{e2m1, "10 01 00000000", `a: "10" is not a e2m1 code of 2 hexadecimal digits`},
		{mx, "01 01 00000000", "the instruction needs scales: sa=.. sb=.."},
		{mx, "01 01 00000000 7f,7f 7f,7f", `"7f,7f" does not begin with sa=`},
		{mx, "01 01 00000000 sa=7f,7f sa=7f,7f", `"sa=7f,7f" does not begin with sb=`},
		{mx, "01 01 00000000 sa=7f sb=7f,7f", "sa: 1 scales for 2 blocks"},
		{mx, "01 01 00000000 sa=7f,7f sb=7f,7f,7f", "sb: 3 scales for 2 blocks"},
		{mx, "01 01 00000000 sa=7f,1ff sb=7f,7f", `sa: "1ff" is not a ue8m0 code of 2 hexadecimal digits`},
		{mx, "01 01 00000000 sa= sb=7f,7f", `sa: "" is not a ue8m0 code of 2 hexadecimal digits`},
	} {
		d, err := ParseDot(tc.f, 4, false, strings.Fields(tc.text))
		if err == nil {
			t.Errorf("%s: read as %+v", tc.text, d)
			continue
		}
		checkError(t, tc.text, err, tc.want)
	}
	if _, err := ParseCode("d", fp.None, "00"); err == nil || err.Error() != "d: the instruction has none, write -" {
		t.Errorf("a code of no format: %v", err)
	}
}
