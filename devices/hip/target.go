package hip

import (
	"fmt"
	"strconv"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("hip", open, "AMD GPU, by HIP: hip:0 (kernels are compiled and inspected, and not yet run on hardware)")
}

// parseOrdinal reads what follows the colon of a target's name.
func parseOrdinal(argument string) (int, error) {
	if argument == "" {
		argument = "0"
	}
	n, err := strconv.Atoi(argument)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not the number of a device: hip:0 is the first", argument)
	}
	return n, nil
}

// Instructions returns the instructions of a chip, as a device executes them: a
// row that has no model is a black box.
func Instructions(chip string) []mma.Instruction {
	arch, _ := mma.FindArch(chip)
	var rows []mma.Instruction
	for _, i := range mma.Of(arch.Name) {
		if i.Refuse != "" {
			i.Refuse, i.Unknown = "", mma.FacetNaN|mma.FacetZero
		}
		rows = append(rows, i)
	}
	return rows
}
