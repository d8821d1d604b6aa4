package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// logFile is the journal beside the result, with what was compared before an interruption: a unit
// for each pair of machines that is done.
const logFile = ".compare.log"

// logOptions identify a comparison.
type logOptions struct {
	Key string `json:"key"`
}

// unit is what the comparison of two machines adds to the result.
type unit struct {
	A           string       `json:"a"`
	B           string       `json:"b"`
	Cells       []Cell       `json:"cells"`
	Differences []Difference `json:"differences"`
	Uncounted   []*Kind      `json:"rests"` // for each of the differences, its field uncounted
	LeftOut     []LeftOut    `json:"left_out"`
	Trouble     []string     `json:"trouble"`
	Models      []unitModel  `json:"models"`
}

// unitModel is a model that the comparison of two machines has found.
type unitModel struct {
	Machine     string       `json:"machine"`
	Instruction string       `json:"instruction"`
	Base        string       `json:"base"` // ARCH/NAME
	Params      mma.Params   `json:"params"`
	K           int          `json:"k"`
	Changes     []mma.Change `json:"changes"`
	Alike       []string     `json:"alike"`
	Dots        uint64       `json:"dots"`
	Mismatches  uint64       `json:"mismatches"`
}

// errOtherComparison reports that a log is of another comparison.
var errOtherComparison = errors.New("the log is of another comparison")

// Resume makes the comparison go on where the same comparison was interrupted, by its log in
// a directory. The log of another comparison is removed, and so are its bundles, but not before
// two machines are compared (begin). It is an error if anything that no comparison has written
// is in the way. Save removes the log at the end.
func (c *Comparison) Resume(d *Directory) error {
	file := filepath.Join(d.path, logFile)
	err := c.openLog(file, d)
	if errors.Is(err, corpus.ErrInUse) {
		return err
	}
	if other := d.check(c.keeps()); other != nil {
		return other
	}
	if err == nil {
		return nil
	}
	if err := os.Remove(file); err != nil { // it is another comparison's, or damaged
		return err
	}
	return c.openLog(file, d)
}

// openLog opens the log of the comparison, and takes what is done from it: nothing if there is an
// error.
func (c *Comparison) openLog(file string, d *Directory) (err error) {
	kind := journal.Kind[logOptions]{Of: "comparison", Version: 3, By: journal.ByCompare, Versions: versions.Current(), Differ: func(_, _ logOptions) error { return errOtherComparison }}
	c.done = map[[2]string]*unit{}
	d.log, err = journal.Open(file, kind, logOptions{c.key()}, func(u *unit) error {
		c.done[[2]string{u.A, u.B}] = u
		return u.check()
	})
	if err != nil {
		c.done = nil
	}
	c.dir = d
	return err
}

// check returns an error for a unit that no comparison has written.
func (u *unit) check() error {
	if len(u.Uncounted) != len(u.Differences) {
		return fmt.Errorf("%d differences with %d rests", len(u.Differences), len(u.Uncounted))
	}
	for _, m := range u.Models {
		if m.Params == (mma.Params{}) {
			continue
		}
		base, err := findBase(m.Base)
		if err == nil {
			err = m.Params.Validate(base.Formats, m.K)
		}
		if err != nil {
			return fmt.Errorf("the model of %s of %s: %w", m.Instruction, m.Machine, err)
		}
	}
	return nil
}

// keeps has the names of the directories whose bundles stay.
func (c *Comparison) keeps() map[string]bool {
	keep := map[string]bool{}
	for machines := range c.done {
		keep[c.pairDir(machines[0], machines[1])] = true
	}
	return keep
}

// begin begins a comparison in a directory that may have bundles of another one. These stay if
// something could not be opened: its name may be mistyped, and they may be all that is known of it.
func (c *Comparison) begin() error {
	clear := c.dir.clear
	if len(c.Trouble)+len(c.Incomplete) > 0 {
		clear = c.dir.mark
	}
	if err := clear(); err != nil {
		return err
	}
	return c.dir.log.Begin()
}

