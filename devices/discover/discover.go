// Package discover finds hardware that could be tested on this machine. It
// executes nothing.
//
// The API of this package is not promised: it may change in any version.
package discover

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Device is a piece of hardware, or what is in the way of finding it.
type Device struct {
	Kind   string `json:"kind"` // nvidia, amd
	Name   string `json:"name"`
	Arch   string `json:"arch,omitempty"` // of the catalogue, if it is known
	Detail string `json:"detail,omitempty"`
	UUID   string `json:"uuid,omitempty"`
	Driver string `json:"driver,omitempty"`
	PCI    string `json:"pci,omitempty"`    // address, 0000:c1:00.0
	Target string `json:"target,omitempty"` // name of the target, such as cuda:0
	VBIOS  string `json:"vbios,omitempty"`  // version of the GPU's firmware
	// At the time of the call: the clocks, the errors of memory that ECC has counted, and what
	// holds the clocks down.
	Clocks   string `json:"clocks,omitempty"`
	ECC      string `json:"ecc,omitempty"`
	Throttle string `json:"throttle,omitempty"`
	// Problem explains why the device cannot be used, Remedy what to do about it.
	Problem string `json:"problem,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

// Devices returns what was found, NVIDIA first.
func Devices() []Device {
	return append(nvidia(), AMD()...)
}

// topologyVar is the environment variable that names the folder to read instead of
// the one where AMD's kernel driver publishes its topology.
const topologyVar = "MMAFUZZ_KFD"

// AMD returns the GPUs that AMD's kernel driver knows. The targets' numbers are
// those of the HIP runtime, unless that hides a GPU (HIP_VISIBLE_DEVICES).
func AMD() []Device {
	root := os.Getenv(topologyVar)
	if root == "" {
		root = "/sys/class/kfd/kfd/topology/nodes"
	}
	found := amd(root)
	version, err := os.ReadFile("/sys/module/amdgpu/version") // only drivers from outside the kernel have it
	n := 0
	for i := range found {
		d := &found[i]
		if err == nil {
			d.Driver = strings.TrimSpace(string(version))
		}
		if d.Problem != "" {
			continue
		}
		if d.Arch != "" {
			d.Target = fmt.Sprintf("hip:%d", n)
		}
		n++
	}
	return found
}

// amd reads the topology that the kernel driver publishes below root.
func amd(root string) []Device {
	nodes, err := filepath.Glob(filepath.Join(root, "*", "properties"))
	if err != nil {
		return nil
	}
	slices.SortFunc(nodes, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) }) // 10 follows 9
	var found []Device
	for _, n := range nodes {
		data, err := os.ReadFile(n)
		if err != nil {
			found = append(found, Device{Kind: "amd", Name: n, Problem: err.Error(), Remedy: "read access to " + root})
			continue
		}
		if version := property(string(data), "gfx_target_version"); version != "" && version != "0" {
			name := gfxName(version)
			arch, _ := mma.FindArch(name)
			found = append(found, Device{Kind: "amd", Name: name, Arch: arch.Name, UUID: uniqueID(string(data)), PCI: pciAddress(string(data))})
		}
	}
	return found
}

// property returns a value of a text of "name value" lines.
func property(text, name string) string {
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == name {
			return f[1]
		}
	}
	return ""
}

// pciAddress returns the PCI address of a node of the topology, "" if it has none.
// location_id holds bus (8 bits), device (5) and function (3).
func pciAddress(text string) string {
	var domain, location uint32
	if _, err := fmt.Sscan(property(text, "location_id"), &location); err != nil {
		return ""
	}
	if _, err := fmt.Sscan(property(text, "domain"), &domain); err != nil {
		return ""
	}
	return fmt.Sprintf("%04x:%02x:%02x.%x", domain, location>>8&0xff, location>>3&0x1f, location&7)
}

// uniqueID returns the identifier of a GPU as rocminfo writes it, "" if it has none.
func uniqueID(text string) string {
	var id uint64
	if _, err := fmt.Sscan(property(text, "unique_id"), &id); err != nil || id == 0 {
		return ""
	}
	return fmt.Sprintf("GPU-%016x", id)
}

// gfxName turns 90402 into gfx942: major, two digits minor, two digits stepping
// in hexadecimal.
func gfxName(version string) string {
	var n int
	if _, err := fmt.Sscan(version, &n); err != nil {
		return "gfx?"
	}
	return fmt.Sprintf("gfx%d%x%x", n/10000, n/100%100, n%100)
}
