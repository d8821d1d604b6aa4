package driver

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unsafe"
)

// Module is compiled PTX on a device.
type Module struct {
	// Code is the machine code that runs, an ELF file from the driver's linker. It is
	// nil if the linker failed: NoCode says why, and what runs is the code that the
	// driver compiled from the PTX on loading.
	Code   []byte
	NoCode error
	// Log has the compiler's messages.
	Log    string
	handle uintptr
}

// The options of the compiler, from cuda.h (CUjit_option), and its kind of input.
const (
	jitInfoLog      = 3
	jitInfoLogSize  = 4
	jitErrorLog     = 5
	jitErrorLogSize = 6
	jitInputPTX     = 1

	logSize = 16 << 10
	maxCode = 64 << 20 // more is a mistake of the driver
)

// logs are the buffers that the compiler writes to, and the options that name them.
type logs struct {
	info, errors []byte
	options      []int32
	values       []uintptr
	pin          runtime.Pinner // values holds addresses that the collector does not see
}

func newLogs() *logs {
	g := &logs{info: make([]byte, logSize), errors: make([]byte, logSize)}
	g.pin.Pin(&g.info[0])
	g.pin.Pin(&g.errors[0])
	g.options = []int32{jitInfoLog, jitInfoLogSize, jitErrorLog, jitErrorLogSize}
	g.values = []uintptr{uintptr(unsafe.Pointer(&g.info[0])), logSize, uintptr(unsafe.Pointer(&g.errors[0])), logSize}
	return g
}

func (g *logs) close() { g.pin.Unpin() }

// text returns the text in a buffer, on one line.
func text(buf []byte) string {
	buf, _, _ = bytes.Cut(buf, []byte{0})
	return strings.Join(strings.Fields(string(bytes.ToValidUTF8(buf, []byte("?")))), " ")
}

// fail adds the compiler's words to an error.
func (g *logs) fail(err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.Log = text(g.errors)
	}
	return err
}

// Module compiles and loads PTX, once: a second call with the same PTX returns the same
// module.
func (d *Device) Module(ptx string) (*Module, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if m := d.modules[ptx]; m != nil {
		return m, nil
	}
	m := &Module{}
	if m.Code, m.NoCode = d.link(ptx, m); Fatal(m.NoCode) {
		return nil, d.lose(m.NoCode)
	}
	image := m.Code
	if image == nil {
		image = append([]byte(ptx), 0)
	}
	g := newLogs()
	defer g.close()
	err := d.call("cuModuleLoadDataEx", func() Result {
		return d.lib.api.moduleLoadDataEx(&m.handle, unsafe.Pointer(&image[0]), uint32(len(g.options)), &g.options[0], &g.values[0])
	})
	if err != nil {
		return nil, d.lose(g.fail(err))
	}
	d.modules[ptx] = m
	return m, nil
}

// Accepts returns nil if the driver compiles and loads PTX directly, without its linker,
// or else the driver's error.
func (d *Device) Accepts(ptx string) error {
	image := append([]byte(ptx), 0)
	g := newLogs()
	defer g.close()
	var handle uintptr
	err := d.call("cuModuleLoadDataEx", func() Result {
		return d.lib.api.moduleLoadDataEx(&handle, unsafe.Pointer(&image[0]), uint32(len(g.options)), &g.options[0], &g.values[0])
	})
	if err != nil {
		return d.lose(g.fail(err))
	}
	return d.call("cuModuleUnload", func() Result { return d.lib.api.moduleUnload(handle) })
}

// link has the driver's linker compile PTX, and returns a copy of the machine code: the
// linker's own memory goes away with it.
func (d *Device) link(ptx string, m *Module) (_ []byte, err error) {
	image := append([]byte(ptx), 0)
	g := newLogs()
	defer g.close()
	var state uintptr
	a := &d.lib.api
	err = d.call("cuLinkCreate_v2", func() Result { return a.linkCreate(uint32(len(g.options)), &g.options[0], &g.values[0], &state) })
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := d.call("cuLinkDestroy", func() Result { return a.linkDestroy(state) }); err == nil {
			err = e
		}
	}()
	err = d.call("cuLinkAddData_v2", func() Result {
		return a.linkAddData(state, jitInputPTX, unsafe.Pointer(&image[0]), uint64(len(image)), "mmafuzz", 0, nil, nil)
	})
	if err != nil {
		return nil, g.fail(err)
	}
	var out unsafe.Pointer
	var size uint64
	var code []byte
	err = d.call("cuLinkComplete", func() Result {
		r := a.linkComplete(state, &out, &size)
		if r == 0 && out != nil && size <= maxCode {
			code = bytes.Clone(unsafe.Slice((*byte)(out), size))
		}
		return r
	})
	if err != nil {
		return nil, g.fail(err)
	}
	if len(code) == 0 {
		return nil, fmt.Errorf("cuLinkComplete: the driver returned %d bytes of machine code", size)
	}
	m.Log = text(g.info)
	return code, nil
}

// Function is an entry of a module.
type Function struct {
	dev    *Device
	handle uintptr
	grid   Grid
}

// Grid is how a kernel is launched.
type Grid struct {
	Threads  int // of a block
	Tiles    int // of a block; 0: any number, in a loop
	InBytes  int // of a tile
	OutBytes int
}

// Function returns an entry of a module.
func (d *Device) Function(m *Module, name string, g Grid) (*Function, error) {
	f := &Function{dev: d, grid: g}
	err := d.call("cuModuleGetFunction", func() Result { return d.lib.api.moduleGetFunction(&f.handle, m.handle, name) })
	if err != nil {
		return nil, d.lose(fmt.Errorf("%s: %w", name, err))
	}
	return f, nil
}
