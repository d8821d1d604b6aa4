package oracle

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Element is the operands of one element of a matrix product, as codes.
type Element struct {
	schedule.Shape
	Row, Column    int
	A, B           []uint64 // a row of A and a column of B
	SA, SB         []uint64 // their scales of the instruction, by block
	ScaleA, ScaleB []uint64 // their scales of the kernel, by block along K
	Given          schedule.Given
	C              uint64
	Alpha, Beta    uint64
	Bias           uint64
}

// EvalKernel returns the code of an element of D that a valid kernel gives, and its format.
// It follows the words of package schedule one product after the other, without a Plan.
func EvalKernel(k *schedule.Kernel, e *Element) (uint64, fp.ID) {
	j := judge{k: k, e: e, tail: map[int]*mma.Instruction{}}
	for i := range k.Schedules {
		if s := &k.Schedules[i]; j.s == nil && applies(s, e.Row, e.Column) {
			j.s = s
		}
	}
	j.own = cmp.Or(j.s.Unit, k.Unit)
	j.unit, _ = j.own.Resolve()
	all := make([]int, e.K)
	for i := range all {
		all[i] = i
	}
	start := j.empty(j.own, j.unit.D)
	if k.CFirst && e.Given.C {
		start = number{code: e.C, id: j.unit.D}
	}
	d := j.epilogue(j.sum(0, all, start))
	return d.code, d.id
}

func applies(s *schedule.Schedule, row, column int) bool {
	for _, w := range s.Where {
		if w.Rows.Has(row) && w.Columns.Has(column) {
			return true
		}
	}
	return len(s.Where) == 0
}

// judge computes one element.
type judge struct {
	k    *schedule.Kernel
	e    *Element
	s    *schedule.Schedule
	own  *schedule.Unit
	unit *mma.Instruction
	tail map[int]*mma.Instruction // by k: what adds the last products to the accumulators of others
}

// number is a code and its format.
type number struct {
	code  uint64
	id    fp.ID
	start string // of the unit, if nothing was added yet
}

// empty is an accumulator to which nothing was added.
func (j *judge) empty(u *schedule.Unit, d fp.ID) number {
	if u.Start == "" {
		return number{id: d}
	}
	return number{d.Get().SignBit(), d, u.Start}
}

// muladd is x*y + z, rounded once.
func (j *judge) muladd(x, y, z number, d fp.ID, r schedule.Rounding) number {
	x, y, z = floating(x, d), floating(y, d), floating(z, d)
	i, err := schedule.Arithmetic(x.id, y.id, d, r, j.unit)
	if err != nil {
		panic(err) // a kernel that has a Layout has no such step
	}
	dot := &mma.Dot{A: []uint64{x.code}, B: []uint64{y.code}, C: j.to(z, d).code}
	return number{code: Eval(&i.Params, i.Formats, 1, dot), id: d}
}

// floating is a sum of integers in a format of floating-point numbers, FP32 or FP64.
func floating(x number, d fp.ID) number {
	switch n := int32(x.code); {
	case !x.id.Integer() || d.Integer():
		return x
	case d == fp.FP64:
		return number{code: math.Float64bits(float64(n)), id: d}
	default:
		return number{code: uint64(math.Float32bits(float32(n))), id: d}
	}
}

func one(id fp.ID) number         { return number{code: id.Get().FromFloat64(1), id: id} }
func nothing(id fp.ID) number     { return number{code: id.Get().SignBit(), id: id} }
func (j *judge) side() (id fp.ID) { return schedule.Side(j.unit.D) }
func (j *judge) times(x, y number, d fp.ID) number {
	return j.muladd(x, y, nothing(d), d, schedule.Rounding{})
}

// to is x rounded to a format; None: as it is.
func (j *judge) to(x number, d fp.ID) number {
	if d == fp.None || d == x.id {
		return x
	}
	if x.id.Integer() {
		return floating(x, d)
	}
	return j.times(x, one(x.id), d)
}

// add is acc + x, after both are in a format.
func (j *judge) add(acc, x number, d fp.ID) number {
	return j.muladd(x, one(x.id), j.to(acc, d), d, schedule.Rounding{})
}

