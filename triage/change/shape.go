package change

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// merges adds the lanes in other orders: by halves, neighbours, one after the other, and
// of up to eight terms in any order of the distances.
func merges(c *changer) {
	n := c.p.Merged()
	for _, m := range mergesOf(n) {
		c.to(func(p *mma.Params) { p.Merge = m })
	}
}

// mergesOf returns the orders in which n terms are added after the last step.
func mergesOf(n int) []mma.Merge {
	all := []mma.Merge{0}
	if n < 3 {
		return all
	}
	up := mma.MergeNeighbours(n)
	if up.Distances()[len(up.Distances())-1] > 4 {
		return append(all, mma.MergeHalves(n), up)
	}
	permute(up.Distances(), func(d []int) { all = append(all, mma.MergeBy(d...)) })
	return all
}

// permute calls f with every order of a list. f must not keep it.
func permute(list []int, f func([]int)) {
	var from func(i int)
	from = func(i int) {
		if i == len(list) {
			f(list)
		}
		for j := i; j < len(list); j++ {
			list[i], list[j] = list[j], list[i]
			from(i + 1)
			list[i], list[j] = list[j], list[i]
		}
	}
	from(0)
}

// remerged returns the Merge of n terms that is like another: the same if it adds n
// terms, else by halves, by neighbours, or one after the other.
func remerged(m mma.Merge, n int) mma.Merge {
	switch d := m.Distances(); {
	case n < 3 || m == 0:
		return 0
	case n > 1<<(len(d)-1) && n <= 1<<len(d):
		return m
	case slices.IsSorted(d):
		return mma.MergeNeighbours(n)
	case slices.IsSortedFunc(d, func(x, y int) int { return y - x }):
		return mma.MergeHalves(n)
	}
	return 0
}

// fixShape takes away from a program what it can no longer have once its lanes, its
// stages or its start have changed.
func fixShape(p *mma.Params) {
	late := p.Start != mma.StartC
	if p.Leaf != mma.NoLeaf && late && (p.Lanes <= 1 || p.Leaf > mma.LeafLast) {
		p.Leaf = mma.NoLeaf
	}
	p.Tail = p.Tail && p.Lanes > 1
	p.Bare = p.Bare && p.Lanes > 1 && !late
	p.Join.Plus = p.Join.Plus && (late || p.Lanes > 1)
	p.Merge = remerged(p.Merge, p.Merged())
	if p.Leaf != mma.NoLeaf {
		p.Special.CLeft = false
	}
}

// leaves makes c one of the terms of a stage or of the lanes.
func leaves(c *changer) {
	for l := mma.NoLeaf; l <= mma.SumLast; l++ {
		c.to(func(p *mma.Params) {
			p.Leaf, p.Special.CLeft = l, false
			if p.Start == mma.StartC && l != mma.NoLeaf {
				p.Join = mma.Join{Align: p.Join.Align, Post: p.Join.Post}
			}
			p.Merge = remerged(p.Merge, p.Merged())
		})
	}
	if c.p.Start != mma.StartC || c.p.Lanes < 2 {
		return
	}
	for _, l := range []mma.Leaf{mma.LeafFirst, mma.LeafLast} {
		c.to(func(p *mma.Params) {
			p.Start, p.Leaf = mma.StartEmpty, l
			p.Join = mma.Join{Align: p.Join.Align, Post: p.Join.Post}
			c.FixLate(p, p.Acc.Mode)
		})
	}
}
