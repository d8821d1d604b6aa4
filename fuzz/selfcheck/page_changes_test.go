package selfcheck

import "fmt"

// changes tallies the results of units of drawn changes by the number of their changes.
func changes(file string) (string, error) {
	cells, err := rows(file)
	if err != nil {
		return "", err
	}
	head := []string{"changes", "units", "explained", "", "unexplained", "wrong", "proved equal", "undecided", "of all units"}
	var body [][]string
	for n, name := range []string{"one", "two", "three"} {
		t := &tally{n: map[Result]int{}}
		for _, c := range cells {
			results, err := ParseLetters(c[1+n])
			if err != nil {
				return "", err
			}
			for _, r := range results {
				t.n[r]++
			}
		}
		row := t.row(name)
		units := 0
		for _, n := range t.n {
			units += n
		}
		row = append(row, fmt.Sprint(t.n[Undecided]), fmt.Sprintf("%.1f %%", 100*float64(t.n[Undecided])/float64(units)))
		body = append(body, append(row[:4:4], row[5:]...)) // none is ambiguous: the results are compared, not the programs
	}
	return markdown("lr", head, body), nil
}
