//go:build !purego

package cpu

import (
	"sync"
	"syscall"
)

// amx reports whether the kernel lets this process use tiles, for which it must ask
// (Linux, Documentation/arch/x86/xstate.rst).
var amx = sync.OnceValue(func() bool {
	const (
		reqXcompPerm = 0x1023 // ARCH_REQ_XCOMP_PERM
		tileData     = 18     // the number of XTILEDATA
	)
	_, _, e := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, reqXcompPerm, tileData, 0)
	return e == 0
})
