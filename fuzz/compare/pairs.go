package compare

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/devices"
)

// pair is an instruction of two sides, in the order of the sides' names, whatever that
// in which they were given: a difference has one name.
type pair struct {
	a, b *Side
	devices.Pair
	recordedA, recordedB int // dot products in the recordings; 0: none
}

// findPairs pairs the instructions of every two sides of which one is a recording at
// least, and finds the inputs that they have in common.
func (c *Comparison) findPairs(ctx context.Context) error {
	for i, a := range c.sides {
		for _, b := range c.sides[i+1:] {
			if a.Recording == nil && b.Recording == nil {
				continue
			}
			first, second := a, b
			if b.Name < a.Name {
				first, second = b, a
			}
			if err := c.pairSides(ctx, first, second); err != nil {
				return err
			}
		}
	}
	return nil
}

// pairSides adds the pairs of two sides.
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
		c.result.Trouble = append(c.result.Trouble, fmt.Sprintf("%s and %s have no inputs in common: %s, %s", a.Name, b.Name, a.plan(), b.plan()))
	}
	return nil
}

func (c *Comparison) leaveOut(a, b *Side, instruction, why string) {
	c.result.LeftOut = append(c.result.LeftOut, LeftOut{a.Name, b.Name, instruction, why})
}

// overlap narrows a recording to the inputs that the other side has too.
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

// dots is the number of dot products that are compared.
func (p *pair) dots() int {
	if a, ok := p.A.(devices.Recorder); ok {
		return a.Recorded()
	}
	return p.recordedB
}
