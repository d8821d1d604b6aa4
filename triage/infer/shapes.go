package infer

import (
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/internal/grouping"
	"github.com/mmafuzz/mmafuzz/triage/probe"
)

// termSet is a set of the terms of a dot product: product k is bit k, c is bit K.
type termSet [(mma.MaxK + 1) / 64]uint64

func setOf(terms ...int) termSet {
	var s termSet
	for _, t := range terms {
		s[t/64] |= 1 << (t % 64)
	}
	return s
}

func (s termSet) union(t termSet) termSet {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

func (s termSet) meet(t termSet) termSet {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

// shapes are the shapes of programs that fit a tree, or all.
type shapes struct {
	change.Space
	nodes []termSet // the terms of every node of the tree; nil: all shapes fit
	c     termSet   // empty if there is no c
	first int       // the number of lanes that is tried first; 0: one
}

func newShapes(s change.Space, t *probe.Tree) *shapes {
	x := &shapes{Space: s}
	if s.C != fp.None {
		x.c = setOf(s.K)
	}
	var visit func(t *probe.Tree)
	visit = func(t *probe.Tree) {
		if t.Kind == probe.Leaf {
			return
		}
		x.nodes = append(x.nodes, setOf(t.Terms()...))
		for _, c := range t.Children {
			visit(c)
		}
	}
	visit(t)
	return x
}

// fits reports whether a program of the tree can have the sum of some terms on its way:
// they are those of a node, or of some of its children.
func (x *shapes) fits(s termSet) bool {
	for _, n := range x.nodes {
		if m := s.meet(n); m != (termSet{}) && m != s && m != n {
			return false
		}
	}
	return true
}

// programs returns up to most programs with a number of stages, up to two, whose shapes
// fit the tree.
func (x *shapes) programs(stages, most int) []mma.Params {
	var all []mma.Params
	x.frames(func(p mma.Params) bool {
		x.stages(&p, stages, func(p mma.Params) {
			all = x.arithmetics(all, p)
		})
		return len(all) < most
	})
	return all[:min(len(all), most)]
}

// frames calls f with orders, lanes and steps that fit the tree, plain ones first, as long
// as f returns true.
func (x *shapes) frames(f func(p mma.Params) bool) {
	starts := []mma.Start{mma.StartC}
	if x.C != fp.None {
		starts = append(starts, mma.StartEmpty)
	}
	for _, lanes := range x.lanes() {
		for _, tail := range []bool{false, true}[:1+min(x.K%lanes, 1)] {
			for order := mma.Ascending; order <= mma.Halves; order++ {
				for _, start := range starts {
					p := mma.Params{Order: order, Lanes: uint8(lanes), Tail: tail, Start: start}
					if lanes == 1 {
						p.Lanes = 0
					}
					if !x.framed(p, f) {
						return
					}
				}
			}
		}
	}
}

// lanes returns the numbers of lanes that are tried.
func (x *shapes) lanes() []int {
	first := max(1, x.first)
	all := []int{first}
	for lanes := 1; lanes <= x.K; lanes++ {
		if lanes != first && (lanes <= change.MaxLanes || lanes&(lanes-1) == 0 || lanes%8 == 0) {
			all = append(all, lanes)
		}
	}
	return all
}

// framed calls f with the steps and merges that fit the tree.
func (x *shapes) framed(p mma.Params, f func(p mma.Params) bool) bool {
	lanes := max(1, int(p.Lanes))
	inLanes := p.InLanes(x.K)
	for _, l := range sizes((inLanes + lanes - 1) / lanes) {
		p.L = uint8(l)
		if l*lanes >= x.K {
			p.L = 0
		}
		sums, ok := x.laneSums(&p)
		if !ok {
			continue
		}
		for _, q := range x.merged(p, sums) {
			if !f(q) {
				return false
			}
		}
	}
	return true
}

// sizes returns the sizes of groups of n terms that are tried, the largest first.
func sizes(n int) []int {
	var all []int
	for l := n; l > 0; l-- {
		if l <= 8 || l&(l-1) == 0 || n%l == 0 {
			all = append(all, l)
		}
	}
	return all
}

// steps returns the products of every step of every lane, and of the tail.
func (x *shapes) steps(p *mma.Params) (lanes [][][]termSet, tail [][]termSet) {
	seq := mma.Sequence(p.Order, x.K)
	n, inLanes, l := max(1, int(p.Lanes)), p.InLanes(x.K), p.Step(x.K)
	cut := func(at, end, stride int) (all [][]termSet) {
		for ; at < end; at += l * stride {
			var step []termSet
			for i := at; i < min(end, at+l*stride); i += stride {
				step = append(step, setOf(seq[i]))
			}
			all = append(all, step)
		}
		return all
	}
	for r := range n {
		lanes = append(lanes, cut(r, inLanes, n))
	}
	return lanes, cut(inLanes, x.K, 1)
}

func unionOf(terms []termSet) (s termSet) {
	for _, t := range terms {
		s = s.union(t)
	}
	return s
}

// laneSums returns the terms of every lane, if those of every step so far fit.
func (x *shapes) laneSums(p *mma.Params) ([]termSet, bool) {
	lanes, _ := x.steps(p)
	sums := make([]termSet, len(lanes))
	for r, steps := range lanes {
		if r == 0 && p.Start == mma.StartC {
			sums[r] = x.c
		}
		for _, step := range steps {
			if sums[r] = sums[r].union(unionOf(step)); !x.fits(sums[r]) {
				return nil, false
			}
		}
	}
	return sums, true
}

// merged returns a program with the ways of adding its lanes, and c, that fit.
func (x *shapes) merged(p mma.Params, lanes []termSet) []mma.Params {
	_, tail := x.steps(&p)
	var all []mma.Params
	leaves := []mma.Leaf{mma.NoLeaf}
	if p.Start != mma.StartC && p.Lanes > 1 {
		leaves = append(leaves, mma.LeafFirst, mma.LeafLast)
	}
	for _, p.Leaf = range leaves {
		sums := lanes
		switch p.Leaf {
		case mma.LeafFirst:
			sums = slices.Insert(slices.Clone(lanes), 0, x.c)
		case mma.LeafLast:
			sums = append(slices.Clip(lanes), x.c)
		}
		if !x.late(&p, unionOf(sums), tail) {
			continue
		}
		for _, p.Merge = range x.merges(sums) {
			all = append(all, p)
		}
	}
	return all
}

// mergesMost is how many ways of adding the same lanes are tried.
const mergesMost = 12

// merges returns the ways of adding sets that fit.
func (x *shapes) merges(sums []termSet) []mma.Merge {
	var all []mma.Merge
	if _, ok := x.merge(0, slices.Clone(sums)); ok {
		all = append(all, 0)
	}
	if len(sums) < 3 {
		return all
	}
	halves := mma.MergeHalves(len(sums)).Distances()
	var from func(sums []termSet, distances []int)
	from = func(sums []termSet, distances []int) {
		if len(distances) == len(halves) {
			all = append(all, mma.MergeBy(distances...))
			return
		}
		for _, d := range halves {
			next := slices.Clone(sums)
			if len(all) < mergesMost && !slices.Contains(distances, d) && x.mergeLevel(next, distances, d) {
				from(next, append(slices.Clip(distances), d))
			}
		}
	}
	from(sums, nil)
	return all
}

// mergeLevel adds sets at a distance, after others at some distances, if the sums fit.
func (x *shapes) mergeLevel(sums []termSet, done []int, d int) bool {
	mask := d
	for _, before := range done {
		mask |= before
	}
	for i := range sums {
		if i&mask != 0 || i+d >= len(sums) {
			continue
		}
		if sums[i] = sums[i].union(sums[i+d]); !x.fits(sums[i]) {
			return false
		}
	}
	return true
}

// merge adds sets as lanes are added, if the sums fit.
func (x *shapes) merge(m mma.Merge, sums []termSet) (termSet, bool) {
	add := func(i, j int) bool {
		sums[i] = sums[i].union(sums[j])
		return x.fits(sums[i])
	}
	if m == 0 {
		for j := 1; j < len(sums); j++ {
			if !add(0, j) {
				return termSet{}, false
			}
		}
		return sums[0], true
	}
	var done []int
	for _, d := range m.Distances() {
		if !x.mergeLevel(sums, done, d) {
			return termSet{}, false
		}
		done = append(done, d)
	}
	return sums[0], true
}

// late reports whether what is added after the lanes fits.
func (x *shapes) late(p *mma.Params, sum termSet, tail [][]termSet) bool {
	for _, step := range tail {
		if sum = sum.union(unionOf(step)); !x.fits(sum) {
			return false
		}
	}
	return true
}

// stages calls f with a program with n stages that fit the tree.
func (x *shapes) stages(p *mma.Params, n int, f func(p mma.Params)) {
	if n == 0 {
		f(*p)
		return
	}
	leaves := []mma.Leaf{p.Leaf}
	if p.Start == mma.StartC && x.C != fp.None {
		leaves = []mma.Leaf{mma.NoLeaf, mma.LeafFirst, mma.LeafLast, mma.SumFirst, mma.SumLast}[:2*n+1]
	}
	for _, leaf := range leaves {
		q := *p
		q.Leaf = leaf
		steps := x.withAccumulator(&q, leaf, mma.LeafFirst, mma.LeafLast, nil)
		x.stage(steps, func(s mma.Stage, sums [][]termSet) {
			q.Stage0, q.Stage1 = s, mma.Stage{}
			if n == 1 {
				f(q)
				return
			}
			x.stage(x.withAccumulator(&q, leaf, mma.SumFirst, mma.SumLast, sums), func(t mma.Stage, _ [][]termSet) {
				q.Stage1 = t
				f(q)
			})
		})
	}
}

// withAccumulator returns the terms of every step, or sums of them, with the accumulator
// among them if the program's leaf is there.
func (x *shapes) withAccumulator(p *mma.Params, leaf, first, last mma.Leaf, sums [][]termSet) [][]termSet {
	lanes, tail := x.steps(p)
	var all [][]termSet
	add := func(acc termSet, step []termSet, terms []termSet) {
		switch {
		case p.Start != mma.StartC:
		case leaf == first:
			terms = slices.Insert(slices.Clone(terms), 0, acc)
		case leaf == last:
			terms = append(slices.Clip(terms), acc)
		}
		all = append(all, terms)
	}
	chain := func(acc termSet, steps [][]termSet) termSet {
		for _, step := range steps {
			terms := step
			if sums != nil {
				terms = sums[len(all)]
			}
			add(acc, step, terms)
			acc = acc.union(unionOf(step))
		}
		return acc
	}
	var before termSet
	for r, steps := range lanes {
		acc := termSet{}
		if r == 0 && p.Start == mma.StartC {
			acc = x.c
		}
		before = before.union(chain(acc, steps))
	}
	chain(before, tail)
	return all
}

// stage calls f with the stages whose sums fit in every step, and these sums.
func (x *shapes) stage(steps [][]termSet, f func(s mma.Stage, sums [][]termSet)) {
	n := 0
	for _, s := range steps {
		n = max(n, len(s))
	}
	if n < 2 {
		return
	}
	try := func(s mma.Stage) {
		all := make([][]termSet, len(steps))
		for i, terms := range steps {
			for len(terms) > 0 {
				next, ok := x.level(s, terms)
				if !ok {
					return
				}
				if terms = next; !s.Deep || len(terms) == 1 {
					break
				}
			}
			all[i] = terms
		}
		f(s, all)
	}
	if x.nodes == nil {
		try(mma.Stage{Sum: mma.Fused, Split: mma.Interleaved, Group: uint8(n)}) // every term is cut alone
	}
	for _, size := range sizes(n) {
		for _, split := range []mma.Split{mma.Adjacent, mma.Interleaved} {
			group := uint8(size)
			if size == n {
				group = 0
			}
			if size == 1 || size == n && split == mma.Interleaved {
				continue
			}
			for sum := mma.Fused; sum <= mma.PairHalves; sum++ {
				try(mma.Stage{Sum: sum, Split: split, Group: group})
			}
			if size < n {
				try(mma.Stage{Sum: mma.Fused, Split: split, Group: group, Deep: true})
			}
			if size == n {
				try(mma.Stage{Sum: mma.Sequential, Sort: mma.Rising})
				try(mma.Stage{Sum: mma.Sequential, Sort: mma.Falling})
			}
		}
	}
}

// level sums groups of sets as a stage does, if the sums fit.
func (x *shapes) level(s mma.Stage, terms []termSet) ([]termSet, bool) {
	var sums []termSet
	for _, member := range grouping.Of(&s, terms) {
		sum, ok := x.group(s, member)
		if !ok {
			return nil, false
		}
		sums = append(sums, sum)
	}
	return sums, true
}

// group sums a group of sets.
func (x *shapes) group(s mma.Stage, member []termSet) (termSet, bool) {
	n := len(member)
	switch {
	case s.Sum == mma.Fused || s.Sort != mma.Unsorted:
		sum := unionOf(member)
		return sum, x.fits(sum)
	case s.Sum == mma.Sequential || n < 3:
		return x.merge(0, member)
	case s.Sum == mma.Pairwise:
		return x.merge(mma.MergeNeighbours(n), member)
	}
	for ; n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			member[i] = member[i].union(member[i+(n+1)/2])
			if !x.fits(member[i]) {
				return termSet{}, false
			}
		}
	}
	return member[0], true
}

