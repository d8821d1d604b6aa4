// Package cuda makes NVIDIA GPUs targets: cuda:0, cuda:1 and so on in the driver's
// order, or cuda:GPU-... by the beginning of a UUID. What is needed is a driver,
// and nothing else: kernels are PTX text (package ptx) that the driver compiles
// (package driver).
//
//	mmafuzz doctor
//	mmafuzz list instructions cuda:0
//	mmafuzz run --a cuda:0 --b sim:hopper --time 10m
//
// # Isolation
//
// A kernel that faults takes its context with it, and one that hangs takes the whole
// device. So cuda:0 runs in child processes (mmafuzz serve cuda:0,inprocess), which
// are replaced when they fail, and the input that made one fail becomes a finding
// (package exec). Options may follow the name, as in cuda:0,deadline=2s: see
// gpu.Options.
//
// # What is known of a result
//
// Before the results of an instruction are trusted it is tested (gpu.SelfTest), and
// the machine code that the driver has made of its kernel is searched for the
// tensor instructions that it should contain (package sass): an FP8 mma.sync of PTX,
// for example, is compiled to FP16 instructions on Hopper. Both outcomes, with the
// device, its driver and its clocks, go into bundles and recordings. NVML, if the driver
// has it (libnvidia-ml.so.1, or the file that MMAFUZZ_LIBNVML names), adds the version of the
// VBIOS, and for the start of the target the clocks, the errors that ECC has counted and the
// reasons for lower clocks.
//
// The API of this package is not promised: it may change in any version.
package cuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/ptx"
	_ "github.com/mmafuzz/mmafuzz/devices/internal/nvidia/repro" // programs that reproduce a case
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/sass"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register(kind, open, "NVIDIA GPU: cuda:0, or cuda:GPU-... by its UUID (mmafuzz help cuda)")
}

const kind = "cuda"

func open(argument string) (devices.Target, error) {
	o, err := gpu.ParseOptions(argument)
	switch {
	case err != nil:
		return nil, err
	case o.Device == "":
		return nil, errors.New("the device is missing: cuda:0, or cuda:GPU-... by its UUID")
	case !o.Isolated() || dynamic.Supported() != nil: // where no driver can be loaded, here says why
		return here(kind+":"+argument, o)
	}
	return gpu.Isolate(kind+":"+argument, func(child devices.Target) ([]mma.Instruction, error) {
		facts := child.Environment()
		version, err := parseVersion(facts[factVersion])
		return rowsOf(facts[factChip], version), err
	})
}

// Names of the facts that an isolated target reads back from its child. They have no
// blanks, because they are words of the protocol.
const (
	factChip    = "chip"
	factVersion = "driver-api"
)

func parseVersion(text string) (int, error) {
	var major, minor int
	if _, err := fmt.Sscanf(text, "%d.%d", &major, &minor); err != nil {
		return 0, fmt.Errorf("the driver's version is %q: %w", text, err)
	}
	return major*1000 + minor*10, nil
}

// device opens a device in this process.
func device(o *gpu.Options) (*driver.Library, *driver.Device, error) {
	lib, err := driver.Open()
	if err != nil {
		return nil, nil, err
	}
	ordinal, err := find(lib, o.Device)
	if err != nil {
		return nil, nil, err
	}
	d, err := lib.Device(ordinal)
	return lib, d, err
}

// here returns a target that runs in this process.
func here(name string, o *gpu.Options) (devices.Target, error) {
	lib, d, err := device(o)
	if err != nil {
		return nil, err
	}
	chip := d.Chip()
	if len(rowsOf(chip, lib.Version)) == 0 {
		return nil, fmt.Errorf("no instructions of compute capability %d.%d are known", d.Major, d.Minor)
	}
	return &gpu.Target{
		Label: name, Rows: rowsOf(chip, lib.Version), Facts: facts(lib, &d.Info), Force: o.Force,
		Kernels: func(i *mma.Instruction) ([]*gpu.Kernel, error) { return kernels(i, chip) },
		Loader:  &loader{name, d, o.Deadline}, Release: d.Close,
	}, nil
}

