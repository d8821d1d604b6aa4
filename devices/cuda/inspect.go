package cuda

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/sass"
)

// inspect describes the machine code of a kernel, as a fact for bundles.
func inspect(k *gpu.Kernel, m *driver.Module) map[string]string {
	return map[string]string{"code": verdict(k, m)}
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
