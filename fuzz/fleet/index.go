package fleet

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
)

// index knows where the results of a plan's units are: in which logs of which directories.
type index struct {
	plan *Plan
	dirs []string
	at   map[int]place
	logs map[string]*readLog // by path, without the suffix of a damaged one

	keep bool // damaged logs stay where they are: this process only looks
}

// place is where the line of a unit is.
type place struct {
	log      string
	from, to int64
}

// readLog is a log as far as it has been read.
type readLog struct {
	logName
	size  int64     // of the complete lines that were read
	seen  int64     // of the file: a killed shard may have left a part of a line, which nobody completes
	grown time.Time // when it was written; after that, when it was seen to be longer
	done  times     // the units of these lines
}

// ended reports that the process that wrote a log has ended, without waiting for what it may still
// write: its lock is gone. That of another machine may not be seen here, and nothing is said of it.
func (l *readLog) ended(path string) bool {
	if l.host != thisHost() || l.host == unknownHost {
		return false
	}
	return corpus.Abandoned(path) && corpus.Abandoned(path+damagedSuffix)
}

func newIndex(p *Plan, dirs ...string) *index {
	return &index{plan: p, dirs: dirs, at: map[int]place{}, logs: map[string]*readLog{}}
}

// update reads what has been added to the logs of all directories. A log that is listed and then
// gone has been merged into one that appeared before it went, perhaps after the listing: the
// directory is listed again.
func (x *index) update() error {
	for _, dir := range x.dirs {
		err := errGone
		for tries := 0; tries < mostTries && errors.Is(err, errGone); tries++ {
			err = x.readLogs(filepath.Join(dir, unitsDir))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mostTries bounds how often what other merges have changed is read again. Each of them changes
// a directory once.
const mostTries = 1000

// errGone reports that a log was removed after it had been listed.
var errGone = errors.New("it was merged, or set aside, meanwhile")

// readLogs reads what has been added to the logs of a directory, which may be missing.
func (x *index) readLogs(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		name, ok := parseLogName(e.Name())
		if !ok {
			continue
		}
		if err := x.readLog(filepath.Join(dir, e.Name()), name); err != nil {
			return err
		}
	}
	return nil
}

// readLog reads what has been added to a log. Its last line may be cut short: it is being
// written, or its shard was killed.
func (x *index) readLog(path string, name logName) error {
	key := strings.TrimSuffix(path, damagedSuffix)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(path); err == nil {
			return nil // a link to nothing
		}
		return errGone
	case err != nil:
		return err
	}
	l := x.logs[key]
	if l == nil {
		l = &readLog{logName: name, grown: info.ModTime(), done: times{}}
		if now := time.Now(); l.grown.After(now) {
			l.grown = now
		}
		x.logs[key] = l
		if !info.Mode().IsRegular() {
			return x.damaged(path, "it is no regular file")
		}
	} else if l.seen < info.Size() {
		l.grown = time.Now()
	}
	l.seen = info.Size()
	if l.size >= info.Size() || !info.Mode().IsRegular() || corpus.IsTemporary(path) {
		return nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errGone
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(l.size, io.SeekStart); err != nil {
		return err
	}
	bad, err := x.readLines(bufio.NewReaderSize(f, 1<<20), key, l)
	if err != nil || bad == "" {
		return err
	}
	return x.damaged(path, bad)
}

// readLines adds the units of the lines that follow in a log. It skips lines that are not the
// result of a unit of the plan, and says what is wrong with the first of them.
func (x *index) readLines(in *bufio.Reader, key string, l *readLog) (bad string, err error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > unitBytes:
			err = nil // whatever it is
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF:
			return bad, nil
		}
		if err != nil {
			return bad, err
		}
		why := ""
		switch at, plan, n, ok := head(line); {
		case !ok:
			why = "is damaged"
		case plan != x.plan.digest:
			why = "is of plan " + plan
		case n >= len(x.plan.units):
			why = fmt.Sprintf("is of unit %d, which the plan does not have", n)
		default:
			x.put(n, place{key, l.size, l.size + int64(len(line))})
			l.done.add(n, at)
		}
		if bad == "" && why != "" {
			bad = fmt.Sprintf("what begins at byte %d %s", l.size, why)
		}
		l.size += int64(len(line))
		line = line[:0]
	}
}