// chain is a unit's sum of a sequence of products, one step after the other.
func (j *judge) chain(u *mma.Instruction, seq []int, acc number) number {
	missing := func(k int) bool { return len(j.s.Missing) > 0 && j.s.Missing.Has(k) }
	if u.K == 1 {
		seq = slices.DeleteFunc(slices.Clone(seq), missing)
	}
	if acc.start == "second" && len(seq) > 1 {
		seq = append([]int{seq[1], seq[0]}, seq[2:]...)
	}
	for len(seq) > 0 {
		step := seq[:min(u.K, len(seq))]
		seq = seq[len(step):]
		dot := mma.NewDot(u.Formats, u.K)
		dot.C = j.to(acc, u.D).code
		for i, k := range step {
			if !missing(k) {
				dot.A[i], dot.B[i] = j.operands(u, k)
			}
		}
		for b := range dot.SA {
			one := u.Scale.Get().FromFloat64(1)
			dot.SA[b], dot.SB[b] = one, one
			for _, k := range step[min(b*int(u.Block), len(step)):min((b+1)*int(u.Block), len(step))] {
				if !missing(k) { // all of a block have one scale
					dot.SA[b], dot.SB[b] = j.e.SA[k/int(u.Block)], j.e.SB[k/int(u.Block)]
				}
			}
		}
		acc = number{code: Eval(&u.Params, u.Formats, u.K, dot), id: u.D}
	}
	return acc
}

// operands are the elements of A and B at k, dequantized if the kernel does that, and rounded to formats without
// infinities.
func (j *judge) operands(u *mma.Instruction, k int) (a, b uint64) {
	a, b = j.dequantized(u, k)
	own := j.k.FirstUnit()
	return j.rounded(own.CastA, a, u.A), j.rounded(own.CastB, b, u.B)
}

// rounded is an operand after a cast to a format without infinities, or one with a factor; other casts are the unit's.
func (j *judge) rounded(c *schedule.Cast, code uint64, id fp.ID) uint64 {
	if c == nil || c.Format.Get().HasInf() && c.Factor == 0 {
		return code
	}
	plain := *j // of which no unit flushes subnormal numbers
	plain.unit = &mma.Instruction{}
	x := number{code: code, id: id}
	if c.Factor != 0 {
		x = plain.times(x, number{code: uint64(math.Float32bits(float32(c.Factor))), id: fp.FP32}, fp.FP32)
	}
	x = plain.muladd(x, one(x.id), nothing(c.Format), c.Format, schedule.Rounding{Round: c.Round, Saturate: c.Saturate})
	return plain.to(x, id).code
}

func (j *judge) dequantized(u *mma.Instruction, k int) (a, b uint64) {
	a, b = j.e.A[k], j.e.B[k]
	q := j.k.Dequantize
	if q == nil {
		return a, b
	}
	scale := func(codes []uint64, b *schedule.Blocks) number {
		n := 0
		if b.K > 0 {
			n = k / b.K
		}
		return number{code: codes[n], id: j.side()}
	}
	first := *j // whose unit says what becomes of subnormal numbers
	first.unit, _ = j.k.FirstUnit().Resolve()
	a = first.times(number{code: a, id: q.A}, scale(j.e.ScaleA, j.k.ScaleA), u.A).code
	return a, first.times(number{code: b, id: q.B}, scale(j.e.ScaleB, j.k.ScaleB), u.B).code
}

