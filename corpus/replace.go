package corpus

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// A file or directory that is written to take the place of another has a name of this form,
// beside that place. For each name there is at most one, however many writers were killed, unless
// several may write it (ReplaceShared). Its writer holds a lock, so that nobody removes it before
// the writer has ended. On a file system without locks each writer of a file has a random name
// of its own, and nobody removes what a killed one leaves: it cannot be told from what is
// being written.
const (
	temporaryPrefix = "."
	temporarySuffix = ".mmafuzz-tmp"
)

func temporaryName(path string) string {
	return filepath.Join(filepath.Dir(path), temporaryPrefix+filepath.Base(path)+temporarySuffix)
}

// IsTemporary reports whether a file or a directory of this name is being written to take
// the place of another. It belongs to the process that has it locked, or to nobody.
func IsTemporary(name string) bool {
	name = filepath.Base(name)
	return strings.HasPrefix(name, temporaryPrefix) && strings.HasSuffix(name, temporarySuffix) && len(name) > len(temporaryPrefix+temporarySuffix)
}

// Replacement is a file that will take another's place: there is always all of
// the old one or all of the new one. It is locked from its beginning to its end.
type Replacement struct {
	f      *os.File
	file   string // whose place it takes
	direct bool   // f is the file itself: a device or a pipe
	ended  bool   // it was committed or discarded
}

// Replace begins a file that is to take the place of another. A symbolic link stays: the file
// that it leads to is replaced. What is no regular file, such as a device or a pipe, stays,
// too: it is written to directly. ErrInUse: another process is replacing the same file.
func Replace(file string) (*Replacement, error) { return replace(file, false) }

// ReplaceShared is Replace for a file that several processes may replace at the same time,
// because it does not matter which of them is the last: all write the same.
func ReplaceShared(file string) (*Replacement, error) { return replace(file, true) }

func replace(file string, shared bool) (*Replacement, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	mode := fs.FileMode(0)
	switch info, err := os.Stat(file); {
	case err != nil:
	case info.IsDir():
		return nil, checkRegular(file, info)
	case !info.Mode().IsRegular():
		return replaceDirectly(file)
	default:
		mode = info.Mode().Perm()
	}
	mine := func() string { return temporaryName(file + "." + rand.Text()) }
	temporary := temporaryName(file)
	if shared {
		temporary = mine()
	}
	f, err := lockNew(temporary)
	for shared && errors.Is(err, ErrInUse) { // another process is just removing it: see RemoveStale
		f, err = lockNew(mine())
	}
	if errors.Is(err, errNoLocks) {
		if err = closeRemoved(f, f.Name()); err == nil {
			f, err = os.OpenFile(mine(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		}
	}
	var path *fs.PathError
	switch {
	case errors.Is(err, ErrInUse):
		return nil, fmt.Errorf("%s: %w", file, err)
	case errors.As(err, &path):
		return nil, &fs.PathError{Op: "write", Path: file, Err: path.Err}
	case err != nil:
		return nil, err
	}
	if mode != 0 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Truncate(0) // what a killed writer has left
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return &Replacement{f: f, file: file}, nil
}

// replaceDirectly opens a device or a pipe for writing. A pipe that nobody reads is an error.
func replaceDirectly(file string) (*Replacement, error) {
	f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return nil, fmt.Errorf("%s is a pipe that nobody reads: %w", file, syscall.ENXIO)
	}
	if err != nil {
		return nil, err
	}
	return &Replacement{f: f, file: file, direct: true}, nil
}

// errNoLocks reports that a file is on a file system that has no locks.
var errNoLocks = errors.New("files cannot be locked here")

// lockFile is systemLock, but in tests.
var lockFile = systemLock

// lockNew makes a temporary file, or takes one that nobody has locked, and locks it. ErrInUse:
// another process has locked it. With errNoLocks it returns the file, too.
func lockNew(path string) (*os.File, error) {
	for {
		if err := removeForeign(path); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o666)
		if err != nil {
			return nil, err
		}
		err = lockFile(f)
		if errors.Is(err, ErrInUse) {
			f.Close()
			return nil, err
		}
		// Its last owner may have moved or removed it since it was opened.
		if stillAt(f, path) {
			return f, err
		}
		f.Close()
	}
}

