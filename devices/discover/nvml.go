package discover

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// managed is what NVML, NVIDIA's management library, says of a GPU. A number that the GPU
// does not have is unknown.
type managed struct {
	problem              string
	name, uuid, vbios    string
	driver               string
	major, minor         int // compute capability
	ecc                  int // 1 on, 0 off
	sm, maxSM            int // clock of the multiprocessors, MHz
	memory, maxMemory    int // clock of the memory, MHz
	corrected, otherwise int // errors since the driver was loaded that ECC did, and did not, correct
	throttle             int // bits, see reasons
}

const unknown = -1

// reasons are what holds the clocks down, by bit: nvmlClocksEventReason... of nvml.h.
var reasons = []string{"idle", "clocks were set", "software power cap", "hardware slowdown", "sync boost",
	"software thermal slowdown", "hardware thermal slowdown", "power brake", "display clocks"}

// libraryVar is the environment variable that names the file to load instead of the usual
// ones.
const libraryVar = "MMAFUZZ_LIBNVML"

// errNoNVML reports that NVML is not there, or has no driver to ask.
var errNoNVML = errors.New("no NVML")

// nvmlThread is the thread that calls NVML.
var nvmlThread = sync.OnceValue(gpu.NewExecutor)

// nvidiaKnown asks NVML, or where it is not there reads what the kernel's part of the driver
// publishes, which is less.
func nvidiaKnown() []Device {
	answer := make(chan []managed, 1) // a call that hangs may still answer
	err := nvmlThread().Do("NVML", driver.Timeout, func() error {
		all, err := askNVML()
		answer <- all
		return err
	})
	switch {
	case errors.Is(err, errNoNVML):
		return nvidiaProc("/proc/driver/nvidia")
	case err != nil:
		return []Device{{Kind: "nvidia", Name: "NVML", Problem: err.Error(),
			Remedy: "check that the kernel module and the driver libraries have one version (nvidia-smi)"}}
	}
	var found []Device
	for _, m := range <-answer {
		found = append(found, m.device())
	}
	return found
}

func (m *managed) device() Device {
	d := Device{Kind: "nvidia", Name: m.name, UUID: m.uuid, VBIOS: m.vbios, Driver: m.driver, Problem: m.problem}
	if m.problem != "" {
		return d
	}
	if arch, ok := mma.FindArch(fmt.Sprintf("sm_%d%d", m.major, m.minor)); ok {
		d.Arch = arch.Name
	}
	d.Detail = fmt.Sprintf("compute capability %d.%d", m.major, m.minor)
	if m.ecc != unknown {
		d.Detail += ", ECC " + onOff(m.ecc == 1)
	}
	var clocks []string
	for _, c := range []struct {
		now, most int
		of        string
	}{{m.sm, m.maxSM, ""}, {m.memory, m.maxMemory, "memory "}} {
		if c.now != unknown && c.most != unknown {
			clocks = append(clocks, fmt.Sprintf("%s%d of %d MHz", c.of, c.now, c.most))
		}
	}
	d.Clocks = strings.Join(clocks, ", ")
	if m.corrected != unknown && m.otherwise != unknown {
		d.ECC = fmt.Sprintf("%d errors corrected, %d not", m.corrected, m.otherwise)
	}
	if m.throttle != unknown {
		d.Throttle = throttleText(m.throttle)
	}
	return d
}

// throttleText names the reasons that are set.
func throttleText(bits int) string {
	var set []string
	for i, r := range reasons {
		if bits>>i&1 != 0 {
			set = append(set, r)
		}
	}
	if rest := bits >> len(reasons) << len(reasons); rest != 0 {
		set = append(set, fmt.Sprintf("%#x", rest))
	}
	if set == nil {
		return "none"
	}
	return strings.Join(set, ", ")
}
