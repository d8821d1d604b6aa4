package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/sim/parallel"
)

// Journal is a journal that is open for appending records of type R. One goroutine at a time may
// use it.
type Journal[R any] struct {
	path    string
	f       *os.File
	head    func(compacted int) any // the first record
	size    int64                   // bytes of all records; 0: it has not begun
	base    int64                   // bytes of the first record and of those that came of a compaction
	syncing chan error              // not nil: a sync is in progress
	behind  bool                    // lines have been written since that sync began
}

// Open opens a journal to go on from it, or makes an empty one, with the directories that it is
// in. It calls replay with each record that is there. If there is an error, the file stays as it
// is: corpus.ErrInUse if another process has it open, corpus.ErrOtherVersion, that of
// Kind.Differ, or one of replay. One of replay that is ErrDamaged counts as damage of the file.
func Open[O, R any](path string, k Kind[O], options O, replay func(*R) error) (*Journal[R], error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	f, err := corpus.OpenLocked(path, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return nil, err
	}
	j := &Journal[R]{path: path, f: f, head: func(compacted int) any {
		return &Head[O]{k.Of, k.Version, k.By, k.Versions, options, compacted}
	}}
	j.size, j.base, err = read(f, &k, func(h *Head[O]) error { return k.check(h, options) }, replay)
	if errors.Is(err, ErrDamaged) && (j.base > 0 || hasRecord[R](f)) {
		j.base = min(j.base, j.size)
		err = setAside(path, f, err)
		if err == nil && j.size == 0 && k.Forget != nil {
			err = k.Forget()
		}
	}
	if err == nil {
		err = j.cut(j.size)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// cut drops what is behind a number of bytes, and goes on there.
func (j *Journal[R]) cut(size int64) error {
	err := j.f.Truncate(size)
	if err == nil {
		_, err = j.f.Seek(size, io.SeekStart)
	}
	return err
}

// Hold locks a journal as Open does, and leaves it as it is. corpus.ErrInUse: another process has
// it open. There may be none: then nothing is locked.
func Hold(path string) (release func() error, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return func() error { return nil }, nil
	}
	f, err := corpus.OpenLocked(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// Begin writes the first record, unless it is there, and waits until it is on disk. Append does
// it, too.
func (j *Journal[R]) Begin() error {
	if j.size > 0 {
		return nil
	}
	err := j.write(j.head(0))
	if err == nil {
		j.base = j.size
		err = errors.Join(j.f.Sync(), corpus.SyncDir(filepath.Dir(j.path)))
	}
	return err
}

// Begun reports whether the journal has its first record.
func (j *Journal[R]) Begun() bool { return j.size > 0 }

// Append appends a record and starts writing it to disk in the background. If an earlier write is
// still under way, a later call starts it. A later call also returns an error of the background
// write. What a crash of the machine leaves of the last records is cut off by Open.
func (j *Journal[R]) Append(r *R) error {
	err := j.Begin()
	if err == nil {
		err = j.write(r)
	}
	if err != nil {
		return err
	}
	j.behind = true
	select {
	case err := <-j.syncing:
		if j.syncing = nil; err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	default:
	}
	if j.syncing == nil {
		j.sync()
	}
	return nil
}

// write appends the line of a record.
func (j *Journal[R]) write(record any) error {
	line, err := Line(record)
	if err != nil {
		return err
	}
	if _, err := j.f.Write(line); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.size += int64(len(line))
	return nil
}

// sync starts to sync all lines to disk.
func (j *Journal[R]) sync() {
	done := make(chan error, 1)
	go func() { done <- parallel.Guarded(j.f.Sync) }()
	j.syncing, j.behind = done, false
}

// wait waits until the last line is on disk.
func (j *Journal[R]) wait() error {
	for j.syncing != nil {
		err := <-j.syncing
		if j.syncing = nil; err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		if j.behind {
			j.sync()
		}
	}
	return nil
}

// Close waits until the last line is on disk and closes the journal.
func (j *Journal[R]) Close() error { return errors.Join(j.wait(), j.f.Close()) }

// Remove closes the journal and removes its file: it is of no more use.
func (j *Journal[R]) Remove() error { return errors.Join(j.Close(), os.Remove(j.path)) }

// Long reports whether the records since the last compaction take more than a number of bytes,
// and more than those that came of it. It depends on the records alone: what is on disk is the
// same however often a command was interrupted.
func (j *Journal[R]) Long(most int64) bool { return j.size-j.base > max(most, j.base) }

// Compact puts a new journal with these records in the place of this one: what those that it has
// add up to. At any time the file has all of the old ones or all of the new ones.
func (j *Journal[R]) Compact(records []*R) error {
	if err := j.wait(); err != nil {
		return err
	}
	next, err := corpus.Replace(j.path)
	if err != nil {
		return err
	}
	size := int64(0)
	write := func(record any) error {
		line, err := Line(record)
		if err == nil {
			_, err = next.Write(line)
		}
		size += int64(len(line))
		return err
	}
	err = write(j.head(len(records)))
	for _, r := range records {
		if err == nil {
			err = write(r)
		}
	}
	if err != nil {
		return errors.Join(err, next.Discard())
	}
	f, err := next.CommitOver(j.f)
	if err != nil {
		return err
	}
	j.f, j.size, j.base = f, size, size
	return nil
}