func (x *index) put(n int, p place) {
	if _, ok := x.at[n]; !ok {
		x.at[n] = p
	}
}

// damaged sets a log aside. Its lines that are good still count: it goes on being read.
func (x *index) damaged(path, why string) error {
	if strings.HasSuffix(path, damagedSuffix) {
		return nil // it was said before
	}
	why = fmt.Sprintf("%s: %s: shards compute again what is lost", path, why)
	if x.keep {
		slog.Warn(why)
		return nil
	}
	return setAside(path, why)
}

// errNoResult reports that a unit has no result, or that its result has been lost since.
var errNoResult = errors.New("it has no result any more")

// line returns the line of a unit. If its log has been merged or damaged since it was read, all
// logs are read again; another merge may remove them meanwhile, so a few times.
func (x *index) line(n int) (line []byte, r *engine.Result, err error) {
	line, err = x.read(n)
	for tries := 0; tries < 5 && err != nil; tries++ {
		x.at, x.logs = map[int]place{}, map[string]*readLog{}
		if err = x.update(); err == nil {
			line, err = x.read(n)
		}
	}
	u := unitLine{}
	if err == nil {
		err = journal.Decode(line, &u)
	}
	if err == nil && u.Result == nil {
		err = errNoResult
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: unit %d: %w", x.at[n].log, n, err)
	}
	return line, u.Result, nil
}

// read reads the line of a unit.
func (x *index) read(n int) ([]byte, error) {
	p, ok := x.at[n]
	if !ok {
		return nil, errNoResult
	}
	f, err := os.Open(p.log)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = os.Open(p.log + damagedSuffix)
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line := make([]byte, p.to-p.from)
	if _, err = f.ReadAt(line, p.from); err != nil {
		return nil, err
	}
	if _, plan, unit, ok := head(line); !ok || plan != x.plan.digest || unit != n {
		return nil, journal.ErrDamaged
	}
	return line, nil
}

// complete returns how many of the first rounds have the results of all their units.
func (x *index) complete() int {
	for _, u := range x.plan.Units() {
		if _, ok := x.at[u.Number]; !ok {
			return u.Round
		}
	}
	return x.plan.Rounds
}

// missing returns the numbers of the units without a result.
func (x *index) missing() []int { return x.numbers(false) }

// present returns the numbers of the units with a result.
func (x *index) present() []int { return x.numbers(true) }

func (x *index) numbers(present bool) (all []int) {
	for n := range x.plan.Units() {
		if _, ok := x.at[n]; ok == present {
			all = append(all, n)
		}
	}
	return all
}

// mergedName is the name of the log with the results of these units. It depends on which they
// are, so that two logs of one name are the same, and none takes the place of one with more units.
func (x *index) mergedName(units []int) string {
	h := sha256.New()
	h.Write([]byte(x.plan.digest))
	for _, n := range units {
		h.Write(binary.AppendUvarint(nil, uint64(n)))
	}
	return fmt.Sprintf("merged.%x", h.Sum(nil)[:8])
}

// mergeRound merges the results of a round into a campaign; complete is as MergeUnits has it.
func (x *index) mergeRound(ctx context.Context, c *fuzz.Campaign, round int, complete bool) error {
	return c.MergeUnits(ctx, func(merge func(engine.Unit, *engine.Result) error) error {
		for _, u := range x.plan.Units() {
			if u.Round != round {
				continue
			}
			_, r, err := x.line(u.Number)
			if err == nil {
				err = merge(u.Unit, r)
			}
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
		}
		return nil
	}, complete)
}
