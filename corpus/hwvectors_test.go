package corpus

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Two rows of the file A100_fp16.
const hwText = `# gpu=A100 in=fp16 k=8 columns: a[k] b[k] c(binary32) d_f32(binary32) d_f16(binary32 value of the binary16 result)
3bd5,3c3e,b534,3df8,b9e8,356e,3c05,3f47 38ca,b935,36bf,34ec,bf9a,3797,be0b,bc83 3f5091bb bf794a57 bf794000
b43f,3206,b922,a4f9,316b,b9e7,3a7f,b563 3c29,39b5,3b81,abb3,3479,bb3a,b204,3cac 3f67e1fa 3ea9a5f7 3ea9a000
`

func zipped(t testing.TB, text string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// vectorText writes a vector as one line.
func vectorText(v hwVector) string {
	return v.Inst.FullName() + " " + mma.FormatDot(v.Inst.Formats, v.Dot) + " = " + mma.FormatCode(v.Inst.D, v.D)
}

func TestHWVectors(t *testing.T) {
	for _, tc := range []struct {
		name, file string
		want       []string
	}{
		{"both results", hwText, []string{
			"ampere/mma.m16n8k8.f32.f16.f16.f32 3bd5,3c3e,b534,3df8,b9e8,356e,3c05,3f47 38ca,b935,36bf,34ec,bf9a,3797,be0b,bc83 3f5091bb = bf794a57",
			"ampere/mma.m16n8k8.f16.f16.f16.f16 3bd5,3c3e,b534,3df8,b9e8,356e,3c05,3f47 38ca,b935,36bf,34ec,bf9a,3797,be0b,bc83 3a85 = bbca",
			"ampere/mma.m16n8k8.f32.f16.f16.f32 b43f,3206,b922,a4f9,316b,b9e7,3a7f,b563 3c29,39b5,3b81,abb3,3479,bb3a,b204,3cac 3f67e1fa = 3ea9a5f7",
			"ampere/mma.m16n8k8.f16.f16.f16.f16 b43f,3206,b922,a4f9,316b,b9e7,3a7f,b563 3c29,39b5,3b81,abb3,3479,bb3a,b204,3cac 3b3f = 354d",
		}},
		{"fewer elements than K", "# gpu=H100 in=tf32 k=4\n3f800000 3f800000 00000000 3f800000 -\n",
			[]string{"hopper/mma.m16n8k8.f32.tf32.tf32.f32 3f800000 3f800000 00000000 = 3f800000"}},
		{"c takes no part", "# in=e4m3 gpu=H100\n38 38 40000000 3f800000 -\n",
			[]string{"hopper/wgmma.m64n8k32.f32.e4m3.e4m3.c0 38 38 - = 3f800000"}},
		{"emulated FP16 results", "# in=e5m2 gpu=H100\n3c 3c 3f800000 3f800000 40000000\n", []string{
			"hopper/wgmma.m64n8k32.f32.e5m2.e5m2.c0 3c 3c - = 3f800000",
			"hopper/mma.m16n8k32.f16.e5m2.e5m2.f16 3c 3c 3c00 = 4000"}},
		{"results that are no numbers", "# gpu=V100 in=fp16\n7c00 0000 ff800000 7fffffff 7fffffff\n7c00 3c00 7f800000 7f800000 7f800000\n", []string{
			"volta/mma.m8n8k4.f32.f16.f16.f32 7c00 0000 ff800000 = 7fffffff",
			"volta/mma.m8n8k4.f16.f16.f16.f16 7c00 0000 fc00 = 7fff",
			"volta/mma.m8n8k4.f32.f16.f16.f32 7c00 3c00 7f800000 = 7f800000",
			"volta/mma.m8n8k4.f16.f16.f16.f16 7c00 3c00 7c00 = 7c00"}},
		{"no rows", "# gpu=A100 in=bf16\n", nil},
	} {
		for zip, data := range map[string][]byte{"": []byte(tc.file), ", compressed": zipped(t, tc.file)} {
			vs, err := hwVectors(bytes.NewReader(data))
			if err != nil {
				t.Errorf("%s%s: %v", tc.name, zip, err)
				continue
			}
			var got []string
			for _, v := range vs {
				got = append(got, vectorText(v))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s%s:\n%s", tc.name, zip, diff)
			}
		}
	}
}

// TestHWRules checks that every rule's instructions are in the catalogue and
// have the file's format.
func TestHWRules(t *testing.T) {
	for _, r := range hwvectorRules {
		for _, name := range []string{r.d32, r.d16} {
			if name == "" {
				continue
			}
			i, err := mma.Lookup(r.arch, name)
			if err != nil {
				t.Error(err)
				continue
			}
			if i.Name != name || i.A.String() != r.in || i.B.String() != r.in || i.Refuse != "" {
				t.Errorf("%s in %s: %s", r.gpu, r.in, i.FullName())
			}
		}
	}
}

func TestHWVectorsErrors(t *testing.T) {
	const head = "# gpu=A100 in=fp16\n"
	const row = "3c00 3c00 00000000 3f800000 3f800000\n"
	for _, tc := range []struct{ name, file, want string }{
		{"empty", "", "the file is empty"},
		{"no header", row, `the first line does not name a GPU and a format: "3c00 3c00 00000000 3f800000 3f800000"`},
		{"no format", "# gpu=A100\n", `the first line does not name a GPU and a format: "# gpu=A100"`},
		{"unknown GPU", "# gpu=K80 in=fp16\n" + row, "it is not known which instructions results of fp16 on K80 come from"},
		{"unknown format", "# gpu=V100 in=bf16\n" + row, "it is not known which instructions results of bf16 on V100 come from"},
		{"blank line", head + row + "\n", "line 3: 0 columns, not 5"},
		{"four columns", head + row + "3c00 3c00 00000000 3f800000\n", "line 3: 4 columns, not 5"},
		{"six columns", head + "3c00 3c00 00000000 3f800000 3f800000 -\n", "line 2: 6 columns, not 5"},
		{"a", head + "3c0g 3c00 00000000 3f800000 -\n", `line 2: a: "3c0g" is not a hexadecimal code of up to 32 bits`},
		{"b", head + "3c00 3c00, 00000000 3f800000 -\n", `line 2: b: "" is not a hexadecimal code of up to 32 bits`},
		{"c", head + "3c00 3c00 - 3f800000 -\n", `line 2: c: "-" is not a hexadecimal code of up to 32 bits`},
		{"d32", head + "3c00 3c00 00000000 1.0 -\n", `line 2: d_f32: "1.0" is not a hexadecimal code of up to 32 bits`},
		{"d16", head + "3c00 3c00 00000000 3f800000 13f800000\n", `line 2: d_f16: "13f800000" is not a hexadecimal code of up to 32 bits`},
		{"d16 that is none", head + "3c00 3c00 00000000 3f800000 3f800001\n", "line 2: d_f16: 3f800001 is not the value of an FP16 number"},
		{"lengths", head + row + "3c00,3c00 3c00 00000000 3f800000 -\n", "line 3: 2 elements of a, 1 of b"},
		{"too many elements", head + strings.Replace(row, "3c00 3c00", strings.Repeat("0,", 8)+"0 "+strings.Repeat("0,", 8)+"0", 1),
			"line 2: 9 elements, but mma.m16n8k8.f32.f16.f16.f32 has K = 8 (--chain executes it repeatedly)"},
		{"codes of another format", head + row + "13c00 3c00 00000000 3f800000 -\n", "line 3: 13c00 is not a fp16 code: the file is of another format"},
		{"codes of another format in b", head + "3c00 13c00 00000000 3f800000 -\n", "line 2: 13c00 is not a fp16 code: the file is of another format"},
		{"long line", head + row + strings.Repeat("0", 100_000), "line 3: 1 columns, not 5"},
		{"endless line", head + row + strings.Repeat("0", 1<<21), "line 3: longer than 1 MiB: this is no row of recorded results"},
		{"endless head", "# gpu=A100 " + strings.Repeat("x", 1<<21), "line 1: longer than 1 MiB: this is no row of recorded results"},
	} {
		vs, err := hwVectors(strings.NewReader(tc.file))
		if err == nil {
			t.Errorf("%s: read as %+v", tc.name, vs)
		} else if err.Error() != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.name, err, tc.want)
		}
	}
	torn := zipped(t, hwText)
	if _, err := hwVectors(bytes.NewReader(torn[:len(torn)-9])); err == nil {
		t.Error("a compressed file that was cut short is accepted")
	}
	broken := errors.New("broken disk")
	if _, err := hwVectors(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("a reader that fails gives %v", err)
	}
}

