package mma

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// completeModel is a complete model file; PARAMS and what else a test needs is
// replaced in it.
const completeModel = `{"v": 1, "name": "mine", "formats": {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32"}, "k": 16,
  "params": {"l": 8, "join": {"align": {"f": 24, "mode": "rz", "floor": -132}},
    "acc": {"frac": 23, "mode": "rz", "emin": -126, "emax": 127}}}`

func TestReadModelComplete(t *testing.T) {
	got, err := ReadModel([]byte(completeModel))
	if err != nil {
		t.Fatal(err)
	}
	want := &Instruction{
		Arch: "model", Name: "mine", K: 16,
		Formats: Formats{A: fp.FP16, B: fp.FP16, C: fp.FP32, D: fp.FP32},
		Params:  TFDPA(8, 24, To(fp.FP32, fp.RZ), -132),
		Source:  "model file", Evidence: "hypothetical",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestReadModelDerived(t *testing.T) {
	for _, tc := range []struct{ file, name, changes string }{
		{`{"v": 1, "base": "ampere/mma.m16n8k16.f32.f16.f16.f32"}`, "mma.m16n8k16.f32.f16.f16.f32", ""},
		{`{"v": 1, "base": "ampere/mma.m16n8k16.f32.f16.f16.f32", "set": {}}`, "mma.m16n8k16.f32.f16.f16.f32", ""},
		{`{"v": 1, "name": "x", "base": "sm_80/mma.m16n8k16.f32.f16.f16.f32", "set": {"l": 16, "join.align.f": "25"}}`, "x", "products in a step (L) 8→16, kept bits (F) 24→25"},
		{`{"v": 1, "base": "hopper/wgmma.m64n256k16.f32.f16.f16", "set": {"join.align.f": "exact", "join.align.floor": "none"}}`,
			"wgmma.m64n256k16.f32.f16.f16", "kept bits (F) 25→exact, least exponent (e_zero) -133→none"},
		{`{"v": 1, "base": "cdna3/v_mfma_f32_32x32x8_f16", "set": {"special.negzero": true, "join.cmode": "rz", "join.align.floor": -130}}`,
			"v_mfma_f32_32x32x8_f16", "least exponent (e_zero) -126→-130, rounding of a cut c down→toward zero, sums can be -0 no→yes"},
	} {
		got, err := ReadModel([]byte(tc.file))
		if err != nil {
			t.Errorf("%s: %v", tc.file, err)
			continue
		}
		arch, name, _ := strings.Cut(strings.Split(tc.file, `"base": "`)[1], "/")
		base, err := Lookup(arch, strings.Split(name, `"`)[0])
		if err != nil {
			t.Fatal(err)
		}
		if changes := Brief(Diff(&base.Params, &got.Params)); changes != tc.changes || got.Name != tc.name || got.Arch != "model" {
			t.Errorf("%s: %s with %q, want %s with %q", tc.file, got.FullName(), changes, tc.name, tc.changes)
		}
		if got.Formats != base.Formats || got.K != base.K || got.Evidence != "hypothetical" {
			t.Errorf("%s: %+v", tc.file, got)
		}
	}
}

// TestReadModelErrors has every message that a model file can get.
func TestReadModelErrors(t *testing.T) {
	replace := func(old, new string) string {
		if !strings.Contains(completeModel, old) {
			t.Fatalf("%q is not in the model", old)
		}
		return strings.Replace(completeModel, old, new, 1)
	}
	base := func(more string) string { return `{"v": 1, "base": "cdna3/v_mfma_f32_32x32x8_f16"` + more + `}` }
	for _, tc := range []struct{ name, file, want string }{
		{"empty", "", "it is empty"},
		{"blank", " \n\t", "it is empty"},
		{"name", base(`, "name": "a\u001b[31m"`), `"name" is "a\x1b[31m", which cannot be printed`},
		{"syntax", "{\"v\": 1,\n \"k\": x}", "line 2: 'x' is no JSON: a value should begin there"},
		{"cut short", completeModel[:40], "the JSON is cut short"},
		{"field twice", base(`, "base": "hopper/x"`), `"base" is there twice`},
		{"in capitals", base(`, "Name": "x"`), `"Name" is written "name"`},
		{"array", "[1]", "it is an array, not an object"},
		{"twice", completeModel + completeModel, "there is something after the JSON object"},
		{"another brace", completeModel + "}", "there is something after the JSON object"},
		{"another bracket", completeModel + "\n]", "there is something after the JSON object"},
		{"null", "null", `"v" is 0, this version reads 1`},
		{"no version", replace(`"v": 1, `, ""), `"v" is 0, this version reads 1`},
		{"version 2", replace(`"v": 1`, `"v": 2`), `"v" is 2, this version reads 1`},
		{"version as text", replace(`"v": 1`, `"v": "1"`), `line 1: "v" is a string, not a whole number`},
		{"unknown field", replace(`"k": 16`, `"k": 16, "m": 8`), `unknown field "m"`},
		{"unknown parameter", replace(`"l": 8`, `"width": 8`), `"params": unknown field "width"`},
		{"unknown parameter inside", replace(`"f": 24`, `"f": 24, "g": 1`), `"params": unknown field "g"`},
		{"parameter out of range", replace(`"l": 8`, `"l": 256`), `"params": "l" is 256, not a whole number in range`},
		{"unknown mode", replace(`"mode": "rz", "floor"`, `"mode": "zero", "floor"`), `"params": unknown rounding mode "zero" (one of rne, rz, rd, ru, rna, rto; rs where there are random bits)`},
		{"unknown format", replace(`"b": "fp16"`, `"b": "fp17"`), `unknown format "fp17"`},
		{"unknown operand", replace(`"b": "fp16"`, `"e": "fp16"`), `unknown field "e"`},
		{"no formats", `{"v": 1, "k": 4, "params": {}}`, `a file without "base" needs "formats", "k" and "params"`},
		{"no k", replace(`"k": 16,`, ""), `a file without "base" needs "formats", "k" and "params"`},
		{"no params", `{"v": 1, "k": 4, "formats": {"a": "fp16"}}`, `a file without "base" needs "formats", "k" and "params"`},
		{"set without base", replace(`"k": 16`, `"k": 16, "set": {"l": 4}`), `"set" needs "base"`},
		{"no b", replace(`"b": "fp16", `, ""), "format of b is not given"},
		{"no d", replace(`, "d": "fp32"`, ""), "format of d is not given"},
		{"no formats at all", replace(`"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32"`, ""), "format of a is not given"},
		{"scale without block", replace(`"d": "fp32"`, `"d": "fp32", "scale": "e8m0"`), "scale format and block size must be given together"},
		{"k too large", replace(`"k": 16`, `"k": 256`), "k = 256 is not in 1..255"},
		{"negative k", replace(`"k": 16`, `"k": -1`), "k = -1 is not in 1..255"},
		{"invalid program", replace(`"frac": 23`, `"frac": 24`), "acc: frac 24, emin -126, emax 127 do not make a fp32 number"},
		{"base and k", base(`, "k": 8`), `a file with "base" has "set", not "formats", "k" or "params"`},
		{"base and formats", base(`, "formats": {}`), `a file with "base" has "set", not "formats", "k" or "params"`},
		{"base and params", base(`, "params": {}`), `a file with "base" has "set", not "formats", "k" or "params"`},
		{"base without slash", `{"v": 1, "base": "cdna3"}`, `"base" is "cdna3", not ARCH/INSTRUCTION`},
		{"unknown architecture", `{"v": 1, "base": "cdna9/x"}`, `unknown architecture "cdna9" (known: ` + strings.Join(archNames(), ", ") + ")"},
		{"unknown instruction", `{"v": 1, "base": "volta/mma.m8n8k4.f32"}`,
			`volta: "mma.m8n8k4.f32" is the beginning of 2 instructions: mma.m8n8k4.f32.f16.f16.f32, mma.m8n8k4.f32.f16.f16.f16`},
		{"refused instruction", `{"v": 1, "base": "rdna4/v_wmma_f32_16x16x16_f16"}`,
			"rdna4/v_wmma_f32_16x16x16_f16 has no model: the arithmetic of RDNA4 is unknown"},
		{"unknown path", base(`, "set": {"join.f": 3}`), `"set": there is no parameter "join.f"`},
		{"bad number", base(`, "set": {"l": 4.5}`), `"set": l: "4.5" is not a number in range`},
		{"bad value", base(`, "set": {"join.cmode": "up"}`), `"set": join.cmode: unknown rounding mode "up" (one of rne, rz, rd, ru, rna, rto)`},
		{"random bits for c", base(`, "set": {"join.cmode": "rs"}`), `"set": join.cmode: unknown rounding mode "rs" (one of rne, rz, rd, ru, rna, rto)`},
		{"random bits in join", replace(`"join": {`, `"join": {"cmode": "rs", `), "join.cmode: rs is not one of rne, rz, rd, ru, rna, rto"},
		{"bad kind of value", base(`, "set": {"l": [4]}`), `"set": l: "[4]" is not a number in range`},
		{"null value", base(`, "set": {"special.negzero": null}`), `"set": special.negzero: "<nil>" is not true or false`},
		{"invalid change", base(`, "set": {"acc.mode": ""}`), "acc: frac is set but mode is not"},
		{"name with a slash", base(`, "name": "a/b"`), `"name" is "a/b": no instruction has a slash in its name`},
		{"name with a line end", base(`, "name": "a\nb"`), `"name" is "a\nb", which cannot be printed`},
		{"base and name of another kind", `{"v": 1, "base": 3}`, `"base" is a number, not a string`},
	} {
		i, err := ReadModel([]byte(tc.file))
		if err == nil {
			t.Errorf("%s: read as %+v", tc.name, i)
		} else if err.Error() != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, err, tc.want)
		}
	}
}

func TestWriteModelError(t *testing.T) {
	full := errors.New("disk full")
	if err := WriteModel(failingWriter{full}, &Catalog()[0]); !errors.Is(err, full) {
		t.Errorf("a writer that fails gives %v", err)
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

var _ io.Writer = failingWriter{}
