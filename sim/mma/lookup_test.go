package mma

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

func TestFindArch(t *testing.T) {
	seen := map[string]string{}
	for _, a := range Archs {
		for _, name := range []string{a.Name, a.Chip} {
			got, ok := FindArch(name)
			if !ok || got != a {
				t.Errorf("%s is %v, want %s", name, got, a.Name)
			}
			if other, dup := seen[name]; dup {
				t.Errorf("%s is %s and %s", name, other, a.Name)
			}
			seen[name] = a.Name
		}
	}
	for alias, name := range archAliases {
		if got, ok := FindArch(alias); !ok || got.Name != name {
			t.Errorf("%s is %v, want %s", alias, got, name)
		}
		if other, dup := seen[alias]; dup {
			t.Errorf("the alias %s of %s is a name of %s", alias, name, other)
		}
	}
	for _, name := range []string{"", "hoppers", "sm", "gfx", "sim:hopper"} {
		if got, ok := FindArch(name); ok {
			t.Errorf("%q is %v", name, got)
		}
	}
}

// TestLookupExact finds every row by its name and by its alias.
func TestLookupExact(t *testing.T) {
	for _, i := range Catalog() {
		for _, name := range []string{i.Name, i.Alias} {
			if name == "" {
				continue
			}
			got, err := Lookup(i.Arch, name)
			if err != nil {
				t.Errorf("%s/%s: %v", i.Arch, name, err)
				continue
			}
			// A free shape is the name's own.
			if got.Name != i.Name || *got != i {
				t.Errorf("%s/%s: %s", i.Arch, name, got.FullName())
			}
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tc := range []struct{ arch, name, want string }{
		// aliases of architectures
		{"sm_90a", "mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"},
		{"h200", "mma.m16n8k16.f32.f16.f16.f32", "hopper/mma.m16n8k16.f32.f16.f16.f32"},
		{"gfx90a", "v_mfma_f32_32x32x8f16", "cdna2/v_mfma_f32_32x32x8f16"},
		// the other generation's spelling
		{"cdna3", "v_mfma_f32_16x16x16f16", "cdna3/v_mfma_f32_16x16x16_f16"},
		{"cdna3", "v_mfma_f32_32x32x8bf16_1k", "cdna3/v_mfma_f32_32x32x8_bf16"},
		{"cdna3", "v_mfma_f32_32x32x4f16", "cdna3/v_mfma_f32_32x32x4_2b_f16"},
		{"cdna3", "v_mfma_f32_4x4x1f32", "cdna3/v_mfma_f32_4x4x1_16b_f32"},
		{"cdna3", "v_mfma_f64_4x4x4f64", "cdna3/v_mfma_f64_4x4x4_4b_f64"},
		{"cdna3", "v_mfma_f32_16x16x8xf32", "cdna3/v_mfma_f32_16x16x8_xf32"},
		{"cdna2", "v_mfma_f32_16x16x16_f16", "cdna2/v_mfma_f32_16x16x16f16"},
		{"cdna2", "v_mfma_f32_32x32x4_2b_f16", "cdna2/v_mfma_f32_32x32x4f16"},
		{"cdna2", "v_mfma_f32_16x16x4_4b_bf16", "cdna2/v_mfma_f32_16x16x4bf16_1k"},
		{"cdna2", "v_mfma_f64_16x16x4_f64", "cdna2/v_mfma_f64_16x16x4f64"},
		{"cdna1", "v_mfma_f32_4x4x1_16b_f32", "cdna1/v_mfma_f32_4x4x1f32"},
		// modes are part of the name
		{"x86-64", "vdpbf16ps", "x86/vdpbf16ps"},
		{"amd64", "dpps", "x86/dpps"},
		{"x86", "dpps.rz.daz.ftz", "x86/dpps.rz.daz.ftz"},
		{"arm64", "bfdot", "arm/bfdot.ebf0"},
		{"aarch64", "bfmmla.ebf1.rz.fz", "arm/bfmmla.ebf1.rz.fz"},
		{"arm", "bfmlalb", "arm/bfmlalb"},
		{"arm", "fmmla.e4m3.e5m2.lscale7.osm", "arm/fmmla.e4m3.e5m2.lscale7.osm"},
		{"ppc64le", "xvbf16ger2pp", "power10/xvbf16ger2pp"},
		// unique prefixes; a complete name is not the prefix of another
		{"ampere", "mma.m16n8k4", "ampere/mma.m16n8k4.f32.tf32.tf32.f32"},
		{"turing", "mma.m16n8k8.f32", "turing/mma.m16n8k8.f32.f16.f16.f32"},
		{"cdna3", "v_mfma_f32_16x16x8", "cdna3/v_mfma_f32_16x16x8_xf32"},
		{"hopper", "wgmma.m64n8k16.f32.f16.f16", "hopper/wgmma.m64n8k16.f32.f16.f16"},
		{"hopper", "mma.m16n8k16.f64", "hopper/mma.m16n8k16.f64.f64.f64.f64"},
		{"hopper", "mma.m16n8k16.f64.f64.f64.f64.rn", "hopper/mma.m16n8k16.f64.f64.f64.f64"},
		{"hopper", "mma.m16n8k16.f64.f64.f64.f64.rm", "hopper/mma.m16n8k16.f64.f64.f64.f64.rm"},
		{"ampere", "mma.sp.m16n8k32.f32.bf", "ampere/mma.sp.m16n8k32.f32.bf16.bf16.f32"},
		{"hopper", "wgmma.m64n8k8", "hopper/wgmma.m64n8k8.f32.tf32.tf32"},
		{"hopper", "wgmma.m64n8k8.f32.tf32.tf32.", "hopper/wgmma.m64n8k8.f32.tf32.tf32.c0"},
		// free N, and M for tcgen05; also of a prefix
		{"hopper", "wgmma.m64n256k16.f32.f16.f16.c0", "hopper/wgmma.m64n256k16.f32.f16.f16.c0"},
		{"hopper", "wgmma.m64n96k8.f32.tf32.tf32.c", "hopper/wgmma.m64n96k8.f32.tf32.tf32.c0"},
		{"blackwell", "tcgen05.m64n16k8.kind::tf32.f32.tf32.tf32", "blackwell/tcgen05.m64n16k8.kind::tf32.f32.tf32.tf32"},
		{"blackwell", "tcgen05.m256n240k64.kind::mxf4.", "blackwell/tcgen05.m256n240k64.kind::mxf4.block32.f32.e2m1.e2m1.ue8m0"},
	} {
		got, err := Lookup(tc.arch, tc.name)
		if err != nil {
			t.Errorf("%s/%s: %v", tc.arch, tc.name, err)
		} else if got.FullName() != tc.want {
			t.Errorf("%s/%s: %s, want %s", tc.arch, tc.name, got.FullName(), tc.want)
		}
	}
}

func TestLookupErrors(t *testing.T) {
	archs := strings.Join(archNames(), ", ")
	for _, tc := range []struct{ arch, name, want string }{
		{"gtx", "x", `unknown architecture "gtx" (known: ` + archs + ")"},
		{"", "", `unknown architecture "" (known: ` + archs + ")"},
		{"volta", "", `volta has 3 instructions, of which one has to be named: mma.m8n8k4.f32.f16.f16.f32, mma.m8n8k4.f16.f16.f16.f16, mma.m8n8k4.f32.f16.f16.f16`},
		{"ampere", "mma.m16n8k16.f", `ampere: "mma.m16n8k16.f" is the beginning of 3 instructions: mma.m16n8k16.f32.f16.f16.f32, mma.m16n8k16.f16.f16.f16.f16, mma.m16n8k16.f32.bf16.bf16.f32`},
		{"cdna1", "v_mfma", `cdna1: "v_mfma" is the beginning of 15 instructions: v_mfma_f32_32x32x1f32, v_mfma_f32_16x16x1f32, v_mfma_f32_4x4x1f32, v_mfma_f32_32x32x2f32, ...`},
		{"volta", "mma.m8n8k4.f32.f16.f16.f23", `volta has no instruction "mma.m8n8k4.f32.f16.f16.f23"; nearest: mma.m8n8k4.f32.f16.f16.f32, mma.m8n8k4.f32.f16.f16.f16, mma.m8n8k4.f16.f16.f16.f16`},
		{"rtx-blackwell", "nvf4", `rtx-blackwell has no instruction "nvf4"; nearest: mma.m16n8k64.kind::mxf4nvf4.block32.f32.e2m1.e2m1.f32.ue8m0, mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue8m0, mma.m16n8k64.kind::mxf4nvf4.block16.f32.e2m1.e2m1.f32.ue4m3, mma.sp.m16n8k128.kind::mxf4nvf4.block32.f32.e2m1.e2m1.f32.ue8m0, ...`},
		{"ampere", "mma.m16n8k16.f32.f16.f16.f32.x", `ampere has no instruction "mma.m16n8k16.f32.f16.f16.f32.x"; nearest: mma.m16n8k16.f32.f16.f16.f32, mma.m16n8k8.f32.f16.f16.f32, mma.m16n8k16.f32.bf16.bf16.f32, mma.sp.m16n8k16.f32.f16.f16.f32, ...`},
		{"hopper", "wgmma.m64n12k16.f32.f16.f16", "wgmma.m64n8k16.f32.f16.f16: M is 64 and N is 8..256 step 8; m64n12 is not a shape"},
		{"hopper", "wgmma.m64n264k16.f32.f16.f16", "wgmma.m64n8k16.f32.f16.f16: M is 64 and N is 8..256 step 8; m64n264 is not a shape"},
		{"hopper", "wgmma.m128n8k16.f32.f16.f16", "wgmma.m64n8k16.f32.f16.f16: M is 64 and N is 8..256 step 8; m128n8 is not a shape"},
		{"hopper", "wgmma.m0n0k16.f32.f16.f16", `wgmma.m64n8k16.f32.f16.f16: M is 64 and N is 8..256 step 8; m0n0 is not a shape`},
		{"blackwell", "tcgen05.m32n8k16.kind::f16.f32.f16.f16", "tcgen05.m128n8k16.kind::f16.f32.f16.f16: M is 64..256 step 64 and N is 8..256 step 8; m32n8 is not a shape"},
	} {
		got, err := Lookup(tc.arch, tc.name)
		if err == nil {
			t.Errorf("%s/%s: found %s", tc.arch, tc.name, got.FullName())
		} else if err.Error() != tc.want {
			t.Errorf("%s/%s:\n got %s\nwant %s", tc.arch, tc.name, err, tc.want)
		}
	}
	if _, err := Search("nothing", nil, "x"); err == nil || err.Error() != "nothing: no instructions are known" {
		t.Errorf("no rows: %v", err)
	}
}

func TestExpand(t *testing.T) {
	for _, tc := range []struct{ pattern, want string }{
		{"", ""},
		{"x", "x"},
		{"a{b}c", "abc"},
		{"{a,b}x", "ax bx"},
		{"x{,.c0}", "x x.c0"},
		{"{a,b}.{c,d,e}", "a.c a.d a.e b.c b.d b.e"},
	} {
		if got := strings.Join(expand(tc.pattern), " "); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.pattern, got, tc.want)
		}
	}
}

