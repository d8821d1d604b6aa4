package kernel

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"iter"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

const maxDepth = 5 // levels of a schedule

// alternatives is how many schedules with the same partial sums of K products are tried. Short sums
// have more for their length: a library takes wide vectors, then narrow ones, then the last products.
func alternatives(k int) int { return max(64, 4096/k) }

// enumeration looks for the schedules that have the partial sums of an element.
type enumeration struct {
	ctx context.Context
	*sums
	work   int             // products that were looked at
	failed map[uint64]bool // sequences and depths that have no schedule
	more   bool            // there may be schedules that were not listed
}

// spent reports whether the enumeration has to end.
func (e *enumeration) spent() bool { return e.work > e.most() || e.ctx.Err() != nil }

// most is at how many products an enumeration looks: ten times as many as the schedules of libraries take.
func (e *enumeration) most() int { return 1<<26 + len(e.keys)<<17 }

// levels returns the schedules of so many levels that have the partial sums: each is a list
// of levels. seqs are the sequences of products that are left to them.
func (e *enumeration) levels(seqs [][]int32, depth int) (all [][]schedule.Level) {
	if depth == 0 {
		if !slices.ContainsFunc(seqs, func(seq []int32) bool { return !e.chain(seq) }) {
			all = [][]schedule.Level{nil}
		}
		return all
	}
	if depth == 1 && e.width == 1 {
		all = e.permuted(seqs)
	}
	id := identity(seqs, depth, e.width)
	if e.failed[id] {
		return nil
	}
	seen := map[string]bool{}
	for _, f := range e.frames(seqs) {
		if slices.ContainsFunc(seqs, func(seq []int32) bool { return !e.keeps(f, seq) }) {
			continue
		}
		for _, c := range e.cuts(seqs, f, depth) {
			for _, s := range seqs {
				e.work += len(s)
			}
			if e.spent() {
				return all
			}
			f.Cut = c
			for _, m := range e.level(seqs, f) {
				if key := e.cutKey(f.Tail, m); seen[key] {
					continue
				} else {
					seen[key] = true
				}
				for _, inner := range e.levels(m.parts, depth-1) {
					f.Merge = schedule.Merge{Order: m.order}
					all = append(all, append([]schedule.Level{f}, inner...))
				}
				if len(all) >= alternatives(len(e.keys)) {
					e.more = true
					return all
				}
			}
		}
	}
	e.failed[id] = len(all) == 0
	return all
}

// identity stands for sequences in their order, a depth and a width.
func identity(seqs [][]int32, depth, width int) uint64 {
	h := uint64(depth)<<32 | uint64(width)
	for _, s := range seqs {
		for _, k := range s {
			h = (h ^ uint64(k) + 1) * 0x9e3779b97f4a7c15
			h ^= h >> 29
		}
		h = (h ^ 1<<40) * 0x9e3779b97f4a7c15
	}
	return h
}

// cutKey tells levels apart that cut the same sequences in other ways.
func (s *sums) cutKey(t *schedule.Tail, m merged) string {
	h := fnv.New64a()
	for _, p := range m.parts {
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, s.key(p)+uint64(len(p))))
	}
	into := ""
	if t != nil && (t.Into == "after" || t.Into == "apart") {
		into = fmt.Sprint(t.Into, t.Front)
	}
	if t != nil && t.Reverse { // the same sets in another order
		into += " reverse"
	}
	return fmt.Sprint(into, m.order, len(m.parts), h.Sum64())
}

// chain reports whether a sequence is added by one accumulator in order.
func (s *sums) chain(seq []int32) bool { return s.goesOn(0, 0, seq) }

// goesOn reports whether an accumulator goes on from a sum of n products in order.
func (s *sums) goesOn(key uint64, n int, seq []int32) bool {
	for i, k := range seq {
		key ^= s.keys[k]
		if s.lost != nil && s.keys[k] == absent {
			continue
		}
		if s.keys[k] == absent || ((i+1)%s.width == 0 || i == len(seq)-1) && !s.has(key, n+i+1) {
			return false
		}
	}
	return true
}

