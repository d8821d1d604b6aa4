package vulkan

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// component is a type of the elements of a cooperative matrix.
type component struct {
	name   string // in names of instructions
	code   uint32 // VkComponentTypeKHR
	format fp.ID  // none for integers
	bits   uint32
	// signed says that an integer has a sign.
	signed bool
	// encoding is the FPEncoding of a float that is not one of IEEE 754's formats (section
	// 3 of the extensions below), -1 for all other types.
	encoding     int
	capabilities []uint32
	extension    string   // of SPIR-V
	needs        []string // features of a device
}

// Capabilities of SPIR-V.
const (
	capShader             = 1
	capFloat16            = 9
	capFloat64            = 10
	capInt64              = 11
	capInt16              = 22
	capInt8               = 39
	capFloat8             = 4212
	capFloat8Matrix       = 4213
	capBFloat16           = 5116
	capBFloat16Matrix     = 5118
	capVulkanMemoryModel  = 5345
	capCooperativeMatrix  = 6022
	encodingBFloat16      = 0
	encodingE4M3          = 4214
	encodingE5M2          = 4215
	encodingIEEE          = -1
	extensionMatrix       = "SPV_KHR_cooperative_matrix"
	extensionBFloat16     = "SPV_KHR_bfloat16"
	extensionFloat8       = "SPV_EXT_float8"
	featureMatrix         = "cooperativeMatrix"
	featureMemoryModel    = "vulkanMemoryModel"
	featureFloat16        = "shaderFloat16"
	featureFloat64        = "shaderFloat64"
	featureBFloat16       = "shaderBFloat16Type"
	featureBFloat16Matrix = "shaderBFloat16CooperativeMatrix"
	featureFloat8         = "shaderFloat8"
	featureFloat8Matrix   = "shaderFloat8CooperativeMatrix"
	featureWorkgroup      = "cooperativeMatrixWorkgroupScope"
	featureFlexible       = "cooperativeMatrixFlexibleDimensions"
	featureSubgroupSize   = "subgroupSizeControl"
	featureFullSubgroups  = "computeFullSubgroups"
	featureExecutableInfo = "pipelineExecutableInfo"
)

// components are the types that the extensions define. This project has no number formats
// for integers: instructions with them are listed but not run.
var components = []component{
	{"f16", 0, fp.FP16, 16, true, encodingIEEE, []uint32{capFloat16}, "", []string{featureFloat16}},
	{"f32", 1, fp.FP32, 32, true, encodingIEEE, nil, "", nil},
	{"f64", 2, fp.FP64, 64, true, encodingIEEE, []uint32{capFloat64}, "", []string{featureFloat64}},
	{"s8", 3, fp.None, 8, true, encodingIEEE, []uint32{capInt8}, "", nil},
	{"s16", 4, fp.None, 16, true, encodingIEEE, []uint32{capInt16}, "", nil},
	{"s32", 5, fp.None, 32, true, encodingIEEE, nil, "", nil},
	{"s64", 6, fp.None, 64, true, encodingIEEE, []uint32{capInt64}, "", nil},
	{"u8", 7, fp.None, 8, false, encodingIEEE, []uint32{capInt8}, "", nil},
	{"u16", 8, fp.None, 16, false, encodingIEEE, []uint32{capInt16}, "", nil},
	{"u32", 9, fp.None, 32, false, encodingIEEE, nil, "", nil},
	{"u64", 10, fp.None, 64, false, encodingIEEE, []uint32{capInt64}, "", nil},
	{"bf16", 1000141000, fp.BF16, 16, true, encodingBFloat16, []uint32{capBFloat16, capBFloat16Matrix}, extensionBFloat16,
		[]string{featureBFloat16, featureBFloat16Matrix}},
	{"e4m3", 1000491002, fp.E4M3, 8, true, encodingE4M3, []uint32{capFloat8, capFloat8Matrix}, extensionFloat8,
		[]string{featureFloat8, featureFloat8Matrix}},
	{"e5m2", 1000491003, fp.E5M2, 8, true, encodingE5M2, []uint32{capFloat8, capFloat8Matrix}, extensionFloat8,
		[]string{featureFloat8, featureFloat8Matrix}},
}

// integer reports whether the elements are integers.
func (c *component) integer() bool { return c.format == fp.None }

// unknownType is the name, with the code, of a type that is not among the components.
const unknownType = "type%d"

// componentOf returns the type of a code of VkComponentTypeKHR. An unknown type has only a
// name and its code.
func componentOf(code uint32) *component {
	for i := range components {
		if components[i].code == code {
			return &components[i]
		}
	}
	return &component{name: fmt.Sprintf(unknownType, code), code: code}
}

// componentNamed returns the type of a name, nil if there is none.
func componentNamed(name string) *component {
	for i := range components {
		if components[i].name == name {
			return &components[i]
		}
	}
	var code uint32
	if _, err := fmt.Sscanf(name, unknownType, &code); err == nil {
		return componentOf(code)
	}
	return nil
}