// find returns the ordinal of a device.
func find(lib *driver.Library, name string) (int, error) {
	all, err := lib.Devices()
	if err != nil {
		return 0, err
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 || n >= len(all) {
			return 0, fmt.Errorf("there is no device %d: the driver shows %d (CUDA_VISIBLE_DEVICES hides devices)", n, len(all))
		}
		return n, nil
	}
	found := -1
	for i := range all {
		switch {
		case !strings.HasPrefix(all[i].UUID, name):
		case found >= 0:
			return 0, fmt.Errorf("%s is the beginning of several UUIDs: %s and %s", name, all[found].UUID, all[i].UUID)
		default:
			found = i
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("no device has a UUID that begins %s (%s)", name, uuids(all))
	}
	return found, nil
}

func uuids(all []driver.Info) string {
	var names []string
	for _, i := range all {
		names = append(names, i.UUID)
	}
	if names == nil {
		return "the driver shows none"
	}
	return strings.Join(names, ", ")
}

// facts are what results may depend on besides the instruction. They must not change
// between calls, but for those of the start (corpus.AtStart): a recording is continued only
// where all others are the same.
func facts(lib *driver.Library, i *driver.Info) map[string]string {
	f := map[string]string{
		"kind": "GPU", "device": i.Name, "uuid": i.UUID, factChip: i.Chip(), "pci": i.PCI,
		"compute-capability": fmt.Sprintf("%d.%d", i.Major, i.Minor),
		factVersion:          driver.VersionText(lib.Version), "library": lib.Path,
		"ecc":             map[bool]string{true: "on", false: "off"}[i.ECC],
		"clocks":          fmt.Sprintf("up to %d MHz, memory %d MHz", i.ClockKHz/1000, i.MemoryClockKHz/1000),
		"multiprocessors": fmt.Sprint(i.Processors), "memory": fmt.Sprintf("%d MiB", i.Memory>>20),
	}
	discover.AddNVIDIAFacts(f)
	if f["driver"] == "" {
		f["driver"] = driver.Package()
	}
	maps.DeleteFunc(f, func(_, v string) bool { return v == "" })
	return f
}

// rowsOf returns the instructions of the catalogue for a chip (sm_90) with a driver
// (12040 for CUDA 12.4); those that cannot be run say why in Refuse. An instruction
// without a model can be run.
func rowsOf(chip string, version int) []mma.Instruction {
	arch, ok := mma.FindArch(chip)
	if !ok {
		return nil
	}
	rows := mma.Of(arch.Name)
	for n := range rows {
		rows[n].Refuse = ""
		ks, err := kernels(&rows[n], chip)
		switch {
		case err != nil:
			rows[n].Refuse = err.Error()
		case ks[0].Driver > version:
			rows[n].Refuse = fmt.Sprintf("its PTX needs a driver for CUDA %s, this one is for %s", driver.VersionText(ks[0].Driver), driver.VersionText(version))
		}
	}
	return rows
}

// kernels returns the kernels of an instruction, the usual one first.
func kernels(i *mma.Instruction, chip string) ([]*gpu.Kernel, error) {
	m, n := ptx.Tile(i, 1, 1)
	return ptx.Kernels(i, chip, m, n)
}

// loader loads kernels on a device.
type loader struct {
	name     string
	device   *driver.Device
	deadline time.Duration
}

// loaded is a kernel on a device.
type loaded struct {
	*loader
	function *driver.Function
	facts    map[string]string
}

func (l *loader) Load(k *gpu.Kernel) (gpu.Loaded, error) {
	m, f, err := l.function(k, k.Source, k.Entry)
	if err != nil {
		return nil, l.blame(err)
	}
	// What the machine code consists of is a fact for bundles.
	return &loaded{l, f, map[string]string{"code": verdict(k, m)}}, nil
}

// function loads a kernel from a source, which need not be its own.
func (l *loader) function(k *gpu.Kernel, source, entry string) (*driver.Module, *driver.Function, error) {
	m, err := l.device.Module(source)
	if err != nil {
		return nil, nil, err
	}
	f, err := l.device.Function(m, entry, driver.Grid{Threads: k.Threads, Tiles: k.Tiles, InBytes: k.InBytes, OutBytes: k.OutBytes})
	return m, f, err
}

// verdict says whether the machine code of a kernel has the instructions that it needs.
func verdict(k *gpu.Kernel, m *driver.Module) string {
	if m.Code == nil {
		return fmt.Sprintf("not seen: %v", m.NoCode)
	}
	counts, err := sass.Scan(m.Code)
	if err != nil {
		return fmt.Sprintf("not understood: %v", err)
	}
	return counts.Verdict(k.Needs)
}

// blame turns a failure after which this process cannot use the device any more into a
// finding. Later calls, which fail because of that, are no findings.
func (l *loader) blame(err error) error {
	if driver.Fatal(err) && !driver.Lost(err) {
		return &devices.FaultError{Target: l.name, What: err.Error()}
	}
	return err
}

func (l *loaded) Launch(ctx context.Context, in, out []byte, tiles int) error {
	_, err := l.function.Launch(ctx, in, out, tiles, l.deadline)
	return l.blame(err)
}

// Facts says what the machine code of the kernel consists of.
func (l *loaded) Facts() map[string]string { return l.facts }

func (l *loaded) Close() error { return nil } // modules stay until the device is closed
