package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Plan is a schedule for one K as a list of operations, each of which gives a value. The
// last value is the element of D.
type Plan struct {
	Ops  []Op
	D    fp.ID  // format of the last value
	Name string // of the schedule
}

// Op is an operation: a run of a unit, or x*y + z.
type Op struct {
	Unit *mma.Instruction
	// K is the products of a run, in order, -1 for a zero that fills up a step; its length is
	// a multiple of Unit.K, and Z is what the accumulator starts from. nil: x*y + z.
	K       []int32
	X, Y, Z Ref
	Relu    Relu   // what of the result becomes +0
	What    string // the operation in words, such as "block 2 of 7, k 128..191"
}

// Ref is an operand of an operation.
type Ref struct {
	Kind RefKind
	N    int    // Value: number of the operation; ScaleA, ScaleB: number of the block along K
	Code uint64 // Factor: its code
}

// RefKind says what an operand is.
type RefKind uint8

// The operands. Alpha, Beta, Factor, Bias and scales have the format Side.
const (
	Zero    RefKind = iota // +0
	NegZero                // -0: x + -0 is x
	One
	Value
	C
	Alpha
	Beta
	Factor // a number of the kernel
	Bias
	ScaleA
	ScaleB
)

// Side is the format of factors and bias beside a unit with results in d.
func Side(d fp.ID) fp.ID {
	if d == fp.FP64 {
		return fp.FP64
	}
	return fp.FP32
}

// Shape is the sizes of a product: A is M x K, B is K x N.
type Shape struct{ M, N, K int }

// planner writes the plan of a schedule.
type planner struct {
	k     *Kernel
	s     *Schedule
	unit  *mma.Instruction
	own   *Unit // what unit was made of
	side  fp.ID
	cuts  []int // of stream-K: where this tile is cut
	ops   []Op
	err   error
	given Given
	units map[conversion]*mma.Instruction // of arithmetic
	tails map[int32]*mma.Instruction      // by k: the unit of a tail in the accumulators of the others
}

// conversion is what Arithmetic makes an instruction of, beside what all of a plan has.
type conversion struct {
	x, y, d fp.ID
	Rounding
}

// Given is which operands of an epilogue there are: steps with the others are left out.
type Given struct{ C, Bias bool }

// value is an operand and its format.
type value struct {
	Ref
	id     fp.ID
	second bool // nothing was added yet, and of the first two products the second comes first
}

// plan returns the plan of a schedule for K products.
func (k *Kernel) plan(s *Schedule, depth int, cuts []int, given Given) (*Plan, error) {
	p := &planner{k: k, s: s, own: cmp.Or(s.Unit, k.Unit), cuts: cuts, given: given, units: map[conversion]*mma.Instruction{}, tails: map[int32]*mma.Instruction{}}
	if p.own == nil {
		return nil, errors.New("the kernel has no unit: name one")
	}
	var err error
	if p.unit, err = p.own.Resolve(); err != nil {
		return nil, err
	}
	p.side = Side(p.unit.D)
	all := make([]int32, depth)
	for i := range all {
		all[i] = int32(i)
	}
	start := begin(p.own, p.unit.D)
	if k.CFirst && given.C {
		start = value{Ref: Ref{Kind: C}, id: p.unit.D}
	}
	sum := p.sum(s.Levels, all, start, "")
	d := p.epilogue(sum)
	if p.err != nil && s.Name != "" {
		p.err = fmt.Errorf("schedule %s: %w", s.Name, p.err)
	}
	return &Plan{p.ops, d, s.Name}, p.err
}

// begin is an accumulator to which nothing was added.
func begin(u *Unit, d fp.ID) value {
	kind := NegZero
	if u.Start == "" {
		kind = Zero
	}
	return value{Ref{Kind: kind}, d, u.Start == "second"}
}

// emit appends an operation and returns its value.
func (p *planner) emit(op Op, d fp.ID) value {
	p.ops = append(p.ops, op)
	return value{Ref: Ref{Kind: Value, N: len(p.ops) - 1}, id: d}
}