// sum is the sum of a sequence of products by the levels from n on.
func (j *judge) sum(n int, seq []int, start number) number {
	if n == len(j.s.Levels) {
		acc := start
		for len(seq) > 0 {
			u, same := j.tail[seq[0]], 1
			for same < len(seq) && j.tail[seq[same]] == u {
				same++
			}
			acc = j.chain(cmp.Or(u, j.unit), seq[:same], acc)
			seq = seq[same:]
		}
		return j.to(acc, j.unit.D)
	}
	l := &j.s.Levels[n]
	head := seq[:min(l.Head, len(seq))]
	seq = seq[len(head):]
	var rest []int
	if l.Tail != nil {
		seq, rest = leftOver(l.Tail, seq)
	}
	if l.Merge.Order == "pairwise" {
		d := cmp.Or(l.Merge.Format, j.unit.D)
		return j.to(j.halves(n, seq, start, d), cmp.Or(l.Merge.Store, d))
	}
	parts := j.parts(&l.Cut, seq)
	parts[0] = append(slices.Clone(head), parts[0]...)
	if l.Tail != nil && (l.Tail.Into == "lane" || l.Tail.Into == "deal") {
		var u *mma.Instruction
		if l.Tail.Unit != nil {
			u, _ = l.Tail.Unit.Resolve()
		}
		more := make([][]int, len(parts))
		for i, k := range rest {
			if u != nil {
				j.tail[k] = u
			}
			if l.Tail.Last { // counted from the end
				i = len(rest) - 1 - i
			}
			i %= len(parts)
			if l.Tail.Into == "lane" {
				i = 0
			}
			if l.Tail.Last {
				i = len(parts) - 1 - i
			}
			more[i] = append(more[i], k)
		}
		for i, own := range parts {
			if parts[i] = append(own, more[i]...); l.Tail.Front {
				parts[i] = append(more[i], own...)
			}
		}
		rest = nil
	}
	sum := j.merge(n, parts, start)
	if len(rest) == 0 || l.Tail.Into == "drop" {
		return sum
	}
	own, u := j.own, j.unit
	if l.Tail.Unit != nil {
		own = l.Tail.Unit
		u, _ = own.Resolve()
	}
	if l.Tail.Into == "after" {
		return j.to(j.chain(u, rest, sum), sum.id)
	}
	apart := j.chain(u, rest, j.empty(own, u.D))
	return j.to(j.add(sum, apart, cmp.Or(l.Tail.Format, sum.id)), sum.id)
}

// leftOver cuts the products of a tail off a sequence.
func leftOver(t *schedule.Tail, seq []int) (whole, rest []int) {
	for at, k := range seq {
		if t.Front && at < len(seq)%t.Of || !t.Front && at >= len(seq)/t.Of*t.Of {
			rest = append(rest, k)
		} else {
			whole = append(whole, k)
		}
	}
	if t.Reverse {
		slices.Reverse(rest)
	}
	return whole, rest
}

// halves is the sum of a sequence that is halved while it has more than N products.
func (j *judge) halves(n int, seq []int, start number, d fp.ID) number {
	l := &j.s.Levels[n]
	if len(seq) > l.Cut.N {
		if at := middle(&l.Cut, len(seq)); at < len(seq) {
			x := j.halves(n, seq[:at], start, d)
			y := j.halves(n, seq[at:], j.empty(j.own, j.unit.D), d)
			return j.to(j.add(x, y, d), l.Merge.Store)
		}
	}
	return j.scaled(&l.Merge, seq, j.to(j.sum(n+1, seq, start), l.Merge.Parts), d)
}

// middle is where a sequence of n is halved: at the last whole grain of its first half, or at the first
// beyond. A half without any grain is no half.
func middle(c *schedule.Cut, n int) int {
	grain := max(c.Grain, 1)
	at := (n - n%2) / 2
	if c.Rest == "halve" {
		at = n - at
		for at%grain > 0 {
			at++
		}
		return at
	}
	if at -= at % grain; at == 0 {
		return n
	}
	return at
}

// parts gives each product of a sequence the number of its part. Only lanes can be empty.
func (j *judge) parts(c *schedule.Cut, seq []int) [][]int {
	var parts [][]int
	if c.By == "lanes" {
		parts = make([][]int, c.N)
	}
	last := -1
	for at, k := range seq {
		n := j.partOf(c, at, len(seq))
		if c.By != "lanes" && n != last {
			parts = append(parts, nil)
			last = n
		}
		if c.By != "lanes" {
			n = len(parts) - 1
		}
		parts[n] = append(parts[n], k)
	}
	if len(parts) == 0 {
		parts = [][]int{nil}
	}
	return parts
}

