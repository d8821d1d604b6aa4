package selfcheck

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/testdata/madeup"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/change"
	"github.com/mmafuzz/mmafuzz/triage/prove"
	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// Changes drawn from the whole space: triage is presented with units that differ from an
// arithmetic in one, two or three changes, which are drawn from all values of all fields and
// not from the changes that triage tries.

// changesMost is the largest number of changes of a unit, changesCases how many units there
// are for each number of changes and each arithmetic, changesVersion the version of the draws.
const (
	changesMost    = 3
	changesCases   = 4
	changesVersion = 4
)

// heldOut is how many inputs of every generator must show no difference between the unit and
// the program that triage found. They are aimed at both, and triage has not seen them:
// heldOutSeed is their seed.
const (
	heldOut     = 2048
	heldOutSeed = 77
)

// ChangesArithmetics returns the arithmetics that are changed: two of each operation.
func ChangesArithmetics() []mma.Instruction {
	var some []mma.Instruction
	seen := map[string]int{}
	for _, i := range argued.Arithmetics() {
		if op := Operation(&i); seen[op] < 2 {
			seen[op]++
			some = append(some, i)
		}
	}
	return some
}

// drawn returns the unit of a case: an arithmetic after a number of drawn changes.
func drawn(i *mma.Instruction, changes, seed int) mma.Params {
	name := 0
	for _, c := range i.FullName() {
		name = name*31 + int(c)
	}
	r := rand.New(rand.NewPCG(uint64(name), uint64(changesVersion<<16|changes<<8|seed)))
	p := i.Params
	for range changes {
		p = drawChange(change.SpaceOf(i), p, r)
	}
	return p
}

// drawChange sets a field to a value drawn from its range. If the result is not valid, such
// as the width of a rounding without its mode, the fields of the same part that it needs are
// drawn too. A rounding that appears gets the exponent range of a format.
func drawChange(s change.Space, p mma.Params, r *rand.Rand) mma.Params {
	const tries = 40
	all := slices.DeleteFunc(slices.Clone(mma.Fields()), madeup.Newer) // so that a new field changes no draw
	for {
		f := all[r.IntN(len(all))]
		values := s.Range(&p, f)
		if len(values) == 0 {
			continue
		}
		q := p
		f.SetInt(&q, values[r.IntN(len(values))])
		for n := 0; n < tries && q != p; n++ {
			if s.Valid(&q) {
				return needed(s, &p, q, f.Path)
			}
			drawPart(s, &q, f.Path, r)
		}
	}
}

// needed takes back what has changed from p to q beside the field at path, as far as q stays
// valid.
func needed(s change.Space, p *mma.Params, q mma.Params, path string) mma.Params {
	for last := *p; last != q; {
		last = q
		for _, f := range mma.Fields() {
			less := q
			if f.SetInt(&less, f.Int(p)); f.Path != path && less != q && s.Valid(&less) {
				q = less
			}
		}
	}
	return q
}

// drawPart draws the other fields of the part that a path belongs to.
func drawPart(s change.Space, q *mma.Params, path string, r *rand.Rand) {
	s.FixLate(q, fp.Modes()[r.IntN(len(fp.Modes()))])
	part := path[:strings.LastIndexByte(path, '.')+1]
	if part == "" {
		return
	}
	formats := []fp.ID{fp.FP16, fp.BF16, fp.FP32, fp.FP64}
	to := formats[r.IntN(len(formats))].Get()
	for _, f := range mma.Fields() {
		if !strings.HasPrefix(f.Path, part) || f.Path == path || madeup.Newer(f) {
			continue
		}
		values := s.Range(q, f)
		switch {
		case strings.HasSuffix(f.Path, ".emin"):
			f.SetInt(q, int(to.Emin()))
		case strings.HasSuffix(f.Path, ".emax"):
			f.SetInt(q, int(to.Emax()))
		case len(values) > 0:
			f.SetInt(q, values[r.IntN(len(values))])
		}
	}
}

// Changed is the outcome of presenting a unit of drawn changes to triage.
type Changed struct {
	Base    string
	Count   int // number of drawn changes
	Changes []mma.Change
	Result  Result
	Got     []mma.Change // the changes that triage found
	Spent   bool         // triage spent its whole effort
}

