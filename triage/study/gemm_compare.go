package study

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// difference is how two products of matrices in one format differ, element by element.
type difference struct {
	differ        int    // elements whose codes differ
	numbers       int    // of these, how many are not NaNs in both products
	first         int    // the first one counted in numbers
	rowsOf        []bool // rows and columns with elements counted in numbers
	columnsOf     []bool
	max           float64 // the largest |x - y| of finite numbers
	norm          float64 // Frobenius norm of x - y, divided by that of x
	classes       [65]int // of numbers by their distance in representable numbers: 0, 1, 2..3, 4..7, ...
	most          uint64  // the largest such distance
	heat          [][]Number
	rows, columns int // of heat
}

// heatSide is the most rows and columns of a heat map.
const heatSide = 12

// compareProducts compares two products.
func (g *gemmStudy) compareProducts(x, y *product) *difference {
	d := &difference{rows: min(heatSide, g.m), columns: min(heatSide, g.n), rowsOf: make([]bool, g.m), columnsOf: make([]bool, g.n)}
	count := make([][]int, d.rows)
	d.heat = make([][]Number, d.rows)
	for i := range d.heat {
		d.heat[i], count[i] = make([]Number, d.columns), make([]int, d.columns)
	}
	f, w := x.f.Get(), x.f.Width()
	var num, den float64
	for n := range g.m * g.n {
		cx, cy := mma.Load(x.codes, w, n), mma.Load(y.codes, w, n)
		i, j := n/g.n*d.rows/g.m, n%g.n*d.columns/g.n
		count[i][j]++
		vx := f.Float64(cx)
		if !math.IsNaN(vx) && !math.IsInf(vx, 0) {
			den += vx * vx
		}
		if cx == cy {
			if vx == vx {
				d.classes[0]++
			}
			continue
		}
		d.differ++
		d.heat[i][j]++
		if vy := f.Float64(cy); vx == vx || vy == vy {
			if d.numbers++; d.numbers == 1 {
				d.first = n
			}
			d.rowsOf[n/g.n], d.columnsOf[n%g.n] = true, true
		}
		if v := math.Abs(vx - f.Float64(cy)); !math.IsNaN(v) && !math.IsInf(v, 0) {
			d.max = max(d.max, v)
			num += v * v
		}
		steps := f.Distance(cx, cy)
		d.most = max(d.most, steps)
		if vy := f.Float64(cy); vx == vx && vy == vy {
			d.classes[bits.Len64(steps)]++
		}
	}
	for i := range d.heat {
		for j := range d.heat[i] {
			d.heat[i][j] /= Number(max(1, count[i][j]))
		}
	}
	if num > 0 {
		d.norm = math.Sqrt(num / den)
	}
	return d
}

// report compares the products.
func (g *gemmStudy) report(kernels []*gemmKernel) *Result {
	res := &Result{}
	t := Table{Name: "products", Title: fmt.Sprintf("Products of %d x %d and %d x %d", g.m, g.k, g.k, g.n), Head: []string{"kernel", "formats", "result", "k of a step", "Frobenius norm", "NaN or infinite"}}
	for _, k := range kernels {
		norm, lost := norms(k.product)
		t.add(k.name, k.unit.Formats.String(), k.product.f.String(), k.unit.K, norm, lost)
	}
	c := Table{Name: "differences", Title: "How the products differ", Note: "norm: that of A's product minus B's, divided by that of A's. ulp: representable numbers between two elements.",
		Head: []string{"A", "B", "differ %", "largest |A-B|", "norm", "largest ulp"}}
	for i, x := range kernels {
		for _, y := range kernels[i+1:] {
			if x.product.f != y.product.f {
				continue
			}
			d := g.compareProducts(x.product, y.product)
			c.add(x.name, y.name, 100*float64(d.differ)/float64(g.m*g.n), d.max, d.norm, d.most)
			words := fmt.Sprintf("%s and %s differ in %s of %s elements, by %s of the norm.", x.name, y.name,
				readable.Count(uint64(d.differ)), readable.Count(uint64(g.m*g.n)), Number(d.norm))
			if d.numbers > 0 && g.matrices[fileD] == nil { // otherwise only differences from the expected product are failures
				res.Failures = append(res.Failures, words)
			} else {
				res.Remarks = append(res.Remarks, words)
			}
			res.Plots = append(res.Plots, d.plots(x.name, y.name, g)...)
		}
	}
	res.Tables = []Table{t}
	if len(c.Rows) > 0 {
		res.Tables = append(res.Tables, c)
	}
	return res
}

// plots are the histogram in ulp and the heat map of two products.
func (d *difference) plots(a, b string, g *gemmStudy) []Plot {
	between := a + " and " + b
	bars := Series{Name: "elements"}
	for n, count := range d.classes {
		bars.X, bars.Y = append(bars.X, Number(n)), append(bars.Y, Number(count))
	}
	last := len(d.classes) - 1
	for last > 1 && d.classes[last] == 0 {
		last--
	}
	bars.X, bars.Y = bars.X[:last+1], bars.Y[:last+1]
	heat := Plot{Name: "where", Title: "Where " + between + " differ", Kind: "heat", X: "share of elements that differ, per cent; rows and columns by their first one", Values: d.heat}
	for i := range d.rows {
		heat.Rows = append(heat.Rows, fmt.Sprintf("row %d", (i*g.m+d.rows-1)/d.rows))
	}
	for j := range d.columns {
		heat.Columns = append(heat.Columns, fmt.Sprint((j*g.n+d.columns-1)/d.columns))
	}
	return []Plot{
		{Name: "ulp", Title: "By how much " + between + " differ", Kind: "bars", X: "bits of the distance in ulp (0: equal, n: from 2^(n-1))", Y: "elements that are numbers", Series: []Series{bars}},
		heat,
	}
}

// norms returns the Frobenius norm of a product's numbers, and how many of its elements
// are none.
func norms(p *product) (norm float64, lost int) {
	f, w := p.f.Get(), p.f.Width()
	for n := range len(p.codes) / w {
		v := f.Float64(mma.Load(p.codes, w, n))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			lost++
			continue
		}
		norm += v * v
	}
	return math.Sqrt(norm), lost
}
