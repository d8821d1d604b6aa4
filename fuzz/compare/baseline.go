package compare

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// judge gives every difference its state, by the baseline and the list of known ones.
func (c *Comparison) judge() {
	r := &c.result
	r.Known, r.Counts = c.Known.SetStates(r.Differences, c.unlisted)
	c.lookUpKnown()
	c.Known.Hidden(r.Known, r.Cells)
	if c.Baseline != nil {
		c.findGone()
		c.findChanged()
	}
	switch {
	case len(r.Trouble) > 0:
		r.Exit = exitTrouble
	case len(r.Incomplete) > 0:
		r.Exit = exitIncomplete
	case r.Counts.New+r.Counts.Expired > 0:
		r.Exit = exitNews
	default:
		r.Exit = exitNoNews
	}
	r.fill()
}

// unlisted returns the state of a difference that no list covers: still there if the
// baseline has it and did not count it as known, else new.
func (c *Comparison) unlisted(d *Difference) string {
	if c.Baseline != nil && c.Baseline.has(d) {
		return StateStill
	}
	return StateNew
}

// findGone lists the differences of the baseline that were not found, and whether their
// instructions were compared at all. Those that were not compared stay on the list, however
// many nights a machine is away.
func (c *Comparison) findGone() {
	here := map[string]bool{}
	for _, d := range c.result.Differences {
		here[d.ID] = true
	}
	add := func(g Gone) {
		if here[g.ID] {
			return
		}
		here[g.ID] = true
		if g.Compared, g.What = c.result.compared(&g); g.Compared {
			c.result.lookUp(&g)
		}
		c.result.Gone = append(c.result.Gone, g)
	}
	last := c.Baseline.turnedWhere(byName)
	for _, d := range last.Differences {
		add(Gone{ID: d.ID, A: d.A, B: d.B, Instruction: d.Instruction, Bucket: d.Bucket, Cases: d.Cases, Codes: d.codes(), State: d.State, Marks: d.Marks})
	}
	for _, g := range last.Gone {
		if !g.Compared || g.There != "" {
			g.There, g.What = "", ""
			add(g)
		}
	}
}

// compared reports whether a comparison has the machines and the instruction of a
// difference, and compares what it is in; why not, if there is more to say.
func (r *Result) compared(d *Gone) (is bool, why string) {
	if d.B == "" {
		return slices.ContainsFunc(r.Machines, func(m Machine) bool { return m.Name == d.A }), ""
	}
	i := slices.IndexFunc(r.Cells, func(c Cell) bool { return c.A == d.A && c.B == d.B && c.Instruction == d.Instruction })
	if i >= 0 && r.Cells[i].hides(d) {
		var words []string
		for i, class := range codeClasses {
			if slices.Contains(d.Codes, class) {
				words = append(words, codeWords[i])
			}
		}
		return false, strings.Join(words, " and ") + " are compared by class this time"
	}
	return i >= 0, ""
}

// findChanged lists the recorded instructions whose model computes something else than the baseline's.
func (c *Comparison) findChanged() {
	for _, now := range c.result.Models {
		for _, was := range c.Baseline.Models {
			if was.Machine == now.Machine && was.Instruction == now.Instruction && !was.equal(&now.Arithmetic) && !was.computes(&now.Arithmetic) {
				c.result.Changed = append(c.result.Changed, Changed{now.Machine, now.Instruction, was.Arithmetic, now.Arithmetic})
			}
		}
	}
}

// equal reports whether two models are the same; where there is none, Base is but where the search began.
func (m *Arithmetic) equal(o *Arithmetic) bool {
	return !m.Explained && !o.Explained || m.Base == o.Base && m.Explained == o.Explained && slices.Equal(m.Changes, o.Changes)
}

// computes reports whether two models that are described by other changes, or as changes of another
// row, are one function: no input is found that tells them apart.
func (m *Arithmetic) computes(o *Arithmetic) bool {
	p, errP := m.program()
	q, errQ := o.program()
	if errP != nil || errQ != nil || p.K != q.K || p.Formats != q.Formats {
		return false
	}
	w, err := triage.FindWitness(context.Background(), p.Formats, p.K, p.Params, q.Params, 1)
	return err == nil && w == nil
}

// program returns the base with the changes, an error if nothing explains the instruction.
func (m *Arithmetic) program() (mma.Instruction, error) {
	base, err := findBase(m.Base)
	if err != nil || !m.Explained {
		return mma.Instruction{}, errors.Join(err, errors.New("no model"))
	}
	i := *base
	return i, i.Params.Apply(m.Changes)
}
