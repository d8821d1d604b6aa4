package document

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Plot is curves over two axes.
type Plot struct {
	Title  string // what it shows, for those who cannot see it
	X, Y   Axis
	Series []Series
	// Width and Height in pixels; 0: 640 and 320.
	Width, Height int
}

// Axis is an axis. Values that are not positive have no place on a logarithmic one.
type Axis struct {
	Label string
	Log   bool
}

// Series is a curve.
type Series struct {
	Name   string
	Points []Point
	Steps  bool // the value holds until the next point
	Marks  bool // only the points, without a line
}

// Point is a point of a curve. Title is shown to those who hover; "": its numbers.
type Point struct {
	X, Y  float64
	Title string
}

// seriesColors is the number of colours of series; further ones begin anew, with other
// dashes.
const seriesColors = 6

// tick is a place on an axis with its label.
type tick struct {
	At   float64 // in pixels
	Text string
}

// scale maps numbers to pixels.
type scale struct {
	lo, hi   float64 // of the numbers, or of their logarithms
	from, to float64 // pixels
	log      bool
}

func (s scale) at(v float64) float64 {
	if s.log {
		v = math.Log10(v)
	}
	return round1(s.from + (v-s.lo)/(s.hi-s.lo)*(s.to-s.from))
}

// drawable reports whether a value has a place on the axis.
func (a Axis) drawable(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.Log || v > 0)
}

// scaleOf returns the scale on which all values have a place; from and to are pixels.
func (a Axis) scaleOf(values []float64, from, to float64) scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if a.drawable(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		lo, hi = 1, 10
	}
	s := scale{from: from, to: to, log: a.Log}
	switch {
	case a.Log:
		s.lo, s.hi = math.Floor(math.Log10(lo)), math.Ceil(math.Log10(hi))
	case lo >= 0:
		s.lo, s.hi = 0, hi
	default:
		s.lo, s.hi = lo, hi
	}
	if s.lo == s.hi {
		s.hi++
	}
	if step := s.step(); !a.Log {
		s.lo, s.hi = math.Floor(s.lo/step)*step, math.Ceil(s.hi/step)*step
	}
	return s
}

