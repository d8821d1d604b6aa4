package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/fuzz/study"
)

// separations reads the separation table: of mutants, or of pairs.
func separations(file string, ofPairs bool) ([]study.Separation, error) {
	cells, err := rows(file)
	if err != nil {
		return nil, err
	}
	var seps []study.Separation
	for n, c := range cells {
		s, _, err := study.ParseSeparation(c)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", n+1, err)
		}
		if strings.Contains(s.Other, "/") == ofPairs {
			seps = append(seps, s)
		}
	}
	return seps, nil
}

// generators says what each generator is good for: how many mutants it tells
// from their base, in how many inputs, and which it alone does.
func generators(file string) (string, error) {
	seps, err := separations(file, false)
	if err != nil {
		return "", err
	}
	can := 0
	for _, s := range seps {
		if s.Separated() {
			can++
		}
	}
	var body [][]string
	for g, gen := range study.Generators() {
		var needed []uint64
		first, alone := 0, 0
		for _, s := range seps {
			n := s.First[g]
			if n == 0 {
				continue
			}
			needed = append(needed, n)
			if n == fewest(&s) {
				first++
			}
			if others(&s) == 1 {
				alone++
			}
		}
		slices.Sort(needed)
		body = append(body, []string{code(study.Title(&gen)), fmt.Sprintf("%d of %d", len(needed), can),
			quantile(needed, 50), quantile(needed, 90), fmt.Sprint(first), fmt.Sprint(alone)})
	}
	return markdown("lr", []string{"generator", "mutants separated", "median inputs", "90 %", "soonest of all", "the only one"}, body), nil
}

func quantile(sorted []uint64, percent int) string {
	if len(sorted) == 0 {
		return "-"
	}
	return fmt.Sprint(sorted[min(len(sorted)-1, len(sorted)*percent/100)])
}

// fewest is the number of inputs of the generator that needs the fewest.
func fewest(s *study.Separation) uint64 {
	best := uint64(0)
	for _, n := range s.First {
		if n > 0 && (best == 0 || n < best) {
			best = n
		}
	}
	return best
}

// others is the number of generators that separate.
func others(s *study.Separation) int {
	n := 0
	for _, f := range s.First {
		if f > 0 {
			n++
		}
	}
	return n
}

// mutants has a row for each arithmetic: are its mutants separated, and what
// does the hardest one need of its best generator.
func mutants(file string) (string, error) {
	seps, err := separations(file, false)
	if err != nil {
		return "", err
	}
	var body [][]string
	for _, group := range byBase(seps) {
		separated, argued := 0, 0
		var hardest study.Separation
		for _, s := range group {
			switch {
			case s.Separated():
				separated++
				if fewest(&s) > fewest(&hardest) {
					hardest = s
				}
			case s.Argument != "":
				argued++
			}
		}
		body = append(body, []string{code(group[0].Base), fmt.Sprint(len(group)), fmt.Sprint(separated), fmt.Sprint(argued),
			fmt.Sprint(len(group) - separated - argued), hardest.Other, fmt.Sprint(fewest(&hardest))})
	}
	return markdown("lrrrrlr", []string{"arithmetic of", "mutants", "separated", "argued equal", "neither", "hardest", "inputs"}, body), nil
}

// byBase groups rows, which are in order of their base.
func byBase(seps []study.Separation) [][]study.Separation {
	var groups [][]study.Separation
	for len(seps) > 0 {
		n := 1
		for n < len(seps) && seps[n].Base == seps[0].Base {
			n++
		}
		groups = append(groups, seps[:n])
		seps = seps[n:]
	}
	return groups
}

// arguments lists why mutants that are not separated cannot be.
func arguments(file string) (string, error) {
	seps, err := separations(file, false)
	if err != nil {
		return "", err
	}
	count := map[string]int{}
	for _, s := range seps {
		if s.Argument != "" {
			count[s.Argument]++
		}
	}
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	var body [][]string
	for _, n := range names {
		body = append(body, []string{n, fmt.Sprint(count[n]), study.Argument(n)})
	}
	return markdown("lrl", []string{"argument", "mutants", "text"}, body), nil
}

// pairs has a row for each two arithmetics of the same operands: the number of
// inputs that each generator needs.
func pairs(file string) (string, error) {
	seps, err := separations(file, true)
	if err != nil {
		return "", err
	}
	head := []string{"A", "B"}
	for _, g := range study.Generators() {
		head = append(head, study.Title(&g))
	}
	var body [][]string
	for _, s := range seps {
		row := []string{code(s.Base), code(s.Other)}
		for _, n := range s.First {
			if n == 0 {
				row = append(row, "-")
			} else {
				row = append(row, fmt.Sprint(n))
			}
		}
		body = append(body, row)
	}
	return markdown("llr", head, body), nil
}
