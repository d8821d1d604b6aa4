package devices

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// families are words for several formats of operands.
var families = map[string][]fp.ID{
	"fp8": {fp.E4M3, fp.E5M2, fp.E4M3FNUZ, fp.E5M2FNUZ},
	"fp6": {fp.E3M2, fp.E2M3},
	"fp4": {fp.E2M1},
}

// WithFormat returns the instructions of which A or B is in a format, which has the name of one or
// is fp8, fp6 or fp4: any of so many bits.
func WithFormat(all []mma.Instruction, format string) (some []mma.Instruction) {
	ids := formatsOf(format)
	for _, i := range all {
		if slices.Contains(ids, i.A) || slices.Contains(ids, i.B) {
			some = append(some, i)
		}
	}
	return some
}

// formatsOf returns the formats that a word stands for, none if it is no word for formats.
func formatsOf(word string) []fp.ID {
	ids := families[strings.ToLower(word)]
	if id, err := fp.Parse(word); ids == nil && err == nil && id != fp.None {
		ids = []fp.ID{id}
	}
	return ids
}

// Select returns the instructions of a target that a selection stands for: words with commas
// between them, each a name, alias or unique beginning, a pattern in which * stands for anything, or a
// format of A or B as WithFormat takes it. Of patterns and formats, those that cannot be executed
// are left out if others can, and so are, if there is anything else and unless the word has cvt in it,
// those that are not usual.
func Select(t Target, selection string) ([]mma.Instruction, error) {
	var all []mma.Instruction
	for word := range strings.SplitSeq(selection, ",") {
		some, err := selectWord(t, word)
		if err != nil {
			return nil, err
		}
		for _, i := range some {
			if !slices.ContainsFunc(all, func(have mma.Instruction) bool { return have.Name == i.Name }) {
				all = append(all, i)
			}
		}
	}
	return all, nil
}

func selectWord(t Target, word string) ([]mma.Instruction, error) {
	rows := t.Instructions()
	i, err := mma.Search(t.Name(), rows, word)
	if err == nil {
		return []mma.Instruction{*i}, nil
	}
	some := WithFormat(rows, word)
	if isPattern(word) {
		some = slices.DeleteFunc(slices.Clone(rows), func(i mma.Instruction) bool {
			return !fits(word, i.Name) && (i.Alias == "" || !fits(word, i.Alias))
		})
	}
	if !strings.Contains(word, "cvt") {
		some = products(some)
	}
	switch run := slices.DeleteFunc(slices.Clone(some), func(i mma.Instruction) bool { return i.Refuse != "" }); {
	case len(run) > 0:
		return run, nil
	case len(some) > 0:
		return some, nil
	case isPattern(word):
		return nil, fmt.Errorf("%s has no instruction that fits %s", t.Name(), word)
	case formatsOf(word) != nil:
		return nil, fmt.Errorf("%s has no instruction with operands in %s", t.Name(), word)
	}
	return nil, err
}

// Usual reports whether an instruction is meant where none is named: a sum of floating-point
// products. Conversions, sums of integers and wmma, whose steps are those of mma, have to be named.
func Usual(i mma.Instruction) bool {
	return !i.Conversion() && !i.D.Integer() && !strings.HasPrefix(i.Name, "wmma.")
}

// products leaves out what is not usual, unless there is nothing else.
func products(all []mma.Instruction) []mma.Instruction {
	some := slices.DeleteFunc(slices.Clone(all), func(i mma.Instruction) bool { return !Usual(i) })
	if len(some) == 0 {
		return all
	}
	return some
}

// fits reports whether a name, which has no slash, fits a pattern.
func fits(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func isPattern(word string) bool { return strings.Contains(word, "*") }

// isName reports whether a selection consists of names of instructions alone.
func isName(t Target, selection string) bool {
	if selection == "" {
		return false
	}
	for word := range strings.SplitSeq(selection, ",") {
		if _, err := mma.Search(t.Name(), t.Instructions(), word); err != nil {
			return false
		}
	}
	return true
}

// chosen is Select, and any selection stands for the only instruction of a target.
func chosen(t Target, selection string) ([]mma.Instruction, error) {
	some, err := Select(t, selection)
	if all := t.Instructions(); err != nil && len(all) == 1 {
		return all, nil
	}
	return some, err
}
