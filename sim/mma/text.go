package mma

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// The text form of a dot product is
//
//	a0,a1,.. b0,b1,.. c [sa=s0,.. sb=s0,..]
//
// in hexadecimal codes of all digits of their format's container: two for FP8,
// FP6, FP4 and scales, four for FP16 and BF16, eight for FP32 and the TF32
// register, sixteen for FP64. c is - for an instruction without C.

// FormatDot writes a dot product. Trailing zeros of a and b are left out, but
// not the first element.
func FormatDot(f Formats, d *Dot) string {
	n := len(d.A)
	for n > 1 && d.A[n-1]|d.B[n-1] == 0 {
		n--
	}
	s := formatCodes(f.A, d.A[:n]) + " " + formatCodes(f.B, d.B[:n]) + " " + FormatCode(f.C, d.C)
	if f.Scale != fp.None {
		s += " sa=" + formatCodes(f.Scale, d.SA) + " sb=" + formatCodes(f.Scale, d.SB)
	}
	return s
}

func formatCodes(id fp.ID, codes []uint64) string {
	s := make([]string, len(codes))
	for i, c := range codes {
		s[i] = FormatCode(id, c)
	}
	return strings.Join(s, ",")
}

// FormatCode writes a code with all digits of its container, - for None.
func FormatCode(id fp.ID, code uint64) string {
	if id == fp.None {
		return "-"
	}
	return fmt.Sprintf("%0*x", id.Get().Digits(), code)
}

// ParseDot reads the fields of a dot product of k elements. Shorter a and b are
// filled up with zeros; longer ones, with chain, to a multiple of k, and without
// it they are an error. There must be a scale for every block.
func ParseDot(f Formats, k int, chain bool, fields []string) (*Dot, error) {
	if f.B == fp.One && f.C == fp.None && len(fields) == 1 {
		fields = []string{fields[0], "00"}
	}
	if f.C == fp.None && f.Scale == fp.None && len(fields) == 2 {
		fields = []string{fields[0], fields[1], "-"}
	}
	if len(fields) != 3 && len(fields) != 5 {
		return nil, errors.New("not of the form: a0,a1,.. b0,b1,.. c [sa=.. sb=..]")
	}
	a, err := parseCodes("a", f.A, fields[0])
	if err != nil {
		return nil, err
	}
	b, err := parseCodes("b", f.B, fields[1])
	if err != nil {
		return nil, err
	}
	n := max(len(a), len(b))
	if n > k && !chain {
		return nil, fmt.Errorf("%d elements, but the instruction has K = %d (--chain executes it repeatedly)", n, k)
	}
	d := NewDot(f, max((n+k-1)/k, 1)*k)
	copy(d.A, a)
	copy(d.B, b)
	if f.C == fp.None && fields[2] != "-" {
		// C does not take part; a code of D's format may stand there all the same.
		_, err = ParseCode("c", f.D, fields[2])
	} else {
		d.C, err = ParseCode("c", f.C, fields[2])
	}
	if err != nil {
		return nil, err
	}
	return d, parseScales(f.Scale, d, fields[3:])
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
		//lint:ignore ST1005 the dots are part of the form
		return errors.New("the instruction needs scales: sa=.. sb=..")
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
		c, err := ParseCode(what, id, s)
		if err != nil {
			return nil, err
		}
		codes = append(codes, c)
	}
	return codes, nil
}

// ParseCode reads a code of all digits of its container; - for None.
func ParseCode(what string, id fp.ID, s string) (uint64, error) {
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
