package selfcheck

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// minimizer has a row for each pair whose findings were shrunk.
func minimizer(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[0], c[1] = code(c[0]), code(c[1])
	}
	head := []string{"A", "B", "findings", "terms before", "after", "queries", "batches", "worst", "1-minimal"}
	return markdown("llr", head, cells), nil
}

// models has a row for each operation whose models were compared with the oracle.
func models(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	var order []string
	sums := map[string]*[4]int{} // arithmetics, raw, directed, mismatches
	for _, c := range cells {
		i, err := Find(c[0])
		if err != nil {
			return "", err
		}
		op := Operation(i)
		if sums[op] == nil {
			order, sums[op] = append(order, op), &[4]int{}
		}
		sums[op][0]++
		for n, cell := range c[1:] {
			v, err := strconv.Atoi(cell)
			if err != nil {
				return "", err
			}
			sums[op][n+1] += v
		}
	}
	var body [][]string
	for _, op := range order {
		row := []string{code(op)}
		for _, v := range sums[op] {
			row = append(row, fmt.Sprint(v))
		}
		body = append(body, row)
	}
	head := []string{"operation", "arithmetics", "dot products of raw bits", "of the other generators", "mismatches"}
	return markdown("lr", head, body), nil
}

// silicon has a row for each recorded instruction of a GPU.
func silicon(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var body [][]string
	for line := range strings.Lines(string(text)) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") || c[0] == "GPU" {
			continue
		}
		c[1], c[2] = code("sim:"+c[1]), code(c[2])
		body = append(body, c)
	}
	return markdown("lllr", []string{"GPU", "model", "instruction", "recorded", "equal"}, body), nil
}
