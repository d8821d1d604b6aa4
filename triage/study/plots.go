package study

// histogram makes a plot of bars: how many of values are in each of n equal parts of
// from..to. Values outside count at the ends.
func histogram(name, title, x, y string, from, to float64, n int, s Series, values []float64) Plot {
	p := Plot{Name: name, Title: title, Kind: "bars", X: x, Y: y}
	p.Series = []Series{s.counted(from, to, n, values)}
	return p
}

// counted fills a series with a histogram.
func (s Series) counted(from, to float64, n int, values []float64) Series {
	width := (to - from) / float64(n)
	s.X, s.Y = make([]Number, n), make([]Number, n)
	for i := range n {
		s.X[i] = Number(from + (float64(i)+0.5)*width)
	}
	for _, v := range values {
		i := int((v - from) / width)
		s.Y[max(0, min(i, n-1))]++
	}
	return s
}
