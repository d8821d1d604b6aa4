package study

import (
	"math"
	"math/big"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// This file bounds the error of a fused sum: of the cuts, as in bound.go, and of adders
// that deviate from an addition of integers. M, E, F and "by the bits" are those of
// bound.go; the grid of the adder has the unit u = 2^(E-F), or 2^(E-CF) if CF is above F.
//
// Negate. A term that is negated without the carry counts as larger by u. Where it is cut
// toward zero as well it is moved by u less what the cut takes: by at most u, or by what
// the cut takes if that is more. Otherwise it is moved by u and what the cut takes. Terms
// that certainly have the other sign are not negated; the sign of a sum that may be 0 is
// not known.
//
// Sticky. If a cut has taken anything, StickyBelow moves the sum by u/2, StickyLast by 0 or
// u, and StickyRound by less than anything that the next rounding can see: there is a 1
// below all grids, which costs nothing but what that rounding then does. By the bits there
// is no sticky bit if no term can be moved.
//
// Drop, CDrop. A term that may be below E-Drop loses at most M.
//
// CBeside. E is that of the other terms, unless all of them may be null: then it may be the
// accumulator's.
//
// CGrid. E is that of the accumulator, or if it may be null emin of D's format or the floor,
// whatever the other terms are.
//
// Apart. The terms of either sign are added and rounded before the two sums are added. Each
// of these roundings loses what rounding a number loses that lies in the sum of the terms'
// intervals. A term whose sign is not known may be on either side.
//
// Bits. A sum has no bound if M may be 2^Bits*u, u being that of the least E.

// alignment is what is known of the E of a fused sum: it is lo..hi, if any term has an
// exponent; sure: some term has.
type alignment struct {
	lo, hi     int
	null, sure bool
}

// align returns the alignment of terms. If beside is set, the last term is an accumulator
// that counts only if all others may be null.
func align(all []known, beside bool, floor int) alignment {
	a := alignment{null: true}
	least := math.MinInt
	count := func(t *known) {
		if t.null {
			return
		}
		if a.null {
			a.lo, a.hi, a.null = t.lo, t.hi, false
		}
		a.lo, a.hi = min(a.lo, t.lo), max(a.hi, t.hi)
		if t.sure {
			least, a.sure = max(least, t.lo), true
		}
	}
	others := all
	if beside {
		others = all[:len(all)-1]
	}
	for i := range others {
		count(&others[i])
	}
	if beside && !a.sure {
		acc, null := all[len(all)-1], a.null
		if !null {
			acc.sure = false // it may not count
		}
		count(&acc)
	}
	if floor != 0 {
		a.hi, least = max(a.hi, floor), max(least, floor)
	}
	a.lo = max(a.lo, least)
	return a
}

// gridOf returns the alignment of a sum whose E is that of the accumulator alone, if any
// term has an exponent.
func (e *bounder) gridOf(a alignment, acc *known, floor int) alignment {
	if a.null {
		return a
	}
	least := math.MinInt
	if floor != 0 {
		least = floor
	}
	zero := max(int(e.f.D.Get().Emin()), least)
	switch {
	case acc.null:
		a.lo, a.hi = zero, zero
	case acc.sure:
		a.lo, a.hi = max(acc.lo, least), max(acc.hi, least)
	default:
		a.lo, a.hi = min(max(acc.lo, least), zero), max(acc.hi, zero)
	}
	return a
}

// sum is a fused sum of terms and, unless it is nil, of an accumulator.
func (e *bounder) sum(terms []known, acc *known, j mma.Join) known {
	all, ref, top := terms, 0, j.Align.F
	if acc != nil {
		all = append(all[:len(all):len(all)], *acc)
		ref, top = len(all)-1, max(j.Align.F, j.CF)
	}
	beside, gridOfC := acc != nil && j.CBeside, acc != nil && j.CGrid
	a := align(all, beside, int(j.Align.Floor))
	if gridOfC {
		a = e.gridOf(a, acc, int(j.Align.Floor))
	}
	s := known{x: new(big.Int), err: new(big.Int), grid: anyGrid, lo: a.lo, hi: a.hi, null: a.null, sure: a.sure}
	for i := range all {
		s.x.Add(s.x, all[i].x)
		s.err.Add(s.err, all[i].err)
	}
	if s.null {
		s.sign = 0
		return s
	}
	unit, lost, losses := e.power(a.hi-int(top)), false, make([]*big.Int, len(all))
	for i := range all {
		t := &all[i]
		flips := j.Align.Negate != mma.NegateExact && e.mayFlip(all, i, ref, &j.Align)
		if t.null && e.byBits && !flips {
			continue
		}
		f, mode, drop := j.Align.F, j.Align.Mode, j.Align.Drop
		if acc != nil && i == ref {
			if j.CF != 0 {
				f = j.CF
			}
			if j.CMode != 0 {
				mode = j.CMode
			}
			if j.CDrop != 0 {
				drop = j.CDrop
			}
		}
		loss, grid := new(big.Int), t.grid
		if f != 0 && !(t.null && e.byBits) {
			loss = e.cutError(t, a.hi-int(f), mode)
			grid = max(grid, a.lo-int(f))
			if isC := i == ref; !(beside && isC) && !(gridOfC && !isC) { // E counts it
				grid = max(grid, t.lo-int(f))
			}
		}
		lost = lost || loss.Sign() != 0
		if flips {
			grid = min(grid, a.lo-int(top))
			if mode != fp.RZ {
				loss.Add(loss, unit)
			} else if loss.Cmp(unit) < 0 {
				loss = unit
			}
		}
		if drop != 0 && !t.null && (!t.sure || t.lo < a.hi-int(drop)) {
			if m := t.most(); m.Cmp(loss) > 0 {
				loss = m
			}
		}
		s.err.Add(s.err, loss)
		losses[i] = loss
		if !t.null || flips {
			s.grid = min(s.grid, grid)
		}
	}
	if j.Apart {
		e.apart(&s, all, losses, j)
	}
	if j.Align.Bits != 0 && s.most().Cmp(e.power(a.lo-int(top)+int(j.Align.Bits))) >= 0 {
		e.unbounded = true
	}
	if lost {
		e.stick(&s, j.Align.Sticky, a, int(top))
	}
	return s
}

// apart rounds the sums of the terms of either sign. losses are those of the terms.
func (e *bounder) apart(s *known, all []known, losses []*big.Int, j mma.Join) {
	next := j.Post
	if next == (mma.Round{}) {
		next = e.p.Acc
	}
	for _, sign := range []int{-1, 1} {
		side := known{x: new(big.Int), err: new(big.Int), grid: s.grid}
		for i := range all {
			t := &all[i]
			if losses[i] == nil { // it is null
				continue
			}
			switch t.signKnown() {
			case sign:
				side.x.Add(side.x, t.x)
				side.err.Add(side.err, t.err)
			case 0:
				side.err.Add(side.err, t.most())
			default:
				continue
			}
			side.err.Add(side.err, losses[i])
		}
		rounded := e.round(side, next)
		s.err.Add(s.err, rounded.err)
		s.err.Sub(s.err, side.err)
	}
}

// mayFlip reports whether term i may be negated without the carry. ref is the term whose
// sign decides where it is not that of the term alone.
func (e *bounder) mayFlip(all []known, i, ref int, a *mma.Align) bool {
	if !a.NegatesNull() && all[i].null && e.byBits {
		return false
	}
	if a.NegatesRelative() {
		r, t := all[ref].signKnown(), all[i].signKnown()
		return i != ref && (!e.byBits || r == 0 || t != r)
	}
	return !e.byBits || all[i].signKnown() <= 0
}

// signKnown is the sign of x'; 0: not known.
func (t *known) signKnown() int {
	if t.sign == 0 && t.least().Sign() > 0 {
		return t.x.Sign()
	}
	return t.sign
}

// stick adds a sticky bit to a sum that may have lost bits.
func (e *bounder) stick(s *known, sticky mma.Sticky, a alignment, top int) {
	moved := new(big.Int)
	switch sticky {
	case mma.StickyRound:
		moved, s.grid = big.NewInt(1), -anyGrid
	case mma.StickyBelow:
		moved, s.grid = e.power(a.hi-top-1), min(s.grid, a.lo-top-1)
	case mma.StickyLast:
		moved, s.grid = e.power(a.hi-top), min(s.grid, a.lo-top)
	}
	s.err.Add(s.err, moved)
}
