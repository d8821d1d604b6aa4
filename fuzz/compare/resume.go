package compare

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz/gen/versions"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// logFile is the log beside the result, with what was compared before an interruption:
// first a logHead, then a unit for each pair of machines that is done.
const logFile = ".compare.log"

type logHead struct {
	Version int    `json:"v"`
	Key     string `json:"key"` // of the comparison
}

const logVersion = 1

// unit is what the comparison of two machines adds to the result.
type unit struct {
	A           string       `json:"a"`
	B           string       `json:"b"`
	Cells       []Cell       `json:"cells"`
	Differences []Difference `json:"differences"`
	Rests       []*Kind      `json:"rests"` // the field rest of each of the differences
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
// a directory. The log and the bundles of another comparison are removed. Save removes the
// log at the end.
func (c *Comparison) Resume(d *Directory) error {
	file := filepath.Join(d.path, logFile)
	key := c.key()
	c.done = map[[2]string]*unit{}
	known := false
	log, err := corpus.OpenLog(file, func(n int, body []byte) error {
		if n == 0 {
			var head logHead
			if json.Unmarshal(body, &head) != nil || head != (logHead{logVersion, key}) {
				return errOtherComparison
			}
			known = true
			return nil
		}
		u := &unit{}
		if err := json.Unmarshal(body, u); err != nil {
			return errOtherComparison
		}
		c.done[[2]string{u.A, u.B}] = u
		return nil
	})
	if errors.Is(err, corpus.ErrInUse) {
		return err
	}
	if err != nil { // the log is another comparison's, or damaged
		if err := os.Remove(file); err != nil {
			return err
		}
		c.done = map[[2]string]*unit{}
		if log, err = corpus.OpenLog(file, func(int, []byte) error { return nil }); err != nil {
			return err
		}
	}
	d.log = log
	c.log = log
	if known {
		return nil
	}
	if err := d.clear(); err != nil {
		return err
	}
	return log.Record(logHead{logVersion, key})
}

// key identifies all that the result depends on.
func (c *Comparison) key() string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	add := func(v any) {
		if err := enc.Encode(v); err != nil {
			panic("compare: " + err.Error()) // plain data always encodes
		}
	}
	add([]any{versions.Current(), c.NaN, c.Zero, c.MaxFindings, c.AllFindings, c.Known.List, c.Known.Day.UTC().Format(corpus.DateLayout), c.Trouble})
	if c.Baseline != nil {
		add(c.Baseline.open)
		add(c.Baseline.Machines)
	}
	for _, s := range c.sides {
		add([]any{s.Name, s.Spec, s.Target.Name(), s.Target.Environment()})
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

// again adds a unit that was done before an interruption to the result.
func (c *Comparison) again(u *unit) error {
	r := &c.result
	r.Cells, r.LeftOut, r.Trouble = append(r.Cells, u.Cells...), append(r.LeftOut, u.LeftOut...), append(r.Trouble, u.Trouble...)
	for i, d := range u.Differences {
		d.rest = u.Rests[i]
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

// keep logs what the comparison of two machines has added to the result since m was taken.
func (c *Comparison) keep(a, b *Side, m marks) error {
	if c.log == nil {
		return nil
	}
	r := &c.result
	u := unit{A: a.Name, B: b.Name, Cells: r.Cells[m.cells:], Differences: r.Differences[m.differences:], LeftOut: r.LeftOut[m.leftOut:], Trouble: r.Trouble[m.trouble:]}
	for _, d := range u.Differences {
		u.Rests = append(u.Rests, d.rest)
	}
	for _, x := range c.models[m.models:] {
		base := ""
		if x.base != nil {
			base = x.base.FullName()
		}
		u.Models = append(u.Models, unitModel{x.machine, x.instruction, base, x.params, x.k, x.changes, x.alike, x.dots, x.mismatches})
	}
	return c.log.Append(&u)
}

// marks are the lengths of the result's lists at a time.
type marks struct{ cells, differences, leftOut, trouble, models int }

func (c *Comparison) marks() marks {
	r := &c.result
	return marks{len(r.Cells), len(r.Differences), len(r.LeftOut), len(r.Trouble), len(c.models)}
}

// removeBundles removes the bundles that an interrupted comparison of two machines has left.
func (c *Comparison) removeBundles(a, b *Side) error {
	if c.log == nil {
		return nil
	}
	return os.RemoveAll(filepath.Join(c.Out, bundlesDir, readable.Slug(a.Name+"~"+b.Name)))
}
