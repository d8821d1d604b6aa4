package vulkan

import (
	"fmt"
	"strings"
	"structs"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
)

// libraryVar is the environment variable that names the library to load instead of the
// usual one.
const libraryVar = "MMAFUZZ_LIBVULKAN"

// Handles. Dispatchable ones (of instances, devices, queues and command buffers) are
// addresses.
type (
	dispatchable uintptr
	handle       uint64
)

// api has the functions of Vulkan that are used. An int32 result is a VkResult.
type api struct {
	path string

	enumerateInstanceVersion func(version *uint32) int32
	createInstance           func(info *instanceCreateInfo, allocator unsafe.Pointer, instance *dispatchable) int32
	getInstanceProcAddr      func(instance dispatchable, name string) uintptr
	getDeviceProcAddr        func(device dispatchable, name string) uintptr
	destroyInstance          func(instance dispatchable, allocator unsafe.Pointer)
	enumeratePhysicalDevices func(instance dispatchable, count *uint32, devices *dispatchable) int32
	enumerateExtensions      func(physical dispatchable, layer unsafe.Pointer, count *uint32, extensions *extensionProperties) int32
	properties               func(physical dispatchable, properties *block)
	features                 func(physical dispatchable, features *block)
	queueFamilies            func(physical dispatchable, count *uint32, families *queueFamily)
	memoryProperties         func(physical dispatchable, properties *memoryProperties)
	createDevice             func(physical dispatchable, info *deviceCreateInfo, allocator unsafe.Pointer, device *dispatchable) int32
	destroyDevice            func(device dispatchable, allocator unsafe.Pointer)
	deviceQueue              func(device dispatchable, family, index uint32, queue *dispatchable)

	createBuffer       func(device dispatchable, info *bufferCreateInfo, allocator unsafe.Pointer, buffer *handle) int32
	destroyBuffer      func(device dispatchable, buffer handle, allocator unsafe.Pointer)
	bufferRequirements func(device dispatchable, buffer handle, requirements *memoryRequirements)
	allocateMemory     func(device dispatchable, info *memoryAllocateInfo, allocator unsafe.Pointer, memory *handle) int32
	freeMemory         func(device dispatchable, memory handle, allocator unsafe.Pointer)
	bindBufferMemory   func(device dispatchable, buffer, memory handle, offset uint64) int32
	mapMemory          func(device dispatchable, memory handle, offset, size uint64, flags uint32, at *unsafe.Pointer) int32

	createSetLayout      func(device dispatchable, info *setLayoutCreateInfo, allocator unsafe.Pointer, layout *handle) int32
	destroySetLayout     func(device dispatchable, layout handle, allocator unsafe.Pointer)
	createPool           func(device dispatchable, info *poolCreateInfo, allocator unsafe.Pointer, pool *handle) int32
	destroyPool          func(device dispatchable, pool handle, allocator unsafe.Pointer)
	allocateSets         func(device dispatchable, info *setAllocateInfo, set *handle) int32
	updateSets           func(device dispatchable, count uint32, writes *writeSet, copies uint32, copied unsafe.Pointer)
	createPipelineLayout func(device dispatchable, info *pipelineLayoutCreateInfo, allocator unsafe.Pointer, layout *handle) int32
	destroyLayout        func(device dispatchable, layout handle, allocator unsafe.Pointer)
	createShaderModule   func(device dispatchable, info *shaderModuleCreateInfo, allocator unsafe.Pointer, module *handle) int32
	destroyShaderModule  func(device dispatchable, module handle, allocator unsafe.Pointer)
	createPipelines      func(device dispatchable, cache handle, count uint32, infos *pipelineCreateInfo, allocator unsafe.Pointer, pipelines *handle) int32
	destroyPipeline      func(device dispatchable, pipeline handle, allocator unsafe.Pointer)

	createCommandPool      func(device dispatchable, info *commandPoolCreateInfo, allocator unsafe.Pointer, pool *handle) int32
	destroyCommandPool     func(device dispatchable, pool handle, allocator unsafe.Pointer)
	allocateCommandBuffers func(device dispatchable, info *commandBufferAllocateInfo, buffer *dispatchable) int32
	beginCommandBuffer     func(buffer dispatchable, info *commandBufferBeginInfo) int32
	endCommandBuffer       func(buffer dispatchable) int32
	cmdBindPipeline        func(buffer dispatchable, point uint32, pipeline handle)
	cmdBindSets            func(buffer dispatchable, point uint32, layout handle, first, count uint32, sets *handle, dynamics uint32, offsets unsafe.Pointer)
	cmdDispatch            func(buffer dispatchable, x, y, z uint32)
	cmdBarrier             func(buffer dispatchable, from, to, flags, n uint32, barriers *memoryBarrier, buffers uint32, b unsafe.Pointer, images uint32, i unsafe.Pointer)
	queueSubmit            func(queue dispatchable, count uint32, submits *submitInfo, fence handle) int32
	createFence            func(device dispatchable, info *fenceCreateInfo, allocator unsafe.Pointer, fence *handle) int32
	destroyFence           func(device dispatchable, fence handle, allocator unsafe.Pointer)
	waitForFences          func(device dispatchable, count uint32, fences *handle, all uint32, timeout uint64) int32
	resetFences            func(device dispatchable, count uint32, fences *handle) int32

	// Of extensions, from vkGetInstanceProcAddr.
	matrices         func(physical dispatchable, count *uint32, properties *matrixProperties) int32
	flexibleMatrices func(physical dispatchable, count *uint32, properties *matrixProperties) int32
	// Of extensions, from vkGetDeviceProcAddr.
	executables     func(device dispatchable, info *pipelineInfo, count *uint32, properties *executableProperties) int32
	statistics      func(device dispatchable, info *executableInfo, count *uint32, statistics *executableStatistic) int32
	representations func(device dispatchable, info *executableInfo, count *uint32, texts *executableText) int32
}

