package document

import (
	"io"
	"os"
	"strings"
)

// begin is how every page begins.
const begin = "<!doctype html>"

// IsFile reports whether a file begins as a page does. What is no regular file, or is empty, is
// not looked into: true.
func IsFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return true
	}
	defer f.Close()
	head := make([]byte, len(begin))
	_, err = io.ReadFull(f, head)
	return err == nil && strings.EqualFold(string(head), begin)
}
