package fleet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/fuzz/engine"
)

// The files of a directory: see the documentation of the package.
const (
	planFile   = "campaign.json"
	unitsDir   = "units"
	mergedFile = "units.log"
	leasesDir  = "leases"
	shardsDir  = "shards"
	roundsDir  = "rounds"
	triageDir  = "triage"
)

// unitLine is the line of a unit. The order of the fields is part of the format: see numberIn.
type unitLine struct {
	Plan   string         `json:"plan"`
	Unit   int            `json:"unit"`
	Result *engine.Result `json:"result"`
}

// unitBytes is the largest size of a unit's result, in bytes: more than any result has.
const unitBytes = 1 << 26

// unitName is the name of the files of a unit.
func unitName(n int) string { return fmt.Sprintf("%07d", n) }

func numbered(dir, sub string, n int) string { return filepath.Join(dir, sub, unitName(n)) }

// numberOf returns the number of the unit to which a file belongs, by the file's name.
func numberOf(name string) (n int, ok bool) {
	n, err := strconv.Atoi(name)
	return n, err == nil && len(name) >= 7 && n >= 0
}

// write makes a file appear at once and complete, on any file system, even if other processes write
// the same file. me is part of the temporary file's name, so that no other process has it.
func write(file, me string, body []byte) error {
	temporary := filepath.Join(filepath.Dir(file), "."+filepath.Base(file)+"."+me)
	f, err := create(temporary)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(temporary, file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return nil
}

// create makes a temporary file of this process. What has its name is of a killed process, or a
// link to a file elsewhere, and is removed.
func create(temporary string) (*os.File, error) {
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// prepare creates a directory for a plan, with its subdirectories, if they are missing.
func prepare(dir, me string, p *Plan) error {
	if err := journal.CheckWriter(dir, journal.ByShard); err != nil {
		return err
	}
	for _, sub := range []string{unitsDir, leasesDir, shardsDir, roundsDir, triageDir} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o777); err != nil {
			return err
		}
	}
	return adopt(dir, me, p)
}

// adopt writes the plan into a directory. The directory must not have another plan.
func adopt(dir, me string, p *Plan) error {
	file := filepath.Join(dir, planFile)
	switch have, err := ReadPlan(file); {
	case errors.Is(err, fs.ErrNotExist):
		body, err := p.Encode()
		if err != nil {
			return err
		}
		return write(file, me, body)
	case err != nil:
		return err
	case have.Digest() != p.Digest():
		return &OtherPlanError{dir, have.Digest(), p.Digest()}
	}
	return nil
}

// OtherPlanError reports that a directory belongs to another plan.
type OtherPlanError struct{ Dir, Have, Want string }

func (e *OtherPlanError) Error() string {
	return fmt.Sprintf("%s has units of plan %s, not of plan %s", e.Dir, e.Have, e.Want)
}

// place is where the line of a unit is.
type place struct {
	file     string
	from, to int64 // to 0: the end of the file
}

// index knows where the results of a plan's units are.
type index struct {
	plan   *Plan
	at     map[int]place
	merged map[string]fs.FileInfo // files of merged results that were read
}

func newIndex(p *Plan) *index { return &index{p, map[int]place{}, map[string]fs.FileInfo{}} }

// add adds the units of a directory that it does not have yet, and returns how many.
func (x *index) add(dir string) (fresh int, err error) {
	before := len(x.at)
	entries, err := os.ReadDir(filepath.Join(dir, unitsDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	for _, e := range entries {
		if n, ok := numberOf(e.Name()); ok {
			x.put(n, place{file: filepath.Join(dir, unitsDir, e.Name())})
		}
	}
	// After the single files: these are removed when their lines are in the merged file.
	if err := x.addMerged(filepath.Join(dir, mergedFile)); err != nil {
		return 0, err
	}
	return len(x.at) - before, nil
}

func (x *index) put(n int, p place) {
	if _, ok := x.at[n]; !ok {
		x.at[n] = p
	}
}

// addMerged adds the lines of a file of results.
func (x *index) addMerged(file string) error {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if have := x.merged[file]; err != nil || have != nil && os.SameFile(have, info) {
		return err
	}
	x.merged[file] = info
	in := bufio.NewReaderSize(f, 1<<20)
	for at := int64(0); ; {
		head, err := in.Peek(128)
		if err == io.EOF && len(head) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		n, ok := numberIn(head)
		length := int64(0)
		for more := true; more; {
			part, err := in.ReadSlice('\n')
			if err != nil && err != bufio.ErrBufferFull {
				return fmt.Errorf("%s: it ends within a line: merge again", file)
			}
			length, more = length+int64(len(part)), err != nil
		}
		if !ok {
			return fmt.Errorf("%s: what is at byte %d is no result of a unit", file, at)
		}
		x.at[n] = place{file, at, at + length}
		at += length
	}
}

// numberIn returns the number of a unit from the beginning of its line.
func numberIn(head []byte) (int, bool) {
	_, after, ok := bytes.Cut(head, []byte(`,"unit":`))
	digits, _, ends := bytes.Cut(after, []byte(`,`))
	n, err := strconv.Atoi(string(digits))
	return n, ok && ends && err == nil && n >= 0
}

// line returns the line of a unit. If Merge has moved the line since the directory was read,
// the merged file is read again.
func (x *index) line(n int) (line []byte, r *engine.Result, err error) {
	p := x.at[n]
	if line, r, err = x.lineAt(n, p); err == nil {
		return line, r, nil
	}
	merged := p.file
	if p.to == 0 {
		merged = filepath.Join(filepath.Dir(filepath.Dir(p.file)), mergedFile)
	}
	if addErr := x.addMerged(merged); addErr != nil || x.at[n] == p {
		return nil, nil, err
	}
	return x.lineAt(n, x.at[n])
}

// lineAt reads the line of a unit and checks it.
func (x *index) lineAt(n int, p place) ([]byte, *engine.Result, error) {
	line, err := p.read()
	if err != nil {
		return nil, nil, err
	}
	u := unitLine{}
	switch err := journal.Decode(line, &u); {
	case errors.Is(err, journal.ErrDamaged):
		return nil, nil, fmt.Errorf("%s: unit %d is damaged: remove it, and run a shard again", p.file, n)
	case err != nil:
		return nil, nil, fmt.Errorf("%s: unit %d: %w", p.file, n, err)
	case u.Plan != x.plan.digest:
		return nil, nil, &OtherPlanError{p.file, u.Plan, x.plan.digest}
	case u.Unit != n || u.Result == nil || n >= len(x.plan.Units()):
		return nil, nil, fmt.Errorf("%s: it is not the result of unit %d", p.file, n)
	}
	return line, u.Result, nil
}

func (p place) read() ([]byte, error) {
	if p.to == 0 {
		return corpus.ReadFile(p.file, "result of a unit", unitBytes)
	}
	if p.to-p.from > unitBytes {
		return nil, fmt.Errorf("%s: a line of %d bytes is no result of a unit", p.file, p.to-p.from)
	}
	f, err := os.Open(p.file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	line := make([]byte, p.to-p.from)
	_, err = f.ReadAt(line, p.from)
	return line, err
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
func (x *index) missing() (all []int) {
	for n := range x.plan.Units() {
		if _, ok := x.at[n]; !ok {
			all = append(all, n)
		}
	}
	return all
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