// loadAPI loads the library.
func loadAPI() (*api, error) {
	if err := dynamic.Supported(); err != nil {
		return nil, err
	}
	lib, path, err := dynamic.Find(libraryVar, "libvulkan.so.1", "libvulkan.so", "vulkan-1.dll")
	if err != nil {
		return nil, fmt.Errorf("the Vulkan loader cannot be loaded: %w: install it (in Debian libvulkan1) with a driver (mesa-vulkan-drivers, or the GPU's own), or name the file in %s", err, libraryVar)
	}
	a := &api{path: path}
	missing := dynamic.BindAll(lib, []dynamic.Function{
		{Name: "vkEnumerateInstanceVersion", Fn: &a.enumerateInstanceVersion},
		{Name: "vkCreateInstance", Fn: &a.createInstance},
		{Name: "vkGetInstanceProcAddr", Fn: &a.getInstanceProcAddr},
		{Name: "vkGetDeviceProcAddr", Fn: &a.getDeviceProcAddr},
		{Name: "vkDestroyInstance", Fn: &a.destroyInstance},
		{Name: "vkEnumeratePhysicalDevices", Fn: &a.enumeratePhysicalDevices},
		{Name: "vkEnumerateDeviceExtensionProperties", Fn: &a.enumerateExtensions},
		{Name: "vkGetPhysicalDeviceProperties2", Fn: &a.properties},
		{Name: "vkGetPhysicalDeviceFeatures2", Fn: &a.features},
		{Name: "vkGetPhysicalDeviceQueueFamilyProperties", Fn: &a.queueFamilies},
		{Name: "vkGetPhysicalDeviceMemoryProperties", Fn: &a.memoryProperties},
		{Name: "vkCreateDevice", Fn: &a.createDevice},
		{Name: "vkDestroyDevice", Fn: &a.destroyDevice},
		{Name: "vkGetDeviceQueue", Fn: &a.deviceQueue},
		{Name: "vkCreateBuffer", Fn: &a.createBuffer},
		{Name: "vkDestroyBuffer", Fn: &a.destroyBuffer},
		{Name: "vkGetBufferMemoryRequirements", Fn: &a.bufferRequirements},
		{Name: "vkAllocateMemory", Fn: &a.allocateMemory},
		{Name: "vkFreeMemory", Fn: &a.freeMemory},
		{Name: "vkBindBufferMemory", Fn: &a.bindBufferMemory},
		{Name: "vkMapMemory", Fn: &a.mapMemory},
		{Name: "vkCreateDescriptorSetLayout", Fn: &a.createSetLayout},
		{Name: "vkDestroyDescriptorSetLayout", Fn: &a.destroySetLayout},
		{Name: "vkCreateDescriptorPool", Fn: &a.createPool},
		{Name: "vkDestroyDescriptorPool", Fn: &a.destroyPool},
		{Name: "vkAllocateDescriptorSets", Fn: &a.allocateSets},
		{Name: "vkUpdateDescriptorSets", Fn: &a.updateSets},
		{Name: "vkCreatePipelineLayout", Fn: &a.createPipelineLayout},
		{Name: "vkDestroyPipelineLayout", Fn: &a.destroyLayout},
		{Name: "vkCreateShaderModule", Fn: &a.createShaderModule},
		{Name: "vkDestroyShaderModule", Fn: &a.destroyShaderModule},
		{Name: "vkCreateComputePipelines", Fn: &a.createPipelines},
		{Name: "vkDestroyPipeline", Fn: &a.destroyPipeline},
		{Name: "vkCreateCommandPool", Fn: &a.createCommandPool},
		{Name: "vkDestroyCommandPool", Fn: &a.destroyCommandPool},
		{Name: "vkAllocateCommandBuffers", Fn: &a.allocateCommandBuffers},
		{Name: "vkBeginCommandBuffer", Fn: &a.beginCommandBuffer},
		{Name: "vkEndCommandBuffer", Fn: &a.endCommandBuffer},
		{Name: "vkCmdBindPipeline", Fn: &a.cmdBindPipeline},
		{Name: "vkCmdBindDescriptorSets", Fn: &a.cmdBindSets},
		{Name: "vkCmdDispatch", Fn: &a.cmdDispatch},
		{Name: "vkCmdPipelineBarrier", Fn: &a.cmdBarrier},
		{Name: "vkQueueSubmit", Fn: &a.queueSubmit},
		{Name: "vkCreateFence", Fn: &a.createFence},
		{Name: "vkDestroyFence", Fn: &a.destroyFence},
		{Name: "vkWaitForFences", Fn: &a.waitForFences},
		{Name: "vkResetFences", Fn: &a.resetFences},
	})
	if missing != nil {
		return nil, fmt.Errorf("%s has no function %s: is it older than Vulkan 1.3, or another library?", path, strings.Join(missing, ", "))
	}
	return a, nil
}

