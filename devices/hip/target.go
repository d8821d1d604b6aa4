package hip

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register(kind, open, "AMD GPU: hip:0; compiled and inspected, not yet run (mmafuzz help hip)")
}

const kind = "hip"

func open(argument string) (devices.Target, error) {
	o, err := gpu.ParseOptions(argument)
	if err != nil {
		return nil, err
	}
	ordinal, err := strconv.Atoi(o.Device)
	if err != nil || ordinal < 0 {
		return nil, fmt.Errorf("%q is not the number of a device: hip:0 is the first", o.Device)
	}
	if err := supported(); err != nil {
		return nil, err
	}
	if !o.Isolated() {
		return here(kind+":"+argument, ordinal, o)
	}
	return gpu.Isolate(kind+":"+argument, func(child devices.Target) ([]mma.Instruction, error) {
		return rowsOf(child.Environment()[factChip]), nil
	})
}

// factChip is the name of the fact that an isolated target reads back from its child.
const factChip = "chip"

// isVector reports whether an instruction computes dot products of vector registers, not of
// matrices, or of integers: those have no kernel yet.
func isVector(i *mma.Instruction) bool {
	return strings.HasPrefix(i.Name, "v_dot") || strings.HasPrefix(i.Name, "v_cvt_") || i.D.Integer()
}

// rowsOf returns the instructions of the catalogue for a chip, such as gfx942.
// An instruction without a model can be run too; dot products of vectors have no kernel yet.
func rowsOf(chip string) []mma.Instruction {
	arch, ok := mma.FindArch(chip)
	if !ok {
		return nil
	}
	rows := slices.DeleteFunc(mma.Of(arch.Name), func(i mma.Instruction) bool { return isVector(&i) })
	for n := range rows {
		rows[n].Refuse = ""
	}
	return rows
}
