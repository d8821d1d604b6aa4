package wire

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func read(text string) (*Header, error) { return ReadHeader(bufio.NewReader(strings.NewReader(text))) }

// TestHeader writes headers and reads them.
func TestHeader(t *testing.T) {
	one := mma.Range{Min: 16, Max: 16, Step: 1}
	fmul := mma.Instruction{Arch: "exec", Name: "fmul", M: one, N: one, K: 1, Formats: mma.Formats{A: fp.FP32, B: fp.FP32, D: fp.FP32, Mode: fp.RZ}}
	raised := fmul
	raised.Name = "fmul.flags"
	var err error
	if raised.D, err = fp.FP32.WithFlags(fp.FlagsArm); err != nil {
		t.Fatal(err)
	}
	for _, h := range []*Header{
		{Instructions: []mma.Instruction{{Arch: "exec", Name: "mine", M: anySize, N: anySize, K: 4, Formats: mma.Formats{A: fp.FP16, B: fp.BF16, C: fp.FP32, D: fp.FP64}}},
			Deadline: defaultDeadline, About: map[string]string{}},
		{Instructions: []mma.Instruction{fmul}, Flags: []Flags{{0, raised}}, Deadline: defaultDeadline, About: map[string]string{}},
		{Text: true, Batch: 7, Deadline: 90 * time.Second, Children: 2, About: map[string]string{"simulator": "mine 1.2", "os": "x"},
			Instructions: []mma.Instruction{
				{Arch: "npu", Name: "dot", M: one, N: mma.Range{Min: 8, Max: 256, Step: 8}, K: 64,
					Formats: mma.Formats{A: fp.E2M1, B: fp.E2M1, D: fp.FP32, Scale: fp.UE4M3, Block: 16}},
				{Arch: "hopper", Name: "mma.m16n8k8.f32.f16.f16.f32", M: one, N: one, K: 8, Formats: mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32}},
			}},
	} {
		var b bytes.Buffer
		if err := h.Write(&b); err != nil {
			t.Fatal(err)
		}
		got, err := read(b.String())
		if err != nil {
			t.Fatalf("%v:\n%s", err, &b)
		}
		for i := range got.Instructions {
			got.Instructions[i].Source, got.Instructions[i].Evidence = "", ""
		}
		for i := range got.Flags {
			got.Flags[i].Source, got.Flags[i].Evidence = "", ""
		}
		if diff := cmp.Diff(h, got); diff != "" {
			t.Error(diff)
		}
	}
}

// TestCatalogue leaves out what the catalogue knows. What it believes of the
// arithmetic is not taken over.
func TestCatalogue(t *testing.T) {
	for line, want := range map[string]string{
		"mma.m16n8k16.f32.f16.f16.f32":                        "exec/mma.m16n8k16.f32.f16.f16.f32 fp32.fp16.fp16.fp32 16",
		"hopper/wgmma.m64n8k32.f32.e4m3.e4m3.c0":              "hopper/wgmma.m64n8k32.f32.e4m3.e4m3.c0 fp32.e4m3.e4m3.none 32",
		"cdna3/v_mfma_f32_16x16x32_fp8_fp8 m=16 n=16":         "cdna3/v_mfma_f32_16x16x32_fp8_fp8 fp32.e4m3fnuz.e4m3fnuz.fp32 32",
		"mine a=e5m2 b=e4m3fnuz d=f32 k=2":                    "exec/mine fp32.e5m2.e4m3fnuz.none 2",
		"arm/fdot.e4m3.e4m3.lscale7":                          "arm/fdot.e4m3.e4m3.lscale7 fp32.e4m3.e4m3.fp32.down7 4",
		"mine a=e4m3 b=e4m3 d=fp32 k=4 down=9":                "exec/mine fp32.e4m3.e4m3.none.down9 4",
		"npu/mma.m16n8k8.f32.f16.f16.f32 k=8":                 "npu/mma.m16n8k8.f32.f16.f16.f32 fp32.fp16.fp16.fp32 8",
		"mma.m16n8k8.f32.f16.f16.f32 a=f16 b=f16 c=f32 d=f32": "exec/mma.m16n8k8.f32.f16.f16.f32 fp32.fp16.fp16.fp32 8",
	} {
		h, err := read("mmafuzz-exec 1 text\r\ninstruction " + line + "\r\nready\r\n")
		if err != nil {
			t.Errorf("%s: %v", line, err)
			continue
		}
		i := h.Instructions[0]
		if got := fmt.Sprint(i.FullName(), " ", i.Formats, " ", i.K); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
		if i.Params != (mma.Params{}) || i.Refuse != "" {
			t.Errorf("%s: the catalogue's arithmetic is taken over", line)
		}
	}
}

