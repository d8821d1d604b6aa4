package corpus

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Open opens a file that anybody may have made, to be read: a regular file of at most
// most bytes. Anything else, such as a device, a pipe or a larger file, is refused before
// a byte is read; a file that grows beyond most while it is read ends in an error. what
// names the kind of file in errors: a plan.
func Open(name, what string, most int64) (io.ReadCloser, error) {
	info, err := os.Stat(name) // before it is opened, which may wait for ever, or do something
	if err != nil {
		return nil, asOpen(err)
	}
	if err := checkRegular(name, info); err != nil {
		return nil, err
	}
	if info.Size() > most {
		return nil, tooLarge(name, what, info.Size(), most)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return &limited{f: f, name: name, what: what, most: most, left: most}, nil
}

// asOpen makes an error of os.Stat read like one of os.Open.
func asOpen(err error) error {
	if p, ok := err.(*fs.PathError); ok {
		return &fs.PathError{Op: "open", Path: p.Path, Err: p.Err}
	}
	return err
}

// ReadFile reads a whole file that anybody may have made: see Open.
func ReadFile(name, what string, most int64) ([]byte, error) {
	f, err := Open(name, what, most)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// openStore opens a file that is written and later resumed, or makes it.
func openStore(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil {
		if err := checkRegular(path, info); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
}

// checkRegular explains why a file cannot be read, or written and later resumed: it is not
// a regular one.
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

func tooLarge(name, what string, size, most int64) error {
	return fmt.Errorf("%s has %s, and a %s has %s at most: name another file", name, byteSize(size), what, byteSize(most))
}

// byteSize writes a number of bytes with the largest unit of which it is a whole
// number or has several of.
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

// limited is a file of which no more is read than was allowed.
type limited struct {
	f          *os.File
	name, what string
	most, left int64
}

func (l *limited) Close() error { return l.f.Close() }

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, fmt.Errorf("%s has grown while it was read, and a %s has %s at most", l.name, l.what, byteSize(l.most))
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1] // the byte too many tells the end from a file that goes on
	}
	n, err := l.f.Read(p)
	if l.left -= int64(n); l.left < 0 {
		n-- // not handed out
	}
	return n, err
}
