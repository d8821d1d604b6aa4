package oracle

import (
	"os"
	"testing"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// specVectors reads the vectors that the simulators are tested with, too.
func specVectors(t testing.TB) []mma.Vector {
	file, err := os.Open("../sim/testdata/spec.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	vectors, err := mma.ReadVectors(file)
	if err != nil {
		t.Fatal(err)
	}
	return vectors
}

func TestSpecVectors(t *testing.T) {
	vectors := specVectors(t)
	const least = 100 // a truncated file is a failure
	if len(vectors) < least {
		t.Fatalf("%d vectors, want at least %d", len(vectors), least)
	}
	seen := map[string]bool{}
	for _, v := range vectors {
		if seen[v.ID] {
			t.Errorf("line %d: %s is there twice", v.Line, v.ID)
		}
		seen[v.ID] = true
		got := Eval(&v.Inst.Params, v.Inst.Formats, v.Inst.K, v.Dot)
		if v.Class && isNaN(v.Inst.D, got) {
			continue
		}
		if got != v.Want {
			t.Errorf("line %d: %s %s = %0*X, want %0*X", v.Line, v.ID, v.Inst.FullName(),
				v.Inst.D.Get().Digits(), got, v.Inst.D.Get().Digits(), v.Want)
		}
	}
}

func isNaN(id fp.ID, code uint64) bool { return decode(id, code).kind == NotANumber }
