// # JSON
//
// go doc ./cmd/mmafuzz says what all JSON of mmafuzz has in common, and what ? and * mark.
//
// run of kernels:
//
//	a                string    name of the first side
//	b                string    name of the second side
//	seed             number    of all shapes and matrices
//	label            string    the part of the schedule by which they differ, tail, unexplained or varies; empty if they agree
//	products         number    that were compared
//	differ           number    of these, those that differ
//	elements         number    of all products
//	wrong            number    of these, those that differ
//	inputs           object*   products that differ, by the kind of their operands
//	lost[].side      string?   a side that does not sum every product once, whatever the other gives
//	lost[].k         number?   of a product that shows it
//	lost[].sum       number?   of so many ones
//	lost[].missing[]  number?  k of those marked that are not summed
//	lost[].repeated[]  number?  k of those marked that are summed more than once
//	lost[].tail      bool?     all marked k after the first that is missing are missing
//	lost[].from      number?   the k after the last marked one that is summed once; 0: none is
//	varies           string?   a side that gives other results when it is asked again
//	turned           bool?     why is of B, whose schedule, changed, gives A's bits
//	why.label        string?   the part of A's schedule whose change gives B's bits
//	why.words        string?   the change
//	why.checked      number?   elements on which it does
//	why.others[]     string?   parts whose changes give the same bits there
//	why.first        string?   the first partial sum of the smallest product that differs
//	fresh            number    other products that were compared with the changed schedule
//	rest             number    of these, those that differ: the change is not all
//	unfound          string?   a side whose schedule was looked for in vain
//	sides.inferred[]  string?  sides whose schedules were inferred, as no small change explains it
//	sides.change     string?   by which the other side has the schedule of the one that was inferred
//	sides.shape.M    number?   of the products for which it was
//	sides.shape.N    number?
//	sides.shape.K    number?
//	sides.checked    number?   elements on which what was inferred has its bits
//	sides.fields[].path  string?  a field in which the schedules of both sides differ
//	sides.fields[].a  string?
//	sides.fields[].b  string?
//	sides.untold     number?   products of this run on which all values of the fields that are left out give the same bits; 0: none is
//	smallest.M       number?   the smallest product that differs: rows
//	smallest.N       number?   columns
//	smallest.K       number?   products of an element
//	smallest.Row     number?   of an element that differs
//	smallest.Column  number?
//	smallest.Terms   number?   products that are not zero
//	smallest.A       string?   code that A gives
//	smallest.B       string?   code that B gives
//	smallest.D       string?   their format
//	same             string?   for which K the schedules are the same function
//	bundle           string?   directory of the smallest product
//
// diff of kernels, and prove:
//
//	a                string    name of the first kernel
//	b                string    name of the second kernel
//	verdict          string    same, different, or undecided: no product differs, and the operations do
//	fields[].path    string?   a field of their files that differs: go doc ./sim/schedule Kernel
//	fields[].a       string?   its value; - where there is none
//	fields[].b       string?
//	same             string?   for which K they are the same function
//	smallest.M       number?   the smallest product found that differs, as in run
//	smallest.N       number?
//	smallest.K       number?
//	smallest.Row     number?
//	smallest.Column  number?
//	smallest.Terms   number?
//	smallest.A       string?
//	smallest.B       string?
//	smallest.D       string?
//	measured[].k     number?   K of a product of normal operands
//	measured[].elements  number?
//	measured[].differ    number?  elements that differ
//	measured[].most      number?  largest distance, in ulp
//	measured[].counts[]  number?  elements by their distance: 0, 1, 2..3, 4..7 ulp and so on
package kernel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/document"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/sim/schedule"
)

// Found is what a Fuzz has found.
type Found struct {
	A        string         `json:"a"` // names of the sides
	B        string         `json:"b"`
	Seed     uint64         `json:"seed"`
	Products int            `json:"products"`
	Differ   int            `json:"differ"` // of these
	Elements int            `json:"elements"`
	Wrong    int            `json:"wrong"`            // of these, those that differ
	Inputs   map[string]int `json:"inputs"`           // products that differ, by the kind of their operands
	Lost     []Lost         `json:"lost,omitempty"`   // what products of known results have shown
	Varies   string         `json:"varies,omitempty"` // a side that gives other results when it is asked again
	Answer   *Answer        `json:"why,omitempty"`    // why they differ; nil if they do not, or no side is a kernel
	Turned   bool           `json:"turned,omitempty"` // why is of B: its schedule, changed, gives A's bits
	// Fresh is how many other products were compared with what the answer's kernel gives, and
	// Rest how many of them differ: there is more than one difference then.
	Fresh    int    `json:"fresh"`
	Rest     int    `json:"rest"`
	Sides    *Sides `json:"sides,omitempty"`    // how the schedules differ if no small change explains it
	Unfound  string `json:"unfound,omitempty"`  // a side whose schedule was looked for in vain
	Smallest *Case  `json:"smallest,omitempty"` // nil: they do not differ
	// Same is what is known without products: "", or for which K the sides are the same function.
	Same   string `json:"same,omitempty"`
	Bundle string `json:"bundle,omitempty"` // directory of the smallest product
}