// permuted returns the levels by which one accumulator adds sequences in an order that is another than their
// own, one for each such order.
func (e *enumeration) permuted(seqs [][]int32) (all [][]schedule.Level) {
	seen := map[string]bool{}
	for _, levels := range append(e.reversed(seqs), permutations()...) {
		same, order := true, []byte(nil)
		if slices.ContainsFunc(seqs, func(seq []int32) bool {
			got := permute(levels, seq)
			same = same && slices.Equal(got, seq)
			for _, k := range got {
				order = binary.LittleEndian.AppendUint32(order, uint32(k))
			}
			return !e.chain(got)
		}) || same || seen[string(order)] {
			continue
		}
		seen[string(order)] = true
		all = append(all, levels)
	}
	return all
}

// reversed returns levels by which one accumulator adds runs last first, the longest first: those of one sequence,
// whose first run joins all that is added before it at once.
func (e *enumeration) reversed(seqs [][]int32) (all [][]schedule.Level) {
	if len(seqs) != 1 || len(seqs[0]) == 0 || e.lost != nil {
		return nil
	}
	seq := seqs[0]
	joined := e.joined[seq[0]]
	if len(joined) == 0 || len(joined[0]) == len(seq)-1 { // the first product is added last
		return nil
	}
	run := slices.Index(seq, slices.Min(joined[0]))
	for _, c := range []schedule.Cut{{By: "size", N: run}, {By: "size", N: len(seq) - run, Rest: "first"}} {
		all = append(all, []schedule.Level{{Cut: c, Merge: schedule.Merge{Order: "chain-reverse"}}})
	}
	return all
}

// permutations returns levels that add products in another order: last first, lane after lane, and runs whose
// own products are last first.
func permutations() [][]schedule.Level {
	reverse := schedule.Level{Cut: schedule.Cut{By: "size", N: 1}, Merge: schedule.Merge{Order: "chain-reverse"}}
	all := [][]schedule.Level{{reverse}}
	for n := 2; n <= 64; n++ {
		for vector := 1; vector <= 16; vector *= 2 {
			all = append(all, []schedule.Level{{Cut: schedule.Cut{By: "lanes", N: n, Vector: vector}, Merge: schedule.Merge{Order: "chain"}}})
		}
	}
	for n := 2; n <= 64; n++ {
		run := schedule.Cut{By: "size", N: n}
		all = append(all, []schedule.Level{{Cut: run, Merge: schedule.Merge{Order: "chain"}}, reverse},
			[]schedule.Level{{Cut: run, Merge: schedule.Merge{Order: "chain-reverse"}}})
	}
	return all
}

// permute returns the order in which one accumulator adds a sequence.
func permute(levels []schedule.Level, seq []int32) []int32 {
	if len(levels) == 0 {
		return seq
	}
	parts, _, _ := levels[0].Parts(seq, nil)
	parts = slices.Clone(parts)
	if levels[0].Merge.Order == "chain-reverse" {
		slices.Reverse(parts)
	}
	for i, p := range parts {
		parts[i] = permute(levels[1:], p)
	}
	return slices.Concat(parts...)
}

// frames returns levels without their cuts: what may be done apart, nothing first.
func (e *enumeration) frames(seqs [][]int32) (all []schedule.Level) {
	for _, head := range e.heads(seqs) {
		for _, t := range e.tails(seqs, head) {
			all = append(all, schedule.Level{Head: head, Tail: t})
		}
	}
	for _, t := range e.tails(seqs, 0)[1:] {
		for _, other := range otherEnds(t) {
			all = append(all, schedule.Level{Tail: other})
		}
	}
	return all
}

// otherEnds returns a tail with what is rarer: it is first, goes to the last lanes, or is added last first.
func otherEnds(t *schedule.Tail) (all []*schedule.Tail) {
	if t.Into == "drop" {
		return nil
	}
	lanes := t.Into == "lane" || t.Into == "deal"
	for _, front := range []bool{false, true} {
		for _, last := range []bool{false, true} {
			for _, reverse := range []bool{false, true} {
				if last && !lanes || reverse && t.Into == "deal" || !(front || last || reverse) {
					continue
				}
				other := *t
				other.Front, other.Last, other.Reverse = front, last, reverse
				all = append(all, &other)
			}
		}
	}
	return all
}

