package vulkan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/dynamic"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

func init() {
	devices.Register(kind, open, "any vendor's GPU with cooperative matrices: vulkan:0 (mmafuzz help vulkan)")
}

const kind = "vulkan"

func open(argument string) (devices.Target, error) {
	o, err := gpu.ParseOptions(argument)
	if err != nil {
		return nil, err
	}
	ordinal, err := strconv.Atoi(o.Device)
	if err != nil || ordinal < 0 {
		return nil, fmt.Errorf("%q is not the number of a device: vulkan:0 is the first", o.Device)
	}
	name := kind + ":" + argument
	if err := dynamic.Supported(); err != nil {
		return nil, err
	}
	if !o.Isolated() {
		return here(name, ordinal, o)
	}
	return gpu.Isolate(name, rowsOf)
}

// Names of the facts that an isolated target reads back from its child.
const (
	factArch   = "arch"
	factOthers = "not-supported"
)

// rowsOf returns the instructions of a child, including the refused ones.
func rowsOf(child devices.Target) ([]mma.Instruction, error) {
	facts := child.Environment()
	var rows []mma.Instruction
	seen := map[string]bool{}
	add := func(name, refuse string) {
		o, err := parse(name)
		if err != nil || seen[name] {
			return // the list may have been cut off in a name
		}
		seen[name] = true
		i := o.instruction(facts[factArch])
		i.Refuse = cmp.Or(i.Refuse, refuse)
		rows = append(rows, i)
	}
	for name := range strings.SplitSeq(facts[factOthers], ",") {
		add(name, "its driver lacks a feature that it needs")
	}
	for _, i := range child.Instructions() {
		add(i.Name, "")
	}
	return rows, nil
}

// here returns a target that runs in this process.
func here(name string, ordinal int, o *gpu.Options) (devices.Target, error) {
	d, err := openDevice(name, ordinal, o)
	if err != nil {
		return nil, err
	}
	t := &gpu.Target{
		Label: name, Facts: d.facts(), Force: o.Force, Loader: d, Release: d.close,
		Kernels: func(i *mma.Instruction) ([]*gpu.Kernel, error) { return kernels(i, d.subgroup) },
	}
	t.Rows = d.rows()
	return t, nil
}

// rows returns the instructions that the device executes, with a reason for those that it
// does not.
func (d *device) rows() []mma.Instruction {
	rows := []mma.Instruction{} // nil would mean a target that takes any instruction
	for n := range d.offers {
		o := &d.offers[n]
		i := o.instruction(d.arch())
		for _, f := range o.features() {
			if i.Refuse == "" && !d.has[f] {
				i.Refuse = "its driver lacks the feature " + f
			}
		}
		rows = append(rows, i)
	}
	return rows
}

// llvmpipe is the VkDriverId of Mesa's software rasterizer.
const llvmpipe = 13

// arch returns the architecture of the catalogue whose arithmetic the device is believed to
// have, or the name of this API.
func (d *device) arch() string {
	if d.info.driverID == llvmpipe {
		return "llvmpipe"
	}
	return kind
}

// deviceKinds names the values of VkPhysicalDeviceType.
var deviceKinds = map[uint32]string{1: "integrated GPU", 2: "GPU", 3: "virtual GPU", software: "software on the processor"}

const software = 4

// facts returns what results may depend on besides the instruction.
func (d *device) facts() map[string]string {
	i := &d.info
	f := map[string]string{
		"kind": "Vulkan device", "device": i.title, "device-kind": deviceKinds[i.kind], factArch: d.arch(), "library": d.path,
		"vendor-id": fmt.Sprintf("%#04x", i.vendor), "device-id": fmt.Sprintf("%#04x", i.id), "uuid": uuidText(i.uuid),
		"driver": d.driver(), "driver-id": fmt.Sprint(i.driverID), "driver-version": fmt.Sprintf("%#x", i.driverVersion),
		"vulkan": versionText(i.apiVersion), "subgroup": fmt.Sprint(d.subgroup),
	}
	if i.pci != "" {
		f["pci"] = i.pci
	}
	if f["device-kind"] == "" {
		f["device-kind"] = "unknown"
	}
	var others []string
	for _, r := range d.rows() {
		if r.Refuse != "" {
			others = append(others, r.Name)
		}
	}
	if others != nil {
		f[factOthers] = strings.Join(others, ",")
	}
	discover.AddNVIDIAFacts(f)
	return f
}
