package cpu

// The target cpu:0, and which instructions it has.

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register("cpu", open, "instructions of this machine's processor: cpu:0")
}

// native is an instruction of a processor, under all modes in which the catalogue has it.
type native struct {
	mnemonic string // the catalogue's names begin with it and a dot
	m, n     int    // rows and columns of a tile; K is in the catalogue
	group    int    // tiles that body takes at a time
	needs    string // what the processor must have, for people
	has      func() bool
	body     body
}

// body executes an instruction on groups of tiles.
type body func(d, a, b *byte, groups int, control uint64)

// raised are the exceptions in what a body has written behind its results, which it does if the sign
// of control is set. nil: the bodies of this processor do not.
var raised func(status uint32) fp.Flags

// Instruction is an instruction of the table.
type Instruction struct {
	Mnemonic string
	Modes    int    // number of names that the catalogue has for this processor's architecture, 0 for none
	Missing  string // why this machine does not execute it, "" if it does
}

// Instructions returns the table of this machine's architecture; the error says why
// there is none.
func Instructions() ([]Instruction, error) {
	if len(table) == 0 {
		return nil, fmt.Errorf("no instructions on this machine, because %s", why)
	}
	var all []Instruction
	for _, n := range table {
		i := Instruction{Mnemonic: n.mnemonic, Modes: len(n.rows())}
		switch {
		case !n.has():
			i.Missing = "the processor has no " + n.needs
		case i.Modes == 0:
			i.Missing = "the catalogue has no row of it for " + arch
		}
		all = append(all, i)
	}
	return all, nil
}

// Missing returns why this machine does not execute an instruction of its kind of
// processor, "" if it does or if the instruction belongs to another kind.
func Missing(name string) string {
	all, _ := Instructions()
	for _, i := range all {
		if strings.HasPrefix(name+".", i.Mnemonic+".") {
			return i.Missing
		}
	}
	return ""
}

// rows returns the rows of the catalogue that a native executes.
func (n *native) rows() []mma.Instruction {
	var rows []mma.Instruction
	for _, i := range mma.Of(arch) {
		if strings.HasPrefix(i.Name+".", n.mnemonic+".") {
			rows = append(rows, i)
		}
	}
	return rows
}

type target struct {
	rows  []mma.Instruction
	units map[string]unit // by the instruction's name
}

func open(argument string) (devices.Target, error) {
	if argument != "0" {
		return nil, fmt.Errorf("there is only cpu:0, the processor that this program runs on")
	}
	all, err := Instructions()
	if err != nil {
		return nil, err
	}
	t := &target{units: map[string]unit{}}
	var missing []string
	var flags []mma.Instruction
	for i := range table {
		if all[i].Missing != "" {
			missing = append(missing, all[i].Mnemonic+": "+all[i].Missing)
			continue
		}
		for _, row := range table[i].rows() {
			_, modes := row.Mnemonic()
			u := unit{native: &table[i], control: control(modes)}
			t.units[row.Name] = u
			t.rows = append(t.rows, row)
			if f, ok := ofFlags(row); ok {
				u.flags = true
				t.units[f.Name] = u
				flags = append(flags, f)
			}
		}
	}
	if len(t.rows) == 0 {
		return nil, fmt.Errorf("no instructions on this machine, because %s", strings.Join(missing, "; "))
	}
	t.rows = append(t.rows, flags...)
	return t, nil
}

// ofFlags returns the instruction whose results are the exception flags that another raises, if this
// processor tells them and IEEE 754 says which they have to be.
func ofFlags(row mma.Instruction) (mma.Instruction, bool) {
	d, err := row.D.WithFlags(fp.FlagsX86)
	if raised == nil || err != nil {
		return row, false
	}
	row.Name += ".flags"
	row.D, row.Mode = d, row.Params.Acc.Mode
	return row, row.Params.Validate(row.Formats, row.K) == nil
}

func (t *target) Name() string                    { return "cpu:0" }
func (t *target) Instructions() []mma.Instruction { return t.rows }
func (t *target) Close() error                    { return nil }

// Missing returns why the processor does not execute an instruction: see the function.
func (t *target) Missing(name string) string { return Missing(name) }

// Environment names the processor, and the emulator if there is one.
func (t *target) Environment() map[string]string {
	env := map[string]string{"kind": "processor", "processor": model(), "architecture": runtime.GOARCH}
	for name, value := range map[string]string{"identity": identity(), "emulator": emulator()} {
		if value != "" {
			env[name] = value
		}
	}
	return env
}

func (t *target) Open(i *mma.Instruction) (devices.Unit, error) {
	u, ok := t.units[i.Name]
	if !ok {
		return nil, fmt.Errorf("cpu:0 does not execute %s", i.Name)
	}
	u.inst = i
	return &u, nil
}
