//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package corpus

import (
	"io/fs"
	"syscall"
)

// noFollow is a flag of os.OpenFile: a symbolic link is not followed.
const noFollow = syscall.O_NOFOLLOW

// hardLinked reports whether a file has several names.
func hardLinked(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink > 1
}
