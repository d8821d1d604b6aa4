package doctor

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/cpu"
)

// processor returns lines about the instructions of the processor: which can be executed,
// and why others cannot.
func processor() []Line {
	all, err := cpu.Instructions()
	if err != nil {
		return []Line{{"processor", Absent, err.Error(), "another machine can serve its own: exec:ssh HOST mmafuzz serve cpu:0"}}
	}
	var names []string
	var lines []Line
	for _, i := range all {
		switch {
		case i.Missing != "":
			lines = append(lines, Line{"processor", Absent, i.Mnemonic + ": " + i.Missing, ""})
		case i.Modes > 1:
			names = append(names, fmt.Sprintf("%s (%d modes)", i.Mnemonic, i.Modes))
		default:
			names = append(names, i.Mnemonic)
		}
	}
	t, err := devices.Open("cpu:0")
	if err != nil { // none can be executed
		return lines
	}
	defer t.Close()
	env := t.Environment()
	name := env["processor"]
	if e := env["emulator"]; e != "" {
		name += ", emulated by " + e
	}
	text := fmt.Sprintf("cpu:0, %s, modelled by sim:%s: %s", name, t.Instructions()[0].Arch, strings.Join(names, ", "))
	return append([]Line{{"processor", OK, text, ""}}, lines...)
}
