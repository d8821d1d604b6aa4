package selfcheck

import "strings"

// causes has a row for each two architectures of GPUs, with the shares of its causes.
func causes(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	var body [][]string
	for _, c := range cells {
		body = append(body, []string{code(c[0]), code(c[1]), c[2], c[4], c[5], c[6], c[7], strings.ReplaceAll(c[8], ", ", "<br>")})
	}
	head := []string{"A", "B", "instructions", "mismatches", "causes", "in catch-alls", "turned", "cases by primary cause"}
	return markdown("llrrrrll", head, body), nil
}
