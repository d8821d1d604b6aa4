package document

import (
	"fmt"
	"strings"
	"sync"
)

// Color is a colour of pages and pictures in the light and in the dark.
type Color struct{ Name, Light, Dark string }

// Colors are all colours. What is written on what is in Contrasts.
var Colors = []Color{
	{"paper", "#ffffff", "#14171c"},
	{"shade", "#f3f5f8", "#1f242c"}, // of code, headings of tables
	{"line", "#c4cad3", "#424b58"},  // between cells
	{"ink", "#1a1d23", "#e6e9ee"},
	{"faint", "#545c69", "#a7b0bd"}, // less important text
	{"link", "#0b57c2", "#86b7ff"},
	{"good", "#1b6b33", "#7fd495"},
	{"bad", "#b3261e", "#ff9b92"},
	{"alert", "#fff3d6", "#3a2f12"}, // behind what must not be missed

	// The alignment picture: what is behind its bits, and the last three for text.
	{"one", "#1f5fbf", "#8ab4f8"},   // a 1 that counts
	{"zero", "#dde5f0", "#2d3a4d"},  // a 0 that counts
	{"here", "#b84a00", "#ffb061"},  // a 1 that counts on this side only
	{"lost", "#fde4e1", "#46211f"},  // what is dropped
	{"onone", "#ffffff", "#10141a"}, // written on a 1 that counts, here or on both sides
	{"sum", "#1b6b33", "#7fd495"},
	{"cut", "#b3261e", "#ff9b92"},

	// Series of plots, which also differ in their dashes and marks.
	{"s1", "#1f5fbf", "#8ab4f8"},
	{"s2", "#b84a00", "#ffb061"},
	{"s3", "#1b6b33", "#7fd495"},
	{"s4", "#8a2e8f", "#e3a0e8"},
	{"s5", "#5b5200", "#d8cc6a"},
	{"s6", "#00666b", "#6fd3d9"},

	// Levels of heat maps, from nothing to everything, and what is written on them.
	{"h0", "#eef1f5", "#1f242c"},
	{"h1", "#fdeecb", "#4a3a12"},
	{"h2", "#fbd08a", "#6b4a0a"},
	{"h3", "#f5a65b", "#8f5210"},
	{"h4", "#c2480f", "#ffab6b"},
	{"h5", "#861f0a", "#ffd9b8"},
	{"onlow", "#1a1d23", "#f4f6f9"},
	{"onhigh", "#ffffff", "#14171c"},
}

// Contrasts lists which colours are written on which, for the test that people can read
// them.
var Contrasts = []struct{ Text, On string }{
	{"ink", "paper"}, {"ink", "shade"}, {"ink", "alert"}, {"faint", "paper"}, {"faint", "shade"}, {"link", "paper"}, {"link", "shade"},
	{"good", "paper"}, {"bad", "paper"}, {"good", "shade"}, {"bad", "shade"},
	{"onone", "one"}, {"onone", "here"}, {"ink", "zero"}, {"bad", "lost"}, {"ink", "lost"}, {"sum", "paper"}, {"sum", "shade"}, {"cut", "paper"}, {"cut", "shade"},
	{"s1", "paper"}, {"s2", "paper"}, {"s3", "paper"}, {"s4", "paper"}, {"s5", "paper"}, {"s6", "paper"},
	{"onlow", "h0"}, {"onlow", "h1"}, {"onlow", "h2"}, {"onlow", "h3"}, {"onhigh", "h4"}, {"onhigh", "h5"},
}

// pictureStyle is the style sheet of pictures: the colours as variables, and the classes
// that SVG of this project uses. A picture in a file of its own brings it along.
var pictureStyle = sync.OnceValue(styleOfPictures)

func styleOfPictures() string {
	var light, dark, classes strings.Builder
	for _, c := range Colors {
		fmt.Fprintf(&light, "--%s:%s;", c.Name, c.Light)
		fmt.Fprintf(&dark, "--%s:%s;", c.Name, c.Dark)
		fmt.Fprintf(&classes, ".f-%s{fill:var(--%s)}.k-%s{stroke:var(--%s)}\n", c.Name, c.Name, c.Name, c.Name)
	}
	return ":root,svg{" + light.String() + "}\n@media (prefers-color-scheme:dark){:root,svg{" + dark.String() + "}}\n" +
		"@media print{:root,svg{" + light.String() + "}}\n" + classes.String() + `svg{font:13px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif}
svg text{fill:var(--ink)}
svg .faint{fill:var(--faint)}
svg .bits,svg .code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
svg .bold{font-weight:600}
svg .big{font-size:15px}
svg .small{font-size:11px}
svg .mid{text-anchor:middle}
svg .end{text-anchor:end}
svg .gone{text-decoration:line-through}
svg .none{fill:none}
svg .thick{stroke-width:2.5}
`
}
