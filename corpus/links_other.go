//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package corpus

import "io/fs"

// noFollow is no flag: this system has none by which os.OpenFile does not follow links.
const noFollow = 0

// hardLinked reports whether a file is known to have several names.
func hardLinked(fs.FileInfo) bool { return false }
