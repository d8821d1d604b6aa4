package mma_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/vectors"
)

// FuzzReadModel reads anything as a model file: what is read and written is read as
// the same.
func FuzzReadModel(f *testing.F) {
	f.Add([]byte(`{"v": 1, "base": "cdna3/v_mfma_f32_32x32x8_f16", "set": {"join.align.mode": "rz"}}`))
	f.Add([]byte(`{"v": 1, "base": "cdna3/v_mfma_f32_32x32x8_f16", "Base": "x", "set": {"join.align.mode": "rz", "join.align.mode": "rn"}}`))
	f.Add([]byte(`{"v": 1, "name": "mine", "formats": {"a": "e2m1", "b": "e2m1", "c": "fp32", "d": "fp32", "scale": "ue8m0", "block": 4}, "k": 8, "params": {}}`))
	files, _ := filepath.Glob("../../devices/exec/testdata/verilator/*.json")
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	all := mma.Arithmetics()
	for i := range all {
		var b bytes.Buffer
		if err := mma.WriteModel(&b, &all[i]); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i, err := mma.ReadModel(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := mma.WriteModel(&b, i); err != nil {
			t.Fatal(err)
		}
		again, err := mma.ReadModel(b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v", b.Bytes(), err)
		}
		want := mma.Instruction{Arch: again.Arch, Name: i.Name, Formats: i.Formats, K: i.K, Params: i.Params}
		got := mma.Instruction{Arch: again.Arch, Name: again.Name, Formats: again.Formats, K: again.K, Params: again.Params}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s", d)
		}
	})
}

// FuzzParseDot reads anything as a line of eval, for an instruction of the catalogue:
// what is read and written is read as the same.
func FuzzParseDot(f *testing.F) {
	all := mma.Arithmetics()
	for n := range all {
		f.Add(n, true, mma.FormatDot(all[n].Formats, mma.NewDot(all[n].Formats, all[n].K)))
	}
	f.Add(0, false, "3c00,3c00 3c00,0c00 00000000")
	f.Add(0, true, "3c00 , 00000000 sa=7f sb=")
	f.Add(0, false, "3c00 0 -")
	f.Fuzz(func(t *testing.T, n int, chain bool, line string) {
		i := &all[uint(n)%uint(len(all))]
		d, err := mma.ParseDot(i.Formats, i.K, chain, strings.Fields(line))
		if err != nil {
			return
		}
		if len(d.A)%i.K != 0 || len(d.A) != len(d.B) || len(d.A) > i.K && !chain {
			t.Fatalf("%d and %d elements for K = %d", len(d.A), len(d.B), i.K)
		}
		text := mma.FormatDot(i.Formats, d)
		again, err := mma.ParseDot(i.Formats, len(d.A), false, strings.Fields(text))
		if err != nil || !again.Equal(d) {
			t.Errorf("%q is written as %q, which is read as %+v, %v", line, text, again, err)
		}
	})
}

// FuzzReadVectors reads anything as a list of vectors: each has operands of its
// instruction and a code of D.
func FuzzReadVectors(f *testing.F) {
	f.Add("a ampere/mma.m16n8k8.f32.f16.f16.f32 3c00 3c00 00000000 = 3f800000\n# comment\n\n")
	f.Add("b rtx-blackwell/mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3 02 02 00000000 sa=38,38,38,38 sb=38,38,38,38 = nan\n")
	f.Fuzz(func(t *testing.T, text string) {
		vs, err := vectors.Read(strings.NewReader(text))
		if err != nil {
			return
		}
		for _, v := range vs {
			line := mma.FormatDot(v.Inst.Formats, v.Dot)
			d, err := mma.ParseDot(v.Inst.Formats, len(v.Dot.A), false, strings.Fields(line))
			if err != nil || !d.Equal(v.Dot) || v.Want > v.Inst.D.Get().CodeMask() {
				t.Errorf("line %d: %s = %x, %v", v.Line, line, v.Want, err)
			}
		}
	})
}
