package study

import "slices"

// matrix is a heat map under way.
type matrix struct {
	Plot
	index map[string]int
	of    [][]int // how many values a cell is the mean of
}

func newMatrix(name, title string) *matrix {
	return &matrix{Plot: Plot{Name: name, Title: title, Kind: "heat", X: "share of dot products on which they differ, per cent"}, index: map[string]int{}}
}

// at returns the row of a name, which is appended if it is new.
func (m *matrix) at(name string) int {
	if i, ok := m.index[name]; ok {
		return i
	}
	m.index[name] = len(m.Rows)
	m.Rows = append(m.Rows, name)
	m.Columns = m.Rows
	for i := range m.Values {
		m.Values[i], m.of[i] = append(m.Values[i], nan), append(m.of[i], 0)
	}
	row := slices.Repeat([]Number{nan}, len(m.Rows))
	m.Values, m.of = append(m.Values, row), append(m.of, make([]int, len(m.Rows)))
	return m.index[name]
}

// add adds a share to the mean of two cells.
func (m *matrix) add(a, b string, share float64) {
	i, j := m.at(a), m.at(b)
	for _, c := range [][2]int{{i, j}, {j, i}} {
		n, v := &m.of[c[0]][c[1]], &m.Values[c[0]][c[1]]
		if *n == 0 {
			*v = 0
		}
		*v = (*v*Number(*n) + Number(share)) / Number(*n+1)
		*n++
		if i == j {
			break
		}
	}
}

// overview is the heat map of architectures, or of targets: the mean over all pairs of
// arithmetics of the two that take the same operands.
func overview(units []unit, pairs []pairRates) Plot {
	m := newMatrix("heat", "How often two architectures differ: the mean over their instructions of the same formats")
	of := map[string][]string{}
	for _, u := range units {
		of[u.name] = u.of
		for i, x := range u.of {
			for _, y := range u.of[i+1:] {
				m.add(x, y, 0) // they have this arithmetic in common
			}
		}
	}
	for _, p := range pairs {
		for _, x := range of[p.A] {
			for _, y := range of[p.B] {
				m.add(x, y, p.rate())
			}
		}
	}
	return m.Plot
}

// heatsOf begins the names of the plots of heatMaps.
const heatsOf = "heat-"

// heatMaps are a heat map of units for all formats that more than two units have, and not
// more than a page can show.
func heatMaps(pairs []pairRates) []Plot {
	const most = 48
	var ms []*matrix
	index := map[string]*matrix{}
	for _, p := range pairs {
		m := index[p.Formats]
		if m == nil {
			m = newMatrix(heatsOf+p.Formats, "How often units of the formats "+p.Formats+" differ")
			ms, index[p.Formats] = append(ms, m), m
		}
		m.add(p.A, p.B, p.rate())
	}
	var plots []Plot
	for _, m := range ms {
		if n := len(m.Rows); n > 2 && n <= most {
			plots = append(plots, m.Plot)
		}
	}
	return plots
}
