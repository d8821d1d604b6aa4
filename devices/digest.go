package devices

// What identifies the files that a target depends on.

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
)

// FileBacked is a Target whose results depend on files, which may change while its name stays.
type FileBacked interface {
	Target
	// Digest identifies what was in the files when the target was opened.
	Digest() string
}

// DigestOf returns the Digest of a target, "" for one that is not FileBacked.
func DigestOf(t Target) string {
	if f, ok := t.(FileBacked); ok {
		return f.Digest()
	}
	return ""
}

// Digest returns a short hash of all that a reader delivers.
func Digest(r io.Reader) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// DigestFile returns the Digest of a file's contents.
func DigestFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return Digest(f)
}
