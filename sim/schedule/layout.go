package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Area is the elements of D, some rows in some columns, that have one plan.
type Area struct {
	Rows, Columns []int
	Plan          *Plan
}

const (
	maxSize = 1 << 28 // M, N and K
	maxOps  = 1 << 22 // operations and products of all plans of a product
)

// Layout returns the plans of a product of a shape, and where in D each is used. Every
// element is in one area.
func (k *Kernel) Layout(s Shape, given Given) ([]Area, error) {
	if err := k.takes(s); err != nil {
		return nil, err
	}
	rows := groups(s.M, func(n int) string { return k.membership(n, 0) })
	columns := groups(s.N, func(n int) string { return k.membership(n, 1) })
	plans := plans{k: k, shape: s, given: given, made: map[string]*Plan{}}
	var areas []Area
	for _, r := range rows {
		for _, c := range columns {
			p, err := plans.at(r[0], c[0])
			if err != nil {
				return nil, err
			}
			areas = append(areas, Area{r, c, p})
		}
	}
	return areas, sameFormats(areas)
}

// PlansAt returns the plans of some elements, each a row and a column; elements with the same
// order of summation have the same one.
func (k *Kernel) PlansAt(s Shape, given Given, at [][2]int) ([]*Plan, error) {
	if err := k.takes(s); err != nil {
		return nil, err
	}
	plans := plans{k: k, shape: s, given: given, made: map[string]*Plan{}}
	all := make([]*Plan, len(at))
	for i, e := range at {
		var err error
		if all[i], err = plans.at(e[0], e[1]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// plans are the plans of a product, each made once.
type plans struct {
	k     *Kernel
	shape Shape
	given Given
	made  map[string]*Plan
	ops   int
}

// at returns the plan of an element.
func (p *plans) at(row, column int) (*Plan, error) {
	n := p.k.scheduleOf(row, column)
	if n < 0 {
		return nil, fmt.Errorf("no schedule has element (%d,%d): give the last one no \"where\"", row, column)
	}
	s := &p.k.Schedules[n]
	cuts := s.cutsOf(p.shape, row, column)
	key := fmt.Sprint(n, cuts)
	if plan := p.made[key]; plan != nil {
		return plan, nil
	}
	plan, err := p.k.plan(s, p.shape.K, cuts, p.given)
	if err != nil {
		return nil, err
	}
	p.made[key] = plan
	if p.ops += len(plan.Ops) + p.shape.K; p.ops > maxOps && len(p.made) > 1 {
		return nil, fmt.Errorf("the product has more than %d different orders of summation: it is too large for this schedule", len(p.made))
	}
	return plan, nil
}

// sameFormats returns an error if the units of a product do not have their operands, or the
// plans their results, in the same formats.
func sameFormats(areas []Area) error {
	var first *mma.Instruction
	for _, a := range areas {
		if d := areas[0].Plan.D; a.Plan.D != d {
			return fmt.Errorf("one schedule gives %s, another %s", d, a.Plan.D)
		}
		for _, op := range a.Plan.Ops {
			switch {
			case op.K == nil:
			case first == nil:
				first = op.Unit
			case op.Unit.A != first.A || op.Unit.B != first.B || op.Unit.Scale != first.Scale || op.Unit.Block != first.Block || op.Unit.Down != first.Down:
				return fmt.Errorf("one unit takes %s, another %s", first.Formats, op.Unit.Formats)
			}
		}
	}
	return nil
}

// takes returns an error if a kernel is not for a shape.
func (k *Kernel) takes(s Shape) error {
	for _, side := range []struct {
		name string
		n    int
		set  Set
	}{{"M", s.M, k.When.M}, {"N", s.N, k.When.N}, {"K", s.K, k.When.K}} {
		if side.n < 1 || side.n > maxSize {
			return fmt.Errorf("%s is %d, not in 1..%d", side.name, side.n, maxSize)
		}
		if !side.set.Has(side.n) {
			return hint.New(fmt.Sprintf(`"when" in its file says so: without it the schedule is computed for other shapes, too, whether it holds for them or not; mmafuzz infer --shape %dx%dx%d finds that of this one`, s.M, s.N, s.K),
				"the kernel is for %s = %s, not %d", side.name, side.set, side.n)
		}
	}
	if k.NeedsUnit() {
		return errors.New("the kernel has no unit: name one")
	}
	if err := k.checkPreparation(); err != nil {
		return fmt.Errorf("operands: %w", err)
	}
	return nil
}

// groups returns the numbers below n, those with the same key together.
func groups(n int, key func(int) string) [][]int {
	number := map[string]int{}
	var all [][]int
	for i := range n {
		id := key(i)
		g, ok := number[id]
		if !ok {
			g = len(all)
			number[id] = g
			all = append(all, nil)
		}
		all[g] = append(all[g], i)
	}
	return all
}

// membership tells rows (side 0) or columns (side 1) apart that schedules tell apart.
func (k *Kernel) membership(n, side int) string {
	var id strings.Builder
	for i := range k.Schedules {
		s := &k.Schedules[i]
		for _, w := range s.Where {
			if []Set{w.Rows, w.Columns}[side].Has(n) {
				id.WriteByte('1')
			} else {
				id.WriteByte('0')
			}
		}
		if c := s.stream(); c != nil {
			fmt.Fprintf(&id, "/%d", n/c.Tile[side])
		}
	}
	return id.String()
}

// scheduleOf returns the number of the schedule of an element; -1: none.
func (k *Kernel) scheduleOf(row, column int) int {
	return slices.IndexFunc(k.Schedules, func(s Schedule) bool {
		return len(s.Where) == 0 || slices.ContainsFunc(s.Where, func(w Where) bool { return w.Rows.Has(row) && w.Columns.Has(column) })
	})
}

// stream returns the level of stream-K, if there is one.
func (s *Schedule) stream() *Cut {
	if len(s.Levels) > 0 && s.Levels[0].Cut.By == "stream" {
		return &s.Levels[0].Cut
	}
	return nil
}

// cutsOf returns the numbers of products after which stream-K cuts the tile of an element.
func (s *Schedule) cutsOf(shape Shape, row, column int) (cuts []int) {
	c := s.stream()
	if c == nil {
		return nil
	}
	grain := max(c.Grain, 1)
	each := ceil(shape.K, grain)
	across := ceil(shape.N, c.Tile[1])
	first := (row/c.Tile[0]*across + column/c.Tile[1]) * each
	total := ceil(shape.M, c.Tile[0]) * across * each
	for w := ceil(first*c.N, total); w < c.N; w++ { // worker w begins at w*total/c.N
		at := w*total/c.N - first
		if at >= each {
			break
		}
		if at > 0 {
			cuts = append(cuts, at*grain)
		}
	}
	return cuts
}
