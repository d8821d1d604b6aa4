package hip

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Kernel returns the kernel that executes an instruction of the catalogue on a
// chip, such as gfx942. It is an error if the chip does not have the instruction.
func Kernel(i *mma.Instruction, chip string) (*gpu.Kernel, error) {
	if arch, ok := mma.FindArch(chip); !ok || arch.Name != i.Arch {
		return nil, fmt.Errorf("%s is no instruction of %s", i.FullName(), chip)
	}
	f, err := formOf(i)
	if err != nil {
		return nil, err
	}
	k := &kernel{form: f}
	k.layout()
	return &gpu.Kernel{
		Instruction: i,
		Entry:       f.entry(),
		Source:      sourceOf(k.text()),
		Target:      chip,
		M:           f.m,
		N:           f.n,
		Threads:     f.lanes,
		Tiles:       f.blocks,
		In:          k.in,
		Out:         k.out,
		InBytes:     4 * k.inWords,
		OutBytes:    4 * k.outWords,
		Needs:       strings.TrimSpace(f.mnemonic() + " " + f.modifiers()),
	}, nil
}

// entry returns the name of the function.
func (f *form) entry() string { return "mmafuzz_" + f.inst.Name }

// register is an operand of the instruction: registers of each lane, which are
// loaded from the packed input of the tile.
type register struct {
	name   string
	spread *spread
	from   int // its first word in the packed input
	// perTile says that each tile of an instruction has registers of its own, in all
	// lanes. Otherwise the tiles share the registers, each in lanes of its own.
	perTile bool
}

// kernel is an instruction with the places of its operands.
type kernel struct {
	*form
	registers []register
	in        []gpu.Operand
	out       gpu.Operand
	inWords   int
	outWords  int
}

func (k *kernel) layout() {
	a, b, c := k.a(), k.b(), k.c()
	k.add("a", a, gpu.Operand{Role: gpu.RoleA, Bits: a.slot, At: a.at(k.inWords, false)})
	if k.sparse() {
		k.addSparseB(b)
	} else {
		k.add("b", b, gpu.Operand{Role: gpu.RoleB, Bits: b.slot, At: b.at(k.inWords, false)})
	}
	k.add("c", c, gpu.Operand{Role: gpu.RoleC, Bits: c.slot, At: c.at(k.inWords, true)})
	k.registers[2].perTile = !k.inLanes()
	if k.sparse() {
		s, words := k.index()
		k.add("index", s, gpu.Operand{Role: gpu.RoleConst, Bits: 32, At: s.at(k.inWords, false), Fill: words})
	}
	if k.inst.Scale != fp.None {
		a, b := k.scale(k.m), k.scale(k.n)
		k.add("scale_a", a, gpu.Operand{Role: gpu.RoleSA, Bits: 32, At: a.at(k.inWords, false)})
		k.add("scale_b", b, gpu.Operand{Role: gpu.RoleSB, Bits: 32, At: b.at(k.inWords, false)})
	}
	k.out = gpu.Operand{Role: gpu.RoleD, Bits: c.slot, At: c.at(0, true)}
	k.outWords = c.size()
}

// add appends an operand to the packed input.
func (k *kernel) add(name string, s *spread, operands ...gpu.Operand) {
	k.registers = append(k.registers, register{name: name, spread: s, from: k.inWords})
	k.in = append(k.in, operands...)
	k.inWords += s.size()
}

// addSparseB appends B to the packed input: the elements that meet a kept element of A are
// those of the dot product, the others, which must not count, are NaN.
func (k *kernel) addSparseB(s *spread) {
	all := s.at(k.inWords, false)
	b := gpu.Operand{Role: gpu.RoleB, Bits: s.slot}
	rest := gpu.Operand{Role: gpu.RoleConst, Bits: s.slot}
	nan := k.inst.B.Get().QuietNaN(false)
	used := map[int]bool{}
	for e := range k.inst.K {
		used[dense(e)] = true
	}
	for x := range s.side {
		for e := range k.inst.K {
			b.At = append(b.At, all[x*s.count+dense(e)])
		}
		for y := range s.count {
			if !used[y] {
				rest.At, rest.Fill = append(rest.At, all[x*s.count+y]), append(rest.Fill, nan)
			}
		}
	}
	k.add("b", s, b, rest)
}
