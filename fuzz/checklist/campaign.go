package checklist

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/devices/simulated"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// pair pairs an instruction of the target with what it should be equal to.
func (r *run) pair(i *mma.Instruction, u devices.Unit) (devices.Pair, error) {
	if r.Against != nil {
		ps, err := devices.Pairs(r.Target, r.Against, i.Name, "")
		if err != nil {
			return devices.Pair{}, err
		}
		ps[0].A = u
		return ps[0], nil
	}
	if i.Params == (mma.Params{}) {
		return devices.Pair{}, fmt.Errorf("there is no simulator of %s", i.FullName())
	}
	m, err := simulated.Open(i)
	return devices.Pair{A: u, B: m, TargetA: r.Target.Name(), TargetB: "sim:" + i.Arch, K: i.K}, err
}

// partner returns the unit that an instruction should be equal to, if that has the same K;
// nil if there is none.
func (r *run) partner(i *mma.Instruction, u devices.Unit) devices.Unit {
	p, err := r.pair(i, u)
	if err != nil || p.B.Instruction().K != i.K {
		return nil
	}
	return p.B
}

// comparison is the outcome of a campaign.
type comparison struct {
	Dots       uint64            `json:"dots"`
	Mismatches uint64            `json:"mismatches"`
	Classes    map[string]uint64 `json:"classes"` // differing dot products by class
	Explained  string            `json:"explained,omitempty"`
	Buckets    []bucket          `json:"buckets"`
}

// bucket is a cause with its cases.
type bucket struct {
	Name   string `json:"name"`
	Cases  uint64 `json:"cases"`
	Bundle string `json:"bundle,omitempty"` // directory, below the checklist's
}

// equal compares a pair whose units should be equal, with the findings in a directory below
// the checklist's.
func (r *run) equal(p devices.Pair, dir string, generators []string, limit time.Duration) (Row, error) {
	c, err := r.compare(r.ctx, p, filepath.Join(r.Dir, dir), generators, r.Dots, limit)
	if err != nil {
		return Row{Data: c}, err
	}
	row := Row{Text: fmt.Sprintf("equal in %d dot products", c.Dots), Data: c}
	if c.Mismatches > 0 {
		row.State = Differs
		row.Text = fmt.Sprintf("differs in %d of %d dot products: %s", c.Mismatches, c.Dots, c.causes())
		if c.Explained != "" {
			row.Text += "; " + c.Explained + " explains it"
		}
	}
	return row, nil
}

// causes names the largest buckets.
func (c *comparison) causes() string {
	const most = 4
	var names []string
	for _, b := range c.Buckets[:min(len(c.Buckets), most)] {
		names = append(names, b.Name)
	}
	if more := len(c.Buckets) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// campaign is a comparer: it runs a campaign whose findings are bundles below dir.
func (r *run) campaign(ctx context.Context, p devices.Pair, dir string, generators []string, count uint64, limit time.Duration) (*comparison, error) {
	cfg := fuzz.Config{Pairs: []devices.Pair{p}, Seed: 1, Generators: generators, Count: count, Time: limit, Journal: filepath.Join(dir, fuzz.JournalFile), Bundles: dir}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	campaign, err := fuzz.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := campaign.Run(ctx); err != nil {
		return nil, err
	}
	st := campaign.State().Pairs[0]
	sum := &comparison{Dots: st.Dots, Mismatches: st.Mismatches(), Classes: map[string]uint64{}}
	for class, n := range st.Classes {
		if n > 0 && oracle.Class(class) != oracle.Same {
			sum.Classes[oracle.Class(class).String()] = n
		}
	}
	if st.Verdict != nil && st.Verdict.Found() {
		base, err := st.Verdict.Base()
		if err != nil {
			return nil, err
		}
		sum.Explained = mma.Brief(st.Verdict.Changes, &base, &st.Verdict.Program)
	}
	for _, b := range st.Sorted() {
		bucket := bucket{Name: b.Name, Cases: b.Cases}
		if bundle := st.Bundle(b.Name, ""); bundle != "" {
			rel, err := filepath.Rel(r.Dir, bundle)
			if err != nil {
				return nil, err
			}
			bucket.Bundle = filepath.ToSlash(rel)
		}
		sum.Buckets = append(sum.Buckets, bucket)
	}
	return sum, nil
}
