//go:build (linux || windows) && (amd64 || arm64) && !nogpu

package hip

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"time"
	"unsafe"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// device is a GPU in use by this process.
type device struct {
	runtime  *runtime
	x        *gpu.Executor // for calls of the runtime, which keeps the current device for each thread
	compiler *gpu.Executor
	ordinal  int
	target   string // its name
	deadline time.Duration

	title   string
	pci     string
	named   string // the chip, as the runtime has it
	chip    string
	about   *discover.Device // what the kernel driver says
	version int32            // of the runtime

	compile func(source, chip string) ([]byte, error)
	by      string // which compiler

	in, out memory
}

// memory is a buffer on the device: see grow.
type memory struct {
	at   uintptr
	size int
}

// callTime is how long calls may take that run no kernel: starting the runtime on
// a machine with many GPUs takes some seconds.
const callTime = time.Minute

// openDevice makes a device of this machine ready for use.
func openDevice(target string, ordinal int, o *gpu.Options) (*device, error) {
	r, err := loadRuntime()
	if err != nil {
		return nil, err
	}
	d := &device{runtime: r, x: gpu.NewExecutor(), compiler: gpu.NewExecutor(), ordinal: ordinal, target: target, deadline: o.Deadline}
	if err := d.x.Do("starting the HIP runtime", callTime, d.start); err != nil {
		return nil, err
	}
	if d.chip, d.about, err = chipOf(d.pci, d.named); err != nil {
		return nil, fmt.Errorf("%s: %w", d.title, err)
	}
	return d, d.compiler.Do("starting hiprtc", callTime, d.chooseCompiler)
}

// start makes the device current on this thread and asks what it is.
func (d *device) start() error {
	r := d.runtime
	if err := r.check("hipInit", r.init(0)); err != nil {
		return err
	}
	var count int32
	if err := r.check("hipGetDeviceCount", r.deviceCount(&count)); err != nil {
		return err
	}
	if d.ordinal >= int(count) {
		return fmt.Errorf("there are %d devices: %w", count, &runtimeError{"hipGetDeviceCount", errorNoDevice, "no such device", remedies[errorNoDevice]})
	}
	if err := r.check("hipSetDevice", r.setDevice(int32(d.ordinal))); err != nil {
		return err
	}
	title, pci := make([]byte, 256), make([]byte, 64)
	if err := r.check("hipDeviceGetName", r.deviceName(&title[0], int32(len(title)), int32(d.ordinal))); err != nil {
		return err
	}
	if err := r.check("hipDeviceGetPCIBusId", r.devicePCI(&pci[0], int32(len(pci)), int32(d.ordinal))); err != nil {
		return err
	}
	d.title, d.pci, d.named = cString(title), cString(pci), r.chip(d.ordinal)
	return r.check("hipRuntimeGetVersion", r.runtimeVersion(&d.version))
}

// chooseCompiler chooses hiprtc or, if there is none, a clang that knows the chip.
func (d *device) chooseCompiler() error {
	c, err := loadCompiler(d.runtime)
	if err == nil {
		var major, minor int32
		if err := c.check("hiprtcVersion", c.version(&major, &minor)); err != nil {
			return err
		}
		d.compile, d.by = c.Compile, fmt.Sprintf("hiprtc %d.%d", major, minor)
		return nil
	}
	for _, clang := range findClangs() {
		if clang.Knows(d.chip) {
			d.compile, d.by = func(source, chip string) ([]byte, error) {
				return clang.Compile(context.Background(), source, chip)
			}, clang.Path
			return nil
		}
	}
	return fmt.Errorf("no compiler of kernels for %s: %w, or a clang that knows %s (MMAFUZZ_CLANG)", d.chip, err, d.chip)
}

// facts returns what results may depend on besides the instruction.
func (d *device) facts() map[string]string {
	f := map[string]string{
		"kind": "GPU", "device": d.title, factChip: d.chip, "pci": d.pci, "library": d.runtime.path, "compiler": d.by,
		"hip": fmt.Sprintf("%d.%d.%d", d.version/10000000, d.version/100000%100, d.version%100000),
	}
	if d.about.UUID != "" {
		f["uuid"] = d.about.UUID
	}
	if d.about.Driver != "" {
		f["driver"] = d.about.Driver
	}
	return f
}