// ofInstance sets the variable of function type at fn to a function of an extension, and
// reports whether there is such a function.
func (a *api) ofInstance(instance dispatchable, name string, fn any) bool {
	return bound(a.getInstanceProcAddr(instance, name), fn)
}

// ofDevice is ofInstance for functions of a device.
func (a *api) ofDevice(device dispatchable, name string, fn any) bool {
	return bound(a.getDeviceProcAddr(device, name), fn)
}

func bound(address uintptr, fn any) bool {
	if address != 0 {
		dynamic.BindAddress(address, fn)
	}
	return address != 0
}

// The structures have the layout of vulkan_core.h on machines of 64 bits. A kind is a
// VkStructureType, next is a chain of structures that extensions add.

const (
	kindApplication        = 0
	kindInstance           = 1
	kindQueueCreate        = 2
	kindDevice             = 3
	kindSubmit             = 4
	kindMemoryAllocate     = 5
	kindFence              = 8
	kindBuffer             = 12
	kindShaderModule       = 16
	kindStage              = 18
	kindPipeline           = 29
	kindPipelineLayout     = 30
	kindSetLayout          = 32
	kindPool               = 33
	kindSetAllocate        = 34
	kindWriteSet           = 35
	kindCommandPool        = 39
	kindCommandAllocate    = 40
	kindCommandBegin       = 42
	kindMemoryBarrier      = 46
	kindProperties11       = 50
	kindFeatures12         = 51
	kindProperties12       = 52
	kindFeatures13         = 53
	kindProperties13       = 54
	kindFeatures           = 1000059000
	kindProperties         = 1000059001
	kindBFloat16           = 1000141000
	kindPCI                = 1000212000
	kindRequiredSubgroup   = 1000225001
	kindExecutableFeatures = 1000269000
	kindPipelineInfo       = 1000269001
	kindExecutable         = 1000269002
	kindExecutableInfo     = 1000269003
	kindStatistic          = 1000269004
	kindRepresentation     = 1000269005
	kindMatrixFeatures     = 1000506000
	kindMatrix             = 1000506001
	kindFloat8             = 1000567000
	kindMatrix2Features    = 1000593000
	kindFlexibleMatrix     = 1000593001
)