// arithmetic appends x*y + z in a format.
func (p *planner) arithmetic(x, y value, z Ref, d fp.ID, r Rounding, what string) value {
	x, y = p.floating(x, d, what), p.floating(y, d, what)
	of := conversion{x.id, y.id, d, r}
	u := p.units[of]
	if u == nil {
		var err error
		if u, err = Arithmetic(x.id, y.id, d, r, p.unit); err != nil && p.err == nil {
			p.err = fmt.Errorf("%s: %w", what, err)
		}
		p.units[of] = u
	}
	return p.emit(Op{Unit: u, X: x.Ref, Y: y.Ref, Z: z, What: what}, d)
}

// floating returns an integer operand of arithmetic in a format of floating-point numbers, in that format.
func (p *planner) floating(x value, d fp.ID, what string) value {
	if !x.id.Integer() || d.Integer() {
		return x
	}
	if x.Kind == Zero || x.Kind == NegZero || x.Kind == One {
		return value{Ref: x.Ref, id: d}
	}
	u, err := converted(x.id, d)
	if err != nil && p.err == nil {
		p.err = fmt.Errorf("%s: %w", what, err)
	}
	return p.emit(Op{Unit: u, X: x.Ref, Y: Ref{Kind: One}, Z: Ref{Kind: NegZero}, What: phrase(what, "to "+d.String())}, d)
}

// convert rounds a value to a format.
func (p *planner) convert(x value, d fp.ID, what string) value {
	if x.id == d || d == fp.None {
		return x
	}
	if x.id.Integer() && !d.Integer() {
		return p.floating(x, d, what)
	}
	return p.arithmetic(x, value{Ref: Ref{Kind: One}, id: x.id}, Ref{Kind: NegZero}, d, Rounding{}, phrase(what, "to "+d.String()))
}

// add appends the sum of two values.
func (p *planner) add(acc, x value, d fp.ID, what string) value {
	acc = p.convert(acc, d, what)
	return p.arithmetic(x, value{Ref: Ref{Kind: One}, id: x.id}, acc.Ref, d, Rounding{}, what)
}

// run appends a run of a unit, or lengthens that of the accumulator on which it goes on.
func (p *planner) run(u *mma.Instruction, k []int32, start value, what string) value {
	if len(k) == 0 {
		return start
	}
	start = p.convert(start, u.D, what)
	steps := p.added(k, u.K)
	if start.second && len(steps) > 1 {
		steps[0], steps[1] = steps[1], steps[0]
	}
	if len(steps) == 0 {
		return start
	}
	for len(steps)%u.K > 0 {
		steps = append(steps, -1)
	}
	p.checkScales(u, steps)
	last := len(p.ops) - 1
	if start.Kind == Value && start.N == last && p.ops[last].K != nil && p.ops[last].Unit == u {
		p.ops[last].K = append(p.ops[last].K, steps...)
		return start
	}
	return p.emit(Op{Unit: u, K: steps, Z: start.Ref, What: what}, u.D)
}

// added returns the products of a run that are not missing, with zeros for these where a unit adds several at a time.
func (p *planner) added(ks []int32, width int) (all []int32) {
	for _, k := range ks {
		switch missing := len(p.s.Missing) > 0 && p.s.Missing.Has(int(k)); {
		case !missing:
			all = append(all, k)
		case width > 1:
			all = append(all, -1)
		}
	}
	return all
}

// checkScales notes an error if products that share a scale of the instruction would come
// from several blocks of A and B.
func (p *planner) checkScales(u *mma.Instruction, steps []int32) {
	if u.Scale == fp.None || p.err != nil {
		return
	}
	block := int(u.Block)
	for of := range slices.Chunk(steps, block) {
		first := of[max(0, slices.IndexFunc(of, func(k int32) bool { return k >= 0 }))]
		for _, k := range of {
			if k >= 0 && int(k)/block != int(first)/block {
				p.err = fmt.Errorf("k %d and %d would share a scale of %s, but belong to two blocks of %d: cut K at multiples of it", first, k, u.FullName(), block)
			}
		}
	}
}

// sum appends the sum of a sequence of products and returns its value.
func (p *planner) sum(levels []Level, seq []int32, start value, path string) value {
	if len(levels) == 0 {
		return p.leaf(seq, start, path)
	}
	l := &levels[0]
	parts, _, rest := l.Parts(seq, p.cuts)
	if t := l.Tail; t != nil && t.Unit != nil && (t.Into == "lane" || t.Into == "deal") {
		u, _ := t.Unit.Resolve() // validated
		_, body := l.Split(seq)
		_, left := t.Cut(body)
		for _, k := range left {
			p.tails[k] = u
		}
	}
	products := len(parts) == len(seq) && l.Merge.Chain()
	m := merger{p, l, levels[1:], parts, start, path, make([]string, len(parts)), products}
	sum := m.merge()
	if len(rest) > 0 {
		sum = p.tail(l, sum, rest, path)
	}
	return sum
}