// partOf returns the number of the part that product at of n belongs to. Numbers may be left
// out.
func (j *judge) partOf(c *schedule.Cut, at, n int) int {
	grain := max(c.Grain, 1)
	grains := (n + grain - 1) / grain
	switch c.By {
	case "lanes":
		return at / max(c.Vector, 1) % c.N
	case "pairwise": // the parts are told apart by where they begin
		from := 0
		for n > c.N {
			half := middle(c, n)
			switch {
			case half >= n:
				return from
			case at < half:
				n = half
			default:
				from, at, n = from+half, at-half, n-half
			}
		}
		return from
	case "count":
		return at / ((grains + c.N - 1) / c.N * grain)
	case "spread":
		return owner(at/grain, grains, c.N)
	case "stream":
		tiles := func(n, side int) int { return (n + side - 1) / side }
		across := tiles(j.e.N, c.Tile[1])
		tile := j.e.Row/c.Tile[0]*across + j.e.Column/c.Tile[1]
		return owner(tile*grains+at/grain, tiles(j.e.M, c.Tile[0])*across*grains, c.N)
	}
	switch short := n % c.N; {
	case c.Rest == "first" && short > 0 && at < short:
		return 0
	case c.Rest == "first":
		return 1 + (at-short)/c.N
	case c.Rest != "halve" && c.Rest != "halve-down" || short == 0 || n < c.N || at < n-short-c.N:
		return at / c.N
	default: // the last run and the short one are halved
		left := short + c.N
		half := left / 2
		if c.Rest == "halve" {
			half = (left + 1) / 2
		}
		half = (half + grain - 1) / grain * grain
		if at < n-left+half {
			return n/c.N - 1
		}
		return n / c.N
	}
}

// owner returns the number of the last of n workers whose work begins at or before item at
// of all.
func owner(at, all, n int) int {
	w := 0
	for w+1 < n && (w+1)*all/n <= at {
		w++
	}
	return w
}

// merge is the sum of the parts of level n.
func (j *judge) merge(n int, parts [][]int, start number) number {
	m := &j.s.Levels[n].Merge
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
		if m.Order == "reverse" || m.Order == "chain-reverse" {
			order[i] = len(parts) - 1 - i
		}
	}
	if m.Chain() {
		acc := start
		for _, i := range order {
			if acc = j.sum(n+1, parts[i], acc); concerns(m.Only, i, len(parts)) {
				acc = j.to(acc, m.Store)
			}
			acc = j.to(acc, j.unit.D)
		}
		return acc
	}
	d := cmp.Or(m.Format, j.unit.D)
	result := cmp.Or(m.Store, d)
	if m.Only != "" {
		result = d
	}
	partial := func(i int) number {
		begin := j.empty(j.own, j.unit.D)
		if i == order[0] {
			begin = start
		}
		p := j.sum(n+1, parts[i], begin)
		if concerns(m.Only, i, len(parts)) {
			p = j.to(p, m.Parts)
		}
		return p
	}
	if distances, _ := m.Distances(len(parts)); distances != nil {
		return j.to(j.tree(0, distances, len(parts), m, d, func(i int) number { return j.scaled(m, parts[i], partial(i), d) }), result)
	}
	acc := number{code: 0, id: d}
	for at, i := range order {
		p := partial(i)
		switch {
		case at == 0 && m.Start == "":
			acc = j.scaled(m, parts[i], p, d)
		case m.Fused:
			x, y := j.factors(m, parts[i], p, d)
			acc = j.muladd(x, y, acc, d, schedule.Rounding{})
		default:
			acc = j.add(acc, j.scaled(m, parts[i], p, d), d)
		}
		if concerns(m.Only, i, len(parts)) {
			acc = j.to(acc, m.Store)
		}
	}
	return j.to(acc, result)
}

// concerns reports whether what a merge says of some parts only is true of part i of n, from 0 on.
func concerns(only string, i, n int) bool {
	if only == "" {
		return true
	}
	name, others := strings.CutPrefix(only, "not-")
	one := n
	if name != "last" {
		one, _ = strconv.Atoi(name) // validated
	}
	return (i+1 == one) != others
}

