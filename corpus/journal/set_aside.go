package journal

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/strictjson"
)

// DamagedSuffix ends the name of a file that was set aside because it is damaged.
const DamagedSuffix = ".damaged"

// setAside copies a journal that is open, with the damage in it, and says so. The journal itself
// stays where it is, since it is locked: Open cuts off what cannot be read.
func setAside(path string, f *os.File, damage error) error {
	to, err := corpus.Replace(path + DamagedSuffix)
	if err != nil {
		return err
	}
	defer to.Discard()
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		_, err = io.Copy(to, f)
	}
	if err == nil {
		err = to.Commit()
	}
	if err == nil {
		slog.Warn(fmt.Sprintf("%s: %v: what is lost is done again; the damaged file is now %s", path, damage, filepath.Base(path)+DamagedSuffix))
	}
	return err
}

// hasRecord reports whether any line of a file is a record of type R: it tells a journal that has
// lost its first line from a file of somebody else.
func hasRecord[R any](f *os.File) bool {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return false
	}
	for in := bufio.NewReaderSize(f, 1<<16); ; {
		line, err := readLine(in)
		if err != nil {
			return false
		}
		if body, ok := Body(line); ok && strictjson.UnmarshalKnown(body, new(R), "value") == nil {
			return true
		}
	}
}