// leaf appends runs of one accumulator, each by a unit.
func (p *planner) leaf(seq []int32, acc value, path string) value {
	for len(seq) > 0 {
		u := p.tails[seq[0]]
		n := slices.IndexFunc(seq, func(k int32) bool { return p.tails[k] != u })
		if n < 0 {
			n = len(seq)
		}
		acc = p.run(cmp.Or(u, p.unit), seq[:n], acc, phrase(path, kRange(seq[:n])))
		seq = seq[n:]
	}
	return p.convert(acc, p.unit.D, path)
}

// tail appends what becomes of the products of a tail.
func (p *planner) tail(l *Level, sum value, rest []int32, path string) value {
	t, d := l.Tail, sum.id
	own, u := p.own, p.unit
	if t.Unit != nil {
		own = t.Unit
		u, _ = t.Unit.Resolve() // validated
	}
	what := phrase(path, "tail, "+kRange(rest))
	switch t.Into {
	case "after":
		return p.convert(p.run(u, rest, sum, what), d, what)
	case "apart":
		x := p.run(u, rest, begin(own, u.D), what)
		return p.convert(p.add(sum, x, cmp.Or(t.Format, d), phrase(what, "add")), d, what)
	}
	return sum
}

// merger appends the partial sums of a level and their sum.
type merger struct {
	*planner
	l      *Level
	inner  []Level
	parts  [][]int32
	start  value
	prefix string
	names  []string // of the parts that have been asked for
	single bool     // it is the order of an accumulator's products, not of parts
}

func (m *merger) merge() value {
	o := &m.l.Merge
	if o.Chain() {
		return m.chain()
	}
	d := cmp.Or(o.Format, m.unit.D)
	if o.Order == "pairwise" {
		n, part := 0, 0
		for _, p := range m.parts {
			n += len(p)
		}
		return m.convert(m.pairwise(n, &part, d), cmp.Or(o.Store, d), phrase(m.prefix, "sum"))
	}
	distances, _ := o.Distances(len(m.parts))
	if distances == nil {
		acc := m.sequential(d)
		if o.Only == "" {
			d = cmp.Or(o.Store, d)
		}
		return m.convert(acc, d, phrase(m.prefix, "sum"))
	}
	sums := make([]value, len(m.parts))
	left := make([]bool, len(m.parts))
	for i := range sums {
		sums[i], left[i] = m.partial(i, i == 0, d), true
	}
	for _, dist := range distances {
		for i := range sums {
			if i+dist < len(sums) && left[i] && left[i+dist] {
				sums[i], left[i+dist] = m.stored(sums[i], sums[i+dist], d, phrase(m.prefix, fmt.Sprintf("%s %d + %d", m.l.Cut.Part(), i+1, i+dist+1))), false
			}
		}
	}
	if n := slices.Index(left[1:], true); n >= 0 && m.err == nil {
		m.err = fmt.Errorf("the order %s does not add part %d of %d", o.Order, n+2, len(sums))
	}
	return m.convert(sums[0], cmp.Or(o.Store, d), phrase(m.prefix, "sum"))
}

// pairwise appends the sum of the next n products, which are one part or two halves; part is the number of
// the first.
func (m *merger) pairwise(n int, part *int, d fp.ID) value {
	half := m.l.Cut.Half(n)
	if half == 0 {
		*part++
		return m.partial(*part-1, *part == 1, d)
	}
	x := m.pairwise(half, part, d)
	y := m.pairwise(n-half, part, d)
	return m.stored(x, y, d, phrase(m.prefix, fmt.Sprintf("%d + %d products", half, n-half)))
}

// visited returns the numbers of the parts in the order in which they are summed.
func (m *merger) visited() []int {
	n := make([]int, len(m.parts))
	for i := range n {
		n[i] = i
	}
	if m.l.Merge.Order == "reverse" || m.l.Merge.Order == "chain-reverse" {
		slices.Reverse(n)
	}
	return n
}

