package vulkan

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/devices/internal/spirv"
)

// entry is the name of the shader's function.
const entry = "main"

// Values of SPIR-V's enumerations (specification, section 3, and
// SPV_KHR_cooperative_matrix).
const (
	glCompute              = 5
	modeLocalSize          = 17
	addressingLogical      = 0
	memoryModelVulkan      = 3
	storageInput           = 1
	storageBuffer          = 12
	decorationBlock        = 2
	decorationArrayStride  = 6
	decorationBuiltIn      = 11
	decorationNonWritable  = 24
	decorationBinding      = 33
	decorationSet          = 34
	decorationOffset       = 35
	builtInWorkgroupID     = 26
	scopeWorkgroup         = 2
	scopeSubgroup          = 3
	rowMajor               = 0
	columnMajor            = 1
	useA                   = 0
	useB                   = 1
	useAccumulator         = 2
	signedA                = 1
	signedB                = 2
	signedC                = 4
	signedResult           = 8
	saturatingAccumulation = 16
)

// shader is the shader of an instruction: workgroup number t reads A, B and C of tile t
// from the buffer of binding 0, of 32-bit words, and writes D to that of binding 1.
type shader struct {
	*offer
	invocations     int // of a workgroup
	ma, mb, mc, md  matrix
	inWords, toNext int // words of a tile's packed input and output
}

// bytes returns the module.
func (s *shader) bytes() []byte {
	var m spirv.Module
	u32 := m.Type(spirv.OpTypeInt, 32, 0)
	number := func(n int) spirv.ID { return m.Constant(u32, uint32(n)) }
	in, out := s.buffer(&m, 0), s.buffer(&m, 1)
	vector := m.Type(spirv.OpTypeVector, u32, 3)
	group := m.Value(spirv.Declarations, spirv.OpVariable, m.Type(spirv.OpTypePointer, storageInput, vector), storageInput)
	m.Emit(spirv.Decorations, spirv.OpDecorate, group, decorationBuiltIn, builtInWorkgroupID)
	void := m.Type(spirv.OpTypeVoid)
	main := m.Value(spirv.Functions, spirv.OpFunction, void, 0, m.Type(spirv.OpTypeFunction, void))
	m.Emit(spirv.Functions, spirv.OpLabel, m.New())

	value := func(op spirv.Opcode, kind spirv.ID, operands ...uint32) spirv.ID {
		return m.Value(spirv.Functions, op, kind, operands...)
	}
	tile := value(spirv.OpCompositeExtract, u32, value(spirv.OpLoad, vector, group), 0)
	pointer := m.Type(spirv.OpTypePointer, storageBuffer, u32)
	// at returns the address of a matrix of the tile in a buffer.
	at := func(buffer spirv.ID, words int, x *matrix) spirv.ID {
		first := value(spirv.OpIAdd, u32, value(spirv.OpIMul, u32, tile, number(words)), number(x.at/4))
		return value(spirv.OpAccessChain, pointer, buffer, number(0), first)
	}
	layout := func(x *matrix) spirv.ID { return number(map[bool]int{false: rowMajor, true: columnMajor}[x.columns]) }
	load := func(kind spirv.ID, x *matrix) spirv.ID {
		return value(spirv.OpCooperativeMatrixLoadKHR, kind, at(in, s.inWords, x), layout(x), number(x.stride/4))
	}
	scope := scopeSubgroup
	if s.workgroup > 0 {
		scope = scopeWorkgroup
	}
	kind := func(c *component, rows, columns, use int) spirv.ID {
		return m.Type(spirv.OpTypeCooperativeMatrixKHR, s.element(&m, c), number(scope), number(rows), number(columns), number(use))
	}
	a := load(kind(s.a, s.m, s.k, useA), &s.ma)
	b := load(kind(s.b, s.k, s.n, useB), &s.mb)
	c := load(kind(s.c, s.m, s.n, useAccumulator), &s.mc)
	d := value(spirv.OpCooperativeMatrixMulAddKHR, kind(s.d, s.m, s.n, useAccumulator), append([]uint32{a, b, c}, s.operands()...)...)
	m.Emit(spirv.Functions, spirv.OpCooperativeMatrixStoreKHR, at(out, s.toNext, &s.md), d, layout(&s.md), number(s.md.stride/4))
	m.Emit(spirv.Functions, spirv.OpReturn)
	m.Emit(spirv.Functions, spirv.OpFunctionEnd)

	for _, c := range []uint32{capShader, capVulkanMemoryModel, capCooperativeMatrix} {
		m.Once(spirv.Capabilities, spirv.OpCapability, c)
	}
	m.Once(spirv.Extensions, spirv.OpExtension, spirv.Text(extensionMatrix)...)
	m.Emit(spirv.MemoryModel, spirv.OpMemoryModel, addressingLogical, memoryModelVulkan)
	m.Emit(spirv.EntryPoints, spirv.OpEntryPoint, slices.Concat([]uint32{glCompute, main}, spirv.Text(entry), []uint32{in, out, group})...)
	m.Emit(spirv.ExecutionModes, spirv.OpExecutionMode, main, modeLocalSize, uint32(s.invocations), 1, 1)
	return m.Bytes()
}

// buffer declares a storage buffer: a structure with an array of words.
func (s *shader) buffer(m *spirv.Module, binding uint32) spirv.ID {
	array := m.Type(spirv.OpTypeRuntimeArray, m.Type(spirv.OpTypeInt, 32, 0))
	block := m.Type(spirv.OpTypeStruct, array)
	id := m.Value(spirv.Declarations, spirv.OpVariable, m.Type(spirv.OpTypePointer, storageBuffer, block), storageBuffer)
	m.Once(spirv.Decorations, spirv.OpDecorate, array, decorationArrayStride, 4)
	m.Once(spirv.Decorations, spirv.OpDecorate, block, decorationBlock)
	m.Once(spirv.Decorations, spirv.OpMemberDecorate, block, 0, decorationOffset, 0)
	m.Emit(spirv.Decorations, spirv.OpDecorate, id, decorationSet, 0)
	m.Emit(spirv.Decorations, spirv.OpDecorate, id, decorationBinding, binding)
	return id
}

// element declares the type of a matrix' elements.
func (s *shader) element(m *spirv.Module, c *component) spirv.ID {
	for _, word := range c.capabilities {
		m.Once(spirv.Capabilities, spirv.OpCapability, word)
	}
	if c.extension != "" {
		m.Once(spirv.Extensions, spirv.OpExtension, spirv.Text(c.extension)...)
	}
	switch {
	case c.integer() && c.signed:
		return m.Type(spirv.OpTypeInt, c.bits, 1)
	case c.integer():
		return m.Type(spirv.OpTypeInt, c.bits, 0)
	case c.encoding != encodingIEEE:
		return m.Type(spirv.OpTypeFloat, c.bits, uint32(c.encoding))
	}
	return m.Type(spirv.OpTypeFloat, c.bits)
}

// operands returns the mask of OpCooperativeMatrixMulAddKHR, which only integers need.
func (s *shader) operands() []uint32 {
	mask := uint32(0)
	for _, x := range []struct {
		c   *component
		bit uint32
	}{{s.a, signedA}, {s.b, signedB}, {s.c, signedC}, {s.d, signedResult}} {
		if x.c.integer() && x.c.signed {
			mask |= x.bit
		}
	}
	if s.saturating {
		mask |= saturatingAccumulation
	}
	if mask == 0 {
		return nil
	}
	return []uint32{mask}
}
