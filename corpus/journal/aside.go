package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
)

// DamagedSuffix is added to the name of a damaged file that was set aside.
const DamagedSuffix = ".damaged"

// SetAside renames a damaged file, so that what it had is done again, and says so with the reason.
func SetAside(file, why string) error {
	err := os.Rename(file, file+DamagedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	slog.Warn(fmt.Sprintf("%s; it is now %s%s", why, filepath.Base(file), DamagedSuffix))
	return corpus.SyncDir(filepath.Dir(file))
}
