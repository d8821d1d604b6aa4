package mma

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/testdata/golden"
)

func TestCatalog(t *testing.T) {
	for _, d := range declared {
		for _, arch := range strings.Fields(d.archs) {
			if a, _ := FindArch(arch); a.Name != arch {
				t.Errorf("%s: unknown architecture %s", d.names, arch)
			}
		}
	}
	seen := map[string]bool{}
	for _, i := range Catalog() {
		if seen[i.FullName()] {
			t.Errorf("%s: listed twice", i.FullName())
		}
		seen[i.FullName()] = true
		if err := i.Formats.Validate(); err != nil {
			t.Errorf("%s: %v", i.FullName(), err)
		}
		if i.Refuse != "" {
			if i.Params != (Params{}) {
				t.Errorf("%s: refused, but has parameters", i.FullName())
			}
			continue
		}
		if i.Source == "" || i.Evidence == "" {
			t.Errorf("%s: no source or evidence", i.FullName())
		}
		if err := i.Params.Validate(i.Formats, i.K); err != nil {
			t.Errorf("%s: %v", i.FullName(), err)
		}
	}
}

// TestCatalogGolden has a row for each line of the catalogue files and each of its
// architectures: how many of its instructions have a model and how many are refused, and a
// hash of all that the catalogue has of them, so that a change of a pattern or of a
// constructor shows what it touches. To see what it changes there, compare what mmafuzz list
// instructions -v writes before and after.
func TestCatalogGolden(t *testing.T) {
	var s strings.Builder
	rows := make([]map[string][]Instruction, len(declared))
	for n := range declared {
		rows[n] = map[string][]Instruction{}
		declared[n].addRows(rows[n], declared[n].allNames())
	}
	for _, a := range Archs {
		for n, d := range declared {
			modelled, refused := 0, 0
			hash := sha256.New()
			for _, i := range rows[n][a.Name] {
				if i.Refuse == "" {
					modelled++
				} else {
					refused++
				}
				row, err := json.Marshal(i)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintln(hash, i.Params, i.Unknown, string(row))
			}
			if modelled+refused > 0 {
				fmt.Fprintf(&s, "%s/%s  %d modelled %d refused  %x\n", a.Name, strings.ReplaceAll(d.names, " ", "+"), modelled, refused, hash.Sum(nil)[:8])
			}
		}
	}
	golden.Rows(t, "testdata/catalog.golden", s.String())
}

// TestArithmetics checks that every program of the catalogue is in the list once
// for its formats, with the largest K.
func TestArithmetics(t *testing.T) {
	list := Arithmetics()
	for n, i := range list {
		if i.Refuse != "" || i.A != i.B || i.C == 0 {
			t.Errorf("%s is in the list", i.FullName())
		}
		for _, j := range list[:n] {
			if i.Params == j.Params && i.A == j.A && i.D == j.D && i.Scale == j.Scale {
				t.Errorf("%s is %s again", i.FullName(), j.FullName())
			}
		}
	}
	for _, i := range Catalog() {
		if i.Refuse != "" || i.A != i.B || i.C == 0 || i.D.Get().Integer() {
			continue
		}
		found := false
		for _, j := range list {
			if i.Params == j.Params && i.A == j.A && i.D == j.D && i.Scale == j.Scale {
				found = j.K >= i.K || isWMMA(i)
			}
		}
		if !found {
			t.Errorf("%s is not in the list with its K", i.FullName())
		}
	}
}