// usual reports whether a tail is none of otherEnds.
func usual(t *schedule.Tail) bool { return t == nil || !t.Front && !t.Last && !t.Reverse }

// heads returns how many products the first lane may have before its own, if there is one sequence: all
// that it adds in order but for one of its vectors.
func (e *enumeration) heads(seqs [][]int32) []int {
	const most = 64
	all := []int{0}
	if len(seqs) != 1 || len(seqs[0]) == 0 { // a lane of an outer level may have nothing left
		return all
	}
	seq, run := seqs[0], 1
	for _, g := range e.joined[seq[0]] {
		if len(g) != 1 || run == len(seq) || g[0] != seq[run] {
			break
		}
		run++
	}
	for vector := 1; run < min(len(seq), most) && vector < min(run, 32); vector *= 2 {
		all = append(all, run-vector)
	}
	return all
}

// tails returns what may be done apart after so many products: nothing first. Of several that mean the
// same the first is taken.
func (s *sums) tails(seqs [][]int32, head int) []*schedule.Tail {
	all := []*schedule.Tail{nil}
	seen := map[string]bool{}
	intos := []string{"lane", "deal", "after", "apart"}
	if len(s.present) < len(s.keys) && s.lost == nil {
		intos = append(intos, "drop")
	}
	for _, of := range tailLengths(len(intos) > 4) {
		var rests strings.Builder
		any := false
		for _, seq := range seqs {
			left := max(0, len(seq)-head) % of
			any = any || left > 0
			rests.WriteString(strconv.Itoa(left) + " ")
		}
		if !any || seen[rests.String()] {
			continue
		}
		seen[rests.String()] = true
		for _, into := range intos {
			all = append(all, &schedule.Tail{Of: of, Into: into})
		}
	}
	return all
}

// tailLengths returns of what the last products may be left over, powers of two first.
func tailLengths(dropped bool) (all []int) {
	for of := 2; of <= 1024; of *= 2 {
		all = append(all, of)
	}
	most := 64
	if dropped {
		most = 1024
	}
	for of := 3; of <= most; of++ {
		if of&(of-1) != 0 {
			all = append(all, of)
		}
	}
	return all
}

// cuts returns the cuts that the longest sequence may have, before so many levels with this one. The first
// part of each is a partial sum of the first product, which another partial sum joins; in the last level
// it is a chain.
func (e *enumeration) cuts(seqs [][]int32, f schedule.Level, depth int) (all []schedule.Cut) {
	seq := slices.MaxFunc(seqs, func(x, y []int32) int { return len(x) - len(y) })
	head, body := f.Split(seq)
	main, rest := f.Tail.Cut(body)
	root := e.firstOf(seq) // of the first part
	own := len(head) == 0
	if t := f.Tail; t != nil && t.Front && len(rest) > 0 && len(main) > 0 {
		if own = t.Last || t.Into == "after" || t.Into == "apart"; own {
			root = e.firstOf(main)
		}
	}
	at := make([]int, len(e.keys)) // where in main, from 1
	keys := make([]uint64, 1+len(main))
	for i, k := range main {
		at[k], keys[i+1] = i+1, keys[i]^e.keys[k]
	}
	e.work += len(seq)
	const short = 64 // all partial sums are tried
	first := make([]bool, len(main))
	size := 1
	if e.lost != nil { // each has the products before it
		size += e.absentIn(seq)
	}
	for _, g := range append(slices.Clone(e.joined[root]), nil) {
		if len(main) > 0 && own {
			first[0] = true
		}
		if size >= len(seq) || len(main) == 0 {
			break
		}
		if first[0] && (len(g) > 1 || size <= 2 || len(seq) <= short) {
			for _, c := range e.cutsOf(first, main, len(g)) {
				if !usual(f.Tail) && c.By == "size" { // one run for each lane
					c = schedule.Cut{By: "lanes", N: (len(main) + c.N - 1) / c.N, Vector: c.N}
				}
				if c.By == "lanes" || usual(f.Tail) && len(head) == 0 && e.runs(&c, f.Tail, leading(e.filled(first, main)), keys, len(seq)-len(main)) {
					all = append(all, c)
				}
			}
		}
		for _, k := range g {
			if i := at[k]; i > 0 {
				first[i-1] = true
			}
		}
		if depth == 1 && len(g) > e.width {
			break
		}
		size += len(g)
	}
	e.work += len(all) * len(seq)
	all = slices.DeleteFunc(all, func(c schedule.Cut) bool {
		f.Cut = c
		parts, _, _ := f.Parts(seq, nil)
		return len(parts) < 2 || slices.ContainsFunc(parts, func(p []int32) bool { return !e.has(e.key(p), len(p)) })
	})
	if f.Tail != nil && f.Tail.Into == "drop" { // what is left need not be cut
		all = slices.Insert(all, 0, schedule.Cut{By: "size", N: len(seq)})
	}
	for i := range all { // what is the default is not said
		c := &all[i]
		if c.Grain == 1 {
			c.Grain = 0
		}
		if c.Vector == 1 {
			c.Vector = 0
		}
	}
	return all
}

