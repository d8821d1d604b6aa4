package vulkan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
)

// This file finds the Vulkan device that is the same GPU as a device of another backend, or the
// first GPU there is.

// maxDevices is how many Vulkan devices of a machine are tried.
const maxDevices = 8

// Same opens the Vulkan device that is the same GPU as a cuda or hip device: the one that has its
// UUID or its address on the bus. It returns nil if there is none.
func Same(gpu devices.Target) devices.Target {
	if name := gpu.Name(); !strings.HasPrefix(name, "cuda:") && !strings.HasPrefix(name, "hip:") {
		return nil
	}
	facts := gpu.Environment()
	return first(func(own map[string]string) bool {
		return slices.ContainsFunc([]string{"uuid", "pci"}, func(name string) bool {
			return own[name] != "" && strings.EqualFold(own[name], facts[name])
		})
	})
}

// GPU opens the first Vulkan device that is not software on the processor, nil if there is none.
func GPU() devices.Target {
	return first(func(facts map[string]string) bool { return facts["device-kind"] != deviceKinds[software] })
}

// first opens the first device whose facts are those wanted, nil if there is none.
func first(wanted func(facts map[string]string) bool) devices.Target {
	for n := range maxDevices {
		t, err := devices.Open(fmt.Sprintf("%s:%d", kind, n))
		if err != nil {
			if strings.Contains(err.Error(), "its driver") {
				continue // a later device may be usable
			}
			return nil
		}
		if wanted(t.Environment()) {
			return t
		}
		t.Close()
	}
	return nil
}
