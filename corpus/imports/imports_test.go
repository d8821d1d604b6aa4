package imports

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/vectors"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// npyFile is a file of NumPy with small integers, or codes for V.
func npyFile(descr, shape string, elements ...int) string {
	order := binary.ByteOrder(binary.LittleEndian)
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	fortran := "False"
	if name, is := strings.CutSuffix(descr, " fortran"); is {
		descr, fortran = name, "True"
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }", descr, fortran, shape)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), 0)
	b = append(b, header...)
	for _, e := range elements {
		code := uint64(e)
		if descr[1] == 'f' {
			code = map[byte]fp.ID{'2': fp.FP16, '4': fp.FP32, '8': fp.FP64}[descr[2]].Get().FromFloat64(float64(e))
		}
		full := make([]byte, 8)
		if order == binary.BigEndian {
			order.PutUint64(full, code)
			b = append(b, full[8-(descr[2]-'0'):]...)
		} else {
			order.PutUint64(full, code)
			b = append(b, full[:descr[2]-'0']...)
		}
	}
	return string(b)
}

// npzFile is an archive of files of NumPy, by name and contents.
func npzFile(files ...string) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		w, _ := z.Create(files[i] + ".npy") // a bytes.Buffer has no errors
		_, _ = w.Write([]byte(files[i+1]))
	}
	_ = z.Close()
	return b.String()
}

// damaged is an archive of an array whose contents do not have the CRC-32 that it gives.
func damaged(method uint16) string {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, _ := z.CreateHeader(&zip.FileHeader{Name: "a.npy", Method: method})
	body := npyFile("<f2", "2", 1, 2)
	_, _ = w.Write([]byte(body))
	_ = z.Close()
	crc := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE([]byte(body)))
	return strings.ReplaceAll(b.String(), string(crc), "\x01\x02\x03\x04")
}

// lines are the dot products in codes, with their results.
func (w *Imported) lines() (all []string) {
	f, width := w.batch.Formats, w.batch.D.Width()
	d := mma.NewDot(f, w.batch.K)
	for i := range w.batch.Dots() {
		if w.uncoded == nil || !w.uncoded[i] {
			w.batch.Get(i, d)
			all = append(all, mma.FormatDot(f, d)+" = "+mma.FormatCode(f.D, mma.Load(w.d, width, i)))
		}
	}
	return all
}

// exact says which results are the exact ones.
func exact(in *mma.Batch, d []byte) (n int, err error) {
	dot := mma.NewDot(in.Formats, in.K)
	for i := range in.Dots() {
		in.Get(i, dot)
		sum := 0.0
		for k := range dot.A {
			sum += in.Formats.A.Get().Float64(dot.A[k]) * in.Formats.B.Get().Float64(dot.B[k])
		}
		if in.Formats.D.Get().Float64(mma.Load(d, in.D.Width(), i)) == sum {
			n++
		}
	}
	return n, nil
}

// The matrices are A = 1 2, 3 4 and B = 5 6, 7 8, with D = 19 22, 43 50.
var (
	square = []string{"A.npy", npyFile("<f2", "2, 2", 1, 2, 3, 4), "B.npy", npyFile("<f2", "2, 2", 5, 6, 7, 8), "D.npy", npyFile("<f4", "2, 2", 19, 22, 43, 50)}
	// products are the dot products of these.
	products = []string{"3c00,4000 4500,4700 - = 41980000", "3c00,4000 4600,4800 - = 41b00000", "4200,4400 4500,4700 - = 422c0000", "4200,4400 4600,4800 - = 42480000"}
	half     = "fp16,fp16,none,fp32"
)