// TestHWRowDot takes rows to instructions other than the file's own, as eval
// does.
func TestHWRowDot(t *testing.T) {
	row := &HWRow{A: []uint64{0x3c00, 0x4000, 0x4200, 0x4400, 0x4500}, B: []uint64{1, 2, 3, 4, 5}, C: 0x3f801000}
	for _, tc := range []struct {
		arch, name string
		chain      bool
		want       string // or the error
	}{
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", true, "3c00,4000,4200,4400,4500 0001,0002,0003,0004,0005 3f801000"},
		{"volta", "mma.m8n8k4.f32.f16.f16.f32", false, "5 elements, but mma.m8n8k4.f32.f16.f16.f32 has K = 4 (--chain executes it repeatedly)"},
		{"ampere", "mma.m16n8k8.f16.f16.f16.f16", false, "3c00,4000,4200,4400,4500 0001,0002,0003,0004,0005 3c00"}, // half way: to even
		{"hopper", "wgmma.m64n8k16.f32.f16.f16.c0", false, "3c00,4000,4200,4400,4500 0001,0002,0003,0004,0005 -"},
		{"hopper", "mma.m8n8k4.f64", true, "the file has no C for fp64"},
		{"ada", "mma.m16n8k16.f32.e4m3.e4m3", false, "3c00 is not a e4m3 code: the file is of another format"},
	} {
		i, err := mma.Lookup(tc.arch, tc.name)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if d, err := row.Dot(i, tc.chain); err != nil {
			got = err.Error()
		} else {
			got = mma.FormatDot(i.Formats, d)
		}
		if got != tc.want {
			t.Errorf("%s/%s: %s, want %s", tc.arch, tc.name, got, tc.want)
		}
	}
}

