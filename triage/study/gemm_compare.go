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
	finite        int     // elements whose codes differ and that are finite in both products: what follows is of them
	max           float64 // the largest |x - y|
	norm          float64 // Frobenius norm of x - y, divided by that of x
	classes       [65]int // by their distance in representable numbers: 0 (equal), 1, 2..3, 4..7, ...
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
		if isFinite(vx) {
			den += vx * vx
		}
		if cx == cy {
			if isFinite(vx) {
				d.classes[0]++
			}
			continue
		}
		d.differ++
		d.heat[i][j]++
		vy := f.Float64(cy)
		if vx == vx || vy == vy {
			if d.numbers++; d.numbers == 1 {
				d.first = n
			}
			d.rowsOf[n/g.n], d.columnsOf[n%g.n] = true, true
		}
		if isFinite(vx) && isFinite(vy) {
			d.finite++
			v, steps := math.Abs(vx-vy), f.Distance(cx, cy)
			d.max, d.most = max(d.max, v), max(d.most, steps)
			num += v * v
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

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// sizes are the columns of a table that say how large differences are: of finite elements, of which there may be none.
func (d *difference) sizes() (largest, norm, ulp any) {
	if d.differ > 0 && d.finite == 0 {
		return "-", "-", "-"
	}
	return d.max, d.norm, d.most
}

// words say in how many of some elements the products differ, and by how much.
func (d *difference) words(elements int) string {
	text := fmt.Sprintf("%s of %s elements", readable.Count(uint64(d.differ)), readable.Count(uint64(elements)))
	if d.finite > 0 || d.differ == 0 {
		text += fmt.Sprintf(", by %s of the norm", Number(d.norm))
	}
	if lost := d.differ - d.finite; lost > 0 {
		text += "; NaN or infinite on a side: " + readable.Count(uint64(lost))
	}
	return text
}

// report compares the products.
func (g *gemmStudy) report(kernels []*gemmKernel) *Result {
	res := &Result{}
	t := Table{Name: "products", Title: fmt.Sprintf("Products of %d x %d and %d x %d", g.m, g.k, g.k, g.n), Head: []string{"kernel", "formats", "result", "k of a step", "Frobenius norm", "NaN or infinite"}}
	for _, k := range kernels {
		norm, lost := norms(k.product)
		t.add(k.name, k.unit.Formats.String(), k.product.f.String(), k.unit.K, norm, lost)
	}
	c := Table{Name: "differences", Title: "How the products differ", Note: "norm: that of A's product minus B's, divided by that of A's. ulp: representable numbers between two elements. All three are of elements that are finite in both.",
		Head: []string{"A", "B", "differ %", "largest |A-B|", "norm", "largest ulp"}}
	for i, x := range kernels {
		for _, y := range kernels[i+1:] {
			if x.product.f != y.product.f {
				continue
			}
			d := g.compareProducts(x.product, y.product)
			largest, norm, ulp := d.sizes()
			c.add(x.name, y.name, 100*float64(d.differ)/float64(g.m*g.n), largest, norm, ulp)
			words := fmt.Sprintf("%s and %s differ in %s.", x.name, y.name, d.words(g.m*g.n))
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
		{Name: "ulp", Title: "By how much " + between + " differ", Kind: "bars", X: "bits of the distance in ulp (0: equal, n: from 2^(n-1))", Y: "elements that are finite in both", Series: []Series{bars}},
		heat,
	}
}

// norms returns the Frobenius norm of a product's numbers, and how many of its elements
// are none.
func norms(p *product) (norm float64, lost int) {
	f, w := p.f.Get(), p.f.Width()
	for n := range len(p.codes) / w {
		v := f.Float64(mma.Load(p.codes, w, n))
		if !isFinite(v) {
			lost++
			continue
		}
		norm += v * v
	}
	return math.Sqrt(norm), lost
}
