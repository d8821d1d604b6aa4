package discover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// nvidia joins what the system knows of NVIDIA GPUs (NVML, or what the kernel's part
// of the driver publishes) with what the driver offers to run on. The two number GPUs
// differently, and the driver may show a program only some: a UUID says which is which.
func nvidia() []Device {
	known := nvidiaKnown()
	offered, err := cuda()
	return join(known, offered, err)
}

// AddNVIDIAFacts adds to the facts of a target what the system knows of the NVIDIA GPU with
// its UUID, as far as they lack it: driver, vbios, and at the start clocks, ecc and throttle.
func AddNVIDIAFacts(facts map[string]string) {
	for _, d := range nvidiaKnown() {
		if d.UUID == "" || d.UUID != facts["uuid"] || d.Problem != "" {
			continue
		}
		for name, value := range map[string]string{"driver": d.Driver, "vbios": d.VBIOS,
			corpus.AtStart + "clocks": d.Clocks, corpus.AtStart + "ecc": d.ECC, corpus.AtStart + "throttle": d.Throttle} {
			if facts[name] == "" && value != "" {
				facts[name] = value
			}
		}
	}
}

// join adds to the known devices the names of their targets, or why they cannot be used.
func join(known, offered []Device, err error) []Device {
	if err != nil {
		return unusable(known, err)
	}
	byUUID := map[string]*Device{}
	for i := range offered {
		byUUID[offered[i].UUID] = &offered[i]
	}
	var all []Device
	for _, d := range known {
		if o := byUUID[d.UUID]; o != nil {
			d.Target, d.Arch, d.Detail = o.Target, o.Arch, o.Detail
			o.Target = "" // has been taken
		} else if d.Problem == "" {
			d.Problem, d.Remedy = "the driver does not offer it to this program", "look at CUDA_VISIBLE_DEVICES, and in a container at --gpus"
		}
		all = append(all, d)
	}
	for _, o := range offered {
		if o.Target != "" {
			all = append(all, o)
		}
	}
	return all
}

// unusable adds to the known devices why the driver does not work. If none is known, a
// missing driver is no problem: there is nothing to drive.
func unusable(known []Device, err error) []Device {
	if len(known) == 0 {
		if errors.As(err, new(*driver.AbsentError)) || noDevice(err) {
			return nil
		}
		known = []Device{{Kind: "nvidia", Name: "CUDA"}}
	}
	for i := range known {
		if known[i].Problem == "" {
			known[i].Problem, known[i].Remedy = err.Error(), "get nvidia-smi to work first; simulators and recordings need no GPU"
		}
	}
	return known
}

// noDevice reports whether an error is that of a working driver which sees no GPU
// (CUDA_ERROR_NO_DEVICE).
func noDevice(err error) bool {
	var e *driver.Error
	return errors.As(err, &e) && e.Code == 100
}

// cuda returns the devices that the driver offers.
func cuda() ([]Device, error) {
	lib, err := driver.Open()
	if err != nil {
		return nil, err
	}
	infos, err := lib.Devices()
	if err != nil {
		return nil, err
	}
	var all []Device
	for _, i := range infos {
		d := Device{
			Kind: "nvidia", Name: i.Name, UUID: i.UUID, Driver: driver.Package(), Target: fmt.Sprintf("cuda:%d", i.Ordinal),
			Detail: fmt.Sprintf("compute capability %d.%d, ECC %s, driver for CUDA %s", i.Major, i.Minor, onOff(i.ECC), driver.VersionText(lib.Version)),
		}
		if arch, ok := mma.FindArch(i.Chip()); ok {
			d.Arch = arch.Name
		}
		all = append(all, d)
	}
	return all, nil
}

func onOff(b bool) string {
	if b {
		return "on"
	}
	return "off"
}

// nvidiaProc reads what the kernel's part of the driver publishes below root.
func nvidiaProc(root string) []Device {
	files, _ := filepath.Glob(filepath.Join(root, "gpus", "*", "information"))
	version := ""
	if body, err := os.ReadFile(filepath.Join(root, "version")); err == nil {
		version = driver.PackageVersion(string(body))
	}
	var found []Device
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			found = append(found, Device{Kind: "nvidia", Name: f, Problem: err.Error(), Remedy: "read access to " + root})
			continue
		}
		d := Device{Kind: "nvidia", Driver: version}
		for line := range strings.Lines(string(data)) {
			name, value, _ := strings.Cut(line, ":")
			switch value = strings.TrimSpace(value); strings.TrimSpace(name) {
			case "Model":
				d.Name = value
			case "GPU UUID":
				d.UUID = value
			}
		}
		found = append(found, d)
	}
	return found
}