func TestHeaderErrors(t *testing.T) {
	for line, want := range map[string]string{
		"":                                       "unknown word",
		"instruction a/b/c":                      "neither NAME nor ARCH/NAME",
		"instruction mine k=4":                   "mine is not in the catalogue, so a= is needed",
		"instruction mine k":                     `"k" is not of the form key=value, or is there twice`,
		"instruction m k=4 k=4":                  `"k=4" is not of the form key=value, or is there twice`,
		"instruction m z=4":                      "z=4: unknown key",
		"instruction m a=int7":                   `a=int7: unknown format "int7"`,
		"instruction m k=1 a=fp8 b=one d=fp32":   "a=fp8: fp8 is the name of several formats: e4m3 and e5m2 are those of OCP",
		"instruction m k=1 a=fp32 b=none d=fp16": "and for an operation of a alone, such as a conversion, b=one",
		"instruction m k=0":                      `k=0: "0" is not a number from 1 to 65536`,
		"instruction m m=8..4":                   "m=8..4: the end is before the beginning",
		"instruction m m=8..":                    `m=8..: "" is not a number from 1 to 4096`,
		"instruction m n=1..8/":                  `n=1..8/: "" is not a number from 1 to 4096`,
		"instruction m k=4 a=fp16 b=none d=fp32": "an instruction has a, b and d",
		"instruction m k=4 a=e2m1 b=e2m1 d=fp32 scale=ue8m0":                         "scale= and block= go together",
		"instruction m k=40 a=e2m1 b=e2m1 d=fp32 scale=ue8m0 block=32":               "K = 40 is not a multiple of the block of 32",
		"instruction m k=4 a=e4m3 b=e4m3 d=fp32 down=128":                            `down=128: "128" is not a number from 1 to 127`,
		"instruction arm/fdot.e4m3.e4m3.lscale7 a=e4m3 b=e4m3 c=fp32 d=fp32":         "is fp32.e4m3.e4m3.fp32.down7 with K = 4 in the catalogue, not fp32.e4m3.e4m3.fp32 with K = 4",
		"instruction m k=65536 a=fp64 b=fp64 d=fp64 m=4096 n=4096":                   "a tile takes 4294967296 bytes, more than 67108864",
		"instruction mma.m16n8k8.f32.f16.f16.f32 k=16":                               "is fp32.fp16.fp16.fp32 with K = 8 in the catalogue, not fp32.fp16.fp16.fp32 with K = 16; a unit that differs needs a name of its own",
		"instruction hopper/mma.m16n8k8.f32.f16.f16.f32 a=bf16 b=bf16 c=fp32 d=fp32": "is fp32.fp16.fp16.fp32 with K = 8 in the catalogue, not fp32.bf16.bf16.fp32 with K = 8",
		"instruction m k=1 a=fp32 b=fp32 d=fp32 round=up":                            `round=up: unknown rounding mode "up"`,
		"instruction m k=1 a=fp32 b=fp32 d=fp32 flags=vax":                           `flags=vax: unknown rule of flags "vax" (known: x86, riscv, arm)`,
		"instruction m k=1 a=e4m3 b=e4m3 d=e4m3 flags=arm":                           "operations with results in e4m3 have no IEEE 754 flags",
		"batch 0":      `"0" is not a number from 1 to 1073741824`,
		"children -1":  `"-1" is not a number from 1 to 1024`,
		"deadline 5":   "missing unit",
		"deadline 48h": "a deadline is between 1ns and 24h0m0s",
		"about":        "not of the form: about WORD TEXT",
	} {
		_, err := read("mmafuzz-exec 1 text\n" + line + "\nready\n")
		if err == nil || !strings.HasPrefix(err.Error(), `line 2 of the header, "`) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n got %v\nwant %s", line, err, want)
		}
	}
	for text, want := range map[string]string{
		"mmafuzz-exec 1 text\nready\n": "the header has no line instruction",
		"mmafuzz-exec 1 text\ninstruction m k=4 a=fp16 b=fp16 d=fp32\ninstruction x/m k=4 a=fp16 b=fp16 d=fp32\nready\n": "the header has two instructions m",
	} {
		if _, err := read(text); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// FuzzHeader checks that no header makes us panic, and that what is read can be
// written and read again.
func FuzzHeader(f *testing.F) {
	f.Add("mmafuzz-exec 1 text\ninstruction mine k=4 a=fp16 b=fp16 d=fp32 m=8..64/8\nbatch 3\nabout a b\nready\n")
	f.Add("mmafuzz-exec 1 binary\ninstruction npu/mine k=4 a=e2m1 b=e2m1 d=fp32 scale=ue8m0 block=4 n=8\ndeadline 1m\nready\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := read(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := h.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := read(b.String())
		if err != nil {
			t.Fatalf("%q was read, but not %q: %v", text, b.String(), err)
		}
		if diff := cmp.Diff(h, again); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	})
}

