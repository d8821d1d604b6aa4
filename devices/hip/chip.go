package hip

import (
	"fmt"
	"os"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// chipOf returns the chip of the GPU at a PCI address, such as 0000:c1:00.0, and what else
// the kernel driver says about it. The runtime is not asked, because its structure of
// properties has another layout in each major version. MMAFUZZ_HIP_CHIP names the chip if
// the kernel driver does not.
func chipOf(pci string) (string, *discover.Device, error) {
	chip, about := os.Getenv("MMAFUZZ_HIP_CHIP"), &discover.Device{}
	for _, d := range discover.AMD() {
		if d.PCI != "" && strings.EqualFold(d.PCI, pci) {
			about = &d
			break
		}
	}
	if chip == "" {
		chip = about.Name
	}
	if chip == "" {
		return "", nil, fmt.Errorf("the kernel driver's topology in /sys/class/kfd has no GPU at %s: say which chip it is in MMAFUZZ_HIP_CHIP (gfx942)", pci)
	}
	if _, ok := mma.FindArch(chip); !ok || !strings.HasPrefix(chip, "gfx") {
		return "", nil, fmt.Errorf("%s has no matrix instructions that are known", chip)
	}
	return chip, about, nil
}
