package wire

import "github.com/mmafuzz/mmafuzz/sim/mma"

// AppendDot writes a dot product as a line in the text form of mma.ParseDot,
// with all its elements: a script need not fill up what mma.FormatDot leaves out.
func AppendDot(b []byte, f mma.Formats, d *mma.Dot) []byte {
	b = appendCodes(b, f.A.Width(), d.A)
	b = append(b, ' ')
	b = appendCodes(b, f.B.Width(), d.B)
	b = append(b, ' ')
	if w := f.C.Width(); w == 0 {
		b = append(b, '-')
	} else {
		b = appendCode(b, w, d.C)
	}
	if w := f.Scale.Width(); w > 0 {
		b = appendCodes(append(b, " sa="...), w, d.SA)
		b = appendCodes(append(b, " sb="...), w, d.SB)
	}
	return append(b, '\n')
}

func appendCodes(b []byte, width int, codes []uint64) []byte {
	for i, c := range codes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendCode(b, width, c)
	}
	return b
}

// appendCode writes all digits of a code's container.
func appendCode(b []byte, width int, code uint64) []byte {
	for shift := 8*width - 4; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[code>>shift&15])
	}
	return b
}
