package driver

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// Info is what the driver says about a device.
type Info struct {
	Ordinal        int
	Name           string
	UUID           string // GPU-..., as nvidia-smi writes it
	Major, Minor   int    // compute capability
	Memory         uint64 // bytes
	Processors     int    // multiprocessors
	ClockKHz       int    // of the multiprocessors, at most
	MemoryClockKHz int
	ECC            bool
	PCI            string // 0000:1b:00.0
}

// Chip returns the compute capability as a target of PTX, such as sm_90.
func (i *Info) Chip() string { return fmt.Sprintf("sm_%d%d", i.Major, i.Minor) }

// The attributes of a device that are asked for, from cuda.h.
const (
	attrClock       = 13
	attrProcessors  = 16
	attrECC         = 32
	attrPCIBus      = 33
	attrPCIDevice   = 34
	attrMemoryClock = 36
	attrPCIDomain   = 50
	attrMajor       = 75
	attrMinor       = 76
)

// maxDevices is more than any machine has: a larger count is a mistake of the driver.
const maxDevices = 256

// Devices describes all devices that the driver shows.
func (l *Library) Devices() ([]Info, error) {
	var n int32
	if err := l.call("cuDeviceGetCount", func() Result { return l.api.deviceGetCount(&n) }); err != nil {
		return nil, err
	}
	if n < 0 || n > maxDevices {
		return nil, fmt.Errorf("cuDeviceGetCount: the driver says that there are %d devices", n)
	}
	var all []Info
	for i := range int(n) {
		info, _, err := l.describe(i)
		if err != nil {
			return nil, err
		}
		all = append(all, *info)
	}
	return all, nil
}

// describe asks for everything about a device, and its handle. A call that hangs may
// still write to the variables it was given, so that none of them is returned after an
// error.
func (l *Library) describe(ordinal int) (*Info, int32, error) {
	info, dev := &Info{Ordinal: ordinal}, int32(0)
	if err := l.call("cuDeviceGet", func() Result { return l.api.deviceGet(&dev, int32(ordinal)) }); err != nil {
		return nil, 0, err
	}
	name := make([]byte, 256)
	if err := l.call("cuDeviceGetName", func() Result { return l.api.deviceGetName(&name[0], int32(len(name)), dev) }); err != nil {
		return nil, 0, err
	}
	name, _, _ = bytes.Cut(name, []byte{0})
	info.Name = string(bytes.ToValidUTF8(name, []byte("?")))
	var id [16]byte
	if err := l.call("cuDeviceGetUuid", func() Result { return l.api.deviceGetUUID(&id, dev) }); err != nil {
		return nil, 0, err
	}
	info.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	if err := l.call("cuDeviceTotalMem_v2", func() Result { return l.api.deviceTotalMem(&info.Memory, dev) }); err != nil {
		return nil, 0, err
	}
	return info, dev, l.attributes(info, dev)
}

// attributes asks for the numbers about a device.
func (l *Library) attributes(info *Info, dev int32) error {
	var ecc, domain, bus, device int
	for _, a := range []struct {
		id int32
		to *int
	}{
		{attrMajor, &info.Major}, {attrMinor, &info.Minor}, {attrProcessors, &info.Processors},
		{attrClock, &info.ClockKHz}, {attrMemoryClock, &info.MemoryClockKHz}, {attrECC, &ecc},
		{attrPCIDomain, &domain}, {attrPCIBus, &bus}, {attrPCIDevice, &device},
	} {
		var v int32
		if err := l.call("cuDeviceGetAttribute", func() Result { return l.api.deviceGetAttribute(&v, a.id, dev) }); err != nil {
			return err
		}
		*a.to = int(v)
	}
	info.ECC = ecc != 0
	info.PCI = fmt.Sprintf("%04x:%02x:%02x.0", domain, bus, device)
	return nil
}

// Device is a device in use.
type Device struct {
	Info
	lib   *Library
	dev   int32
	x     *gpu.Executor
	slots chan *slot

	lost    atomic.Pointer[lostError]
	mu      sync.Mutex
	modules map[string]*Module // by their source
}

// lostError reports that a device can no longer be used by this process, and the failure
// that was the cause.
type lostError struct{ Cause error }

func (e *lostError) Error() string {
	return fmt.Sprintf("the device is lost to this process since an earlier failure: %v", e.Cause)
}

// Lost reports whether an error is that of a device that was lost before.
func Lost(err error) bool { return errors.As(err, new(*lostError)) }

// Device makes a device ready for use.
func (l *Library) Device(ordinal int) (*Device, error) {
	info, dev, err := l.describe(ordinal)
	if err != nil {
		return nil, err
	}
	d := &Device{Info: *info, lib: l, dev: dev, x: gpu.NewExecutor(), modules: map[string]*Module{}, slots: make(chan *slot, slots)}
	var ctx uintptr
	if err := d.call("cuDevicePrimaryCtxRetain", func() Result { return l.api.primaryCtxRetain(&ctx, dev) }); err != nil {
		return nil, err
	}
	if err := d.call("cuCtxSetCurrent", func() Result { return l.api.ctxSetCurrent(ctx) }); err != nil {
		return nil, err
	}
	for range slots {
		d.slots <- &slot{}
	}
	return d, nil
}

// call makes a call on the device's thread, unless the device is lost.
func (d *Device) call(name string, f func() Result) error {
	return d.do(name, func() error { return d.lib.check(name, f()) })
}

// do runs several calls on the device's thread.
func (d *Device) do(name string, f func() error) error {
	if lost := d.lost.Load(); lost != nil {
		return lost
	}
	return d.x.Do(name, Timeout, f)
}

// lose remembers the first failure after which the device is unusable, and
// returns err.
func (d *Device) lose(err error) error {
	if Fatal(err) && !Lost(err) {
		d.lost.CompareAndSwap(nil, &lostError{err})
	}
	return err
}

// Close gives the device back. A device that is lost stays as it is: calls into a
// broken context may never return.
func (d *Device) Close() error {
	if d.lost.Load() != nil {
		return nil
	}
	return d.call("cuDevicePrimaryCtxRelease_v2", func() Result { return d.lib.api.primaryCtxRelease(d.dev) })
}
