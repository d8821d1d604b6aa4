package engine

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/journal"
	"github.com/mmafuzz/mmafuzz/fuzz/finding"
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
func ReadPast(file string) (*Past, error) {
	p := &Past{State: &State{}}
	err := journal.Read(file, journalKind(""), p.begin, func(r *record) error {
		return p.State.replay(r, func(_ int, d *finding.Sum, most uint64) error { return d.CheckCounts(most) })
	})
	if err == nil && p.State.Pairs == nil {
		err = fmt.Errorf("%s: it has not begun", file)
	}
	if err == nil {
		if _, err = p.State.findings(); err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	p.findBases()
	p.Curve = p.State.curve
	if err == nil {
		p.Incomplete, err = incompleteText(file)
	}
	return p, err
}

// begin takes the first record.
func (p *Past) begin(head *journal.Head[journalOptions]) error {
	h := &head.Options
	if len(h.Pairs) == 0 || len(h.Pairs) > pastPairs || len(h.Generators) != len(h.Pairs) || len(h.Policies) != len(h.Pairs) {
		return errors.New("this is no journal of a campaign")
	}
	p.Seed, p.Versions, p.Generators, p.Policies = h.Seed, head.Versions, h.Generators, h.Policies
	for _, name := range h.Pairs {
		st := &finding.PairState{}
		st.TargetA, st.TargetB, st.Name = namesOf(name)
		p.State.Pairs = append(p.State.Pairs, st)
	}
	return nil
}

// betweenSides matches what is between the two sides in a pair's line of the header, and
// the beginning of the second target.
var betweenSides = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(` \| [a-z]+:`) })

// namesOf takes the line of a pair apart, which Campaign.header wrote. If the command of a
// target contains such a separator itself, the first one is taken.
func namesOf(line string) (a, b, inst string) {
	at := betweenSides().FindStringIndex(line)
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
