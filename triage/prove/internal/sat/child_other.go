//go:build !linux

package sat

import "syscall"

func attributes() *syscall.SysProcAttr { return nil }

func limitMemory(int, uint64) {}
