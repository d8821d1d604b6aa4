package mma_test

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/vectors"
)

func TestReadVectors(t *testing.T) {
	const file = `# comment

T1 volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3c00 00000000 = 3f800000  # 1
 T2  hopper/wgmma.m64n256k16.f16.f16.f16.c0 3c00,3c00 3c00 - = nan
M1 blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0 38 38 00000000 sa=7f sb=80 = 40000000
C1 volta/mma.m8n8k4.f32.f16.f16.f32 0001,0002,0003,0004,0005 3c00 00000000 = 00000000`
	got, err := vectors.Read(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	type brief struct {
		ID, Inst, Dot string
		Elements      int
		Want          uint64
		Class         bool
		Line          int
	}
	var briefs []brief
	for _, v := range got {
		briefs = append(briefs, brief{v.ID, v.Inst.FullName(), mma.FormatDot(v.Inst.Formats, v.Dot), len(v.Dot.A), v.Want, v.AnyNaN, v.Line})
	}
	want := []brief{
		{"T1", "volta/mma.m8n8k4.f32.f16.f16.f32", "3c00 3c00 00000000", 4, 0x3f800000, false, 3},
		{"T2", "hopper/wgmma.m64n256k16.f16.f16.f16.c0", "3c00,3c00 3c00,0000 -", 16, 0x7e00, true, 4},
		{"M1", "blackwell/tcgen05.m128n8k32.kind::mxf8f6f4.block32.f32.e4m3.e4m3.ue8m0", "38 38 00000000 sa=7f sb=80", 32, 0x40000000, false, 5},
		{"C1", "volta/mma.m8n8k4.f32.f16.f16.f32", "0001,0002,0003,0004,0005 3c00,0000,0000,0000,0000 00000000", 8, 0, false, 6},
	}
	if diff := cmp.Diff(want, briefs); diff != "" {
		t.Error(diff)
	}
}

func TestReadVectorsErrors(t *testing.T) {
	const form = "not of the form: id arch/instruction a,.. b,.. c [sa=.. sb=..] = D"
	const good = "T1 volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3c00 00000000 = 3f800000\n"
	var names []string
	for _, a := range mma.Archs {
		names = append(names, a.Name)
	}
	for _, tc := range []struct{ file, want string }{
		{"T1", "line 1: " + form},
		{good + "T2 volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3c00 00000000 3f800000", "line 2: " + form},
		{good + "T2 volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3c00 00000000 3f800000 =", "line 2: " + form},
		{good + "T2 volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3c00 00000000 sa=00 = 3f800000", "line 2: " + form},
		{good + "T2 volta/mma.m8n8k4.f16 3c00 3c00 00000000 = 3f800000", "line 2: c: \"00000000\" is not a fp16 code of 4 hexadecimal digits"},
		{good + "T2 volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3c00 00000000 = 3f80", "line 2: d: \"3f80\" is not a fp32 code of 8 hexadecimal digits"},
		{good + "T2 volta/mma.m8n8k4.f32.f16.f16.f32 3c00 3c00 00000000 = NaN", "line 2: d: \"NaN\" is not a fp32 code of 8 hexadecimal digits"},
		{good + "T2 gtx/x 3c00 3c00 00000000 = 3f80", "line 2: unknown architecture \"gtx\" (known: " + strings.Join(names, ", ") + ")"},
		{good + "T2 rdna4/v_wmma_f32_16x16x16_f16 3c00 3c00 00000000 = 3f800000", "line 2: rdna4/v_wmma_f32_16x16x16_f16 has no model: the arithmetic of RDNA4 is unknown"},
	} {
		v, err := vectors.Read(strings.NewReader(tc.file))
		if err == nil {
			t.Errorf("%s: read as %+v", tc.file, v)
			continue
		}
		if err.Error() != tc.want {
			t.Errorf("%s:\n got %v\nwant %s", tc.file, err, tc.want)
		}
	}
	broken := errors.New("broken disk")
	if _, err := vectors.Read(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails gives %v", err)
	}
}
