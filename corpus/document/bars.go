package document

import (
	"fmt"
	"math"
)

// Bars is a histogram: a bar for each class, from left to right.
type Bars struct {
	Title string // what it shows, for those who cannot see it
	X, Y  string // labels
	Bars  []Bar
	Log   bool // the axis is logarithmic and begins at 0.1, so that a bar of 1 is visible
}

// Bar is a bar.
type Bar struct {
	Label string // below it
	Value float64
	Title string // for those who hover; "": its value
}

func (b *Bars) empty() bool { return len(b.Bars) == 0 }

func (b *Bars) data() *Table {
	t := &Table{Columns: []Column{{Name: b.X}, {Name: b.Y, Number: true}}}
	for _, x := range b.Bars {
		t.Rows = append(t.Rows, Row{{Text: x.Label}, numberCell(x.Value)})
	}
	return t
}

// SVG draws the bars.
func (b *Bars) SVG() HTML {
	const height = 260.0
	most := 0.0
	longest := 0
	for _, x := range b.Bars {
		most = max(most, x.Value)
		longest = max(longest, len([]rune(x.Label)))
	}
	pitch := min(64, max(22, 560/len(b.Bars)))
	tilted := 7*longest > pitch
	foot := bottomRoom
	if tilted {
		foot = 30 + 5*longest
	}
	d := struct {
		*Bars
		W, H, Left, Right, MidX, MidY, LabelY int
		Bottom                                float64
		YTicks                                []tick
		Drawn                                 []drawnBar
		Tilted                                bool
	}{Bars: b, W: leftRoom + pitch*len(b.Bars) + rightRoom, H: int(height) + foot, Left: leftRoom, Right: leftRoom + pitch*len(b.Bars),
		MidX: leftRoom + pitch*len(b.Bars)/2, MidY: int(height) / 2, LabelY: int(height) + foot - 8, Bottom: height, Tilted: tilted}
	s := Axis{}.scaleOf([]float64{0, most}, height, topRoom)
	if b.Log {
		s = scale{lo: -1, hi: max(1, math.Ceil(math.Log10(max(most, 1)))), from: height, to: topRoom, log: true}
	}
	d.YTicks = s.ticks()
	if b.Log {
		d.YTicks = d.YTicks[1:] // the bars are counts: 0.1 has no label
	}
	for i, x := range b.Bars {
		top := height
		if x.Value > 0 {
			top = min(s.at(x.Value), height-2)
		}
		title := x.Title
		if title == "" {
			title = fmt.Sprintf("%s: %s", x.Label, Number(x.Value))
		}
		left := leftRoom + i*pitch
		d.Drawn = append(d.Drawn, drawnBar{X: left + 2, Y: top, W: pitch - 4, H: round1(height - top), Mid: left + pitch/2, Label: show(x.Label), Title: show(title)})
	}
	d.W = max(d.W, leftRoom+rightRoom+8*len(b.X))
	return render("bars", d)
}

type drawnBar struct {
	X     int
	Y     float64
	W     int
	H     float64
	Mid   int
	Label string
	Title string
}
