package driver

import (
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
)

// Result is the driver's status code of a call, CUresult.
type Result int32

// api has the functions of the driver that are used. All handles are the driver's own
// pointers; addresses on the device have 64 bits.
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

// symbols returns the exported names of the functions. The driver exports several versions
// of some; C programs get the one with the suffix _v2 by the headers.
func (a *api) symbols() []dynamic.Function {
	return []dynamic.Function{
		{Name: "cuDriverGetVersion", Fn: &a.driverGetVersion}, // first: errors about the others name it
		{Name: "cuInit", Fn: &a.init},
		{Name: "cuGetErrorName", Fn: &a.getErrorName},
		{Name: "cuGetErrorString", Fn: &a.getErrorString},
		{Name: "cuDeviceGetCount", Fn: &a.deviceGetCount},
		{Name: "cuDeviceGet", Fn: &a.deviceGet},
		{Name: "cuDeviceGetName", Fn: &a.deviceGetName},
		{Name: "cuDeviceGetUuid", Fn: &a.deviceGetUUID},
		{Name: "cuDeviceGetAttribute", Fn: &a.deviceGetAttribute},
		{Name: "cuDeviceTotalMem_v2", Fn: &a.deviceTotalMem},
		{Name: "cuDevicePrimaryCtxRetain", Fn: &a.primaryCtxRetain},
		{Name: "cuDevicePrimaryCtxRelease_v2", Fn: &a.primaryCtxRelease},
		{Name: "cuCtxSetCurrent", Fn: &a.ctxSetCurrent},
		{Name: "cuModuleLoadDataEx", Fn: &a.moduleLoadDataEx},
		{Name: "cuModuleGetFunction", Fn: &a.moduleGetFunction},
		{Name: "cuModuleUnload", Fn: &a.moduleUnload},
		{Name: "cuMemAlloc_v2", Fn: &a.memAlloc},
		{Name: "cuMemFree_v2", Fn: &a.memFree},
		{Name: "cuMemAllocHost_v2", Fn: &a.memAllocHost},
		{Name: "cuMemFreeHost", Fn: &a.memFreeHost},
		{Name: "cuMemcpyHtoDAsync_v2", Fn: &a.memcpyHtoD},
		{Name: "cuMemcpyDtoHAsync_v2", Fn: &a.memcpyDtoH},
		{Name: "cuMemsetD8Async", Fn: &a.memset},
		{Name: "cuStreamCreate", Fn: &a.streamCreate},
		{Name: "cuStreamQuery", Fn: &a.streamQuery},
		{Name: "cuLaunchKernel", Fn: &a.launchKernel},
		{Name: "cuEventCreate", Fn: &a.eventCreate},
		{Name: "cuEventRecord", Fn: &a.eventRecord},
		{Name: "cuEventElapsedTime", Fn: &a.eventElapsed},
		{Name: "cuLinkCreate_v2", Fn: &a.linkCreate},
		{Name: "cuLinkAddData_v2", Fn: &a.linkAddData},
		{Name: "cuLinkComplete", Fn: &a.linkComplete},
		{Name: "cuLinkDestroy", Fn: &a.linkDestroy},
	}
}
