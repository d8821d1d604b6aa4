package document

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Canvas is a picture made of rectangles, paths and text, in pixels. What belongs together
// can be put between Begin and End, with a title for those who hover.
//
// Classes are those of pictureStyle: f-NAME fills, k-NAME draws outlines in a colour.
type Canvas struct {
	Title  string // what it shows, for those who cannot see it
	W, H   int    // grown by what is drawn
	shapes []shape
}

// shape is an element of the picture. Its Kind decides which of the other fields it has.
type shape struct {
	Kind       string
	X, Y, W, H int
	Xs         string // of the characters of a text
	Class, D   string
	Text       string
}

// grow makes room for a point.
func (c *Canvas) grow(x, y int) { c.W, c.H = max(c.W, x), max(c.H, y) }

// Rect draws a rectangle.
func (c *Canvas) Rect(x, y, w, h int, class string) {
	c.grow(x+w, y+h)
	c.shapes = append(c.shapes, shape{Kind: "rect", X: x, Y: y, W: w, H: h, Class: class})
}

// Path draws a path. It does not grow the picture: paths lie within what else is drawn.
func (c *Canvas) Path(d, class string) {
	c.shapes = append(c.shapes, shape{Kind: "path", D: d, Class: class})
}

// Text writes text whose line is at y.
func (c *Canvas) Text(x, y int, class, text string) {
	if text == "" {
		return
	}
	text = show(text)
	width := TextWidth(text)
	if strings.Contains(class, "bold") || strings.Contains(class, "code") {
		width = width * 12 / 10
	}
	switch {
	case strings.Contains(class, "mid"):
		c.grow(x+width/2, y+4)
	case strings.Contains(class, "end"):
		c.grow(x, y+4)
	default:
		c.grow(x+width, y+4)
	}
	c.shapes = append(c.shapes, shape{Kind: "text", X: x, Y: y, Class: class, Text: text})
}

// Spread writes the characters of text around the places xs.
func (c *Canvas) Spread(xs []int, y int, class, text string) {
	words := make([]string, len(xs))
	for i, x := range xs {
		words[i] = strconv.Itoa(x)
	}
	c.shapes = append(c.shapes, shape{Kind: "spread", Xs: strings.Join(words, " "), Y: y, Class: class, Text: text})
}

// Begin begins a group.
func (c *Canvas) Begin(title string) {
	c.shapes = append(c.shapes, shape{Kind: "begin", Text: show(title)})
}

// End ends it.
func (c *Canvas) End() { c.shapes = append(c.shapes, shape{Kind: "end"}) }

// TextWidth is about how wide text is, in pixels.
func TextWidth(text string) int { return len([]rune(text)) * 69 / 10 }

// Titled sets the title.
func (c *Canvas) Titled(title string) *Canvas {
	c.Title = title
	return c
}

// SVG draws the picture for a page.
func (c *Canvas) SVG() HTML {
	return render("canvas", struct {
		W, H   int
		Title  string
		Shapes []shape
	}{c.W, c.H, show(c.Title), c.shapes})
}

func (c *Canvas) empty() bool { return len(c.shapes) == 0 }

func (c *Canvas) data() *Table { return nil }

// File returns the picture as a file of its own.
func (c *Canvas) File() []byte { return standalone(c.SVG()) }

// colorRule is a line of the style sheet that is about one colour.
var colorRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\.f-(\w+){`) })

// usedStyle is the style sheet of pictures without the rules of colours that do not occur.
func usedStyle(svg string) string {
	var b strings.Builder
	for line := range strings.Lines(compact(pictureStyle())) {
		m := colorRule().FindStringSubmatch(line)
		if m == nil || strings.Contains(svg, "f-"+m[1]) || strings.Contains(svg, "k-"+m[1]) || m[1] == "paper" {
			b.WriteString(line)
		}
	}
	return b.String()
}
