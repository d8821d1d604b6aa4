package fleet

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz"
)

// Merged is the merged results of a plan.
type Merged struct {
	Plan    *Plan
	Dir     string
	Missing []int // numbers of units that have no result
	index   *index
	dirs    []string // that were merged
}

// Merge merges the results of all directories into out, which may be one of them: out gets
// their union, by number. If several have the result of a unit, all are the same. Then the
// single files of out whose lines are in its units.log are removed.
func Merge(ctx context.Context, dirs []string, out string) (*Merged, error) {
	var p *Plan
	x := &index{}
	for i, dir := range dirs {
		have, err := ReadPlan(filepath.Join(dir, planFile))
		if err != nil {
			return nil, err
		}
		if i == 0 {
			p, x = have, newIndex(have)
		} else if have.Digest() != p.Digest() {
			return nil, &OtherPlanError{dir, have.Digest(), p.Digest()}
		}
		if _, err := x.add(dir); err != nil {
			return nil, err
		}
	}
	if err := journal.CheckWriter(out, journal.ByMerge); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	if err := adopt(out, "merge-"+rand.Text()[:12], p); err != nil {
		return nil, err
	}
	// Held from before out is read: otherwise another merge could put fewer results there, and
	// remove the files of the others.
	merged, err := corpus.Replace(filepath.Join(out, mergedFile))
	if err != nil {
		return nil, err
	}
	defer merged.Discard()
	if _, err := x.add(out); err != nil {
		return nil, err
	}
	if err := x.save(ctx, merged); err != nil {
		return nil, err
	}
	y := newIndex(p)
	if err := y.addMerged(filepath.Join(out, mergedFile)); err != nil {
		return nil, err
	}
	for n := range y.at {
		for _, old := range []string{numbered(out, unitsDir, n), numbered(out, leasesDir, n)} {
			if err := os.Remove(old); err != nil && !os.IsNotExist(err) {
				return nil, err
			}
		}
	}
	return &Merged{p, out, y.missing(), y, dirs}, nil
}

// save writes all results into one file, which appears complete.
func (x *index) save(ctx context.Context, to *corpus.Replacement) error {
	w := bufio.NewWriterSize(to, 1<<20)
	if err := errors.Join(x.copy(ctx, w), w.Flush()); err != nil {
		return err
	}
	return to.Commit()
}

func (x *index) copy(ctx context.Context, w *bufio.Writer) error {
	for n := range x.plan.Units() {
		if _, ok := x.at[n]; !ok {
			continue
		}
		line, _, err := x.line(n)
		if err == nil {
			_, err = w.Write(line)
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// Once is a function for finding.Sharing.Once: it takes the steps of triage that shards have
// done from the directories that were merged, and does the others.
func (m *Merged) Once(_ context.Context, key string, result any, do func() error) error {
	for _, dir := range m.dirs {
		if done, err := readStep(dir, m.Plan, key, result); done || err != nil {
			return err
		}
	}
	return do()
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
	var parts []string
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
	}
	const most = 12
	if len(parts) > most {
		parts = slices.Concat(parts[:most], []string{fmt.Sprintf("and %d more ranges", len(parts)-most)})
	}
	return strings.Join(parts, ", ")
}
