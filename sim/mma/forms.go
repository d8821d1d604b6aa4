package mma

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// form is a line of the table of instructions whose names say neither shape nor
// formats: those of processors. A name is the mnemonic, in lower case, followed
// by the modes under which it is executed, each after a dot. (RISC-V's mnemonics
// have dots of their own.) A mode is a setting
// of a control register that changes results: an instruction under another mode
// is another instruction, with a row of its own. Modes come in the order of the
// table below; one that is not named has the value that the register has when a
// program starts.
//
//	x86, MXCSR             rd, ru, rz   rounding control down, up, toward zero (nothing: to nearest even)
//	                       daz          subnormal operands are zeros
//	                       ftz          tiny results are zeros
//	arm, FPCR              ebf0, ebf1   EBF: BFloat16 with unfused or with fused products (always named)
//	                       rd, ru, rz   RMode
//	                       fz, fz16     flush to zero, of operands and results
//	                       dn           default NaN
//	arm, FPMR              e5m2, e4m3   formats of the first and the second operand (always named)
//	                       lscaleN      LSCALE: the sum of products is multiplied by 2^-N
//	                       osm          overflow gives the largest number
//	power10, FPSCR         rd, ru, rz   RN
//	riscv, vtype           e8alt        altfmt = 1 with SEW = 8: vs1 is E5M2, else E4M3
//	wormhole, blackhole    lofi, hifi2, hifi3, hifi4   fidelity phases: 1 to 4 (always named)
//
// The rows of the catalogue that a form belongs to have a decl.mode that makes
// parameters of these words.
type form struct {
	names   string // patterns of mnemonics, separated by blanks
	modes   string // pattern of what may follow, "" for nothing
	m, n    Range
	k       int
	formats string // D.A.B.C, none for no C
}

// one is a single row or column: an operation of vectors is a dot product in each
// lane, which no other lane influences.
var one = Range{1, 1, 1}

// forms are the tables of the catalogue files.
var forms = [][]form{x86Forms, armForms, powerForms, riscvForms, tensixForms, convertForms, integerForms}

// named is what the forms say of a name.
type named struct {
	Instruction // without an architecture
	mnemonic    string
}

// formed has every name of the forms.
var formed = sync.OnceValue(func() map[string]named {
	all := map[string]named{}
	for _, table := range forms {
		for _, f := range table {
			for pattern := range strings.FieldsSeq(f.names) {
				for _, mnemonic := range expand(pattern) {
					for _, name := range expand(mnemonic + f.modes) {
						all[name] = named{f.instruction(name), mnemonic}
					}
				}
			}
		}
	}
	return all
})

func (f form) instruction(name string) Instruction {
	words := strings.Split(f.formats, ".")
	noC := words[3] == "none"
	if noC {
		words = words[:3]
	}
	ids, err := parseFormats(words)
	if err != nil {
		panic(fmt.Sprintf("mma: form of %s: %v", name, err))
	}
	i := Instruction{Name: name, M: f.m, N: f.n, K: f.k, Formats: Formats{D: ids[0], A: ids[1], B: ids[2], C: fp.None, Down: lscale(name)}}
	if !noC {
		i.C = ids[3]
	}
	return i
}

// lscale returns N of a mode lscaleN in a name, 0 without one.
func lscale(name string) uint8 {
	_, after, ok := strings.Cut(name, ".lscale")
	if !ok {
		return 0
	}
	digits, _, _ := strings.Cut(after, ".")
	n, err := strconv.ParseUint(digits, 10, 8)
	if err != nil {
		panic(fmt.Sprintf("mma: form of %s: %v", name, err))
	}
	return uint8(n)
}

// Mnemonic returns the name of a processor's instruction without its modes, and these: the
// settings of control registers under which it is executed. It returns "" and nil for other
// instructions.
func (i *Instruction) Mnemonic() (name string, modes []string) {
	name = formed()[i.Name].mnemonic
	if words, ok := strings.CutPrefix(i.Name, name+"."); ok && name != "" {
		modes = strings.Split(words, ".")
	}
	return name, modes
}
