package devices

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/mmafuzz/mmafuzz/sim/byvalue"
	"github.com/mmafuzz/mmafuzz/sim/fp"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Pair is two units that take the same operands.
type Pair struct {
	A, B Unit
	// Names of the targets, for people and for Open.
	TargetA, TargetB string
	// Digests of the targets' files, where they have some: see DigestOf.
	DigestA, DigestB string
	// K is the length of the dot products on which the two are compared: the
	// least common multiple of their K.
	K int
	// ProgramA and ProgramB are what was found out about the arithmetic of units of which
	// nothing is known otherwise; nil: nothing.
	ProgramA, ProgramB *mma.Params
}

// turn swaps the sides.
func (p *Pair) turn() {
	p.A, p.B = p.B, p.A
	p.TargetA, p.TargetB = p.TargetB, p.TargetA
	p.DigestA, p.DigestB = p.DigestB, p.DigestA
	p.ProgramA, p.ProgramB = p.ProgramB, p.ProgramA
}

// Formats returns the operand formats, which both sides share.
func (p *Pair) Formats() mma.Formats { return p.A.Instruction().Formats }

// ByValue says what the formats of the sides do not have in common, if they are compared by value.
func (p *Pair) ByValue() []string {
	if f := p.Formats(); f.Common {
		return byvalue.Notes(f)
	}
	return nil
}

// Name names the instruction, or both if they differ.
func (p *Pair) Name() string {
	a, b := p.A.Instruction().Name, p.B.Instruction().Name
	if a == b {
		return a
	}
	return a + " ~ " + b
}

// Split cuts TARGET/INSTRUCTION, as in sim:ampere/mma.m16n8k8.f32.f16.f16.f32,
// at the first slash after the colon; instruction is "" if there is none. Targets that
// name a file (replay, model) are cut at the last slash, if what stands before it is a file;
// commands (exec) are not cut.
func Split(spec string) (target, instruction string) {
	kind, arg, ok := strings.Cut(spec, ":")
	if !ok {
		kind, arg = "sim", spec
	}
	switch kind {
	case "exec":
		return spec, ""
	case "sim":
		if strings.HasPrefix(arg, ".") || strings.HasPrefix(arg, "/") {
			return "sim:" + arg, "" // a file, of which no kind is named: the error says so
		}
	case "replay", "model":
		slash := strings.LastIndexByte(arg, '/')
		if slash < 0 || !isFile(arg[:slash]) {
			return spec, ""
		}
		return kind + ":" + arg[:slash], arg[slash+1:]
	}
	arg, instruction, _ = strings.Cut(arg, "/")
	return kind + ":" + arg, instruction
}

// isFile reports whether a path is that of something other than a directory.
func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}

// Pairs returns the pairs of instructions of two targets that the names ask for:
// nameA of a with nameB of b; either may stand for several (Select). An empty nameB means nameA, or where b does not
// have it or has no model of it, b's instruction of the same formats that is
// nearest: of those for the same purpose (asynchronous ones, no operands that are widened first), in K. Without one of the same formats it is one of FNUZ operands for a's of OCP, or the
// other way round, and the two are compared by value (byvalue.Formats). A target with a single instruction has it under any name, but one of the
// targets must know the name. If both names are empty, every instruction that both have under
// the same name is paired, and no other. If there is none, every instruction of one target is paired
// with the nearest one of the other; the first target is the one that comes first in the
// catalogue of architectures (or is not in it), so that the pairs are the same with a and
// b swapped. Conversions and sums of integers, and wmma, are among them only if a target is a recording
// or a child process, or there is nothing else.
//
// Two simulators are not compared on an instruction whose rule was never checked
// against hardware on one of the sides, unless there are no others: such an instruction
// has to be named, not selected by a pattern or a format.
//
// The error says what does not fit and why.
func Pairs(a, b Target, nameA, nameB string) ([]Pair, error) {
	pairs, _, err := PairsChecked(a, b, nameA, nameB)
	return pairs, err
}