// tree is part i after all distances: a part whose number has the bit of a distance is added
// to the one that differs in this bit.
func (j *judge) tree(i int, distances []int, n int, m *schedule.Merge, d fp.ID, part func(int) number) number {
	if len(distances) == 0 {
		return part(i)
	}
	last := len(distances) - 1
	sum := j.tree(i, distances[:last], n, m, d, part)
	if other := i | 1<<(bits.Len(uint(distances[last]))-1); other < n {
		sum = j.to(j.add(sum, j.tree(other, distances[:last], n, m, d, part), d), m.Store)
	}
	return sum
}

// relu is max(x, 0), and what else becomes zero.
func relu(x number, zeroes string) number {
	v := x.id.Get().Float64(x.code)
	if v < 0 || v != v && strings.HasSuffix(zeroes, "nan") || v == 0 && strings.HasPrefix(zeroes, "-0") {
		x.code = 0
	}
	return x
}

// factors are the last two factors of a scaled partial sum.
func (j *judge) factors(m *schedule.Merge, part []int, p number, d fp.ID) (x, y number) {
	scale := func(codes []uint64, b *schedule.Blocks) number {
		if b.K == 0 || len(part) == 0 {
			return number{code: codes[0], id: j.side()}
		}
		return number{code: codes[part[0]/b.K], id: j.side()}
	}
	a, b := scale(j.e.ScaleA, j.k.ScaleA), scale(j.e.ScaleB, j.k.ScaleB)
	switch m.Scale {
	case "sa*(sb*p)":
		return a, j.times(b, p, d)
	case "sb*(sa*p)":
		return b, j.times(a, p, d)
	}
	return j.times(a, b, d), p
}

func (j *judge) scaled(m *schedule.Merge, part []int, p number, d fp.ID) number {
	if m.Scale == "" {
		return p
	}
	x, y := j.factors(m, part, p, d)
	return j.times(x, y, d)
}

// epilogue is what becomes of the sum.
func (j *judge) epilogue(x number) number {
	e := j.e
	alpha, beta, bias := number{code: e.Alpha, id: j.side()}, number{code: e.Beta, id: j.side()}, number{code: e.Bias, id: j.side()}
	c := number{code: e.C, id: j.unit.D}
	for _, s := range j.k.Epilogue {
		d := cmp.Or(s.Format, x.id)
		alpha, beta := alpha, beta
		if s.Factor != 0 {
			alpha.code = j.side().Get().FromFloat64(s.Factor)
			beta.code = alpha.code
		}
		none := nothing(d)
		switch s.Op {
		case "cast":
			x = j.muladd(x, one(x.id), none, d, s.Rounding)
		case "relu":
			x = relu(j.muladd(x, one(x.id), none, d, s.Rounding), s.Zeroes)
		case "alpha":
			x = j.muladd(x, alpha, none, d, s.Rounding)
		case "scale-a":
			x = j.muladd(x, number{code: e.ScaleA[0], id: j.side()}, none, d, s.Rounding)
		case "scale-b":
			x = j.muladd(x, number{code: e.ScaleB[0], id: j.side()}, none, d, s.Rounding)
		case "scale-ab":
			x = j.muladd(j.times(number{code: e.ScaleA[0], id: j.side()}, number{code: e.ScaleB[0], id: j.side()}, d), x, none, d, s.Rounding)
		case "alpha-beta":
			if e.Given.C {
				none = j.times(c, beta, d)
			}
			x = j.muladd(x, alpha, none, d, s.Rounding)
		case "bias":
			if e.Given.Bias {
				x = j.muladd(bias, one(bias.id), x, d, s.Rounding)
			}
		case "c":
			if e.Given.C {
				x = j.muladd(c, one(c.id), x, d, s.Rounding)
			}
		case "beta-c":
			if e.Given.C {
				x = j.muladd(c, beta, x, d, s.Rounding)
			}
		case "beta-c-mul":
			if e.Given.C {
				product := j.times(c, beta, d)
				x = j.muladd(product, one(d), x, d, s.Rounding)
			}
		}
	}
	return x
}
