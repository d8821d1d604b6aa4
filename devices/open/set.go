package open

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/corpus"
	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Set is targets that are open, each of them once. The zero Set has none.
type Set struct {
	targets   map[string]devices.Target
	unchecked []string // names of pairs of instructions that Pairs has left out
	byValue   []string // names of instructions that it has left out because they can only be compared by value
	renamed   []string // names of instructions that it has left out because the other side has them under another name alone
	unusual   []string // names of conversions and sums of integers that it has left out
}

// Target opens a target, unless it is open already.
func (s *Set) Target(name string) (devices.Target, error) {
	if t := s.targets[name]; t != nil {
		return t, nil
	}
	t, err := Target(name)
	if err == nil {
		if s.targets == nil {
			s.targets = map[string]devices.Target{}
		}
		s.targets[name] = t
	}
	return t, err
}

// Close closes all targets.
func (s *Set) Close() {
	for _, t := range s.targets {
		if err := t.Close(); err != nil {
			slog.Warn("cannot close a target", "error", err, "target", t.Name())
		}
	}
}

// Partial says which of the targets are recordings that were cut short, and how one goes on;
// "" if none is.
func (s *Set) Partial() string {
	var files []string
	for _, name := range slices.Sorted(maps.Keys(s.targets)) {
		t, ok := s.targets[name].(interface{ Recording() *corpus.Recording })
		if ok && !t.Recording().Complete {
			files = append(files, name)
		}
	}
	switch len(files) {
	case 0:
		return ""
	case 1:
		return files[0] + " was cut short, and only what it has is compared (mmafuzz record goes on with it)"
	}
	return strings.Join(files, " and ") + " were cut short, and only what they have is compared (mmafuzz record goes on with them)"
}

// LeftOut says which instructions Pairs has left out, because the rule of a simulator was never
// compared with hardware, because they convert or add integers, because the two sides have other
// names for them or because one side has them for other encodings, and how one compares them all
// the same.
func (s *Set) LeftOut() []string {
	var all []string
	for _, x := range s.omitted() {
		all = append(all, "left out: "+x.text+" ("+x.how+")")
	}
	return all
}

// LeftOutInShort says in a few words what LeftOut says; "" if nothing was left out.
func (s *Set) LeftOutInShort() string {
	var all []string
	for _, x := range s.omitted() {
		all = append(all, x.short)
	}
	return strings.Join(all, ", ")
}

// omission is what Pairs has left out for one reason.
type omission struct{ text, short, how string }

func (s *Set) omitted() (all []omission) {
	for _, x := range []struct {
		names             []string
		why, one, several string
	}{
		{s.unchecked, "whose rules no hardware has confirmed", "--inst compares it all the same", "--inst NAME compares one all the same"},
		{s.renamed, "that the other side has under another name", "--inst compares it with the nearest", "--inst NAME compares one with the nearest"},
		{s.unusual, "that convert or add integers", "--inst compares it", "--inst compares them, such as --inst s8 or --inst '*cvt*'"},
		{s.byValue, "for FP8, which one side has in OCP's encodings and the other in FNUZ's", "--inst fp8 compares it by value", "--inst fp8 compares them by value"},
	} {
		slices.Sort(x.names)
		names := slices.Compact(x.names)
		short := readable.Plural(len(names), "instruction") + " " + x.why
		switch len(names) {
		case 0:
		case 1:
			all = append(all, omission{names[0] + ", " + x.why, short, x.one})
		default:
			all = append(all, omission{short + ", such as " + names[0], short, x.several})
		}
	}
	return all
}

// Pairs opens two targets, each TARGET[/INSTRUCTION], and returns the pairs of their
// instructions that devices.Pairs returns. instA and instB name the instructions of targets
// whose names do not.
func (s *Set) Pairs(a, b, instA, instB string) ([]devices.Pair, error) {
	specA, ownA := devices.Split(a)
	specB, ownB := devices.Split(b)
	if ownA != "" {
		instA = ownA
	}
	if ownB != "" {
		instB = ownB
	}
	ta, err := s.Target(specA)
	if err != nil {
		return nil, err
	}
	tb, err := s.Target(specB)
	if err != nil {
		return nil, err
	}
	if ta.Instructions() == nil && tb.Instructions() == nil {
		return nil, hint.New("replace one by a target with instructions of its own, for example --a sim:hopper", "%s and %s both work on any formats", specA, specB)
	}
	pairs, unchecked, err := devices.PairsChecked(ta, tb, instA, instB)
	s.unchecked = append(s.unchecked, unchecked...)
	if err == nil && instA == "" && instB == "" {
		s.renamed = append(s.renamed, devices.OtherNames(ta, tb, pairs)...)
		s.byValue = append(s.byValue, devices.OnlyByValue(ta, tb)...)
		s.unusual = append(s.unusual, devices.Unusual(ta, tb, pairs)...)
	}
	if unknown := (interface{ Unmodelled() })(nil); errors.As(err, &unknown) && tb.Instructions() != nil {
		return pairs, hint.Add(err, "mmafuzz list instructions %s --unverified lists those without a model", tb.Name())
	}
	if instB != "" {
		if _, errB := devices.Select(tb, instB); errB != nil || instA == "" {
			return pairs, hint.Add(err, "%s", InstructionHint(tb, instB))
		}
	}
	if _, errA := devices.Select(ta, instA); errA == nil || ta.Instructions() == nil {
		return pairs, hint.Add(err, "%s", InstructionHint(tb, "")) // what is missing there
	}
	return pairs, hint.Add(err, "%s", InstructionHint(ta, instA))
}

// AllPairs pairs each of the targets with each later one, on one instruction, which either
// target may have, or on all if inst is "". Two that cannot be paired are left out.
func (s *Set) AllPairs(targets []string, inst string, leftOut func(a, b string, why error)) ([]devices.Pair, error) {
	var all []devices.Pair
	var last error
	for i, a := range targets {
		for _, b := range targets[i+1:] {
			ps, err := s.eitherWay(a, b, inst)
			if err != nil {
				leftOut(a, b, err)
				last = err
				continue
			}
			all = append(all, ps...)
		}
	}
	if len(all) == 0 {
		return nil, last
	}
	return all, nil
}

// eitherWay pairs two targets by an instruction of either of them.
func (s *Set) eitherWay(a, b, inst string) ([]devices.Pair, error) {
	ps, err := s.Pairs(a, b, inst, "")
	if err == nil || inst == "" {
		return ps, err
	}
	if ps, second := s.Pairs(a, b, "", inst); second == nil {
		return ps, nil
	}
	return nil, err
}

// WithAll pairs an instruction of a target with that of every simulated architecture. Those
// that do not take its operands are left out.
func (s *Set) WithAll(a, inst string, leftOut func(a, b string, why error)) ([]devices.Pair, error) {
	var all []devices.Pair
	spec, own := devices.Split(a)
	t, err := s.Target(spec)
	if err != nil {
		return nil, err
	}
	if _, err := devices.Select(t, cmp.Or(own, inst)); err != nil && t.Instructions() != nil {
		return nil, hint.Add(err, "%s", InstructionHint(t, cmp.Or(own, inst)))
	}
	for _, arch := range mma.Archs {
		b := "sim:" + arch.Name
		if spec == b {
			continue
		}
		ps, err := s.Pairs(a, b, inst, "")
		if err != nil {
			leftOut(a, b, err)
			continue
		}
		all = append(all, ps...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no architecture has an instruction that takes the operands of %s %s", a, inst)
	}
	return all, nil
}