// PairsChecked returns what Pairs does, and the names of the pairs that this leaves out because
// the rule of a simulator was never checked.
func PairsChecked(a, b Target, nameA, nameB string) (pairs []Pair, unchecked []string, err error) {
	pairs, err = allPairs(a, b, nameA, nameB)
	if err == nil && !selected(a) && !selected(b) && !isName(a, nameA) && !isName(b, nameA) && !isName(a, nameB) && !isName(b, nameB) {
		pairs, unchecked = checked(pairs)
	}
	return pairs, unchecked, err
}

// allPairs returns what Pairs does, with the instructions that were never checked.
func allPairs(a, b Target, nameA, nameB string) ([]Pair, error) {
	if nameA == "" && nameB != "" {
		ps, err := allPairs(b, a, nameB, "")
		for i := range ps {
			ps[i].turn()
		}
		return ps, err
	}
	if a.Instructions() == nil && b.Instructions() == nil {
		return nil, errors.New("two reference arithmetics: name an instruction of a simulator on one side")
	}
	if a.Instructions() == nil {
		ps, err := allPairs(b, a, nameA, nameB)
		for i := range ps {
			ps[i].turn()
		}
		return ps, err
	}
	as, err := choose(a, nameA, selected(a) || selected(b))
	if err != nil {
		return nil, err
	}
	if nameA != "" && nameB == "" {
		if nameB, err = nameOfOther(a, b, nameA); err != nil {
			return nil, err
		}
	}
	if !isName(a, nameA) {
		common := commonNames(as, b)
		if nameA == "" && len(common) == 0 && b.Instructions() != nil && before(b, a) {
			if ps, err := allPairs(b, a, "", ""); err == nil {
				for i := range ps {
					ps[i].turn()
				}
				return ps, nil
			}
		}
		if len(common) > 0 && nameA == "" {
			as = common
		}
	}
	var pairs []Pair
	var last error
	for i := range as {
		p, err := pair(a, b, &as[i], nameB, nameA != "" || isRecorded(a) || isRecorded(b))
		if err != nil {
			if _, unknown := last.(*unmodelled); !unknown {
				last = err
			}
			continue
		}
		pairs = append(pairs, p)
	}
	if len(pairs) == 0 {
		if last == nil {
			last = errors.New("no instructions")
		}
		return nil, fmt.Errorf("%s and %s: %w", a.Name(), b.Name(), last)
	}
	return pairs, nil
}

// before reports whether every instruction of a is paired with the nearest one of b, and
// not the other way round.
func before(a, b Target) bool {
	return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a.Name(), b.Name())) < 0
}

// isRecorded reports whether a target is a recording, which has what somebody wanted to compare.
func isRecorded(t Target) bool { return strings.HasPrefix(t.Name(), "replay:") }

// place is the place of a target's architecture in the catalogue; -1: it has none.
func place(t Target) int {
	_, arch, _ := strings.Cut(t.Name(), ":")
	return slices.IndexFunc(mma.Archs, func(a mma.Arch) bool { return a.Name == arch })
}

// checked leaves out the pairs of two simulators of which one follows a rule that was never
// compared with hardware, unless these are all the pairs. It returns their names, too.
func checked(pairs []Pair) (kept []Pair, unchecked []string) {
	for _, p := range pairs {
		simulated := p.A.Model() != nil && p.B.Model() != nil
		if simulated && !(p.A.Instruction().Checked() && p.B.Instruction().Checked()) {
			unchecked = append(unchecked, p.Name())
		} else {
			kept = append(kept, p)
		}
	}
	if kept == nil {
		return pairs, nil
	}
	return kept, unchecked
}

// selected reports whether a target has only what somebody wants to be compared, conversions and
// sums of integers, too: a recording, or a child process, which has the instructions that it offers.
func selected(t Target) bool { return isRecorded(t) || strings.HasPrefix(t.Name(), "exec:") }

// choose returns the instructions of a target that a selection stands for; without one all that
// can be executed: the usual ones if there are some and not every one is meant.
func choose(t Target, selection string, every bool) ([]mma.Instruction, error) {
	if selection != "" {
		return chosen(t, selection)
	}
	some := t.Instructions()
	if !every {
		some = products(some)
	}
	return slices.DeleteFunc(slices.Clone(some), func(i mma.Instruction) bool { return i.Refuse != "" }), nil
}

