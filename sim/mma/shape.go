package mma

import (
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// Merge describes how several lanes are added after the last step, as the elements of
// vector registers are. The zero Merge adds them one after the other. Any other is a list
// of distances, the powers of two below the number of terms in any order. A level of distance d adds to each term that is left the one
// whose number is larger by d, if there is one: t[i] + t[i+d], rounded by Late.
// Distances in descending order add by halves, 4-2-1 is ((t0+t4)+(t2+t6)) +
// ((t1+t5)+(t3+t7)); in ascending order they add neighbours, ((t0+t1)+(t2+t3)) + ...;
// 8-16-4-1-2 adds four vectors of eight in pairs, then halves of the sum, then neighbours.
//
// The terms are the lanes 0, 1, 2, ... and, if Leaf makes it one of them, c.
type Merge uint32

// mergeBits is the width of a level of a Merge. The first level is in the lowest bits. A
// level is represented by the number of bits of its distance.
const mergeBits = 4

// MergeBy returns the Merge of a list of distances.
func MergeBy(distances ...int) Merge {
	var m Merge
	for i, d := range distances {
		m |= Merge(bits.Len(uint(d))) << (mergeBits * i)
	}
	return m
}

// MergeHalves returns the Merge of n terms by halves.
func MergeHalves(n int) Merge {
	var down []int
	for d := span(n) / 2; d > 0; d /= 2 {
		down = append(down, d)
	}
	return MergeBy(down...)
}

// MergeNeighbours returns the Merge of n terms that adds neighbours.
func MergeNeighbours(n int) Merge {
	var up []int
	for d := 1; d < n; d *= 2 {
		up = append(up, d)
	}
	return MergeBy(up...)
}

// span is the least power of two that is not below n.
func span(n int) int { return 1 << bits.Len(uint(n-1)) }

// Distances returns the list of distances; nil if the terms are added one after the other.
func (m Merge) Distances() []int {
	var all []int
	for ; m != 0; m >>= mergeBits {
		all = append(all, 1<<(m&(1<<mergeBits-1))>>1)
	}
	return all
}

// check returns an error unless the distances are those of n terms.
func (m Merge) check(n int) error {
	if m == 0 {
		return nil
	}
	sum, all := 0, m.Distances()
	for _, d := range all {
		sum |= d
	}
	if n < 3 || sum != span(n)-1 || 1<<len(all) != span(n) {
		return fmt.Errorf("merge: %s does not add %d terms, of at least 3: it must have each power of two below their number once", m, n)
	}
	return nil
}

const inSequence = "sequential"

// String writes sequential, or the distances: 4-2-1.
func (m Merge) String() string {
	if m == 0 {
		return inSequence
	}
	var s []string
	for _, d := range m.Distances() {
		s = append(s, strconv.Itoa(d))
	}
	return strings.Join(s, "-")
}

// MarshalText writes what String does, for JSON.
func (m Merge) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what String writes.
func (m *Merge) UnmarshalText(b []byte) error {
	if string(b) == inSequence {
		*m = 0
		return nil
	}
	var all []int
	for word := range strings.SplitSeq(string(b), "-") {
		d, err := strconv.ParseUint(word, 10, 8)
		if err != nil || d&(d-1) != 0 || d == 0 || len(all) == 32/mergeBits {
			return fmt.Errorf("%q is not %s or a list of powers of two such as 4-2-1", b, inSequence)
		}
		all = append(all, int(d))
	}
	*m = MergeBy(all...)
	return nil
}

// Leaf describes at which place c is one of the terms that the program adds up. With
// StartC that is the place of the accumulator in every step. With the other starts c is
// added after the last step: there it is one of the lanes.
type Leaf = Enum[leafNames]

// The leaves. The last two are for StartC. As a leaf of a stage the accumulator is a
// term like the others: it belongs to a group, and the rules of Join for it have no
// meaning.
const (
	NoLeaf    Leaf = iota // a term of Join; or added after the lanes
	LeafFirst             // before the products, as a term of Stage0; or before the lanes
	LeafLast              // after the products, as a term of Stage0; or after the lanes, as one more of them
	SumFirst              // before the sums of Stage0, as a term of Stage1
	SumLast               // after the sums of Stage0, as a term of Stage1
)

// Sort describes how a stage orders the terms of each group by magnitude before it adds
// them. Terms of equal magnitude keep their order; infinities and NaNs count as larger
// than all numbers, and as equal.
type Sort = Enum[sortNames]

// The sorts.
const (
	Unsorted Sort = iota
	Rising        // the smallest first
	Falling       // the largest first
)

// InLanes returns how many of k products the lanes sum; Tail says what becomes of the others.
func (p *Params) InLanes(k int) int {
	if !p.Tail {
		return k
	}
	return k - k%int(max(p.Lanes, 1))
}

// Merged returns the number of terms that are added to each other after the last step.
func (p *Params) Merged() int {
	n := int(max(p.Lanes, 1))
	if p.Start != StartC && p.Leaf != NoLeaf {
		n++
	}
	return n
}

// checkShape rejects combinations of Merge, Tail, Bare, Leaf, Deep and Sort that have no meaning.
func (p *Params) checkShape(f Formats, k int) error {
	if err := p.Merge.check(p.Merged()); err != nil {
		return err
	}
	late := p.Start != StartC
	switch {
	case p.Tail && p.Lanes <= 1:
		return errors.New("tail: it needs several lanes")
	case p.Bare && (late || p.Lanes <= 1 || k <= int(p.Lanes)):
		return errors.New("bare: it needs several lanes of several products, and c in the first")
	case p.Leaf == NoLeaf:
	case late && (p.Leaf > LeafLast || p.Lanes <= 1 || f.C == fp.None):
		return errors.New("leaf: with a start other than c, c is a leaf of several lanes only, first or last of them")
	case late && p.Special.CLeft:
		return errors.New("special.cleft: leaf gives the order of c and the lanes")
	case !late && p.leafStage().Sum == Off:
		return fmt.Errorf("leaf: %s needs the stage of which c is a term", p.Leaf)
	case !late && p.Scale == ScaleGroup && p.Leaf <= LeafLast:
		return errors.New("leaf: c cannot be a term of groups that are scaled")
	case !late && p.Join != Join{Align: p.Join.Align, Post: p.Join.Post}:
		return errors.New("leaf: join has rules for an accumulator, but adds none")
	}
	return nil
}

// leafStage returns the stage that c is a leaf of.
func (p *Params) leafStage() Stage {
	if p.Leaf >= SumFirst {
		return p.Stage1
	}
	return p.Stage0
}

// checkShape rejects levels and sorts that have no meaning in a stage.
func (s Stage) checkShape(name string) error {
	switch {
	case s.Deep && s.Group < 2:
		return fmt.Errorf("%s: deep needs groups of at least 2 terms", name)
	case s.Sort != Unsorted && s.Sum == Fused:
		return fmt.Errorf("%s: the order of the terms of a fused sum has no meaning", name)
	}
	return nil
}
