package kernel

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// shapeRange is the shapes that are drawn for two sides.
type shapeRange struct {
	of   [3][]schedule.Set // M, N and K: each set has them
	Ks   []int             // nil: any K
	most int               // products of all elements
}

// mostK is the largest K that is drawn.
const mostK = 1 << 14

// shapesOf returns the shapes that both sides take.
func shapesOf(sides ...*Side) (*shapeRange, error) {
	s := &shapeRange{most: mostTerms}
	for _, side := range sides {
		if side.Kernel != nil {
			w := side.Kernel.When
			s.of[0], s.of[1], s.of[2] = append(s.of[0], w.M), append(s.of[1], w.N), append(s.of[2], w.K)
			continue
		}
		s.most = mostSlow
		s.of[2] = append(s.of[2], schedule.SetOf(slices.Sorted(maps.Keys(side.Box))))
		for _, u := range side.Box {
			for i, r := range []mma.Range{u.Instruction().M, u.Instruction().N} {
				if r != (mma.Range{}) {
					s.of[i] = append(s.of[i], schedule.Set{{First: r.Min, Last: r.Max, Step: max(r.Step, 1)}})
				}
			}
		}
	}
	if slices.ContainsFunc(s.of[2], func(k schedule.Set) bool { return len(k) > 0 }) {
		for k := 1; k <= mostK; k++ {
			if s.takes(2, k) {
				s.Ks = append(s.Ks, k)
			}
		}
		if s.Ks == nil {
			return nil, errors.New("the sides have no K in common")
		}
	}
	if !s.takes(0, s.fitting(0, 1)) || !s.takes(1, s.fitting(1, 1)) {
		return nil, errors.New("the sides have no number of rows, or of columns, in common")
	}
	return s, nil
}

// takes reports whether both sides take a number of rows (side 0), columns (1) or products (2).
func (s *shapeRange) takes(side, n int) bool {
	return n > 0 && !slices.ContainsFunc(s.of[side], func(set schedule.Set) bool { return !set.Has(n) })
}

// fitting returns the number nearest to n that both sides take; n if there is none.
func (s *shapeRange) fitting(side, n int) int {
	for d := range mostK {
		switch {
		case s.takes(side, n-d):
			return n - d
		case s.takes(side, n+d):
			return n + d
		}
	}
	return n
}

// draw draws a shape: many small and skinny ones, some deep; K aligned and not.
func (s *shapeRange) draw(rng *rand.Rand) schedule.Shape {
	log := func(most int) int { return int(math.Exp(rng.Float64() * math.Log(float64(most)+0.99))) }
	for {
		shape := schedule.Shape{M: log(64), N: log(64), K: log(2048)}
		switch rng.IntN(8) {
		case 0:
			shape.M = 1
		case 1:
			shape.N = 1
		case 2:
			shape.M, shape.N, shape.K = min(shape.M, 3), min(shape.N, 3), log(mostK)
		}
		if align := []int{1, 1, 8, 64}[rng.IntN(4)]; shape.K > align {
			shape.K -= shape.K % align
		}
		if s.Ks != nil {
			shape.K = s.Ks[rng.IntN(len(s.Ks))]
		}
		shape.M, shape.N = s.fitting(0, shape.M), s.fitting(1, shape.N)
		if shape.M*shape.N*shape.K <= s.most || s.Ks != nil {
			return shape
		}
	}
}