// Find returns the one instruction of a target that a selection stands for (Select). A target with
// a single instruction has it under any name.
func Find(t Target, name string) (*mma.Instruction, error) {
	some, err := chosen(t, name)
	switch {
	case err != nil:
		return nil, err
	case len(some) > 1:
		return nil, fmt.Errorf("%s: %q stands for %d instructions, such as %s and %s: name one", t.Name(), name, len(some), some[0].Name, some[1].Name)
	}
	return &some[0], nil
}

// nameOfOther returns b's name of the instruction that a name stands for, "" if b is to take
// the one that is nearest to a's. Where a has a single instruction, of another name, the
// name has to be one of b's.
func nameOfOther(a, b Target, name string) (string, error) {
	_, err := Select(a, name)
	if err == nil {
		return "", nil
	}
	if all := b.Instructions(); all != nil {
		if _, errB := Select(b, name); errB == nil {
			return name, nil
		} else if len(all) > 1 {
			return "", errB
		}
	}
	return "", err
}

// commonNames returns those of as that b has under the same name.
func commonNames(as []mma.Instruction, b Target) []mma.Instruction {
	names := map[string]bool{}
	for _, i := range b.Instructions() {
		if i.Refuse == "" {
			names[i.Name] = true
		}
	}
	var common []mma.Instruction
	for _, i := range as {
		if names[i.Name] {
			common = append(common, i)
		}
	}
	return common
}

func pair(a, b Target, ia *mma.Instruction, nameB string, named bool) (Pair, error) {
	ib, err := partner(b, ia, nameB, named)
	if err != nil {
		return Pair{}, err
	}
	_, byValue := byvalue.Formats(ia.Formats, ib.Formats)
	if err := Comparable(ia.Formats, ib.Formats); err != nil && !byValue {
		return Pair{}, fmt.Errorf("%s and %s cannot be compared: %w", ia.FullName(), ib.FullName(), err)
	}
	p := Pair{TargetA: a.Name(), TargetB: b.Name(), DigestA: DigestOf(a), DigestB: DigestOf(b), K: lcm(ia.K, ib.K)}
	if p.K != ia.K && !chains(ia) || p.K != ib.K && !chains(ib) {
		return Pair{}, fmt.Errorf("%s (K = %d) and %s (K = %d) cannot be compared: D's format is not C's, so no longer dot product can be chained",
			ia.FullName(), ia.K, ib.FullName(), ib.K)
	}
	if p.A, err = a.Open(ia); err != nil {
		return Pair{}, err
	}
	if p.B, err = b.Open(ib); err != nil {
		return Pair{}, err
	}
	for _, u := range []Unit{p.A, p.B} {
		if i := u.Instruction(); i.C == fp.None && u.Model() == nil && p.K != i.K {
			return Pair{}, fmt.Errorf("%s (K = %d) and %s (K = %d) cannot be compared: without C no longer dot product can be chained", ia.FullName(), ia.K, ib.FullName(), ib.K)
		}
	}
	if byValue {
		if p.A, err = ByValue(p.A); err != nil {
			return Pair{}, err
		}
		if p.B, err = ByValue(p.B); err != nil {
			return Pair{}, err
		}
	}
	if err := p.takeLength(); err != nil {
		return p, err
	}
	p.A, p.B = WithK(p.A, p.K), WithK(p.B, p.K)
	return p, nil
}

// takeLength makes K the length of the recorded dot products if a side is a recording;
// two recordings must have the same length.
func (p *Pair) takeLength() error {
	a, isA := p.A.(Recorder)
	b, isB := p.B.(Recorder)
	if isA && isB && a.Length() != b.Length() {
		return fmt.Errorf("%s was recorded with dot products of %d elements, %s with ones of %d: they have no inputs in common",
			a.Instruction().FullName(), a.Length(), b.Instruction().FullName(), b.Length())
	}
	for _, u := range []Unit{p.A, p.B} {
		r, ok := u.(Recorder)
		if !ok {
			continue
		}
		if r.Length()%p.K != 0 {
			return fmt.Errorf("the recorded dot products of %s have %d elements, which cannot be cut into steps of %d", r.Instruction().FullName(), r.Length(), p.K)
		}
		p.K = r.Length()
	}
	return nil
}

