package cuda

import (
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices/cuda/driver"
	"github.com/mmafuzz/mmafuzz/devices/gpu"
)

// inspect says what the machine code of a kernel is.
func inspect(k *gpu.Kernel, m *driver.Module) map[string]string {
	if m.Code == nil {
		return map[string]string{"code": fmt.Sprintf("not seen: %v", m.NoCode)}
	}
	return map[string]string{"code": fmt.Sprintf("%d bytes", len(m.Code))}
}