func TestNarrow(t *testing.T) {
	for _, tc := range []struct{ in, want uint64 }{
		{0, 0}, {0x80000000, 0x8000},
		{0x3f800000, 0x3c00}, {0x3f801000, 0x3c00}, {0x3f801001, 0x3c01}, {0x3f803000, 0x3c02}, // ties to even
		{0x477fefff, 0x7bff}, {0x477ff000, 0x7c00}, {0xc77ff000, 0xfc00}, // overflow from 65520 on
		{0x33800000, 0x0001}, {0x33000000, 0x0000}, {0x33000001, 0x0001}, {0xb3000000, 0x8000}, // 2^-24, 2^-25
		{0x00000001, 0x0000},
		{0x7f800000, 0x7c00}, {0xff800000, 0xfc00}, {0x7fffffff, 0x7fff}, {0xff800001, 0xfe00}, {0x7fc02000, 0x7e01},
	} {
		if got := narrow(tc.in); got != tc.want {
			t.Errorf("%08x: %04x, want %04x", tc.in, got, tc.want)
		}
	}
	for code := range uint64(1 << 16) {
		if code&0x7c00 == 0x7c00 && code&0x3ff != 0 {
			continue // NaN
		}
		if got := narrow(widen(code)); got != code {
			t.Fatalf("%04x comes back as %04x", code, got)
		}
	}
}