// Load compiles a kernel and loads its code.
func (d *device) Load(k *gpu.Kernel) (gpu.Loaded, error) {
	var object []byte
	err := d.compiler.Do("compiling a kernel", callTime, func() (err error) {
		object, err = d.compile(k.Source, k.Target)
		return err
	})
	if err != nil {
		return nil, err
	}
	l := &loaded{device: d, kernel: k}
	return l, d.x.Do("loading a kernel", callTime, func() error {
		r := d.runtime
		if err := r.check("hipModuleLoadData", r.moduleLoad(&l.module, unsafe.Pointer(&object[0]))); err != nil {
			return err
		}
		return r.check("hipModuleGetFunction", r.moduleFunction(&l.function, l.module, k.Entry))
	})
}

// loaded is a kernel on a device.
type loaded struct {
	device   *device
	kernel   *gpu.Kernel
	module   uintptr
	function uintptr
}

// Launch runs the kernel. An error of the running kernel (faults) or a hang is blamed on the
// input; other errors are returned as they are.
func (l *loaded) Launch(ctx context.Context, in, out []byte, tiles int) error {
	if tiles == 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	d := l.device
	err := d.x.Do("a launch", d.deadline, func() error { return l.launch(in, out, tiles) })
	var e *runtimeError
	if errors.As(err, &e) && faults[e.Code] || errors.As(err, new(*gpu.HungError)) {
		return &devices.FaultError{Target: d.target, What: err.Error()}
	}
	return err
}

// arguments are the arguments of a kernel, and their addresses.
type arguments struct {
	in, out uintptr
	tiles   uint32
	at      [3]unsafe.Pointer
}

func (l *loaded) launch(in, out []byte, tiles int) error {
	d, r := l.device, l.device.runtime
	if err := d.grow(&d.in, len(in)); err != nil {
		return err
	}
	if err := d.grow(&d.out, len(out)); err != nil {
		return err
	}
	if err := r.check("hipMemcpyHtoD", r.copyIn(d.in.at, unsafe.Pointer(&in[0]), uintptr(len(in)))); err != nil {
		return err
	}
	a := &arguments{in: d.in.at, out: d.out.at, tiles: uint32(tiles)}
	a.at = [3]unsafe.Pointer{unsafe.Pointer(&a.in), unsafe.Pointer(&a.out), unsafe.Pointer(&a.tiles)}
	var pin goruntime.Pinner
	pin.Pin(a)
	defer pin.Unpin()
	waves := uint32((tiles + l.kernel.Tiles - 1) / l.kernel.Tiles)
	code := r.moduleLaunch(l.function, waves, 1, 1, uint32(l.kernel.Threads), 1, 1, 0, 0, unsafe.Pointer(&a.at), nil)
	if err := r.check("hipModuleLaunchKernel", code); err != nil {
		return err
	}
	if err := r.check("hipDeviceSynchronize", r.deviceSynchronize()); err != nil {
		return err
	}
	return r.check("hipMemcpyDtoH", r.copyOut(unsafe.Pointer(&out[0]), d.out.at, uintptr(len(out))))
}

// grow makes a buffer of the device at least size bytes large.
func (d *device) grow(m *memory, size int) error {
	if m.size >= size {
		return nil
	}
	if m.size > 0 {
		m.size = 0
		if err := d.runtime.check("hipFree", d.runtime.free(m.at)); err != nil {
			return err
		}
	}
	if err := d.runtime.check("hipMalloc", d.runtime.malloc(&m.at, uintptr(size))); err != nil {
		return err
	}
	m.size = size
	return nil
}

// Close unloads the kernel.
func (l *loaded) Close() error {
	r := l.device.runtime
	return l.device.x.Do("hipModuleUnload", callTime, func() error { return r.check("hipModuleUnload", r.moduleUnload(l.module)) })
}
