// Package safetensors reads matrices in the format of Hugging Face's safetensors: a header
// in JSON that names tensors, and their elements. https://github.com/huggingface/safetensors
//
// The files may be anybody's: no more is allocated than there is to read, whatever size a
// header gives.
//
// The API of this package is not promised: it may change in any version.
package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/npy"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
	"github.com/mmafuzz/mmafuzz/sim/fp"
)

const (
	maxHeader = 100_000_000 // bytes, as in the reference implementation
	maxSide   = 1 << 28
)

// types are the types of elements that are read. Those of None are unsigned integers: codes.
var types = map[string]struct {
	id    fp.ID
	width int
}{
	"F64": {fp.FP64, 8}, "F32": {fp.FP32, 4}, "F16": {fp.FP16, 2}, "BF16": {fp.BF16, 2}, "F8_E4M3": {fp.E4M3, 1}, "F8_E5M2": {fp.E5M2, 1},
	"F8_E8M0": {fp.E8M0, 1}, "I8": {fp.S8, 1}, "I16": {fp.S16, 2}, "I32": {fp.S32, 4}, "U8": {fp.None, 1}, "U16": {fp.None, 2}, "U32": {fp.None, 4}, "U64": {fp.None, 8},
}

// tensor is an entry of the header.
type tensor struct {
	Type    string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// Read reads the matrix of a name, or without one the only matrix that there is, and the
// format of its elements (None: they are codes), which take at most limit bytes.
func Read(r io.Reader, name string, limit int64) (*npy.Matrix, fp.ID, error) {
	tensors, err := readHeader(r)
	if err != nil {
		return nil, 0, err
	}
	t, err := choose(tensors, name)
	if err != nil {
		return nil, 0, err
	}
	kind, ok := types[t.Type]
	if !ok {
		return nil, 0, fmt.Errorf("elements of type %.20q: read are %s", t.Type, strings.Join(slices.Sorted(maps.Keys(types)), ", "))
	}
	m := &npy.Matrix{Rows: t.Shape[0], Columns: t.Shape[1], Width: kind.width}
	size := int64(m.Rows) * int64(m.Columns) * int64(m.Width)
	switch from, to := t.Offsets[0], t.Offsets[1]; {
	case size > limit:
		return nil, 0, fmt.Errorf("a matrix of %d x %d elements takes %d bytes, more than %d", m.Rows, m.Columns, size, limit)
	case from < 0 || to-from != size:
		return nil, 0, fmt.Errorf("%d x %d elements of %d bytes are not the bytes from %d to %d", m.Rows, m.Columns, m.Width, from, to)
	}
	if _, err := io.CopyN(io.Discard, r, t.Offsets[0]); err != nil {
		return nil, 0, fmt.Errorf("the file is cut short: %w", err)
	}
	if m.Data, err = io.ReadAll(io.LimitReader(r, size)); err != nil {
		return nil, 0, err
	}
	if int64(len(m.Data)) < size {
		return nil, 0, fmt.Errorf("the file is cut short: %d x %d elements of %d bytes take %d bytes, there are %d", m.Rows, m.Columns, m.Width, size, len(m.Data))
	}
	return m, kind.id, nil
}

// readHeader reads the matrices of a header.
func readHeader(r io.Reader) (map[string]tensor, error) {
	var size [8]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, fmt.Errorf("this is not a .safetensors file")
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxHeader {
		return nil, fmt.Errorf("this is not a .safetensors file: its header would have %d bytes", n)
	}
	text, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return nil, err
	}
	var entries map[string]json.RawMessage
	if err := strictjson.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	tensors := map[string]tensor{}
	for name, entry := range entries {
		var t tensor
		if name == "__metadata__" {
			continue
		}
		if err := json.Unmarshal(entry, &t); err != nil {
			return nil, fmt.Errorf("the header, %.60q: %w", name, err)
		}
		if len(t.Shape) == 2 && min(t.Shape[0], t.Shape[1]) >= 0 && max(t.Shape[0], t.Shape[1]) <= maxSide {
			tensors[name] = t
		}
	}
	return tensors, nil
}

func choose(tensors map[string]tensor, name string) (tensor, error) {
	names := slices.Sorted(maps.Keys(tensors))
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	t, ok := tensors[name]
	if ok {
		return t, nil
	}
	const shown = 8
	list := strings.Join(names[:min(len(names), shown)], ", ")
	if len(names) > shown {
		list += ", ..."
	}
	switch {
	case len(names) == 0:
		return t, fmt.Errorf("there is no matrix in it")
	case name == "":
		return t, fmt.Errorf("there are %d matrices in it: name one as FILE:NAME, such as %.200s", len(names), list)
	}
	return t, fmt.Errorf("there is no matrix %.60q in it; there are %.200s", name, list)
}
