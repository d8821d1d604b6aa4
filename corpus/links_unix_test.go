//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package corpus

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// outside is a directory of somebody's with a file that nobody may touch.
func outside(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, temporaryOld, "precious")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o777), os.WriteFile(file, []byte("precious"), 0o666)); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

// untouched checks that the file is as it was, and alone.
func untouched(t *testing.T, dir, file string) {
	t.Helper()
	if body, err := os.ReadFile(file); err != nil || string(body) != "precious" {
		t.Errorf("the file elsewhere is %q, %v", body, err)
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("there is %q elsewhere", got)
	}
}

// TestReplaceForeign has something else under the name of the temporary file.
func TestReplaceForeign(t *testing.T) {
	dir, file := outside(t)
	for what, put := range map[string]func(tmp string) error{
		"link":          func(tmp string) error { return os.Symlink(file, tmp) },
		"hard link":     func(tmp string) error { return os.Link(file, tmp) },
		"dangling link": func(tmp string) error { return os.Symlink(filepath.Join(dir, "new"), tmp) },
		"pipe":          func(tmp string) error { return syscall.Mkfifo(tmp, 0o666) },
	} {
		t.Run(what, func(t *testing.T) {
			here := t.TempDir()
			mine := filepath.Join(here, "a")
			if err := put(temporaryName(mine)); err != nil {
				t.Fatal(err)
			}
			if err := ReplaceFile(mine, []byte("new")); err != nil {
				t.Error(err)
			}
			if body, err := os.ReadFile(mine); err != nil || string(body) != "new" {
				t.Errorf("%q, %v", body, err)
			}
			untouched(t, dir, file)
			if err := put(temporaryName(mine)); err != nil {
				t.Fatal(err)
			}
			if err := RemoveStale(here, 0); err != nil || len(names(t, here)) != 1 {
				t.Errorf("%v, there is %q, want a alone", err, names(t, here))
			}
			untouched(t, dir, file)
		})
	}
	mine := filepath.Join(t.TempDir(), "a")
	if err := os.Mkdir(temporaryName(mine), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceFile(mine, nil); err == nil {
		t.Error("a directory is no error")
	}
}

// TestReplaceBundleForeign has links where a bundle is made, and in the directory that is left.
func TestReplaceBundleForeign(t *testing.T) {
	dir, file := outside(t)
	for what, put := range map[string]func(tmp string) error{
		"directory": func(tmp string) error { return os.Symlink(dir, tmp) },
		"lock": func(tmp string) error {
			return errors.Join(os.Mkdir(tmp, 0o777), os.Symlink(filepath.Join(dir, "new"), filepath.Join(tmp, temporaryLock)))
		},
		"old": func(tmp string) error {
			return errors.Join(os.Mkdir(tmp, 0o777), os.Symlink(dir, filepath.Join(tmp, temporaryOld)))
		},
		"fresh": func(tmp string) error {
			return errors.Join(os.Mkdir(tmp, 0o777), os.Symlink(dir, filepath.Join(tmp, temporaryFresh)))
		},
	} {
		t.Run(what, func(t *testing.T) {
			place := filepath.Join(t.TempDir(), "bundle")
			for range 2 { // without a bundle there, and with one
				if err := put(temporaryName(place)); err != nil {
					t.Fatal(err)
				}
				if err := WriteBundle(place, finding(), nil); err != nil {
					t.Error(err)
				}
				if _, err := ReadBundle(place); err != nil {
					t.Error(err)
				}
				if _, err := os.Lstat(temporaryName(place)); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("the temporary directory is left: %v", err)
				}
				untouched(t, dir, file)
			}
			if err := put(temporaryName(place)); err != nil {
				t.Fatal(err)
			}
			if err := RemoveStale(filepath.Dir(place), 0); err != nil || len(names(t, filepath.Dir(place))) != 1 {
				t.Errorf("%v, there is %q", err, names(t, filepath.Dir(place)))
			}
			untouched(t, dir, file)
		})
	}
}