// spelling writes an instruction's name from its formats and shape: the inverse
// of parseName, except for what no operand shows.
func spelling(i *Instruction) string {
	if strings.HasPrefix(i.Name, "v_") {
		amd := map[fp.ID]string{fp.FP32: "f32", fp.FP64: "f64", fp.FP16: "f16", fp.E4M3FNUZ: "fp8", fp.E5M2FNUZ: "bf8",
			fp.E4M3: "fp8", fp.E5M2: "bf8", fp.E2M3: "fp6", fp.E3M2: "bf6", fp.E2M1: "fp4"}
		word := func(id fp.ID) string {
			if w, ok := amd[id]; ok {
				return w
			}
			return id.String()
		}
		types, k := word(i.A), i.K
		if i.A.Get().Width == 1 {
			types += "_" + word(i.B)
		}
		if strings.Contains(i.Name, "mac_") { // A keeps one half
			k *= 2
		}
		if i.Scale != fp.None {
			types += fmt.Sprintf(" %s/%d", i.Scale, i.Block)
		}
		return fmt.Sprintf("%s_%dx%dx%d%s", word(i.D), i.M.Min, i.N.Min, k, types)
	}
	ptx := func(id fp.ID) string { return strings.TrimPrefix(strings.Replace(id.String(), "fp", "f", 1), "-") }
	form, _, _ := strings.Cut(i.Name, ".")
	m := i.M.Min
	if form == "tcgen05" {
		m = 128
	}
	k := i.K
	if strings.HasPrefix(i.Name, "mma.sp.") {
		form, k = "mma.sp", 2*k
	}
	s := fmt.Sprintf("%s.m%dn%dk%d", form, m, i.N.Min, k)
	if _, kind, ok := strings.Cut(i.Name, ".kind::"); ok {
		s += ".kind::" + strings.Split(kind, ".")[0]
	}
	if i.Scale != fp.None {
		s += fmt.Sprintf(".block%d", i.Block)
	}
	s += "." + ptx(i.D) + "." + ptx(i.A) + "." + ptx(i.B)
	switch {
	case strings.HasPrefix(form, "mma"), form == "wmma", form == "coopmat":
		s += "." + ptx(i.C)
	case i.C == fp.None:
		s += ".c0"
	}
	if i.Scale != fp.None {
		s += "." + ptx(i.Scale)
	}
	if i.A == fp.FP64 && i.Refuse == "" {
		s += map[fp.Mode]string{fp.RNE: "", fp.RZ: ".rz", fp.RD: ".rm", fp.RU: ".rp"}[i.Params.Acc.Mode]
	}
	return s
}

