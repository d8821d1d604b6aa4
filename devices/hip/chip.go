package hip

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// chipOf returns the chip of the GPU at a PCI address, such as 0000:c1:00.0, and what else
// the kernel driver says about it. Without a kernel driver that says it, as on Windows, it is
// what the runtime says; MMAFUZZ_HIP_CHIP names the chip if neither does.
func chipOf(pci, runtime string) (string, *discover.Device, error) {
	chip, about := os.Getenv("MMAFUZZ_HIP_CHIP"), &discover.Device{}
	for _, d := range discover.AMD() {
		if d.PCI != "" && strings.EqualFold(d.PCI, pci) {
			about = &d
			break
		}
	}
	chip = cmp.Or(chip, about.Name, runtime)
	if chip == "" {
		return "", nil, fmt.Errorf("neither the kernel driver's topology in /sys/class/kfd nor the runtime says what the GPU at %s is: say which chip it is in MMAFUZZ_HIP_CHIP (gfx942)", pci)
	}
	if _, ok := mma.FindArch(chip); !ok || !strings.HasPrefix(chip, "gfx") {
		return "", nil, fmt.Errorf("%s has no matrix instructions that are known", chip)
	}
	return chip, about, nil
}
