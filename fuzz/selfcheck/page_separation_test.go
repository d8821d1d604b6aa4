package selfcheck

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/mmafuzz/mmafuzz/triage/prove/argued"
)

// The tables of how well generators separate mutants and arithmetics.

// generators has a row for each generator: how many mutants it separates from their base,
// and how many of them with few inputs.
func generators(file string) (string, error) {
	all, err := mutantSummaries(file)
	if err != nil {
		return "", err
	}
	can := 0
	reach := make([]Reach, len(Generators()))
	for _, s := range all {
		can += s.Separated
		for g, r := range s.Reach {
			reach[g].All += r.All
			reach[g].Ten += r.Ten
			reach[g].Thousand += r.Thousand
		}
	}
	var body [][]string
	for g, generator := range Generators() {
		r := reach[g]
		body = append(body, []string{code(Title(&generator)), fmt.Sprint(r.Ten), fmt.Sprint(r.Thousand), fmt.Sprintf("%d of %d", r.All, can)})
	}
	return markdown("lr", []string{"generator", "mutants separated by 10 inputs", "by 1,000", "by all"}, body), nil
}

// mutants has a row for each arithmetic: whether its mutants are separated, and how many
// inputs of its best generator the hardest one needs.
func mutants(file string) (string, error) {
	all, err := mutantSummaries(file)
	if err != nil {
		return "", err
	}
	var body [][]string
	for _, s := range all {
		body = append(body, []string{code(s.Base), fmt.Sprint(s.Mutants), fmt.Sprint(s.Separated), fmt.Sprint(s.Argued()),
			fmt.Sprint(s.Open()), s.Hardest, fmt.Sprint(s.Inputs)})
	}
	for _, i := range argued.Arithmetics() {
		if !slices.ContainsFunc(all, func(s *MutantSummary) bool { return s.Base == i.FullName() }) {
			body = append(body, []string{code(i.FullName()), "", "", "", "", missingMark, ""})
		}
	}
	return markdown("lrrrrlr", []string{"arithmetic of", "mutants", "separated", "argued equal", "neither", "hardest", "inputs"}, body), nil
}

// arguments has a row for each argument why mutants cannot be separated.
func arguments(file string) (string, error) {
	all, err := mutantSummaries(file)
	if err != nil {
		return "", err
	}
	cells, err := rows(filepath.Join(filepath.Dir(file), "proofs.tsv"))
	if err != nil {
		return "", err
	}
	proofs, err := ProofCounts(cells)
	if err != nil {
		return "", err
	}
	var body [][]string
	names, count := ArgumentCounts(all)
	for _, n := range names {
		p := proofs[n]
		body = append(body, []string{n, fmt.Sprint(count[n]), fmt.Sprint(p[0]), fmt.Sprint(p[1]), fmt.Sprint(p[2]), fmt.Sprint(p[3]), argued.Text(n)})
	}
	return markdown("lrrrrrl", []string{"argument", "mutants", "proved by ranges", "by a solver", "refuted", "too hard", "text"}, body), nil
}

// pairs has a row for each two arithmetics that take the same operands: the number of inputs
// that each generator needs.
func pairs(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	head := []string{"A", "B"}
	for _, g := range Generators() {
		head = append(head, Title(&g))
	}
	var body [][]string
	for _, c := range cells {
		body = append(body, append([]string{code(c[0]), code(c[1])}, c[3:]...))
	}
	return markdown("llr", head, body), nil
}

// mutantSummaries reads the table of mutants.
func mutantSummaries(file string) ([]*MutantSummary, error) {
	t, err := ReadTableFile(file)
	if err != nil {
		return nil, err
	}
	var all []*MutantSummary
	for n, r := range t.Rows {
		s, err := ParseMutantSummary(r)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", n+1, err)
		}
		all = append(all, s)
	}
	return all, nil
}