// TestParseName writes every name of the catalogue from what was read off it.
func TestParseName(t *testing.T) {
	strip := strings.NewReplacer("v_mfma_", "", "v_smfmac_", "", "v_wmma_", "", "v_swmmac_", "", "scale_", "",
		"_1k", "", "_2b", "", "_4b", "", "_16b", "", "_f8f6f4_", "_")
	for _, i := range Catalog() {
		if mnemonic, _ := i.Mnemonic(); mnemonic != "" || i.Conversion() {
			continue // of the table: see TestForms and TestConversions
		}
		name := strings.TrimSuffix(strings.NewReplacer(".and.popc", "", ".xor.popc", "").Replace(i.Name), ".satfinite")
		if strings.HasPrefix(name, "v_") && i.D.Integer() {
			continue // TestIntegerNames
		}
		if strings.HasPrefix(name, "v_") {
			name = strings.Replace(name, "v_dot2_f32_", "f32_1x1x2_", 1)
			d, rest, _ := strings.Cut(strip.Replace(name), "_")
			name = d + "_" + strings.Replace(rest, "_", "", 1)
			if strings.Contains(i.Name, "_scale_") {
				name += " ue8m0/32"
			}
		}
		if i.A == fp.FP64 && i.Refuse != "" { // nothing but the name shows the rounding
			name = strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, ".rz"), ".rm"), ".rp")
		}
		if got := spelling(&i); got != name {
			t.Errorf("%s was read as %s", i.FullName(), got)
		}
		if i.K < 1 || i.M.Min < 1 || i.N.Min < 1 {
			t.Errorf("%s: M %s, N %s, K %d", i.FullName(), i.M, i.N, i.K)
		}
	}
}

