package vulkan

import (
	"maps"
	"slices"
	"unsafe"
)

// featureBlock is a structure of features, with those of its flags that are used.
type featureBlock struct {
	extension string // that defines it; "": Vulkan 1.3 does
	kind      uint32
	flags     map[string]int // from a flag's name to its place
}

const (
	extMatrix      = "VK_KHR_cooperative_matrix"
	extMatrix2     = "VK_NV_cooperative_matrix2"
	extBFloat16    = "VK_KHR_shader_bfloat16"
	extFloat8      = "VK_EXT_shader_float8"
	extExecutables = "VK_KHR_pipeline_executable_properties"
)

var featureBlocks = []featureBlock{
	{"", kindFeatures, map[string]int{featureFloat64: 39}},
	{"", kindFeatures12, map[string]int{featureFloat16: 7, featureMemoryModel: 41}},
	{"", kindFeatures13, map[string]int{featureSubgroupSize: 7, featureFullSubgroups: 8}},
	{extMatrix, kindMatrixFeatures, map[string]int{featureMatrix: 0}},
	{extMatrix2, kindMatrix2Features, map[string]int{featureWorkgroup: 0, featureFlexible: 1}},
	{extBFloat16, kindBFloat16, map[string]int{featureBFloat16: 0, featureBFloat16Matrix: 2}},
	{extFloat8, kindFloat8, map[string]int{featureFloat8: 0, featureFloat8Matrix: 1}},
	{extExecutables, kindExecutableFeatures, map[string]int{featureExecutableInfo: 0}},
}

// askFeatures returns which features that are used here a device has, and the chain of
// structures that turns on these and no others.
func (a *api) askFeatures(physical dispatchable, extensions map[string]bool) (have map[string]bool, chain *block) {
	var blocks []*block
	var used []map[string]int
	for _, f := range featureBlocks {
		if f.extension == "" || extensions[f.extension] {
			blocks, used = append(blocks, &block{kind: f.kind}), append(used, f.flags)
		}
	}
	link(blocks)
	a.features(physical, blocks[0])
	have = map[string]bool{}
	for n, b := range blocks {
		answer := b.data
		clear(b.data[:])
		for name, at := range used[n] {
			if answer[at] != 0 {
				have[name], b.data[at] = true, 1
			}
		}
	}
	return have, blocks[0]
}

// link makes a chain of structures.
func link(blocks []*block) {
	for n := range len(blocks) - 1 {
		blocks[n].next = unsafe.Pointer(blocks[n+1])
	}
}

// usedExtensions returns the names of those of a device's extensions that are used here.
func usedExtensions(extensions map[string]bool) []string {
	used := map[string]bool{}
	for _, f := range featureBlocks {
		if extensions[f.extension] {
			used[f.extension] = true
		}
	}
	return slices.Sorted(maps.Keys(used))
}