func (m *merger) chain() value {
	acc := m.start
	for _, i := range m.visited() {
		acc = m.sum(m.inner, m.parts[i], acc, m.name(i))
		acc = m.rounded(acc, i, m.l.Merge.Store, phrase(m.name(i), "store"))
		acc = m.convert(acc, m.unit.D, phrase(m.name(i), "load"))
	}
	return acc
}

func (m *merger) sequential(d fp.ID) value {
	o := &m.l.Merge
	var acc value
	for n, i := range m.visited() {
		if n == 0 && o.Start == "" {
			acc = m.rounded(m.partial(i, true, d), i, o.Store, m.name(i))
			continue
		} else if n == 0 {
			acc = value{Ref: Ref{Kind: Zero}, id: d}
		}
		if o.Fused {
			x, y := m.factors(i, m.raw(i, n == 0), d)
			acc = m.arithmetic(x, y, m.convert(acc, d, m.name(i)).Ref, d, Rounding{}, phrase(m.name(i), "scale and add"))
			acc = m.rounded(acc, i, o.Store, phrase(m.name(i), "store"))
			continue
		}
		what := phrase(m.name(i), "add")
		acc = m.rounded(m.add(acc, m.partial(i, n == 0, d), d, what), i, o.Store, what)
	}
	return acc
}

// raw appends the partial sum of part i; the first of a level starts from what the level does.
func (m *merger) raw(i int, first bool) value {
	start := begin(m.own, m.unit.D)
	if first {
		start = m.start
	}
	return m.rounded(m.sum(m.inner, m.parts[i], start, m.name(i)), i, m.l.Merge.Parts, phrase(m.name(i), "partial sum"))
}

// partial appends the partial sum of part i, scaled.
func (m *merger) partial(i int, first bool, d fp.ID) value {
	x := m.raw(i, first)
	if m.l.Merge.Scale == "" {
		return x
	}
	f, y := m.factors(i, x, d)
	return m.arithmetic(f, y, Ref{Kind: NegZero}, d, Rounding{}, phrase(m.name(i), "scale"))
}

// factors returns the last two factors of a scaled partial sum.
func (m *merger) factors(i int, x value, d fp.ID) (f, y value) {
	block := func(kind RefKind, b *Blocks) value {
		r := Ref{Kind: kind}
		if b.K == 0 || len(m.parts[i]) == 0 {
			return value{Ref: r, id: m.side}
		}
		r.N = int(m.parts[i][0]) / b.K
		for _, k := range m.parts[i] {
			if int(k)/b.K != r.N && m.err == nil {
				m.err = fmt.Errorf("%s, k %d and %d have one scale, but belong to two blocks of %d", m.name(i), m.parts[i][0], k, b.K)
			}
		}
		return value{Ref: r, id: m.side}
	}
	a, b := block(ScaleA, m.k.ScaleA), block(ScaleB, m.k.ScaleB)
	product := func(x, y value) value {
		return m.arithmetic(x, y, Ref{Kind: NegZero}, d, Rounding{}, phrase(m.name(i), "scale"))
	}
	switch m.l.Merge.Scale {
	case "sa*(sb*p)":
		return a, product(b, x)
	case "sb*(sa*p)":
		return b, product(a, x)
	}
	return product(a, b), x
}

// stored appends the sum of two partial sums, as it is stored.
func (m *merger) stored(x, y value, d fp.ID, what string) value {
	return m.convert(m.add(x, y, d, what), m.l.Merge.Store, what)
}

// rounded rounds what belongs to part i to a format, if Only says so of this part.
func (m *merger) rounded(x value, i int, d fp.ID, what string) value {
	if !m.l.Merge.Rounds(i, len(m.parts)) {
		return x
	}
	return m.convert(x, d, what)
}

func (m *merger) name(i int) string {
	if len(m.parts) == 1 || m.single {
		return m.prefix
	}
	if m.names[i] == "" {
		m.names[i] = phrase(m.prefix, m.l.Cut.Part()+" "+strconv.Itoa(i+1)+" of "+strconv.Itoa(len(m.parts)))
	}
	return m.names[i]
}

// phrase appends words to the words of what they are part of.
func phrase(of, words string) string {
	if of == "" {
		return words
	}
	return of + ", " + words
}