// TestIntegerNames reads names of AMD's instructions for integers.
func TestIntegerNames(t *testing.T) {
	for _, tc := range []struct {
		name    string
		k       int
		a, b, d fp.ID
	}{
		{"v_mfma_i32_32x32x4i8", 4, fp.S8, fp.S8, fp.S32},
		{"v_mfma_i32_16x16x4_4b_i8", 4, fp.S8, fp.S8, fp.S32},
		{"v_smfmac_i32_16x16x128_i8", 64, fp.S8, fp.S8, fp.S32},
		{"v_dot8_u32_u4", 8, fp.U4, fp.U4, fp.S32},
		{"v_dot8_u32_u4_clamp", 8, fp.U4, fp.U4, fp.U32},
		{"v_dot2_u32_u16_clamp", 2, fp.U16, fp.U16, fp.U32},
		{"v_dot4_i32_iu8_s8_u8_clamp", 4, fp.S8, fp.U8, fp.S32},
		{"v_swmmac_i32_16x16x64_iu4_u4_u4", 32, fp.U4, fp.U4, fp.S32},
	} {
		want := Formats{D: tc.d, A: tc.a, B: tc.b, C: tc.d}
		if i, err := parseName(tc.name, true); err != nil || i.K != tc.k || i.Formats != want || i.Name != tc.name {
			t.Errorf("%s: %+v, %v", tc.name, i, err)
		}
	}
}

