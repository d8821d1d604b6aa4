package selfcheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Columns of the tables of inferences, without the digest.
const (
	colUnit    = 0
	colVerdict = 3
	colQueries = 4
	colSeconds = 7
	colDiffer  = 9
)

// inference has a row for each arithmetic of the catalogue that was inferred.
func inference(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	for _, c := range cells {
		c[colUnit] = code(c[colUnit])
	}
	measured, ok := len(cells), recovered(cells)
	for _, i := range mma.Arithmetics() {
		if !slices.ContainsFunc(cells, func(c []string) bool { return c[colUnit] == code(i.FullName()) }) {
			cells = append(cells, []string{code(i.FullName()), i.Formats.String(), fmt.Sprint(i.K), missingMark, "", "", "", "", "", ""})
		}
	}
	return fmt.Sprintf("Of %d arithmetics that were measured %d are recovered.\n\n", measured, ok) + inferenceMarkdown(cells), nil
}

func inferenceMarkdown(cells [][]string) string {
	head := []string{"unit", "formats", "K", "verdict", "queries", "batches", "refuted", "seconds", "compared", "differ"}
	return markdown("llrlrrrrrl", head, cells)
}

// recovered counts the units that were found and do not differ.
func recovered(cells [][]string) int {
	n := 0
	for _, c := range cells {
		if isRecovered(c) {
			n++
		}
	}
	return n
}

func isRecovered(c []string) bool { return c[colVerdict] == "found" && c[colDiffer] == "-" }

// madeUp sums up the inferences of made-up units, and lists those that were not
// recovered.
func madeUp(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	if len(cells) == 0 {
		return "", fmt.Errorf("no unit")
	}
	var queries, seconds []float64
	for _, c := range cells {
		for col, to := range map[int]*[]float64{colQueries: &queries, colSeconds: &seconds} {
			x, err := strconv.ParseFloat(c[col], 64)
			if err != nil {
				return "", err
			}
			*to = append(*to, x)
		}
	}
	slices.Sort(queries)
	slices.Sort(seconds)
	seed := func(c []string) string { return strings.TrimPrefix(c[colUnit], "made-up/") }
	n := len(cells)
	text := markdown("lrrrrr", []string{"seeds", "units", "recovered", "", "median queries", "median seconds"}, [][]string{{
		seed(cells[0]) + ".." + seed(cells[n-1]), fmt.Sprint(n), fmt.Sprint(recovered(cells)), fmt.Sprintf("%.1f %%", 100*float64(recovered(cells))/float64(n)),
		fmt.Sprintf("%.0f", queries[n/2]), fmt.Sprintf("%.1f", seconds[n/2])}})
	if recovered(cells) == n {
		return text, nil
	}
	return text + "\nNot recovered:\n\n" + inferenceMarkdown(slices.DeleteFunc(cells, isRecovered)), nil
}
