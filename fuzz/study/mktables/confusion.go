package main

import (
	"fmt"
	"slices"

	"github.com/mmafuzz/mmafuzz/fuzz/study"
)

// Columns of the confusion table.
const (
	colBase   = 0
	colLabels = 3
	colResult = 4
)

// tally counts results.
type tally struct {
	name string
	n    map[study.Result]int
}

func (t *tally) row(name string) []string {
	scored := 0
	for r, n := range t.n {
		if r != study.Equal {
			scored += n
		}
	}
	exact := t.n[study.Exact]
	percent := "-"
	if scored > 0 {
		percent = fmt.Sprintf("%.1f %%", 100*float64(exact)/float64(scored))
	}
	return []string{name, fmt.Sprint(scored), fmt.Sprint(exact), percent, fmt.Sprint(t.n[study.Ambiguous]),
		fmt.Sprint(t.n[study.NotFound]), fmt.Sprint(t.n[study.Wrong]), fmt.Sprint(t.n[study.Equal])}
}

// confusion tallies the results of the confusion table by a property of its rows.
func confusion(file, title string, of func(cells []string) (string, error)) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	all := &tally{n: map[study.Result]int{}}
	var tallies []*tally
	for _, c := range cells {
		name, err := of(c)
		if err != nil {
			return "", err
		}
		at := slices.IndexFunc(tallies, func(t *tally) bool { return t.name == name })
		if at < 0 {
			at = len(tallies)
			tallies = append(tallies, &tally{name, map[study.Result]int{}})
		}
		r := study.Result(c[colResult])
		tallies[at].n[r]++
		all.n[r]++
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
	return confusion(file, "operation", func(c []string) (string, error) {
		i, err := study.Find(c[colBase])
		if err != nil {
			return "", err
		}
		return study.Operation(i), nil
	})
}

// confusionByLabel has a row for each set of labels.
func confusionByLabel(file string) (string, error) {
	return confusion(file, "label", func(c []string) (string, error) { return c[colLabels], nil })
}