// firstOf returns the first product of a sequence that is added.
func (s *sums) firstOf(seq []int32) int32 {
	return seq[max(0, slices.IndexFunc(seq, func(k int32) bool { return s.lost == nil || s.keys[k] != absent }))]
}

// absentIn returns how many products of a sequence are absent.
func (s *sums) absentIn(seq []int32) (n int) {
	for _, k := range seq {
		if s.keys[k] == absent {
			n++
		}
	}
	return n
}

// filled returns the members of a first part with those absent products that follow one of them.
func (s *sums) filled(first []bool, main []int32) []bool {
	if s.lost == nil {
		return first
	}
	all := slices.Clone(first)
	for i, k := range main {
		if s.keys[k] == absent {
			all[i] = i == 0 || all[i-1]
		}
	}
	return all
}

// cutsOf returns the cuts of a sequence whose first part has some members. Whether it has those that are absent is
// not known: those that follow others are taken for members, and for none.
func (s *sums) cutsOf(first []bool, main []int32, next int) []schedule.Cut {
	all := cutsOf(first, next)
	if s.lost != nil {
		all = append(cutsOf(s.filled(first, main), next), all...)
	}
	return all
}

// keeps reports whether a tail of a sequence may be what it says, whatever is done to the others.
func (e *enumeration) keeps(f schedule.Level, seq []int32) bool {
	head, body := f.Split(seq)
	main, rest := f.Tail.Cut(body)
	t := f.Tail
	if len(head) > 0 {
		main = seq[:len(head)+len(main)]
	}
	return t == nil || t.Into == "lane" || t.Into == "deal" || e.tail(t, main, rest)
}

// runs reports whether the first run of a cut has so many products, and the others are partial sums: keys
// are those of the first products of the sequence, and the first runs get what is left of it.
func (e *enumeration) runs(c *schedule.Cut, t *schedule.Tail, first int, keys []uint64, left int) bool {
	whole := 1
	if t != nil && t.Into == "deal" {
		whole = max(1, left)
	}
	from := 0
	for i, end := range append(c.Ends(len(keys)-1), len(keys)-1) {
		e.work++
		if end = min(end, len(keys)-1); i == 0 && end != first || i >= whole && end > from && !e.has(keys[end]^keys[from], end-from) {
			return false
		}
		from = max(from, end)
	}
	return true
}

// leading returns how many members begin a sequence.
func leading(first []bool) int { return slices.Index(append(slices.Clone(first), false), false) }

