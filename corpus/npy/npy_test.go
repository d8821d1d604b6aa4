package npy

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// file makes a file of a header and elements.
func file(version byte, header string, data ...byte) []byte {
	head := append([]byte(magic), version, 0, byte(len(header)), byte(len(header)>>8))
	if version > 1 {
		head = append(head, 0, 0)
	}
	return append(append(head, header...), data...)
}

func TestRead(t *testing.T) {
	want := &Matrix{2, 3, 'u', 2, []byte{1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 1}}
	for name, f := range map[string][]byte{
		"version 1":     file(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n", want.Data...),
		"version 3":     file(3, "{'shape': (2,3), 'fortran_order':False,'descr':'<u2'}", want.Data...),
		"big endian":    file(1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3), }", 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 6),
		"Fortran order": file(2, "{'descr': '<u2', 'fortran_order': True, 'shape': (2, 3), }", 1, 0, 4, 0, 2, 0, 5, 0, 3, 0, 6, 1),
	} {
		got, err := Read(bytes.NewReader(f), 100)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if d := gocmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
	m := &Matrix{1, 1, 'f', 4, []byte{0, 0, 0xc0, 0x3f}}
	if v := m.Float64(0, 0); v != 1.5 {
		t.Errorf("%v, want 1.5", v)
	}
}

// TestHostile has files that are refused, and what is said about them.
func TestHostile(t *testing.T) {
	for _, c := range []struct {
		file []byte
		want string
	}{
		{nil, "not an .npy file"},
		{[]byte("PK\x03\x04xxxxxxxx"), "not an .npy file"},
		{file(9, ""), "version 9.0"},
		{file(1, "")[:9], "cut short"},
		{file(1, "{'descr'")[:14], "cut short"},
		{append([]byte(magic), 2, 0, 0xff, 0xff, 0xff, 0xff), "the header has 4294967295 bytes"},
		{file(1, "{}"), "has no descr"},
		{file(1, "{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1, 1), }"), "has no descr"},
		{file(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1, 1), }"), "elements of type '|O'"},
		{file(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1, 1), }"), "elements of type [('a'"},
		{file(1, "{'descr': '<c8', 'fortran_order': False, 'shape': (1, 1), }"), "elements of type '<c8'"},
		{file(1, "{'descr': '<V4', 'fortran_order': False, 'shape': (1, 1), }"), "elements of type '<V4'"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }"), "has 1 dimensions"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"), "has 0 dimensions"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 4), }"), "is none that is read"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 4), }"), "is none that is read"},
		{file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (268435456, 268435456), }"), "take 576460752303423488 bytes, more than"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", 1, 2, 3), "take 16 bytes, but there are 3"},
		{file(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", 1, 2, 3, 4, 5), "take 4 bytes, but there are more"},
	} {
		_, err := Read(bytes.NewReader(c.file), 1000)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.80q: %v, want %s", c.file, err, c.want)
		}
	}
}

// TestReadArray has arrays that are no matrices of numbers that Read takes.
func TestReadArray(t *testing.T) {
	data := []byte{0, 1, 2, 3, 4, 5, 6, 7}
	for _, c := range []struct {
		file []byte
		want *Array
	}{
		{file(1, "{'descr': '|V1', 'fortran_order': True, 'shape': (2, 2, 2), }", data...), &Array{[]int{2, 2, 2}, 'V', 1, []byte{0, 4, 2, 6, 1, 5, 3, 7}}},
		{file(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (4,), }", data...), &Array{[]int{4}, 'V', 2, data}},
		{file(1, "{'descr': '>i4', 'fortran_order': False, 'shape': (2, 1), }", data...), &Array{[]int{2, 1}, 'i', 4, []byte{3, 2, 1, 0, 7, 6, 5, 4}}},
		{file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", data...), &Array{[]int{}, 'f', 8, data}},
	} {
		got, err := ReadArray(bytes.NewReader(c.file), 100)
		if d := gocmp.Diff(c.want, got); err != nil || d != "" {
			t.Errorf("%v: %s", err, d)
		}
	}
	huge := file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (268435456, 268435456, 268435456), }")
	if _, err := ReadArray(bytes.NewReader(huge), 1000); err == nil || !strings.Contains(err.Error(), "more than 1000") {
		t.Error(err)
	}
}

// FuzzRead holds that what is read is written and read again as the same.
func FuzzRead(f *testing.F) {
	f.Add(file(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 1), }\n", 1, 2, 3, 4))
	f.Add(file(2, "{'descr': '>f4', 'fortran_order': True, 'shape': (1, 2), }\n", 1, 2, 3, 4, 5, 6, 7, 8))
	f.Add(file(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 3), }"))
	f.Add(file(1, "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }", 1, 2, 0xff, 4))
	f.Add(file(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (1, 2, 2), }", 1, 2, 3, 4, 5, 6, 7, 8))
	f.Fuzz(func(t *testing.T, data []byte) {
		if a, err := ReadArray(bytes.NewReader(data), 1<<16); err == nil {
			n := 1
			for _, side := range a.Shape {
				n *= side
			}
			if len(a.Data) != n*a.Width {
				t.Fatalf("%v elements of %d bytes, %d bytes", a.Shape, a.Width, len(a.Data))
			}
		}
		m, err := Read(bytes.NewReader(data), 1<<16)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&b, 1<<16)
		if err != nil {
			t.Fatal(err)
		}
		if d := gocmp.Diff(m, again, gocmp.Comparer(bytes.Equal)); d != "" {
			t.Error(d)
		}
	})
}

// TestNumPy has NumPy read what is written, where there is one.
func TestNumPy(t *testing.T) {
	script := "import sys, io, numpy\na = numpy.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)\nprint(a.dtype, a.tolist())"
	python := cmp.Or(os.Getenv("MMAFUZZ_PYTHON"), "python3")
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		t.Skip("no NumPy in " + python)
	}
	for _, c := range []struct {
		m    Matrix
		want string
	}{
		{Matrix{1, 2, 'f', 4, []byte{0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}}, "float32 [[1.5, -2.0]]"},
		{Matrix{2, 1, 'i', 1, []byte{0x80, 5}}, "int8 [[-128], [5]]"},
		{Matrix{2, 1, 'u', 1, []byte{0x80, 5}}, "uint8 [[128], [5]]"},
	} {
		var b bytes.Buffer
		if err := Write(&b, &c.m); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, "-c", script)
		cmd.Stdin = &b
		out, err := cmd.Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
			t.Errorf("%s, %v; want %s", got, err, c.want)
		}
	}
}