// key identifies all that the result depends on, besides the program.
func (c *Comparison) key() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	add := func(v any) {
		if err := enc.Encode(v); err != nil {
			panic("compare: " + err.Error()) // plain data always encodes
		}
	}
	add([]any{c.NaN, c.Zero, c.MaxFindings, c.AllFindings, c.Known.List, c.Known.Day.UTC().Format(corpus.DateLayout), c.Trouble, c.Incomplete})
	if c.Baseline != nil {
		add(c.Baseline.open)
		add(c.Baseline.Machines)
	}
	for _, s := range c.sides {
		add([]any{s.Name, s.Spec, s.Target.Name(), corpus.Lasting(s.Target.Environment())})
		if s.Recording == nil {
			continue
		}
		add(s.Recording.Problems)
		for n := range s.Recording.Data {
			d := &s.Recording.Data[n]
			add([]any{d.Section, d.First, d.Faults, d.Sum()})
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// restore adds a unit that was done before an interruption to the result.
func (c *Comparison) restore(u *unit) error {
	r := &c.result
	r.Cells, r.LeftOut, r.Trouble = append(r.Cells, u.Cells...), append(r.LeftOut, u.LeftOut...), append(r.Trouble, u.Trouble...)
	for i, d := range u.Differences {
		d.uncounted = u.Uncounted[i]
		r.Differences = append(r.Differences, d)
	}
	for _, m := range u.Models {
		found := &model{machine: m.Machine, instruction: m.Instruction, params: m.Params, k: m.K, changes: m.Changes, alike: m.Alike, dots: m.Dots, mismatches: m.Mismatches}
		if m.Base != "" {
			base, err := findBase(m.Base)
			if err != nil {
				return err
			}
			found.base = base
		}
		c.models = append(c.models, found)
	}
	return nil
}

// keep logs what the comparison of two machines has added to the result since m was taken. Until
// two have inputs in common there is nothing worth a log.
func (c *Comparison) keep(a, b *Side, m marks) error {
	if c.dir == nil || !c.dir.log.Begun() {
		return nil
	}
	r := &c.result
	u := unit{A: a.Name, B: b.Name, Cells: r.Cells[m.cells:], Differences: r.Differences[m.differences:], LeftOut: r.LeftOut[m.leftOut:], Trouble: r.Trouble[m.trouble:]}
	for _, d := range u.Differences {
		u.Uncounted = append(u.Uncounted, d.uncounted)
	}
	for _, x := range c.models[m.models:] {
		base := ""
		if x.base != nil {
			base = x.base.FullName()
		}
		u.Models = append(u.Models, unitModel{x.machine, x.instruction, base, x.params, x.k, x.changes, x.alike, x.dots, x.mismatches})
	}
	return c.dir.log.Append(&u)
}

// marks are the lengths of the result's lists at a time.
type marks struct{ cells, differences, leftOut, trouble, models int }

func (c *Comparison) marks() marks {
	r := &c.result
	return marks{len(r.Cells), len(r.Differences), len(r.LeftOut), len(r.Trouble), len(c.models)}
}

// makeRoom removes the bundles that an earlier comparison of two machines has left, and before
// the first two are compared those of another comparison.
func (c *Comparison) makeRoom(a, b *Side) error {
	if c.dir == nil {
		return nil
	}
	if !c.dir.log.Begun() {
		if err := c.begin(); err != nil {
			return err
		}
	}
	return corpus.RemoveTree(filepath.Join(c.Out, bundlesDir, c.pairDir(a.Name, b.Name)))
}

// pairDir is the name of the directory of two machines' bundles.
func (c *Comparison) pairDir(a, b string) string {
	a, b = c.named(a, b)
	return readable.Slug(a + "~" + b)
}
