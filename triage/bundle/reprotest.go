package bundle

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// reproTest is a Go test that reproduces the mismatch. It needs the mmafuzz module
// and nothing else. Its build constraint keeps it out of packages, so that it is run by
// its name only, from a clone or from any module that requires this one.
func reproTest(m *corpus.Mismatch) string {
	m = Local(m, "")
	byValue := ""
	if m.Formats.Common {
		byValue = "\t\tif unit, err = devices.ByValue(unit); err != nil {\n\t\t\tt.Fatal(err)\n\t\t}\n"
	}
	questions := fmt.Sprintf("[]string{%q}", m.Case)
	if m.Before != "" {
		questions = fmt.Sprintf("[]string{%q, %q}", m.Before, m.Case)
	}
	return fmt.Sprintf(`//go:build ignore

// Run it by its name, in a clone of mmafuzz or in a module that requires it:
//
//	go test DIR/repro_test.go

package repro

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mmafuzz/mmafuzz/devices"
	_ "github.com/mmafuzz/mmafuzz/devices/cpu"
	_ "github.com/mmafuzz/mmafuzz/devices/cuda"
	_ "github.com/mmafuzz/mmafuzz/devices/exec"
	_ "github.com/mmafuzz/mmafuzz/devices/hip"
	_ "github.com/mmafuzz/mmafuzz/devices/reference"
	_ "github.com/mmafuzz/mmafuzz/devices/replay"
	_ "github.com/mmafuzz/mmafuzz/devices/simulated"
	_ "github.com/mmafuzz/mmafuzz/devices/vulkan"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// TestRepro runs one dot product on two targets, which gave %[1]s and %[2]s.
func TestRepro(t *testing.T) {
	questions := %[3]s // the last one is the case
	bundle, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []struct{ target, instruction, like, want string }{
		{%[4]q, %[5]q, %[6]q, %[1]q},
		{%[7]q, %[8]q, %[9]q, %[2]q},
	} {
		t.Chdir(bundle)
		unit, err := devices.OpenUnit(side.target, side.instruction, side.like)
		// A command is one of the directory of the run, which is somewhere above.
		for dir := bundle; err != nil && strings.Contains(side.target+side.like, "exec:") && dir != filepath.Dir(dir); {
			dir = filepath.Dir(dir)
			t.Chdir(dir)
			unit, err = devices.OpenUnit(side.target, side.instruction, side.like)
		}
		if err != nil {
			t.Fatal(err) // also where the target is not on this machine: nothing was reproduced
		}
%[11]s		f := unit.Instruction().Formats
		var dots []*mma.Dot
		for _, text := range questions {
			dot, err := mma.ParseDot(f, %[10]d, false, strings.Fields(text))
			if err != nil {
				t.Fatal(err)
			}
			dots = append(dots, dot)
		}
		b := mma.BatchOf(f, %[10]d, dots)
		out := make([]byte, len(dots)*f.D.Width())
		err = unit.Run(t.Context(), b, out)
		switch {
		case errors.Is(err, devices.ErrNoRecording):
			t.Skip(err) // the case was shrunk on a model, and the recording has only what was recorded
		case err != nil && side.want == "-":
			continue // as it was
		case err != nil:
			t.Fatal(err)
		}
		if got := mma.FormatCode(f.D, mma.Load(out, f.D.Width(), len(dots)-1)); got != side.want {
			t.Errorf("%%s %%s gives %%s, it gave %%s", side.target, side.instruction, got, side.want)
		}
	}
}
`, m.A.Result, m.B.Result, questions, m.A.Target, m.A.Instruction, like(m, "a"), m.B.Target, m.B.Instruction, like(m, "b"), m.K, byValue)
}
