package hip

import (
	"fmt"
	"os"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices/discover"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// chipOf returns the chip of the GPU at a PCI address, 0000:c1:00.0: what the
// kernel driver says, because the runtime's structure of properties has another
// layout in each major version. MMAFUZZ_HIP_CHIP says it where there is no such
// driver.
func chipOf(pci string) (string, error) {
	chip := os.Getenv("MMAFUZZ_HIP_CHIP")
	if chip == "" {
		for _, d := range discover.AMD() {
			if strings.EqualFold(d.PCI, pci) {
				chip = d.Name
			}
		}
	}
	if chip == "" {
		return "", fmt.Errorf("the kernel driver's topology in /sys/class/kfd has no GPU at %s: say which chip it is in MMAFUZZ_HIP_CHIP (gfx942)", pci)
	}
	if _, ok := mma.FindArch(chip); !ok || !strings.HasPrefix(chip, "gfx") {
		return "", fmt.Errorf("%s has no matrix instructions that are known", chip)
	}
	return chip, nil
}
