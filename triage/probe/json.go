package probe

// Answered is an answer with its evidence as text, for JSON.
type Answered struct {
	Answer
	Evidence []string `json:"evidence,omitempty"`
	Unstable string   `json:"unstable,omitempty"`
}

// WithEvidence returns answers with their evidence, for JSON.
func (p *Prober) WithEvidence(answers []Answer) []Answered {
	var all []Answered
	for _, a := range answers {
		all = append(all, Answered{a, p.evidence(&a), p.Unstable})
	}
	return all
}

// TreeFound is the summation tree as a formula, or why there is none, for JSON.
type TreeFound struct {
	Tree     string `json:"tree"`
	Problem  string `json:"problem,omitempty"`
	Unstable string `json:"unstable,omitempty"`
}
