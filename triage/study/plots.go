package study

import "fmt"

// histogram makes a plot of bars: how many of values are in each of n equal parts of
// from..to.
func histogram(name, title, x, y string, from, to float64, n int, series string, values []float64) Plot {
	p := Plot{Name: name, Title: title, Kind: "bars", X: x, Y: y}
	p.count(series, from, to, n, values)
	return p
}

// count adds a histogram. Values outside count at the ends, and what the axis is says how many.
func (p *Plot) count(series string, from, to float64, n int, values []float64) {
	width := (to - from) / float64(n)
	s := Series{Name: series, X: make([]Number, n), Y: make([]Number, n)}
	for i := range n {
		s.X[i] = Number(from + (float64(i)+0.5)*width)
	}
	outside := 0
	for _, v := range values {
		if !(v >= from && v <= to) {
			outside++
		}
		switch at := (v - from) / width; {
		case at < 0 || at != at:
			s.Y[0]++
		case at >= float64(n):
			s.Y[n-1]++
		default:
			s.Y[int(at)]++
		}
	}
	p.Series = append(p.Series, s)
	if outside > 0 {
		p.X += fmt.Sprintf("; %d of %s outside %g to %g stand at the ends", outside, series, from, to)
	}
}
