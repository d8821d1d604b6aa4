//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package corpus

import (
	"errors"
	"path/filepath"
	"testing"
)

// TestRecordingInUse checks that a recording has one writer at a time.
func TestRecordingInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f, err := OpenRecordingFile(path, fileHeader())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenRecordingFile(path, fileHeader()); !errors.Is(err, ErrInUse) {
		t.Errorf("a second writer gets %v", err)
	}
	f.Close()
	finishFile(t, path)
}
