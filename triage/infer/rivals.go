package infer

import (
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// Rival is a program that differs in one decision from the one that was found.
type Rival struct {
	Changes []mma.Change // from the program found
	// Dot is an input on which the two differ; nil if none was found. Got is what
	// the unit answered, which is what the program found gives, Would what the rival
	// gives.
	Dot        *mma.Dot
	Got, Would uint64
	Tried      int // inputs on which the two were compared

	p mma.Params
}

// Path is the parameter that a rival is about.
func (r *Rival) Path() string { return r.Changes[0].Path }

// rivalsOf returns the programs that differ from p in one decision: the knobs of
// package triage, and the neighbours of all numbers that p has.
func (sp *space) rivalsOf(p *mma.Params) []*Rival {
	var all []*Rival
	seen := map[mma.Params]bool{*p: true}
	add := func(q mma.Params) {
		if !seen[q] && sp.valid(&q) {
			seen[q] = true
			all = append(all, &Rival{Changes: mma.Diff(p, &q), p: q})
		}
	}
	for _, f := range mma.Fields() {
		v := f.Int(p)
		if v == 0 || f.Values() != nil || strings.HasSuffix(f.Path, ".widen") {
			continue
		}
		for _, w := range []int{v - 1, v + 1} {
			q := *p
			if f.SetInt(&q, w); f.Int(&q) == w && w != 0 {
				add(q)
			}
		}
	}
	for _, s := range triage.Singles(*p, sp.Formats, sp.k) {
		add(s.Params)
	}
	return all
}
