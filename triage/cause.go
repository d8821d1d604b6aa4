package triage

import (
	"math/bits"
	"strings"
)

// Cause is why one case differs: the labels of the difference between two programs that
// it takes to make the two agree on the case. Labels are equalised in either
// direction: the first program takes the second one's side of them and gives the second
// one's result, or the second takes the first one's side and gives the first one's
// result. So the cause is the same whichever program is the first.
type Cause struct {
	// Primary is the single label that equalises the two; of several, the first in
	// the order of Labels. Where it takes more than one label, it is the first of the
	// smallest set that does, of several sets the first.
	Primary Label
	// Detail is Primary alone; or several labels joined with |, each of which alone is
	// enough; or several joined with +, of which none can be left out.
	Detail string

	need uint32 // the labels that Changes are made of
	back bool   // need equalises the two only in the second direction
}

// unexplainedCause is the cause of a case that the two programs do not reproduce.
var unexplainedCause = &Cause{Primary: Unexplained, Detail: string(Unexplained)}

// NeededIn returns the labels that a case with a given Cause.Detail needs: the primary cause, or
// all labels of the set.
func NeededIn(detail string) []Label {
	detail, _, _ = strings.Cut(detail, "|")
	var all []Label
	for name := range strings.SplitSeq(detail, "+") {
		all = append(all, Label(name))
	}
	return all
}

// PrimaryIn returns the primary cause in a Cause's Detail: the label that comes first in
// the order of Labels.
func PrimaryIn(detail string) Label {
	var first Label
	for name := range strings.FieldsFuncSeq(detail, func(r rune) bool { return r == '|' || r == '+' }) {
		if first == "" || rank(Label(name)) < rank(first) {
			first = Label(name)
		}
	}
	return first
}

// before reports whether a set of labels comes before another of the same size: the
// one that has the first label in which they differ.
func before(a, b uint32) bool {
	only := a ^ b
	return a&(only&-only) != 0
}

// named returns the labels of a set.
func (n *Attributor) named(set uint32) []Label {
	var labels []Label
	for ; set != 0; set &= set - 1 {
		labels = append(labels, n.labels[bits.TrailingZeros32(set)])
	}
	return labels
}

// name writes the labels of a set.
func (n *Attributor) name(set uint32, between string) string {
	var names []string
	for _, l := range n.named(set) {
		names = append(names, string(l))
	}
	return strings.Join(names, between)
}

// causeKey identifies a Cause by sets of labels: bit i stands for Attributor.labels[i].
type causeKey struct {
	need, enough uint32
	back         bool
}

// cause returns the cause of a case that needs the labels key.need. Each label of
// key.enough alone explains the case; there are none if key.need has several.
func (n *Attributor) cause(key causeKey) *Cause {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := n.causes[key]
	if c == nil {
		c = &Cause{need: key.need, back: key.back}
		c.Primary = n.labels[bits.TrailingZeros32(key.need)]
		if c.Detail = n.name(key.need, "+"); key.enough != 0 {
			c.Detail = n.name(key.enough, "|")
		}
		n.causes[key] = c
	}
	return c
}
