// Package forms has other forms of the instructions that package cpu executes:
// other vector lengths, memory operands, broadcast, masks, scalars. The tests show
// that the form does not matter, so that package cpu needs only one form of each.
package forms

// Body is as in package cpu: it executes an instruction on groups of dot products.
type Body func(d, a, b *byte, groups int, control uint64)

// Form is a form of an instruction of package cpu.
type Form struct {
	Mnemonic string // the instruction's name there
	Name     string
	Group    int // dot products that Body takes at a time
	Body     Body
	Has      func() bool // reports whether a processor with the instruction has the form too
}
