package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
)

// The files of a directory: see the documentation of the package.
const (
	planFile      = "campaign.json"
	unitsDir      = "units"
	damagedSuffix = journal.DamagedSuffix
)

// prepare creates a directory for a plan, if it is missing, and removes what killed processes have
// left of files that they were writing there.
func prepare(dir string, by journal.Writer, p *Plan) error {
	if err := journal.CheckWriter(dir, by); err != nil {
		return err
	}
	units := filepath.Join(dir, unitsDir)
	if err := os.MkdirAll(units, 0o777); err != nil {
		return err
	}
	return errors.Join(adopt(dir, p), corpus.RemoveStale(dir, 0), corpus.RemoveStale(units, 0), corpus.SyncDir(dir))
}

// adopt writes the plan into a directory. The directory must not have another plan.
func adopt(dir string, p *Plan) error {
	file := filepath.Join(dir, planFile)
	have, err := ReadPlan(file)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		if err := setAside(file, err.Error()); err != nil {
			return err
		}
	case err == nil && have.Digest() != p.Digest():
		return &OtherPlanError{dir, have.Digest(), p.Digest()}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	body, err := p.Encode()
	if err != nil {
		return err
	}
	return retryOnce(func() error { return corpus.ReplaceSharedFile(file, body) })
}

// setAside renames a damaged file, and says so.
func setAside(file, why string) error {
	err := os.Rename(file, file+damagedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process was faster
	}
	if err != nil {
		return err
	}
	slog.Warn(fmt.Sprintf("%s; it is now %s%s", why, filepath.Base(file), damagedSuffix))
	return corpus.SyncDir(filepath.Dir(file))
}

// retryOnce repeats what fails because a temporary file has disappeared. Where another machine does
// not see the locks of this one, its RemoveStale takes files that are being written for those of
// ended processes.
func retryOnce(write func() error) error {
	err := write()
	if errors.Is(err, fs.ErrNotExist) {
		err = write()
	}
	return err
}

// OtherPlanError reports that a directory belongs to another plan.
type OtherPlanError struct{ Dir, Have, Want string }

func (e *OtherPlanError) Error() string {
	return fmt.Sprintf("%s has units of plan %s, not of plan %s", e.Dir, e.Have, e.Want)
}
