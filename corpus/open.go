package corpus

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a file that anybody may have made, to be read: a regular file no larger than
// limit bytes. Anything else, such as a device, a pipe or a larger file, is refused before
// a byte is read; a file that grows beyond limit while it is read ends in an error. what is
// the kind of file for errors, such as "plan".
func Open(name, what string, limit int64) (io.ReadCloser, error) {
	info, err := os.Stat(name) // not after opening, which may block or have side effects
	if err != nil {
		return nil, asOpen(err)
	}
	if err := checkRegular(name, info); err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, tooLarge(name, what, info.Size(), limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return &limited{f: f, name: name, what: what, limit: limit, left: limit}, nil
}

// asOpen makes an error of os.Stat read like one of os.Open.
func asOpen(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return &fs.PathError{Op: "open", Path: p.Path, Err: p.Err}
	}
	return err
}

// ReadFile reads a whole file that anybody may have made: see Open.
func ReadFile(name, what string, limit int64) ([]byte, error) {
	f, err := Open(name, what, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// OpenLocked opens a regular file as os.OpenFile does, and locks it until it is closed.
// ErrInUse: another process has it open.
func OpenLocked(path string, flag int) (*os.File, error) {
	for {
		f, err := openStore(path, flag)
		if err != nil {
			return nil, err
		}
		if err := lockFile(f); errors.Is(err, ErrInUse) {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
		}
		// The process that had it locked may have put another file in its place meanwhile.
		if isAt(f, path, os.Stat) {
			return f, nil
		}
		f.Close()
	}
}

// Abandoned reports that the process that had a file locked has ended, or that the file is gone. false
// may mean that it cannot be known: not of a file that cannot be opened, or on a file system
// without locks.
func Abandoned(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	return lockFile(f) == nil
}

func openStore(path string, flag int) (*os.File, error) {
	if info, err := os.Stat(path); err == nil {
		if err := checkRegular(path, info); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, flag, 0o666)
}

// SyncDir waits until the names in a directory are on disk: that of a new file, for example. A
// system that cannot do that has no error.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = f.Sync()
	return f.Close()
}

// checkRegular returns an error that names the kind of file unless it is a regular one.
func checkRegular(name string, info fs.FileInfo) error {
	kind := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "pipe"
	case mode&fs.ModeSocket != 0:
		kind = "socket"
	default:
		kind = "device"
	}
	return fmt.Errorf("%s is a %s: name a regular file", name, kind)
}

func tooLarge(name, what string, size, limit int64) error {
	return fmt.Errorf("%s has %s, and a %s has %s at most: name another file", name, byteSize(size), what, byteSize(limit))
}

// byteSize writes a number of bytes in the largest unit that is not larger than it.
func byteSize(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size {
			return fmt.Sprintf("%.4g %s", float64(n)/float64(u.size), u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// limited is a file from which no more than limit bytes are read.
type limited struct {
	f           *os.File
	name, what  string
	limit, left int64
}

func (l *limited) Close() error { return l.f.Close() }

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, fmt.Errorf("%s has grown while it was read, and a %s has %s at most", l.name, l.what, byteSize(l.limit))
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1] // one byte too many shows whether the file goes on
	}
	n, err := l.f.Read(p)
	if l.left -= int64(n); l.left < 0 {
		n-- // not handed out
	}
	return n, err
}