// step is a round number such that about five of them make the scale.
func (s scale) step() float64 {
	if s.log {
		return math.Max(1, math.Ceil((s.hi-s.lo)/6))
	}
	raw := (s.hi - s.lo) / 5
	unit := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, n := range []float64{1, 2, 5, 10} {
		if raw <= n*unit*(1+1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

func (s scale) ticks() []tick {
	var all []tick
	step := s.step()
	for n := 0; ; n++ {
		v := s.lo + float64(n)*step
		if v > s.hi+step*1e-9 || n > 20 {
			return all
		}
		at := round1(s.from + (v-s.lo)/(s.hi-s.lo)*(s.to-s.from))
		text := Number(v)
		if s.log {
			text = "10" + Superscript(int(v))
			if v >= 0 && v <= 3 {
				text = strconv.Itoa(int(math.Pow(10, v)))
			}
		}
		all = append(all, tick{at, text})
	}
}

func round1(v float64) float64 { return math.Round(v*10) / 10 }

// Number writes a number in few characters.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case a < 1e-12:
		return "0"
	case a >= 1e15 || a < 1e-3:
		return strconv.FormatFloat(v, 'g', 3, 64)
	case a >= 1e6 && math.Mod(a, 1e5) == 0:
		return strconv.FormatFloat(v/1e6, 'f', -1, 64) + " M"
	case a >= 1e4 && math.Mod(a, 100) == 0:
		return strconv.FormatFloat(v/1e3, 'f', -1, 64) + " k"
	}
	return strconv.FormatFloat(math.Round(v*1e4)/1e4, 'f', -1, 64)
}

// Superscript writes a whole number above the line, as the exponent of a power.
func Superscript(n int) string {
	return strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹").Replace(strconv.Itoa(n))
}

// Room around what is plotted, in pixels.
const (
	leftRoom, rightRoom = 66, 16
	topRoom, bottomRoom = 12, 46
	keyRow              = 20
)

func (p *Plot) empty() bool {
	return !slices.ContainsFunc(p.Series, func(s Series) bool { return len(s.Points) > 0 })
}

func (p *Plot) data() *Table {
	t := &Table{Columns: []Column{{Name: "curve"}, {Name: p.X.Label, Number: true}, {Name: p.Y.Label, Number: true}}}
	for _, s := range p.Series {
		for _, q := range s.Points {
			t.Rows = append(t.Rows, Row{{Text: s.Name}, numberCell(q.X), numberCell(q.Y)})
		}
	}
	return t
}

// numberCell is a cell with a number, which files have with all its digits.
func numberCell(v float64) Cell {
	return Cell{Text: Number(v), Exact: strconv.FormatFloat(v, 'g', -1, 64)}
}

// SVG draws the curves.
func (p *Plot) SVG() HTML {
	width, height := p.Width, p.Height
	if width == 0 {
		width, height = 640, 320
	}
	columns, wide := p.keyColumns(width)
	keys := 0
	if len(p.Series) > 1 {
		keys = (len(p.Series) + columns - 1) / columns * keyRow
	}
	var xs, ys []float64
	for _, s := range p.Series {
		for _, q := range s.Points {
			xs, ys = append(xs, q.X), append(ys, q.Y)
		}
	}
	bottom := float64(height - bottomRoom)
	x := p.X.scaleOf(xs, leftRoom, float64(width-rightRoom))
	y := p.Y.scaleOf(ys, bottom, topRoom)
	d := plotted{Plot: p, W: wide, H: height + keys, Bottom: bottom, Left: leftRoom, Right: width - rightRoom, Top: topRoom,
		MidX: (leftRoom + width - rightRoom) / 2, MidY: (topRoom + height - bottomRoom) / 2, XTicks: x.ticks(), YTicks: y.ticks(), LabelY: height - 8}
	for n, s := range p.Series {
		c := curve{Name: show(s.Name), Color: "s" + strconv.Itoa(n%seriesColors+1), Dash: dashes[n%len(dashes)],
			KeyX: leftRoom + n%columns*(width/2-leftRoom/2), KeyY: height + 8 + n/columns*keyRow, Keyed: keys > 0}
		var path strings.Builder
		last := 0.0
		for _, q := range s.Points {
			if !p.X.drawable(q.X) || !p.Y.drawable(q.Y) {
				continue
			}
			px, py := x.at(q.X), y.at(q.Y)
			title := q.Title
			if title == "" {
				title = Number(q.X) + ": " + Number(q.Y)
			}
			c.Dots = append(c.Dots, dot{px, py, show(title)})
			switch {
			case path.Len() == 0:
				path.WriteString("M" + pixel(px) + " " + pixel(py))
			case s.Steps:
				path.WriteString("L" + pixel(px) + " " + pixel(last) + "L" + pixel(px) + " " + pixel(py))
			default:
				path.WriteString("L" + pixel(px) + " " + pixel(py))
			}
			last = py
		}
		if !s.Marks {
			c.Path = path.String()
		}
		d.Curves = append(d.Curves, c)
	}
	return render("plot", d)
}

// keyColumns returns in how many columns the names of the curves have room below a plot,
// and how wide the picture is with them.
func (p *Plot) keyColumns(width int) (columns, wide int) {
	const line, character = 34, 7
	longest := 0
	for _, s := range p.Series {
		longest = max(longest, line+character*utf8.RuneCountInString(show(s.Name)))
	}
	switch {
	case len(p.Series) < 2:
		return 1, width
	case longest <= (width-leftRoom)/2:
		return 2, width
	}
	return 1, max(width, leftRoom+longest)
}

func pixel(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

var dashes = []string{"", "6 3", "2 3", "9 3 2 3"}

// plotted is a plot as its template draws it.
type plotted struct {
	*Plot
	W, H               int
	Left, Right, Top   int
	Bottom             float64
	MidX, MidY, LabelY int
	XTicks, YTicks     []tick
	Curves             []curve
}

type curve struct {
	Name, Color, Dash, Path string
	KeyX, KeyY              int
	Keyed                   bool
	Dots                    []dot
}

type dot struct {
	X, Y  float64
	Title string
}