// TestDescribe names the elementary operations of the catalogue and of programs
// near to and far from one.
func TestDescribe(t *testing.T) {
	row := func(name string) Params {
		arch, name, _ := strings.Cut(name, "/")
		i, err := Lookup(arch, name)
		if err != nil {
			t.Fatal(err)
		}
		return i.Params
	}
	with := func(p Params, changes ...Change) Params {
		if err := p.Apply(changes); err != nil {
			t.Fatal(err)
		}
		return p
	}
	hopper := row("hopper/mma.m16n8k16.f32.f16.f16.f32")
	for _, tc := range []struct {
		p    Params
		want string
	}{
		{hopper, "t-fdpa(L=16, F=25, rz-fp32, e_zero=-133)"},
		{row("turing/mma.m16n8k8.f16.f16.f16.f16"), "t-fdpa(L=8, F=24, rne-fp16, e_zero=-20)"},
		{row("ada/mma.m16n8k32.f32.e4m3.e5m2.f32"), "t-fdpa(L=16, F=13, rz-e8m13, e_zero=-132)"},
		{row("hopper/mma.m16n8k16.f64"), "fma(rne-fp64) special.nan=ones"},
		{row("hopper/mma.m16n8k32.f16.e4m3.e4m3"), "split-hmma(F=25, rne-fp16)"},
		{row("blackwell/tcgen05.m128n8k64.kind::mxf4."), "gst-fdpa(L=64, G=16, F=35, rz-fp32, e_zero=-139)"},
		{row("ampere/mma.m8n8k4.f64.f64.f64.f64.rz"), "fma(rz-fp64) acc.over=ieee special.nan=ones"},
		{with(FMA(fp.FP64), Change{Path: "acc.emin", To: "none"}, Change{Path: "acc.emax", To: "none"}), "fma(rne-fp64) acc.emin=none acc.emax=none"},
		{with(FMA(fp.FP64), Change{Path: "acc.mode", To: "rz"}, Change{Path: "acc.emin", To: "none"}, Change{Path: "acc.emax", To: "none"},
			Change{Path: "special.nan", To: "ones"}, Change{Path: "special.tinysign", To: "false"}), "fma(rz-fp64) acc.emin=none acc.emax=none special.nan=ones special.tinysign=false"},
		{row("cdna1/v_mfma_f32_32x32x8f16"), "e-fdpa(L=4, rne-fp32)"},
		{row("cdna2/v_mfma_f32_32x32x4bf16"), "ftz-addmul(P=2)"},
		{row("cdna2/v_mfma_f64_4x4x4f64"), "fma(rne-fp64)"},
		{simdFMA(fp.FP32, 8, MergeHalves(8)), "simd-fma(lanes=8, merge=4-2-1, rne-fp32)"},
		{with(simdFMA(fp.FP32, 16, MergeHalves(16)), Change{Path: "out.frac", To: "7"}, Change{Path: "out.mode", To: "rne"}, Change{Path: "out.emin", To: "-126"}, Change{Path: "out.emax", To: "127"}),
			"simd-fma(lanes=16, merge=8-4-2-1, rne-fp32, rne-bf16)"},
		{with(simdFMA(fp.FP32, 4, 0), Change{Path: "tail", To: "true"}, Change{Path: "start", To: "zero"}), "simd-fma(lanes=4, merge=sequential, rne-fp32) tail=true start=zero"},
		{row("cdna3/v_mfma_f32_32x32x8_f16"), "tr-fdpa(L=8, F=24, F2=31)"},
		{row("cdna3/v_mfma_f32_32x32x16_fp8_bf8"), "gtr-fdpa(L=16, F=24, F2=31)"},
		{row("x86/vdpbf16ps"), "x86-fma(daz, ftz) order=swap-pairs"},
		{row("x86/vfmadd231ps"), "x86-fma"},
		{row("x86/vfmadd231pd.rz.ftz"), "x86-fma(rz, ftz)"},
		{row("x86/dpps"), "dpps"},
		{row("zen4/dpps.ru.daz.ftz"), "dpps(ru, daz, ftz)"},
		{row("x86/dppd.rd.daz"), "dppd(rd, daz)"},
		{row("x86/tdpbf16ps"), "amx"},
		{with(hopper, Change{Path: "acc.frac", To: "20"}), "t-fdpa(L=16, F=25, rz-20, e_zero=-133)"},
		{with(hopper, Change{Path: "order", To: "descending"}, Change{Path: "join.cmode", To: "rd"}),
			"t-fdpa(L=16, F=25, rz-fp32, e_zero=-133) order=descending join.cmode=rd"},
		{with(hopper, Change{Path: "order", To: "descending"}, Change{Path: "join.cmode", To: "rd"}, Change{Path: "in.sub", To: "zero"},
			Change{Path: "in.c", To: "zero"}, Change{Path: "in.acc", To: "zero"}), "custom"},
	} {
		if got := tc.p.String(); got != tc.want {
			t.Errorf("%s, want %s", got, tc.want)
		}
	}
}