// removeForeign removes what has the name of a temporary file and is none: whoever could guess
// the name may have put a link there, by which a file elsewhere would be written or removed. A
// directory is an error.
func removeForeign(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return checkRegular(path, info)
	case info.Mode().IsRegular() && !hardLinked(info):
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// stillAt reports whether an open file is still the one that a path names, not by a link.
func stillAt(f *os.File, path string) bool { return isAt(f, path, os.Lstat) }

func isAt(f *os.File, path string, stat func(string) (fs.FileInfo, error)) bool {
	here, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := stat(path)
	return err == nil && os.SameFile(here, there)
}

// Write appends to the new file.
func (r *Replacement) Write(p []byte) (int, error) { return r.f.Write(p) }

// Save writes all of the new file and commits it, or discards it with an error.
func (r *Replacement) Save(body []byte) error {
	if _, err := r.Write(body); err != nil {
		return errors.Join(err, r.Discard())
	}
	return r.Commit()
}

// Commit puts the new file in its place, once it is on disk, and waits until it is on disk there.
func (r *Replacement) Commit() error {
	if r.direct {
		r.ended = true
		return r.f.Close()
	}
	if err := r.f.Sync(); err != nil {
		return errors.Join(err, r.Discard())
	}
	r.ended = true
	if err := r.move(); err != nil {
		return errors.Join(err, os.Remove(r.f.Name()))
	}
	return SyncDir(filepath.Dir(r.file))
}

// move renames the new file and closes it: in this order, so that it is locked as long as
// it has a name of its own. Windows does not rename what is open.
func (r *Replacement) move() error {
	if runtime.GOOS == "windows" {
		return errors.Join(r.f.Close(), os.Rename(r.f.Name(), r.file))
	}
	return errors.Join(os.Rename(r.f.Name(), r.file), r.f.Close())
}

// CommitOver is Commit for a file that stays open and locked, in the place of old, which it closes.
// What is written next follows what the new file has.
func (r *Replacement) CommitOver(old *os.File) (*os.File, error) {
	if runtime.GOOS != "windows" {
		f, err := r.CommitOpen()
		if f != nil {
			err = errors.Join(err, old.Close())
		}
		return f, err
	}
	if err := old.Close(); err != nil { // what is open cannot be replaced
		return nil, err
	}
	return r.CommitOpen()
}

// CommitOpen is CommitOver where there is no old file.
func (r *Replacement) CommitOpen() (*os.File, error) {
	if runtime.GOOS == "windows" { // what is open cannot be renamed
		if err := r.Commit(); err != nil {
			return nil, err
		}
		f, err := OpenLocked(r.file, os.O_RDWR)
		if err == nil {
			_, err = f.Seek(0, io.SeekEnd)
		}
		return f, err
	}
	if err := r.f.Sync(); err != nil {
		return nil, errors.Join(err, r.Discard())
	}
	if err := os.Rename(r.f.Name(), r.file); err != nil {
		return nil, errors.Join(err, r.Discard())
	}
	r.ended = true
	return r.f, SyncDir(filepath.Dir(r.file))
}

// Discard leaves the old file as it is. It does nothing after Commit, or if r is nil.
func (r *Replacement) Discard() error {
	if r == nil || r.ended {
		return nil
	}
	r.ended = true
	if r.direct {
		return r.f.Close()
	}
	return closeRemoved(r.f, r.f.Name())
}

// closeRemoved removes what is at a path and closes its locked file: in this order, so that
// nobody else locks what is being removed. Windows removes no open file.
func closeRemoved(f *os.File, path string) error {
	if runtime.GOOS == "windows" {
		return errors.Join(f.Close(), os.RemoveAll(path))
	}
	return errors.Join(os.RemoveAll(path), f.Close())
}

// ReplaceFile replaces a file: see Replace.
func ReplaceFile(file string, body []byte) error { return replaceFile(file, body, false) }

// ReplaceSharedFile replaces a file: see ReplaceShared.
func ReplaceSharedFile(file string, body []byte) error { return replaceFile(file, body, true) }

func replaceFile(file string, body []byte, shared bool) error {
	r, err := replace(file, shared)
	if err != nil {
		return err
	}
	return r.Save(body)
}

// ReplaceOrRemoveFile replaces a file, or removes it if there is nothing to write: then it need not
// be there.
func ReplaceOrRemoveFile(name string, body []byte) error {
	if len(body) > 0 {
		return ReplaceFile(name, body)
	}
	if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveTree removes a directory and all that is in it; it need not be there. The directory first gets
// the name of a temporary one: of a process that is killed here nothing stays at its place that
// would look like a person's, such as a bundle without its MANIFEST.
func RemoveTree(dir string) error {
	if IsTemporary(dir) {
		return os.RemoveAll(dir)
	}
	aside := temporaryName(dir)
	if err := os.RemoveAll(aside); err != nil { // of a process that was killed
		return err
	}
	if err := os.Rename(dir, aside); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return os.RemoveAll(aside)
}

// RemoveStale removes from a directory, and from those in it down to a depth (0: the
// directory alone), what ended processes have left of files and bundles that they were
// replacing. A bundle that one of them had moved away comes back to its place.
func RemoveStale(dir string, depth int) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch {
		case IsTemporary(e.Name()):
			err = removeTemporary(path, e.IsDir())
		case e.IsDir() && depth > 0:
			err = RemoveStale(path, depth-1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeTemporary removes what nobody has locked.
func removeTemporary(path string, isDir bool) error {
	if isDir {
		t, err := lockTemporaryDir(path)
		if errors.Is(err, ErrInUse) {
			return nil
		}
		if err != nil {
			return err
		}
		return t.remove()
	}
	if err := removeForeign(path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was a link, or its writer has just moved it into its place
	}
	if err != nil {
		return err
	}
	if lockFile(f) != nil || !stillAt(f, path) {
		return f.Close()
	}
	return closeRemoved(f, path)
}
