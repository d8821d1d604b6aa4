package report

import (
	"fmt"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
)

// note says what happened to a term or to a sum: in the letters of the literature in the text, in
// words in the picture that is drawn.
type note struct {
	kind    noteKind
	by      string  // what rounds: product, or the name of a rounding that another one follows; "": the last one
	mode    fp.Mode // of a rounding
	outcome outcome
	up, neg bool   // the magnitude grows; the number is negative
	bits    string // those that are dropped where the magnitude does not grow, the first few
	below   int32  // of tooSmall
	said    string // of plain and atEnd
}

type noteKind uint8

// The kinds of notes.
const (
	noNote   noteKind = iota
	said              // in words that both media use
	tooSmall          // a term is dropped: its exponent is more than below less than the largest
	moved             // a cut has moved a term away from zero
	rounded           // a rounding with its outcome
	atEnd             // a number met an end of the range
)

// outcome is what a rounding did.
type outcome uint8

// The outcomes.
const (
	keptAll    outcome = iota // nothing: the number can be represented; the sum may have lost bits before
	toZero                    // nothing is left
	tieToZero                 // nothing is left of a tie
	tieToEven                 // a tie went to the even neighbour
	tieAway                   // a tie went away from zero
	movedAway                 // the magnitude grew
	droppedAll                // bits are dropped
)

// style is how notes are written: inLetters or inWords.
type style int

const (
	inLetters style = iota
	inWords
)

// outcomes has how each outcome is written in each style; %s is what is dropped, or where a number
// goes.
var outcomes = [...][2]string{
	keptAll:    {"keeps all", "that changes nothing"},
	toZero:     {"to zero", "to zero"},
	tieToZero:  {"tie → even (zero)", "a tie, which goes to the even neighbour (zero)"},
	tieToEven:  {"tie → even (%s)", "a tie, which goes to the even neighbour (%s)"},
	tieAway:    {"tie → away (%s)", "a tie, which goes away from zero (%s)"},
	movedAway:  {"%s", "%s"},
	droppedAll: {"%s", "%s"},
}

// upward and downward are where a number goes whose magnitude grows, by 1 in the last place that is kept.
var upward, downward = [2]string{"+1", "to the next higher number"}, [2]string{"+1", "to the next lower number"}

// sayNote is a note in words that both media use; none if they are empty.
func sayNote(text string) note {
	if text == "" {
		return note{}
	}
	return note{kind: said, said: text}
}

// loses reports whether a rounding changes its number.
func (n *note) loses() bool { return n.kind == rounded && n.outcome != keptAll }

// isLast reports whether a note is that of the rounding to the result.
func (n *note) isLast() bool { return n.kind == rounded && n.by == "" }

// roundedBy is the note of a rounding with its name.
func (n note) roundedBy(name string) note {
	n.by = name
	return n
}

// text writes a note in letters.
func (n *note) text() string {
	text := n.said
	switch n.kind {
	case tooSmall:
		text = fmt.Sprintf("dropped: e < E-%d", n.below)
	case moved, rounded:
		text = modeName(n.mode) + " " + n.outcomeIn(inLetters)
	}
	if n.by != "" {
		return n.by + " " + text
	}
	return text
}

// words writes a note without letters that a reader would have to look up.
func (n *note) words() string {
	switch n.kind {
	case tooSmall:
		return fmt.Sprintf("dropped: more than %d below the largest exponent", n.below)
	case moved, rounded:
		return n.roundingInWords() + ": " + n.outcomeIn(inWords)
	}
	return n.text()
}

// roundingInWords says how a number is rounded.
func (n *note) roundingInWords() string {
	what := "first rounded " // another rounding follows
	switch n.by {
	case "":
		what = "rounded "
	case "product":
		what = "product rounded "
	}
	return what + modeInWords(n.mode)
}

// outcomeIn writes the outcome of a rounding in a style.
func (n *note) outcomeIn(s style) string {
	text := outcomes[n.outcome][s]
	if !strings.Contains(text, "%s") {
		return text
	}
	detail := "drops " + n.bits
	switch {
	case n.up && n.neg:
		detail = downward[s]
	case n.up:
		detail = upward[s]
	case s == inWords && n.bits == "x":
		detail = "drops one bit, a 1"
	case s == inWords:
		detail = "drops the bits " + strings.NewReplacer(".", "0", "x", "1").Replace(n.bits)
	}
	return fmt.Sprintf(text, detail)
}