// TestRead reads files of every kind.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string // names and contents
		o     Options  // without Files: all
		want  []string // nil: the error that follows, with its hint
		fails string
	}{
		{"three .npy files, of which the results decide the layout", square, Options{Formats: half, Right: exact}, products, ""},
		{"the same without the instruction", square, Options{}, nil,
			"the files can be read in 4 ways: --layout mk,kn,mn, or --layout mk,nk,mn, or --layout km,kn,mn, or --layout km,nk,mn: add the flags of one of them; with --target T --inst I the results decide"},
		{"a layout that is given", square, Options{Layout: "mk,kn,mn"}, products, ""},
		{"results that decide nothing", square, Options{Right: func(*mma.Batch, []byte) (int, error) { return 1, nil }}, nil, "does not decide among 4 ways to read the files: --layout mk,kn,mn (right in 1 of 4), or"},
		{"big-endian, Fortran order, B's columns as rows", []string{"x_a.npy", npyFile(">f2 fortran", "2, 2", 1, 3, 2, 4), "b.npy", npyFile("<f2", "2, 2", 5, 7, 6, 8), "d.npy", npyFile(">f4", "2, 2", 19, 22, 43, 50)},
			Options{Layout: "mk,nk,mn"}, products, ""},
		{"an archive, with C and dot products in rows", []string{"x.npz", npzFile("A", npyFile("<f2", "2, 3", 1, 2, 3, 4, 5, 6), "B", npyFile("<f2", "2, 3", 1, 1, 1, 2, 2, 2), "C", npyFile("<f4", "2", 1, 2), "D", npyFile("<f4", "2, 1", 7, 32), "note", "")},
			Options{}, []string{"3c00,4000,4200 3c00,3c00,3c00 3f800000 = 40e00000", "4400,4500,4600 4000,4000,4000 40000000 = 42000000"}, ""},
		{"an array of an archive under another name", []string{"x.npz", npzFile("left", npyFile("<f2", "2", 1, 2), "right", npyFile("<f2", "2", 5, 7), "out", npyFile("<f4", "", 19))},
			Options{Files: []string{"a=x.npz:left", "b=x.npz:right", "d=x.npz:out"}}, products[:1], ""},
		{"flat arrays", []string{"a.npy", npyFile("<f2", "8", 1, 2, 1, 2, 3, 4, 3, 4), "b.npy", npyFile("<f2", "8", 5, 7, 6, 8, 5, 7, 6, 8), "d.npy", npyFile("<f4", "4", 19, 22, 43, 50)}, Options{}, products, ""},
		{"types of ml_dtypes: bfloat16 is the only one of 2 bytes", []string{"a.npy", npyFile("<V2", "1", 0x3f80), "b.npy", npyFile("<V2", "1", 0x4000), "d.npy", npyFile("<f4", "1", 2)}, Options{}, []string{"3f80 4000 - = 40000000"}, ""},
		{"of 1 byte there are many", []string{"a.npy", npyFile("|V1", "1", 0x38), "b.npy", npyFile("|V1", "1", 0x40), "d.npy", npyFile("<f4", "1", 2)}, Options{}, nil,
			"a.npy does not say in which format A is: --formats ?,?,none,fp32 with formats in place of ?"},
		{"which a flag names", []string{"a.npy", npyFile("|V1", "1", 0x38), "b.npy", npyFile("|u1", "1", 0x40), "d.npy", npyFile("<f4", "1", 2)}, Options{Formats: "e4m3,e4m3,none,fp32"}, []string{"38 40 - = 40000000"}, ""},
		{"integers", []string{"a.npy", npyFile("|u1", "2", 255, 1), "b.npy", npyFile("|i1", "2", -1, 2), "d.npy", npyFile("<i4", "1", -253)}, Options{}, []string{"ff,01 ff,02 - = ffffff03"}, ""},
		{"integers of 8 bytes", []string{"a.npy", npyFile("<i8", "2", -2, 1), "b.npy", npyFile("<i8", "2", 3, 2), "d.npy", npyFile("<i8", "1", -4)}, Options{Formats: "s8,s8,none,s32"}, []string{"fe,01 03,02 - = fffffffc"}, ""},
		{"an integer out of range", []string{"a.npy", npyFile("<i8", "1", 128), "b.npy", npyFile("<i8", "1", 3), "d.npy", npyFile("<i8", "1", 4)}, Options{Formats: "s8,s8,none,s32"}, nil, "A: a.npy, element 0: 128 is no integer of s8"},
		{"the smallest integers as numbers of FP32", []string{"a.npy", npyFile("<f4", "1", -128), "b.npy", npyFile("<f4", "1", 127), "d.npy", npyFile("<f4", "1", math.MinInt32)}, Options{Formats: "s8,s8,none,s32"}, []string{"80 7f - = 80000000"}, ""},
		{"of 4 bits", []string{"a.npy", npyFile("<f2", "1", -8), "b.npy", npyFile("<f8", "1", 7), "d.npy", npyFile("<f4", "1", -56)}, Options{Formats: "s4,s4,none,s32"}, []string{"08 07 - = ffffffc8"}, ""},
		{"one less as a number of FP32", []string{"a.npy", npyFile("<f4", "1", -129), "b.npy", npyFile("<f4", "1", 1), "d.npy", npyFile("<f4", "1", 1)}, Options{Formats: "s8,s8,none,s32"}, nil, "A: a.npy, element 0: -129 is no integer of s8"},
		{"FP16 numbers in FP32", []string{"a.npy", npyFile("<f4", "1", 3), "b.npy", npyFile("<f4", "1", 3), "d.npy", npyFile("<f4", "1", 9)}, Options{Formats: half}, []string{"4200 4200 - = 41100000"}, ""},
		{"others in FP32", []string{"a.npy", npyFile("<f4", "1", 2049), "b.npy", npyFile("<f4", "1", 3), "d.npy", npyFile("<f4", "1", 9)}, Options{Formats: half}, nil, "A: a.npy, element 0: 2049 is no fp16 number"},
		{"a conversion", []string{"a.npy", npyFile("<f4", "2, 1", 1, 2), "d.npy", npyFile("<f2", "2, 1", 1, 2)}, Options{}, []string{"3f800000 00 - = 3c00", "40000000 00 - = 4000"}, ""},
		{"filled up to K", []string{"x.csv", "a,b,d\n1 2,5 7,19\n"}, Options{Values: "numbers", Instruction: lookup("ampere", "mma.m16n8k8.f32.f16.f16.f32")},
			[]string{"3c00,4000 4500,4700 00000000 = 41980000"}, ""},
		{"CSV with names and hexadecimal codes", []string{"x.csv", "\ufeffid,a0,a1,b0,b1,d\r\nx,3c00,4000,4500,4700,41980000\r\ny,3c00,4000,4600,4800,41b00000\r\n"}, Options{Formats: half}, products[:2], ""},
		{"columns in another order", []string{"x.csv", "a1,a0,b[0],b[1],d\n2,1,5,7,19\n"}, Options{Formats: half, Values: "numbers"}, products[:1], ""},
		{"names sorted as text, from 1 on", []string{"x.csv", "a1,a10,a2,a3,a4,a5,a6,a7,a8,a9,b1,b2,b3,b4,b5,b6,b7,b8,b9,b10,d\n1,0,2,0,0,0,0,0,0,0,5,7,1,1,1,1,1,1,1,1,19\n"}, Options{Formats: half, Values: "numbers"},
			[]string{"3c00,4000,0000,0000,0000,0000,0000,0000,0000,0000 4500,4700,3c00,3c00,3c00,3c00,3c00,3c00,3c00,3c00 - = 41980000"}, ""},
		{"a gap in the names", []string{"x.csv", "a0,a2,b0,b1,d\n1,2,5,7,19\n"}, Options{Formats: half}, nil, `the columns of A should be numbered from 0 on without a gap, each number once: after 1 of them comes "a2": correct the names; --columns`},
		{"a name twice", []string{"x.csv", "a0,a1,b0,b0,d\n1,2,5,7,19\n"}, Options{Formats: half}, nil, `the columns of B should be numbered from 0 on without a gap, each number once: after 1 of them comes "b0"`},
		{"a name without a number twice", []string{"x.csv", "a,b,d,expected\n1,2,2,2\n"}, Options{Formats: half}, nil, `after 0 of them comes "d"`},
		{"other names with a flag", []string{"x.csv", "a0,a2,b0,b0,d\n1,2,5,7,19\n"}, Options{Formats: half, Values: "numbers", Columns: "a*2,b*2,d"}, products[:1], ""},
		{"CSV without names", []string{"x.csv", "1.5;2;3\n"}, Options{Formats: half, Columns: "a,b,d"}, []string{"3e00 4000 - = 40400000"}, ""},
		{"CSV without names or a flag", []string{"x.csv", "1.5;2;3\n"}, Options{Formats: half}, nil, "x.csv: its 3 columns do not say which operands they are: --columns a*8,b*8,c,d says it"},
		{"rows of different lengths", []string{"x.csv", "a,b,d\n1 2,3 4,5\n1,2,3\n"}, Options{Formats: half}, nil, "x.csv: line 3 has 1 elements where others have 2"},
		{"JSON lines", []string{"x.jsonl", `{"a": [1.0, 2], "b": [5, 7], "d": 19, "id": "x"}` + "\n" + `{"b": [6, 8], "a": [1, 2.0], "d": 22}`}, Options{Formats: half}, products[:2], ""},
		{"JSON that is numbers or codes", []string{"x.json", `[{"a": 1, "b": 5, "d": 19}]`}, Options{Formats: half}, nil, "the files can be read in 2 ways: --layout tk,tk,t --values numbers, or --layout tk,tk,t --values codes"},
		{"which the results decide", []string{"x.json", `[{"a": 15360, "b": 17664, "d": 1084227584}]`}, Options{Formats: half, Right: exact}, []string{"3c00 4500 - = 40a00000"}, ""},
		{"JSON that lacks a field", []string{"x.json", `{"a": 1, "b": 5, "d": 19}{"a": 1, "d": 2}`}, Options{Formats: half}, nil, "x.json: object 2 lacks B, which object 1 has"},
		{"JSON with a NaN", []string{"x.json", `{"a": NaN}`}, Options{Formats: half}, nil, `NaN and infinities are written "nan" and "inf"`},
		{"a NaN without a code", []string{"x.json", `{"a": 1.5, "b": 2, "d": "nan"}{"a": 1.5, "b": 2, "d": 3}`}, Options{Formats: half}, []string{"3e00 4000 - = 40400000"}, ""},
		{"TestFloat's f16_mulAdd", []string{"mulAdd", "3C00 4000 4200 4500 00\n87FF E850 4FFE 4F0E 01\n"}, Options{Formats: "fp16,fp16,fp16,fp16"}, []string{"3c00 4000 4200 = 4500", "87ff e850 4ffe = 4f0e"}, ""},
		{"JSON that lacks a field in the middle", []string{"x.json", `{"a": 1, "b": 5, "d": 19}{"a": 1, "b": 2}{"a": 1, "b": 2, "d": 2}`}, Options{Formats: half}, nil, "x.json: object 2 lacks D, which object 3 has"},
		{"JSON that is cut short", []string{"x.json", `{"a": 1, "b": 5, "d": 19}{"a":`}, Options{Formats: half}, nil, "x.json: after 1 objects: the JSON is cut short"},
		{"JSON with a NaN", []string{"x.json", `{"a": 1, "b": 5, "d": NaN}`}, Options{Formats: half}, nil, "NaN and infinities are written \"nan\""},
		{"TestFloat's flags", []string{"mulAdd", "3C00 4000 4200 4500 00\n87FF E850 4FFE 4F0E 01\n"}, Options{Formats: "fp16,fp16,fp16,fp16-flags-riscv", Columns: "a,b,c,-,d"}, []string{"3c00 4000 4200 = 00", "87ff e850 4ffe = 01"}, ""},
		{"TestFloat's f16_mul", []string{"mul", "3C00 4000 4000 00\n"}, Options{Formats: "fp16,fp16,none,fp16"}, nil, "mul: TestFloat's lines do not say of which operation of two operands they are: --columns a,b,d,- if it is that of products"},
		{"TestFloat's f16_mul with its columns", []string{"mul", "3C00 4000 4000 00\n"}, Options{Formats: "fp16,fp16,none,fp16", Columns: "a,b,d,-"}, []string{"3c00 4000 - = 4000"}, ""},
		{"lines as eval reads them, with the results", []string{"x.txt", "# a comment\n3c00,4000 4500,4700 00000000 = 41980000\n"}, Options{Formats: "fp16,fp16,fp32,fp32"}, []string{strings.Replace(products[0], "-", "00000000", 1)}, ""},
		{"matrices of text", []string{"a.txt", "1.0e+00 2.0\n3 4\n", "b.txt", "5 6\n7 8\n", "d.txt", "19 22\n43 50\n"}, Options{Formats: half, Layout: "mk,kn,mn"}, products, ""},
		{"$readmemh, the first element lowest", []string{"x.hex", "// a comment\n@0 4000_3c00__4700_4500_41980000 /* and\nanother */ 40003c004800460041b00000\n"}, Options{Formats: half, Columns: "a*2,b*2,d"}, products[:2], ""},
		{"$readmemh without columns", []string{"x.hex", "00\n"}, Options{Formats: half}, nil, "it does not say which operands the words are: --columns a*8,b*8,c,d says what a word consists of"},
		{"$readmemh with files of elements", []string{"a.mem", "3c00 4000 3c00 4000", "b.mem", "4500\n4700\n4600\n4800\n", "d.mem", "41980000 41b00000"}, Options{Formats: half}, products[:2], ""},
		{"$readmemh with a gap", []string{"a.hex", "3c00\n@8 3c00"}, Options{Formats: half}, nil, `a.hex: line 2: "@8", but 1 words stand before it: gaps are not read`},
		{"$readmemh with an unknown digit", []string{"a.hex", "3cx0"}, Options{Formats: half}, nil, `line 1: "3cx0" has other than hexadecimal digits`},
		{"shapes that fit nothing", []string{"a.npy", npyFile("<f2", "2, 1", 1, 2), "b.npy", npyFile("<f2", "3, 1", 1, 2, 3), "d.npy", npyFile("<f4", "5", 1, 2, 3, 4, 5)}, Options{}, nil, "the shapes A [2 1], B [3 1], D [5] fit no layout of tk,tk,t"},
		{"no results", []string{"a.npy", npyFile("<f2", "1", 1)}, Options{}, nil, "there is no D in a.npy: d=FILE names the file that has it"},
		{"a file of no operand", []string{"x.npy", npyFile("<f2", "1", 1)}, Options{}, nil, "x.npy: the name does not say which operand it is: a=x.npy, if it is A"},
		{"an archive without operands", []string{"x.npz", npzFile("left", npyFile("<f2", "1", 1))}, Options{}, nil, "x.npz: no array has the name of an operand; there are left: a=x.npz:NAME, if NAME is A"},
		{"an operand twice", []string{"a.npy", npyFile("<f2", "1", 1), "x.json", `{"a": 1}`}, Options{}, nil, "a.npy and x.json both have A"},
		{"a damaged archive", []string{"x.npz", npzFile("a", "")[:40]}, Options{}, nil, "x.npz: the archive is damaged"},
		{"a stored array of a wrong CRC-32", []string{"x.npz", damaged(zip.Store)}, Options{}, nil, "x.npz: a.npy: its CRC-32 is not that of its contents: the archive is damaged"},
		{"a compressed array of a wrong CRC-32", []string{"x.npz", damaged(zip.Deflate)}, Options{}, nil, "x.npz: a.npy: its CRC-32 is not that of its contents: the archive is damaged"},
		{"a file that is cut short", []string{"a.npy", strings.TrimSuffix(npyFile("<f2", "2", 1, 2), "@")}, Options{}, nil, "a.npy: 2 elements of 2 bytes take 4 bytes, but there are"},
		{"a recording", []string{"x.rec", "mmafuzz recording 1\n"}, Options{}, nil, "x.rec: it is a recording: mmafuzz run --a replay:FILE"},
		{"an input of go test -fuzz", []string{"x", "go test fuzz v1\n[]byte(\"\")\n"}, Options{}, nil, "mmafuzz corpus import compares two units on it"},
		{"a file of another kind", []string{"x", "\x7fELF\x00"}, Options{}, nil, "x: it is of no kind that is known"},
		{"bad flags", square, Options{Formats: "fp16"}, nil, "--formats has 1 formats"},
		{"bad values", square, Options{Values: "oct"}, nil, `--values is "oct", not numbers, hex, codes`},
		{"a bad layout", square, Options{Layout: "mk,kn,mm"}, nil, `--layout mk,kn,mm: "mm" has other letters than tmn, or one twice`},
		{"bad columns", []string{"x.csv", "1,2,3\n"}, Options{Formats: half, Columns: "a,q"}, nil, `--columns: "q" is neither an operand`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			for i := 0; i < len(c.files); i += 2 {
				if err := os.WriteFile(c.files[i], []byte(c.files[i+1]), 0o666); err != nil {
					t.Fatal(err)
				}
				if len(c.o.Files) <= i/2 {
					c.o.Files = append(c.o.Files, c.files[i])
				}
			}
			got, err := Read(c.o)
			if c.want == nil {
				if err == nil || !strings.Contains(err.Error()+": "+hint.Of(err), c.fails) {
					t.Fatalf("%v: %s\nwant %s", err, hint.Of(err), c.fails)
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, hint.Of(err))
			}
			if d := cmp.Diff(c.want, got.lines()); d != "" || got.Dots != len(c.want) {
				t.Errorf("%d dot products: %s", got.Dots, d)
			}
			holds(t, got)
		})
	}
}

