package wire

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// ArchExec is the architecture of an instruction whose child names none.
const ArchExec = "exec"

// parseInstruction reads the fields of a line "instruction": a name, then key=value.
// If the name is in the catalogue, formats and K may be left out.
//
// rule is that of the flags that its answers carry, 0 if they carry none.
func parseInstruction(fields []string) (i mma.Instruction, rule fp.FlagRule, err error) {
	if len(fields) == 0 {
		return i, 0, errors.New("the name is missing")
	}
	i = mma.Instruction{Arch: ArchExec, Name: fields[0], M: anySize, N: anySize, Source: "child process", Evidence: "none: it is a black box"}
	if arch, name, ok := strings.Cut(i.Name, "/"); ok {
		i.Arch, i.Name = arch, name
	}
	if i.Arch == "" || i.Name == "" || strings.Contains(i.Name, "/") {
		return i, 0, fmt.Errorf("%q is neither NAME nor ARCH/NAME", clip(fields[0]))
	}
	set := map[string]bool{}
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		if !ok || set[key] {
			return i, 0, fmt.Errorf("%q is not of the form key=value, or is there twice", clip(f))
		}
		set[key] = true
		if key == "flags" {
			rule, err = fp.ParseFlagRule(value)
		} else {
			err = setField(&i, key, value)
		}
		if err != nil {
			return i, 0, fmt.Errorf("%s: %w", clip(f), err)
		}
	}
	if err := fillFromCatalogue(&i, set); err != nil {
		return i, 0, err
	}
	return i, rule, check(&i)
}

// parseFormat returns the format of a name. It refuses fp8 and bf8, names in the ISAs of two vendors:
// which format they mean depends on the hardware.
func parseFormat(name string) (fp.ID, error) {
	if lower := strings.ToLower(name); lower == "fp8" || lower == "bf8" {
		return fp.None, fmt.Errorf("%s is the name of several formats: e4m3 and e5m2 are those of OCP, e4m3fnuz and e5m2fnuz those of AMD's MI300", name)
	}
	return fp.Parse(name)
}

// setField takes a key and its value.
func setField(i *mma.Instruction, key, value string) (err error) {
	switch key {
	case "a":
		i.A, err = parseFormat(value)
	case "b":
		i.B, err = parseFormat(value)
	case "c":
		i.C, err = parseFormat(value)
	case "d":
		i.D, err = parseFormat(value)
	case "scale":
		i.Scale, err = parseFormat(value)
	case "block":
		var n int
		n, err = number(value, math.MaxUint16)
		i.Block = uint16(n)
	case "down":
		var n int
		n, err = number(value, 127) // as mma.Formats.Validate has it
		i.Down = uint8(n)
	case "k":
		i.K, err = number(value, maxK)
	case "m":
		i.M, err = parseRange(value)
	case "n":
		i.N, err = parseRange(value)
	case "round":
		if i.Mode, err = fp.ParseMode(value); i.Mode == fp.RS {
			err = errors.New("random bits are an operand: b=rbits16 and the like")
		}
	default:
		err = errors.New("unknown key (known: a, b, c, d, scale, block, down, k, m, n, round, flags)")
	}
	return err
}

// parseRange reads N, or MIN..MAX, or MIN..MAX/STEP.
func parseRange(s string) (mma.Range, error) {
	low, rest, ok := strings.Cut(s, "..")
	lo, err := number(low, maxDim)
	if err != nil || !ok {
		return mma.Range{Min: lo, Max: lo, Step: 1}, err
	}
	high, by, ok := strings.Cut(rest, "/")
	r := mma.Range{Min: lo, Step: 1}
	if r.Max, err = number(high, maxDim); err == nil && ok {
		r.Step, err = number(by, maxDim)
	}
	if err == nil && r.Max < r.Min {
		err = errors.New("the end is before the beginning")
	}
	return r, err
}

// fillFromCatalogue fills in what was left out from the catalogue, and returns an error if something
// contradicts it: a name of the ISA means the ISA's operands. What the catalogue believes
// of the arithmetic is not taken over: the child is a black box.
func fillFromCatalogue(i *mma.Instruction, set map[string]bool) error {
	known := catalogued(i)
	if len(known) == 0 {
		for _, key := range []string{"a", "b", "d", "k"} {
			if !set[key] {
				return fmt.Errorf("%s is not in the catalogue, so %s= is needed", i.Name, key)
			}
		}
		return nil
	}
	if !set["a"] && !set["b"] && !set["c"] && !set["d"] && !set["scale"] && !set["block"] && !set["down"] && !set["round"] {
		if len(known) > 1 {
			return fmt.Errorf("%s has other formats on other architectures: give a=, b=, c=, d= or write ARCH/%s", i.Name, i.Name)
		}
		i.Formats = known[0].Formats
	}
	if !set["k"] {
		i.K = known[0].K
	}
	for _, row := range known {
		if row.Formats == i.Formats && row.K == i.K {
			return nil
		}
	}
	return fmt.Errorf("%s is %s with K = %d in the catalogue, not %s with K = %d; a unit that differs needs a name of its own",
		i.Name, known[0].Formats, known[0].K, i.Formats, i.K)
}

// catalogued returns the rows of the catalogue that an instruction's name stands
// for, one for each set of formats.
func catalogued(i *mma.Instruction) []mma.Instruction {
	var rows []mma.Instruction
	seen := map[mma.Formats]bool{}
	for _, arch := range mma.Archs {
		if named, ok := mma.FindArch(i.Arch); i.Arch != ArchExec && ok && named.Name != arch.Name {
			continue
		}
		row, err := mma.Lookup(arch.Name, i.Name)
		if err != nil || row.Name != i.Name && row.Alias != i.Name || seen[row.Formats] {
			continue
		}
		seen[row.Formats] = true
		rows = append(rows, *row)
	}
	return rows
}

// check returns what makes an instruction impossible, nil if nothing does.
func check(i *mma.Instruction) error {
	switch {
	case i.A == fp.None || i.B == fp.None || i.D == fp.None:
		return errors.New("an instruction has a, b and d; only c may be none, and for an operation of a alone, such as a conversion, b=one")
	case (i.Scale == fp.None) != (i.Block == 0):
		return errors.New("scale= and block= go together")
	case i.Scale != fp.None && i.K%int(i.Block) != 0:
		return fmt.Errorf("its K = %d is not a multiple of the block of %d", i.K, i.Block)
	}
	if n := PayloadSize(i.Formats, mma.Shape{M: i.M.Min, N: i.N.Min, K: i.K, Tiles: 1}); n > MaxPayload {
		return fmt.Errorf("a tile takes %d bytes, more than %d", n, MaxPayload)
	}
	return nil
}
