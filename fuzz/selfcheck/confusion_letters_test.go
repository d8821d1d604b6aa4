package selfcheck

import (
	"context"
	"fmt"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// The confusion table has one row for each instruction, with one letter for each of its
// mutants, in the order in which package change generates them.

// resultLetters gives the letter that the table has for a result.
var resultLetters = map[Result]byte{Exact: 'x', Ambiguous: 'a', Wrong: 'W', Unexplained: 'u', Equal: '=', Undecided: '?'}

// lettersOf returns the letters of the results of an arithmetic's mutants.
func lettersOf(outs []*Outcome) string {
	b := make([]byte, len(outs))
	for n, o := range outs {
		b[n] = resultLetters[o.Result]
	}
	return string(b)
}

// ParseLetters is the inverse of lettersOf.
func ParseLetters(letters string) ([]Result, error) {
	results := make([]Result, len(letters))
next:
	for n := range letters {
		for r, l := range resultLetters {
			if letters[n] == l {
				results[n] = r
				continue next
			}
		}
		return nil, fmt.Errorf("%q is not a result letter", letters[n])
	}
	return results, nil
}

// ConfusionTable measures the instructions that the old table lacks. done is called for
// each row; outs is nil if the row was taken from old.
func ConfusionTable(ctx context.Context, old *Table, all []mma.Instruction, done func(base, letters string, outs []*Outcome)) (*Table, error) {
	t := old.after("Confusion", []string{"digest", "base", "mutants"})
	for n := range all {
		i := &all[n]
		d := confusionDigest(i)
		row := old.fresh(d, i.FullName())
		var outs []*Outcome
		if row == nil {
			var err error
			if outs, err = confuseAll(ctx, i); err != nil {
				return nil, err
			}
			row = []string{d, i.FullName(), lettersOf(outs)}
		}
		if err := t.add(row); err != nil {
			return nil, err
		}
		done(row[1], row[2], outs)
	}
	return t, nil
}

// FullCells returns the outcome as a row of the full data.
func (o *Outcome) FullCells() []string {
	return []string{
		o.Base, o.Mutant, changeText(o.Change), triage.Join(o.Labels), string(o.Result),
		orDash(changeText(o.Got)), orDash(labelText(o.GotBy)), fmt.Sprint(o.Equals), fmt.Sprint(o.Differ), fmt.Sprint(o.Asked),
	}
}

func labelText(ls []triage.Label) string {
	if len(ls) == 0 {
		return ""
	}
	return triage.Join(ls)
}