// holds checks that a recording of what was imported holds it.
func holds(t *testing.T, w *Imported) {
	t.Helper()
	var b bytes.Buffer
	if err := w.Recording(&b, corpus.Header{Name: "x"}); err != nil {
		t.Fatal(err)
	}
	rec, err := corpus.ReadRecording(&b)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range rec.Data {
		part := Imported{product: product{batch: d.Batch, d: d.D}}
		got = append(got, part.lines()...)
	}
	want := w.lines()
	if w.batch.M*w.batch.N > side { // tiles change the order
		slices.Sort(got)
		slices.Sort(want)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the recording: %s", d)
	}
}

func lookup(name ...string) *mma.Instruction {
	i, err := mma.Lookup(name[0], name[1])
	if err != nil {
		panic(err)
	}
	return i
}

// TestTiles records a product that takes several tiles, some of them smaller.
func TestTiles(t *testing.T) {
	const m, n, k = side + 3, 2*side + 1, 2
	counted := func(n int) (all []int) {
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	t.Chdir(t.TempDir())
	body := npzFile("a", npyFile("<u2", fmt.Sprintf("%d, %d", m, k), counted(m*k)...), "b", npyFile("<u2", fmt.Sprintf("%d, %d", k, n), counted(n*k)...),
		"d", npyFile("<u4", fmt.Sprintf("%d, %d", m, n), counted(m*n)...))
	if err := os.WriteFile("x.npz", []byte(body), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := Read(Options{Files: []string{"x.npz"}, Formats: half})
	if err != nil {
		t.Fatal(err)
	}
	if last := got.lines()[m*n-1]; last != fmt.Sprintf("%04x,%04x %04x,%04x - = %08x", (m-1)*k, (m-1)*k+1, n-1, 2*n-1, m*n-1) {
		t.Error(last)
	}
	holds(t, got)
}

// TestVectors imports what mmafuzz vectors writes: the same tests, whatever the form.
func TestVectors(t *testing.T) {
	for _, file := range []string{"hopper/mma.m16n8k16.f32.f16.f16.f32.json", "blackwell/tcgen05.m128n8k64.kind.mxf4nvf4.block16.f32.e2m1.e2m1.ue4m3.json"} {
		set, err := vectors.Open(filepath.Join("..", "vectors", "sets", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		cases, err := set.Cases()
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, c := range cases {
			want = append(want, mma.FormatDot(set.Formats, c.Dot)+" = "+mma.FormatCode(set.Formats.D, c.Want))
		}
		for _, f := range vectors.Formats {
			if !slices.Contains([]string{".csv", ".hex", ".npz"}, f.Ext) {
				continue
			}
			body, err := f.Write(set)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Join(t.TempDir(), "set"+f.Ext)
			if err := os.WriteFile(name, body, 0o666); err != nil {
				t.Fatal(err)
			}
			got, err := Read(Options{Files: []string{name}, Instruction: lookup(strings.Split(set.Instruction, "/")...)})
			if err != nil {
				t.Errorf("%s of %s: %v: %s", f.Name, file, err, hint.Of(err))
			} else if d := cmp.Diff(want, got.lines()); d != "" {
				t.Errorf("%s of %s: %s", f.Name, file, d)
			}
		}
	}
}

// TestNumbers rounds decimal numbers once, to nearest.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		id      fp.ID
		text    string
		want    uint64 // failed: it is refused
		rounded bool
	}{
		{fp.FP16, "65500.0", 0x7bff, true}, // as NumPy prints 65504
		{fp.FP16, "65519.999", 0x7bff, true},
		{fp.FP16, "65520", failed, false},
		{fp.FP16, "1.00048828125", 0x3c00, true}, // half way
		{fp.FP16, "1.000488281250000000000000000001", 0x3c01, true},
		{fp.FP16, "1.000488281249999999999999999999", 0x3c00, true},
		{fp.FP16, "-1.001464843750000000000000000001", 0xbc02, true},
		{fp.FP16, "-1.001464843749999999999999999999", 0xbc01, true},
		{fp.FP16, "-0.0", 0x8000, false},
		{fp.FP16, "1e-1000000000", 0, true},
		{fp.FP16, "-inf", 0xfc00, false},
		{fp.FP16, "0x1.8p1", 0x4200, false},
		{fp.FP32, "3.4028235e+38", 0x7f7fffff, true},
		{fp.FP32, "1e39", failed, false},
		{fp.FP64, "0.1", math.Float64bits(0.1), true},
		{fp.FP64, "5e-325", 0, true},
		{fp.FP64, "0.125", math.Float64bits(0.125), false},
		{fp.FP32, "16777217", 0x4b800000, true},
		{fp.FP32, "0e-1000000000", 0, false},
		{fp.FP64, "1e400", failed, false},
		{fp.E4M3, "463.9", 0x7e, true},
		{fp.E4M3, "464", failed, false},
		{fp.E4M3, "inf", failed, false},
		{fp.E8M0, "3", 0x81, true}, // a tie: OCP's E8M0 has odd numbers only, and the larger is taken
		{fp.E8M0, "2.9", 0x80, true},
		{fp.E8M0, "-2", failed, false},
		{fp.S8, "-128", 0x80, false},
		{fp.S8, "128", failed, false},
		{fp.U8, "1.5", failed, false},
		{fp.FP32, strings.Repeat("1", maxNumber+1), failed, false},
	} {
		got, rounded, err := number(c.text, c.id.Get())
		if err != nil {
			got = failed
		}
		if got != c.want || rounded != c.rounded {
			t.Errorf("%.40s in %s is %x, rounded %t, %v; want %x, %t", c.text, c.id, got, rounded, err, c.want, c.rounded)
		}
	}
}

const failed = math.MaxUint64

// FuzzRead reads anything as a file of each kind: what is read can be recorded.
func FuzzRead(f *testing.F) {
	names := []string{"x.npy", "x.npz", "x.safetensors", "x.csv", "x.json", "x.hex", "x.txt", "a.txt", "a.hex"}
	for _, s := range []struct {
		kind    byte
		body    string
		columns string
	}{
		{1, npzFile("a", npyFile("<f2", "2", 1, 2), "b", npyFile("<f2", "2", 5, 7), "d", npyFile("<f4", "1", 19)), ""},
		{3, "a0,a1,b0,b1,d\n3c00,4000,4500,4700,41980000\n", ""},
		{3, "1.5;2;3\n", "a,b,d"},
		{4, `{"a": [1.5, 2], "b": [5, "7"], "d": 19}`, ""},
		{5, "// a[15:0] b[31:16] d[63:32]\n@0 41980000_3c00_4500", ""},
		{6, "3c00,4000 4500,4700 00000000 sa=3c sb=3c 41980000\n", ""},
		{6, "3C00 4000 4200 4500 00\n", ""},
		{7, "1 2\n3 4\n", ""},
		{7, "=\n3 4\n", ""},     // a row of nothing
		{6, ",0 0 0 sa= 0", ""}, // scales of nothing
		{0x18, "=", ""},
	} {
		f.Add(s.kind, []byte(s.body), s.columns)
	}
	formats := mma.Formats{A: fp.FP16, B: fp.FP16, D: fp.FP32}
	f.Fuzz(func(t *testing.T, kind byte, body []byte, columns string) {
		s := source{file: names[int(kind)%len(names)]}
		arrays, err := s.read(body, formats, columns)
		if err != nil || arrays["a"] == nil || arrays["d"] == nil {
			return
		}
		o := Options{}
		ways, err := o.ways(formats, arrays)
		if err != nil {
			return
		}
		for _, w := range ways {
			w.describe(&o, formats)
			holds(t, w)
		}
	})
}