func TestParseNameErrors(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"", `"" is not an instruction name`},
		{"mma.m16n8k16.f32.f16", `"mma.m16n8k16.f32.f16" is not an instruction name`},
		{"mma.16x8x16.f32.f16.f16.f32", `"mma.16x8x16.f32.f16.f16.f32": "16x8x16" is not a shape`},
		{"mma.m16n8k16.f32.f16.f16.f17", `"mma.m16n8k16.f32.f16.f16.f17": unknown format "f17"`},
		{"mma.m16n8k16.f32.f16.f16.f32.c0", `"mma.m16n8k16.f32.f16.f16.f32.c0": 4 formats`},
		{"mma.m16n8k16.f32.f16.f16", `"mma.m16n8k16.f32.f16.f16": 3 formats`},
		{"wgmma.m64n8k16.f32.f16.f16.f32", `"wgmma.m64n8k16.f32.f16.f16.f32": 4 formats`},
		{"mma.m16n8k64.block16.f32.e2m1.e2m1.f32.scale", `"mma.m16n8k64.block16.f32.e2m1.e2m1.f32.scale": unknown format "scale"`},
		{"v_mfma_f32_16x16_f16", `"v_mfma_f32_16x16_f16" is not an instruction name`},
		{"v_mfma_f32_16x16x16_f17", `"v_mfma_f32_16x16x16_f17": unknown format "f17"`},
		{"v_mfma_f32_16x16x32_fp8_fp9", `"v_mfma_f32_16x16x32_fp8_fp9": unknown format "fp9"`},
		{"v_mfma_f32_16x16x99999999999999999999_f16", `"v_mfma_f32_16x16x99999999999999999999_f16": strconv.Atoi: parsing "99999999999999999999": value out of range`},
		{"v_dot3_i32_i8", `"v_dot3_i32_i8" is not an instruction name`},
		{"v_dot2_f32_f17", `"v_dot2_f32_f17": unknown format "f17"`},
	} {
		if i, err := parseName(tc.name, true); err == nil || err.Error() != tc.want {
			t.Errorf("%q: %+v, error %v, want %s", tc.name, i, err, tc.want)
		}
	}
}

// TestAliases checks that no spelling stands for two instructions.
func TestAliases(t *testing.T) {
	owner := map[string]string{}
	for _, i := range Catalog() {
		for _, name := range []string{i.Name, i.Alias} {
			key := i.Arch + "/" + name
			if name == "" {
				continue
			}
			if other, dup := owner[key]; dup {
				t.Errorf("%s is %s and %s", key, other, i.Name)
			}
			owner[key] = i.Name
		}
		if mnemonic, _ := i.Mnemonic(); i.Alias == "" || mnemonic != "" { // a processor's alias is a word of its own
			continue
		}
		parsed, err := parseName(i.Alias, i.Arch != "cdna3")
		if err != nil || parsed.K != i.K || parsed.M != i.M || parsed.N != i.N || parsed.Formats != i.Formats {
			t.Errorf("%s: the alias %s is read as %+v, %v", i.FullName(), i.Alias, parsed, err)
		}
	}
}

// TestGFX942 checks that the 8-bit formats of CDNA3 are FNUZ, and that those of no other
// architecture are.
func TestGFX942(t *testing.T) {
	fnuz := map[fp.ID]bool{fp.E4M3FNUZ: true, fp.E5M2FNUZ: true}
	n := 0
	for _, i := range Catalog() {
		for _, id := range []fp.ID{i.A, i.B} {
			if i.Conversion() || i.D.Get().Integer() {
				continue
			}
			if fnuz[id] != (i.Arch == "cdna3" && id.Get().Width == 1) {
				t.Errorf("%s: operands in %s", i.FullName(), id)
			}
			if fnuz[id] {
				n++
			}
		}
	}
	if n != 32 { // dense and sparse, two shapes, four pairs of formats, two operands
		t.Errorf("%d FNUZ operands, want 32", n)
	}
	got, err := Lookup("mi300x", "v_mfma_f32_16x16x32_bf8_fp8")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Formats{A: fp.E5M2FNUZ, B: fp.E4M3FNUZ, C: fp.FP32, D: fp.FP32}, got.Formats); diff != "" {
		t.Error(diff)
	}
}

func TestRange(t *testing.T) {
	for _, tc := range []struct {
		r    Range
		in   []int
		out  []int
		text string
	}{
		{Range{16, 16, 1}, []int{16}, []int{0, 15, 17}, "16"},
		{Range{16, 16, 0}, []int{16}, []int{15, 17}, "16"},
		{Range{8, 256, 8}, []int{8, 16, 248, 256}, []int{0, 4, 12, 264}, "8..256 step 8"},
	} {
		for _, v := range tc.in {
			if !tc.r.Contains(v) {
				t.Errorf("%s does not contain %d", tc.r, v)
			}
		}
		for _, v := range tc.out {
			if tc.r.Contains(v) {
				t.Errorf("%s contains %d", tc.r, v)
			}
		}
		if tc.r.String() != tc.text {
			t.Errorf("%s, want %s", tc.r, tc.text)
		}
	}
}

func TestFacets(t *testing.T) {
	for f, want := range map[Facets]string{0: "-", FacetNaN: "nan code", FacetZero: "zero sign", FacetNaN | FacetZero: "nan code, zero sign"} {
		if got := f.String(); got != want {
			t.Errorf("%d: %s, want %s", f, got, want)
		}
	}
}