// MarshalJSON writes it with its label.
func (f *Found) MarshalJSON() ([]byte, error) {
	type plain Found
	return json.Marshal(struct {
		*plain
		Label string `json:"label"`
	}{(*plain)(f), f.Label()})
}

// Label is the part of a schedule by which the sides differ, "" if they do not.
func (f *Found) Label() string {
	switch {
	case f.Varies != "":
		return "varies"
	case f.explained():
		return f.Answer.Label
	case f.Sides != nil:
		return f.Sides.Label()
	case slices.ContainsFunc(f.Lost, func(l Lost) bool { return l.Tail }):
		return "tail"
	case f.News():
		return "unexplained"
	}
	return ""
}

// explained reports whether a change of one schedule is all.
func (f *Found) explained() bool { return f.Answer != nil && f.Answer.Kernel != nil && f.Rest == 0 }

// changedSide is the side whose schedule is changed: its number, its letter, and that of the other.
func (f *Found) changedSide() (side int, letter, other string) {
	if f.Turned {
		return 1, "B", "A"
	}
	return 0, "A", "B"
}

// News reports whether anything is not as it should be.
func (f *Found) News() bool { return f.Differ > 0 || f.Lost != nil }

// Headline is what was found in a line.
func (f *Found) Headline() string {
	return fmt.Sprintf("%s and %s differ in %s of %s", f.A, f.B, readable.Count(uint64(f.Differ)), readable.Plural(f.Products, "matrix product"))
}

// Document is what was found for people.
func (f *Found) Document() *document.Document {
	r := &report{Headline: f.Headline(), Words: f.paragraphs(), label: f.Label()}
	if f.Sides != nil {
		r.Fields = f.Sides.Fields
	}
	if s := f.Smallest; s != nil {
		r.names, r.kernels, r.depth = [2]string{f.A, f.B}, s.kernels, s.K
		if side, _, _ := f.changedSide(); f.Sides != nil {
			if r.kernels = f.Sides.kernels; f.Sides.Inferred != nil {
				r.depth = f.Sides.Shape.K
			}
		} else if r.kernels[1-side] == nil {
			r.names[1-side], r.kernels[1-side] = r.names[side]+", changed", f.changed()
		}
	}
	if f.Bundle != "" {
		r.again = []document.Block{document.Text("bundle: " + f.Bundle), document.Command(f.command(f.Bundle))}
	}
	return r.document()
}

// paragraphs are what was found in words.
func (f *Found) paragraphs() (all []string) {
	if f.Smallest != nil {
		all = append(all, f.Smallest.String())
	}
	all = append(all, f.words()...)
	if f.Sides != nil {
		all = append(all, f.Sides.String())
	}
	return all
}

// labelOf explains a label.
func labelOf(label string) string {
	for _, l := range Labels {
		if l[0] == label {
			return ", " + l[1]
		}
	}
	return ""
}

// mostRanges is of how many ranges a line says which products are left.
const mostRanges = 8

// String is the case in a line.
func (c *Case) String() string {
	f := c.D.Get()
	number := func(code uint64) string {
		return fmt.Sprintf("%s = %.9g", mma.FormatCode(c.D, code), f.Float64(code))
	}
	apart := ""
	if a, b := f.Float64(c.A), f.Float64(c.B); a*b > 0 { // otherwise it counts nearly all numbers that there are
		apart = fmt.Sprintf(", %s ulp apart", readable.Ulps(float64(f.Distance(c.A, c.B))))
	}
	zeros := ""
	if c.Terms < c.K {
		zeros = fmt.Sprintf(", all but %s zero", readable.Plural(c.Terms, "product"))
		if n := len(c.left); n > 0 && n <= mostRanges {
			zeros += fmt.Sprintf(" (k %s)", c.left)
		}
	}
	return fmt.Sprintf("smallest: %d x %d elements, K = %d%s. Element (%d,%d): A %s, B %s%s.", c.M, c.N, c.K, zeros, c.Row, c.Column, number(c.A), number(c.B), apart)
}

