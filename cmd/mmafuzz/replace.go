package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
)

// replaceFile writes a file beside its place and puts it there, so that there is
// always all of the old one or of the new one. Where a link leads is where it writes;
// what is no regular file, such as a device or a pipe, is written to and stays.
func replaceFile(file string, body []byte) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(file, body, 0o666)
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".tmp-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = bytes.NewReader(body).WriteTo(f)
	err = errors.Join(err, f.Chmod(0o666), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), file)
}
