package compare

import (
	"context"
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/devices"
)

// pair is an instruction of two sides. The sides are in the order of their names, not in
// the order in which they were given, so that a difference has one name.
type pair struct {
	a, b *Side
	devices.Pair
	recordedA, recordedB int // dot products in the recordings; 0: none
}

// machinePairs lists every two sides of which at least one is a recording, each pair in the
// order of the names. A recording that is equal to another one is compared with that one
// alone.
func (c *Comparison) machinePairs() [][2]*Side {
	var pairs [][2]*Side
	for i, a := range c.sides {
		for _, b := range c.sides[i+1:] {
			first, second := a, b
			if b.Name < a.Name {
				first, second = b, a
			}
			recorded := a.Recording != nil || b.Recording != nil
			folded := a.equalTo != nil && a.equalTo != b || b.equalTo != nil && b.equalTo != a
			if recorded && !folded {
				pairs = append(pairs, [2]*Side{first, second})
			}
		}
	}
	return pairs
}

func cmpNames(a, b *Side) int { return strings.Compare(a.Name, b.Name) }

// pairSides pairs the instructions of two sides, and finds the inputs that they have in
// common.
func (c *Comparison) pairSides(ctx context.Context, a, b *Side) error {
	ps, err := devices.Pairs(a.Target, b.Target, "", "")
	if err != nil {
		c.leaveOut(a, b, "", err.Error())
		return nil
	}
	before := len(c.pairs)
	for _, p := range ps {
		x := pair{a: a, b: b, Pair: p}
		if err := x.overlap(ctx); err != nil {
			return err
		}
		if x.dots() == 0 {
			c.leaveOut(a, b, p.Name(), "no inputs in common")
			continue
		}
		c.pairs = append(c.pairs, x)
	}
	if len(c.pairs) == before {
		text := fmt.Sprintf("%s and %s have no inputs in common: %s, %s", a.Name, b.Name, a.plan(), b.plan())
		if a.Recording != nil && b.Recording != nil && a.Recording.Header.Plan != nil && b.Recording.Header.Plan != nil {
			text += fmt.Sprintf(" (%s)", corpus.Differences(a.Recording.Header.Plan, b.Recording.Header.Plan))
		}
		c.result.Trouble = append(c.result.Trouble, text)
	}
	return nil
}

func (c *Comparison) leaveOut(a, b *Side, instruction, why string) {
	c.result.LeftOut = append(c.result.LeftOut, LeftOut{a.Name, b.Name, instruction, why})
}

// overlap narrows a recording to the inputs that the other side, if it is a recording, has
// too.
func (p *pair) overlap(ctx context.Context) (err error) {
	a, isA := p.A.(devices.Recorder)
	b, isB := p.B.(devices.Recorder)
	if isA {
		p.recordedA = a.Recorded()
	}
	if isB {
		p.recordedB = b.Recorded()
	}
	if isA && isB {
		p.A, err = devices.Overlap(ctx, a, b)
	}
	return err
}

// dots returns the number of dot products that are compared.
func (p *pair) dots() int {
	if a, ok := p.A.(devices.Recorder); ok {
		return a.Recorded()
	}
	return p.recordedB
}