// arithmetics appends a program of a shape with the roundings and alignments that decide
// whether its sums swamp small terms, if it is valid.
func (x *shapes) arithmetics(all []mma.Params, p mma.Params) []mma.Params {
	wide := fp.FP32
	if x.D == fp.FP64 {
		wide = fp.FP64
	}
	round := mma.To(wide, fp.RNE)
	window := mma.Align{F: round.Frac + 1, Mode: fp.RZ}
	directs := []bool{true, false} // rounded to D's format at every step, or at the end
	if x.D == wide {
		directs = directs[:1]
	}
	for _, join := range []mma.Align{window, {}} {
		p.Join.Align = join
		for _, direct := range directs {
			p.Acc, p.Out = round, mma.To(x.D, fp.RNE)
			if direct {
				p.Acc, p.Out = p.Out, mma.Round{}
			}
			if p.Late = (mma.Round{}); p.LateAdds(x.Formats) {
				p.Late = p.Acc
			}
			for _, s := range kinds(p.Stage0, window, round) {
				for _, t := range kinds(p.Stage1, window, round) {
					q := p
					q.Stage0, q.Stage1 = s, t
					if x.Valid(&q) {
						all = append(all, q)
					}
				}
			}
		}
	}
	return all
}

// kinds returns a stage made exact, aligned, and rounded.
func kinds(s mma.Stage, window mma.Align, round mma.Round) []mma.Stage {
	if s.Sum == mma.Off {
		return []mma.Stage{s}
	}
	exact, aligned, rounded := s, s, s
	aligned.Align, rounded.Round = window, round
	if s.Sum != mma.Fused { // exact sums have no order
		return []mma.Stage{rounded, aligned}
	}
	return []mma.Stage{aligned, exact, rounded}
}