// block is a structure of properties or of features, whose contents are 32-bit words. It is
// as large as the largest such structure that is asked for.
type block struct {
	_    structs.HostLayout
	kind uint32
	next unsafe.Pointer
	data [208]uint32
}

type applicationInfo struct {
	_             structs.HostLayout
	kind          uint32
	next          unsafe.Pointer
	name          *byte
	version       uint32
	engine        *byte
	engineVersion uint32
	apiVersion    uint32
}

type instanceCreateInfo struct {
	_           structs.HostLayout
	kind        uint32
	next        unsafe.Pointer
	flags       uint32
	application *applicationInfo
	layerCount  uint32
	layers      unsafe.Pointer
	extCount    uint32
	extensions  unsafe.Pointer
}

type extensionProperties struct {
	_       structs.HostLayout
	name    [256]byte
	version uint32
}

type queueFamily struct {
	_                           structs.HostLayout
	flags, count, timestampBits uint32
	granularity                 [3]uint32
}

type memoryProperties struct {
	_         structs.HostLayout
	typeCount uint32
	types     [32]struct{ flags, heap uint32 }
	heapCount uint32
	heaps     [16]struct {
		size  uint64
		flags uint64
	}
}

type queueCreateInfo struct {
	_             structs.HostLayout
	kind          uint32
	next          unsafe.Pointer
	flags         uint32
	family, count uint32
	priorities    *float32
}

type deviceCreateInfo struct {
	_          structs.HostLayout
	kind       uint32
	next       unsafe.Pointer
	flags      uint32
	queueCount uint32
	queues     *queueCreateInfo
	layerCount uint32
	layers     unsafe.Pointer
	extCount   uint32
	extensions **byte
	features   unsafe.Pointer
}

type bufferCreateInfo struct {
	_             structs.HostLayout
	kind          uint32
	next          unsafe.Pointer
	flags         uint32
	size          uint64
	usage         uint32
	sharing       uint32
	familyCount   uint32
	queueFamilies unsafe.Pointer
}

type memoryRequirements struct {
	_               structs.HostLayout
	size, alignment uint64
	types           uint32
}

type memoryAllocateInfo struct {
	_          structs.HostLayout
	kind       uint32
	next       unsafe.Pointer
	size       uint64
	memoryType uint32
}

type setLayoutBinding struct {
	_                                  structs.HostLayout
	binding, descriptor, count, stages uint32
	samplers                           unsafe.Pointer
}

type setLayoutCreateInfo struct {
	_        structs.HostLayout
	kind     uint32
	next     unsafe.Pointer
	flags    uint32
	count    uint32
	bindings *setLayoutBinding
}

type poolSize struct{ descriptor, count uint32 }

type poolCreateInfo struct {
	_       structs.HostLayout
	kind    uint32
	next    unsafe.Pointer
	flags   uint32
	maxSets uint32
	count   uint32
	sizes   *poolSize
}

type setAllocateInfo struct {
	_       structs.HostLayout
	kind    uint32
	next    unsafe.Pointer
	pool    handle
	count   uint32
	layouts *handle
}

