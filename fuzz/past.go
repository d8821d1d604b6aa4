package fuzz

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/oracle"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Past is what can be read from the journal of a campaign without its targets, which may be on
// another machine.
type Past struct {
	Seed       uint64
	Versions   corpus.Versions
	Generators []string // of each pair, with their arguments
	Policies   []string // how the results of each pair are compared
	State      *State
	Curve      []Milestone // one per epoch; thinned out in long campaigns
	Incomplete string      // why the campaign is not complete, such as Unended; "": it is
}

// pastPairs is a number of pairs that no campaign reaches.
const pastPairs = 1 << 20

// ReadPast reads the journal of a campaign, also of one that is running. Findings are as
// the journal has them: without Mismatch and Dir, and their dot products are not checked.
func ReadPast(journal string) (*Past, error) {
	const tries = 5 // a campaign that is running may compact its journal meanwhile
	for try := 1; ; try++ {
		before, _ := os.Stat(journal + stateSuffix)
		p, err := readPast(journal)
		after, _ := os.Stat(journal + stateSuffix)
		if err == nil || try == tries || os.SameFile(before, after) {
			return p, err
		}
	}
}

func readPast(journal string) (*Past, error) {
	p := &Past{State: &State{}}
	err := corpus.ReadLog(journal, func(n int, body []byte) error {
		if n > 0 {
			return p.epoch(body)
		}
		if err := p.header(body); err != nil {
			return err
		}
		_, err := p.State.load(journal, digestOf(body), func(_ int, d *Sum) error { return d.checkCounts(maxStateDots) })
		return err
	})
	if err == nil && p.State.Pairs == nil {
		err = fmt.Errorf("%s: it has not begun", journal)
	}
	p.findBases()
	p.Curve = p.State.curve
	if err == nil {
		p.Incomplete, err = incompleteText(journal)
	}
	return p, err
}

func (p *Past) header(body []byte) error {
	var h journalHeader
	if err := mma.JSONError(body, json.Unmarshal(body, &h)); err != nil {
		return err
	}
	switch {
	case h.Version != journalVersion && h.Version != plainJournal:
		return fmt.Errorf("its journal is of version %d, this program reads versions %d and %d", h.Version, plainJournal, journalVersion)
	case len(h.Pairs) == 0 || len(h.Pairs) > pastPairs || len(h.Generators) != len(h.Pairs) || len(h.Policies) != len(h.Pairs):
		return errors.New("this is no journal of a campaign")
	}
	p.Seed, p.Versions, p.Generators, p.Policies = h.Seed, h.Versions, h.Generators, h.Policies
	for _, name := range h.Pairs {
		st := &PairState{}
		st.TargetA, st.TargetB, st.Name = namesOf(name)
		p.State.Pairs = append(p.State.Pairs, st)
	}
	return nil
}

// betweenSides matches what stands between the two sides in a pair's line of the header, and
// the beginning of the second target.
var betweenSides = regexp.MustCompile(` \| [a-z]+:`)

// namesOf takes the line of a pair apart, which Campaign.header wrote. If the command of a
// target contains such a separator itself, the first one is taken.
func namesOf(line string) (a, b, inst string) {
	at := betweenSides.FindStringIndex(line)
	if at == nil {
		return line, "", ""
	}
	a, instA := cutLast(line[:at[0]])
	b, instB := cutLast(line[at[0]+len(" | "):])
	if instA == instB {
		return a, b, instA
	}
	return a, b, instA + " ~ " + instB
}

func cutLast(text string) (before, word string) {
	at := strings.LastIndex(text, " ")
	if at < 0 {
		return text, ""
	}
	return text[:at], text[at+1:]
}

// epoch adds the record of an epoch.
func (p *Past) epoch(body []byte) error {
	d := &delta{}
	if err := mma.JSONError(body, json.Unmarshal(body, d)); err != nil {
		return err
	}
	switch {
	case p.State.has(d):
		return nil
	case d.Epoch != p.State.Epochs:
		return fmt.Errorf("it is of epoch %d, expected epoch %d", d.Epoch, p.State.Epochs)
	case len(d.Pairs) != len(p.State.Pairs):
		return fmt.Errorf("it has %d pairs, expected %d", len(d.Pairs), len(p.State.Pairs))
	}
	for i := range d.Pairs {
		if err := d.Pairs[i].checkCounts(maxEpochDots); err != nil {
			return fmt.Errorf("pair %d: %w", i, err)
		}
	}
	p.State.apply(d)
	return nil
}

// findBases sets BaseA, the side whose arithmetic a verdict changes, from a finding: it is the
// same for all pairs of two targets.
func (p *Past) findBases() {
	baseA := map[[2]string]bool{}
	for _, st := range p.State.Pairs {
		if len(st.Findings) > 0 {
			baseA[[2]string{st.TargetA, st.TargetB}] = st.Findings[0].BaseA
		}
	}
	for _, st := range p.State.Pairs {
		st.BaseA = baseA[[2]string{st.TargetA, st.TargetB}]
	}
}

// checkCounts returns an error if the numbers of a record are impossible for any pair, or one of
// them is above most.
func (d *Sum) checkCounts(most uint64) error {
	compared := uint64(0)
	for _, n := range d.Classes {
		compared += min(n, most)
	}
	switch {
	case d.Dots > most || d.Units > most:
		return fmt.Errorf("%d dot products in %d chunks, more than an epoch or a campaign can have", d.Dots, d.Units)
	case compared != d.Dots:
		return fmt.Errorf("%d dot products, but the classes count %d", d.Dots, compared)
	case d.Changed > d.Checked:
		return fmt.Errorf("%d cases changed, but only %d were checked", d.Changed, d.Checked)
	case d.Unstable > d.Dots-d.Classes[oracle.Same]:
		return fmt.Errorf("%d cases are unstable, but only %d differ", d.Unstable, d.Dots-d.Classes[oracle.Same])
	}
	for _, name := range slices.Sorted(maps.Keys(d.Buckets)) {
		if err := d.Buckets[name].check(name, most); err != nil {
			return err
		}
	}
	if slices.Contains(d.Findings, nil) {
		return errors.New("finding: it is null")
	}
	return d.Where.check(d.Dots)
}
