package mma

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// A model file describes a hypothetical unit, in one of two forms:
//
//	{"v": 1, "name": "mine", "formats": {"a": "fp16", "b": "fp16", "c": "fp32", "d": "fp32"},
//	 "k": 16, "params": {"l": 8, "join": {"align": {"f": 24, "mode": "rz"}}, "acc": {...}}}
//
//	{"v": 1, "base": "cdna3/v_mfma_f32_32x32x8_f16", "set": {"join.cmode": "rz"}}
//
// The first is complete; parameters that it does not give are absent (zero).
// The second is an instruction of the catalogue with some parameters changed;
// set's keys are the paths of Fields, its values strings, numbers or booleans.
type modelFile struct {
	V       int             `json:"v"`
	Name    string          `json:"name,omitempty"`
	Base    string          `json:"base,omitempty"`
	Set     map[string]any  `json:"set,omitempty"`
	Formats *Formats        `json:"formats,omitempty"`
	K       int             `json:"k,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
}

// ReadModel reads a model file. The result has Arch "model" and, for a complete
// file, the name given or "model". Errors name what is wrong.
func ReadModel(text []byte) (*Instruction, error) {
	var m modelFile
	if err := strictjson.UnmarshalKnown(text, &m, "object"); err != nil {
		return nil, err
	}
	if m.V != 1 {
		return nil, fmt.Errorf(`"v" is %d, this version reads 1`, m.V)
	}
	if err := CheckName(m.Name); err != nil {
		return nil, fmt.Errorf(`"name" is %w`, err)
	}
	var i *Instruction
	var err error
	if m.Base != "" {
		i, err = m.derived()
	} else {
		i, err = m.complete()
	}
	if err != nil {
		return nil, err
	}
	i.Source, i.Evidence = "model file", "hypothetical"
	return i, i.Params.Validate(i.Formats, i.K)
}

func (m *modelFile) derived() (*Instruction, error) {
	if m.Formats != nil || m.K != 0 || m.Params != nil {
		return nil, errors.New(`a file with "base" has "set", not "formats", "k" or "params"`)
	}
	arch, name, ok := strings.Cut(m.Base, "/")
	if !ok {
		return nil, fmt.Errorf(`"base" is %q, not ARCH/INSTRUCTION`, m.Base)
	}
	i, err := Lookup(arch, name)
	if err != nil {
		return nil, err
	}
	if i.Refuse != "" {
		return nil, fmt.Errorf("%s has no model: %s", m.Base, i.Refuse)
	}
	for _, path := range slices.Sorted(maps.Keys(m.Set)) {
		if err := i.Params.Apply([]Change{{Path: path, To: fmt.Sprint(m.Set[path])}}); err != nil {
			return nil, fmt.Errorf(`"set": %w`, err)
		}
	}
	i.Arch = "model"
	if m.Name != "" {
		i.Name = m.Name
	}
	return i, nil
}

func (m *modelFile) complete() (*Instruction, error) {
	if m.Set != nil {
		return nil, errors.New(`"set" needs "base"`)
	}
	if m.Formats == nil || m.K == 0 || m.Params == nil {
		return nil, errors.New(`a file without "base" needs "formats", "k" and "params"`)
	}
	i := &Instruction{Arch: "model", Name: "model", K: m.K, Formats: *m.Formats}
	if m.Name != "" {
		i.Name = m.Name
	}
	var params bytes.Buffer // on one line, as the number of a line in a part would not be that of the file
	if err := json.Compact(&params, m.Params); err != nil {
		return nil, err
	}
	if err := strictjson.UnmarshalKnown(params.Bytes(), &i.Params, "object"); err != nil {
		return nil, fmt.Errorf(`"params": %w`, err)
	}
	return i, nil
}

// WriteModel writes a complete model file.
func WriteModel(w io.Writer, i *Instruction) error {
	params, err := json.Marshal(i.Params)
	if err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(modelFile{V: 1, Name: i.Name, Formats: &i.Formats, K: i.K, Params: params})
}