// cutsOf returns the cuts of a sequence whose first part has some members, where the next
// part may have next products.
func cutsOf(first []bool, next int) (all []schedule.Cut) {
	n := len(first)
	run := leading(first)
	second := slices.Index(first[run:], true)
	if second >= 0 {
		if (run+second)%run == 0 {
			all = append(all, schedule.Cut{By: "lanes", N: (run + second) / run, Vector: run})
		}
		return all
	}
	if run == n {
		return nil
	}
	all = append(all, schedule.Cut{By: "size", N: run})
	if next > run {
		all = append(all, schedule.Cut{By: "size", N: next, Rest: "first"})
	}
	if n > run && n%run > 0 {
		for _, rest := range []string{"halve", "halve-down"} {
			for grain := 1; grain <= 64; grain *= 2 {
				all = append(all, schedule.Cut{By: "size", N: run, Rest: rest, Grain: grain})
			}
		}
	}
	if parts := (n + run - 1) / run; parts <= 64 {
		if run*parts > n { // a lane of fewer products than its vector
			all = append(all, schedule.Cut{By: "lanes", N: parts, Vector: run})
		}
		for grain := 1; grain <= 128; grain *= 2 {
			all = append(all, schedule.Cut{By: "count", N: parts, Grain: grain}, schedule.Cut{By: "spread", N: parts, Grain: grain})
		}
	}
	return append(all, halvings(n, run)...)
}

// halvings returns the pairwise cuts of n products whose first part has run.
func halvings(n, run int) (all []schedule.Cut) {
	for grain := 1; grain <= 64; grain *= 2 {
		for _, rest := range []string{"", "halve"} {
			c := schedule.Cut{By: "pairwise", N: run, Rest: rest, Grain: grain}
			above, left := 0, n // the left halves
			for left > run {
				above, left = left, c.Half(left)
			}
			if left != run {
				continue
			}
			for _, most := range thresholds(slices.Collect(nodes(&c, n)), run, above) {
				c.N = most
				all = append(all, c)
			}
		}
	}
	return all
}

// nodes are the numbers of products that are halved, and of those that are not.
func nodes(c *schedule.Cut, n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		work := []int{n}
		for len(work) > 0 && yield(work[0]) {
			if half := c.Half(work[0]); half > 0 {
				work = append(work, half, work[0]-half)
			}
			work = work[1:]
		}
	}
}

// thresholds returns numbers from run to below above that part sizes in different ways, each a power of two
// if one of those that do it in the same way is.
func thresholds(sizes []int, run, above int) (all []int) {
	sizes = slices.DeleteFunc(append(sizes, run), func(n int) bool { return n < run || n >= above })
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	for i, n := range sizes {
		next := above
		if i+1 < len(sizes) {
			next = sizes[i+1]
		}
		if power := 1 << bits.Len(uint(n-1)); power < next {
			n = power
		}
		all = append(all, n)
	}
	return all
}

// merged is an order in which partial sums are added, and what is left to inner levels.
type merged struct {
	order string
	parts [][]int32
}

// level returns the orders in which the partial sums of a level may be added.
func (s *sums) level(seqs [][]int32, l schedule.Level) (all []merged) {
	var inner [][]int32
	var cut [][][]int32 // the parts of each sequence
	for _, seq := range seqs {
		parts, main, rest := l.Parts(seq, nil)
		if !s.tail(l.Tail, main, rest) {
			return nil
		}
		for _, p := range parts {
			if !s.has(s.key(p), len(p)) {
				return nil
			}
		}
		cut = append(cut, parts)
		inner = append(inner, parts...)
	}
	orders := []string{"forward"}
	most := slices.MaxFunc(cut, func(x, y [][]int32) int { return len(x) - len(y) })
	switch {
	case len(most) == 1:
		orders[0] = "chain"
	case l.Cut.By == "pairwise":
		if !slices.ContainsFunc(seqs, func(seq []int32) bool { return !s.pairwise(&l.Cut, seq) }) {
			all = append(all, merged{"pairwise", inner})
		}
		return all
	case len(most) > 2:
		orders = append(orders, "reverse")
		if d := s.distances(most); d != "" {
			orders = append(orders, d)
		}
	}
	// The first products are added to the sum of the others, as where memory is not aligned before.
	if l.Cut.Rest == "first" && len(most) == 2 && !slices.ContainsFunc(cut, func(parts [][]int32) bool {
		return len(parts) != 2 || !s.goesOn(s.key(parts[1]), len(parts[1]), parts[0])
	}) {
		all = append(all, merged{"chain-reverse", inner})
	}
	for _, order := range orders {
		if !slices.ContainsFunc(cut, func(parts [][]int32) bool { return !s.inOrder(parts, order) }) {
			all = append(all, merged{order, inner})
		}
	}
	return all
}

