package open

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/mmafuzz/mmafuzz/corpus/hint"
	"github.com/mmafuzz/mmafuzz/corpus/readable"
	"github.com/mmafuzz/mmafuzz/devices"
	"github.com/mmafuzz/mmafuzz/sim/mma"
)

// Instruction finds the instruction that is meant: of the target, or of
// another one, like, for a target that works on any formats.
func Instruction(t devices.Target, inst, like string) (*mma.Instruction, error) {
	switch any := t.Instructions() == nil; {
	case any && like == "":
		return nil, hint.New("give them with --like, for example --like sim:hopper", "%s works on any formats", t.Name())
	case !any && like != "":
		return nil, hint.New("leave --like out", "--like is for reference arithmetic, %s has instructions of its own", t.Name())
	case any:
		other, err := Target(like)
		if err != nil {
			return nil, err
		}
		defer other.Close()
		t = other
	}
	if n := len(t.Instructions()); inst == "" && n > 1 {
		return nil, hint.New(InstructionHint(t, ""), "--inst is missing: %s has %d instructions", t.Name(), n)
	}
	i, err := devices.Find(t, inst)
	return i, hint.Add(err, "%s", InstructionHint(t, inst))
}

// Check explains what is wrong with TARGET[/INSTRUCTION], nil if it exists.
func Check(spec string) error {
	name, inst := devices.Split(spec)
	t, err := Target(name)
	if err != nil {
		return err
	}
	defer t.Close()
	if inst == "" {
		return nil
	}
	if t.Instructions() == nil {
		return hint.New("name it without an instruction, beside another target whose formats it takes", "%s works on any formats", t.Name())
	}
	_, err = devices.Find(t, inst)
	return hint.Add(err, "%s", InstructionHint(t, inst))
}

// InstructionHint says where a target's instructions are listed; if it lacks the named one,
// also which simulators have it, what the processor lacks for it, or what name is close.
func InstructionHint(t devices.Target, name string) string {
	if t.Instructions() == nil {
		return "" // it takes those of others
	}
	listed := fmt.Sprintf("mmafuzz list instructions %s lists them with their formats", readable.ShellWord(t.Name()))
	if !slices.ContainsFunc(t.Instructions(), func(i mma.Instruction) bool { return i.Refuse == "" && (name != "" || !isOther(i)) }) {
		return fmt.Sprintf("mmafuzz list instructions %s --unverified says why it has no model", readable.ShellWord(t.Name()))
	}
	if _, err := devices.Find(t, name); name == "" || err == nil {
		return listed
	}
	if lacking, ok := t.(interface{ Missing(name string) string }); ok {
		if why := lacking.Missing(name); why != "" {
			return why + "; mmafuzz doctor lists what it has"
		}
	}
	var owners []string
	for _, i := range mma.Catalog() {
		if i.Refuse == "" && (i.Name == name || i.Alias == name) {
			owners = append(owners, "sim:"+i.Arch)
		}
	}
	switch len(owners) {
	case 0:
		near := hint.Nearest(name, namesOf(slices.DeleteFunc(slices.Clone(t.Instructions()), isOther)))
		if len(near) == 0 {
			if format, names := nearByFormat(t, name); names != nil {
				all := ""
				if format != name {
					all = "--inst " + format + " is all with that format; "
				}
				return hint.DidYouMean(names) + all + listed
			}
		}
		return hint.DidYouMean(near) + listed
	case 1:
		return owners[0] + " has it; " + listed
	}
	return strings.Join(owners, ", ") + " have it; " + listed
}

// isOther reports whether an instruction is none of those of which hints speak.
func isOther(i mma.Instruction) bool { return !devices.Usual(i) }

func namesOf(all []mma.Instruction) (names []string) {
	for _, i := range all {
		names = append(names, i.Name)
	}
	return names
}

// nearByFormat returns the names most like one of a target's instructions for a format that the
// name has as a part; of several formats, the one that fewest instructions have.
func nearByFormat(t devices.Target, name string) (format string, names []string) {
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		some := namesOf(slices.DeleteFunc(devices.WithFormat(t.Instructions(), part), isOther))
		if len(some) > 0 && (names == nil || len(some) < len(names)) {
			format, names = part, some
		}
	}
	form, _, _ := strings.Cut(name, ".")
	distance := func(x string) int {
		if !strings.HasPrefix(x, form) {
			return hint.Distance(x, name) + len(x) // a wrong beginning is no slip
		}
		return hint.Distance(x, name)
	}
	slices.SortStableFunc(names, func(x, y string) int { return distance(x) - distance(y) })
	return format, names[:min(len(names), 3)]
}
