package vulkan

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// device is a device in use by this process.
type device struct {
	*api
	x        *gpu.Executor // only one thread at a time may use the queue and the command buffer
	target   string        // its name
	deadline time.Duration
	lost     bool // after VK_ERROR_DEVICE_LOST

	instance, physical, device, queue dispatchable
	info                              info
	has                               map[string]bool // features
	offers                            []offer
	subgroup                          int  // size
	pinned                            bool // shaders can ask for the size

	set            handle // of the two buffers
	setLayout      handle
	pipelineLayout handle
	pool           handle // of the set
	commandPool    handle
	commands       dispatchable
	fence          handle
	memory         memoryProperties
	pipelines      []handle
	in, out        buffer
}

// info is what a device says about itself.
type info struct {
	title                            string
	apiVersion, driverVersion        uint32
	vendor, id, kind                 uint32
	uuid                             [16]byte
	driverID                         uint32
	driverName, driverInfo           string
	subgroup, minSubgroup, maxGroups uint32
	pinned                           bool   // shaders can ask for a size of the subgroups
	pci                              string // address, 0000:c1:00.0
}

// callTime is how long calls may take that run no shader: looking for the drivers of a
// machine with many GPUs takes some seconds, and so may compiling.
const callTime = time.Minute

// apiVersion is the version of Vulkan that is needed, 1.3.
const apiVersion = 1<<22 | 3<<12

// versionText writes a version of Vulkan.
func versionText(v uint32) string { return fmt.Sprintf("%d.%d.%d", v>>22&0x7f, v>>12&0x3ff, v&0xfff) }

// openDevice makes a device of this machine ready for use.
func openDevice(target string, ordinal int, o *gpu.Options) (*device, error) {
	a, err := loadAPI()
	if err != nil {
		return nil, err
	}
	d := &device{api: a, x: gpu.NewExecutor(), target: target, deadline: o.Deadline}
	if err := d.x.Do("starting Vulkan", callTime, func() error { return d.start(ordinal) }); err != nil {
		return nil, err
	}
	if err := d.x.Do("asking the device", callTime, d.ask); err != nil {
		return nil, fmt.Errorf("%s: %w", d.info.title, err)
	}
	return d, nil
}

// start creates a Vulkan instance and finds the device.
func (d *device) start(ordinal int) error {
	var version uint32
	if err := check("vkEnumerateInstanceVersion", d.enumerateInstanceVersion(&version)); err != nil {
		return err
	}
	if version < apiVersion {
		return fmt.Errorf("%s is a Vulkan %s, and 1.3 is needed", d.path, versionText(version))
	}
	app := &applicationInfo{kind: kindApplication, name: cString("mmafuzz"), apiVersion: apiVersion}
	if err := check("vkCreateInstance", d.createInstance(&instanceCreateInfo{kind: kindInstance, application: app}, nil, &d.instance)); err != nil {
		return err
	}
	all, err := list("vkEnumeratePhysicalDevices", nil, func(n *uint32, all *dispatchable) int32 {
		return d.enumeratePhysicalDevices(d.instance, n, all)
	})
	if err != nil {
		return err
	}
	if ordinal >= len(all) {
		return &absentError{ordinal, len(all)}
	}
	d.physical = all[ordinal]
	d.describe()
	return nil
}

// absentError reports that there is no device of a number.
type absentError struct{ ordinal, count int }

func (e *absentError) Error() string {
	return fmt.Sprintf("there is no device %d: Vulkan's drivers show %d (VK_DRIVER_FILES and VK_LOADER_DRIVERS_SELECT, if set, hide some)", e.ordinal, e.count)
}

// list calls twice a function that fills an array: once for the number of elements, then
// for the elements. prepare, if not nil, is called on each element before the second call.
func list[T any](call string, prepare func(*T), f func(n *uint32, all *T) int32) ([]T, error) {
	const most = 1 << 16 // elements; more are refused
	var n uint32
	if err := check(call, f(&n, nil)); err != nil || n == 0 {
		return nil, err
	}
	if n > most {
		return nil, fmt.Errorf("%s: %d elements", call, n)
	}
	all := make([]T, n)
	if prepare != nil {
		for i := range all {
			prepare(&all[i])
		}
	}
	if code := f(&n, &all[0]); code != incomplete {
		return all[:min(int(n), len(all))], check(call, code)
	}
	return all, nil
}

