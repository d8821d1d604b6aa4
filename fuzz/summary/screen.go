package summary

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/fuzz"
	"github.com/mmafuzz/mmafuzz/sim/mma"
	"github.com/mmafuzz/mmafuzz/triage"
)

// overviewMost is the largest number of lines about instructions and causes that leaves room for a
// picture on a screen of 40 lines.
const overviewMost = 14

// overview writes which instructions differ, and why: in whole if that leaves room for a picture
// or if it is verbose, else the causes in a line each, and at last also the instructions in one.
func (w *printer) overview() {
	for _, short := range [...]struct{ pairs, causes bool }{{false, false}, {false, true}, {true, true}} {
		text := w.written(func(w *printer) { w.pairTables(short.pairs); w.causes(short.causes) })
		if w.Verbose || short.pairs || bytes.Count(text, []byte("\n")) <= overviewMost {
			w.Writer.Write(text)
			return
		}
	}
}

// written returns what f writes.
func (w *printer) written(f func(*printer)) []byte {
	var b bytes.Buffer
	f(&printer{&b, w.TextOptions, w.sum, w.state})
	return b.Bytes()
}

// worstPair names the instruction on which two targets differ most often.
func (w *printer) worstPair(pairs []*fuzz.PairState) {
	share := func(p *fuzz.PairState) float64 { return float64(p.Mismatches()) / float64(max(1, p.Dots)) }
	worst := slices.MaxFunc(pairs, func(p, q *fuzz.PairState) int { return cmp.Compare(share(p), share(q)) })
	fmt.Fprint(w, readable.Indented(2, fmt.Sprintf("most often on %s: %s (-v lists all)", worst.Name, readable.Share(worst.Mismatches(), worst.Dots)), w.Width))
}

// causesMost is the largest number of causes that have a row each where they are written in short.
const causesMost = 7

// shortCauses has a line for each of the largest causes: on how many instructions it was seen, and
// as many of the changes behind it as fit. The others are named in a row of their own.
func (w *printer) shortCauses(all []fuzz.Cause) {
	rows := len(all)
	if rows > causesMost {
		rows = causesMost - 1
	}
	total, many := totalOf(all), len(w.state.Pairs) > 1
	g := readable.Table{Width: w.Width, Right: map[int]bool{0: true, 1: true, 2: many}, Head: true}
	add := func(cases, share, on, cause, words string) {
		cells := []string{cases, share, on, cause, words}
		if !many {
			cells = slices.Delete(cells, 2, 3)
		}
		g.Add(cells...)
	}
	add("CASES", "SHARE", w.counted(), causeHead(all), "WHAT DIFFERS")
	for _, c := range all[:rows] {
		add(readable.Thousands(c.Cases), readable.Share(c.Cases, total), fmt.Sprint(c.Pairs), c.Name, "")
	}
	if rest := all[rows:]; len(rest) > 0 {
		var names []string
		for _, c := range rest {
			names = append(names, c.Name)
		}
		cases := totalOf(rest)
		add(readable.Thousands(cases), readable.Share(cases, total), "", fmt.Sprintf("%d others", len(rest)), strings.Join(names, ", "))
	}
	short := w.shortWords()
	for i, c := range all[:rows] {
		cells := g.Rows[i+1]
		classes := classesOf(&c)
		cells[len(cells)-1] = short(triage.Label(c.Name), g.Room()-utf8.RuneCountInString(classes)) + classes
	}
	g.Write(w, nil)
}

// shortWords returns a function that says what is behind a cause in as much room as there is: the
// changes from A's arithmetic to B's, or what the cause means if there are none that fit.
func (w *printer) shortWords() func(triage.Label, int) string {
	const most = 3 // changes of one pair that are written
	all := changesBehind(w.state, ofAnyLabel(mma.Brief))
	return func(l triage.Label, room int) string {
		if x := all[l]; len(x) == 1 && x[0].instead != "" && utf8.RuneCountInString(x[0].whole()) <= mostRule*room {
			return x[0].whole()
		}
		var pairs [][]string
		for _, b := range all[l] {
			changes := []string{b.text}
			if !l.Ruled() {
				changes = strings.Split(b.text, ", ")
			}
			pairs = append(pairs, changes)
		}
		for each := most; each > 0; each-- {
			for n := len(pairs); n > 0; n-- {
				if text := firstChanges(pairs, n, each); utf8.RuneCountInString(text) <= room {
					return text
				}
			}
		}
		rule := ruleAlone(l, all[l])
		if rule != "" && utf8.RuneCountInString(rule) <= mostRule*room {
			return rule
		}
		if what, _, long := strings.Cut(rule, ". "); long && l == triage.Schedule {
			return what + " (the picture says how)"
		}
		return labelDoc(w.state, string(l))
	}
}

// mostRule are the lines that a rule, or a cause with another that no input tells apart, may take in a table that
// has one for each cause otherwise: they say more than what a label means.
const mostRule = 4

// ruleAlone is the rule behind a cause that is one, without the counts of inputs at its end; "": it is none.
func ruleAlone(l triage.Label, all []behind) string {
	if !l.Ruled() || len(all) == 0 {
		return ""
	}
	rule := all[0].text
	if i := strings.LastIndex(rule, " ("); i > 0 && strings.HasSuffix(rule, ")") {
		rule = rule[:i]
	}
	return rule
}

// firstChanges writes the first changes of the first n pairs, and how many others there are of
// all pairs together.
func firstChanges(pairs [][]string, n, each int) string {
	var texts []string
	shown, others := map[string]bool{}, map[string]bool{}
	for i, changes := range pairs {
		first := 0
		if i < n {
			first = min(each, len(changes))
			if text := strings.Join(changes[:first], ", "); !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
		for _, c := range changes[:first] {
			shown[c] = true
		}
		for _, c := range changes[first:] {
			others[c] = true
		}
	}
	maps.DeleteFunc(others, func(c string, _ bool) bool { return shown[c] })
	text := strings.Join(texts, "; ")
	if len(others) > 0 {
		text += fmt.Sprintf(", and %d more", len(others))
	}
	return text
}
