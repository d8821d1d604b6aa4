package safetensors

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// file makes a file of a header and bytes.
func file(header, data string) string {
	return string(binary.LittleEndian.AppendUint64(nil, uint64(len(header)))) + header + data
}

const two = `{"__metadata__": {"format": "pt"}, "w": {"dtype": "BF16", "shape": [1, 2], "data_offsets": [2, 6]}, "bias": {"dtype": "F32", "shape": [2], "data_offsets": [6, 14]}}`

func TestRead(t *testing.T) {
	m, id, err := Read(strings.NewReader(file(two, "__\x80\x3f\x00\x40________")), "", 100)
	if err != nil || id != fp.BF16 || m.Rows != 1 || m.Columns != 2 || !bytes.Equal(m.Data, []byte{0x80, 0x3f, 0, 0x40}) {
		t.Errorf("%+v %s %v", m, id, err)
	}
	m, id, err = Read(strings.NewReader(file(`{"q": {"dtype": "I8", "shape": [2, 1], "data_offsets": [0, 2]}}`, "\x80\x01")), "q", 100)
	if err != nil || id != fp.S8 || !bytes.Equal(m.Data, []byte{0x80, 1}) {
		t.Errorf("%+v %s %v", m, id, err)
	}
	matrix := func(entry string) string { return file(`{"a": {`+entry+`}}`, "0123") }
	for _, c := range []struct{ text, name, want string }{
		{"", "", "this is not a .safetensors file"},
		{strings.Repeat("\xff", 9), "", "its header would have"},
		{file("[", ""), "", "the header"},
		{file(two, ""), "x", `no matrix "x" in it; there are w`},
		{file("{}", ""), "", "there is no matrix"},
		{file(strings.Replace(two, `[2]`, `[2, 1]`, 1), ""), "", "there are 2 matrices in it: name one as FILE:NAME, such as bias, w"},
		{matrix(`"dtype": "I4", "shape": [1, 1], "data_offsets": [0, 1]`), "", `elements of type "I4"`},
		{matrix(`"dtype": "F32", "shape": [1, 2], "data_offsets": [0, 4]`), "", "are not the bytes from 0 to 4"},
		{matrix(`"dtype": "F32", "shape": [100, 2], "data_offsets": [0, 800]`), "", "more than 100"},
		{matrix(`"dtype": "F32", "shape": [1, 1], "data_offsets": [2, 6]`), "", "cut short"},
		{matrix(`"dtype": "F32", "shape": [1, 1], "data_offsets": [9, 13]`), "", "cut short"},
	} {
		if _, _, err := Read(strings.NewReader(c.text), c.name, 100); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %s", c.text, err, c.want)
		}
	}
}

// FuzzRead reads anything.
func FuzzRead(f *testing.F) {
	f.Add([]byte(file(two, "0123456789abcd")), "w")
	f.Fuzz(func(t *testing.T, text []byte, name string) {
		if m, _, err := Read(bytes.NewReader(text), name, 1<<20); err == nil && len(m.Data) != m.Rows*m.Columns*m.Width {
			t.Error(fmt.Sprint(m))
		}
	})
}
