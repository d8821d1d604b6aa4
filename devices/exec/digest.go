package exec

import (
	"os"
	osexec "os/exec"
	"strings"

	"github.com/mmafuzz/mmafuzz/devices"
)

// digests identifies the files that a command runs: its program, its first argument if
// that is a file (a script), and executable files among its other arguments (programs
// that an emulator runs). Files that cannot be read are left out.
func digests(words []string) string {
	var all []string
	for n, word := range words {
		if n == 0 {
			if path, err := osexec.LookPath(word); err == nil {
				word = path
			}
		}
		info, err := os.Stat(word)
		if err != nil || !info.Mode().IsRegular() || n > 1 && info.Mode()&0o111 == 0 {
			continue
		}
		if d, err := devices.DigestFile(word); err == nil {
			all = append(all, word+" "+d)
		}
	}
	return strings.Join(all, ", ")
}
