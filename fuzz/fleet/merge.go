package fleet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
)

// Merged is the merged results of a plan.
type Merged struct {
	Plan    *Plan
	Missing []int  // numbers of units that have no result
	Advice  string // what to do about these
	dir     string
	index   *index
}

// Merge merges the results of all directories, and of out, into out, which may be one of them. If
// several have the result of a unit, all are the same. It writes a new log with all of them;
// then the earlier ones that this replaces, which have no other units, are removed. Damaged logs
// are set aside.
func Merge(ctx context.Context, dirs []string, out string) (*Merged, error) {
	p, err := commonPlan(dirs)
	if err != nil {
		return nil, err
	}
	if err := prepare(out, journal.ByMerge, p); err != nil {
		return nil, err
	}
	x := newIndex(p, append(slices.Clone(dirs), out)...)
	if err := x.update(); err != nil {
		return nil, err
	}
	m := &Merged{Plan: p, dir: out, index: newIndex(p, out)}
	if len(x.at) > 0 {
		before := x.mergedIn(out)
		err = retryOnce(func() error { return m.save(ctx, x, out) })
		for _, log := range before {
			if err == nil && m.index.logs[log] == nil {
				err = os.Remove(log)
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // another merge has removed it, or it was damaged
			}
		}
	}
	if m.Missing = m.index.missing(); len(m.Missing) > 0 {
		err = errors.Join(err, x.update()) // with what out has now
		m.Advice = x.advice(dirs)
	}
	return m, err
}

// commonPlan returns the plan of all directories. One whose own file of it is damaged is taken
// for one of the plan of the others: each line of its logs tells of which plan it is.
func commonPlan(dirs []string) (p *Plan, err error) {
	var damaged error
	for _, dir := range dirs {
		switch have, err := ReadPlan(filepath.Join(dir, planFile)); {
		case errors.Is(err, journal.ErrDamaged):
			damaged = err
		case err != nil:
			return nil, err
		case p == nil:
			p = have
		case have.Digest() != p.Digest():
			return nil, &OtherPlanError{dir, have.Digest(), p.Digest()}
		}
	}
	if p == nil {
		return nil, damaged
	}
	return p, nil
}

// mergedIn returns the merged logs of a directory that have been read.
func (x *index) mergedIn(dir string) (logs []string) {
	for log, l := range x.logs {
		if l.of == 0 && filepath.Dir(log) == filepath.Join(dir, unitsDir) {
			logs = append(logs, log)
		}
	}
	return logs
}

// save writes all results into one log, which appears complete and on disk.
func (m *Merged) save(ctx context.Context, x *index, out string) error {
	units := x.present() // what is found later is left to the next merge
	log := filepath.Join(out, unitsDir, x.mergedName(units))
	to, err := corpus.ReplaceShared(log)
	if err != nil {
		return err
	}
	defer to.Discard()
	w := bufio.NewWriterSize(to, 1<<20)
	size, err := m.copy(ctx, x, units, log, w)
	if err = errors.Join(err, w.Flush()); err != nil {
		return err
	}
	m.index.logs[log] = &readLog{size: size}
	return to.Commit()
}

// copy writes the lines of units that have a result.
func (m *Merged) copy(ctx context.Context, x *index, units []int, log string, w io.Writer) (size int64, err error) {
	for _, n := range units {
		line, _, err := x.line(n)
		if err == nil {
			line, err = mergedLine(line)
		}
		if err == nil {
			_, err = w.Write(line)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return 0, err
		}
		m.index.at[n] = place{log, size, size + int64(len(line))}
		size += int64(len(line))
	}
	return size, nil
}

// StartOver sets aside what a merge has written of the campaign, in which something is damaged:
// the units have all that is needed to do it again.
func (m *Merged) StartOver(damage error) error {
	for _, name := range []string{engine.JournalFile, engine.CheckpointFile} {
		if err := setAside(filepath.Join(m.dir, name), damage.Error()); err != nil {
			return err
		}
	}
	return nil
}

// Finish takes a campaign of the plan through the rounds that it has not merged yet: it
// explains and minimizes cases, and writes bundles and the journal, as the configuration
// says. No unit may be missing.
func (m *Merged) Finish(ctx context.Context, c *fuzz.Campaign) error {
	if err := m.Plan.check(c); err != nil {
		return errors.Join(err, c.Close())
	}
	for round := c.State().Epochs; round < m.Plan.Rounds; round++ {
		if err := m.index.mergeRound(ctx, c, round, true); err != nil {
			return errors.Join(err, c.Close())
		}
	}
	return c.Close()
}

// Unfinished reports whether a directory is one of a plan of whose rounds the journal of the
// campaign, with its number of epochs, has not all: a merge was interrupted.
func Unfinished(dir string, epochs int) bool {
	p, err := ReadPlan(filepath.Join(dir, planFile))
	return err == nil && epochs < p.Rounds
}

// Ranges writes numbers in order as ranges, such as 3-7, 9.
func Ranges(numbers []int) string {
	const most = 12
	var parts []string
	rest := 0 // numbers after the most ranges
	for len(numbers) > 0 {
		n := 1
		for n < len(numbers) && numbers[n] == numbers[0]+n {
			n++
		}
		part := fmt.Sprint(numbers[0])
		if n > 1 {
			part += fmt.Sprintf("-%d", numbers[n-1])
		}
		parts, numbers = append(parts, part), numbers[n:]
		if len(parts) == most {
			rest = len(numbers)
		}
	}
	if len(parts) > most && rest > 1 {
		parts = append(parts[:most], fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ")
}