// tail reports whether a tail is added as it says; its own sums are a chain.
func (s *sums) tail(t *schedule.Tail, main, rest []int32) bool {
	if len(rest) == 0 {
		return true
	}
	key := s.key(main)
	switch {
	case t.Into == "drop":
		return !slices.ContainsFunc(rest, func(k int32) bool { return s.keys[k] != absent })
	case !s.has(key, len(main)):
		return false
	case t.Into == "apart":
		return s.chain(rest) && s.has(key^s.key(rest), len(main)+len(rest))
	}
	return s.goesOn(key, len(main), rest)
}

// inOrder reports whether parts are added in an order.
func (s *sums) inOrder(parts [][]int32, order string) bool {
	keys, sizes := s.keysOf(parts)
	distances, _ := (&schedule.Merge{Order: order}).Distances(len(parts))
	if distances == nil {
		if order == "reverse" {
			slices.Reverse(keys)
			slices.Reverse(sizes)
		}
		for i := 1; i < len(keys); i++ {
			if keys[i], sizes[i] = keys[i]^keys[i-1], sizes[i]+sizes[i-1]; !s.has(keys[i], sizes[i]) {
				return false
			}
		}
		return true
	}
	left := positions(len(parts))
	for _, d := range distances {
		var ok bool
		if left, ok = s.step(keys, sizes, left, d); !ok {
			return false
		}
	}
	return len(left) == 1
}

// pairwise reports whether the halves of a sequence, and their halves, are partial sums.
func (s *sums) pairwise(c *schedule.Cut, seq []int32) bool {
	half := c.Half(len(seq))
	return s.has(s.key(seq), len(seq)) && (half == 0 || s.pairwise(c, seq[:half]) && s.pairwise(c, seq[half:]))
}

func (s *sums) keysOf(parts [][]int32) (keys []uint64, sizes []int) {
	for _, p := range parts {
		keys = append(keys, s.key(p))
		sizes = append(sizes, len(p))
	}
	return keys, sizes
}

// step adds the parts that are left at a distance, in keys and sizes, and returns those that
// are left then; ok is false if one of the sums is none that was read.
func (s *sums) step(keys []uint64, sizes, left []int, d int) (after []int, ok bool) {
	gone := map[int]bool{}
	for _, i := range left {
		if gone[i] {
			continue
		}
		after = append(after, i)
		if j := i + d; slices.Contains(left, j) && !gone[j] {
			gone[j] = true
			if keys[i], sizes[i] = keys[i]^keys[j], sizes[i]+sizes[j]; !s.has(keys[i], sizes[i]) {
				return nil, false
			}
		}
	}
	return after, len(after) < len(left)
}

// distances returns the order in which parts are added as a tree, "" if there is none.
func (s *sums) distances(parts [][]int32) string {
	if len(parts) > 1024 {
		return ""
	}
	keys, sizes := s.keysOf(parts)
	found := s.tree(keys, sizes, positions(len(parts)), nil)
	if found == nil {
		return ""
	}
	words := make([]string, len(found))
	for i, d := range found {
		words[i] = strconv.Itoa(d)
	}
	order := strings.Join(words, "-")
	for _, name := range []string{"neighbours", "halves"} {
		if named, _ := (&schedule.Merge{Order: name}).Distances(len(parts)); slices.Equal(named, found) {
			return name
		}
	}
	return order
}

func (s *sums) tree(keys []uint64, sizes, left, so []int) []int {
	if len(left) == 1 {
		return so
	}
	for d := 1; d < len(keys); d *= 2 {
		if slices.Contains(so, d) {
			continue
		}
		k, n := slices.Clone(keys), slices.Clone(sizes)
		after, ok := s.step(k, n, left, d)
		if !ok {
			continue
		}
		if found := s.tree(k, n, after, append(slices.Clone(so), d)); found != nil {
			return found
		}
	}
	return nil
}