// chains reports whether an instruction can take its own D as C.
func chains(i *mma.Instruction) bool { return i.C == fp.None || i.C == i.D }

// partner returns b's instruction to compare ia with, of those that nameB stands for: if ia was
// named or recorded, and there is no other, one for operands that can be compared by value.
func partner(b Target, ia *mma.Instruction, nameB string, named bool) (*mma.Instruction, error) {
	all := b.Instructions()
	if all == nil {
		return ia, nil
	}
	if nameB != "" {
		some, err := chosen(b, nameB)
		if err != nil {
			return nil, err
		}
		if len(some) == 1 {
			return &some[0], nil
		}
		all = some
	}
	same, err := mma.Search(b.Name(), all, ia.Name)
	found := err == nil && Comparable(ia.Formats, same.Formats) == nil
	if found && same.Refuse == "" {
		return same, nil
	}
	var near, byValue []mma.Instruction
	for _, i := range all {
		switch _, common := byvalue.Formats(ia.Formats, i.Formats); {
		case i.Refuse != "":
		case Comparable(ia.Formats, i.Formats) == nil && (i.K == ia.K || i.D.Flags() == 0): // nothing follows from flags for longer dot products
			near = append(near, i)
		case common && named:
			byValue = append(byValue, i)
		}
	}
	if near == nil && !found {
		near = byValue
	}
	switch {
	case len(near) == 0 && found:
		return same, nil // to say why it is refused
	case len(near) == 0:
		return nil, noPartner(b, ia)
	}
	slices.SortStableFunc(near, func(x, y mma.Instruction) int {
		return cmp.Or(unlike(ia, &x)-unlike(ia, &y), farther(ia.K, x.K, y.K))
	})
	return &near[0], nil
}

// unlike says how far an instruction is from being meant for what another one is for: one that
// widens operands first stands for others only where there is no better one, and asynchronous
// instructions, which work on shared or tensor memory, stand for each other.
func unlike(i, other *mma.Instruction) (n int) {
	if other.Params.In.Widen != fp.None && i.Params.In.Widen == fp.None {
		n += 2
	}
	if asynchronous(i) && !asynchronous(other) {
		n++
	}
	return n
}

func asynchronous(i *mma.Instruction) bool {
	return strings.HasPrefix(i.Name, "wgmma.") || strings.HasPrefix(i.Name, "tcgen05.")
}

// OnlyByValue returns the names of a's instructions that b has for the same numbers in other
// encodings alone: what Pairs compares only if it is named, or recorded.
func OnlyByValue(a, b Target) (names []string) {
	if isRecorded(a) || isRecorded(b) {
		return nil
	}
	for _, i := range a.Instructions() {
		same, byValue := false, false
		for _, j := range b.Instructions() {
			_, common := byvalue.Formats(i.Formats, j.Formats)
			same = same || Comparable(i.Formats, j.Formats) == nil
			byValue = byValue || common && i.Refuse == "" && j.Refuse == ""
		}
		if byValue && !same {
			names = append(names, i.Name)
		}
	}
	return names
}

// Unusual returns the names of a's instructions that b has, too, and that Pairs leaves out if none is
// named: conversions and sums of integers (Usual).
func Unusual(a, b Target, pairs []Pair) (names []string) {
	paired := pairedOfA(pairs)
	for _, i := range commonNames(a.Instructions(), b) {
		if !paired[i.Name] && i.Refuse == "" && (i.Conversion() || i.D.Integer()) {
			names = append(names, i.Name)
		}
	}
	return names
}

