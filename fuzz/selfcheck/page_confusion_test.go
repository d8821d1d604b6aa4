package selfcheck

import (
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
	"github.com/mmafuzz/mmafuzz/triage/change"
)

// tally counts results of triage.
type tally struct {
	name string
	n    map[Result]int
}

func (t *tally) row(name string) []string {
	scored := 0
	for r, n := range t.n {
		if r != Equal && r != Undecided {
			scored += n
		}
	}
	exact := t.n[Exact]
	percent := "-"
	if scored > 0 {
		percent = fmt.Sprintf("%.1f %%", 100*float64(exact)/float64(scored))
	}
	return []string{name, fmt.Sprint(scored), fmt.Sprint(exact), percent, fmt.Sprint(t.n[Ambiguous]),
		fmt.Sprint(t.n[Unexplained]), fmt.Sprint(t.n[Wrong]), fmt.Sprint(t.n[Equal])}
}

// confusion tallies the results of mutants by a property, which of returns.
func confusion(file, title string, of func(i *mma.Instruction, mutant *mma.Params) string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	all := &tally{n: map[Result]int{}}
	var tallies []*tally
	for _, c := range cells {
		i, err := Find(c[0])
		if err != nil {
			return "", err
		}
		results, err := ParseLetters(c[1])
		if err != nil {
			return "", err
		}
		mutants := change.SpaceOf(i).Mutants(&i.Params, change.Decisions)
		if len(mutants) != len(results) {
			return "", fmt.Errorf("%s: %d results of %d mutants", c[0], len(results), len(mutants))
		}
		for m, r := range results {
			name := of(i, &mutants[m].Params)
			at := slices.IndexFunc(tallies, func(t *tally) bool { return t.name == name })
			if at < 0 {
				at = len(tallies)
				tallies = append(tallies, &tally{name, map[Result]int{}})
			}
			tallies[at].n[r]++
			all.n[r]++
		}
	}
	var body [][]string
	for _, t := range tallies {
		body = append(body, t.row(code(t.name)))
	}
	body = append(body, all.row("all"))
	head := []string{title, "mutants", "exact", "", "ambiguous", "unexplained", "wrong", "(no difference seen)"}
	return markdown("lr", head, body), nil
}

// confusionByOperation has a row for each elementary operation.
func confusionByOperation(file string) (string, error) {
	return confusion(file, "operation", func(i *mma.Instruction, _ *mma.Params) string { return Operation(i) })
}

// confusionByLabel has a row for each set of labels.
func confusionByLabel(file string) (string, error) {
	return confusion(file, "label", func(i *mma.Instruction, mutant *mma.Params) string {
		return triage.Join(triage.LabelsOf(&i.Params, mutant))
	})
}
