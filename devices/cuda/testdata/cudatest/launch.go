//go:build linux && (amd64 || arm64)

package cudatest

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/gpu/testdata/lanes"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	"github.com/mmafuzz/mmafuzz/sim"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// hangs is what fake_cuda.c takes for a kernel that does not end.
const hangs = ^uintptr(0)

// Register gives the library that driver.Override names, if it is a fake one, the function
// that executes its kernels. The test's main function, and that of every process that it
// starts, calls it first.
func Register() {
	handle, err := purego.Dlopen(os.Getenv(driver.Override), purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return
	}
	address, err := purego.Dlsym(handle, "fake_cuda_register")
	if err != nil {
		return
	}
	var register func(launch, link uintptr)
	purego.RegisterFunc(&register, address)
	register(purego.NewCallback(launch), purego.NewCallback(link))
}

// The result of an instruction is ready after latency cycles; each of the four parts of
// a multiprocessor begins an instruction every interval cycles.
const (
	latency  = 18
	interval = 8
	parts    = 4
)

// time stands for a kernel that issues an instruction in rounds of 16 iterations. An
// iteration takes until the result is ready, or until the part with the most warps has
// begun all its instructions, whichever is later.
func (k *kernel) time(shape string, out unsafe.Pointer, rounds uint32) uintptr {
	var warps, ilp int
	if _, err := fmt.Sscanf(shape, "w%d_i%d", &warps, &ilp); err != nil {
		fmt.Fprintln(os.Stderr, "fake CUDA:", err)
		return 500
	}
	busiest := (warps + parts - 1) / parts
	for w := range warps {
		*(*uint32)(unsafe.Add(out, w*k.kernel.OutBytes)) = rounds * 16 * uint32(max(latency, busiest*ilp*interval))
	}
	return 0
}

// timeLoad stands for a loop of loads: one word of each bank is served in a cycle, and the
// first is there after 23 (Sun et al., Table 10).
func timeLoad(name, shape string, out unsafe.Pointer, rounds uint32) uintptr {
	var warps, ilp, ways int
	if _, err := fmt.Sscanf(shape, "w%d_i%d", &warps, &ilp); err != nil {
		return 500
	}
	if _, err := fmt.Sscanf(name[strings.LastIndex(name, "_"):], "_%dway", &ways); err != nil {
		return 500
	}
	for w := range warps {
		*(*uint32)(unsafe.Add(out, 16*w)) = rounds * 16 * uint32(max(23+2*(ways-1), warps*ilp*ways))
	}
	return 0
}

// launch executes a kernel. Its result is an error code of the driver.
func launch(entry *byte, in, out unsafe.Pointer, tiles uintptr) uintptr {
	name, shape, timed := strings.Cut(text(entry), "_timed_")
	if timed && strings.HasPrefix(name, "ld") {
		return timeLoad(name, shape, out, uint32(tiles))
	}
	k, err := kernels().find(name)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fake CUDA:", err)
		return 500
	}
	if timed {
		return k.time(shape, out, uint32(tiles))
	}
	packed := unsafe.Slice((*byte)(in), int(tiles)*k.kernel.InBytes)
	if code := k.poisoned(packed); code != 0 {
		return code
	}
	if err := k.loaded.Launch(context.Background(), packed, unsafe.Slice((*byte)(out), int(tiles)*k.kernel.OutBytes), int(tiles)); err != nil {
		fmt.Fprintln(os.Stderr, "fake CUDA:", err)
		return 719
	}
	return 0
}

// text copies a string of C.
func text(s *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(s), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(s, n))
}

// set holds the kernels of a chip.
type set struct {
	mu   sync.Mutex
	chip string
	have map[string]*kernel
}

// kernel is a kernel that the lane simulator has loaded.
type kernel struct {
	kernel *gpu.Kernel
	loaded gpu.Loaded
}

var kernels = sync.OnceValue(func() *set {
	major, minor := "9", "0"
	if cc, ok := setting("cc"); ok {
		major, minor, _ = strings.Cut(cc, ".")
	}
	return &set{chip: "sm_" + major + minor, have: map[string]*kernel{}}
})

// find returns the kernel with that name of its entry.
func (s *set) find(entry string) (*kernel, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.have[entry]; k != nil {
		return k, nil
	}
	arch, _ := mma.FindArch(s.chip)
	rows := mma.Of(arch.Name)
	for n := range rows {
		m, c := ptx.Tile(&rows[n], 1, 1)
		all, err := ptx.Kernels(&rows[n], s.chip, m, c)
		if err != nil {
			continue
		}
		for _, k := range all {
			if k.Entry != entry {
				continue
			}
			loaded, err := lanes.Loader(model).Load(k)
			if err != nil {
				return nil, err
			}
			s.have[entry] = &kernel{k, loaded}
			return s.have[entry], nil
		}
	}
	return nil, fmt.Errorf("no kernel of %s is called %s", s.chip, entry)
}

// model returns the function that computes an instruction.
func model(i *mma.Instruction) (func(in *mma.Batch, out []byte), error) {
	p := i.Params
	if i.Refuse != "" { // any arithmetic will do
		p = mma.TFDPA(uint8(i.K), 25, mma.To(i.D, fp.RNE), 0)
	}
	if change, ok := setting("set"); ok {
		path, value, _ := strings.Cut(change, ":")
		if err := p.Apply([]mma.Change{{Path: path, To: value}}); err != nil {
			return nil, err
		}
	}
	m, err := sim.New(i.Formats, i.K, p)
	if err != nil {
		return nil, err
	}
	lane, _ := setting("lane")
	wrong, err := strconv.Atoi(lane)
	if err != nil {
		return m.Run, nil
	}
	return func(in *mma.Batch, out []byte) {
		m.Run(in, out)
		w := in.Formats.D.Width()
		for t := range in.Tiles {
			at := t*in.M*in.N + wrong
			if code := mma.Load(out, w, at); code&3 != 0 { // small integers are right
				mma.Store(out, w, at, code^1)
			}
		}
	}, nil
}

// poisoned returns the error code of a launch if its input has the tile that the setting
// poison names, 0 if it has not.
func (k *kernel) poisoned(in []byte) uintptr {
	text, ok := setting("poison")
	if !ok {
		return 0
	}
	how, hex, _ := strings.Cut(text, ":")
	bad, err := strconv.ParseUint(hex, 16, 64)
	if err != nil {
		return 0
	}
	a := &k.kernel.In[0]
	for from := 0; from < len(in); from += k.kernel.InBytes {
		if code := bits(in[from:], a.At[0], a.Bits) >> a.Shift; code != bad {
			continue
		}
		if how == "hang" {
			return hangs
		}
		n, _ := strconv.Atoi(how)
		return uintptr(n)
	}
	return 0
}

// bits reads n bits of a buffer.
func bits(buf []byte, at, n int) uint64 {
	var v uint64
	for i := range n {
		v |= uint64(buf[(at+i)/8]>>((at+i)%8)&1) << i
	}
	return v
}
