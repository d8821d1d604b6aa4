package vulkan

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
)

// maxDevices is how many devices of a machine are looked for.
const maxDevices = 8

// Same opens the device of Vulkan that another driver's GPU is, by its UUID or its address on
// the bus; nil if there is none.
func Same(gpu devices.Target) devices.Target {
	if name := gpu.Name(); !strings.HasPrefix(name, "cuda:") && !strings.HasPrefix(name, "hip:") {
		return nil
	}
	facts := gpu.Environment()
	for n := range maxDevices {
		t, err := devices.Open(fmt.Sprintf("%s:%d", kind, n))
		if err != nil {
			if strings.Contains(err.Error(), "its driver") {
				continue // this device's: there may be others
			}
			return nil
		}
		for _, name := range []string{"uuid", "pci"} {
			if own := t.Environment()[name]; own != "" && strings.EqualFold(own, facts[name]) {
				return t
			}
		}
		t.Close()
	}
	return nil
}
