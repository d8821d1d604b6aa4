// Package spirv writes modules of SPIR-V, the binary language of Vulkan's shaders. It has
// what compute shaders with cooperative matrices need.
package spirv

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Opcode is an instruction of SPIR-V.
type Opcode uint16

// The instructions that are used (SPIR-V specification, section 3; the last four:
// SPV_KHR_cooperative_matrix).
const (
	OpExtension                  Opcode = 10
	OpMemoryModel                Opcode = 14
	OpEntryPoint                 Opcode = 15
	OpExecutionMode              Opcode = 16
	OpCapability                 Opcode = 17
	OpTypeVoid                   Opcode = 19
	OpTypeInt                    Opcode = 21
	OpTypeFloat                  Opcode = 22
	OpTypeVector                 Opcode = 23
	OpTypeRuntimeArray           Opcode = 29
	OpTypeStruct                 Opcode = 30
	OpTypePointer                Opcode = 32
	OpTypeFunction               Opcode = 33
	OpConstant                   Opcode = 43
	OpFunction                   Opcode = 54
	OpFunctionEnd                Opcode = 56
	OpVariable                   Opcode = 59
	OpLoad                       Opcode = 61
	OpAccessChain                Opcode = 65
	OpDecorate                   Opcode = 71
	OpMemberDecorate             Opcode = 72
	OpCompositeExtract           Opcode = 81
	OpIAdd                       Opcode = 128
	OpIMul                       Opcode = 132
	OpLabel                      Opcode = 248
	OpReturn                     Opcode = 253
	OpTypeCooperativeMatrixKHR   Opcode = 4456
	OpCooperativeMatrixLoadKHR   Opcode = 4457
	OpCooperativeMatrixStoreKHR  Opcode = 4458
	OpCooperativeMatrixMulAddKHR Opcode = 4459
)

// Section is a part of a module; a module has them in this order (section 2.4).
type Section int

// The sections.
const (
	Capabilities Section = iota
	Extensions
	MemoryModel
	EntryPoints
	ExecutionModes
	Decorations
	Declarations // types, constants, global variables
	Functions
	sections
)

// ID is the result of an instruction.
type ID = uint32

// Module is a module that is being written. The zero value is empty.
type Module struct {
	words [sections][]uint32
	last  ID
	known map[string]ID // types and constants, which must not be there twice
}

// New returns an ID that stands for nothing yet.
func (m *Module) New() ID {
	m.last++
	return m.last
}

// Emit writes an instruction to a section.
func (m *Module) Emit(s Section, op Opcode, operands ...uint32) {
	m.words[s] = append(append(m.words[s], uint32(1+len(operands))<<16|uint32(op)), operands...)
}

// Once writes an instruction to a section unless the section has it already.
func (m *Module) Once(s Section, op Opcode, operands ...uint32) {
	m.declare(s, op, operands, func() ID {
		m.Emit(s, op, operands...)
		return 0
	})
}

// Type returns the type that an instruction declares. It is declared once.
func (m *Module) Type(op Opcode, operands ...uint32) ID {
	return m.declare(Declarations, op, operands, func() ID {
		id := m.New()
		m.Emit(Declarations, op, append([]uint32{id}, operands...)...)
		return id
	})
}

// Constant returns a constant of a type of 32 bits. It is declared once.
func (m *Module) Constant(kind ID, word uint32) ID {
	return m.declare(Declarations, OpConstant, []uint32{kind, word}, func() ID {
		id := m.New()
		m.Emit(Declarations, OpConstant, kind, id, word)
		return id
	})
}

func (m *Module) declare(s Section, op Opcode, operands []uint32, write func() ID) ID {
	key := fmt.Sprint(s, op, operands)
	id, have := m.known[key]
	if !have {
		if m.known == nil {
			m.known = map[string]ID{}
		}
		id = write()
		m.known[key] = id
	}
	return id
}

// Value writes an instruction with a result of type kind, and returns the result.
func (m *Module) Value(s Section, op Opcode, kind ID, operands ...uint32) ID {
	id := m.New()
	m.Emit(s, op, append([]uint32{kind, id}, operands...)...)
	return id
}

// Text returns a literal string as operands: its bytes, and at least one zero.
func Text(s string) []uint32 {
	b := append([]byte(s), make([]byte, 4-len(s)%4)...)
	words := make([]uint32, len(b)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return words
}

// Bytes returns the module, of SPIR-V 1.6, which Vulkan 1.3 takes.
func (m *Module) Bytes() []byte {
	const magic, version, generator, schema = 0x07230203, 0x00010600, 0, 0
	words := slices.Concat([]uint32{magic, version, generator, m.last + 1, schema}, slices.Concat(m.words[:]...))
	b := make([]byte, 0, 4*len(words))
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}
