package diff

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
)

// screen is how many lines the differences of many pairs may take: with the line of what was left
// out and the next prompt they fit a terminal of 40.
const screen = 36

// group is the pairs of instructions that differ by the same changes.
type group struct {
	pairs []*Difference
}

// groups sorts pairs by their changes: those with most changes first, then those with most
// pairs. Pairs without a difference are in none.
func groups(all []*Difference) []group {
	var list []group
	at := map[string]int{}
	for _, d := range all {
		if len(d.Parts) == 0 {
			continue
		}
		var key strings.Builder
		for i := range d.Parts {
			fmt.Fprintln(&key, d.Parts[i].labels(), d.Parts[i].Changes)
		}
		i, ok := at[key.String()]
		if !ok {
			i = len(list)
			at[key.String()], list = i, append(list, group{})
		}
		list[i].pairs = append(list[i].pairs, d)
	}
	slices.SortStableFunc(list, func(x, y group) int {
		return cmp.Or(cmp.Compare(y.changes(), x.changes()), cmp.Compare(len(y.pairs), len(x.pairs)))
	})
	return list
}

// changes is the number of parameters that differ.
func (g *group) changes() (n int) {
	for _, p := range g.pairs[0].Parts {
		n += len(p.Changes)
	}
	return n
}

// WriteGroups writes the differences of many pairs for people, in one screen: pairs with the same
// changes are one entry. a and b are the targets.
func WriteGroups(w io.Writer, width int, bold func(string) string, a, b string, all []*Difference) {
	list := groups(all)
	same := namesOf(slices.DeleteFunc(slices.Clone(all), func(d *Difference) bool { return len(d.Parts) > 0 }))
	head := fmt.Sprintf("%s and %s: %d of %s differ", a, b, len(all)-len(same), pairs(len(all)))
	if len(list) > 1 {
		head += fmt.Sprintf(", in %d ways", len(list))
	}
	fmt.Fprint(w, readable.Hanging(head, width))
	tail := ""
	if len(same) > 0 {
		tail = "\n" + readable.Hanging("the same arithmetic: "+strings.Join(readable.First(same, 4), ", "), width)
	}
	left := screen - lines(head) - lines(tail) - 3 // of the last paragraph
	for i := range list {
		left -= lines(list[i].short(width))
	}
	for i := range list {
		entry, short := list[i].text(width, bold), list[i].short(width)
		if more := lines(entry) - lines(short); more <= left {
			left -= more
		} else {
			entry = short
		}
		fmt.Fprint(w, entry)
	}
	fmt.Fprint(w, tail+"\n")
	fmt.Fprint(w, readable.Hanging("with -v: every pair with the input that shows each change, and what the models rest on", width))
}

// short is the entry of a group for which there is no room: its instructions, and which parts of the
// arithmetic differ.
func (g *group) short(width int) string {
	var labels []string
	for i := range g.pairs[0].Parts {
		if l := g.pairs[0].Parts[i].labels(); !slices.Contains(labels, l) {
			labels = append(labels, l)
		}
	}
	names := strings.Join(readable.First(namesOf(g.pairs), 1), " ")
	return "\n" + readable.Hanging(fmt.Sprintf("%s: %s", names, strings.Join(readable.First(labels, 4), ", ")), width)
}

// text is the entry of a group: its instructions, its changes, and the shortest input that shows
// one of them.
func (g *group) text(width int, bold func(string) string) string {
	var text bytes.Buffer
	fmt.Fprint(&text, "\n", readable.Hanging(strings.Join(readable.First(namesOf(g.pairs), 3), ", "), width))
	t := readable.Table{Width: width}
	shortest, by := "", ""
	for i, p := range g.pairs[0].Parts {
		t.Add("  "+p.labels(), readable.Converted(g.pairs[0].formats, readable.Changes(p.Changes, 4, g.pairs[0].a, g.pairs[0].b)))
		for _, d := range g.pairs {
			if q := &d.Parts[i]; q.Witness != "" && (shortest == "" || len(q.Witness) < len(shortest)) {
				shortest, by = q.Witness, readable.Converted(d.formats, q.shownBy())
				if d != g.pairs[0] {
					by += ", on " + d.name
				}
			}
		}
	}
	if by != "" {
		t.Add("  smallest input", strings.TrimPrefix(by, "shown by "))
	}
	t.Write(&text, bold)
	return text.String()
}

func namesOf(all []*Difference) (names []string) {
	for _, d := range all {
		names = append(names, d.name)
	}
	return names
}

// pairs counts pairs of instructions.
func pairs(n int) string {
	if n == 1 {
		return "1 pair of instructions"
	}
	return fmt.Sprintf("%d pairs of instructions", n)
}

func lines(text string) int { return strings.Count(text, "\n") }
