package probe

import "strings"

// briefLines are the lines of Brief: their names, and the answers that they have, each with a
// word before it.
var briefLines = []struct {
	name    string
	answers []struct{ word, paper, id string }
}{
	{"bits kept", []struct{ word, paper, id string }{
		{"terms ", "clfp", "3 F"}, {"c ", "clfp", "3 F of c"}, {"results ", "clfp", "3 bits"}}},
	{"order and rounding", []struct{ word, paper, id string }{
		{"", "clfp", "2 order"}, {"terms ", "clfp", "3 align"}, {"results ", "clfp", "3 output"}}},
	{"subnormals are numbers", []struct{ word, paper, id string }{
		{"a and b ", "fasi", "3.1.1 inputs"}, {"c ", "fasi", "3.1.1 c"}, {"results ", "fasi", "3.1.1 results"}}},
}

// Brief sums answers of the papers fasi and clfp up in three lines, "-" where there is none: the
// bits that are kept, order and rounding, and subnormals.
func Brief(answers []Answer) string {
	value := map[[2]string]string{}
	for _, a := range answers {
		value[[2]string{a.Paper, a.ID}] = a.Value
	}
	var s strings.Builder
	for _, l := range briefLines {
		var parts []string
		for _, a := range l.answers {
			v := value[[2]string{a.paper, a.id}]
			if v == "" {
				v = "-"
			}
			parts = append(parts, a.word+v)
		}
		s.WriteString(l.name + ": " + strings.Join(parts, ", ") + "\n")
	}
	return s.String()
}
