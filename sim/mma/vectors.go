package mma

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Vector is a test vector: one dot product on one instruction, and its result.
type Vector struct {
	ID    string
	Inst  *Instruction
	Dot   *Dot
	Want  uint64 // code of D
	Class bool   // only the class of Want is known: it is a NaN of any code
	Line  int
}

// ReadVectors reads vectors, one a line:
//
//	id arch/instruction a0,a1,.. b0,b1,.. c [sa=s0,.. sb=s0,..] = D
//
// Codes are hexadecimal with all digits of the format's container. A and B are
// filled up with zeros to a multiple of the instruction's K, for more than K
// elements meaning its repeated execution; scales are given for all blocks of
// that. c is - for an instruction without C, and D is nan where only that is
// known. # starts a comment.
func ReadVectors(r io.Reader) ([]Vector, error) {
	var vectors []Vector
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if strings.TrimSpace(text) == "" {
			continue
		}
		v, err := parseVector(strings.Fields(text))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		v.Line = n
		vectors = append(vectors, v)
	}
	return vectors, lines.Err()
}

func parseVector(fields []string) (v Vector, err error) {
	n := len(fields)
	if n != 7 && n != 9 || fields[n-2] != "=" {
		return v, errors.New("not of the form: id arch/instruction a,.. b,.. c [sa=.. sb=..] = D")
	}
	v.ID = fields[0]
	arch, name, _ := strings.Cut(fields[1], "/")
	if v.Inst, err = Lookup(arch, name); err != nil {
		return v, err
	}
	if v.Inst.Refuse != "" {
		return v, fmt.Errorf("%s has no model: %s", v.Inst.FullName(), v.Inst.Refuse)
	}
	if v.Dot, err = parseDot(v.Inst, fields[2:n-2]); err != nil {
		return v, err
	}
	if d := fields[n-1]; d == "nan" {
		f := v.Inst.D.Get()
		v.Want, v.Class = f.InfCode(false)|1<<(f.FracBits-1), true
	} else {
		v.Want, err = parseCode("d", v.Inst.D, d)
	}
	return v, err
}

// parseDot reads a, b, c and, if the instruction has scales, sa and sb.
func parseDot(i *Instruction, fields []string) (*Dot, error) {
	a, err := parseCodes("a", i.A, fields[0])
	if err != nil {
		return nil, err
	}
	b, err := parseCodes("b", i.B, fields[1])
	if err != nil {
		return nil, err
	}
	times := (max(len(a), len(b)) + i.K - 1) / i.K
	d := NewDot(i.Formats, times*i.K)
	copy(d.A, a)
	copy(d.B, b)
	if d.C, err = parseCode("c", i.C, fields[2]); err != nil {
		return nil, err
	}
	return d, parseScales(i.Scale, d, fields[3:])
}

// parseScales reads as many scales as d has blocks.
func parseScales(id fp.ID, d *Dot, fields []string) error {
	if id == fp.None {
		if len(fields) != 0 {
			return errors.New("the instruction has no scales")
		}
		return nil
	}
	if len(fields) != 2 {
		return errors.New("the instruction needs scales, sa=.. sb=.. after c")
	}
	for i, name := range []string{"sa", "sb"} {
		list, ok := strings.CutPrefix(fields[i], name+"=")
		if !ok {
			return fmt.Errorf("%q does not begin with %s=", fields[i], name)
		}
		codes, err := parseCodes(name, id, list)
		if err != nil {
			return err
		}
		if len(codes) != len(d.SA) {
			return fmt.Errorf("%s: %d scales for %d blocks", name, len(codes), len(d.SA))
		}
		copy([][]uint64{d.SA, d.SB}[i], codes)
	}
	return nil
}

// parseCodes reads a list of codes.
func parseCodes(what string, id fp.ID, list string) ([]uint64, error) {
	var codes []uint64
	for s := range strings.SplitSeq(list, ",") {
		c, err := parseCode(what, id, s)
		if err != nil {
			return nil, err
		}
		codes = append(codes, c)
	}
	return codes, nil
}

func parseCode(what string, id fp.ID, s string) (uint64, error) {
	if id == fp.None {
		if s != "-" {
			return 0, fmt.Errorf("%s: the instruction has none, write -", what)
		}
		return 0, nil
	}
	f := id.Get()
	code, err := strconv.ParseUint(s, 16, 64)
	if err != nil || len(s) != f.Digits() || code > f.CodeMask() {
		return 0, fmt.Errorf("%s: %q is not a %s code of %d hexadecimal digits", what, s, f.Name, f.Digits())
	}
	return code, nil
}