// describe asks the device for its properties.
func (d *device) describe() {
	p, p11, p12, p13 := &block{kind: kindProperties}, &block{kind: kindProperties11}, &block{kind: kindProperties12}, &block{kind: kindProperties13}
	link([]*block{p, p11, p12, p13})
	d.properties(d.physical, p)
	const compute = 0x20
	d.info = info{
		apiVersion: p.data[0], driverVersion: p.data[1], vendor: p.data[2], id: p.data[3], kind: p.data[4], title: cText(bytesOf(p, 20, 256)),
		subgroup: p11.data[12], driverID: p12.data[0], driverName: cText(bytesOf(p12, 4, 256)), driverInfo: cText(bytesOf(p12, 260, 256)),
		minSubgroup: p13.data[0], maxGroups: p13.data[1], pinned: p13.data[3]&compute != 0,
	}
	copy(d.info.uuid[:], bytesOf(p11, 0, 16))
}

// extPCI is the extension that gives a device's PCI address.
const extPCI = "VK_EXT_pci_bus_info"

func (d *device) askPCI() {
	p, pci := &block{kind: kindProperties}, &block{kind: kindPCI}
	link([]*block{p, pci})
	d.properties(d.physical, p)
	d.info.pci = fmt.Sprintf("%04x:%02x:%02x.%x", pci.data[0], pci.data[1], pci.data[2], pci.data[3])
}

// bytesOf returns some of the bytes of a block.
func bytesOf(b *block, from, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&b.data)), unsafe.Sizeof(b.data))[from : from+n]
}

// ask makes the device ready and asks what it offers.
func (d *device) ask() error {
	if d.info.apiVersion < apiVersion {
		return fmt.Errorf("its driver has Vulkan %s, and 1.3 is needed: update it", versionText(d.info.apiVersion))
	}
	extensions, err := d.extensions()
	if err != nil {
		return err
	}
	if !extensions[extMatrix] {
		return fmt.Errorf("its driver, %s, has no %s: a newer one may, if the device has a matrix unit", d.driver(), extMatrix)
	}
	if extensions[extPCI] {
		d.askPCI()
	}
	have, chain := d.askFeatures(d.physical, extensions)
	d.has = have
	for _, f := range []string{featureMatrix, featureMemoryModel} {
		if !have[f] {
			return fmt.Errorf("its driver, %s, has no feature %s", d.driver(), f)
		}
	}
	if err := d.chooseSubgroup(); err != nil {
		return err
	}
	if err := d.askOffers(extensions); err != nil {
		return err
	}
	family, err := d.computeFamily()
	if err != nil {
		return err
	}
	if err := d.create(family, chain, usedExtensions(extensions)); err != nil {
		return err
	}
	return d.prepare(family)
}

// driver names the driver.
func (d *device) driver() string { return d.info.driverName + " " + d.info.driverInfo }

// extensions returns the names of the device's extensions.
func (d *device) extensions() (map[string]bool, error) {
	all, err := list("vkEnumerateDeviceExtensionProperties", nil, func(n *uint32, all *extensionProperties) int32 {
		return d.enumerateExtensions(d.physical, nil, n, all)
	})
	have := map[string]bool{}
	for _, e := range all {
		have[cText(e.name[:])] = true
	}
	return have, err
}

// subgroupVar is the environment variable with the size of subgroups to use.
const subgroupVar = "MMAFUZZ_VULKAN_SUBGROUP"

// vendorIntel is Intel's PCI vendor number. Its matrix units work with the smallest size of
// subgroups, which is not the size that the driver names.
const vendorIntel = 0x8086

// chooseSubgroup chooses the size of subgroups.
func (d *device) chooseSubgroup() error {
	i := &d.info
	d.subgroup = int(i.subgroup)
	d.pinned = i.pinned && d.has[featureSubgroupSize] && d.has[featureFullSubgroups]
	if d.pinned && i.vendor == vendorIntel {
		d.subgroup = int(i.minSubgroup)
	}
	if text := os.Getenv(subgroupVar); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < int(i.minSubgroup) || n > int(i.maxGroups) || n&(n-1) != 0 || n != d.subgroup && !d.pinned {
			return fmt.Errorf("%s is %q, and the device has subgroups of %d to %d", subgroupVar, text, i.minSubgroup, i.maxGroups)
		}
		d.subgroup = n
	}
	if d.subgroup < 1 || d.subgroup > 1024 {
		return fmt.Errorf("its driver says that a subgroup has %d invocations", d.subgroup)
	}
	return nil
}

