package driver

import "unsafe"

// Result is the driver's status code of a call, CUresult.
type Result int32

// api is the functions of the driver that are used. All handles are pointers of
// the driver's own; addresses on the device have 64 bits.
type api struct {
	init             func(flags uint32) Result
	driverGetVersion func(v *int32) Result
	getErrorName     func(r Result, s **byte) Result
	getErrorString   func(r Result, s **byte) Result

	deviceGetCount     func(n *int32) Result
	deviceGet          func(dev *int32, ordinal int32) Result
	deviceGetName      func(name *byte, n int32, dev int32) Result
	deviceGetUUID      func(id *[16]byte, dev int32) Result
	deviceGetAttribute func(v *int32, attribute int32, dev int32) Result
	deviceTotalMem     func(bytes *uint64, dev int32) Result
	primaryCtxRetain   func(ctx *uintptr, dev int32) Result
	primaryCtxRelease  func(dev int32) Result
	ctxSetCurrent      func(ctx uintptr) Result

	moduleLoadDataEx  func(module *uintptr, image unsafe.Pointer, n uint32, options *int32, values *uintptr) Result
	moduleGetFunction func(function *uintptr, module uintptr, name string) Result
	moduleUnload      func(module uintptr) Result

	memAlloc     func(address *uint64, n uint64) Result
	memFree      func(address uint64) Result
	memAllocHost func(p *unsafe.Pointer, n uint64) Result
	memFreeHost  func(p unsafe.Pointer) Result
	memcpyHtoD   func(dst uint64, src unsafe.Pointer, n uint64, stream uintptr) Result
	memcpyDtoH   func(dst unsafe.Pointer, src uint64, n uint64, stream uintptr) Result
	memset       func(dst uint64, v uint8, n uint64, stream uintptr) Result
	streamCreate func(stream *uintptr, flags uint32) Result
	streamQuery  func(stream uintptr) Result
	launchKernel func(function uintptr, gx, gy, gz, bx, by, bz, shared uint32, stream uintptr, args *unsafe.Pointer, extra uintptr) Result
	eventCreate  func(event *uintptr, flags uint32) Result
	eventRecord  func(event, stream uintptr) Result
	eventElapsed func(ms *float32, start, end uintptr) Result
	linkCreate   func(n uint32, options *int32, values *uintptr, state *uintptr) Result
	linkAddData  func(state uintptr, kind int32, data unsafe.Pointer, size uint64, name string, n uint32, options *int32, values *uintptr) Result
	linkComplete func(state uintptr, image *unsafe.Pointer, size *uint64) Result
	linkDestroy  func(state uintptr) Result
}

// symbols are the exported names of the functions. The driver exports several
// versions of some: the headers give programs the one with the suffix.
func (a *api) symbols() []symbol {
	return []symbol{
		{"cuDriverGetVersion", &a.driverGetVersion}, // first: errors about the others name it
		{"cuInit", &a.init},
		{"cuGetErrorName", &a.getErrorName},
		{"cuGetErrorString", &a.getErrorString},
		{"cuDeviceGetCount", &a.deviceGetCount},
		{"cuDeviceGet", &a.deviceGet},
		{"cuDeviceGetName", &a.deviceGetName},
		{"cuDeviceGetUuid", &a.deviceGetUUID},
		{"cuDeviceGetAttribute", &a.deviceGetAttribute},
		{"cuDeviceTotalMem_v2", &a.deviceTotalMem},
		{"cuDevicePrimaryCtxRetain", &a.primaryCtxRetain},
		{"cuDevicePrimaryCtxRelease_v2", &a.primaryCtxRelease},
		{"cuCtxSetCurrent", &a.ctxSetCurrent},
		{"cuModuleLoadDataEx", &a.moduleLoadDataEx},
		{"cuModuleGetFunction", &a.moduleGetFunction},
		{"cuModuleUnload", &a.moduleUnload},
		{"cuMemAlloc_v2", &a.memAlloc},
		{"cuMemFree_v2", &a.memFree},
		{"cuMemAllocHost_v2", &a.memAllocHost},
		{"cuMemFreeHost", &a.memFreeHost},
		{"cuMemcpyHtoDAsync_v2", &a.memcpyHtoD},
		{"cuMemcpyDtoHAsync_v2", &a.memcpyDtoH},
		{"cuMemsetD8Async", &a.memset},
		{"cuStreamCreate", &a.streamCreate},
		{"cuStreamQuery", &a.streamQuery},
		{"cuLaunchKernel", &a.launchKernel},
		{"cuEventCreate", &a.eventCreate},
		{"cuEventRecord", &a.eventRecord},
		{"cuEventElapsedTime", &a.eventElapsed},
		{"cuLinkCreate_v2", &a.linkCreate},
		{"cuLinkAddData_v2", &a.linkAddData},
		{"cuLinkComplete", &a.linkComplete},
		{"cuLinkDestroy", &a.linkDestroy},
	}
}

// symbol is a name and the variable that holds its function.
type symbol struct {
	name string
	fn   any
}

// bind looks all functions up and returns the names of those that are missing.
func (a *api) bind(handle uintptr) (missing []string) {
	for _, s := range a.symbols() {
		if err := bind(handle, s.name, s.fn); err != nil {
			missing = append(missing, s.name)
		}
	}
	return missing
}