// changed presents a unit to triage.
func changed(ctx context.Context, i *mma.Instruction, count, seed int) (*Changed, error) {
	unit := drawn(i, count, seed)
	o := &Changed{Base: i.FullName(), Count: count, Changes: mma.Diff(&i.Params, &unit), Result: Equal}
	if len(o.Changes) == 0 || argued.Equivalent(i, &unit) != "" {
		return o, nil
	}
	pr, err := anonymous(i, unit)
	if err != nil || len(pr.Differ) == 0 {
		return o, err
	}
	v, err := triage.Explain(ctx, pr)
	if err != nil {
		return nil, err
	}
	if o.Got, o.Spent = v.Changes, v.Spent > 0; !v.Complete() {
		o.Result = Unexplained
		return o, nil
	}
	j := *i
	j.Params = unit
	differ, err := differencesFrom(ctx, &j, &v.Program, heldOutSeed, heldOut)
	if o.Result = Exact; differ != "" {
		o.Result = Wrong
	}
	return o, err
}

// provedEqual returns Equal if a unit of which no difference was seen is proved to compute what
// its arithmetic does, else Undecided. It is an error if they differ: then some input shows it
// that generators do not make.
func provedEqual(ctx context.Context, i *mma.Instruction, count, seed int) (Result, error) {
	unit := drawn(i, count, seed)
	if unit == i.Params || argued.Equivalent(i, &unit) != "" {
		return Equal, nil
	}
	solver, _, err := prove.SolverWords(prove.DefaultSolver)
	if err != nil {
		return "", err
	}
	r, err := prove.Programs(ctx, i.Formats, i.K, i.Params, unit, prove.Options{Solver: solver, Time: *proofTime})
	switch {
	case err != nil:
		return "", err
	case r.Verdict == prove.Refuted:
		return "", fmt.Errorf("%s: no difference was seen, and there is one: %s", changeText(mma.Diff(&i.Params, &unit)), mma.FormatDot(i.Formats, r.Witness.Dot))
	case r.Verdict == prove.Proved:
		return Equal, nil
	}
	return Undecided, nil
}

// changesDigest identifies the units of a row.
func changesDigest(i *mma.Instruction) string {
	parts := []any{arithmeticDigest(i), evidenceRounds, evidenceMost, heldOut, heldOutSeed, triage.DefaultEffort}
	for count := range changesMost {
		for seed := range changesCases {
			p := drawn(i, count+1, seed)
			parts = append(parts, programText(&p))
		}
	}
	return digest(parts...)
}

// ChangesTable presents units of drawn changes to triage, except for the rows of an old
// table that are not stale. done is called for each row that was measured.
func ChangesTable(ctx context.Context, old *Table, all []mma.Instruction, done func(base string, outs []*Changed)) (*Table, error) {
	t := old.after("TestChanges", []string{"digest", "base", "one", "two", "three"})
	var err error
	var mu sync.Mutex // of t, err and done
	parallel(ctx, len(all), func(n int) {
		i := &all[n]
		row, outs, e := changesRow(ctx, old, i)
		mu.Lock()
		defer mu.Unlock()
		if e == nil {
			e = t.add(row)
		}
		if e != nil {
			err = fmt.Errorf("%s: %w", i.FullName(), e)
			return
		}
		done(i.FullName(), outs)
	})
	place := map[string]int{}
	for n := range all {
		place[all[n].FullName()] = n
	}
	slices.SortFunc(t.Rows, func(x, y []string) int { return place[x[colName]] - place[y[colName]] })
	return t, cmp.Or(err, ctx.Err())
}

// changesRow returns the row of an arithmetic and the units that were presented for it:
// none if the old table has the row.
func changesRow(ctx context.Context, old *Table, i *mma.Instruction) (row []string, outs []*Changed, err error) {
	d := changesDigest(i)
	if row = old.fresh(d, i.FullName()); row != nil {
		return row, nil, nil
	}
	row = []string{d, i.FullName()}
	for count := range changesMost {
		letters := ""
		for seed := range changesCases {
			o, err := changed(ctx, i, count+1, seed)
			if err == nil && o.Result == Equal {
				o.Result, err = provedEqual(ctx, i, count+1, seed)
			}
			if err != nil {
				return nil, nil, err
			}
			outs = append(outs, o)
			letters += string(resultLetters[o.Result])
		}
		row = append(row, letters)
	}
	return row, outs, nil
}

// FullCells returns the outcome as a row of the full data.
func (o *Changed) FullCells() []string {
	spent := "-"
	if o.Spent {
		spent = "spent"
	}
	return []string{o.Base, fmt.Sprint(o.Count), changeText(o.Changes), string(o.Result), orDash(changeText(o.Got)), spent}
}
