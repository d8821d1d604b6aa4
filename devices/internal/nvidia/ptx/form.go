package ptx

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// form is an instruction as PTX sees it: what its name in the catalogue says.
type form struct {
	inst    *mma.Instruction
	family  string // mma, mma.sp, wmma, wgmma, tcgen05
	kind    string // f8f6f4 and so on, "" if the name has none
	m, n, k int    // the shape in its name; for mma.sp k counts all columns, inst.K the kept ones
	ending  string // what follows the formats: a rounding of f64, satfinite, or the operation on bits; "" for nothing
}

// endings matches what can follow the formats in a name.
var endings = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\.(r[zmp]|satfinite|(?:and|xor)\.popc)$`) })

// parse reads the name of an instruction of the catalogue.
func parse(inst *mma.Instruction) (*form, error) {
	f := &form{inst: inst}
	fields := strings.Split(inst.Name, ".")
	f.family, fields = fields[0], fields[1:]
	if len(fields) > 0 && fields[0] == "sp" {
		f.family, fields = f.family+".sp", fields[1:]
	}
	if len(fields) == 0 {
		return nil, fmt.Errorf("%s is not a PTX instruction", inst.FullName())
	}
	if _, err := fmt.Sscanf(fields[0], "m%dn%dk%d", &f.m, &f.n, &f.k); err != nil {
		return nil, fmt.Errorf("%s is not a PTX instruction", inst.FullName())
	}
	for _, field := range fields[1:] {
		if kind, ok := strings.CutPrefix(field, "kind::"); ok {
			f.kind = kind
		}
	}
	if m := endings().FindStringSubmatch(inst.Name); m != nil {
		f.ending = m[1]
	}
	return f, nil
}

// scaled reports whether the form has block scales.
func (f *form) scaled() bool { return f.inst.Scale != fp.None }

// sparse reports whether A consists of the half of its elements that it keeps.
func (f *form) sparse() bool { return f.family == "mma.sp" }

// vec returns the number of scales of a row: N in scale_vec::NX.
func (f *form) vec() int { return f.inst.Blocks(f.inst.K) }

// shape returns the shape as PTX writes it, such as m16n8k16.
func (f *form) shape() string { return fmt.Sprintf("m%dn%dk%d", f.m, f.n, f.k) }

// typeNames are PTX's names of formats where they differ from this project's.
var typeNames = map[fp.ID]string{fp.FP64: "f64", fp.FP32: "f32", fp.FP16: "f16"}

func typeName(id fp.ID) string {
	if n, ok := typeNames[id]; ok {
		return n
	}
	return id.String()
}

// types writes the types of operands, D.A.B.C.
func types(ids ...fp.ID) string {
	var s strings.Builder
	for _, id := range ids {
		s.WriteString("." + typeName(id))
	}
	return s.String()
}

// container returns how many bits an element of A or B takes in a register or, without
// padding, in shared memory.
func (f *form) container(id fp.ID) int {
	switch {
	case strings.HasPrefix(f.kind, "mxf4"):
		return 4
	case id.Integer():
		return int(id.Get().CodeBits())
	}
	return 8 * id.Width()
}

// shift returns where the code begins in the container: in a byte, an FP4 element has
// bits 5..2, an FP6 element bits 5..0.
func (f *form) shift(id fp.ID) int {
	if id == fp.E2M1 && f.container(id) == 8 {
		return 2
	}
	return 0
}

// sassPattern returns a regular expression for the mnemonic of the machine instruction
// (SASS) that executes the form natively.
func (f *form) sassPattern() string {
	i := f.inst
	eight := i.A.Width() == 1
	switch {
	case i.A == fp.B1:
		return "^BMMA"
	case i.A.Integer() && f.container(i.A) == 4:
		return `^IMMA\.4`
	case i.A.Integer():
		return map[string]string{"mma": "^IMMA", "mma.sp": "^IMMA", "wmma": "^IMMA", "wgmma": "^IGMMA", "tcgen05": "^UTCIMMA"}[f.family]
	case i.A == fp.FP64:
		return "^DMMA"
	case f.family == "wgmma" && eight:
		return "^QGMMA"
	case f.family == "wgmma":
		return "^HGMMA"
	case f.family == "tcgen05" && strings.HasPrefix(f.kind, "mxf4"):
		return "^UTCOMMA"
	case f.family == "tcgen05" && eight:
		return "^UTCQMMA"
	case f.family == "tcgen05":
		return "^UTCHMMA"
	case strings.HasPrefix(f.kind, "mxf4"):
		return "^OMMA"
	case eight:
		return "^QMMA"
	}
	return "^HMMA"
}
