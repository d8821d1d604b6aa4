package change

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// An edit is the text of a change that sets parameters together. Its words, separated by
// blanks, are carried out from left to right:
//
//	acc.flush=keep|zero  set to each of these values
//	acc.flush=*          to each value of an enumeration
//	acc.mode=@           to each mode, the commonest first
//	join.cmode=?         to the usual modes (see usual)
//	join.cf=#            to each number of its range
//	acc.emin=fp16        to that of a format, as are emax and frac
//	acc.emin+8..-3       moved by each of these numbers
//	out=                 to nothing: a parameter, or all of a structure
//	acc<out              to what the original program has elsewhere
//	x,y=...              two parameters get the same value
//	?stage0              only if the original program has a stage 0
//	?leaf=first|last     only if the parameter has one of these values there
//	~stage0 ~l=1         only if not
//	fixed                with the rounding Late that it needs, to nearest (see FixLate)
//
// A word of several values makes a mutant for each, the last word's the fastest. In
// "{a b} x=$ ; y=$" the edits behind the braces are made for a, then for b. A path that
// begins with a dot belongs to a place: .flush of acc, or of each of several places.
type edit []word

type word struct {
	to    []mma.Field // they get the same value, or that of from
	from  []mma.Field
	op    byte
	value string
}

// fieldsAt returns the parameter of a path, or those of a structure.
func fieldsAt(at string) []mma.Field {
	at = strings.TrimSuffix(at, ".")
	return slices.DeleteFunc(slices.Clone(mma.Fields()), func(f mma.Field) bool { return f.Path != at && !strings.HasPrefix(f.Path, at+".") })
}

// parse reads edits that belong to some places. It panics if they name no parameter: they are
// part of the program.
func parse(places []string, lines []string) (all []edit) {
	for _, line := range lines {
		values, rest := []string{""}, line
		if list, behind, ok := strings.Cut(line, "}"); ok {
			values, rest = strings.Fields(strings.TrimPrefix(list, "{")), behind
		}
		for _, v := range values {
			for text := range strings.SplitSeq(strings.ReplaceAll(rest, "$", v), ";") {
				var e edit
				for w := range strings.FieldsSeq(text) {
					e = append(e, parseWord(places, w))
				}
				all = append(all, e)
			}
		}
	}
	return all
}

func parseWord(places []string, text string) word {
	w := word{op: text[0]}
	switch {
	case text == "fixed":
		return w
	case w.op == '?', w.op == '~':
		text, w.value, _ = strings.Cut(text[1:], "=")
	default:
		i := strings.IndexAny(text, "=<+")
		w.op, text, w.value = text[i], text[:i], text[i+1:]
	}
	paths := strings.Split(text, ",")
	if strings.HasPrefix(text, ".") {
		paths = nil
		for _, at := range places {
			paths = append(paths, at+text)
		}
	}
	for _, at := range paths {
		w.to = append(w.to, fieldsAt(at)...)
	}
	if w.op == '<' {
		w.from = fieldsAt(w.value)
	}
	if len(w.to) == 0 || w.op == '<' && len(w.from) != len(w.to) {
		panic("change: no parameters: " + text)
	}
	return w
}

// values returns the values that a word gives to its first parameter.
func (w *word) values(o *original) (all []int) {
	f := w.to[0]
	switch now := f.Int(&o.p); {
	case w.value == "":
		return []int{0}
	case w.op == '+':
		var from, to int
		if _, err := fmt.Sscanf(w.value, "%d..%d", &from, &to); err != nil {
			panic("change: " + w.value)
		}
		step := 1
		if to < from {
			step = -1
		}
		for d := from; d != to+step; d += step {
			all = append(all, now+d)
		}
		return all
	case w.value == "*":
		return f.Values()
	case w.value == "#":
		return allInRange(o, f)
	case w.value == "@":
		return numbersOf(modes)
	case w.value == "?":
		return numbersOf(usual(fp.Mode(now)))
	}
	for v := range strings.SplitSeq(w.value, "|") {
		all = append(all, valueOf(f, v))
	}
	return all
}

// holds reports whether the original program has one of the values of a condition, or any.
func (w *word) holds(o *original) bool {
	if w.value == "" {
		return slices.ContainsFunc(w.to, func(f mma.Field) bool { return f.Int(&o.p) != 0 })
	}
	return slices.Contains(w.values(o), w.to[0].Int(&o.p))
}

func numbersOf(ms []fp.Mode) (all []int) {
	for _, m := range ms {
		all = append(all, int(m))
	}
	return all
}

// valueOf reads a value of a parameter; the name of a format stands for a property of it where
// the parameter is no format.
func valueOf(f mma.Field, text string) int {
	var id fp.ID
	if f.Numeric() && id.UnmarshalText([]byte(text)) == nil {
		switch x := id.Get(); path.Ext(f.Path) {
		case ".emin":
			return int(x.Emin())
		case ".emax":
			return int(x.Emax())
		default:
			return int(x.FracBits)
		}
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	var p mma.Params
	if err := p.Apply([]mma.Change{{Path: f.Path, To: text}}); err != nil {
		panic("change: " + err.Error())
	}
	return f.Int(&p)
}

// make makes the mutants of the words from one on, of which the words before have made q.
func (c *changer) make(words edit, q mma.Params) {
	if len(words) == 0 {
		c.to(func(p *mma.Params) { *p = q })
		return
	}
	w := &words[0]
	switch w.op {
	case '?', '~':
		if w.holds(&c.original) != (w.op == '?') {
			return
		}
		c.make(words[1:], q)
		return
	case 'f':
		c.FixLate(&q, fp.RNE)
		c.make(words[1:], q)
		return
	case '<':
		for i, f := range w.to {
			f.SetInt(&q, w.from[i].Int(&c.p))
		}
		c.make(words[1:], q)
		return
	}
	for _, v := range w.values(&c.original) {
		for _, f := range w.to {
			f.SetInt(&q, v)
		}
		c.make(words[1:], q)
	}
}

// edits returns the changes of edits.
func edits(lines ...string) func(c *changer) {
	all := parse(nil, lines)
	return func(c *changer) {
		for _, e := range all {
			c.make(e, c.p)
		}
	}
}

// both returns the changes of one function and then those of another.
func both(first, second func(c *changer)) func(c *changer) {
	return func(c *changer) { first(c); second(c) }
}

// at returns the changes of edits at some places: at one after the other, in groups of their
// own if apart. A place of several paths, with blanks between them, is edited as one.
func at(apart bool, places func(c *changer) []string, all []string, lines ...string) func(c *changer) {
	parsed := map[string][]edit{}
	for _, p := range all {
		parsed[p] = parse(strings.Fields(p), lines)
	}
	return func(c *changer) {
		for _, p := range places(c) {
			if apart {
				c.next()
			}
			for _, e := range parsed[p] {
				c.make(e, c.p)
			}
		}
	}
}