type bufferInfo struct {
	_             structs.HostLayout
	buffer        handle
	offset, bytes uint64
}

type writeSet struct {
	_                                   structs.HostLayout
	kind                                uint32
	next                                unsafe.Pointer
	set                                 handle
	binding, element, count, descriptor uint32
	images                              unsafe.Pointer
	buffers                             *bufferInfo
	texels                              unsafe.Pointer
}

type pipelineLayoutCreateInfo struct {
	_          structs.HostLayout
	kind       uint32
	next       unsafe.Pointer
	flags      uint32
	setCount   uint32
	sets       *handle
	rangeCount uint32
	ranges     unsafe.Pointer
}

type shaderModuleCreateInfo struct {
	_     structs.HostLayout
	kind  uint32
	next  unsafe.Pointer
	flags uint32
	size  uint64
	code  *byte
}

type requiredSubgroup struct {
	_    structs.HostLayout
	kind uint32
	next unsafe.Pointer
	size uint32
}

type stageCreateInfo struct {
	_              structs.HostLayout
	kind           uint32
	next           unsafe.Pointer
	flags          uint32
	stage          uint32
	module         handle
	name           *byte
	specialization unsafe.Pointer
}

type pipelineCreateInfo struct {
	_         structs.HostLayout
	kind      uint32
	next      unsafe.Pointer
	flags     uint32
	stage     stageCreateInfo
	layout    handle
	base      handle
	baseIndex int32
}

type commandPoolCreateInfo struct {
	_      structs.HostLayout
	kind   uint32
	next   unsafe.Pointer
	flags  uint32
	family uint32
}

type commandBufferAllocateInfo struct {
	_     structs.HostLayout
	kind  uint32
	next  unsafe.Pointer
	pool  handle
	level uint32
	count uint32
}

type commandBufferBeginInfo struct {
	_           structs.HostLayout
	kind        uint32
	next        unsafe.Pointer
	flags       uint32
	inheritance unsafe.Pointer
}

type memoryBarrier struct {
	_        structs.HostLayout
	kind     uint32
	next     unsafe.Pointer
	from, to uint32
}

type submitInfo struct {
	_           structs.HostLayout
	kind        uint32
	next        unsafe.Pointer
	waitCount   uint32
	waits       unsafe.Pointer
	waitStages  unsafe.Pointer
	count       uint32
	buffers     *dispatchable
	signalCount uint32
	signals     unsafe.Pointer
}

type fenceCreateInfo struct {
	_     structs.HostLayout
	kind  uint32
	next  unsafe.Pointer
	flags uint32
}

// matrixProperties is VkCooperativeMatrixPropertiesKHR without the field invocations, and
// with it VkCooperativeMatrixFlexibleDimensionsPropertiesNV, whose m, n and k are
// granularities.
type matrixProperties struct {
	_           structs.HostLayout
	kind        uint32
	next        unsafe.Pointer
	m, n, k     uint32
	a, b, c, d  uint32
	saturating  uint32
	scope       uint32
	invocations uint32
}

type pipelineInfo struct {
	_        structs.HostLayout
	kind     uint32
	next     unsafe.Pointer
	pipeline handle
}

type executableInfo struct {
	_        structs.HostLayout
	kind     uint32
	next     unsafe.Pointer
	pipeline handle
	index    uint32
}

type executableProperties struct {
	_           structs.HostLayout
	kind        uint32
	next        unsafe.Pointer
	stages      uint32
	name        [256]byte
	description [256]byte
	subgroup    uint32
}

type executableStatistic struct {
	_           structs.HostLayout
	kind        uint32
	next        unsafe.Pointer
	name        [256]byte
	description [256]byte
	format      uint32
	value       uint64
}

type executableText struct {
	_           structs.HostLayout
	kind        uint32
	next        unsafe.Pointer
	name        [256]byte
	description [256]byte
	isText      uint32
	size        uintptr
	data        *byte
}

// cText returns the text of a buffer up to its zero byte.
func cText(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// cString returns a text that ends with a zero byte.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }
