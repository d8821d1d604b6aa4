package gpu

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// format returns the instruction's format of a role's codes.
func (k *Kernel) format(r Role) fp.ID {
	f := k.Instruction.Formats
	switch r {
	case RoleA:
		return f.A
	case RoleB:
		return f.B
	case RoleC:
		return f.C
	case RoleD:
		return f.D
	case RoleSA, RoleSB:
		return f.Scale
	}
	return fp.None
}

// elements returns how many elements of a role a tile has.
func (k *Kernel) elements(r Role) int {
	i := k.Instruction
	switch r {
	case RoleA:
		return k.M * i.K
	case RoleB:
		return k.N * i.K
	case RoleC, RoleD:
		return k.M * k.N
	case RoleSA:
		return k.M * i.Blocks(i.K)
	case RoleSB:
		return k.N * i.Blocks(i.K)
	}
	return 0
}

// shape returns the shape of a batch with the given number of tiles.
func (k *Kernel) shape(tiles int) mma.Shape {
	return mma.Shape{M: k.M, N: k.N, K: k.Instruction.K, Tiles: tiles}
}

// Check returns what is wrong with the tables of a kernel, nil if they are complete and
// without contradiction: every element has its place, no two share a bit, and every bit of
// the packed buffers belongs to an operand or to declared constants.
func (k *Kernel) Check() error {
	if !k.Instruction.M.Contains(k.M) || !k.Instruction.N.Contains(k.N) {
		return fmt.Errorf("%s: no tile has %d rows and %d columns", k.Entry, k.M, k.N)
	}
	if err := k.checkRoles(); err != nil {
		return fmt.Errorf("%s: %w", k.Entry, err)
	}
	if err := k.cover(k.In, k.InBytes); err != nil {
		return fmt.Errorf("%s: input: %w", k.Entry, err)
	}
	if err := k.cover([]Operand{k.Out}, k.OutBytes); err != nil {
		return fmt.Errorf("%s: output: %w", k.Entry, err)
	}
	return nil
}

// checkRoles requires that each operand of the instruction is there exactly once.
func (k *Kernel) checkRoles() error {
	seen := map[Role]int{}
	for _, o := range k.In {
		seen[o.Role]++
	}
	for _, r := range []Role{RoleA, RoleB, RoleC, RoleSA, RoleSB} {
		want := 0
		if k.format(r) != fp.None {
			want = 1
		}
		if seen[r] != want {
			return fmt.Errorf("%d operands %q, want %d", seen[r], r, want)
		}
	}
	if seen[RoleD] != 0 || k.Out.Role != RoleD {
		return fmt.Errorf("the output is %q, and there are %d outputs among the inputs", k.Out.Role, seen[RoleD])
	}
	return nil
}

// cover requires that operands fill a buffer of the given number of bytes without overlap.
func (k *Kernel) cover(operands []Operand, bytes int) error {
	owner := make([]Role, 8*bytes)
	for n := range operands {
		o := &operands[n]
		if err := k.checkOperand(o); err != nil {
			return fmt.Errorf("operand %q: %w", o.Role, err)
		}
		for i, at := range o.At {
			if at < 0 || at+o.Bits > len(owner) {
				return fmt.Errorf("operand %q: element %d at bit %d is outside of %d bytes", o.Role, i, at, bytes)
			}
			for b := at; b < at+o.Bits; b++ {
				if owner[b] != "" {
					return fmt.Errorf("bit %d belongs to %q and to element %d of %q", b, owner[b], i, o.Role)
				}
				owner[b] = o.Role
			}
		}
	}
	for b, r := range owner {
		if r == "" {
			return fmt.Errorf("bit %d belongs to nothing", b)
		}
	}
	return nil
}

// checkOperand requires the right number of elements in large enough containers.
func (k *Kernel) checkOperand(o *Operand) error {
	if o.Bits < 1 || o.Bits > 64 {
		return fmt.Errorf("a container of %d bits", o.Bits)
	}
	if o.Role == RoleConst {
		if o.Fill != nil && len(o.Fill) != len(o.At) {
			return fmt.Errorf("%d words for %d places", len(o.Fill), len(o.At))
		}
		for i, w := range o.Fill {
			if w>>o.Bits != 0 { // 0 for 64 bits
				return fmt.Errorf("word %d, %#x, has more than %d bits", i, w, o.Bits)
			}
		}
		return nil
	}
	if n := k.elements(o.Role); len(o.At) == 0 || len(o.At)%n != 0 {
		return fmt.Errorf("%d places for %d elements", len(o.At), n)
	}
	if code := int(k.format(o.Role).Get().CodeBits()); o.Shift < 0 || code+o.Shift > o.Bits {
		return fmt.Errorf("%d bits shifted by %d do not fit %d bits", code, o.Shift, o.Bits)
	}
	return nil
}
