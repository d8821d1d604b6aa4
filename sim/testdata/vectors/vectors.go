// Package vectors reads the test vectors of this project's tests: dot products and their results.
package vectors

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Vector is a test vector: one dot product on one instruction, and its result.
type Vector struct {
	ID     string
	Inst   *mma.Instruction
	Dot    *mma.Dot
	Want   uint64 // code of D
	AnyNaN bool   // D is a NaN of any code; Want is one of them
	Line   int
}

// Read reads vectors, one a line:
//
//	id arch/instruction a0,a1,.. b0,b1,.. c [sa=s0,.. sb=s0,..] = D
//
// Codes are hexadecimal with all digits of the format's container. A and B are padded
// with zeros to a multiple of the instruction's K; more than K elements execute it
// repeatedly. Scales are given for all blocks of the padded length. c is - for an
// instruction without C, and D is nan if it is known to be a NaN but not which. # starts
// a comment.
func Read(r io.Reader) ([]Vector, error) {
	var vectors []Vector
	lines := bufio.NewScanner(r)
	n := 1
	for ; lines.Scan(); n++ {
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
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: longer than %d KiB, which no vector is", n, bufio.MaxScanTokenSize>>10)
	case err != nil:
		return nil, fmt.Errorf("line %d: %w", n, err)
	}
	return vectors, nil
}

func parseVector(fields []string) (v Vector, err error) {
	n := len(fields)
	if n != 7 && n != 9 || fields[n-2] != "=" {
		return v, errors.New("not of the form: id arch/instruction a,.. b,.. c [sa=.. sb=..] = D")
	}
	v.ID = fields[0]
	arch, name, _ := strings.Cut(fields[1], "/")
	if v.Inst, err = mma.Lookup(arch, name); err != nil {
		return v, err
	}
	if v.Inst.Refuse != "" {
		return v, fmt.Errorf("%s has no model: %s", v.Inst.FullName(), v.Inst.Refuse)
	}
	if v.Dot, err = mma.ParseDot(v.Inst.Formats, v.Inst.K, true, fields[2:n-2]); err != nil {
		return v, err
	}
	if d := fields[n-1]; d == "nan" {
		f := v.Inst.D.Get()
		v.Want, v.AnyNaN = f.QuietNaN(false), true
	} else {
		v.Want, err = mma.ParseCode("d", v.Inst.D, d)
	}
	return v, err
}
