package fuzz

import (
	"bytes"
	"testing"

	"github.com/mmafuzz/mmafuzz/fuzz/gen"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// FuzzModelFile reads anything as a model file and computes any dot product by it: the
// simulator gives what the oracle gives, on the made-up arithmetics of strangers too.
func FuzzModelFile(f *testing.F) {
	all := mma.Arithmetics()
	for n := range all {
		var b bytes.Buffer
		if err := mma.WriteModel(&b, &all[n]); err != nil {
			f.Fatal(err)
		}
		sp := gen.Spec{Formats: all[n].Formats, K: all[n].K}
		for _, g := range gen.All()[:3] {
			f.Add(b.Bytes(), gen.Encode(all[n:n+1], 0, g.Aimed(sp, &all[n].Params).Dot(sp, 1, 0)))
		}
	}
	f.Fuzz(func(t *testing.T, model, data []byte) {
		i, err := mma.ReadModel(model)
		if err != nil {
			return
		}
		if _, err := NewChecker([]mma.Instruction{*i}).Check(data); err != nil {
			t.Errorf("%s\n%v", model, err)
		}
	})
}
