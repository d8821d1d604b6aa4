package cuda

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/gpu"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/driver"
	"github.com/mmafuzz/mmafuzz/devices/internal/nvidia/sass"
)

// inspect describes what the machine code of a kernel is made of.
func inspect(k *gpu.Kernel, m *driver.Module) map[string]string {
	return map[string]string{"code": verdict(k, m)}
}

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
