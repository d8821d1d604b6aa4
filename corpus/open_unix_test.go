//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package corpus

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestIrregular gives every reader and every store a pipe that nobody writes, a device
// without an end and a socket: each is refused at once.
func TestIrregular(t *testing.T) {
	dir := t.TempDir()
	pipe, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip("no socket can be made here: ", err)
	}
	defer l.Close()
	bundle := func(member string) func(string) error {
		return func(path string) error {
			dir := newBundle(t)
			if err := errors.Join(os.Remove(filepath.Join(dir, member)), os.Symlink(path, filepath.Join(dir, member))); err != nil {
				t.Fatal(err)
			}
			_, err := ReadBundle(dir)
			return err
		}
	}
	readers := map[string]func(string) error{
		"recording":  func(path string) error { _, err := OpenRecording(path); return err },
		"plan":       func(path string) error { _, err := OpenPlan(path); return err },
		"known":      func(path string) error { _, err := OpenKnown(path); return err },
		"MANIFEST":   bundle("MANIFEST"),
		"mismatch":   bundle("mismatch.json"),
		"other file": bundle("README.md"),
		"journal":    func(path string) error { _, err := OpenLocked(path, os.O_RDWR); return err },
		"record":     func(path string) error { _, err := OpenRecordingFile(path, fileHeader()); return err },
	}
	for name, read := range readers {
		for path, kind := range map[string]string{pipe: "pipe", socket: "socket", "/dev/zero": "device", "/dev/null": "device", dir: "directory"} {
			done := make(chan error, 1)
			go func() { done <- read(path) }()
			select {
			case err := <-done:
				if want := " is a " + kind + ": name a regular file"; err == nil || !strings.HasSuffix(err.Error(), want) {
					t.Errorf("%s from a %s: %v, want %s", name, kind, err, want)
				}
			case <-time.After(time.Minute):
				t.Fatalf("%s from a %s hangs", name, kind)
			}
		}
	}
}

// TestReplacePipe writes to a device, to a pipe that is read, and to one that is not.
func TestReplacePipe(t *testing.T) {
	if err := ReplaceFile("/dev/null", []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode().IsRegular() {
		t.Errorf("the device is now a file: %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceFile(pipe, []byte("x")); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("a pipe that nobody reads: %v", err)
	}
	r, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := ReplaceFile(pipe, []byte("x")); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	if n, err := r.Read(buf); err != nil || string(buf[:n]) != "x" {
		t.Errorf("%q, %v", buf[:n], err)
	}
}
