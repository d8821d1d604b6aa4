package probe

import "github.com/mmafuzz/mmafuzz/sim/mma"

// Answered is an answer with its evidence as text.
type Answered struct {
	Answer
	Evidence []string `json:"evidence,omitempty"`
	Unstable string   `json:"unstable,omitempty"`
}

// WithEvidence returns answers with their evidence: inputs and results, as mmafuzz eval reads and
// writes them.
func (p *Prober) WithEvidence(answers []Answer) []Answered {
	var all []Answered
	for _, a := range answers {
		var lines []string
		for _, s := range a.Evidence {
			lines = append(lines, mma.FormatDot(p.f, s.Dot)+" = "+mma.FormatCode(p.f.D, s.Got))
		}
		all = append(all, Answered{a, lines, p.Unstable})
	}
	return all
}

// TreeFound is the summation tree as a formula, or why there is none, for JSON.
type TreeFound struct {
	Tree     string `json:"tree"`
	Problem  string `json:"problem,omitempty"`
	Unstable string `json:"unstable,omitempty"`
}