func TestFrames(t *testing.T) {
	q := Request{ID: 7, Instruction: 2, Shape: mma.Shape{M: 16, N: 8, K: 4, Tiles: 1000}, Length: 12345, Checksum: 0xdeadbeef}
	b := q.Append(nil)
	var got Request
	if len(b) != RequestSize || !got.Parse(b) || got != q {
		t.Errorf("%d bytes, %+v", len(b), got)
	}
	b[3]++
	if got.Parse(b) || got.Parse(b[:20]) {
		t.Error("what is no request is read as one")
	}
	a := Answer{ID: 7, Status: StatusError, Length: 9, Checksum: 1}
	var back Answer
	if b = a.Append(nil); len(b) != AnswerSize || string(b[:4]) != AnswerMagic {
		t.Errorf("answer %x", b)
	}
	if back.Parse(b); back != a {
		t.Errorf("%+v", back)
	}
}

func TestPayloadSize(t *testing.T) {
	f := mma.Formats{A: fp.E2M1, B: fp.E2M1, C: fp.FP32, D: fp.FP32, Scale: fp.UE4M3, Block: 16}
	s := mma.Shape{M: 3, N: 5, K: 64, Tiles: 7}
	b := mma.NewBatch(f, s)
	want := len(b.A) + len(b.B) + len(b.C) + len(b.SA) + len(b.SB)
	if got := PayloadSize(f, s); got != int64(want) {
		t.Errorf("%d, want %d", got, want)
	}
	for _, s := range []mma.Shape{
		{M: math.MaxInt32, N: math.MaxInt32, K: math.MaxInt32, Tiles: math.MaxInt32},
		{M: 1 << 20, N: 1 << 20, K: 1 << 20, Tiles: math.MaxInt32},
		{M: 1 << 16, N: 1 << 16, K: 1, Tiles: 1 << 32},
	} {
		if got := PayloadSize(f, s); got <= MaxPayload {
			t.Errorf("%+v: %d bytes", s, got)
		}
	}
}

// TestAppendDot writes dot products that mma.ParseDot reads.
func TestAppendDot(t *testing.T) {
	for _, f := range []mma.Formats{
		{A: fp.FP16, B: fp.E4M3, C: fp.FP64, D: fp.FP64},
		{A: fp.E2M1, B: fp.E2M1, D: fp.FP32, Scale: fp.UE4M3, Block: 4},
	} {
		d := mma.NewDot(f, 8)
		for i := range d.A {
			d.A[i], d.B[i] = uint64(i), uint64(7-i)
		}
		for i := range d.SA {
			d.SA[i], d.SB[i] = uint64(0x38+i), 0x7e
		}
		if f.C != fp.None {
			d.C = 0x3ff0000000000001
		}
		line := string(AppendDot(nil, f, d))
		got, err := mma.ParseDot(f, 8, false, strings.Fields(line))
		if err != nil || !got.Equal(d) || line != mma.FormatDot(f, d)+"\n" {
			t.Errorf("%q: %v, %v", line, got, err)
		}
	}
	zeros := mma.NewDot(mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32}, 2)
	if got := string(AppendDot(nil, mma.Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32}, zeros)); got != "0000,0000 0000,0000 00000000\n" {
		t.Errorf("%q", got)
	}
}