// words says what was found, a sentence each.
func (f *Found) words() (words []string) {
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if f.Varies != "" {
		say("%s gives other results when it is asked again: that it differs proves nothing.", f.Varies)
	}
	_, x, other := f.changedSide()
	switch w := f.Answer; {
	case w == nil && f.Differ > 0 && f.Sides == nil && f.Varies == "":
		say("Unexplained: no schedule was found that has the bits of %s (mmafuzz infer --shape says more).", cmp.Or(f.Unfound, "one of the sides"))
	case w == nil:
	case f.Sides != nil && len(f.Sides.Fields) <= 2: // such a change was not tried, or is not all at other shapes
		say("The label names all fields in which the two schedules below differ.")
	case f.Sides != nil:
		say("No change of one or two fields of the schedule of %s that was tried gives the bits of %s on all matrix products: the label names all fields in which the two schedules below differ.", x, other)
	case w.Kernel == nil:
		say("Unexplained: none of the schedules that were tried, which differ from that of %s in one or two fields, gives the bits of %s.", x, other)
	case f.Rest > 0:
		say("Unexplained: %s differs in %s of %s fresh matrix products even if this is changed in the schedule of %s: %s.", other, readable.Count(uint64(f.Rest)), readable.Count(uint64(f.Fresh)), x, w.Words)
	default:
		say("%s has the bits of %s on %s elements and on %s fresh matrix products, if this is changed in its schedule: %s. The first partial sum that differs: %s.",
			x, other, readable.Count(uint64(w.Checked)), readable.Count(uint64(f.Fresh)), w.Words, w.First)
		if len(w.Others) > 0 {
			say("The products do not rule out a change of %s.", strings.Join(w.Others, ", "))
		}
	}
	for i := range f.Lost {
		words = append(words, f.Lost[i].String())
	}
	if f.Same != "" {
		words = append(words, f.Same)
	}
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(f.Inputs)) {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, f.Inputs[kind]))
	}
	if kinds != nil {
		say("Matrix products that differ, by their operands: %s.", strings.Join(kinds, ", "))
	}
	return words
}

// String says what is lost.
func (l *Lost) String() string {
	if l.Missing == nil && l.Repeated == nil {
		return fmt.Sprintf("Of ones, K = %d, %s sums %.0f.", l.K, l.Side, l.Sum)
	}
	if l.Tail {
		after := ""
		if l.From > 0 {
			after = fmt.Sprintf("; k %d is summed", l.From-1)
		}
		return fmt.Sprintf("By powers of two that mark some k of K = %d, %s has not summed: any of those that are marked from k %d on%s.", l.K, l.Side, l.Missing[0], after)
	}
	var parts []string
	for _, p := range []struct {
		ks   []int
		what string
	}{{l.Missing, "not summed"}, {l.Repeated, "summed more than once"}} {
		if p.ks != nil {
			parts = append(parts, fmt.Sprintf("%s: k %s", p.what, readable.Shorten(schedule.SetOf(p.ks).String(), 60)))
		}
	}
	return fmt.Sprintf("By powers of two that mark some k of K = %d, %s has %s.", l.K, l.Side, strings.Join(parts, "; "))
}

// command is the command that computes the smallest product again, with the bundle in dir.
func (f *Found) command(dir string) string {
	words := []string{"mmafuzz", "gemm"}
	for i, name := range []string{f.A, f.B} {
		if f.Smallest.kernels[i] != nil {
			name = dir + "/" + kernelFiles[i]
		}
		words = append(words, name)
	}
	words = append(words, "--a", dir+"/A.npy", "--b", dir+"/B.npy")
	for i, s := range f.scaleFiles() {
		if s != nil {
			words = append(words, "--"+ScaleFlags[i], dir+"/"+scaleNames[i])
		}
	}
	return readable.ShellCommand(words...)
}

// portable returns a kernel whose units all are in its file; nil if one is not.
func portable(k *schedule.Kernel) *schedule.Kernel {
	if k == nil || k.Unit == nil || k.Unit.Given == nil {
		return k
	}
	i := k.Unit.Given
	c := *k
	c.Name = cmp.Or(k.Name, "kernel")
	if same, err := mma.Lookup(i.Arch, i.Name); err == nil && same.Params == i.Params && same.Formats == i.Formats && same.K == i.K {
		c.Unit = &schedule.Unit{Instruction: i.Arch + "/" + i.Name}
		return &c
	}
	var model strings.Builder
	if err := mma.WriteModel(&model, i); err != nil {
		return nil
	}
	c.Unit = &schedule.Unit{Model: schedule.Raw(model.String())}
	return &c
}