// askOffers asks which matrices the device multiplies.
func (d *device) askOffers(extensions map[string]bool) error {
	const call, flexible = "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", "vkGetPhysicalDeviceCooperativeMatrixFlexibleDimensionsPropertiesNV"
	if !d.ofInstance(d.instance, call, &d.matrices) {
		return fmt.Errorf("its driver, %s, has no function %s", d.driver(), call)
	}
	fixed, err := list(call, func(p *matrixProperties) { p.kind = kindMatrix }, func(n *uint32, all *matrixProperties) int32 {
		return d.matrices(d.physical, n, all)
	})
	if err != nil {
		return err
	}
	for i := range fixed {
		fixed[i].invocations = 0 // padding of the smaller structure
	}
	var more []matrixProperties
	if extensions[extMatrix2] && d.has[featureFlexible] && d.ofInstance(d.instance, flexible, &d.flexibleMatrices) {
		more, err = list(flexible, func(p *matrixProperties) { p.kind = kindFlexibleMatrix }, func(n *uint32, all *matrixProperties) int32 {
			return d.flexibleMatrices(d.physical, n, all)
		})
		if err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for _, p := range append(fixed, more...) {
		o, ok := offerOf(&p)
		if ok && !seen[o.name()] {
			seen[o.name()] = true
			d.offers = append(d.offers, o)
		}
	}
	return nil
}

// offerOf returns the offer in a structure of the driver; ok is false if it is not for
// compute shaders or cannot be believed.
func offerOf(p *matrixProperties) (o offer, ok bool) {
	o = offer{m: int(p.m), n: int(p.n), k: int(p.k), a: componentOf(p.a), b: componentOf(p.b), c: componentOf(p.c), d: componentOf(p.d), saturating: p.saturating != 0}
	if p.scope == scopeWorkgroup {
		o.workgroup = int(p.invocations)
	}
	ok = p.scope == scopeSubgroup || p.scope == scopeWorkgroup && o.workgroup > 0 && o.workgroup <= 1024
	return o, ok && min(o.m, o.n, o.k) > 0 && max(o.m, o.n, o.k) <= maxSide
}

// computeFamily returns the number of the first family of queues that can compute.
func (d *device) computeFamily() (uint32, error) {
	const compute = 2
	families, _ := list("", nil, func(n *uint32, all *queueFamily) int32 {
		d.queueFamilies(d.physical, n, all)
		return success
	})
	for n, f := range families {
		if f.flags&compute != 0 && f.count > 0 {
			return uint32(n), nil
		}
	}
	return 0, fmt.Errorf("none of its %d families of queues can compute", len(families))
}

// create makes the logical device.
func (d *device) create(family uint32, chain *block, extensions []string) error {
	priority := float32(1)
	names := make([]*byte, len(extensions))
	for n, e := range extensions {
		names[n] = cString(e)
	}
	i := &deviceCreateInfo{
		kind: kindDevice, next: unsafe.Pointer(chain), queueCount: 1, extCount: uint32(len(names)), extensions: &names[0],
		queues: &queueCreateInfo{kind: kindQueueCreate, family: family, count: 1, priorities: &priority},
	}
	code := d.createDevice(d.physical, i, nil, &d.device)
	runtime.KeepAlive(names)
	if err := check("vkCreateDevice", code); err != nil {
		return err
	}
	d.deviceQueue(d.device, family, 0, &d.queue)
	d.memoryProperties(d.physical, &d.memory)
	if d.has[featureExecutableInfo] {
		d.has[featureExecutableInfo] = d.ofDevice(d.device, "vkGetPipelineExecutablePropertiesKHR", &d.executables) &&
			d.ofDevice(d.device, "vkGetPipelineExecutableStatisticsKHR", &d.statistics) &&
			d.ofDevice(d.device, "vkGetPipelineExecutableInternalRepresentationsKHR", &d.representations)
	}
	return nil
}

// Values of enumerations and flags in vulkan_core.h.
const (
	descriptorStorage   = 7
	stageCompute        = 0x20
	usageStorage        = 0x20
	memoryVisible       = 2
	memoryCoherent      = 4
	memoryCached        = 8
	poolReset           = 2 // command buffers can be recorded again
	beginOnce           = 1
	bindCompute         = 1
	pipelineStageShader = 0x800
	pipelineStageHost   = 0x4000
	accessShaderWrite   = 0x40
	accessHostRead      = 0x2000
	wholeSize           = ^uint64(0)
	captureStatistics   = 0x40
	captureTexts        = 0x80
	fullSubgroups       = 2
)

// prepare creates what all shaders share: the layout of the two buffers, and the command
// buffer and the fence of a launch.
func (d *device) prepare(family uint32) error {
	bindings := [2]setLayoutBinding{}
	for n := range bindings {
		bindings[n] = setLayoutBinding{binding: uint32(n), descriptor: descriptorStorage, count: 1, stages: stageCompute}
	}
	steps := []struct {
		call string
		f    func() int32
	}{
		{"vkCreateDescriptorSetLayout", func() int32 {
			return d.createSetLayout(d.device, &setLayoutCreateInfo{kind: kindSetLayout, count: 2, bindings: &bindings[0]}, nil, &d.setLayout)
		}},
		{"vkCreateDescriptorPool", func() int32 {
			size := &poolSize{descriptorStorage, 2}
			return d.createPool(d.device, &poolCreateInfo{kind: kindPool, maxSets: 1, count: 1, sizes: size}, nil, &d.pool)
		}},
		{"vkAllocateDescriptorSets", func() int32 {
			return d.allocateSets(d.device, &setAllocateInfo{kind: kindSetAllocate, pool: d.pool, count: 1, layouts: &d.setLayout}, &d.set)
		}},
		{"vkCreatePipelineLayout", func() int32 {
			return d.createPipelineLayout(d.device, &pipelineLayoutCreateInfo{kind: kindPipelineLayout, setCount: 1, sets: &d.setLayout}, nil, &d.pipelineLayout)
		}},
		{"vkCreateCommandPool", func() int32 {
			return d.createCommandPool(d.device, &commandPoolCreateInfo{kind: kindCommandPool, flags: poolReset, family: family}, nil, &d.commandPool)
		}},
		{"vkAllocateCommandBuffers", func() int32 {
			return d.allocateCommandBuffers(d.device, &commandBufferAllocateInfo{kind: kindCommandAllocate, pool: d.commandPool, count: 1}, &d.commands)
		}},
		{"vkCreateFence", func() int32 {
			return d.createFence(d.device, &fenceCreateInfo{kind: kindFence}, nil, &d.fence)
		}},
	}
	for _, s := range steps {
		if err := check(s.call, s.f()); err != nil {
			return err
		}
	}
	return nil
}

// close gives the device back.
func (d *device) close() error {
	return d.x.Do("closing the device", callTime, func() error {
		if d.lost {
			return nil // calls for a lost device may never return
		}
		d.in.free(d)
		d.out.free(d)
		for _, p := range d.pipelines {
			d.destroyPipeline(d.device, p, nil)
		}
		d.destroyFence(d.device, d.fence, nil)
		d.destroyCommandPool(d.device, d.commandPool, nil)
		d.destroyLayout(d.device, d.pipelineLayout, nil)
		d.destroyPool(d.device, d.pool, nil)
		d.destroySetLayout(d.device, d.setLayout, nil)
		d.destroyDevice(d.device, nil)
		d.destroyInstance(d.instance, nil)
		return nil
	})
}

// buffer is memory of the device that is mapped into this process.
type buffer struct {
	buffer, memory handle
	bytes          []byte
}

// grow makes a buffer at least size bytes large. wanted are properties that its memory
// should have, in addition to those that it must have.
func (b *buffer) grow(d *device, binding uint32, size int, wanted uint32) error {
	if len(b.bytes) >= size {
		return nil
	}
	b.free(d)
	if err := check("vkCreateBuffer", d.createBuffer(d.device, &bufferCreateInfo{kind: kindBuffer, size: uint64(size), usage: usageStorage}, nil, &b.buffer)); err != nil {
		return err
	}
	var r memoryRequirements
	d.bufferRequirements(d.device, b.buffer, &r)
	kind, err := d.memoryType(r.types, wanted)
	if err != nil {
		return err
	}
	if err := check("vkAllocateMemory", d.allocateMemory(d.device, &memoryAllocateInfo{kind: kindMemoryAllocate, size: r.size, memoryType: kind}, nil, &b.memory)); err != nil {
		return err
	}
	if err := check("vkBindBufferMemory", d.bindBufferMemory(d.device, b.buffer, b.memory, 0)); err != nil {
		return err
	}
	var at unsafe.Pointer
	if err := check("vkMapMemory", d.mapMemory(d.device, b.memory, 0, wholeSize, 0, &at)); err != nil {
		return err
	}
	d.updateSets(d.device, 1, &writeSet{
		kind: kindWriteSet, set: d.set, binding: binding, count: 1, descriptor: descriptorStorage, buffers: &bufferInfo{buffer: b.buffer, bytes: wholeSize},
	}, 0, nil)
	b.bytes = unsafe.Slice((*byte)(at), size)
	return nil
}

// free gives the memory back.
func (b *buffer) free(d *device) {
	d.destroyBuffer(d.device, b.buffer, nil) // 0 is allowed
	d.freeMemory(d.device, b.memory, nil)
	*b = buffer{}
}

// memoryType returns one of the types of memory in a mask: visible to this process and
// coherent, and with the wanted properties too if such a type exists.
func (d *device) memoryType(mask, wanted uint32) (uint32, error) {
	const must = memoryVisible | memoryCoherent
	for _, flags := range []uint32{must | wanted, must} {
		for n := range min(d.memory.typeCount, uint32(len(d.memory.types))) {
			if mask>>n&1 != 0 && d.memory.types[n].flags&flags == flags {
				return n, nil
			}
		}
	}
	return 0, fmt.Errorf("none of the %d types of memory is for buffers and visible to this process", d.memory.typeCount)
}
