//go:build !purego

package cpu

import "syscall"

// detect asks the kernel for each feature by name.
func detect() feature {
	has := func(name string) bool {
		v, err := syscall.SysctlUint32("hw.optional.arm." + name)
		return err == nil && v != 0
	}
	f := feature{fhm: has("FEAT_FHM"), fp16: has("FEAT_FP16")}
	if has("FEAT_BF16") {
		f.bf16 = 1
	}
	if has("FEAT_EBF16") {
		f.bf16 = 2
	}
	return f
}

func model() string {
	name, err := syscall.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return "aarch64"
	}
	return name
}
