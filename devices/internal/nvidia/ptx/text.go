package ptx

import (
	"fmt"
	"strings"
)

// module writes PTX.
type module struct{ strings.Builder }

// op writes an instruction.
func (m *module) op(format string, args ...any) {
	fmt.Fprintf(m, "\t"+format+";\n", args...)
}

// note writes a comment.
func (m *module) note(text string) { fmt.Fprintf(m, "\n\t// %s\n", text) }

// head writes the beginning of a module with one entry, up to its declarations.
func (m *module) head(t *target, entry string, threads int) {
	fmt.Fprintf(m, ".version %d.%d\n.target %s\n.address_size 64\n\n", t.version/10, t.version%10, t.name)
	fmt.Fprintf(m, ".visible .entry %s(\n\t.param .u64 in,\n\t.param .u64 out,\n\t.param .u32 tiles\n)\n.reqntid %d\n{\n", entry, threads)
}

// list writes the names of registers in braces.
func (r *registers) list() string {
	names := make([]string, r.n)
	for i := range names {
		names[i] = fmt.Sprintf("%%%s%d", r.name, i)
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// declare writes the declaration of registers.
func (m *module) declare(regs ...registers) {
	for _, r := range regs {
		m.op(".reg .b%d %%%s<%d>", r.bits, r.name, r.n)
	}
}

// load and store write one instruction for each register; base holds the address
// of the lane's first word of the tile.
func (m *module) load(r *registers, base string) {
	for i := range r.n {
		m.op("ld.global.b%d %%%s%d, [%s+%d]", r.bits, r.name, i, base, r.at+i*r.stride)
	}
}

func (m *module) store(r *registers, base string) {
	for i := range r.n {
		m.op("st.global.b%d [%s+%d], %%%s%d", r.bits, base, r.at+i*r.stride, r.name, i)
	}
}
