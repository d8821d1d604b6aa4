package readable

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Terms writes a dot product without the products that are zero:
// p3=3c00*3c00 c=3f800000. That of a conversion is a=3c00, or a=3c00 scale=7f.
func Terms(f mma.Formats, d *mma.Dot) string {
	var words []string
	if f.Conversion() && len(d.A) == 1 {
		words = append(words, "a="+mma.FormatCode(f.A, d.A[0]))
		if name := Beside(f); name != "" {
			words = append(words, name+"="+mma.FormatCode(f.B, d.B[0]))
		}
		return strings.Join(words, " ")
	}
	used := map[int]bool{}
	for k := range d.A {
		if d.A[k]|d.B[k] == 0 {
			continue
		}
		if f.B == fp.One {
			words = append(words, "a="+mma.FormatCode(f.A, d.A[k]))
			continue
		}
		words = append(words, fmt.Sprintf("p%d=%s*%s", k, mma.FormatCode(f.A, d.A[k]), mma.FormatCode(f.B, d.B[k])))
		if f.Scale != fp.None {
			used[k/int(f.Block)] = true
		}
	}
	for i := range d.SA {
		if used[i] {
			words = append(words, fmt.Sprintf("s%d=%s*%s", i, mma.FormatCode(f.Scale, d.SA[i]), mma.FormatCode(f.Scale, d.SB[i])))
		}
	}
	if f.C != fp.None {
		words = append(words, "c="+mma.FormatCode(f.C, d.C))
	}
	return strings.Join(words, " ")
}