// OtherNames returns the names of a's instructions that Pairs, without a name, leaves out because it
// pairs those that b has under the same name: b has their formats under another name.
func OtherNames(a, b Target, pairs []Pair) (names []string) {
	paired := pairedOfA(pairs)
	as, err := choose(a, "", selected(a) || selected(b))
	if err != nil || isRecorded(a) || isRecorded(b) || b.Instructions() == nil || len(commonNames(as, b)) == 0 {
		return nil
	}
	for _, i := range as {
		if paired[i.Name] || !i.Checked() || len(commonNames([]mma.Instruction{i}, b)) > 0 {
			continue
		}
		if slices.ContainsFunc(b.Instructions(), func(j mma.Instruction) bool {
			return j.Refuse == "" && j.Checked() && Comparable(i.Formats, j.Formats) == nil
		}) {
			names = append(names, i.Name)
		}
	}
	return names
}

// pairedOfA returns the names of the first sides' instructions.
func pairedOfA(pairs []Pair) map[string]bool {
	names := map[string]bool{}
	for i := range pairs {
		names[pairs[i].A.Instruction().Name] = true
	}
	return names
}

// farther orders two K by how long the dot product common with k becomes, then the larger
// K first.
func farther(k, x, y int) int {
	if d := lcm(k, x) - lcm(k, y); d != 0 {
		return d
	}
	return y - x
}

// unmodelled is the error of an instruction that the other side has, but without a model.
type unmodelled struct{ error }

// Unmodelled tells the command line which hint helps.
func (*unmodelled) Unmodelled() {}

// noPartner explains that no instruction of b takes ia's operands, or only one that has no model.
func noPartner(b Target, ia *mma.Instruction) error {
	for _, i := range b.Instructions() {
		if i.Refuse != "" && Comparable(ia.Formats, i.Formats) == nil {
			return &unmodelled{Refused(&i)}
		}
	}
	for _, i := range b.Instructions() {
		if i.A.Get().Width == ia.A.Get().Width && i.B.Get().Width == ia.B.Get().Width && i.D == ia.D {
			if err := Comparable(ia.Formats, i.Formats); err != nil {
				return fmt.Errorf("%s has no instruction with the formats of %s; for example %s: %w", b.Name(), ia.Name, i.Name, err)
			}
		}
	}
	return fmt.Errorf("%s has no instruction with the formats of %s (%s)", b.Name(), ia.Name, ia.Formats)
}

// Comparable explains why operands of one instruction are not operands of another,
// nil if they are.
func Comparable(a, b mma.Formats) error {
	for _, o := range []struct {
		what string
		x, y fp.ID
	}{{"A", a.A, b.A}, {"B", a.B, b.B}, {"C", a.C, b.C}, {"D", a.D, b.D}, {"scales", a.Scale, b.Scale}} {
		if err := sameFormat(o.what, o.x, o.y); err != nil {
			return err
		}
	}
	if a.Block != b.Block {
		return fmt.Errorf("scales stand for blocks of %d and of %d", a.Block, b.Block)
	}
	if a.Common != b.Common {
		return errors.New("operands are compared by value on one side only")
	}
	if a.Down != b.Down {
		return fmt.Errorf("products are multiplied by 2^-%d on one side and by 2^-%d on the other", a.Down, b.Down)
	}
	if a.Mode != 0 && b.Mode != 0 && a.Mode != b.Mode { // a program says itself how it rounds
		return fmt.Errorf("the rounding mode asked for is %s on one side and %s on the other", a.Mode, b.Mode)
	}
	return nil
}

// registers maps a format to another one whose codes have the same layout and the same
// values: the two compare as equal.
var registers = map[fp.ID]fp.ID{fp.XF32: fp.TF32}

func sameFormat(what string, x, y fp.ID) error {
	if r, ok := registers[x]; ok {
		x = r
	}
	if r, ok := registers[y]; ok {
		y = r
	}
	if x == y {
		return nil
	}
	reason := ""
	if x != fp.None && y != fp.None && (x.Get().Specials == fp.NegZeroNaN) != (y.Get().Specials == fp.NegZeroNaN) {
		reason = ": the same bits are different numbers (OCP and FNUZ)"
	}
	return fmt.Errorf("%s is %s on one side and %s on the other%s", what, x, y, reason)
}

func lcm(a, b int) int {
	g, r := a, b
	for r != 0 {
		g, r = r, g%r
	}
	return a / g * b
}
